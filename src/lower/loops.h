/* A block while its loops are being generated: shared by the files that generate reductions. */
#ifndef ATN_LOWER_LOOPS_H
#define ATN_LOWER_LOOPS_H

#include "lower/lowering.h"

typedef struct loops {
    lowering *l;
    int32_t block;
    const atn_block *b;
    lower_reduction r;             /* how it is reduced */
    int32_t places;                /* register instances over dims */
    int32_t *variable;             /* [place][set][accumulator][part] */
    int32_t *kept;                 /* as many, if tiles are summed in halves: what the sums of tiles are added to */
    ir_ref lane[ATN_MAX_RANK];     /* index of this item along each q; -1: it processes the whole range */
    int32_t rest[ATN_MAX_ACCS][2]; /* tiles that hold accumulators between steps; see lower_block_rested */
} loops;

typedef void loops_tile(loops *o, ir_ref start, ir_ref to); /* processes one tile of q0 */

/* The dimensions that the results of a block depend on. */
static inline uint32_t loops_result_dims(const lowering *l, const atn_block *b) {
    return lower_result_dims(l->g, b, l->bound & ~l->apart);
}

/* reduce.c */
int32_t *loops_slot(const loops *o, int32_t place_index, int32_t set, int32_t k,
                    int32_t part); /* the variable of an accumulator */
int32_t loops_acc_width(const loops *o, int32_t set);
loops loops_open(lowering *l, int32_t block);
void loops_hoist(lowering *l, const atn_block *b);
void loops_step(loops *o, bool in_tail); /* the body of one step of the loop */
void loops_begin_runs(loops *o);         /* tiles get accumulators in halves next to the declared ones */
void loops_end_run(loops *o);            /* adds the sum of a tile to the declared ones */
void loops_conclude(loops *o);           /* combines all partial results of each place */

/* loops.c */
void loops_bounds(loops *o, int32_t axis, ir_ref *from, ir_ref *to);
loops_tile loops_one_tile;
void loops_tiles(loops *o, ir_ref from, ir_ref to, loops_tile *each);
void loops_all(loops *o, loops_tile *each);

/* partial.c */
void loops_keep_results(lowering *l, int32_t block, place at, ir_ref value[][2]); /* makes RESULT known */
void loops_apply_init(lowering *l, int32_t block, place at, ir_ref value[][2]);
void loops_store_partial(lowering *l, const atn_block *b, place at, ir_ref value[][2]);
/* What was accumulated at a place: stored as a partial result if the range is split, otherwise the result. */
void loops_end_place(lowering *l, const loops *o, place at, ir_ref value[][2]);

#endif
