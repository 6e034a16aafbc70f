/* The minimum of sum |k| over the cuts of a congruent solution, found by a different method than in src/apps/unwrap. */
#ifndef ATN_BENCH_REFERENCE_CUTS_H
#define ATN_BENCH_REFERENCE_CUTS_H

#include "base/context.h"

#define CUTS_NAME "gaining loops"

/* k of the pair of pixel p and the one to its right at 2 p, of the one below it at 2 p + 1, 0 where there is none:
 * those of any congruent answer first, those of the best in the end. All pairs weigh alike. */
typedef struct cuts_reference {
    int64_t width, height;
    int32_t *cut;
} cuts_reference;

atn_status cuts_reference_run(const atn_ctx *ctx, cuts_reference *reference);
int64_t cuts_reference_turns(const cuts_reference *reference); /* sum |k| */

#endif
