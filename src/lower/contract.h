/* Pass: contractions on matrix units. c(p1, p0) = sum over q of a(p1, q) * b(q, p0), a and b elements of two matrices:
 * a product of matrices, whose tiles warps multiply as they lie. Halves and doubles are multiplied as they are; singles
 * are split into two numbers of 11 bits each (TF32), of whose four products the smallest is left out: 22 bits of each.
 * matrix=warpgroup: four warps multiply halves together, from tiles in local memory that lie as the unit wants them. */
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
    int32_t left, right;             /* the reads: of p1 and q, of q and p0 */
    atn_type type;                   /* of both: HP, SP or DP */
    int32_t depth;                   /* steps of one product */
    int32_t chunk;                   /* elements in 16 bytes, which an item copies at once */
    int32_t rows, columns;           /* of a group's tile */
    int32_t warp_rows, warp_columns; /* of a warp's */
    int32_t warps_across;            /* warps along p0; warpgroups */
    bool warpgroup;
    int32_t parts;                   /* products of 64 rows that a warpgroup needs for its rows */
    int32_t left_pitch, right_pitch; /* from row to row of the staged tiles, in words of 4 bytes, or in doubles */
} lower_contraction;

/* False, with the reason, where the graph is none or the variant does not fit it. */
bool lower_find_contraction(const atn_graph *g, const atn_variant *v, lower_contraction *out, const char **why_not);
bool lower_is_contraction(const atn_graph *g); /* whatever the variant */
void lower_print_contraction(const atn_graph *g, const lower_contraction *c, atn_text *out);

#endif
