/* Sums that no sigma underflows: where the outlier class is far out, or there is none, a point far from everything
 * would have sums of 0 in any precision. Its factor 2^shift, shift the squared distance to its nearest partner, makes
 * the largest term 1; weights are the same, the outlier class takes the factor too. The few sums a fit needs are then
 * made on the host. */
#include "apps/register/problem.h"
#include "apps/register/share.h"

#include "base/extreme.h"
#include "base/memory.h"

#include <math.h>

static const double FIRST = 8, WIDER = 4; /* how far partners are looked for, and the next time */

/* distance2: to the nearest partner of every row, however far. */
static atn_status find_nearest(reg_engine *e, reg_side *rows, reg_side *columns, double *distance2, int32_t *index) {
    double extent = 0;
    for (int axis = 0; axis < 3; ++axis) { /* beyond that all are within reach */
        double low = fmin(rows->bounds.low[axis], columns->bounds.low[axis]);
        double high = fmax(rows->bounds.high[axis], columns->bounds.high[axis]);
        extent += (high - low) * geom_pose_stretch(&columns->placed);
    }
    for (double reach = FIRST;; reach *= WIDER) {
        atn_status status = reg_nearest(e, rows, columns, reach < extent ? reach : INFINITY, distance2, index);
        bool all = true;
        for (size_t r = 0; r < rows->padded && status == ATN_OK; ++r) all = all && index[r] >= 0;
        if (status != ATN_OK || all || reach >= extent) return status;
    }
}

/* What mstep and spread do, with an outlier class 2^(shift - far2) of each row's own. */
static atn_status gather(const reg_side *rows, const double *shift, double far2, double unit, double *number,
                         geom_moments *m) {
    static const int SPREAD[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    atn_array *arrays[7] = {rows->sum[0],   rows->sum[1],   rows->sum[2],  rows->sum[3],
                            rows->moved[0], rows->moved[1], rows->moved[2]};
    size_t n = rows->padded;
    atn_status status = ATN_OK;
    *m = (geom_moments){0};
    for (size_t a = 0; a < 7 && status == ATN_OK; ++a) status = reg_array_get(arrays[a], n, number + a * n);
    for (size_t r = 0; r < n && status == ATN_OK; ++r) {
        double w = (double)rows->weight[r], a = number[r], outlier = exp2(shift[r] - far2), x[3], y[3];
        double l = w > 0 && a > 0 ? w * a / (a + outlier) : 0;
        if (w > 0 && a + outlier > 0) m->likelihood += w * (log2(fmin(a + outlier, 1e300)) - shift[r]);
        if (!(l > 0)) continue;
        for (size_t i = 0; i < 3; ++i) {
            x[i] = number[(1 + i) * n + r] / a / unit;
            y[i] = number[(4 + i) * n + r] / unit;
        }
        m->weight += l;
        for (int i = 0; i < 3; ++i) {
            m->x[i] += l * x[i];
            m->y[i] += l * y[i];
            m->residual += l * (x[i] - y[i]) * (x[i] - y[i]);
            for (int j = 0; j < 3; ++j) m->cross[3 * i + j] += l * x[i] * y[j];
        }
        for (int k = 0; k < 6; ++k) m->spread[k] += l * y[SPREAD[k][0]] * y[SPREAD[k][1]];
    }
    return status;
}

atn_status reg_step_shifted(reg_engine *e, reg_side *rows, reg_side *columns, double far2, double unit,
                            geom_moments *out) {
    size_t n = rows->padded;
    atn_status fetched = reg_side_fetch(rows);
    if (fetched != ATN_OK) return fetched;
    double *number = atn_alloc(e->ctx, 8 * n * sizeof *number), *shift = number ? number + 7 * n : NULL, most = 0;
    int32_t *index = atn_alloc(e->ctx, n * sizeof *index);
    atn_status status = number && index ? find_nearest(e, rows, columns, shift, index) : ATN_ERR_MEMORY;
    for (size_t r = 0; r < n && status == ATN_OK; ++r) {
        if (index[r] < 0) shift[r] = 0; /* no partner of its species: sums of 0 */
        most = atn_larger(most, shift[r]);
    }
    if (status == ATN_OK) status = reg_array_put(rows->shift, n, shift);
    double reach = sqrt(most + log2(columns->total / e->settings->error_bound));
    if (status == ATN_OK) status = reg_estep(e, rows, columns, reach, true);
    if (status == ATN_OK) status = gather(rows, shift, far2, unit, number, out);
    if (status == ATN_OK) status = reg_share_same(e, out, sizeof *out);
    for (size_t r = 0; r < n && shift; ++r) shift[r] = 0;
    if (status == ATN_OK) status = reg_array_put(rows->shift, n, shift);
    atn_free(e->ctx, number);
    atn_free(e->ctx, index);
    return status;
}
