/* A closed surface without symmetry to look at: a sphere with bumps, dents and two ears, seen from its centre as one
 * radius in each direction, r(u) = 1 + sum a_k exp(kappa_k (u . c_k - 1)). Made from a seed. */
#ifndef ATN_SAMPLE_SHAPE_H
#define ATN_SAMPLE_SHAPE_H

#include "base/context.h"
#include "base/random.h"

enum { SHAPE_BUMPS = 48, SHAPE_SIDE = 192 };

/* Large: allocate it. A plain value. */
typedef struct shape {
    double centre[SHAPE_BUMPS][3];                /* unit vectors */
    double height[SHAPE_BUMPS];                   /* a_k; negative: a dent */
    double kappa[SHAPE_BUMPS];                    /* > 0; the larger, the narrower */
    double reach;                                 /* no point is farther out */
    float map[6][SHAPE_SIDE + 1][SHAPE_SIDE + 1]; /* r over the faces of a cube: what rays meet */
} shape;

void sample_shape_make(shape *s, atn_random *random);

/* How far from `origin` along the unit vector `ray` the surface is met first; negative: it is missed. The origin is
 * outside of the reach. Nothing is met before `from`, as the caller knows; 0: it does not. */
double sample_shape_hit(const shape *s, const double origin[3], const double ray[3], double from);

double sample_shape_radius(const shape *s, const double direction[3]); /* of any length above 0 */
void sample_shape_direction(atn_random *random, double out[3]);        /* a unit vector, all equally likely */

#endif
