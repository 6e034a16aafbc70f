/* Accesses tried out at small sizes: every point of a few small iteration spaces, its addresses listed. Selectors with
 * small constants and moduli repeat their pattern, so what holds there holds at any size; larger ones are not judged.
 */
#ifndef ATN_GRAPH_SMALL_H
#define ATN_GRAPH_SMALL_H

#include "graph/reader.h"

/* One access to an object: a read or a write. */
typedef struct atn_access {
    const atn_value *select; /* ATN_MAX_RANK of them */
    atn_value enable;        /* -1: always */
    atn_boundary boundary;
    int32_t object;
    int32_t block; /* writes: the block whose every step is a point of its own; reads: 0 */
} atn_access;

typedef enum atn_small_verdict { ATN_SMALL_APART, ATN_SMALL_CLASH, ATN_SMALL_UNKNOWN } atn_small_verdict;

typedef struct atn_small atn_small;                                    /* room to try things out in */
atn_small *atn_small_make(atn_reader *reader, const atn_graph *graph); /* in the reader's arena; NULL without memory */

/* Does one point's write ever meet another point's access? Other NULL: the write itself at another point. */
atn_small_verdict atn_small_judge(atn_small *small, const atn_access *write, const atn_access *other);

/* fold.c: an operation on integers; false if it is not one. */
bool atn_op_integer(atn_op op, atn_type type, int64_t a, int64_t b, int64_t *result);
bool atn_op_holds(atn_op op, bool less, bool equal); /* a comparison of what is less or equal, or neither (NaN) */

#endif
