/* Bounds of the values of a graph, from bounds of its objects' elements: interval arithmetic, in real numbers. What it
 * cannot follow may be anything of its type. */
#ifndef ATN_TUNE_BOUNDS_H
#define ATN_TUNE_BOUNDS_H

#include "eval/eval.h"

typedef struct atn_bounds {
    double low, high; /* both included */
} atn_bounds;

/* elements[n_objects]; out[n_values]. Sizes come from the frame's views, whose elements are not looked at. */
void atn_bounds_of(const atn_graph *graph, const atn_bindings *frame, const atn_bounds *elements, atn_bounds *out);

/* Bit k of out[value]: it hangs on elements of object k, itself read or computed with; of more than 64 objects some
 * share a bit. out[n_values]. */
void atn_bounds_sources(const atn_graph *graph, uint64_t *out);

#endif
