/* From the least squares answer to what the caller gets, where all pixels hang together: the angle by which it is off
 * the phase, whole turns where congruence is asked for, piston and tilt, and how it all fits. Row sums come from the
 * device. */
#include "apps/unwrap/unwrap.h"

#include "base/extreme.h"

#include <math.h>

double unwrap_row_sum(const void *numbers, atn_type type, int64_t rows) {
    double sum = 0;
    for (int64_t k = 0; k < rows; ++k)
        sum += type == ATN_DP   ? ((const double *)numbers)[k]
               : type == ATN_SP ? (double)((const float *)numbers)[k]
                                : ((const int32_t *)numbers)[k];
    return sum;
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
    atn_status status = UNWRAP_OP(u, op, "unwrap_phasor", "psi", u->psi, "u", unwrap_answer(u), "mask", u->mask,
                                  "sum_cos", u->rows[2], "sum_sin", u->rows[3]);
    if (status == ATN_OK) status = atn_kernel_run(op->kernel);
    if (status == ATN_OK) status = row_sum(u, 2, &x);
    if (status == ATN_OK) status = row_sum(u, 3, &y);
    *off = atan2(y, x);
    return status;
}

static atn_status write_out(atn_unwrap *u, double off, bool congruent, const double plane[3]) {
    static const char *const NAME[3] = {"piston", "tilt_x", "tilt_y"};
    unwrap_op *op = &u->ops.finish[u->place];
    atn_status status =
        UNWRAP_OP(u, op, "unwrap_finish", "psi", u->psi, "u", unwrap_answer(u), "mask", u->mask, "v", u->out);
    if (status == ATN_OK) status = atn_kernel_param(op->kernel, "off", off, 0);
    if (status == ATN_OK) status = atn_kernel_param(op->kernel, "congruent", congruent, 0);
    for (int k = 0; k < 3 && status == ATN_OK; ++k) status = atn_kernel_param(op->kernel, NAME[k], plane[k], 0);
    return status == ATN_OK ? atn_kernel_run(op->kernel) : status;
}

static atn_status look(atn_unwrap *u, bool congruent, atn_unwrap_result *result) {
    unwrap_op *op = &u->ops.report;
    const void *farthest;
    double squares = 0, cuts = 0, most = 0;
    double pairs = (double)(u->width - 1) * (double)u->height + (double)u->width * (double)(u->height - 1);
    atn_status status =
        UNWRAP_OP(u, op, "unwrap_report", "psi", u->psi, "v", u->out, "mask", u->mask, "squares", u->rows[4], "cuts",
                  u->rows[5], "farthest", u->rows[6], "sum", u->rows[7], "moment", u->rows[8]);
    if (status == ATN_OK) status = atn_kernel_run(op->kernel);
    if (status == ATN_OK) status = row_sum(u, 4, &squares);
    if (status == ATN_OK) status = row_sum(u, 5, &cuts);
    if (status == ATN_OK) status = atn_array_map_read(u->rows[6], &farthest);
    if (status != ATN_OK) return status;
    for (int64_t k = 0; k < u->height; ++k)
        most =
            atn_larger(most, u->type == ATN_DP ? ((const double *)farthest)[k] : (double)((const float *)farthest)[k]);
    result->residual_rms = pairs > 0 ? sqrt(squares / pairs) : 0;
    result->cut_length = (int64_t)cuts;
    result->congruence_max = congruent ? 0 : most;
    return ATN_OK;
}

/* The mean, and with tilt the plane of least squares: on a full grid its three parts are orthogonal about the middle.
 */
static atn_status find_plane(atn_unwrap *u, bool tilt, double plane[3]) {
    const void *sums;
    double w = (double)u->width, h = (double)u->height, sum = 0, moment_x = 0, moment_y = 0;
    atn_status status = row_sum(u, 7, &sum);
    if (status == ATN_OK) status = row_sum(u, 8, &moment_x);
    if (status == ATN_OK) status = atn_array_map_read(u->rows[7], &sums);
    if (status != ATN_OK) return status;
    for (int64_t k = 0; k < u->height; ++k)
        moment_y += (double)k * (u->type == ATN_DP ? ((const double *)sums)[k] : (double)((const float *)sums)[k]);
    double mean = sum / (w * h), x = (w - 1) / 2, y = (h - 1) / 2;
    plane[1] = tilt && w > 1 ? (moment_x - x * sum) / (h * w * (w * w - 1) / 12) : 0;
    plane[2] = tilt && h > 1 ? (moment_y - y * sum) / (w * h * (h * h - 1) / 12) : 0;
    plane[0] = mean - plane[1] * x - plane[2] * y;
    return ATN_OK;
}

atn_status unwrap_finish(atn_unwrap *u, const atn_unwrap_settings *s, atn_unwrap_result *result) {
    double off = 0, plane[3] = {0};
    atn_status status = find_angle(u, &off);
    if (status == ATN_OK) status = write_out(u, off, s->congruent, plane);
    if (status == ATN_OK) status = look(u, s->congruent, result);
    result->islands = 1;
    if (status != ATN_OK || s->remove == ATN_UNWRAP_REMOVE_NOTHING) return status;
    status = find_plane(u, s->remove == ATN_UNWRAP_REMOVE_TILT, plane);
    return status == ATN_OK ? write_out(u, off, s->congruent, plane) : status;
}
