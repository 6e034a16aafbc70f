/* The origins of the frames of both clouds, and their unit of length. */
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

static void sum_weighted(void *user, int64_t from, int64_t to) {
    const summing *t = user;
    const cloud_points *p = t->points;
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

static const double SMALLEST = 1e-140; /* distance whose square a double holds well */

static bool too_small(const cloud_points *p) {
    double most = 0;
    for (int axis = 0; axis < 3; ++axis)
        for (size_t k = 1; k < p->count && most < SMALLEST; ++k)
            most = fmax(most, fabs(p->position[axis][k] - p->position[axis][0]));
    return most > 0 && most < SMALLEST;
}

atn_status reg_lying_of(const cloud_points *points, reg_lying *out) {
    *out = (reg_lying){.too_small = too_small(points)};
    atn_status status = centroid(points, out->centroid);
    if (status == ATN_OK) reg_spread_of(points, out->centroid, &out->spread);
    return status;
}

atn_status reg_lying_on_device(reg_engine *e, reg_ordered *points, const double first[3], reg_lying *out) {
    static const int PLACE[9] = {4, 5, 6, 5, 7, 8, 6, 8, 9};
    double about[REG_SUMS_COUNT], most = 0;
    *out = (reg_lying){.too_small = false};
    atn_status status = reg_ordered_sums(e, points, first, about);
    if (status != ATN_OK) return status;
    for (int axis = 0; axis < 3; ++axis) {
        out->centroid[axis] = first[axis] + (about[0] > 0 ? about[1 + axis] / about[0] : 0);
        out->low[axis] = about[11 + axis];
        out->high[axis] = about[14 + axis];
        most = fmax(most, fmax(out->high[axis] - first[axis], first[axis] - out->low[axis]));
    }
    out->too_small = most > 0 && most < SMALLEST;
    points->weight = about[0];
    status = reg_ordered_sums(e, points, out->centroid, about);
    if (status != ATN_OK) return status;
    double square = about[4] + about[7] + about[9];
    out->spread.radius = about[0] > 0 ? sqrt(square / about[0]) : 0;
    out->spread.farthest = sqrt(about[10]);
    for (int i = 0; i < 9; ++i) out->spread.shape[i] = square > 0 ? about[PLACE[i]] / square : about[PLACE[i]];
    return ATN_OK;
}

atn_status reg_find_frames(reg_problem *p, const reg_lying *source_lies, const reg_lying *target_lies) {
    const atn_ctx *ctx = p->engine.ctx;
    memcpy(p->source_origin, source_lies->centroid, sizeof p->source_origin);
    memcpy(p->target_origin, target_lies->centroid, sizeof p->target_origin);
    p->source_spread = source_lies->spread;
    p->target_spread = target_lies->spread;
    p->unit = p->target_spread.radius;
    if (!isfinite(p->unit) || !isfinite(p->source_spread.radius))
        return atn_fail(ctx, ATN_ERR_INPUT, "register: coordinates are too large: their squares overflow");
    if (source_lies->too_small || target_lies->too_small)
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "register: distances between points are too small: their squares underflow; use another unit");
    (void)reg_leave_strays(&p->source_usual, p->source_spread.radius, p->source_origin);
    p->unit = reg_leave_strays(&p->target_usual, p->unit, p->target_origin);
    if (!(p->unit > 0)) p->unit = 1;
    return ATN_OK;
}
