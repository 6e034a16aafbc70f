/* Pass: what values need. Which blocks must have run before a value can be computed, how often it is used, whether it
 * comes from elements that the kernel itself writes; and for each block, which others must precede it. */
#ifndef ATN_LOWER_NEEDS_H
#define ATN_LOWER_NEEDS_H

#include "graph/graph.h"

typedef struct lower_needs {
    uint32_t *blocks; /* per value: blocks whose results it uses; bit 31: accumulators */
    bool *in_place;   /* per value: it is computed from elements of an object that the kernel writes */
    int32_t *uses;    /* per value: how often it is used */
    uint32_t *before; /* per block: blocks whose results it uses, not counting those inside it */
} lower_needs;

/* In the arena; false: out of memory. */
bool lower_find_needs(atn_arena *arena, const atn_graph *g, lower_needs *out);
/* Can a value be computed where these dimensions have an index and these blocks a result? */
bool lower_needs_met(const atn_graph *g, const lower_needs *needs, atn_value value, uint32_t bound, uint32_t done);
void lower_print_needs(const atn_graph *g, const lower_needs *needs, atn_text *out);

#endif
