/* Pass: which reads are staged. Reads of one object with the same linear part share a buffer that holds everything a
 * group needs of it for one tile of the reduced range (or, without one, for the points of the group: a halo tile).
 * Along axis a, the footprint is sum |c_v| (T_v - 1) + 1 + (largest - smallest constant), where T_v is the tile of
 * dimension v. */
#ifndef ATN_LOWER_STAGE_H
#define ATN_LOWER_STAGE_H

#include "graph/affine.h"
#include "lower/cut.h"
#include "lower/needs.h"

/* A staged tile: all reads of one object with the same linear part. */
typedef struct staged {
    int32_t object, tile;                /* the object, and the tile of the stage; -1: not assigned yet */
    atn_affine linear[ATN_MAX_RANK];     /* per axis; constants are the smallest among the reads */
    int64_t constant_span[ATN_MAX_RANK]; /* largest minus smallest constant */
    int64_t extent[ATN_MAX_RANK];        /* elements per axis; 1 beyond the object's rank */
    int64_t pitch;                       /* elements from line to line of the tile; its planes are consecutive */
    int64_t count;                       /* elements that are copied into it */
    int64_t elements; /* of one buffer, including gaps; double buffering has two, followed by some elements that are
                       * never read */
    bool swapped;     /* axis 1 is the contiguous one */
    int64_t panel;    /* > 0: divided into panels of this width along that axis, one after the other: each step reads
                       * one */
    uint32_t dims;
    int32_t reads[ATN_MAX_DIMS]; /* the reads it serves */
    int32_t n_reads;
    int32_t boundary;
    int32_t wide;   /* contiguous elements that an item copies at once */
    int32_t rounds; /* how many times it does so to fill the tile; the last round may not need all items */
    int32_t half;   /* double buffering: offset of the buffer being read, in elements; -1: single; while loops are
                     * generated */
} staged;
enum { MAX_STAGED = 8 };

typedef struct lower_staging {
    staged of[MAX_STAGED];
    int32_t count;
    int32_t too_far; /* the object whose reads are too far apart; -1: none */
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

/* For a block, or for the points (0, if they have no accumulators). */
void lower_find_staged(const lower_scene *c, int32_t block, lower_staging *out);
void lower_print_staged(const atn_graph *g, const lower_staging *staging, atn_text *out);

/* The selectors of a read as affine forms that are known there; false: they are not. */
bool lower_staged_forms(const lower_scene *c, const atn_read *r, atn_affine form[ATN_MAX_RANK]);
int64_t lower_tile_length(const lower_scene *c, int32_t dim); /* length of the tile along a dimension */

#endif
