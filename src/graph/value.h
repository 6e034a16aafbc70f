/* Values of a sketch: made once, shared when equal, constants folded where that is exact. Making one never fails on
 * the spot: after memory ran out value 0 is returned and the reader remembers. */
#ifndef ATN_GRAPH_VALUE_H
#define ATN_GRAPH_VALUE_H

#include "graph/sketch.h"

atn_value atn_value_integer(atn_sketch *sketch, atn_type type, int64_t number); /* CONST of an integer type */
atn_value atn_value_number(atn_sketch *sketch, atn_type type, double real, double imaginary); /* of any type */
atn_value atn_value_leaf(atn_sketch *sketch, atn_op op, atn_type type, int32_t index, int32_t axis, uint32_t dims,
                         atn_trait trait);
atn_value atn_value_make(atn_sketch *sketch, atn_op op, atn_type type, atn_value a, atn_value b,
                         atn_value c); /* folds */
atn_value atn_value_cast(atn_sketch *sketch, atn_value value, atn_type type);
void atn_value_label(atn_sketch *sketch, atn_value value, const char *label); /* keeps the first */

static inline const atn_node *atn_value_node(const atn_sketch *sketch, atn_value value) {
    return &sketch->values[value];
}
static inline bool atn_value_is_const(const atn_sketch *sketch, atn_value value) {
    return sketch->values[value].op == ATN_OP_CONST;
}

/* Without folding. */
atn_value atn_value_plain(atn_sketch *sketch, atn_op op, atn_type type, atn_value a, atn_value b, atn_value c);
atn_value atn_value_sum(atn_sketch *sketch, atn_value a, atn_value b); /* INDEX; index.c */
atn_value atn_value_scale(atn_sketch *sketch, atn_value a, int64_t factor);

#endif
