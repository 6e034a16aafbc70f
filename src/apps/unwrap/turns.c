/* Whole turns between neighbours, on the host: do the wrapped differences add up around every hole, and the congruent
 * answer with the shortest cuts. Neighbours p and q of an answer psi + 2 pi n are cut by k = n(q) - n(p) + a turns,
 * where a is (psi(q) - psi(p)) / 2 pi, rounded: from k that add up around every corner and hole n follows pair by pair.
 */
#include "apps/unwrap/unwrap.h"

#include "apps/unwrap/cuts.h"
#include "base/memory.h"

#include <math.h>

static const double TURN = 6.283185307179586;
static const double FARTHEST = 0x1p50; /* radians */
static const double COSTLIEST = 1000;  /* of a pair, where there are qualities */
enum { WORK = 2000 };                  /* steps of the search, a pixel, before it is given up; 30 are many */

static double number(const void *from, atn_type type, int64_t k) {
    return type == ATN_DP ? ((const double *)from)[k] : (double)((const float *)from)[k];
}

/* ---- around holes ---- */

typedef struct loops {
    const void *psi;
    const uint8_t *mask;
    const float *quality; /* or NULL */
    atn_type type;
    int64_t width, height;
    double *turns; /* NaN: not valid, infinite: not seen yet */
    int32_t *stack;
} loops;

static bool counts(const loops *l, int64_t k) {
    return l->mask[k] && (!l->quality || l->quality[k] > 0) && isfinite(number(l->psi, l->type, k));
}

/* Gives q its turns where it has none; false: it has others. */
static bool reach(const loops *l, int64_t p, int64_t q, int64_t *top) {
    if (isnan(l->turns[q])) return true;
    double d = number(l->psi, l->type, q) - number(l->psi, l->type, p), turns = l->turns[p] - rint(d / TURN);
    if (isfinite(l->turns[q])) return l->turns[q] == turns;
    l->turns[q] = turns;
    l->stack[(*top)++] = (int32_t)q;
    return true;
}

static bool flood(const loops *l, int64_t seed) {
    int64_t top = 0, w = l->width;
    bool same = true;
    l->turns[seed] = 0;
    l->stack[top++] = (int32_t)seed;
    while (top > 0 && same) {
        int64_t k = l->stack[--top], i = k % w, j = k / w;
        if (i + 1 < w) same = reach(l, k, k + 1, &top) && same;
        if (j + 1 < l->height) same = reach(l, k, k + w, &top) && same;
        if (i > 0) same = reach(l, k, k - 1, &top) && same;
        if (j > 0) same = reach(l, k, k - w, &top) && same;
    }
    return same;
}

static atn_status open_loops(atn_unwrap *u, const atn_unwrap_settings *s, loops *l) {
    const void *mask = NULL;
    *l = (loops){.type = u->type, .width = u->width, .height = u->height, .quality = s->quality};
    atn_status status = atn_array_map_read(u->psi, &l->psi);
    if (status == ATN_OK) status = atn_array_map_read(u->mask, &mask);
    l->mask = mask;
    l->turns = atn_alloc(u->ctx, (size_t)u->pixels * sizeof *l->turns);
    l->stack = atn_alloc(u->ctx, (size_t)u->pixels * sizeof *l->stack);
    return status != ATN_OK ? status : l->turns && l->stack ? ATN_OK : ATN_ERR_MEMORY;
}

static void close_loops(const atn_unwrap *u, const loops *l) {
    atn_free(u->ctx, l->turns);
    atn_free(u->ctx, l->stack);
}

atn_status unwrap_adds_up(atn_unwrap *u, const atn_unwrap_settings *s, bool *out) {
    loops l;
    atn_status status = open_loops(u, s, &l);
    *out = true;
    for (int64_t k = 0; k < u->pixels && status == ATN_OK; ++k) l.turns[k] = counts(&l, k) ? INFINITY : NAN;
    for (int64_t k = 0; k < u->pixels && status == ATN_OK && *out; ++k)
        if (isinf(l.turns[k])) *out = flood(&l, k);
    close_loops(u, &l);
    return status;
}

/* ---- shortest cuts ---- */

typedef struct field {
    loops l; /* turns: what pixels get, NaN where they do not count */
    unwrap_cuts cuts;
    int32_t *wrapped;
    uint16_t *cost;
    double most; /* quality */
} field;

/* What a cut of the pair costs: alike for all, or by the lesser of their qualities. */
static uint16_t cost_of(const field *f, int64_t p, int64_t q) {
    if (!f->l.quality) return 1;
    double least = fmin((double)f->l.quality[p], (double)f->l.quality[q]) / f->most;
    return (uint16_t)fmax(rint(COSTLIEST * least), 1);
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
        if (f->l.quality) f->most = fmax(f->most, (double)f->l.quality[k]);
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

atn_status unwrap_shortest(atn_unwrap *u, const atn_unwrap_settings *s, double **turns) {
    field f = {.cuts = {.width = u->width, .height = u->height}};
    size_t pairs = 2 * (size_t)u->pixels;
    bool found = false;
    atn_status status = open_loops(u, s, &f.l);
    *turns = NULL;
    f.cuts.wrapped = f.wrapped = atn_zalloc(u->ctx, pairs * sizeof *f.wrapped);
    f.cuts.cost = f.cost = atn_zalloc(u->ctx, pairs * sizeof *f.cost);
    f.cuts.cut = atn_alloc(u->ctx, pairs * sizeof *f.cuts.cut);
    if (status == ATN_OK && (!f.cost || !f.wrapped || !f.cuts.cut)) status = ATN_ERR_MEMORY;
    if (status == ATN_OK && put_pairs(&f)) status = unwrap_cuts_find(u->ctx, &f.cuts, WORK * u->pixels, &found);
    if (status == ATN_OK && found) {
        find_turns(&f);
        *turns = f.l.turns;
        f.l.turns = NULL;
    }
    atn_free(u->ctx, f.cost);
    atn_free(u->ctx, f.wrapped);
    atn_free(u->ctx, f.cuts.cut);
    close_loops(u, &f.l);
    return status;
}
