/* Pass: how a block is reduced. Which accumulators there are and their types, how its range is tiled, what is combined
 * at one place (registers, the tail, vector lanes), over items, and over the parts of a split range. */
#ifndef ATN_LOWER_REDUCTION_H
#define ATN_LOWER_REDUCTION_H

#include "lower/stage.h"

/* Where the parts of a split range are combined. */
typedef enum lower_meeting {
    LOWER_MEET_NOWHERE, /* the range is not split */
    LOWER_MEET_LAUNCH,  /* in a second stage */
    LOWER_MEET_LAST,    /* in the group that ends last */
    LOWER_MEET_ATOMIC,  /* in slots that all groups add to, and the last one reads */
    LOWER_MEET_AWAIT    /* in the group of the last part, which waits for words that the others publish */
} lower_meeting;

typedef struct lower_reduction {
    int32_t block;
    bool outermost; /* tiled as the variant says; nested blocks are plain loops */
    bool ordered;   /* strictly in order */
    bool rests;     /* accumulators are kept in tiles while the sequence of a group runs inside (rest.c) */
    bool runs;      /* tiles are summed in halves, and the sums added to the accumulators */
    atn_cut q[ATN_MAX_RANK];
    uint32_t dims;  /* the bound dimensions that results depend on */
    bool tail;      /* the remainder of a range has accumulators of its own */
    int32_t sets;   /* accumulators per place: registers along q0, and one more for the tail */
    int32_t leaves; /* partial results that are combined per place: each lane of each register, then the tail */
    int32_t items;  /* items whose results are combined; 1: each has its own */
    int32_t parts;  /* of a split range */
    lower_meeting meeting;
    int32_t n_accs;
    int32_t type[ATN_MAX_ACCS]; /* the type of each accumulator */
} lower_reduction;

lower_meeting lower_find_meeting(const lower_scene *c);
int32_t lower_split_block(const atn_graph *g); /* the block whose range may be split; -1: none */
lower_reduction lower_find_reduction(const lower_scene *c, int32_t block);
void lower_print_reduction(const atn_graph *g, const lower_reduction *r, atn_text *out);

/* The bound dimensions that the results of a block depend on. */
uint32_t lower_result_dims(const atn_graph *g, const atn_block *b, uint32_t bound);
bool lower_keeps_order(const atn_block *b);
int32_t lower_acc_type(const atn_variant *v, const atn_acc *acc); /* sums may be kept in a wider type than described */

/* The graph without accumulators that are needed only for ties between parts of a range: in order, the first wins
 * anyway. They are the last of a block. In the arena; NULL: out of memory. */
const atn_graph *lower_without_idle(atn_arena *arena, const atn_graph *g, const atn_variant *v);

#endif
