/* Affine maps: composing, comparing, exponential and logarithm; quaternions. */
#include "geom/pose.h"

#include "geom/eigen.h"

#include <math.h>
#include <string.h>

const geom_pose GEOM_IDENTITY = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};

void geom_pose_apply(const geom_pose *pose, const double p[3], double out[3]) {
    double moved[3];
    for (int i = 0; i < 3; ++i) {
        const double *a = pose->a + 3 * i;
        moved[i] = a[0] * p[0] + a[1] * p[1] + a[2] * p[2] + pose->b[i];
    }
    memcpy(out, moved, sizeof moved);
}

geom_pose geom_pose_compose(const geom_pose *after, const geom_pose *before) {
    geom_pose both;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            both.a[3 * i + j] = 0;
            for (int k = 0; k < 3; ++k) both.a[3 * i + j] += after->a[3 * i + k] * before->a[3 * k + j];
        }
    geom_pose_apply(after, before->b, both.b);
    return both;
}

geom_pose geom_pose_scaled(const geom_pose *pose, double by) {
    geom_pose s = *pose;
    for (int i = 0; i < 9; ++i) s.a[i] *= by;
    for (int i = 0; i < 3; ++i) s.b[i] *= by;
    return s;
}

static double determinant(const double a[9]) {
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

bool geom_pose_invert(const geom_pose *pose, geom_pose *out) {
    const double *a = pose->a;
    double det = determinant(a);
    if (!(fabs(det) > 0) || !isfinite(1 / det)) return false;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) { /* cofactors, taken cyclically so that signs come out right */
            int r = (j + 1) % 3, s = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            out->a[3 * i + j] = (a[3 * r + c] * a[3 * s + d] - a[3 * r + d] * a[3 * s + c]) / det;
        }
    for (int i = 0; i < 3; ++i) {
        out->b[i] = 0;
        for (int k = 0; k < 3; ++k) out->b[i] -= out->a[3 * i + k] * pose->b[k];
    }
    return true;
}

double geom_pose_scale(const geom_pose *pose) { return cbrt(fabs(determinant(pose->a))); }

double geom_pose_stretch(const geom_pose *pose) {
    double gram[9], value[3], vector[9];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            gram[3 * i + j] = 0;
            for (int k = 0; k < 3; ++k) gram[3 * i + j] += pose->a[3 * k + i] * pose->a[3 * k + j];
        }
    geom_eigen(3, gram, value, vector);
    return sqrt(fmax(value[2], 0)) * (1 + 1e-12);
}

double geom_pose_motion(const geom_pose *a, const geom_pose *b, const double low[3], const double high[3]) {
    double most = 0; /* the way is a convex function of the point: its largest value is at a corner */
    for (int corner = 0; corner < 8; ++corner) {
        double p[3], pa[3], pb[3];
        for (int i = 0; i < 3; ++i) p[i] = corner >> i & 1 ? high[i] : low[i];
        geom_pose_apply(a, p, pa);
        geom_pose_apply(b, p, pb);
        double way = sqrt((pa[0] - pb[0]) * (pa[0] - pb[0]) + (pa[1] - pb[1]) * (pa[1] - pb[1]) +
                          (pa[2] - pb[2]) * (pa[2] - pb[2]));
        most = fmax(most, way);
    }
    return most;
}

geom_pose geom_pose_exp(const double twist[6]) {
    geom_pose pose = GEOM_IDENTITY;
    double angle = sqrt(twist[0] * twist[0] + twist[1] * twist[1] + twist[2] * twist[2]);
    if (angle > 0) { /* Rodrigues: I + sin K + (1 - cos) K^2 of the axis */
        double k[3] = {twist[0] / angle, twist[1] / angle, twist[2] / angle}, s = sin(angle), h = sin(angle / 2);
        double c = 2 * h * h;
        double skew[9] = {0, -k[2], k[1], k[2], 0, -k[0], -k[1], k[0], 0};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) pose.a[3 * i + j] += s * skew[3 * i + j] + c * (k[i] * k[j] - (i == j ? 1 : 0));
    }
    memcpy(pose.b, twist + 3, sizeof pose.b);
    return pose;
}

void geom_pose_log(const geom_pose *pose, double twist[6]) {
    const double *a = pose->a;
    double axis[3] = {a[7] - a[5], a[2] - a[6], a[3] - a[1]};
    double s = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]) / 2;
    double c = (a[0] + a[4] + a[8] - 1) / 2, angle = atan2(s, c);
    if (c > -0.9999) {
        double f = s > 1e-9 ? angle / (2 * s) : 0.5;
        for (int i = 0; i < 3; ++i) twist[i] = axis[i] * f;
    } else { /* near half a turn the axis is in the diagonal: a = 2 k k^T - I */
        int i = a[0] > a[4] ? (a[0] > a[8] ? 0 : 2) : (a[4] > a[8] ? 1 : 2);
        double k[3] = {(a[i] + a[3 * i]) / 2, (a[3 + i] + a[3 * i + 1]) / 2, (a[6 + i] + a[3 * i + 2]) / 2};
        k[i] = (a[4 * i] - c);
        double length = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
        double sign = k[0] * axis[0] + k[1] * axis[1] + k[2] * axis[2] < 0 ? -1 : 1;
        for (int j = 0; j < 3; ++j) twist[j] = sign * angle * k[j] / length;
    }
    memcpy(twist + 3, pose->b, 3 * sizeof *twist);
}

void geom_quaternion_matrix(const double q[4], double out[9]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double m[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                         2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(out, m, sizeof m);
}

void geom_quaternion_multiply(const double a[4], const double b[4], double out[4]) {
    const double r[4] = {
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(out, r, sizeof r);
}

void geom_quaternion_of(const double m[9], double out[4]) {
    double q[4] = {1 + m[0] + m[4] + m[8], 1 + m[0] - m[4] - m[8], 1 - m[0] + m[4] - m[8], 1 - m[0] - m[4] + m[8]};
    int big = 0; /* the others are divided by it */
    for (int k = 1; k < 4; ++k)
        if (q[k] > q[big]) big = k;
    double s = 2 * sqrt(fmax(q[big], 1e-12)), w = m[7] - m[5], x = m[2] - m[6], y = m[3] - m[1];
    double xy = m[1] + m[3], xz = m[2] + m[6], yz = m[5] + m[7];
    const double all[4][4] = {{s / 4, w / s, x / s, y / s},
                              {w / s, s / 4, xy / s, xz / s},
                              {x / s, xy / s, s / 4, yz / s},
                              {y / s, xz / s, yz / s, s / 4}};
    for (int k = 0; k < 4; ++k) out[k] = all[big][0] < 0 ? -all[big][k] : all[big][k];
}
