/* Of contract_emit.c and contract_copy.c: a product of matrices while its group is made, and its copies. */
#ifndef ATN_LOWER_CONTRACT_STATE_H
#define ATN_LOWER_CONTRACT_STATE_H

#include "lower/contract.h"
#include "lower/loops.h"

/* While one group is made. */
typedef struct contraction {
    lower_contraction c;
    loops o;
    int32_t tile[2]; /* of the left and of the right matrix */
    int32_t *acc;    /* the first of four variables, per 16 rows and 8 columns of a warp's tile */
    ir_ref lane, warp_row, warp_column;
    ir_ref full, regular; /* all points exist; and rows of both matrices begin at multiples of 16 bytes */
    ir_ref first_row;     /* of the warp's warpgroup */
    int32_t buffers;
    struct share {                 /* of a tile that is whole, what an item copies: pieces of one column, rows apart */
        int32_t rounds;            /* how many; 0: items do not share it evenly */
        ir_ref place, from, apart; /* of the first in buffer 0, in the first tile, and from one to the next */
        int64_t words, buffer;     /* in the tile, from one to the next and from buffer to buffer */
    } share[2];
} contraction;

#define OF(op, a, n) ir_operation(p, op, IR_ADDRESS, a, ir_address(p, n), -1)

void contract_share_copies(lowering *l, contraction *x); /* before all others */
/* Both tiles of the steps from `start` on, as one set of copies. */
void contract_fetch(lowering *l, const contraction *x, ir_ref start, ir_ref to, ir_ref buffer);

#endif
