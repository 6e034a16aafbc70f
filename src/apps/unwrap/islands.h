/* The caller's result for a frame with islands, each of which has its own constant: programs/unwrap_islands.atn. */
#ifndef ATN_APPS_UNWRAP_ISLANDS_H
#define ATN_APPS_UNWRAP_ISLANDS_H

#include "apps/unwrap/labels.h"

typedef struct unwrap_islands {
    unwrap_program program[2][2]; /* [known][level] */
} unwrap_islands;

typedef struct unwrap_shape {
    atn_array *u;   /* the answer, up to a constant for each island */
    bool known;     /* it differs from the phase by whole turns */
    bool congruent; /* what is written is to */
    bool level;     /* without the mean of each island */
    double tilt[2]; /* per column and row: taken off */
} unwrap_shape;

/* Fills image->out. */
atn_status unwrap_islands_write(unwrap_islands *islands, const unwrap_image *image, const unwrap_labels *labels,
                                const unwrap_shape *shape);
void unwrap_islands_free(unwrap_islands *islands);

#endif
