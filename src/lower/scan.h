/* A scan while its loops are being made: shared by scan.c (the loops) and scan_group.c (over the items of a group). */
#ifndef ATN_LOWER_SCAN_H
#define ATN_LOWER_SCAN_H

#include "lower/loops.h"

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

#define SCAN_EACH(b, k, part)                                                                                          \
    for (int32_t k = 0; k < (b)->n_accs; ++k)                                                                          \
        for (int32_t part = 0; part < acc_parts(&(b)->acc[k]); ++part)

/* out = a joined with b, a earlier; each in a variable of its own. */
void scan_join(scan *s, const char *name, scan_accs a, scan_accs b, scan_accs out);

/* Over the items, for each of `rows` registers by itself: value becomes the items up to and with this one, `earlier`
 * those before it, `total` all of them. */
bool scan_group_open(scan *s); /* false: there is no local memory for it */
void scan_group(scan *s, int32_t rows, scan_accs *value, scan_accs *earlier, scan_accs *total);

#endif
