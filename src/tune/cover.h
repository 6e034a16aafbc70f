/* A few variants for many shapes: those that were tuned one by one are measured at each other's shapes, and the
 * smallest set is taken with which every shape is nearly as fast as with its own. */
#ifndef ATN_TUNE_COVER_H
#define ATN_TUNE_COVER_H

#include "tune/tune.h"

/* seconds[variant * n_shapes + shape], INFINITY where a variant is not right there. Chooses greedily until every shape
 * is within `within` (0.05: five percent) of its best; pick[shape] is the fastest of the chosen there, -1 where none is
 * right. Returns how many were chosen. */
int32_t atn_cover_choose(const double *seconds, int32_t n_variants, int32_t n_shapes, double within, bool *chosen,
                         int32_t *pick);

/* After atn_tune of n workloads of one kernel: measures the winners everywhere, and chooses winners from the smallest
 * set of variants. Results are updated. `chosen`: the size of the set; may be NULL. */
atn_status atn_cover(atn_device *device, atn_wisdom *wisdom, const atn_workload *workloads, int32_t n,
                     const atn_tune_options *options, atn_tune_result *results, int32_t *chosen);

#endif
