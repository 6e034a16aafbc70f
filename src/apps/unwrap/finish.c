/* From the least squares solution to the caller's result, if all pixels are connected: the angle by which it is off the
 * phase, whole turns where congruence is asked for, piston and tilt, and how it all fits. Row sums come from the
 * device. */
#include "apps/unwrap/unwrap.h"

#include "base/extreme.h"

#include <math.h>

/* Of pixels (x, y, v). */
enum { COUNT, X, Y, V, XX, XY, YY, XV, YV, MOMENTS };

static double number(const void *from, atn_type type, int64_t k) {
    return type == ATN_DP ? ((const double *)from)[k] : (double)((const float *)from)[k];
}

static atn_status row_sum(const atn_unwrap *u, int which, double *out) {
    const void *numbers;
    atn_status status = atn_array_map_read(u->rows[which], &numbers);
    if (status == ATN_OK) *out = unwrap_row_sum(numbers, u->type, u->height);
    return status;
}

static atn_status find_angle(atn_unwrap *u, double *off) {
    unwrap_op *op = &u->ops.phasor[u->place];
    double x = 0, y = 0;
    atn_status status = UNWRAP_OP(u, op, "unwrap_phasor", {"psi", u->psi}, {"u", unwrap_answer(u)}, {"mask", u->mask},
                                  {"sum_cos", u->rows[1]}, {"sum_sin", u->rows[2]});
    if (status == ATN_OK) status = atn_kernel_run(op->kernel);
    if (status == ATN_OK) status = row_sum(u, 1, &x);
    if (status == ATN_OK) status = row_sum(u, 2, &y);
    *off = atan2(y, x);
    return status;
}

static atn_status write_out(atn_unwrap *u, double off, bool congruent, const double plane[3]) {
    unwrap_op *op = &u->ops.finish[u->place];
    atn_status status =
        UNWRAP_OP(u, op, "unwrap_finish", {"psi", u->psi}, {"u", unwrap_answer(u)}, {"mask", u->mask}, {"v", u->out});
    if (status == ATN_OK)
        status = atn_kernel_give(op->kernel, ATN_NOTHING,
                                 ATN_NUMBERS({"off", off}, {"congruent", congruent}, {"piston", plane[0]},
                                             {"tilt_x", plane[1]}, {"tilt_y", plane[2]}));
    return status == ATN_OK ? atn_kernel_run(op->kernel) : status;
}

atn_status unwrap_report(atn_unwrap *u, bool congruent, atn_unwrap_result *result) {
    unwrap_op *op = &u->ops.report;
    const void *farthest;
    double squares = 0, cuts = 0, pairs = 0, most = 0;
    atn_status status =
        UNWRAP_OP(u, op, "unwrap_report", {"psi", u->psi}, {"v", u->out}, {"mask", u->mask}, {"squares", u->rows[3]},
                  {"cuts", u->rows[4]}, {"farthest", u->rows[5]}, {"pairs", u->rows[6]});
    if (status == ATN_OK) status = atn_kernel_run(op->kernel);
    if (status == ATN_OK) status = row_sum(u, 3, &squares);
    if (status == ATN_OK) status = row_sum(u, 4, &cuts);
    if (status == ATN_OK) status = row_sum(u, 6, &pairs);
    if (status == ATN_OK) status = atn_array_map_read(u->rows[5], &farthest);
    if (status != ATN_OK) return status;
    for (int64_t k = 0; k < u->height; ++k) most = atn_larger(most, number(farthest, u->type, k));
    result->residual_rms = pairs > 0 ? sqrt(squares / pairs) : 0;
    result->cut_length = (int64_t)cuts;
    result->congruence_max = congruent ? 0 : most;
    return ATN_OK;
}

/* Slopes along x and y from the moments about the middle; 0 along a direction that the pixels do not span. */
static void find_slopes(const double m[MOMENTS], double slope[2]) {
    double x = m[X] / m[COUNT], y = m[Y] / m[COUNT];
    double xx = m[XX] - x * m[X], xy = m[XY] - x * m[Y], yy = m[YY] - y * m[Y];
    double xv = m[XV] - x * m[V], yv = m[YV] - y * m[V], det = xx * yy - xy * xy;
    slope[0] = slope[1] = 0;
    if (det > 1e-9 * (xx * xx + yy * yy)) {
        slope[0] = (xv * yy - yv * xy) / det;
        slope[1] = (yv * xx - xv * xy) / det;
    } else if (xx + yy > 0) {
        slope[xx <= yy] = xx > yy ? xv / xx : yv / yy;
    }
}

atn_status unwrap_plane_of(atn_unwrap *u, bool tilt, double plane[3]) {
    static const char *const NAMES[] = {"count", "x", "xx", "sum", "moment"};
    unwrap_op *op = &u->ops.moments;
    const void *row[5];
    double m[MOMENTS] = {0};
    atn_status status =
        UNWRAP_OP(u, op, "unwrap_moments", {"v", u->out}, {NAMES[0], u->rows[1]}, {NAMES[1], u->rows[2]},
                  {NAMES[2], u->rows[3]}, {NAMES[3], u->rows[4]}, {NAMES[4], u->rows[5]});
    if (status == ATN_OK) status = atn_kernel_run(op->kernel);
    for (int k = 0; k < 5 && status == ATN_OK; ++k) status = atn_array_map_read(u->rows[1 + k], &row[k]);
    if (status != ATN_OK) return status;
    for (int64_t j = 0; j < u->height; ++j) {
        double y = (double)j, count = number(row[0], u->type, j), x = number(row[1], u->type, j);
        double v = number(row[3], u->type, j);
        m[COUNT] += count, m[X] += x, m[XX] += number(row[2], u->type, j), m[V] += v;
        m[XV] += number(row[4], u->type, j), m[Y] += y * count, m[YY] += y * y * count, m[XY] += y * x, m[YV] += y * v;
    }
    if (tilt)
        find_slopes(m, plane + 1);
    else
        plane[1] = plane[2] = 0;
    plane[0] = (m[V] - plane[1] * m[X] - plane[2] * m[Y]) / m[COUNT];
    return ATN_OK;
}

atn_status unwrap_finish(atn_unwrap *u, const atn_unwrap_solve_settings *s, atn_unwrap_result *result) {
    double off = 0, plane[3] = {0};
    atn_status status = find_angle(u, &off);
    if (status == ATN_OK) status = write_out(u, off, s->congruent, plane);
    if (status == ATN_OK) status = unwrap_report(u, s->congruent, result);
    result->islands = 1;
    if (status != ATN_OK || s->remove == ATN_UNWRAP_REMOVE_NOTHING) return status;
    status = unwrap_plane_of(u, s->remove == ATN_UNWRAP_REMOVE_TILT, plane);
    return status == ATN_OK ? write_out(u, off, s->congruent, plane) : status;
}
