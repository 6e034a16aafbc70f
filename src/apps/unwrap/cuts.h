/* The cuts of least weight: whole numbers k for all pairs of neighbours, min sum c |k|, such that the wrapped
 * differences with k turns more add up to 0 around every corner and hole. */
#ifndef ATN_APPS_UNWRAP_CUTS_H
#define ATN_APPS_UNWRAP_CUTS_H

#include "base/context.h"

/* The pair of pixel p and the one to its right has the index 2 p, with the one below it 2 p + 1. */
typedef struct unwrap_cuts {
    int64_t width, height;  /* their product is at most 2^30 */
    const int32_t *wrapped; /* of each pair: turns that wrapping took off its difference; 0 where cost is */
    const uint16_t *cost;   /* c of each pair; 0: not a pair, or one that is cut for nothing */
    int32_t *cut;           /* k of each pair, to be found */
} unwrap_cuts;

/* `work`: steps of the search after which it is given up: then *found is false. */
atn_status unwrap_cuts_find(const atn_ctx *ctx, const unwrap_cuts *cuts, int64_t work, bool *found);

#endif
