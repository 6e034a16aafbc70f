/* Poses: affine maps of space, p -> a p + b, and rotations as unit quaternions w x y z. All in double. */
#ifndef ATN_GEOM_POSE_H
#define ATN_GEOM_POSE_H

#include <stdbool.h>
#include <stdint.h>

/* p -> a p + b; a row by row. A plain value. */
typedef struct geom_pose {
    double a[9], b[3];
} geom_pose;

extern const geom_pose GEOM_IDENTITY;

void geom_pose_apply(const geom_pose *pose, const double p[3], double out[3]);
geom_pose geom_pose_compose(const geom_pose *after, const geom_pose *before); /* after(before(p)) */
geom_pose geom_pose_scaled(const geom_pose *pose, double by);                 /* by * pose(p) */
bool geom_pose_invert(const geom_pose *pose, geom_pose *out);                 /* false: it has no inverse */
double geom_pose_scale(const geom_pose *pose);                                /* cube root of |det a| */
double geom_pose_stretch(const geom_pose *pose);                              /* no length grows by more than that */

/* The largest distance between where two maps send a point of the box. */
double geom_pose_motion(const geom_pose *a, const geom_pose *b, const double low[3], const double high[3]);

/* exp: of a rotation vector and a translation that acts after it; log: back, of a map that is rigid. */
geom_pose geom_pose_exp(const double twist[6]);
void geom_pose_log(const geom_pose *pose, double twist[6]);

/* The rotation of a unit quaternion, row by row; the unit quaternion of a rotation, w >= 0; a after b. */
void geom_quaternion_matrix(const double q[4], double out[9]);
void geom_quaternion_of(const double matrix[9], double out[4]);
void geom_quaternion_multiply(const double a[4], const double b[4], double out[4]);

#endif
