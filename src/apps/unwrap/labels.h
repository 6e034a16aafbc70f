/* The connected components of a phase, the phase with the turns between neighbours added, and how consistent these are:
 * programs/unwrap_labels.atn. */
#ifndef ATN_APPS_UNWRAP_LABELS_H
#define ATN_APPS_UNWRAP_LABELS_H

#include "apps/unwrap/image.h"

typedef struct unwrap_labels {
    unwrap_program program;
    atn_array *of;   /* of pixels: the run of their row that they belong to, -1: not valid */
    atn_array *root; /* of runs: their island */
    atn_array *runs; /* of rows: how many they have, numbered from row * stride on */
    int64_t stride;  /* at least the width; no multiple of much, or all rows meet in the same few sets of a cache */
    atn_array *counts, *misfit;
    int64_t valid, residues, islands; /* pixels; corners; parts */
    int64_t pairs, cuts;              /* valid neighbours; cuts between them in the surface */
    double squares;                   /* of its misfit over these pairs */
    bool adds_up; /* the wrapped differences around every hole, where there are no residues: the surface is an answer */
} unwrap_labels;

/* `surface` takes the phase with turns. */
atn_status unwrap_labels_find(unwrap_labels *l, const unwrap_image *image, atn_array *surface);
void unwrap_labels_free(unwrap_labels *l);

#endif
