/* Numbers of ranks that have different points, made one: sums, means, lists. */
#include "apps/register/distribute.h"

#include "base/memory.h"

#include <string.h>

atn_status reg_join_sums(const reg_engine *e, double *numbers, size_t count) {
    return e->joins ? atn_ranks_sum(e->joins->ranks, ATN_OK, numbers, count) : ATN_OK;
}

atn_status reg_join_mean(const reg_engine *e, double *number, double weight) {
    double sums[2] = {weight > 0 ? weight * *number : 0, weight};
    atn_status status = reg_join_sums(e, sums, 2);
    if (status == ATN_OK && e->joins) *number = sums[1] > 0 ? sums[0] / sums[1] : 0;
    return status;
}

atn_status reg_join_lists(const reg_engine *e, atn_status own, const void *list, size_t bytes, void **all,
                          size_t *total) {
    atn_ranks *ranks = e->joins->ranks;
    size_t n = (size_t)ranks->count, at = 0;
    atn_ranks_parcel *give = atn_zalloc(e->ctx, n * sizeof *give), *take = atn_zalloc(e->ctx, n * sizeof *take);
    atn_status status = own != ATN_OK || (give && take) ? own : ATN_ERR_MEMORY;
    *all = NULL;
    *total = 0;
    for (size_t k = 0; k < n && status == ATN_OK; ++k) give[k] = (atn_ranks_parcel){(void *)(uintptr_t)list, bytes};
    status = take ? atn_ranks_exchange(ranks, status, give, take) : atn_ranks_agree(ranks, status);
    for (size_t k = 0; k < n && status == ATN_OK; ++k) *total += take[k].bytes;
    if (status == ATN_OK && !(*all = atn_alloc(e->ctx, *total + 1))) status = ATN_ERR_MEMORY;
    for (size_t k = 0; k < n && status == ATN_OK; at += take[k++].bytes)
        if (take[k].bytes) memcpy((char *)*all + at, take[k].data, take[k].bytes);
    if (take) atn_ranks_free_parcels(ranks, take);
    atn_free(e->ctx, take);
    atn_free(e->ctx, give);
    return status;
}
