/* From files to phase: images of any kind, and heights that are converted to a phase with a wavelength. */
#include "cli/unwrap.h"

#include "base/memory.h"
#include "base/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double PI = 3.141592653589793;

/* ---- images ---- */

/* Radians for a value of 1, as the file is and as it was asked for. */
static atn_status scale_of(const unwrap_job *job, const char *path, const atn_image_info *info, unwrap_phase *out,
                           double *scale) {
    double turn = job->transmission ? 1 : 2; /* light passes the height once or twice */
    *scale = job->scale != 0 ? job->scale : 1;
    if (job->scale != 0) return ATN_OK;
    if (info->whole) {
        *scale = ldexp(2 * PI, -info->bits);
        snprintf(out->note, sizeof out->note, "%d-bit values: full scale is taken as 2 pi; --scale overrides it",
                 (int)info->bits);
    }
    if (strcmp(info->unit, "m") == 0) {
        double wavelength = job->wavelength > 0 ? job->wavelength : info->wavelength_m;
        if (!(wavelength > 0))
            return atn_fail(job->call->ctx, ATN_ERR_INPUT,
                            "%s: heights in metres without a wavelength; give --wavelength", path);
        *scale = 2 * PI * turn / wavelength;
        snprintf(out->note, sizeof out->note, "heights in metres, taken as phase at a wavelength of %.6g m",
                 wavelength);
    }
    return ATN_OK;
}

/* In radians: beyond this, rounding of the value exceeds 2 pi, and so does any difference. */
static const double MOST_RADIANS[2] = {0x1p24, 0x1p53};

static atn_status take_pixels(const unwrap_job *job, const atn_image *image, double scale, unwrap_phase *out) {
    const float *pixels = atn_image_pixels(image);
    const double *doubles = atn_image_doubles(image);
    size_t count = (size_t)(out->width * out->height), bytes;
    out->value = atn_size_mul(count, unwrap_value_bytes(job), &bytes) ? atn_alloc(job->call->ctx, bytes) : NULL;
    if (!out->value) return ATN_ERR_MEMORY;
    double most = MOST_RADIANS[job->options.bits == 64];
    out->low = INFINITY;
    out->high = -INFINITY;
    for (size_t k = 0; k < count; ++k) {
        double value = scale * (doubles ? doubles[k] : (double)pixels[k]);
        if (fabs(value) > most && isfinite(value))
            return atn_fail(job->call->ctx, ATN_ERR_INPUT,
                            "a phase of %g radians at row %lld, column %lld: %d bits resolve 2 pi up to %.3g; --scale "
                            "sets radians per unit",
                            value, (long long)k / (long long)out->width, (long long)k % (long long)out->width,
                            job->options.bits == 64 ? 64 : 32, most);
        unwrap_phase_put(job, out, k, value);
    }
    return ATN_OK;
}

static double value_at(const unwrap_job *job, const unwrap_phase *p, int64_t k) {
    return job->options.bits == 64 ? ((const double *)p->value)[k] : (double)((const float *)p->value)[k];
}

/* Values that fill -1 to 1, and whose neighbours jump by nearly 2, are multiples of pi, not radians. */
static bool in_half_turns(const unwrap_job *job, const unwrap_phase *p) {
    enum { BINS = 16, LEAST = 8 }; /* parts of the range; each has that part of what it would have if all were even */
    static const double NEARLY = 0.02, JUMP = 1.5;
    int64_t count[BINS] = {0}, valid = 0;
    bool jumps = false;
    if (fabs(p->low + 1) > NEARLY || fabs(p->high - 1) > NEARLY) return false;
    for (int64_t k = 0; k < p->width * p->height; ++k) {
        double value = value_at(job, p, k);
        if (!isfinite(value)) continue;
        ++valid;
        ++count[(int)fmin(fmax(0, (value + 1) / 2 * BINS), BINS - 1)];
        jumps |= (k + 1) % p->width && fabs(value_at(job, p, k + 1) - value) > JUMP;
    }
    for (int b = 0; b < BINS; ++b)
        if (count[b] * BINS * LEAST < valid) return false;
    return jumps;
}

static void take_half_turns(const unwrap_job *job, unwrap_phase *p) {
    for (int64_t k = 0; k < p->width * p->height; ++k)
        if (job->options.bits == 64)
            ((double *)p->value)[k] *= PI;
        else
            ((float *)p->value)[k] = (float)(PI * (double)((float *)p->value)[k]);
    p->low *= PI;
    p->high *= PI;
    p->half_turns = true;
    snprintf(p->note, sizeof p->note,
             "values fill -1 to 1 and jump by nearly 2: taken in units of pi; --scale 1 takes them as radians");
}

/* A raw file may say its shape in its name, as shear.257x257.phase; its size has to agree. */
static void shape_of_name(const char *path, int64_t shape[2]) {
    struct stat info;
    const char *name = strrchr(path, '/');
    if (stat(path, &info) != 0) return;
    for (const char *p = strchr(name ? name : path, '.'); p; p = strchr(p + 1, '.')) {
        char *end;
        long long rows = strtoll(p + 1, &end, 10), columns = *end == 'x' ? strtoll(end + 1, &end, 10) : 0;
        size_t count, bytes;
        if ((*end && *end != '.') || rows < 1 || columns < 1 || !atn_size_mul((size_t)rows, (size_t)columns, &count) ||
            !atn_size_mul(count, sizeof(float), &bytes) || (size_t)info.st_size != bytes)
            continue;
        shape[0] = rows;
        shape[1] = columns;
        return;
    }
}

atn_status unwrap_read_file(const unwrap_job *job, const char *path, unwrap_phase *out) {
    atn_image_settings options = {.shape = {job->shape[0], job->shape[1]}, .exact = job->options.bits == 64};
    atn_image *image;
    double scale;
    *out = (unwrap_phase){0};
    if (!options.shape[0]) shape_of_name(path, options.shape);
    atn_status status = atn_image_read(job->call->ctx, path, &options, &image);
    if (status) return status;
    atn_image_info info = atn_image_info_of(image);
    out->width = info.width;
    out->height = info.height;
    out->wavelength = info.wavelength_m;
    for (int k = 0; k < 2; ++k) out->spacing_m[k] = job->pixel_m > 0 ? job->pixel_m : info.spacing_m[k];
    out->heights = strcmp(info.unit, "m") == 0 && job->scale == 0;
    status = scale_of(job, path, &info, out, &scale);
    if (!status && (status = take_pixels(job, image, scale, out)) == ATN_ERR_INPUT)
        status = atn_fail_within(job->call->ctx, status, "%s", path);
    atn_image_free(image);
    if (!status && unwrap_is_surface(job, out) && out->heights)
        snprintf(out->note, sizeof out->note,
                 "heights in metres: already unwrapped, kept; --rewrap takes it as a phase");
    else if (!status && unwrap_is_surface(job, out))
        snprintf(
            out->note, sizeof out->note,
            "the phase spans %.2f x 2 pi: taken as already unwrapped; --rewrap wraps it, --scale sets radians per unit",
            (out->high - out->low) / (2 * PI));
    if (status) unwrap_phase_free(job, out);
    return status;
}

atn_status unwrap_read(const unwrap_job *job, const char *path, unwrap_phase *out) {
    static const char *const OF_STACKS[] = {"modulation", "saturation"};
    struct stat info;
    *out = (unwrap_phase){0};
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return unwrap_read_stack(job, path, out);
    if (job->steps)
        return atn_fail(job->call->ctx, ATN_ERR_INPUT, "%s: no folder; --steps is for a folder of frames", path);
    for (size_t k = 0; k < sizeof OF_STACKS / sizeof *OF_STACKS; ++k)
        if (atn_cli_has(job->call, OF_STACKS[k]))
            return atn_cli_misuse(job->call, "--%s does not apply to a phase, only to a folder of frames",
                                  OF_STACKS[k]);
    atn_status status = unwrap_read_file(job, path, out);
    if (!status && job->scale == 0 && !*out->note && in_half_turns(job, out)) take_half_turns(job, out);
    return status;
}

/* ---- mask and quality ---- */

static atn_status read_beside(const unwrap_job *job, const char *option, const unwrap_phase *phase, atn_image **out) {
    const char *path = atn_cli_value(job->call, option);
    *out = NULL;
    if (!path || (job->by_modulation && strcmp(option, "quality") == 0)) return ATN_OK;
    atn_status status = atn_image_read(job->call->ctx, path, NULL, out);
    if (status) return status;
    atn_image_info info = atn_image_info_of(*out);
    if (info.width == phase->width && info.height == phase->height) return ATN_OK;
    atn_image_free(*out);
    *out = NULL;
    return atn_fail(job->call->ctx, ATN_ERR_INPUT, "%s: a %s of %lldx%lld for a phase of %lldx%lld", path, option,
                    (long long)info.height, (long long)info.width, (long long)phase->height, (long long)phase->width);
}

static atn_status keep_mask(unwrap_job *job, size_t count, const atn_image *image) {
    const float *pixels = atn_image_pixels(image);
    job->mask = atn_alloc(job->call->ctx, count);
    if (!job->mask) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < count; ++k) job->mask[k] = !isnan(pixels[k]) && pixels[k] != 0;
    return ATN_OK;
}

static atn_status keep_quality(unwrap_job *job, size_t count, const float *pixels) {
    job->quality = atn_alloc(job->call->ctx, count * sizeof *job->quality);
    if (!job->quality) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < count; ++k) {
        job->quality[k] = isnan(pixels[k]) ? 0 : pixels[k];
        if (pixels[k] < 0)
            return atn_fail(job->call->ctx, ATN_ERR_INPUT, "%s: a quality of %g; weights are not negative",
                            atn_cli_value(job->call, "quality"), (double)pixels[k]);
    }
    return ATN_OK;
}

atn_status unwrap_read_weights(unwrap_job *job, const unwrap_phase *phase) {
    size_t count = (size_t)(phase->width * phase->height);
    atn_image *mask = NULL, *quality = NULL;
    atn_status status = read_beside(job, "mask", phase, &mask);
    if (!status) status = read_beside(job, "quality", phase, &quality);
    if (!status && mask) status = keep_mask(job, count, mask);
    if (!status && job->by_modulation && !phase->modulation)
        status =
            atn_cli_misuse(job->call, "--quality modulation does not apply to a phase, only to a folder of frames");
    const float *pixels = quality ? atn_image_pixels(quality) : job->by_modulation ? phase->modulation : NULL;
    if (!status && pixels) status = keep_quality(job, count, pixels);
    atn_image_free(mask);
    atn_image_free(quality);
    job->settings.mask = job->mask;
    job->settings.quality = job->quality;
    return status;
}
