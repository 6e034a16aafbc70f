/* A scan while its loops are being generated: shared by scan.c (the loops), scan_step.c (its steps), scan_group.c (over
 * the items of a group) and scan_look.c (over groups of one launch). */
#ifndef ATN_LOWER_SCAN_H
#define ATN_LOWER_SCAN_H

#include "lower/loops.h"

enum { SCAN_MOST_REGS = 32 };

typedef ir_ref scan_accs[ATN_MAX_ACCS][2]; /* one value of every accumulator: [accumulator][part] */

typedef struct scan {
    lowering *l;
    const atn_block *b;
    int32_t block;
    int32_t lanes, regs;           /* items along the range, and steps that each processes at once */
    ir_ref lane;                   /* index of this item along the range; -1: there is one */
    int32_t slots;                 /* parts of all accumulators; with more than 2, the steps of an item are contiguous
                                    * */
    bool before, after;            /* values before a step, and after one, are used */
    int32_t tile[ATN_MAX_ACCS][2]; /* local memory for the items, if they need it */
    int32_t tile_row;              /* slots of one register in it; 0: none is needed */
    scan_accs neutral;
} scan;

/* NOLINTBEGIN(bugprone-macro-parentheses): k and part are declared */
#define SCAN_EACH(b, k, part)                                                                                          \
    for (int32_t k = 0; k < (b)->n_accs; ++k)                                                                          \
        for (int32_t part = 0; part < acc_parts(&(b)->acc[k]); ++part)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Its accumulators are updated, not combined with a term. */
static inline bool scan_by_update(const atn_block *b) {
    return b->acc[0].join == ATN_JOIN_CUSTOM || b->acc[0].join == ATN_JOIN_ORDERED;
}

/* out = a combined with b, a being earlier; each in a variable of its own. */
void scan_join(scan *s, const char *name, scan_accs a, scan_accs b, scan_accs out);

/* Variables initialised with a value; and their assignment. */
void scan_variables(scan *s, const char *name, scan_accs value, scan_accs variable);
void scan_assign(scan *s, scan_accs variable, scan_accs value);

/* The contribution of a single step; neutral if there is no such step (valid is false). */
void scan_contribution(scan *s, place at, ir_ref valid, scan_accs out);
/* Makes BEFORE or AFTER of the block available at a place. */
void scan_keep_running(scan *s, atn_op op, place at, scan_accs value);

/* finish=look: everything that this group does; carry, a variable, becomes the value after its tile (scan_look.c). */
void scan_look(scan *s, scan_accs carry);

/* Over the items, for each of `rows` registers separately: value becomes the items up to and including this one,
 * `earlier` those before it, `total` all of them. */
bool scan_group_open(scan *s); /* false: there is no local memory for it */
void scan_group(scan *s, int32_t rows, scan_accs *value, scan_accs *earlier, scan_accs *total);
/* The same by shuffles alone, if a warp has `rows` consecutive rows of its own: `earlier` of a row are the items before
 * this one in the warp, `below` the warps before it. Values of the first `items` count, the others are neutral. */
void scan_warps(scan *s, int32_t rows, int32_t items, scan_accs *value, scan_accs *earlier, scan_accs below,
                scan_accs total);
/* Broadcasts what the first item alone has computed in `first`; the last thing that the items share. */
void scan_hand_out(scan *s, ir_block first, scan_accs value, scan_accs out);

#endif
