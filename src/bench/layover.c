/* Scatterers on a terrain of hills, at a slant range of x - h cot(look angle) from the radar, all those of a pixel
 * added up with random amplitudes: where hills face the radar and are steeper than it looks, several places fall into
 * one pixel (layover); where none does, there is only noise (shadow). Two passes see heights as phases; their product,
 * averaged over looks, is the interferogram, and its coherence over 5 x 5 pixels the correlation. */
#include "bench/layover.h"

#include "base/memory.h"
#include "base/random.h"

#include <complex.h>
#include <math.h>

enum { FINE = 6, BUMPS = 60, MOST = 96, WINDOW = 2 };  /* scatterers a pixel; small hills; all; of the correlation */
static const double COTANGENT = 1.43, SCATTERED = 1.5; /* of 35 degrees; pixels that one pixel may see */

typedef struct hill {
    double x, y, width, height;
} hill;

typedef struct radar {
    const layover_settings *s;
    atn_random random;
    hill hill[MOST];
    int hills;
    double mean;             /* height */
    double complex *pass[2]; /* of one look */
    double complex *product; /* of all */
    double *power[2];
    double *count, *phase, *place, *places; /* sums over scatterers of a pixel; of x and x squared */
} radar;

static void put_hills(radar *r) {
    double side = (double)r->s->side;
    for (; r->hills < r->s->hills + BUMPS && r->hills < MOST; ++r->hills) {
        bool bump = r->hills >= r->s->hills;
        double width =
            side * (bump ? 0.02 + 0.02 * atn_random_unit(&r->random) : 0.05 + 0.11 * atn_random_unit(&r->random));
        r->hill[r->hills] =
            (hill){.x = side * atn_random_unit(&r->random), .y = side * atn_random_unit(&r->random), .width = width};
        r->hill[r->hills].height = width * (bump ? 0.3 * (atn_random_unit(&r->random) - 0.5)
                                                 : r->s->steep * (0.6 + 0.8 * atn_random_unit(&r->random)));
    }
}

static double height_at(const radar *r, double x, double y) {
    double sum = 0;
    for (int k = 0; k < r->hills; ++k) {
        const hill *h = &r->hill[k];
        double dx = (x - h->x) / h->width, dy = (y - h->y) / h->width, far = dx * dx + dy * dy;
        if (far < 30) sum += h->height * exp(-far / 2);
    }
    return sum;
}

/* The pixel that sees the ground at (x, y), or -1. */
static int64_t pixel_of(const radar *r, double x, int64_t y, double height) {
    double at = rint(x - (height - r->mean) * COTANGENT);
    return at >= 0 && at < (double)r->s->side ? y * r->s->side + (int64_t)at : -1;
}

/* Heights are computed once, for all looks. */
static void scatter(radar *r, const float *height, bool first) {
    int64_t side = r->s->side;
    for (int64_t k = 0; k < side * side * FINE; ++k) {
        double x = (double)(k % (side * FINE)) / FINE, phase = r->s->turn * (double)height[k];
        int64_t p = pixel_of(r, x, k / (side * FINE), (double)height[k]);
        double re = atn_random_normal(&r->random), im = atn_random_normal(&r->random);
        if (p < 0) continue;
        double complex value = re + im * I;
        r->pass[0][p] += value;
        r->pass[1][p] += value * (cos(phase) - sin(phase) * I);
        if (!first) continue;
        r->count[p] += 1;
        r->phase[p] += phase;
        r->place[p] += x;
        r->places[p] += x * x;
    }
}

static void look(radar *r, const float *height, bool first) {
    int64_t count = r->s->side * r->s->side;
    double noise = r->s->noise * sqrt(FINE);
    for (int64_t p = 0; p < count; ++p)
        for (int k = 0; k < 2; ++k) {
            double re = atn_random_normal(&r->random), im = atn_random_normal(&r->random);
            r->pass[k][p] = noise * (re + im * I);
        }
    scatter(r, height, first);
    for (int64_t p = 0; p < count; ++p) {
        r->product[p] += r->pass[0][p] * conj(r->pass[1][p]);
        for (int k = 0; k < 2; ++k) r->power[k][p] += creal(r->pass[k][p] * conj(r->pass[k][p]));
    }
}

static float correlation_at(const radar *r, int64_t i, int64_t j) {
    double complex sum = 0;
    double a = 0, b = 0;
    int64_t side = r->s->side;
    for (int64_t y = j - WINDOW; y <= j + WINDOW; ++y)
        for (int64_t x = i - WINDOW; x <= i + WINDOW; ++x) {
            if (x < 0 || y < 0 || x >= side || y >= side) continue;
            sum += r->product[y * side + x];
            a += r->power[0][y * side + x];
            b += r->power[1][y * side + x];
        }
    return (float)(cabs(sum) / sqrt(a * b));
}

static void finish(const radar *r, layover *out) {
    int64_t side = r->s->side;
    for (int64_t p = 0; p < side * side; ++p) {
        double n = r->count[p], mean = n > 0 ? r->place[p] / n : 0;
        out->psi[p] = (float)carg(r->product[p]);
        out->correlation[p] = correlation_at(r, p % side, p / side);
        out->truth[p] = n > 0 ? r->phase[p] / n : 0;
        out->known[p] = n > 0 && r->places[p] / n - mean * mean < SCATTERED * SCATTERED;
    }
}

static atn_status open_scene(const atn_ctx *ctx, radar *r, layover *out) {
    size_t count = (size_t)(r->s->side * r->s->side);
    double **sums[] = {&r->power[0], &r->power[1], &r->count, &r->phase, &r->place, &r->places, &out->truth};
    double complex **waves[] = {&r->pass[0], &r->pass[1], &r->product};
    bool enough = (out->psi = atn_alloc(ctx, count * sizeof *out->psi)) != NULL;
    enough = (out->correlation = atn_alloc(ctx, count * sizeof *out->correlation)) && enough;
    enough = (out->known = atn_alloc(ctx, count)) && enough;
    for (size_t k = 0; k < sizeof sums / sizeof *sums; ++k)
        enough = (*sums[k] = atn_zalloc(ctx, count * sizeof **sums[k])) && enough;
    for (size_t k = 0; k < sizeof waves / sizeof *waves; ++k)
        enough = (*waves[k] = atn_zalloc(ctx, count * sizeof **waves[k])) && enough;
    return enough ? ATN_OK : ATN_ERR_MEMORY;
}

atn_status layover_make(const atn_ctx *ctx, const layover_settings *settings, layover *out) {
    radar r = {.s = settings};
    int64_t side = settings->side, ground = side * side * FINE;
    *out = (layover){0};
    atn_random_seed(&r.random, settings->seed);
    put_hills(&r);
    float *height = atn_alloc(ctx, (size_t)ground * sizeof *height);
    atn_status status = open_scene(ctx, &r, out);
    if (!height) status = ATN_ERR_MEMORY;
    for (int64_t k = 0; k < ground && status == ATN_OK; ++k) {
        height[k] = (float)height_at(&r, (double)(k % (side * FINE)) / FINE, (double)(k / (side * FINE)));
        r.mean += (double)height[k] / (double)ground;
    }
    for (int k = 0; k < settings->looks && status == ATN_OK; ++k) {
        look(&r, height, k == 0);
        status = atn_check_cancel(ctx);
    }
    if (status == ATN_OK)
        finish(&r, out);
    else
        layover_free(ctx, out);
    void *blocks[] = {height,  r.power[0], r.power[1], r.count,   r.phase,
                      r.place, r.places,   r.pass[0],  r.pass[1], r.product};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; ++k) atn_free(ctx, blocks[k]);
    return status;
}

void layover_free(const atn_ctx *ctx, layover *scene) {
    void *blocks[] = {scene->psi, scene->correlation, scene->truth, scene->known};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; ++k) atn_free(ctx, blocks[k]);
    *scene = (layover){0};
}
