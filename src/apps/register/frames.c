/* Where the frames of both clouds have their origins, and their unit. */
#include "apps/register/problem.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

/* Sums over stretches of points, by all cores, in an order that does not depend on their number. */
enum { STRETCH = 16384 };
typedef struct summing {
    const cloud_points *points;
    const double *origin;
    double (*sum)[4]; /* of each stretch */
} summing;

static void sum_weighted(void *user, int64_t from, int64_t to, int32_t worker) {
    const summing *t = user;
    const cloud_points *p = t->points;
    (void)worker;
    for (size_t s = (size_t)from; s < (size_t)to; ++s) {
        size_t end = (s + 1) * STRETCH < p->count ? (s + 1) * STRETCH : p->count;
        double sum[4] = {0};
        for (size_t k = s * STRETCH; k < end; ++k) {
            double w = (double)p->weight[k];
            for (int axis = 0; axis < 3; ++axis) sum[axis] += w * (p->position[axis][k] - t->origin[axis]);
            sum[3] += w;
        }
        memcpy(t->sum[s], sum, sizeof sum);
    }
}

/* Of coordinates about the first point, so that no digits are lost. */
static atn_status centroid(const cloud_points *p, double out[3]) {
    size_t stretches = (p->count + STRETCH - 1) / STRETCH;
    double first[3] = {p->position[0][0], p->position[1][0], p->position[2][0]}, all[4] = {0};
    summing t = {p, first, atn_alloc(p->ctx, stretches * sizeof *t.sum)};
    if (!t.sum) return ATN_ERR_MEMORY;
    atn_parallel((int64_t)stretches, 1, sum_weighted, &t);
    for (size_t s = 0; s < stretches; ++s)
        for (int k = 0; k < 4; ++k) all[k] += t.sum[s][k];
    for (int axis = 0; axis < 3; ++axis) out[axis] = first[axis] + (all[3] > 0 ? all[axis] / all[3] : 0);
    atn_free(p->ctx, t.sum);
    return ATN_OK;
}

/* Not all at one place, yet squares of their distances are none that a double holds. */
static bool too_small(const cloud_points *p) {
    static const double LEAST = 1e-140;
    double most = 0;
    for (int axis = 0; axis < 3; ++axis)
        for (size_t k = 1; k < p->count && most < LEAST; ++k)
            most = fmax(most, fabs(p->position[axis][k] - p->position[axis][0]));
    return most > 0 && most < LEAST;
}

atn_status reg_find_frames(reg_problem *p, const cloud_points *source, const cloud_points *target) {
    const atn_ctx *ctx = p->engine.ctx;
    atn_status status = centroid(source, p->source_origin);
    if (status == ATN_OK) status = centroid(target, p->target_origin);
    if (status != ATN_OK) return status;
    reg_spread_of(source, p->source_origin, &p->source_spread);
    reg_spread_of(target, p->target_origin, &p->target_spread);
    p->unit = p->target_spread.radius;
    if (!isfinite(p->unit) || !isfinite(p->source_spread.radius))
        return atn_fail(ctx, ATN_ERR_INPUT, "register: coordinates are too large to be squared");
    if (too_small(source) || too_small(target))
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "register: points are too near to each other for distances to be squared; another unit helps");
    (void)reg_leave_strays(source, p->source_spread.radius, p->source_origin);
    p->unit = reg_leave_strays(target, p->unit, p->target_origin);
    if (!(p->unit > 0)) p->unit = 1;
    return ATN_OK;
}
