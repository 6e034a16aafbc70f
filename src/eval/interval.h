/* How far selectors reach over the ranges of the dimensions. */
#ifndef ATN_EVAL_INTERVAL_H
#define ATN_EVAL_INTERVAL_H

#include "eval/interp.h"

typedef struct interval {
    bool known;        /* false: no bounds could be found (or they do not fit 64 bits) */
    int64_t low, high; /* both reached, where ranges are affine and independent; else not exceeded */
} interval;

/* Of an INDEX value that no element decides (see atn_select_is_computed). */
interval interval_of(interp *in, atn_value value);

/* The largest size of an index; see atn_eval_span. */
int64_t span_of(interp *in, bool validated);

/* False when some dimension of `dims` certainly has no steps at all, so that nothing there ever happens. */
bool interval_happens(interp *in, uint32_t dims);

#endif
