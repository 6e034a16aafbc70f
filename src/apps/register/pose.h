/* Affine maps of space, and the map that fits weighted pairs best: Horn's quaternion for rigid ones, then the scale, or
 * the full 3 x 3 matrix. All in double. */
#ifndef ATN_APPS_REGISTER_POSE_H
#define ATN_APPS_REGISTER_POSE_H

#include <attune/register.h>

/* p -> a p + b; a row by row. A plain value. */
typedef struct reg_pose {
    double a[9], b[3];
} reg_pose;

extern const reg_pose REG_IDENTITY;

void reg_pose_apply(const reg_pose *pose, const double p[3], double out[3]);
reg_pose reg_pose_compose(const reg_pose *after, const reg_pose *before); /* after(before(p)) */
reg_pose reg_pose_scaled(const reg_pose *pose, double by);                /* by * pose(p) */
bool reg_pose_invert(const reg_pose *pose, reg_pose *out);                /* false: it has no inverse */
double reg_pose_scale(const reg_pose *pose);                              /* cube root of |det a| */
double reg_pose_stretch(const reg_pose *pose);                            /* no length grows by more than that */

/* The largest distance between where two maps send a point of the box. */
double reg_pose_motion(const reg_pose *a, const reg_pose *b, const double low[3], const double high[3]);

/* exp: of a rotation vector and a translation that acts after it; log: back, of a map that is rigid. */
reg_pose reg_pose_exp(const double twist[6]);
void reg_pose_log(const reg_pose *pose, double twist[6]);

/* Sums over weighted pairs of a source point y (where it is now) and its partner x. */
typedef struct reg_moments {
    double weight; /* sum of l */
    double y[3], x[3];
    double cross[9];   /* l x y^T, row by row of x */
    double spread[6];  /* l y y^T: xx xy xz yy yz zz; for scale and affine fits only */
    double likelihood; /* w log2(a + outlier): what EM-ICP makes larger in every step */
    double residual;   /* l |x - y|^2 */
} reg_moments;

void reg_moments_add(reg_moments *to, const reg_moments *more);

/* The map that moves the y onto their x. false: they do not tell (no weight, or for affine fits a spread without
 * volume). Fits that leave a turn open take none of it. */
bool reg_fit(const reg_moments *moments, atn_transform_kind kind, reg_pose *out);

/* Eigenvalues of a symmetric n x n matrix, n <= 6, ascending, and its eigenvectors as columns; by Jacobi rotations. */
void reg_eigen(int32_t n, const double *matrix, double *value, double *vector);

/* Inverse of a symmetric n x n matrix that is positive; false where it is not, to working precision. */
bool reg_invert_symmetric(int32_t n, const double *matrix, double *out);

#endif
