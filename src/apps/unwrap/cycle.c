/* Cycles: sweeps, the residual summed over 2 x 2 cells, the coarser grid, its answer added to all four, sweeps again.
 * The smoother is Jacobi's with the steps of a Chebyshev polynomial over the upper part of the spectrum, [low, 2] of A
 * / diag: as good per sweep as red-black, in any layout, and symmetric, as conjugate gradients want it. */
#include "apps/unwrap/unwrap.h"

#include <math.h>

/* Lower ends of the spectrum that give the best cycles, by sweeps; found by trying. */
static const double LOW[2][UNWRAP_SWEEPS] = {{0.5, 0.7, 0.55, 0.45, 0.4, 0.35, 0.3, 0.3},
                                             {0.5, 0.5, 0.4, 0.35, 0.3, 0.3, 0.25, 0.25}};
static const double HIGH = 2;

void unwrap_relax(atn_unwrap *u) {
    for (int weights = 0; weights < 2; ++weights)
        for (int side = 0; side < 2; ++side) {
            int32_t n = side ? u->after[weights] : u->before[weights];
            double low = LOW[weights][n - 1], middle = (HIGH + low) / 2, half = (HIGH - low) / 2;
            for (int32_t k = 0; k < n; ++k) {
                int32_t at = side ? n - 1 - k : k; /* the same backwards: symmetric */
                u->relax[weights][side][at] = 1 / (middle + half * cos(acos(-1.0) * (2 * k + 1) / (2.0 * n)));
            }
        }
}

static atn_status run(unwrap_op *op) { return atn_kernel_run(op->kernel); }

static atn_status run_relaxed(unwrap_op *op, double relax) {
    atn_status status = ATN_OK;
    if (op->relax != relax) status = atn_kernel_param(op->kernel, "o", relax, 0);
    op->relax = relax;
    return status == ATN_OK ? run(op) : status;
}

/* Two sweeps from 0; the second one does nothing where only one is wanted. */
static atn_status first(atn_unwrap *u, bool weights, unwrap_level *l) {
    unwrap_op *op = &l->ops[weights].first;
    const double *relax = u->relax[weights][0];
    if (!op->kernel) {
        atn_status status = weights ? UNWRAP_OP(u, op, "unwrap_first_w", "f", l->f, "u", l->at[0], "inv", l->inv, "wx",
                                                l->wx, "wy", l->wy)
                                    : UNWRAP_OP(u, op, "unwrap_first", "f", l->f, "u", l->at[0], "hx", l->hx, "hy",
                                                l->hy, "gx", l->gx, "gy", l->gy);
        if (status == ATN_OK) status = atn_kernel_param(op->kernel, "o1", relax[0], 0);
        if (status == ATN_OK) status = atn_kernel_param(op->kernel, "o2", u->before[weights] > 1 ? relax[1] : 0, 0);
        if (status != ATN_OK) return status;
    }
    return run(op);
}

static atn_status sweep(atn_unwrap *u, bool weights, unwrap_level *l, double relax, int *where) {
    unwrap_op *op = &l->ops[weights].sweep[*where];
    atn_array *from = l->at[*where], *to = l->at[!*where];
    atn_status status = weights ? UNWRAP_OP(u, op, "unwrap_sweep_w", "f", l->f, "u", from, "v", to, "inv", l->inv, "wx",
                                            l->wx, "wy", l->wy)
                                : UNWRAP_OP(u, op, "unwrap_sweep", "f", l->f, "u", from, "v", to, "hx", l->hx, "hy",
                                            l->hy, "gx", l->gx, "gy", l->gy);
    *where = !*where;
    return status == ATN_OK ? run_relaxed(op, relax) : status;
}

/* From u, or (NULL) from 0. */
static atn_status restrict_to(atn_unwrap *u, bool weights, unwrap_level *l, unwrap_op *op, atn_array *from) {
    atn_status status =
        weights ? UNWRAP_OP(u, op, "unwrap_restrict_w", "f", l->f, "u", from, "g", l[1].f, "wx", l->wx, "wy", l->wy)
                : UNWRAP_OP(u, op, "unwrap_restrict", "f", l->f, "u", from, "g", l[1].f, "hx", l->hx, "hy", l->hy);
    return status == ATN_OK ? run(op) : status;
}

static atn_status raise(atn_unwrap *u, bool weights, unwrap_level *l, int coarse, double relax, int *where) {
    unwrap_op *op = &l->ops[weights].raise[*where][coarse];
    atn_array *from = l->at[*where], *to = l->wide[!*where], *e = l[1].at[coarse];
    atn_status status = weights ? UNWRAP_OP(u, op, "unwrap_raise_w", "f", l->f, "u", from, "e", e, "v", to, "inv",
                                            l->inv, "wx", l->wx, "wy", l->wy)
                                : UNWRAP_OP(u, op, "unwrap_raise", "f", l->f, "u", from, "e", e, "v", to, "hx", l->hx,
                                            "hy", l->hy, "gx", l->gx, "gy", l->gy);
    *where = !*where;
    return status == ATN_OK ? run_relaxed(op, relax) : status;
}

atn_status unwrap_cycle(atn_unwrap *u, bool weights, int32_t level, bool from_zero, int *where) {
    unwrap_level *l = &u->level[level];
    const double *before = u->relax[weights][0], *after = u->relax[weights][1];
    atn_status status = ATN_OK;
    int coarse = 0, k = 0;
    if (level == u->levels - 1) {
        *where = 0;
        return unwrap_direct_solve(u, weights, l);
    }
    if (from_zero) {
        *where = 0;
        status = first(u, weights, l);
        k = 2;
    }
    for (; k < u->before[weights] && status == ATN_OK; ++k) status = sweep(u, weights, l, before[k], where);
    if (status == ATN_OK) status = restrict_to(u, weights, l, &l->ops[weights].restrict_[*where], l->at[*where]);
    if (status == ATN_OK) status = unwrap_cycle(u, weights, level + 1, true, &coarse);
    if (status == ATN_OK && u->options.cycle == ATN_UNWRAP_CYCLE_W && level + 2 < u->levels)
        status = unwrap_cycle(u, weights, level + 1, false, &coarse);
    if (status == ATN_OK) status = raise(u, weights, l, coarse, after[0], where);
    for (k = 1; k < u->after[weights] && status == ATN_OK; ++k) status = sweep(u, weights, l, after[k], where);
    return status;
}

atn_status unwrap_full(atn_unwrap *u, bool weights, int *where) {
    atn_status status = ATN_OK;
    int32_t last = u->levels - 1;
    for (int32_t n = 0; n < last && status == ATN_OK; ++n)
        status = restrict_to(u, weights, &u->level[n], &u->level[n].ops[weights].restrict_zero, u->level[n].zero);
    *where = 0;
    if (status == ATN_OK) status = unwrap_direct_solve(u, weights, &u->level[last]);
    for (int32_t n = last - 1; n >= 0 && status == ATN_OK; --n) {
        unwrap_level *l = &u->level[n];
        unwrap_op *op = &l->ops[weights].bilinear[*where];
        status = UNWRAP_OP(u, op, "unwrap_bilinear", "e", l[1].at[*where], "u", l->wide[0]);
        if (status == ATN_OK) status = run(op);
        *where = 0;
        if (status == ATN_OK) status = unwrap_cycle(u, weights, n, false, where);
    }
    return status;
}
