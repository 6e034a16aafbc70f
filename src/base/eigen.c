/* Jacobi's method: rotations in the planes xy, xz and yz, A <- J^T A J, until nothing is left beside the diagonal.
 * Slower than the closed form and exact to rounding also where eigenvalues are equal or nearly zero. */
#include "base/eigen.h"

#include <float.h>
#include <math.h>

enum { MOST_SWEEPS = 32 }; /* about six are needed */

/* Makes a[p][q] zero. */
static void rotate(double a[3][3], double v[3][3], int p, int q) {
    if (a[p][q] == 0) return;
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)); /* 0 where theta is infinite */
    double c = 1 / sqrt(t * t + 1), s = t * c;
    int r = 3 - p - q;
    a[p][p] -= t * a[p][q];
    a[q][q] += t * a[p][q];
    a[p][q] = a[q][p] = 0;
    double rp = a[r][p], rq = a[r][q];
    a[r][p] = a[p][r] = c * rp - s * rq;
    a[r][q] = a[q][r] = s * rp + c * rq;
    for (int k = 0; k < 3; ++k) {
        double vp = v[p][k], vq = v[q][k];
        v[p][k] = c * vp - s * vq;
        v[q][k] = s * vp + c * vq;
    }
}

static void exchange(double value[3], double vector[3][3], int a, int b) {
    if (value[a] <= value[b]) return;
    double held = value[a];
    value[a] = value[b];
    value[b] = held;
    for (int k = 0; k < 3; ++k) {
        held = vector[a][k];
        vector[a][k] = vector[b][k];
        vector[b][k] = held;
    }
}

void atn_eigen_symmetric3(const double m[6], double value[3], double vector[3][3]) {
    double a[3][3] = {{m[0], m[3], m[4]}, {m[3], m[1], m[5]}, {m[4], m[5], m[2]}};
    for (int k = 0; k < 3; ++k)
        for (int d = 0; d < 3; ++d) vector[k][d] = k == d;
    for (int sweep = 0; sweep < MOST_SWEEPS; ++sweep) {
        double beside = fabs(a[0][1]) + fabs(a[0][2]) + fabs(a[1][2]);
        if (beside <= DBL_EPSILON * DBL_EPSILON * (fabs(a[0][0]) + fabs(a[1][1]) + fabs(a[2][2]))) break;
        rotate(a, vector, 0, 1);
        rotate(a, vector, 0, 2);
        rotate(a, vector, 1, 2);
    }
    for (int k = 0; k < 3; ++k) value[k] = a[k][k];
    exchange(value, vector, 0, 1);
    exchange(value, vector, 1, 2);
    exchange(value, vector, 0, 1);
}
