/* Surfaces over [-1, 1] x [-1, 1], as phases of so many turns; wrapped with noise; seen by a camera as
 * I_k = a + b cos(phi + d_k). */
#include "sample/fringes.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/size.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793, BACKGROUND = 127.5, AMPLITUDE = 100;

/* What a seed draws of a surface. */
typedef struct drawn {
    double c[8];
    double at[2]; /* of the spiral's end */
} drawn;

/* ---- surfaces: from 0 to 1, about ---- */

/* Three hills and two hollows. */
static double peaks(const drawn *d, double x, double y) {
    static const double PLACE[5][3] = {
        {-0.4, 0.35, 1}, {0.45, 0.4, 0.8}, {0.1, -0.5, 0.9}, {0, 0.1, -0.7}, {-0.5, -0.4, -0.5}};
    double sum = 0.4;
    for (int k = 0; k < 5; ++k) {
        double u = x - PLACE[k][0] - 0.1 * d->c[k], v = y - PLACE[k][1] + 0.1 * d->c[(k + 3) % 8];
        sum += 0.55 * PLACE[k][2] * exp(-(u * u + v * v) / 0.12);
    }
    return sum;
}

static double tilt(const drawn *d, double x, double y) {
    double angle = PI * d->c[0];
    return 0.5 + 0.35 * (cos(angle) * x + sin(angle) * y);
}

/* Over the disc through the corners, so that all pixels are inside. */
static double zernike(const drawn *d, double x, double y) {
    double r2 = (x * x + y * y) / 2, r = sqrt(r2), t = atan2(y, x);
    double term[] = {2 * r2 - 1,
                     r2 * cos(2 * t),
                     r2 * sin(2 * t),
                     (3 * r2 - 2) * r * cos(t),
                     (3 * r2 - 2) * r * sin(t),
                     r2 * r * cos(3 * t),
                     (6 * r2 - 6) * r2 + 1};
    double sum = 0.5;
    for (int k = 0; k < 7; ++k) sum += 0.15 * d->c[k] * term[k];
    return sum + 0.2 * term[0];
}

/* One row for each surface, as the settings number them. */
static double (*const SURFACES[])(const drawn *d, double x, double y) = {peaks, tilt, zernike, NULL, NULL};

/* Terraces, on a plane that is slow enough for a step to show. */
static double steps(const drawn *d, double x, double y) {
    double place = 3 * (x + 0.3 * d->c[0] * y) + 3;
    return 0.4 * 2 * PI * floor(place) + 0.5 * y;
}

/* A turn about a point, and along the cut that ends there a jump that grows: from half a turn on it looks like one the
 * other way round, so that a second residue of the same sign stands on the cut. Which border the shortest cut from
 * them leads to is not said by the phase: the truth's is one of several. */
static double shear(const drawn *d, double x, double y) {
    double u = x - d->at[0], v = y - d->at[1];
    return atan2(v, u) + (u < 0 ? (v >= 0 ? 1 : -1) * -2.0 * u : 0) + 1.5 * y;
}

static double phase_at(const atn_fringes_settings *s, const drawn *d, double x, double y) {
    if (s->surface == ATN_FRINGES_STEPS) return steps(d, x, y);
    if (s->surface == ATN_FRINGES_SHEAR) return shear(d, x, y);
    return 2 * PI * s->turns * SURFACES[s->surface](d, x, y);
}

/* ---- images ---- */

/* From -1 to 1 over the longer side; 0 where there is one pixel. */
static double place(int64_t at, int64_t count, int64_t longer) {
    return longer > 1 ? (2.0 * (double)at - (double)(count - 1)) / (double)(longer - 1) : 0;
}

static double wrap(double phase) {
    double turns = floor(phase / (2 * PI) + 0.5), left = phase - 2 * PI * turns;
    return left >= PI ? -PI : left < -PI ? -PI : left;
}

/* Discs at random until enough is under them. Tiny images get single pixels. */
static void hide(const atn_fringes_settings *s, atn_random *random, uint8_t *mask) {
    int64_t count = s->width * s->height, wanted = (int64_t)(s->hidden * (double)count), hidden = 0;
    int64_t longer = s->width > s->height ? s->width : s->height;
    memset(mask, 1, (size_t)count);
    while (hidden < wanted) {
        int64_t cx = (int64_t)atn_random_below(random, (uint64_t)s->width);
        int64_t cy = (int64_t)atn_random_below(random, (uint64_t)s->height);
        int64_t r = (int64_t)((double)longer * (0.01 + 0.04 * atn_random_unit(random)));
        for (int64_t y = cy - r; y <= cy + r; ++y)
            for (int64_t x = cx - r; x <= cx + r && hidden < wanted; ++x) {
                if (x < 0 || y < 0 || x >= s->width || y >= s->height) continue;
                uint8_t *at = mask + y * s->width + x;
                if (*at == 0 || (x - cx) * (x - cx) + (y - cy) * (y - cy) > r * r) continue;
                *at = 0;
                ++hidden;
            }
    }
}

static void angles(int32_t count, double *angle) {
    for (int32_t k = 0; k < count; ++k) angle[k] = count == 5 ? (k - 2) * PI / 2 : 2 * PI * k / count;
}

static void fill(const atn_fringes_settings *s, const drawn *d, atn_random *random, atn_fringes *f) {
    int64_t longer = s->width > s->height ? s->width : s->height;
    size_t at = 0, count = (size_t)(s->width * s->height);
    for (int64_t y = 0; y < s->height; ++y)
        for (int64_t x = 0; x < s->width; ++x, ++at) {
            double phase = phase_at(s, d, place(x, s->width, longer), place(y, s->height, longer));
            f->truth[at] = phase;
            f->wrapped[at] = wrap(phase + s->noise * atn_random_normal(random));
            for (int32_t k = 0; k < s->steps; ++k) {
                double grain = s->noise > 0 ? s->noise * atn_random_normal(random) : 0;
                double seen = BACKGROUND + AMPLITUDE * (f->mask[at] ? cos(phase + f->angle[k]) + grain : 0);
                f->frames[(size_t)k * count + at] = (uint8_t)fmin(fmax(round(seen), 0), 255);
            }
            if (!f->mask[at]) f->wrapped[at] = 0;
        }
}

static atn_status allocate(const atn_ctx *ctx, const atn_fringes_settings *s, atn_fringes *f) {
    size_t count, all, bytes;
    if (!atn_size_mul((size_t)s->width, (size_t)s->height, &count) || !atn_size_mul(count, sizeof(double), &bytes) ||
        !atn_size_mul(count, (size_t)s->steps, &all) || bytes > PTRDIFF_MAX || all > PTRDIFF_MAX)
        return atn_fail(ctx, ATN_ERR_INPUT, "%lldx%lld pixels in %d frames are more than any memory holds",
                        (long long)s->height, (long long)s->width, (int)s->steps);
    f->truth = atn_alloc(ctx, bytes);
    f->wrapped = f->truth ? atn_alloc(ctx, bytes) : NULL;
    f->mask = f->wrapped ? atn_alloc(ctx, count) : NULL;
    f->frames = f->mask ? atn_alloc(ctx, all) : NULL;
    f->angle = f->frames ? atn_alloc(ctx, (size_t)s->steps * sizeof *f->angle) : NULL;
    return f->angle ? ATN_OK : ATN_ERR_MEMORY;
}

atn_status atn_fringes_make(const atn_ctx *ctx, const atn_fringes_settings *s, atn_fringes *out) {
    atn_random random;
    drawn d;
    *out = (atn_fringes){.amplitude = AMPLITUDE, .background = BACKGROUND};
    atn_random_seed(&random, s->seed);
    for (int k = 0; k < 8; ++k) d.c[k] = 2 * atn_random_unit(&random) - 1;
    for (int k = 0; k < 2; ++k) d.at[k] = 0.1 * d.c[k];
    atn_status status = allocate(ctx, s, out);
    if (status == ATN_OK) status = atn_check_cancel(ctx);
    if (status == ATN_OK) {
        angles(s->steps, out->angle);
        hide(s, &random, out->mask);
        fill(s, &d, &random, out);
    } else
        atn_fringes_free(ctx, out);
    return status;
}

void atn_fringes_free(const atn_ctx *ctx, atn_fringes *fringes) {
    void *blocks[] = {fringes->truth, fringes->wrapped, fringes->mask, fringes->frames, fringes->angle};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; ++k) atn_free(ctx, blocks[k]);
    *fringes = (atn_fringes){0};
}
