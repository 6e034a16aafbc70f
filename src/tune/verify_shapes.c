/* Small shapes that straddle the edges of a variant's tiles: one more, and one less, than a tile of each dimension has,
 * first each dimension by itself, then all together. */
#include "tune/verify.h"

static int64_t at_least_one(int64_t n) { return n > 1 ? n : 1; }

/* Points of one tile along dimension d, with all that one group does. */
static int64_t points_of_tile(const atn_cut *c) { return (int64_t)c->lanes * c->vec * c->regs * c->seq; }
static int64_t step_of_range(const atn_cut *c) { return (int64_t)c->lanes * c->vec * c->regs * c->unroll; }

static void set(atn_steps *steps, const atn_graph *g, int32_t block, const int64_t extent[2]) {
    if (block < 0) return;
    for (int32_t d = 0; d < g->blocks[block].rank; ++d) steps->steps[g->blocks[block].dim[d]] = extent[d];
}

static atn_shape shape_of(const atn_graph *g, const int64_t p[2], const int64_t q[2], bool special) {
    atn_shape s = {.special = special};
    for (int d = 0; d < ATN_MAX_DIMS; ++d) s.steps.steps[d] = 3; /* of nested iterators, too */
    int32_t reduced = atn_outermost(g);
    if (g->blocks[0].n_accs == 0) set(&s.steps, g, 0, p);
    set(&s.steps, g, reduced, q);
    return s;
}

int32_t atn_verify_shapes(const atn_graph *g, const atn_variant *v, atn_shape *shapes) {
    int64_t t[2] = {points_of_tile(&v->p[0]), points_of_tile(&v->p[1])};
    int64_t step[2] = {step_of_range(&v->q[0]), step_of_range(&v->q[1])};
    int64_t tile[2] = {v->q[0].tile > 0 ? v->q[0].tile : step[0], step[1]};
    int64_t most = 20000;
    int64_t split[2] = {step[0] * v->q[0].split, step[1] * v->q[1].split}; /* all groups of a range have something */
    for (int d = 0; d < 2; ++d)
        if (split[d] > most) split[d] = v->q[d].split + (d == 0 ? step[0] : 0);
    int32_t n = 0;
    bool points = g->blocks[0].n_accs == 0 && g->blocks[0].rank > 0, plane = points && g->blocks[0].rank > 1;
    bool reduced = atn_outermost(g) >= 0;
#define P(a, b) ((const int64_t[2]){at_least_one(a), at_least_one(b)})
    shapes[n++] = shape_of(g, P(t[0] + 1, t[1] + 1), P(tile[0] + 1, tile[1] + 1), false);
    if (points) shapes[n++] = shape_of(g, P(2 * t[0] + 1, 2), P(5, 2), false);
    if (plane) shapes[n++] = shape_of(g, P(2, 2 * t[1] + 1), P(3, 3), false);
    if (reduced) shapes[n++] = shape_of(g, P(2, 3), P(split[0] + 1, split[1] + 1), false);
    shapes[n++] = shape_of(g, P(t[0] - 1, t[1] - 1), P(step[0] - 1, step[1] - 1), false);
    shapes[n++] = shape_of(g, P(1, 1), P(1, 1), false);
    if (!g->finite)
        shapes[n++] = shape_of(g, P(t[0] < 64 ? t[0] + 3 : 67, 5), P(step[0] < 64 ? step[0] + 3 : 67, 3), true);
#undef P
    return n;
}
