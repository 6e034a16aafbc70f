/* Numbers of ranks that have different points, made one: sums and means. */
#include "apps/register/distribute.h"

atn_status reg_join_sums(const reg_engine *e, double *numbers, size_t count) {
    return e->joins ? atn_ranks_sum(e->joins->ranks, ATN_OK, numbers, count) : ATN_OK;
}

atn_status reg_join_mean(const reg_engine *e, double *number, double weight) {
    double sums[2] = {weight > 0 ? weight * *number : 0, weight};
    atn_status status = reg_join_sums(e, sums, 2);
    if (status == ATN_OK && e->joins) *number = sums[1] > 0 ? sums[0] / sums[1] : 0;
    return status;
}
