/* The sums over rows that a fit needs (programs/mstep.atn, programs/spread.atn), read back at once. */
#include "apps/register/engine.h"
#include "apps/register/share.h"

#include "base/clock.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static atn_status sums(reg_engine *e, reg_kernel which, reg_side *rows, double outlier, const char *result,
                       atn_array *to) {
    reg_given given[] = {{"outlier", outlier}};
    reg_binding bound[] = {{"yx", rows->moved[0]},  {"yy", rows->moved[1]},  {"yz", rows->moved[2]},
                           {"w", rows->w},          {"sum", rows->sum[0]},   {result, to},
                           {"sum_x", rows->sum[1]}, {"sum_y", rows->sum[2]}, {"sum_z", rows->sum[3]}};
    return reg_engine_run_given(e, which, NULL, given, COUNT(given), bound, COUNT(bound));
}

/* Both kernels are on their way before the host waits for them. */
atn_status reg_mstep(reg_engine *e, reg_side *rows, double outlier, double unit, geom_moments *out) {
    double all[REG_MOMENTS + REG_TOTALS];
    const void *sums_read = NULL;
    *out = (geom_moments){0};
    atn_status status = sums(e, REG_MSTEP, rows, outlier, "moment", e->moment);
    if (status == ATN_OK) status = sums(e, REG_SPREAD, rows, outlier, "total", e->total);
    double since = atn_clock_seconds();
    if (status == ATN_OK) status = atn_array_map_read(e->sums, &sums_read);
    e->seconds[REG_MSTEP] += atn_clock_seconds() - since; /* on a GPU this is where the work is waited for */
    if (status != ATN_OK) return status;
    memcpy(all, sums_read, sizeof all);
    status = reg_share_same(e, all, sizeof all);
    const double *m = all, *t = all + REG_MOMENTS;
    out->weight = m[0];
    for (int k = 0; k < 3; ++k) {
        out->y[k] = m[1 + k] / unit;
        out->x[k] = m[4 + k] / unit;
    }
    for (int k = 0; k < 9; ++k) out->cross[k] = m[7 + k] / (unit * unit);
    for (int k = 0; k < 6; ++k) out->spread[k] = t[k] / (unit * unit);
    out->likelihood = t[6];
    out->residual = t[7] / (unit * unit);
    return status;
}
