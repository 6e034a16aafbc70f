/* Towards the answer of A u = sum w W(psi(q) - psi(p)) where there are weights: cycles, or conjugate gradients with a
 * cycle as preconditioner. The residual is always made anew from psi and u, as differences of differences, so that what
 * rounding leaves is the rounding of u itself and not of the sums on the way. */
#include "apps/unwrap/unwrap.h"

#include <math.h>

/* A cycle that leaves more than that of the residual meets rounding; with weights cycles are slower. */
static const double STALLED[2] = {0.6, 0.95};
static const double CAREFUL = 0.8; /* of the iterations that should be needed */
enum { LONGEST = 8 };              /* iterations without a look */
/* Residuals above this share of a flat start's, by bits, are never rounding. */
static double rounding(const atn_unwrap *u) { return u->type == ATN_DP ? 1e-9 : 0.05; }

atn_status unwrap_scalar(const atn_unwrap *u, int which, double *out) {
    const void *at;
    atn_status status = atn_array_map_read(u->scalar[which], &at);
    if (status == ATN_OK) *out = u->type == ATN_DP ? *(const double *)at : (double)*(const float *)at;
    return status;
}

static atn_status norm_of(atn_unwrap *u, double *out) {
    atn_array *r = u->level[0].f.vector;
    double square = 0;
    atn_status status = UNWRAP_OP(u, &u->ops.norm, "dot", "x", r, "y", r, "product", u->scalar[3]);
    if (status == ATN_OK) status = atn_kernel_run(u->ops.norm.kernel);
    if (status == ATN_OK) status = unwrap_scalar(u, 3, &square);
    *out = sqrt(square);
    return status;
}

static atn_status run_residual(atn_unwrap *u, unwrap_op *op, atn_array *from, atn_array *e, atn_array *to) {
    unwrap_level *l = &u->level[0];
    atn_status status = UNWRAP_OP(u, op, "unwrap_residual_w", "psi", u->clean, "u", from, "e", e, "v", to, "r",
                                  l->f.cells, "wx", l->wx, "wy", l->wy);
    return status == ATN_OK ? atn_kernel_run(op->kernel) : status;
}

atn_status unwrap_flat(atn_unwrap *u, bool start, double *norm) {
    atn_status status = run_residual(u, &u->ops.flat[u->now], u->zero, u->zero, u->u[!u->now]);
    if (start) u->now = !u->now;
    return status == ATN_OK ? norm_of(u, norm) : status;
}

atn_status unwrap_residual(atn_unwrap *u, int where, double *norm) {
    unwrap_level *l = &u->level[0];
    atn_array *e[4] = {l->at[0].cells, l->at[1].cells, u->zero, u->x.cells};
    atn_status status = run_residual(u, &u->ops.residual[u->now][where], u->u[u->now], e[where], u->u[!u->now]);
    u->now = !u->now;
    return status == ATN_OK ? norm_of(u, norm) : status;
}

bool unwrap_done(const atn_unwrap *u, bool weights, double before, double now, double tolerance, unwrap_progress *p) {
    p->reached = p->flat > 0 ? now / p->flat : 0;
    p->converged = p->reached <= tolerance;
    p->rounding = !p->converged && before > 0 && now > STALLED[weights] * before && p->reached < rounding(u);
    return p->converged || p->rounding || !isfinite(now);
}

atn_status unwrap_cycles(atn_unwrap *u, double now, double tolerance, int32_t most, unwrap_progress *p) {
    atn_status status = ATN_OK;
    double before = 0;
    int where = 0;
    for (int32_t n = 0; !unwrap_done(u, true, before, now, tolerance, p) && n < most && status == ATN_OK; ++n) {
        before = now;
        status = atn_check_cancel(u->ctx);
        if (status == ATN_OK) status = unwrap_correct(u, true, UNWRAP_FROM_ZERO, &where);
        if (status == ATN_OK) status = unwrap_residual(u, where, &now);
        ++p->cycles;
    }
    return status;
}

/* ---- conjugate gradients ---- */

static atn_status set_keep(unwrap_op *op, double keep) {
    atn_status status = op->relax[0] != keep + 1 ? atn_kernel_param(op->kernel, "keep", keep, 0) : ATN_OK;
    op->relax[0] = keep + 1; /* 0 would be one that was never set */
    return status == ATN_OK ? atn_kernel_run(op->kernel) : status;
}

/* z = cycle(r), rz = r z, p = z + keep rz / before p. */
static atn_status direction(atn_unwrap *u, int turn, double keep) {
    unwrap_level *l = &u->level[0];
    int where = 0; /* also where the cycle fails */
    atn_status status = unwrap_correct(u, true, UNWRAP_FROM_ZERO, &where);
    unwrap_op *zdot = &u->ops.zdot[turn][where], *next = &u->ops.turn[turn][where];
    atn_array *rz = u->scalar[turn], *before = u->scalar[!turn], *z = l->at[where].vector;
    if (status == ATN_OK) status = UNWRAP_OP(u, zdot, "dot", "x", l->f.vector, "y", z, "product", rz);
    if (status == ATN_OK) status = atn_kernel_run(zdot->kernel);
    if (status == ATN_OK)
        status = UNWRAP_OP(u, next, "unwrap_turn", "z", z, "rz", rz, "before", before, "p", u->p.vector);
    return status == ATN_OK ? set_keep(next, keep) : status;
}

/* q = A p, x += (rz / pq) p, r -= (rz / pq) q. */
static atn_status step(atn_unwrap *u, int turn, double keep) {
    unwrap_level *l = &u->level[0];
    unwrap_op *move = &u->ops.step[turn];
    atn_status status =
        UNWRAP_OP(u, &u->ops.apply, "unwrap_apply", "p", u->p.cells, "q", u->q.cells, "wx", l->wx, "wy", l->wy);
    if (status == ATN_OK) status = atn_kernel_run(u->ops.apply.kernel);
    if (status == ATN_OK)
        status = UNWRAP_OP(u, &u->ops.pq, "dot", "x", u->p.vector, "y", u->q.vector, "product", u->scalar[2]);
    if (status == ATN_OK) status = atn_kernel_run(u->ops.pq.kernel);
    if (status == ATN_OK)
        status = UNWRAP_OP(u, move, "unwrap_step", "p", u->p.vector, "q", u->q.vector, "rz", u->scalar[turn], "pq",
                           u->scalar[2], "x", u->x.vector, "r", l->f.vector);
    return status == ATN_OK ? set_keep(move, keep) : status;
}

/* Iterations on the residual r = f, until its norm is `wanted`. The norm is what a device is waited for: it is asked
 * for once as many iterations are done as it takes at the `share` of the residual that one left the last time (0: not
 * known), then after each. Far beyond what is wanted rounding takes over, so rather too early, and now and then. */
static atn_status iterate(atn_unwrap *u, double wanted, double *share, int32_t most, int32_t *n, double *now) {
    atn_status status = ATN_OK;
    double first = *now, needed = *share > 0 && *share < 1 && wanted > 0 ? log(wanted / first) / log(*share) : 0;
    int32_t k = 0, ahead = (int32_t)fmin(CAREFUL * fmax(needed, 0), most - *n);
    for (; *now > wanted && *n < most && status == ATN_OK; ++k, ++*n) {
        status = atn_check_cancel(u->ctx);
        if (status == ATN_OK) status = direction(u, k % 2, k > 0);
        if (status == ATN_OK) status = step(u, k % 2, k > 0);
        if (k + 1 < ahead && (k + 1) % LONGEST != 0) continue;
        if (status == ATN_OK) status = norm_of(u, now);
        if (!isfinite(*now)) return status;
    }
    *share = k > 0 && first > 0 && *now > 0 ? pow(*now / first, 1.0 / k) : 0;
    return status;
}

/* Rounds of conjugate gradients, each on the residual that the last one really left: the one that they carry along
 * drifts away from it by rounding. */
atn_status unwrap_conjugate(atn_unwrap *u, double now, double tolerance, int32_t most, unwrap_progress *p) {
    atn_status status = ATN_OK;
    double before = 0;
    double later = 0;
    int32_t n = 0;
    while (!unwrap_done(u, true, before, now, tolerance, p) && n < most && status == ATN_OK) {
        double first = now, wanted = tolerance * p->flat, floor = (u->type == ATN_DP ? 1e-12 : 1e-4) * first;
        if (wanted < floor) wanted = floor;
        status = iterate(u, wanted, before > 0 ? &later : &u->share[p->round], most, &n, &now);
        before = first;
        if (status == ATN_OK) status = unwrap_residual(u, UNWRAP_X, &now);
    }
    p->cycles += n;
    return status;
}
