/* Towards the answer of A u = sum w W(psi(q) - psi(p)): cycles, or conjugate gradients with a cycle as preconditioner.
 * The residual is always made anew from psi and u, as differences of differences, so that what rounding leaves is the
 * rounding of u itself and not of the sums on the way. */
#include "apps/unwrap/unwrap.h"

#include <math.h>

/* A cycle that leaves more than that of the residual meets rounding; with weights cycles are slower. */
static const double STALLED[2] = {0.6, 0.95};
/* Residuals above this share of a flat start's, by bits, are never rounding. */
static double rounding(const atn_unwrap *u) { return u->type == ATN_DP ? 1e-9 : 0.05; }

static atn_status read_scalar(const atn_unwrap *u, int which, double *out) {
    const void *at;
    atn_status status = atn_array_map_read(u->scalar[which], &at);
    if (status == ATN_OK) *out = u->type == ATN_DP ? *(const double *)at : (double)*(const float *)at;
    return status;
}

static atn_status norm_of(atn_unwrap *u, double *out) {
    atn_array *r = u->level[0].vector[0];
    double square = 0;
    atn_status status = UNWRAP_OP(u, &u->ops.norm, "dot", "x", r, "y", r, "product", u->scalar[3]);
    if (status == ATN_OK) status = atn_kernel_run(u->ops.norm.kernel);
    if (status == ATN_OK) status = read_scalar(u, 3, &square);
    *out = sqrt(square);
    return status;
}

static atn_status run_residual(atn_unwrap *u, bool weights, unwrap_op *op, atn_array *from, atn_array *e,
                               atn_array *to) {
    unwrap_level *l = &u->level[0];
    atn_status status = weights
                            ? UNWRAP_OP(u, op, "unwrap_residual_w", "psi", u->clean, "u", from, "e", e, "v", to, "r",
                                        l->f, "wx", l->wx, "wy", l->wy)
                            : UNWRAP_OP(u, op, "unwrap_residual", "psi", u->psi, "u", from, "e", e, "v", to, "r", l->f);
    return status == ATN_OK ? atn_kernel_run(op->kernel) : status;
}

atn_status unwrap_flat(atn_unwrap *u, bool weights, bool start, double *norm) {
    atn_array *zero = u->level[0].zero;
    atn_status status = run_residual(u, weights, &u->ops.flat[weights][u->now], zero, zero, u->u[!u->now]);
    if (start) u->now = !u->now;
    return status == ATN_OK ? norm_of(u, norm) : status;
}

atn_status unwrap_residual(atn_unwrap *u, bool weights, int where, double *norm) {
    unwrap_level *l = &u->level[0];
    atn_array *e[4] = {l->at[0], l->at[1], l->zero, u->x[1]};
    atn_status status =
        run_residual(u, weights, &u->ops.residual[weights][u->now][where], u->u[u->now], e[where], u->u[!u->now]);
    u->now = !u->now;
    return status == ATN_OK ? norm_of(u, norm) : status;
}

/* Is it there, or can it not come nearer? */
static bool done(const atn_unwrap *u, bool weights, double before, double now, double tolerance, unwrap_progress *p) {
    p->reached = p->flat > 0 ? now / p->flat : 0;
    p->converged = p->reached <= tolerance || (before > 0 && p->off < p->within);
    p->rounding = !p->converged && before > 0 && now > STALLED[weights] * before && p->reached < rounding(u);
    return p->converged || p->rounding || !isfinite(now);
}

/* The sum of squares of what a cycle adds, left on the device. */
static atn_status start_moved(atn_unwrap *u, int where) {
    unwrap_op *op = &u->ops.moved[where];
    atn_array *e = u->level[0].at[where]; /* as a matrix: what lies beyond its border is anything */
    atn_status status = UNWRAP_OP(u, op, "unwrap_squares", "e", e, "sum", u->scalar[2]);
    return status == ATN_OK ? atn_kernel_run(op->kernel) : status;
}

/* A cycle that leaves a share s of the residual leaves about that of the error: what it moved, times s / (1 - s). */
static atn_status estimate(const atn_unwrap *u, double before, double now, unwrap_progress *p) {
    double square = 0, share = before > 0 ? now / before : 1;
    atn_status status = read_scalar(u, 2, &square);
    p->off = share < 1 ? sqrt(square / (double)u->pixels) * share / (1 - share) : INFINITY;
    return status;
}

atn_status unwrap_cycles(atn_unwrap *u, bool weights, bool full, double now, double tolerance, int32_t most,
                         unwrap_progress *p) {
    atn_status status = ATN_OK;
    double before = 0;
    int where = 0;
    for (int32_t n = 0; !done(u, weights, before, now, tolerance, p) && n < most && status == ATN_OK; ++n) {
        before = now;
        status = atn_check_cancel(u->ctx);
        if (status == ATN_OK) status = unwrap_correct(u, weights, full && n == 0, &where);
        if (status == ATN_OK && p->within > 0) status = start_moved(u, where);
        if (status == ATN_OK) status = unwrap_residual(u, weights, where, &now);
        if (status == ATN_OK && p->within > 0) status = estimate(u, before, now, p);
        ++p->cycles;
    }
    return status;
}

/* ---- conjugate gradients ---- */

static atn_status set_keep(unwrap_op *op, double keep) {
    atn_status status = op->relax != keep + 1 ? atn_kernel_param(op->kernel, "keep", keep, 0) : ATN_OK;
    op->relax = keep + 1; /* 0 would be one that was never set */
    return status == ATN_OK ? atn_kernel_run(op->kernel) : status;
}

/* z = cycle(r), rz = r z, p = z + keep rz / before p. */
static atn_status direction(atn_unwrap *u, int turn, double keep) {
    unwrap_level *l = &u->level[0];
    int where;
    atn_status status = unwrap_correct(u, true, false, &where);
    unwrap_op *zdot = &u->ops.zdot[turn][where], *next = &u->ops.turn[turn][where];
    atn_array *rz = u->scalar[turn], *before = u->scalar[!turn], *z = l->vector[1 + where];
    if (status == ATN_OK) status = UNWRAP_OP(u, zdot, "dot", "x", l->vector[0], "y", z, "product", rz);
    if (status == ATN_OK) status = atn_kernel_run(zdot->kernel);
    if (status == ATN_OK) status = UNWRAP_OP(u, next, "unwrap_turn", "z", z, "rz", rz, "before", before, "p", u->p[0]);
    return status == ATN_OK ? set_keep(next, keep) : status;
}

/* q = A p, x += (rz / pq) p, r -= (rz / pq) q. */
static atn_status step(atn_unwrap *u, int turn, double keep) {
    unwrap_level *l = &u->level[0];
    unwrap_op *move = &u->ops.step[turn];
    atn_status status =
        UNWRAP_OP(u, &u->ops.apply, "unwrap_apply", "p", u->p[1], "q", u->q[1], "wx", l->wx, "wy", l->wy);
    if (status == ATN_OK) status = atn_kernel_run(u->ops.apply.kernel);
    if (status == ATN_OK) status = UNWRAP_OP(u, &u->ops.pq, "dot", "x", u->p[0], "y", u->q[0], "product", u->scalar[2]);
    if (status == ATN_OK) status = atn_kernel_run(u->ops.pq.kernel);
    if (status == ATN_OK)
        status = UNWRAP_OP(u, move, "unwrap_step", "p", u->p[0], "q", u->q[0], "rz", u->scalar[turn], "pq",
                           u->scalar[2], "x", u->x[0], "r", l->vector[0]);
    return status == ATN_OK ? set_keep(move, keep) : status;
}

/* Rounds of conjugate gradients, each on the residual that the last one really left: the one that they carry along
 * drifts away from it by rounding. */
atn_status unwrap_conjugate(atn_unwrap *u, double now, double tolerance, int32_t most, unwrap_progress *p) {
    atn_status status = ATN_OK;
    double before = 0;
    int32_t n = 0;
    while (!done(u, true, before, now, tolerance, p) && n < most && status == ATN_OK) {
        double first = now, wanted = tolerance * p->flat, floor = (u->type == ATN_DP ? 1e-12 : 1e-4) * first;
        if (wanted < floor) wanted = floor;
        for (int32_t k = 0; now > wanted && n < most && status == ATN_OK; ++k, ++n) {
            status = atn_check_cancel(u->ctx);
            if (status == ATN_OK) status = direction(u, k % 2, k > 0);
            if (status == ATN_OK) status = step(u, k % 2, k > 0);
            if (status == ATN_OK) status = norm_of(u, &now);
            if (!isfinite(now)) break;
        }
        before = first;
        if (status == ATN_OK) status = unwrap_residual(u, true, UNWRAP_X, &now);
    }
    p->cycles += n;
    return status;
}
