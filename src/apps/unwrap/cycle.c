/* Cycles: sweeps, the residual summed over 2 x 2 cells, the coarser grid, its answer added to all four, sweeps again.
 * The smoother is Jacobi's with the steps of a Chebyshev polynomial over the upper part of the spectrum, [low, 2] of A
 * / diag: as good per sweep as red-black, in any layout, and symmetric, as conjugate gradients want it. */
#include "apps/unwrap/unwrap.h"

#include <math.h>

/* Lower ends of the spectrum that give the best cycles, by sweeps; found by trying. */
static const double LOW[2][UNWRAP_SWEEPS] = {{0.5, 0.7, 0.85, 0.35, 0.35, 0.35, 0.3, 0.3},
                                             {0.5, 0.5, 0.4, 0.25, 0.2, 0.2, 0.2, 0.2}};
static const double HIGH = 2;
/* Without weights a single sweep before and one after share the steps of two: both alike would leave too much. */
static const double SINGLE[2] = {1.2, 0.55};

void unwrap_relax(atn_unwrap *u) {
    for (int weights = 0; weights < 2; ++weights)
        for (int side = 0; side < 2; ++side) {
            int32_t n = side ? u->after[weights] : u->before[weights];
            if (n == 1 && !weights) {
                u->relax[0][side][0] = SINGLE[side];
                continue;
            }
            double low = LOW[weights][n - 1], middle = (HIGH + low) / 2, half = (HIGH - low) / 2;
            for (int32_t k = 0; k < n; ++k) {
                int32_t at = side ? n - 1 - k : k; /* the same backwards: symmetric */
                u->relax[weights][side][at] = 1 / (middle + half * cos(acos(-1.0) * (2 * k + 1) / (2.0 * n)));
            }
        }
}

static atn_status run(unwrap_op *op) { return atn_kernel_run(op->kernel); }

/* With the steps of two sweeps, or (one) of one. */
static atn_status run_relaxed(unwrap_op *op, bool one, double first, double second) {
    atn_status status = ATN_OK;
    if (op->relax[0] != first + 1) status = atn_kernel_param(op->kernel, one ? "o" : "o1", first, 0);
    if (status == ATN_OK && !one && op->relax[1] != second + 1) status = atn_kernel_param(op->kernel, "o2", second, 0);
    op->relax[0] = first + 1; /* 0 would be one that was never set */
    op->relax[1] = second + 1;
    return status == ATN_OK ? run(op) : status;
}

/* Two sweeps from 0; the second one does nothing where only one is wanted. */
static atn_status first(atn_unwrap *u, bool weights, unwrap_level *l) {
    unwrap_op *op = &l->ops[weights].first;
    const double *relax = u->relax[weights][0];
    atn_status status = weights
                            ? UNWRAP_OP(u, op, "unwrap_first_w", "f", l->f.cells, "u", l->at[0].cells, "inv", l->inv,
                                        "wx", l->wx, "wy", l->wy)
                            : UNWRAP_OP(u, op, "unwrap_first", "f", l->f.all, "u", l->at[0].all, "X", l->x, "Y", l->y);
    return status == ATN_OK ? run_relaxed(op, false, relax[0], u->before[weights] > 1 ? relax[1] : 0) : status;
}

static atn_status sweep(atn_unwrap *u, bool weights, unwrap_level *l, double relax, int *where) {
    unwrap_op *op = &l->ops[weights].sweep[*where];
    const unwrap_plane *from = &l->at[*where], *to = &l->at[!*where];
    atn_status status =
        weights ? UNWRAP_OP(u, op, "unwrap_sweep_w", "f", l->f.cells, "u", from->cells, "v", to->cells, "inv", l->inv,
                            "wx", l->wx, "wy", l->wy)
                : UNWRAP_OP(u, op, "unwrap_sweep", "f", l->f.all, "u", from->all, "v", to->all, "X", l->x, "Y", l->y);
    *where = !*where;
    return status == ATN_OK ? run_relaxed(op, true, relax, 0) : status;
}

static atn_status pair(atn_unwrap *u, unwrap_level *l, const double *relax, int *where) {
    unwrap_op *op = &l->ops[0].pair[*where];
    atn_status status = UNWRAP_OP(u, op, "unwrap_pair", "f", l->f.all, "u", l->at[*where].all, "v", l->at[!*where].all,
                                  "X", l->x, "Y", l->y);
    *where = !*where;
    return status == ATN_OK ? run_relaxed(op, false, relax[0], relax[1]) : status;
}

static atn_status red_black(atn_unwrap *u, unwrap_level *l, int *where) {
    unwrap_op *op = &l->ops[0].redblack[*where];
    atn_status status = UNWRAP_OP(u, op, "unwrap_redblack", "f", l->f.all, "u", l->at[*where].all, "v",
                                  l->at[!*where].all, "X", l->x, "Y", l->y);
    *where = !*where;
    if (status == ATN_OK && op->relax[0] == 0) status = atn_kernel_param(op->kernel, "colour", 0, 0);
    op->relax[0] = 1;
    return status == ATN_OK ? run(op) : status;
}

/* From the k-th of `count` sweeps on: two at a time where kernels may do that. */
static atn_status sweeps(atn_unwrap *u, bool weights, unwrap_level *l, bool after, int32_t k, int *where) {
    const double *relax = u->relax[weights][after];
    int32_t count = after ? u->after[weights] : u->before[weights];
    bool colours = !weights && u->options.smoother == ATN_UNWRAP_SMOOTHER_REDBLACK;
    atn_status status = ATN_OK;
    while (k < count && status == ATN_OK) {
        bool two = !weights && !colours && !u->options.no_fuse && k + 1 < count;
        status = colours ? red_black(u, l, where)
                 : two   ? pair(u, l, relax + k, where)
                         : sweep(u, weights, l, relax[k], where);
        k += two ? 2 : 1;
    }
    return status;
}

/* Sweeps that a kernel does besides raising or lifting: the first two, or none. */
static int32_t along(const atn_unwrap *u, bool weights, bool after, double relax[2]) {
    int32_t count = after ? u->after[weights] : u->before[weights];
    relax[0] = relax[1] = 0;
    if (!weights && (u->options.no_fuse || u->options.smoother == ATN_UNWRAP_SMOOTHER_REDBLACK)) return 0;
    relax[0] = u->relax[weights][after][0];
    if (weights || count == 1) return 1;
    relax[1] = u->relax[weights][after][1];
    return 2;
}

static atn_status restrict_to(atn_unwrap *u, bool weights, unwrap_level *l, int where) {
    unwrap_op *op = &l->ops[weights].restrict_[where];
    const unwrap_plane *from = &l->at[where];
    atn_status status = weights ? UNWRAP_OP(u, op, "unwrap_restrict_w", "f", l->f.cells, "u", from->cells, "g",
                                            l[1].f.cells, "wx", l->wx, "wy", l->wy)
                                : UNWRAP_OP(u, op, "unwrap_restrict", "f", l->f.room, "u", from->room, "g", l[1].f.all,
                                            "X", l->x, "Y", l->y);
    return status == ATN_OK ? run(op) : status;
}

/* The coarser grid's correction and the sweeps after it. */
static atn_status raise(atn_unwrap *u, bool weights, unwrap_level *l, int coarse, int *where) {
    unwrap_op *op = &l->ops[weights].raise[*where][coarse];
    const unwrap_plane *from = &l->at[*where], *to = &l->at[!*where], *e = &l[1].at[coarse];
    double relax[2];
    int32_t done = along(u, weights, true, relax);
    atn_status status = weights ? UNWRAP_OP(u, op, "unwrap_raise_w", "f", l->f.cells, "u", from->cells, "e", e->cells,
                                            "v", to->wide, "inv", l->inv, "wx", l->wx, "wy", l->wy)
                                : UNWRAP_OP(u, op, "unwrap_raise", "f", l->f.room, "u", from->room, "e", e->all, "v",
                                            to->room, "X", l->x, "Y", l->y);
    *where = !*where;
    if (status == ATN_OK) status = run_relaxed(op, weights, relax[0], relax[1]);
    return status == ATN_OK ? sweeps(u, weights, l, true, done, where) : status;
}

/* The coarser grid, from 0 and back: sweeps before it are done. */
static atn_status correct(atn_unwrap *u, bool weights, int32_t level, int *where) {
    unwrap_level *l = &u->level[level];
    int coarse = 0;
    atn_status status = restrict_to(u, weights, l, *where);
    if (status == ATN_OK) status = unwrap_cycle(u, weights, level + 1, true, &coarse);
    if (status == ATN_OK && u->options.cycle == ATN_UNWRAP_CYCLE_W && level + 2 < u->levels)
        status = unwrap_cycle(u, weights, level + 1, false, &coarse);
    if (level == 0) u->raised = coarse;
    return status == ATN_OK ? raise(u, weights, l, coarse, where) : status;
}

atn_status unwrap_cycle(atn_unwrap *u, bool weights, int32_t level, bool from_zero, int *where) {
    unwrap_level *l = &u->level[level];
    atn_status status = ATN_OK;
    if (from_zero || level == u->levels - 1) *where = 0;
    if (level == u->levels - 1) return unwrap_direct_solve(u, weights, l);
    if (from_zero) status = first(u, weights, l);
    if (status == ATN_OK) status = sweeps(u, weights, l, false, from_zero ? 2 : 0, where);
    return status == ATN_OK ? correct(u, weights, level, where) : status;
}

/* Every grid starts from the answer of the next coarser one, which has the same load, summed. */
atn_status unwrap_full(atn_unwrap *u, int *where) {
    atn_status status = ATN_OK;
    int32_t last = u->levels - 1;
    for (int32_t n = 0; n < last && status == ATN_OK; ++n) {
        unwrap_level *l = &u->level[n];
        unwrap_op *op = &l->ops[0].gather;
        status = UNWRAP_OP(u, op, "unwrap_gather", "f", l->f.room, "g", l[1].f.all);
        if (status == ATN_OK) status = run(op);
    }
    *where = 0;
    if (status == ATN_OK) status = unwrap_direct_solve(u, false, &u->level[last]);
    for (int32_t n = last - 1; n >= 0 && status == ATN_OK; --n) {
        unwrap_level *l = &u->level[n];
        unwrap_op *op = &l->ops[0].lift[*where];
        double relax[2];
        int32_t done = along(u, false, false, relax);
        status = UNWRAP_OP(u, op, "unwrap_lift", "f", l->f.room, "e", l[1].at[*where].all, "v", l->at[0].room, "X",
                           l->x, "Y", l->y);
        if (status == ATN_OK) status = run_relaxed(op, false, relax[0], relax[1]);
        *where = 0;
        if (status == ATN_OK) status = sweeps(u, false, l, false, done, where);
        if (status == ATN_OK) status = correct(u, false, n, where);
    }
    return status;
}
