/* The connected parts of a phase, and the phase with the turns that lie between neighbours: programs/unwrap_labels.atn.
 */
#ifndef ATN_APPS_UNWRAP_LABELS_H
#define ATN_APPS_UNWRAP_LABELS_H

#include "apps/unwrap/image.h"

typedef struct unwrap_labels {
    unwrap_program program;
    atn_array *label; /* of pixels: their island, -1: not valid */
    atn_array *runs;  /* of rows: as many numbers of them may be islands, from row * width on */
    atn_array *counts;
    int64_t valid, residues, islands; /* pixels; corners; parts */
    bool adds_up; /* the wrapped differences around every hole, where there are no residues: the surface is an answer */
} unwrap_labels;

/* `surface` takes the phase with turns. */
atn_status unwrap_labels_find(unwrap_labels *l, const unwrap_image *image, atn_array *surface);
void unwrap_labels_free(unwrap_labels *l);

#endif
