/* Jacobi's method: rotations A <- J^T A J, one for each element beside the diagonal, until nothing is left there.
 * Slower than closed forms and exact to rounding also where eigenvalues are equal or nearly zero. */
#include "geom/eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_SWEEPS = 32 }; /* about six are needed */

static inline void rotate(double *x, double *y, double c, double s) {
    double kept = *x;
    *x = c * kept - s * *y;
    *y = s * kept + c * *y;
}

/* Makes a[p][q] zero; the rows of v turn along. */
static inline void clear(int32_t n, double *a, double *v, int32_t p, int32_t q) {
    double apq = a[p * n + q];
    if (apq == 0) return;
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)); /* 0 where theta is infinite */
    double c = 1 / sqrt(t * t + 1), s = t * c;
    a[p * n + p] -= t * apq;
    a[q * n + q] += t * apq;
    a[p * n + q] = a[q * n + p] = 0;
    for (int32_t k = 0; k < n; ++k) {
        rotate(&v[p * n + k], &v[q * n + k], c, s);
        if (k == p || k == q) continue;
        rotate(&a[k * n + p], &a[k * n + q], c, s);
        a[p * n + k] = a[k * n + p];
        a[q * n + k] = a[k * n + q];
    }
}

/* a becomes diagonal, the rows of v its eigenvectors, in ascending order of the diagonal, which goes to value. */
static inline void diagonalize(int32_t n, double *a, double *value, double *v) {
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < n; ++j) v[i * n + j] = i == j;
    for (int sweep = 0; sweep < MOST_SWEEPS; ++sweep) {
        double beside = 0, on = 0;
        for (int32_t p = 0; p < n; ++p) {
            on += fabs(a[p * n + p]);
            for (int32_t q = p + 1; q < n; ++q) beside += fabs(a[p * n + q]);
        }
        if (!(beside > DBL_EPSILON * DBL_EPSILON * on)) break;
        for (int32_t p = 0; p < n - 1; ++p)
            for (int32_t q = p + 1; q < n; ++q) clear(n, a, v, p, q);
    }
    for (int32_t i = 0; i < n; ++i) value[i] = a[i * n + i];
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = i + 1; j < n; ++j) {
            if (!(value[j] < value[i])) continue;
            double kept = value[i];
            value[i] = value[j];
            value[j] = kept;
            for (int32_t k = 0; k < n; ++k) {
                kept = v[i * n + k];
                v[i * n + k] = v[j * n + k];
                v[j * n + k] = kept;
            }
        }
}

void geom_eigen(int32_t n, const double *matrix, double *value, double *vector) {
    double a[GEOM_EIGEN_MOST * GEOM_EIGEN_MOST], v[GEOM_EIGEN_MOST * GEOM_EIGEN_MOST];
    memcpy(a, matrix, (size_t)(n * n) * sizeof *a);
    if (n == 4) /* lengths that the compiler knows: a third of the time */
        diagonalize(4, a, value, v);
    else if (n == 6)
        diagonalize(6, a, value, v);
    else
        diagonalize(n, a, value, v);
    for (int32_t i = 0; i < n; ++i)
        for (int32_t k = 0; k < n; ++k) vector[k * n + i] = v[i * n + k];
}

void geom_eigen3(const double m[6], double value[3], double vector[3][3]) {
    double a[9] = {m[0], m[3], m[4], m[3], m[1], m[5], m[4], m[5], m[2]};
    diagonalize(3, a, value, &vector[0][0]);
}

void geom_least_direction(const double m[6], double values[3], double direction[3]) {
    double vector[3][3];
    geom_eigen3((const double[6]){m[0], m[3], m[5], m[1], m[2], m[4]}, values, vector);
    memcpy(direction, vector[0], sizeof vector[0]);
}

bool geom_invert_symmetric(int32_t n, const double *matrix, double *out) {
    double value[GEOM_EIGEN_MOST], vector[GEOM_EIGEN_MOST * GEOM_EIGEN_MOST];
    geom_eigen(n, matrix, value, vector);
    if (!(value[0] > 1e-13 * value[n - 1]) || !isfinite(1 / value[0])) return false;
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < n; ++j) {
            out[i * n + j] = 0;
            for (int32_t k = 0; k < n; ++k) out[i * n + j] += vector[i * n + k] * vector[j * n + k] / value[k];
        }
    return true;
}
