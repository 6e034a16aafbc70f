/* A scan while its loops are being made: shared by scan.c (the loops), scan_step.c (its steps), scan_group.c (over the
 * items of a group) and scan_look.c (over groups of one launch). */
#ifndef ATN_LOWER_SCAN_H
#define ATN_LOWER_SCAN_H

#include "lower/loops.h"

enum { SCAN_MOST_REGS = 32 };

typedef ir_ref scan_accs[ATN_MAX_ACCS][2]; /* one value of every accumulator: [accumulator][part] */

typedef struct scan {
    lowering *l;
    const atn_block *b;
    int32_t block;
    int32_t lanes, regs;           /* items along the range, steps of each that are taken at once */
    ir_ref lane;                   /* this item along the range; -1: there is one */
    int32_t slots;                 /* parts of all accumulators; beyond 2, an item's steps lie side by side */
    bool before, after;            /* values before a step, and after one, are used */
    int32_t tile[ATN_MAX_ACCS][2]; /* local memory for the items, where they need it */
    int32_t tile_row;              /* slots of one register in it; 0: none is needed */
    scan_accs neutral;
} scan;

/* NOLINTBEGIN(bugprone-macro-parentheses): k and part are declared */
#define SCAN_EACH(b, k, part)                                                                                          \
    for (int32_t k = 0; k < (b)->n_accs; ++k)                                                                          \
        for (int32_t part = 0; part < acc_parts(&(b)->acc[k]); ++part)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Its accumulators are updated, not joined with a term. */
static inline bool scan_by_update(const atn_block *b) {
    return b->acc[0].join == ATN_JOIN_CUSTOM || b->acc[0].join == ATN_JOIN_ORDERED;
}

/* out = a joined with b, a earlier; each in a variable of its own. */
void scan_join(scan *s, const char *name, scan_accs a, scan_accs b, scan_accs out);

/* Variables that begin with a value; and what they become. */
void scan_variables(scan *s, const char *name, scan_accs value, scan_accs variable);
void scan_assign(scan *s, scan_accs variable, scan_accs value);

/* What a step contributes by itself; nothing where it is none (valid is false). */
void scan_contribution(scan *s, place at, ir_ref valid, scan_accs out);
/* Makes BEFORE or AFTER of the block known at a place. */
void scan_keep_running(scan *s, atn_op op, place at, scan_accs value);

/* finish=look: all that this group does; carry, a variable, becomes what is there after its tile (scan_look.c). */
void scan_look(scan *s, scan_accs carry);

/* Over the items, for each of `rows` registers by itself: value becomes the items up to and with this one, `earlier`
 * those before it, `total` all of them. */
bool scan_group_open(scan *s); /* false: there is no local memory for it */
void scan_group(scan *s, int32_t rows, scan_accs *value, scan_accs *earlier, scan_accs *total);
/* The same by shuffles alone, where a warp has `rows` rows of its own one behind the other: `earlier` of a row are the
 * items before this one in the warp, `below` the warps before. Values of the first `items` count, others have none. */
void scan_warps(scan *s, int32_t rows, int32_t items, scan_accs *value, scan_accs *earlier, scan_accs below,
                scan_accs total);
/* What the first item has computed in `first`, and nobody else, for all; as the last thing that the items share. */
void scan_hand_out(scan *s, ir_block first, scan_accs value, scan_accs out);

#endif
