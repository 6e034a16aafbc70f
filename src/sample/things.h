/* Pairs of clouds for testing verdicts: surfaces of several kinds, seen in part, with noise, outliers and different
 * densities; pairs of different objects, mirror images; symmetric objects. */
#ifndef ATN_SAMPLE_THINGS_H
#define ATN_SAMPLE_THINGS_H

#include "base/context.h"
#include "base/random.h"

#include <attune/cloud.h>

typedef enum thing_kind {
    THING_LUMPY,   /* a sphere with bumps, dents and ears */
    THING_BLOCKS,  /* boxes of all sizes, in all orientations */
    THING_ROOM,    /* walls and a floor, with boxes on it */
    THING_TERRAIN, /* a rough height field */
    THING_SCANS,   /* two range scans of a lumpy thing from two sides */
    THING_CUBE,    /* from here on: with symmetry */
    THING_BRICK,
    THING_PRISM, /* square */
    THING_CYLINDER,
    THING_SPHERE,
    THING_PLANE,
    THING_CLOUD, /* points that fill a cube, other ones in the other cloud */
    THING_KINDS
} thing_kind;

typedef enum thing_pair_kind {
    THING_SAME,     /* one thing, seen twice */
    THING_MIRRORED, /* the source is the mirror image */
    THING_OTHER,    /* another one of the same kind, of equal extent */
    THING_BOX       /* the target is points that fill a box */
} thing_pair_kind;

typedef struct thing_settings {
    thing_kind kind;
    thing_pair_kind pair;
    size_t source, target; /* points */
    double overlap;        /* share of either that the other shows too, in (0, 1] */
    double noise;          /* deviation, in spacings of the sparser cloud */
    double outliers;       /* share of points spread over a box about the thing, in [0, 1) */
    uint64_t seed;         /* the same seed, the same points */
} thing_settings;

/* Owns its clouds: thing_pair_free. */
typedef struct thing_pair {
    atn_cloud *source, *target;
    double transform[16]; /* the truth of THING_SAME: 4 x 4, row-major, target = T source */
    double spacing;       /* distance of neighbours on the surface, about the median, of the sparser cloud */
} thing_pair;

const char *thing_name(thing_kind kind);
const char *thing_pair_name(thing_pair_kind kind);
/* Poses that map it onto itself, and directions in which it slides; 1 and 0: no symmetry. Points that fill space: 0. */
void thing_symmetry(thing_kind kind, int32_t *poses, int32_t *sliding);

atn_status thing_pair_make(atn_ctx *ctx, const thing_settings *settings, thing_pair *out);
void thing_pair_free(thing_pair *pair); /* zeroed ones are fine */

#endif
