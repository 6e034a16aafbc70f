/* Shared by contract_emit.c and contract_copy.c: a matrix product while its group is generated, and its copies. */
#ifndef ATN_LOWER_CONTRACT_STATE_H
#define ATN_LOWER_CONTRACT_STATE_H

#include "lower/contract.h"
#include "lower/loops.h"

/* While one group is generated. */
typedef struct contraction {
    lower_contraction c;
    loops o;
    int32_t tile[2]; /* of the left and of the right matrix */
    int32_t *acc;    /* the first of four variables, per 16 rows and 8 columns of the tile of a warp */
    ir_ref lane, warp_row, warp_column;
    ir_ref full, regular; /* all points exist; and rows of both matrices begin at multiples of 16 bytes */
    ir_ref first_row;     /* of the warpgroup this warp belongs to */
    int32_t buffers;
    struct share {                 /* what an item copies of a complete tile: pieces of one column, at regular row
                                    * distances */
        int32_t rounds;            /* number of pieces; 0: items do not share the tile evenly */
        ir_ref place, from, apart; /* of the first piece: its place in buffer 0, and its source in the first tile; and
                                    * the distance to the next piece */
        int64_t words, buffer;     /* in the tile: from one piece to the next, and from buffer to buffer */
    } share[2];
} contraction;

#define OF(op, a, n) ir_operation(p, op, IR_ADDRESS, a, ir_address(p, n), -1)

void contract_share_copies(lowering *l, contraction *x); /* called before all others */
/* Fetches both tiles of the steps from `start` on, as one set of copies. */
void contract_fetch(lowering *l, const contraction *x, ir_ref start, ir_ref to, ir_ref buffer);

#endif
