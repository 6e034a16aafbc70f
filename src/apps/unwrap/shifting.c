/* Phase shifting. I_k = a + (b cos phi) cos d_k - (b sin phi) sin d_k is linear in its three unknowns: the rows of the
 * pseudo-inverse of (1, cos d, -sin d) that make b cos phi and b sin phi are weights of the frames, found here once;
 * the kernel phase_steps does the rest. */
#include <attune/phase.h>

#include "base/memory.h"
#include "base/size.h"
#include "base/sized.h"
#include "kernel/give.h"
#include "num/array.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { HARIHARAN = 5 };
static const double PI = 3.141592653589793;
static const double SINGULAR = 1e-6; /* least pivot, relative to the number of frames */

struct atn_phase {
    const atn_ctx *ctx;
    atn_phase_settings options; /* with its defaults; angle: NULL */
    int64_t pixels;
    atn_array *frames, *sine, *cosine, *phase, *modulation;
    atn_array *image; /* the phase as a matrix */
    atn_kernel *kernel;
};

/* x of M x = e_column for a symmetric, positive definite 3 x 3 M; false where it is singular. */
static bool solve(const double m[3][3], int column, double x[3]) {
    double a[3][4];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j) a[i][j] = j < 3 ? m[i][j] : i == column;
    for (int p = 0; p < 3; ++p) {
        if (!(a[p][p] > SINGULAR * m[0][0])) return false;
        for (int i = 0; i < 3; ++i) {
            double factor = i == p ? 0 : a[i][p] / a[p][p];
            for (int j = 3; j >= p; --j) a[i][j] -= factor * a[p][j];
        }
    }
    for (int i = 0; i < 3; ++i) x[i] = a[i][3] / a[i][i];
    return true;
}

/* sine and cosine: a weight for each frame. */
static atn_status weights(const atn_ctx *ctx, int32_t steps, const double *angle, double *sine, double *cosine) {
    static const double HARIHARAN_SINE[] = {0, 0.5, 0, -0.5, 0}, HARIHARAN_COSINE[] = {-0.25, 0, 0.5, 0, -0.25};
    if (!angle && steps == HARIHARAN) {
        memcpy(sine, HARIHARAN_SINE, sizeof HARIHARAN_SINE);
        memcpy(cosine, HARIHARAN_COSINE, sizeof HARIHARAN_COSINE);
        return ATN_OK;
    }
    double m[3][3] = {{0}}, x[3], y[3];
    for (int32_t k = 0; k < steps; ++k) {
        double d = angle ? angle[k] : 2 * PI * k / steps, row[3] = {1, cos(d), -sin(d)};
        if (!isfinite(d)) return atn_fail(ctx, ATN_ERR_INPUT, "phase step %d is not a finite angle", (int)k + 1);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) m[i][j] += row[i] * row[j];
    }
    if (!solve((const double(*)[3])m, 1, x) || !solve((const double(*)[3])m, 2, y))
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "the phase steps do not determine a phase: at least three different angles, modulo 360 "
                        "degrees, are needed");
    for (int32_t k = 0; k < steps; ++k) {
        double d = angle ? angle[k] : 2 * PI * k / steps;
        cosine[k] = x[0] + x[1] * cos(d) - x[2] * sin(d);
        sine[k] = y[0] + y[1] * cos(d) - y[2] * sin(d);
    }
    return ATN_OK;
}

static atn_status check(const atn_ctx *ctx, int64_t width, int64_t height, atn_phase *p) {
    atn_phase_settings *o = &p->options;
    if (o->bits == 0) o->bits = 32;
    if (o->steps == 0) o->steps = 4;
    if (o->most == 0) o->most = INFINITY;
    if (o->least == 0) o->least = FLT_MIN;
    if (width <= 0 || height <= 0 || !atn_i64_mul(width, height, &p->pixels))
        return atn_fail(ctx, ATN_ERR_INPUT, "frames of %lld x %lld pixels; both sizes must be positive",
                        (long long)width, (long long)height);
    if (o->bits != 32 && o->bits != 64)
        return atn_fail(ctx, ATN_ERR_INPUT, "a phase of %d bits; 32 and 64 are supported", (int)o->bits);
    if (o->steps < ATN_PHASE_LEAST_STEPS || o->steps > ATN_PHASE_MOST_STEPS)
        return atn_fail(ctx, ATN_ERR_INPUT, "%d phase steps; %d to %d are supported", (int)o->steps,
                        ATN_PHASE_LEAST_STEPS, ATN_PHASE_MOST_STEPS);
    if (!(o->least > 0) || isinf(o->least) || isnan(o->most))
        return atn_fail(ctx, ATN_ERR_INPUT, "a least modulation of %g and saturation at %g; neither may be less than 0",
                        o->least, o->most);
    return ATN_OK;
}

static atn_status put_number(atn_array *array, int64_t at, double number) {
    void *to;
    atn_status status = atn_array_map_write(array, &to);
    if (status != ATN_OK) return status;
    if (array->type == ATN_DP)
        ((double *)to)[at] = number;
    else
        ((float *)to)[at] = (float)number;
    return ATN_OK;
}

static atn_status put_weights(atn_phase *p, const double *angle) {
    size_t steps = (size_t)p->options.steps;
    double *weight = atn_alloc(p->ctx, 2 * steps * sizeof *weight);
    if (!weight) return ATN_ERR_MEMORY;
    atn_status status = weights(p->ctx, p->options.steps, angle, weight, weight + steps);
    for (size_t k = 0; k < steps && status == ATN_OK; ++k) {
        status = put_number(p->sine, (int64_t)k, weight[k]);
        if (status == ATN_OK) status = put_number(p->cosine, (int64_t)k, weight[steps + k]);
    }
    atn_free(p->ctx, weight);
    return status;
}

static atn_status make_arrays(atn_phase *p, atn_device *device, int64_t width, int64_t height) {
    atn_type type = p->options.bits == 64 ? ATN_DP : ATN_SP;
    atn_status status = atn_array_create_matrix(device, type, p->options.steps, p->pixels, 0, &p->frames);
    if (status == ATN_OK) status = atn_array_create_vector(device, type, p->options.steps, &p->sine);
    if (status == ATN_OK) status = atn_array_create_vector(device, type, p->options.steps, &p->cosine);
    if (status == ATN_OK) status = atn_array_create_vector(device, type, p->pixels, &p->phase);
    if (status == ATN_OK) status = atn_array_create_vector(device, type, p->pixels, &p->modulation);
    if (status == ATN_OK) status = atn_array_view_matrix(p->phase, height, width, &p->image);
    return status;
}

static atn_status make_kernel(atn_phase *p, atn_device *device) {
    atn_status status = atn_kernel_make(device, "phase_steps", p->options.bits == 64 ? ATN_DP : ATN_SP, 0, &p->kernel);
    if (status != ATN_OK) return status;
    return atn_kernel_give(p->kernel,
                           ATN_ARRAYS({"frames", p->frames}, {"sine", p->sine}, {"cosine", p->cosine},
                                      {"phase", p->phase}, {"modulation", p->modulation}),
                           ATN_NUMBERS({"least", p->options.least}, {"most", p->options.most}));
}

atn_status atn_phase_create(atn_device *device, int64_t width, int64_t height, const atn_phase_settings *given,
                            atn_phase **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_phase_settings settings;
    *out = NULL;
    atn_status status = ATN_TAKE(ctx, atn_phase_settings, given, &settings);
    if (status != ATN_OK) return status;
    atn_phase *p = atn_zalloc(ctx, sizeof *p);
    if (!p) return ATN_ERR_MEMORY;
    p->ctx = ctx;
    p->options = settings;
    const double *angle = p->options.angle;
    p->options.angle = NULL; /* the caller's */
    status = check(ctx, width, height, p);
    if (status == ATN_OK) status = make_arrays(p, device, width, height);
    if (status == ATN_OK) status = put_weights(p, angle);
    if (status == ATN_OK) status = make_kernel(p, device);
    if (status == ATN_OK)
        *out = p;
    else
        atn_phase_free(p);
    return status;
}

void atn_phase_free(atn_phase *phase) {
    if (!phase) return;
    atn_kernel_free(phase->kernel);
    atn_array *arrays[] = {phase->image, phase->frames, phase->sine, phase->cosine, phase->phase, phase->modulation};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) atn_array_free(arrays[k]);
    atn_free(phase->ctx, phase);
}

static atn_status put_frames(const atn_phase *p, const float *const *frames) {
    size_t pixels = (size_t)p->pixels;
    void *to;
    atn_status status = atn_array_map_write(p->frames, &to);
    for (size_t k = 0; k < (size_t)p->options.steps && status == ATN_OK; ++k) {
        if (p->options.bits == 32)
            memcpy((float *)to + k * pixels, frames[k], pixels * sizeof(float));
        else
            for (size_t i = 0; i < pixels; ++i) ((double *)to)[k * pixels + i] = (double)frames[k][i];
    }
    return status;
}

atn_status atn_phase_run(atn_phase *phase, const float *const *frames, void *out, float *modulation) {
    atn_status status = put_frames(phase, frames);
    if (status == ATN_OK) status = atn_kernel_run(phase->kernel);
    if (status == ATN_OK && out) status = atn_array_get(phase->phase, out, 0);
    if (status != ATN_OK || !modulation) return status;
    if (phase->options.bits == 32) return atn_array_get(phase->modulation, modulation, 0);
    const void *from;
    status = atn_array_map_read(phase->modulation, &from);
    for (int64_t k = 0; k < phase->pixels && status == ATN_OK; ++k) modulation[k] = (float)((const double *)from)[k];
    return status;
}

atn_array *atn_phase_array(const atn_phase *phase) { return phase->image; }
