/* Do the wrapped differences add up around every hole? Where no corner is a residue, turns follow along runs of valid
 * pixels in a row, and from run to run where two touch: once for each stretch along which they do, since the corners
 * between its pairs add up. Runs that are joined keep their turns in a tree; two that meet again, around a hole, must
 * agree. */
#include "apps/unwrap/unwrap.h"

#include "base/memory.h"

#include <math.h>

static const double TURN = 6.283185307179586;
enum { NONE = -1 };

typedef struct run {
    int32_t up;   /* in its tree; itself: the root */
    int32_t size; /* of a root's tree */
    double turns; /* more than `up` has */
} run;

typedef struct rows {
    const void *psi;
    const uint8_t *mask;
    const float *quality; /* or NULL */
    atn_type type;
    int64_t width;
    run *run;
    size_t count, room;
    int32_t *of[2];   /* the run of each pixel, of the row before and of this one; NONE: not valid */
    double *turns[2]; /* of each pixel, more than its run has */
} rows;

static double phase_at(const rows *r, int64_t k) {
    return r->type == ATN_DP ? ((const double *)r->psi)[k] : (double)((const float *)r->psi)[k];
}

static bool counts(const rows *r, int64_t k) {
    return r->mask[k] && (!r->quality || r->quality[k] > 0) && isfinite(phase_at(r, k));
}

/* Turns that q needs more than p for their difference to be the wrapped one. */
static double between(const rows *r, int64_t p, int64_t q) { return -rint((phase_at(r, q) - phase_at(r, p)) / TURN); }

static int32_t root_of(const rows *r, int32_t at, double *turns) {
    for (*turns = 0; r->run[at].up != at; at = r->run[at].up) *turns += r->run[at].turns;
    return at;
}

/* b has `turns` more than a; false: it has others already. */
static bool join(rows *r, int32_t a, int32_t b, double turns) {
    double of_a, of_b;
    a = root_of(r, a, &of_a);
    b = root_of(r, b, &of_b);
    double more = of_a + turns - of_b;
    if (a == b) return more == 0;
    if (r->run[a].size < r->run[b].size) {
        int32_t other = a;
        a = b;
        b = other;
        more = -more;
    }
    r->run[b].up = a;
    r->run[b].turns = more;
    r->run[a].size += r->run[b].size;
    return true;
}

static atn_status begin_run(const atn_ctx *ctx, rows *r) {
    atn_status status = atn_grow(ctx, (void **)&r->run, &r->room, r->count, sizeof *r->run);
    if (status != ATN_OK) return status;
    r->run[r->count] = (run){.up = (int32_t)r->count, .size = 1};
    ++r->count;
    return ATN_OK;
}

static atn_status add_row(const atn_ctx *ctx, rows *r, int64_t j, bool *same) {
    int here = (int)(j % 2);
    int32_t *of = r->of[here], *above = r->of[!here];
    double *turns = r->turns[here];
    for (int64_t i = 0; i < r->width && *same; ++i) {
        int64_t k = j * r->width + i;
        of[i] = NONE;
        if (!counts(r, k)) continue;
        if (i > 0 && of[i - 1] != NONE) {
            of[i] = of[i - 1];
            turns[i] = turns[i - 1] + between(r, k - 1, k);
        } else {
            if (begin_run(ctx, r) != ATN_OK) return ATN_ERR_MEMORY;
            of[i] = (int32_t)r->count - 1;
            turns[i] = 0;
        }
        if (j == 0 || above[i] == NONE || (i > 0 && of[i - 1] == of[i] && above[i - 1] == above[i])) continue;
        *same = join(r, above[i], of[i], r->turns[!here][i] + between(r, k - r->width, k) - turns[i]);
    }
    return ATN_OK;
}

atn_status unwrap_adds_up(atn_unwrap *u, const atn_unwrap_settings *s, bool *out) {
    rows r = {.type = u->type, .width = u->width, .quality = s->quality};
    const void *mask = NULL;
    atn_status status = atn_array_map_read(u->psi, &r.psi);
    if (status == ATN_OK) status = atn_array_map_read(u->mask, &mask);
    r.mask = mask;
    for (int k = 0; k < 2; ++k) {
        r.of[k] = atn_alloc(u->ctx, (size_t)u->width * sizeof *r.of[k]);
        r.turns[k] = atn_alloc(u->ctx, (size_t)u->width * sizeof *r.turns[k]);
        if (status == ATN_OK && (!r.of[k] || !r.turns[k])) status = ATN_ERR_MEMORY;
    }
    *out = true;
    for (int64_t j = 0; j < u->height && *out && status == ATN_OK; ++j) status = add_row(u->ctx, &r, j, out);
    for (int k = 0; k < 2; ++k) {
        atn_free(u->ctx, r.of[k]);
        atn_free(u->ctx, r.turns[k]);
    }
    atn_free(u->ctx, r.run);
    return status;
}
