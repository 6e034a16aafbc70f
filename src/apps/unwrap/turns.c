/* Whole turns of pixels, on the host: the congruent answer with the shortest cuts. Neighbours p and q of an answer psi
 * + 2 pi n are cut by k = n(q) - n(p) + a turns, where a is (psi(q) - psi(p)) / 2 pi, rounded: from k that add up
 * around every corner and hole n follows pair by pair.
 */
#include "apps/unwrap/unwrap.h"

#include "apps/unwrap/cuts.h"
#include "apps/unwrap/regular.h"
#include "base/memory.h"

#include <math.h>

static const double TURN = 6.283185307179586;
static const double FARTHEST = 0x1p50; /* radians */
static const float COSTLIEST = 1000;   /* of a pair, where there are qualities */
enum { WORK = 2000 };                  /* steps of the search, a pixel, before it is given up; 30 are many */

static double number(const void *from, atn_type type, int64_t k) {
    return type == ATN_DP ? ((const double *)from)[k] : (double)((const float *)from)[k];
}

typedef struct pixels {
    const void *psi;
    const uint8_t *mask;
    const void *quality; /* or NULL */
    atn_type type;
    int64_t width, height;
    double *turns; /* infinite: not seen yet */
    int32_t *stack;
} pixels;

static float quality_at(const pixels *l, int64_t k) { return (float)number(l->quality, l->type, k); }

static bool counts(const pixels *l, int64_t k) {
    return l->mask[k] && (!l->quality || number(l->quality, l->type, k) > 0) && isfinite(number(l->psi, l->type, k));
}

static atn_status open_pixels(atn_unwrap *u, pixels *l) {
    const void *mask = NULL;
    *l = (pixels){.type = u->type, .width = u->width, .height = u->height};
    atn_status status = atn_array_map_read(u->psi, &l->psi);
    if (status == ATN_OK) status = atn_array_map_read(u->mask, &mask);
    if (status == ATN_OK && u->least > 1) status = atn_array_map_read(u->quality, &l->quality);
    l->mask = mask;
    l->turns = atn_alloc(u->ctx, (size_t)u->pixels * sizeof *l->turns);
    l->stack = atn_alloc(u->ctx, (size_t)u->pixels * sizeof *l->stack);
    return status != ATN_OK ? status : l->turns && l->stack ? ATN_OK : ATN_ERR_MEMORY;
}

static void close_pixels(const atn_unwrap *u, const pixels *l) {
    atn_free(u->ctx, l->turns);
    atn_free(u->ctx, l->stack);
}

typedef struct field {
    pixels l;
    unwrap_cuts cuts;
    int32_t *wrapped;
    uint16_t *cost;
    float *grade; /* 0 to 1, of pixels; NULL: all alike */
} field;

/* What a cut of the pair costs: alike for all, or by the lesser of its pixels' grades. */
static uint16_t cost_of(const field *f, int64_t p, int64_t q) {
    if (!f->grade) return 1;
    return (uint16_t)fmaxf(rintf(COSTLIEST * fminf(f->grade[p], f->grade[q])), 1);
}

/* A pixel's grade is ((quality + regularity) / 2)^4. Correlations of radar scenes are low on steep slopes, too, and
 * would let cuts run along them; the phase knows better. Cuts through layover are of many turns, hence the power. */
static atn_status find_grades(atn_unwrap *u, field *f) {
    size_t count = (size_t)u->pixels;
    unwrap_phasors phasors = {.width = u->width, .height = u->height};
    float most = 0;
    if (!f->l.quality) return ATN_OK;
    f->grade = atn_alloc(u->ctx, count * sizeof *f->grade);
    phasors.value = atn_alloc(u->ctx, count * sizeof *phasors.value);
    atn_status status = f->grade && phasors.value ? ATN_OK : ATN_ERR_MEMORY;
    for (int64_t k = 0; k < u->pixels && status == ATN_OK; ++k) {
        bool valid = counts(&f->l, k);
        float psi = valid ? (float)remainder(number(f->l.psi, f->l.type, k), TURN) : 0;
        phasors.value[k] = valid ? cosf(psi) + sinf(psi) * I : 0;
        if (valid) most = fmaxf(most, quality_at(&f->l, k));
    }
    if (status == ATN_OK) unwrap_regularity(&phasors, f->grade);
    for (int64_t k = 0; k < u->pixels && status == ATN_OK; ++k) {
        float mean = most > 0 ? (quality_at(&f->l, k) / most + f->grade[k]) / 2 : 0, square = mean * mean;
        f->grade[k] = square * square;
    }
    atn_free(u->ctx, phasors.value);
    return status;
}

/* Turns that wrapping takes off the difference of two phases which were wrapped before: -1, 0 or 1. */
static void put_pair(field *f, int64_t p, int64_t q, int64_t e) {
    if (!counts(&f->l, p) || !counts(&f->l, q)) return;
    double a = number(f->l.psi, f->l.type, p), b = number(f->l.psi, f->l.type, q);
    f->wrapped[e] = (int32_t)(rint((b - a) / TURN) - rint(b / TURN) + rint(a / TURN));
    f->cost[e] = cost_of(f, p, q);
}

/* false: phases so large that turns are not whole numbers any more. */
static bool put_pairs(field *f) {
    int64_t w = f->l.width, h = f->l.height;
    for (int64_t k = 0; k < w * h; ++k) {
        if (!counts(&f->l, k)) continue;
        if (fabs(number(f->l.psi, f->l.type, k)) > FARTHEST) return false;
    }
    for (int64_t k = 0; k < w * h; ++k) {
        if (k % w + 1 < w) put_pair(f, k, k + 1, 2 * k);
        if (k / w + 1 < h) put_pair(f, k, k + w, 2 * k + 1);
    }
    return true;
}

/* Turns of q, on top of its own phase wrapped, from those of p. */
static void follow(const field *f, int64_t p, int64_t q, int64_t e, double sign, int64_t *top) {
    if (f->cost[e] == 0 || isfinite(f->l.turns[q])) return;
    f->l.turns[q] = f->l.turns[p] + sign * (f->cuts.cut[e] - f->wrapped[e]);
    f->l.stack[(*top)++] = (int32_t)q;
}

static void find_turns(const field *f) {
    int64_t w = f->l.width, h = f->l.height;
    for (int64_t k = 0; k < w * h; ++k) f->l.turns[k] = INFINITY;
    for (int64_t seed = 0; seed < w * h; ++seed) {
        if (isfinite(f->l.turns[seed])) continue;
        int64_t top = 0;
        f->l.turns[seed] = 0;
        f->l.stack[top++] = (int32_t)seed;
        while (top > 0) {
            int64_t k = f->l.stack[--top], i = k % w, j = k / w;
            if (i + 1 < w) follow(f, k, k + 1, 2 * k, 1, &top);
            if (j + 1 < h) follow(f, k, k + w, 2 * k + 1, 1, &top);
            if (i > 0) follow(f, k, k - 1, 2 * (k - 1), -1, &top);
            if (j > 0) follow(f, k, k - w, 2 * (k - w) + 1, -1, &top);
        }
    }
    for (int64_t k = 0; k < w * h; ++k)
        if (counts(&f->l, k)) f->l.turns[k] -= rint(number(f->l.psi, f->l.type, k) / TURN);
}

static atn_status put_surface(const pixels *l, atn_array *surface) {
    void *to;
    atn_status status = atn_array_map_write(surface, &to);
    for (int64_t k = 0; k < l->width * l->height && status == ATN_OK; ++k) {
        double value = counts(l, k) ? number(l->psi, l->type, k) + TURN * l->turns[k] : number(l->psi, l->type, k);
        if (l->type == ATN_DP)
            ((double *)to)[k] = value;
        else
            ((float *)to)[k] = (float)value;
    }
    return status;
}

atn_status unwrap_shortest(atn_unwrap *u, atn_array *surface, bool *out) {
    field f = {.cuts = {.width = u->width, .height = u->height}};
    size_t pairs = 2 * (size_t)u->pixels;
    bool found = false;
    atn_status status = open_pixels(u, &f.l);
    *out = false;
    f.cuts.wrapped = f.wrapped = atn_zalloc(u->ctx, pairs * sizeof *f.wrapped);
    f.cuts.cost = f.cost = atn_zalloc(u->ctx, pairs * sizeof *f.cost);
    f.cuts.cut = atn_alloc(u->ctx, pairs * sizeof *f.cuts.cut);
    if (status == ATN_OK && (!f.cost || !f.wrapped || !f.cuts.cut)) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) status = find_grades(u, &f);
    if (status == ATN_OK && put_pairs(&f)) status = unwrap_cuts_find(u->ctx, &f.cuts, WORK * u->pixels, &found);
    if (status == ATN_OK && found) {
        find_turns(&f);
        status = put_surface(&f.l, surface);
        *out = status == ATN_OK;
    }
    atn_free(u->ctx, f.cost);
    atn_free(u->ctx, f.grade);
    atn_free(u->ctx, f.wrapped);
    atn_free(u->ctx, f.cuts.cut);
    close_pixels(u, &f.l);
    return status;
}
