/* The map that fits weighted pairs best: Horn's quaternion for rigid ones, then Umeyama's scale, or the full 3 x 3
 * matrix. All in double. */
#ifndef ATN_GEOM_FIT_H
#define ATN_GEOM_FIT_H

#include "geom/pose.h"

#include <attune/register.h>

/* Sums over weighted pairs of a source point y (where it is now) and its partner x. */
typedef struct geom_moments {
    double weight; /* sum of l */
    double y[3], x[3];
    double cross[9];   /* l x y^T, row by row of x */
    double spread[6];  /* l y y^T: xx xy xz yy yz zz; for scale and affine fits only */
    double likelihood; /* w log2(a + outlier): what EM-ICP makes larger in every step */
    double residual;   /* l |x - y|^2 */
} geom_moments;

void geom_moments_add(geom_moments *to, const geom_moments *more);

/* The map that moves the y onto their x. false: they do not tell (no weight, or for affine fits a spread without
 * volume). Fits that leave a turn open take none of it. */
bool geom_fit(const geom_moments *moments, atn_transform_kind kind, geom_pose *out);

/* The rotation R that maximises tr(R^T S), S = sum l x y^T about the means, row by row. Where S leaves a turn open, the
 * one nearest to none. */
void geom_turn(const double s[9], double turn[9]);

#endif
