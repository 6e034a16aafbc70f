/* Without weights: full multigrid, then cycles on the answer of A u = f itself, f = sum W(psi(p) - psi(q)). What a
 * cycle raised from the second grid tells how far the answer was off before it; the residual is made where a tolerance
 * asks for it, and once at the end. */
#include "apps/unwrap/unwrap.h"

#include <math.h>

/* A cycle leaves at least that share of the error, and is feared to leave that much after a start from nothing. */
static const double LEAST = 0.1, FEARED = 0.3;
static const double FAR = 10;                /* a warm start that is that much farther off than wanted was none */
static const double STALLED = 0.6;           /* what moves more than that of the last cycle's moves is rounding */
static const double SMALL[2] = {1e-2, 1e-8}; /* radians, by precision: never rounding above that */

enum { TRIED = 16 }; /* frames after which a warm start is tried again */

static atn_status load(atn_unwrap *u, double *flat) {
    unwrap_level *l = &u->level[0];
    double square = 0;
    atn_status status = UNWRAP_OP(u, &u->ops.load, "unwrap_load", "psi", u->psi, "f", l->f.all);
    if (status == ATN_OK) status = atn_kernel_run(u->ops.load.kernel);
    if (status == ATN_OK)
        status = UNWRAP_OP(u, &u->ops.norm, "dot", "x", l->f.vector, "y", l->f.vector, "product", u->scalar[3]);
    if (status == ATN_OK) status = atn_kernel_run(u->ops.norm.kernel);
    if (status == ATN_OK) status = unwrap_scalar(u, 3, &square);
    *flat = sqrt(square);
    return status;
}

static atn_status residual(atn_unwrap *u, int where, double *norm) {
    unwrap_level *l = &u->level[0];
    unwrap_op *op = &u->ops.left[where];
    double square = 0;
    atn_status status = UNWRAP_OP(u, op, "unwrap_norm", "f", l->f.all, "u", l->at[where].all, "X", l->x, "Y", l->y,
                                  "sum", u->scalar[2]);
    if (status == ATN_OK) status = atn_kernel_run(op->kernel);
    if (status == ATN_OK) status = unwrap_scalar(u, 2, &square);
    *norm = sqrt(square);
    return status;
}

/* rms of what the second grid's answer added. */
static atn_status moved(atn_unwrap *u, double *rms) {
    const unwrap_level *l = &u->level[1];
    unwrap_op *op = &u->ops.moved[u->raised];
    double square = 0;
    atn_status status = UNWRAP_OP(u, op, "unwrap_squares", "e", l->at[u->raised].cells, "sum", u->scalar[2]);
    if (status == ATN_OK) status = atn_kernel_run(op->kernel);
    if (status == ATN_OK) status = unwrap_scalar(u, 2, &square);
    *rms = sqrt(square / ((double)l->width * (double)l->height));
    return status;
}

/* Near enough, as far as the last two moves tell? */
static atn_status estimate(atn_unwrap *u, double *last, unwrap_progress *p) {
    double now = 0;
    atn_status status = moved(u, &now);
    double share = *last > 0 ? fmax(now / *last, LEAST) : FEARED;
    p->off = share < 1 ? now * share / (1 - share) : INFINITY;
    p->converged = p->off < p->within;
    p->rounding = !p->converged && *last > 0 && now < SMALL[u->type == ATN_DP] && now > STALLED * *last;
    *last = now;
    return status;
}

static atn_status one(atn_unwrap *u, bool full, int *where, unwrap_progress *p) {
    unwrap_start start = full ? UNWRAP_FULL : *where ? UNWRAP_FROM_B : UNWRAP_FROM_A;
    atn_status status = atn_check_cancel(u->ctx);
    ++p->cycles;
    return status == ATN_OK ? unwrap_correct(u, false, start, where) : status;
}

/* Until the moves say so. A full start is worth about two cycles: where the last answer turns out to be farther off
 * than they mend, this frame starts anew, and so do the next ones, without trying. */
static atn_status by_moves(atn_unwrap *u, bool full, int32_t most, int *where, unwrap_progress *p) {
    double last = 0, left = 0;
    atn_status status = ATN_OK;
    for (int32_t n = 0; n < most && !p->converged && !p->rounding && status == ATN_OK; ++n) {
        status = one(u, full, where, p);
        if (status == ATN_OK) status = estimate(u, &last, p);
        if (!isfinite(last)) break;
        full = n == 0 && !full && p->off > FAR * p->within;
        if (full) u->cold = TRIED;
        if (full) last = 0;
    }
    if (status == ATN_OK) status = residual(u, *where, &left);
    p->reached = p->flat > 0 ? left / p->flat : 0;
    return status;
}

/* Until the residual says so. */
static atn_status by_residual(atn_unwrap *u, bool full, double tolerance, int32_t most, int *where,
                              unwrap_progress *p) {
    double before = 0, now = p->flat;
    atn_status status = full ? ATN_OK : residual(u, *where, &now);
    for (int32_t n = 0; !unwrap_done(u, false, before, now, tolerance, p) && n < most && status == ATN_OK; ++n) {
        before = now;
        status = one(u, full && n == 0, where, p);
        if (status == ATN_OK) status = residual(u, *where, &now);
    }
    return status;
}

atn_status unwrap_plain(atn_unwrap *u, bool warm, double tolerance, int32_t most, unwrap_progress *p) {
    int where = u->place == 3;
    if (u->cold > 0 && p->within > 0) warm = false;
    if (u->cold > 0) --u->cold;
    atn_status status = load(u, &p->flat);
    p->off = INFINITY;
    if (status == ATN_OK && p->flat <= 0) { /* flat, to the last bit */
        p->converged = true;
        status = unwrap_correct(u, false, UNWRAP_FULL, &where);
    } else if (status == ATN_OK) {
        status =
            p->within > 0 ? by_moves(u, !warm, most, &where, p) : by_residual(u, !warm, tolerance, most, &where, p);
    }
    u->place = 2 + where;
    return status;
}
