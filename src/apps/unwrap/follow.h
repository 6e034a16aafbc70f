/* Checks a phase, and computes the result directly if nothing has to be solved: programs/unwrap_follow.atn. */
#ifndef ATN_APPS_UNWRAP_FOLLOW_H
#define ATN_APPS_UNWRAP_FOLLOW_H

#include "apps/unwrap/image.h"

typedef struct unwrap_follow {
    unwrap_program program;
    atn_array *counts, *misfits;
    /* Of the last frame: */
    int64_t valid, residues; /* pixels; corners */
    int64_t pairs, cuts;     /* valid neighbours; cuts between them */
    double squares, farthest;
} unwrap_follow;

/* Fills image->out, less a plane: piston, and tilts per column and row. It is the answer where all pixels are valid
 * and none is a residue. */
atn_status unwrap_follow_turns(unwrap_follow *f, const unwrap_image *image, const double plane[3]);
void unwrap_follow_free(unwrap_follow *f);

#endif
