/* Pass: which reads are staged. Reads of one object with one linear part share a buffer that holds all a group needs of
 * it for one tile of the reduced range (or, without one, for the group's points: a halo tile). Along axis a the
 * footprint is sum |c_v| (T_v - 1) + 1 + (largest - smallest constant), T_v the tile of dimension v. */
#ifndef ATN_LOWER_STAGE_H
#define ATN_LOWER_STAGE_H

#include "graph/affine.h"
#include "lower/cut.h"
#include "lower/needs.h"

/* A staged tile: all reads of one object with one linear part. */
typedef struct staged {
    int32_t object, tile;                /* the object, and the stage's tile; -1: it has none yet */
    atn_affine linear[ATN_MAX_RANK];     /* per axis; constants are the smallest among the reads */
    int64_t constant_span[ATN_MAX_RANK]; /* largest minus smallest constant */
    int64_t extent[ATN_MAX_RANK];        /* elements per axis; 1 beyond the object's rank */
    int64_t pitch;    /* elements from line to line of the tile; its planes lie one behind the other */
    int64_t count;    /* elements that are copied into it */
    int64_t elements; /* of one buffer, with gaps; double buffering has two, and some that nobody reads behind them */
    bool swapped;     /* axis 1 lies side by side */
    int64_t panel;    /* > 0: cut into panels this wide along that axis, one after the other: each step reads one */
    uint32_t dims;
    int32_t reads[ATN_MAX_DIMS]; /* the reads it serves */
    int32_t n_reads;
    int32_t boundary;
    int32_t wide;   /* elements side by side that an item copies at once */
    int32_t rounds; /* how often it does, to fill the tile; the last round may not need all items */
    int32_t half;   /* double buffering: which half is read, in elements; -1: single; while loops are made */
} staged;
enum { MAX_STAGED = 8 };

typedef struct lower_staging {
    staged of[MAX_STAGED];
    int32_t count;
    int32_t too_far; /* the object whose reads lie too far apart; -1: none */
} lower_staging;

/* What is known where the block begins: dimensions with an index, blocks with a result. */
typedef struct lower_scene {
    const atn_graph *g;
    const atn_variant *v;
    const lower_cuts *cuts;
    const lower_needs *needs;
    bool host;
    uint32_t bound, done;
} lower_scene;

/* Of a block, or of the points (0, where they have no accumulators). */
void lower_find_staged(const lower_scene *c, int32_t block, lower_staging *out);
void lower_print_staged(const atn_graph *g, const lower_staging *staging, atn_text *out);

/* The selectors of a read as affine forms that are known there; false: they are not. */
bool lower_staged_forms(const lower_scene *c, const atn_read *r, atn_affine form[ATN_MAX_RANK]);
int64_t lower_tile_length(const lower_scene *c, int32_t dim); /* of the tile along a dimension */

#endif
