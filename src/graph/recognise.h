/* Recognising the associative operation in the updates of an ICF. */
#ifndef ATN_GRAPH_RECOGNISE_H
#define ATN_GRAPH_RECOGNISE_H

#include "graph/value.h"

/* Fills join, term, key and order of the block's accumulators from their updates (ACC leaves in `accs`); an order
 * accumulator may be appended. ORDERED for all when one of them is none of the known kinds. */
void atn_icf_recognise(atn_sketch *sketch, atn_block *block, const atn_value *accs, const atn_value *updates);

/* The neutral element of a join, as a value; -1 when there is none. */
atn_value atn_join_neutral(atn_sketch *sketch, atn_join join, atn_type type);

const char *atn_join_name(atn_join join);

#endif
