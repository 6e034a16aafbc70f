/* Pass: matrix products on CPUs that multiply numbers of BFloat16 (8 bits, the range of SP). Elements are split into
 * one, two or three such numbers, and products of parts whose sum of positions is less than their number are added up
 * in SP: three parts hold all bits of SP, two all of HP. Loops, accumulators at rest and edges are those of every
 * product on the host (rest.c); tiles hold parts, in the layout that the CPU's instructions take (prelude/c_matrix.h),
 * and one statement multiplies them for all points of a step. */
#ifndef ATN_LOWER_PARTS_H
#define ATN_LOWER_PARTS_H

#include "lower/contract.h"
#include "lower/fits.h"
#include "lower/loops.h"

enum {
    PARTS_ROWS = 4,     /* of a step: a multiple of these; of 16 for tiles */
    PARTS_COLUMNS = 32, /* the same */
    PARTS_STEPS = 32    /* of a block: what one instruction for tiles multiplies */
};

typedef struct lower_parts {
    lower_contraction c;
    int32_t count;   /* of parts */
    int32_t tile[2]; /* of the left and of the right matrix */
    atn_bf16 unit;   /* what multiplies */
} lower_parts;

/* The rule of matrix=bfloat, bfloat2 and bfloat3. */
bool lower_fits_parts(const lower_asked *asked, const char **why_not);

void parts_open(lowering *l, lower_parts *x);
void parts_set(lowering *l, const lower_parts *x, bool end); /* before and after everything else */
/* Splits the columns of the group for the tile from `start` on. */
void parts_fill(lowering *l, const lower_parts *x, ir_ref start, ir_ref to);
/* Adds the products of that tile to the sums of the current step, from element `at` of tile `sums` on; its rows are
 * split where it is the first step that has them. */
void parts_multiply(lowering *l, const lower_parts *x, ir_ref from, ir_ref start, ir_ref to, int32_t sums, ir_ref at);

#endif
