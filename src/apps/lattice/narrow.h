/* The atoms of a frame that are near some of them. */
#ifndef ATN_APPS_LATTICE_NARROW_H
#define ATN_APPS_LATTICE_NARROW_H

#include "apps/lattice/lattice.h"

typedef struct lattice_narrowed {
    atn_atoms atoms; /* in the order of the frame */
    double *place;   /* of theirs; owned */
    size_t *which;   /* owned; where each of those that were given is among them; NULL: all atoms stay */
    /* Of the atoms in cubes as wide as `reach` that have one of those given, or are next to one that has: cells that
     * are made from here on round places in the same way, however few of these atoms are left. */
    double low[3], high[3];
} lattice_narrowed;

/* At least all atoms within `reach`, in units of their places, of those given, which are ascending. To be freed after a
 * failure too. */
atn_status lattice_narrow(const atn_ctx *ctx, const atn_atoms *atoms, double reach, const size_t *which, size_t count,
                          lattice_narrowed *out);
void lattice_narrowed_free(const atn_ctx *ctx, lattice_narrowed *narrowed);

#endif
