/* Sums over the neighbours of one atom in a pose of a lattice, many neighbours at once, in floats. */
#ifndef ATN_APPS_LATTICE_NEAR_SUMS_H
#define ATN_APPS_LATTICE_NEAR_SUMS_H

#include "apps/lattice/lattice.h"
#include "base/lanes.h"

enum { NEAR_LANES = ATN_WIDEST / sizeof(float) }; /* places that are looked at once */

/* y = m x - t is where a neighbour x is in the crystal, d how far it is off its site; w one over the square of the
 * noise; its density is most exp(-w d^2 / 2) + gas. */
typedef struct near_pose {
    int32_t n;         /* <= ATN_LATTICE_MOST_NEIGHBOURS */
    const float *x[3]; /* of the neighbours; behind them there are finite numbers up to a multiple of NEAR_LANES */
    float m[9], t[3];
    float w, most, gas;
    const float *left; /* how much each counts; NULL: wholly */
    bool told;         /* the likelihood is wanted */
} near_pose;

/* With c the chance of a neighbour to be on its site: sums of c, c y, c d, c y x d, c y y^T (lower half), c d^2. */
typedef struct near_moments {
    double c, y[3], d[3], cross[3], yy[6], spread;
    double likelihood; /* sum of logarithms of densities */
} near_moments;

/* Sites of the whole crystal. each (may be NULL): the densities, where the likelihood is wanted. */
void near_sums_crystal(const lattice_slot *s, const near_pose *p, float *each, near_moments *out);
/* Sites that the voxels of a table tell (LATTICE_PULL numbers each). wide: chances too, and nobody asks for
 * likelihoods. */
void near_sums_table(const lattice_slot *s, const float *pull, bool wide, const near_pose *p, float *each,
                     near_moments *out);
/* The sum of the logarithms of densities, some at once. */
double near_logarithms(const float *density, int32_t n);
/* Which of the first `most` neighbours that count by half or more is on a site best: the sum over all of w d^2, `far`
 * at most of each, times how much it counts, is the least then. -1: none counts. The shift of the pose is of no matter.
 */
int32_t near_start(const lattice_slot *s, const near_pose *p, int32_t most, float far, double *misfit);

#endif
