/* Selectors read as affine forms of the dimensions: sum of coefficient times dimension, plus a constant, plus a
 * part without dimensions, optionally taken modulo m. What cannot be read so is a gather. */
#ifndef ATN_GRAPH_AFFINE_H
#define ATN_GRAPH_AFFINE_H

#include "graph/graph.h"

/* Indices lie within ±2^48: generated code may add and multiply what was shown to stay there without wrapping. A range
 * or a selector that is known when arrays are bound is refused beyond; a range that is computed is cut there. */
#define ATN_FARTHEST ((int64_t)1 << 48)

typedef struct atn_affine {
    bool is_affine;                    /* false: computed (a gather); the rest is then meaningless */
    int64_t coefficient[ATN_MAX_DIMS]; /* per dimension; below 2^32 in size */
    int64_t constant;                  /* within ±ATN_FARTHEST where a dimension is added to it */
    atn_value rest;                    /* an INDEX value without dimensions to be added, or -1 */
    atn_value modulus;                 /* floor-mod by this (dimension-free, INDEX) at the end, or -1 */
} atn_affine;

atn_affine atn_affine_of(const atn_graph *graph, atn_value value);

/* Can an access be shown in range before anything runs? Not where a selector is no affine form, uses elements of an
 * object, or runs over a range that comes from data: such accesses are guarded and reported. */
bool atn_select_is_computed(const atn_graph *graph, const atn_value select[ATN_MAX_RANK]);
bool atn_value_is_static(const atn_graph *graph, atn_value value); /* no element decides */
bool atn_value_is_computed(const atn_graph *graph,
                           atn_value value); /* the same of one selector, or of an end of a range; not of -1 */

#endif
