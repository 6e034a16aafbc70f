/* The surface of a bevelled needle: a cylinder along z, cut by a plane, with its tip at z = 0 where x = -radius. Points
 * for tests and measurements, generated from a seed. */
#ifndef ATN_SAMPLE_BEVEL_H
#define ATN_SAMPLE_BEVEL_H

#include "base/context.h"
#include "base/random.h"

/* A plain value. */
typedef struct bevel {
    double radius, length; /* > 0 */
    double angle_deg;      /* between the axis and the cut, in (0, 90]; the smaller, the sharper */
    bool whole;            /* not cut: a plain cylinder from z = 0 on */
} bevel;

/* A point of the surface, all equally likely, and the normal there. */
void bevel_point(const bevel *b, atn_random *random, double point[3], double normal[3]);

/* `count` points (x y z after x y z) as evenly as a voxel filter leaves them; only where normals have a y above
 * `least_y` (-2: everywhere). */
atn_status bevel_points(const atn_ctx *ctx, const bevel *b, size_t count, double least_y, uint64_t seed, double *out);

#endif
