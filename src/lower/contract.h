/* Pass: contractions on matrix units. c(p1, p0) = sum over q of a(p1, q) * b(q, p0), where a and b are elements of two
 * matrices: a matrix product, whose tiles are multiplied by warps in the layout they have. Halves and doubles are
 * multiplied directly; singles are split into two numbers of 11 bits each (TF32), and the smallest of the four products
 * is omitted: 22 bits of each. matrix=warpgroup: four warps multiply halves together, from tiles in local memory in the
 * layout that the unit requires. */
#ifndef ATN_LOWER_CONTRACT_H
#define ATN_LOWER_CONTRACT_H

#include "graph/graph.h"
#include "lower/variant.h"

enum {
    CONTRACT_ROWS = 16,   /* of the left operand of one product, */
    CONTRACT_COLUMNS = 8, /* and columns of the right one */
    CONTRACT_LINE = 64    /* halves in 128 bytes, a row of tiles for warpgroups */
};

typedef struct lower_contraction {
    int32_t block;
    int32_t left, right;             /* the reads: of p1 and q, and of q and p0 */
    atn_type type;                   /* of both: HP, SP or DP */
    int32_t depth;                   /* reduction steps of one product */
    int32_t chunk;                   /* elements in 16 bytes, which an item copies at once */
    int32_t rows, columns;           /* of the tile of a group */
    int32_t warp_rows, warp_columns; /* of the tile of a warp */
    int32_t warps_across;            /* warps along p0, or warpgroups */
    bool warpgroup;
    int32_t parts;                   /* products of 64 rows that a warpgroup needs for its rows */
    int32_t left_pitch, right_pitch; /* row pitch of the staged tiles, in 4-byte words, or in doubles */
} lower_contraction;

/* False, with the reason, if the graph is not a contraction or the variant does not fit it. */
bool lower_find_contraction(const atn_graph *g, const atn_variant *v, lower_contraction *out, const char **why_not);
/* Independent of the variant: block, left, right and type alone. */
bool lower_find_factors(const atn_graph *g, lower_contraction *out);
bool lower_is_contraction(const atn_graph *g);
void lower_print_contraction(const atn_graph *g, const lower_contraction *c, atn_text *out);

#endif
