/* Small shapes that straddle the edges of a variant's tiles: one more, and one less, than a tile of each dimension has,
 * first each dimension by itself, then all together. */
#include "tune/verify.h"

static int64_t at_least_one(int64_t n) { return n > 1 ? n : 1; }

/* Points of one tile along dimension d, with all that one group does. */
static int64_t points_of_tile(const atn_cut *c) { return (int64_t)c->lanes * c->vec * c->regs * c->seq; }
static int64_t step_of_range(const atn_cut *c) { return (int64_t)c->lanes * c->vec * c->regs * c->unroll; }

static void set(atn_steps *steps, const atn_graph *g, int32_t block, const int64_t extent[ATN_MAX_RANK]) {
    if (block < 0) return;
    for (int32_t d = 0; d < g->blocks[block].rank; ++d) steps->steps[g->blocks[block].dim[d]] = extent[d];
}

static atn_verify_shape shape_of(const atn_graph *g, const int64_t p[ATN_MAX_RANK], const int64_t q[ATN_MAX_RANK],
                                 bool special) {
    atn_verify_shape s = {.special = special};
    for (int d = 0; d < ATN_MAX_DIMS; ++d) s.steps.steps[d] = 3; /* of nested iterators, too */
    int32_t reduced = atn_graph_outermost(g, NULL);
    if (g->blocks[0].n_accs == 0) set(&s.steps, g, 0, p);
    set(&s.steps, g, reduced, q);
    return s;
}

int32_t atn_verify_shapes(const atn_graph *g, const atn_variant *v, atn_verify_shape *shapes) {
    enum { MOST = 20000 };
    int64_t t[ATN_MAX_RANK], step[ATN_MAX_RANK], tile[ATN_MAX_RANK], split[ATN_MAX_RANK];
    for (int d = 0; d < ATN_MAX_RANK; ++d) {
        t[d] = points_of_tile(&v->p[d]);
        step[d] = step_of_range(&v->q[d]);
        tile[d] = d == 0 && v->q[d].tile > 0 ? v->q[d].tile : step[d];
        split[d] = step[d] * v->q[d].split; /* all groups of a range have something */
        if (split[d] > MOST) split[d] = v->q[d].split + (d == 0 ? step[d] : 0);
    }
    int32_t n = 0, points = g->blocks[0].n_accs == 0 ? g->blocks[0].rank : 0;
    bool reduced = atn_graph_outermost(g, NULL) >= 0;
#define P(a, b, c) ((const int64_t[ATN_MAX_RANK]){at_least_one(a), at_least_one(b), at_least_one(c)})
    shapes[n++] = shape_of(g, P(t[0] + 1, t[1] + 1, t[2] + 1), P(tile[0] + 1, tile[1] + 1, tile[2] + 1), false);
    if (points > 0) shapes[n++] = shape_of(g, P(2 * t[0] + 1, 2, 1), P(5, 2, 2), false);
    if (points > 1) shapes[n++] = shape_of(g, P(2, 2 * t[1] + 1, 2), P(3, 3, 2), false);
    if (points > 2) shapes[n++] = shape_of(g, P(3, 2, 2 * t[2] + 1), P(2, 3, 2), false);
    if (reduced) shapes[n++] = shape_of(g, P(2, 3, 2), P(split[0] + 1, split[1] + 1, split[2] + 1), false);
    shapes[n++] = shape_of(g, P(t[0] - 1, t[1] - 1, t[2] - 1), P(step[0] - 1, step[1] - 1, step[2] - 1), false);
    shapes[n++] = shape_of(g, P(1, 1, 1), P(1, 1, 1), false);
    if (!g->finite)
        shapes[n++] = shape_of(g, P(t[0] < 64 ? t[0] + 3 : 67, 5, 3), P(step[0] < 64 ? step[0] + 3 : 67, 3, 2), true);
#undef P
    return n;
}
