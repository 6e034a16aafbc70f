/* Jacobi's method: rotations A <- J^T A J, one per off-diagonal element, until these vanish. Slower than closed forms
 * and exact to rounding also where eigenvalues are equal or nearly zero. */
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

/* cos(acos(q) / 3) from s = cos(acos(q) / 2), to 2e-12. */
static double third(double s) {
    static const double C[] = {0.5000000000018533,    0.577350268561449,      -0.11111107547754695,
                               0.053457555508817214,  -0.032912295839981724,  0.022800103480394598,
                               -0.016750001816210267, 0.01232840577593099,    -0.008408632428584568,
                               0.004814084735139309,  -0.0020619199405281017, 0.0005670966437229745,
                               -7.358920545532154e-05};
    double sum = C[12];
    for (int k = 11; k >= 0; --k) sum = sum * s + C[k];
    return sum;
}

/* The roots of the characteristic polynomial are mean + 2 p cos((acos(q) + 2 pi k) / 3); the eigenvector of one is at
 * right angles to the rows of A - value, of which the two that tell most are taken. Where two values are nearly the
 * same, or the numbers are very large or small, Jacobi's method does it. */
void geom_least3(const double m[6], double value[3], double direction[3]) {
    static const double CLEAR = 1e-10, ALIKE = 1e-16, LEAST = 1e-100, MOST = 1e60;
    double mean = (m[0] + m[1] + m[2]) / 3, x = m[0] - mean, y = m[1] - mean, z = m[2] - mean;
    double p2 = (x * x + y * y + z * z + 2 * (m[3] * m[3] + m[4] * m[4] + m[5] * m[5])) / 6, most = 0, length2 = 0;
    double u[3][3], n[3] = {0};
    if (p2 > LEAST && p2 < MOST && p2 > ALIKE * mean * mean) {
        double p = sqrt(p2),
               det = x * (y * z - m[5] * m[5]) - m[3] * (m[3] * z - m[4] * m[5]) + m[4] * (m[3] * m[5] - y * m[4]);
        double q = det / (2 * p * p2);
        q = q > 1 ? 1 : q < -1 ? -1 : q;
        value[0] = mean - 2 * p * third(sqrt((1 - q) / 2));
        value[2] = mean + 2 * p * third(sqrt((1 + q) / 2));
        double a = m[0] - value[0], b = m[1] - value[0], c = m[2] - value[0];
        const double all[3][3] = {{m[3] * m[5] - m[4] * b, m[4] * m[3] - a * m[5], a * b - m[3] * m[3]},
                                  {b * c - m[5] * m[5], m[5] * m[4] - m[3] * c, m[3] * m[5] - b * m[4]},
                                  {m[5] * m[4] - c * m[3], c * a - m[4] * m[4], m[4] * m[3] - m[5] * a}};
        for (int k = 0; k < 3; ++k) {
            length2 = all[k][0] * all[k][0] + all[k][1] * all[k][1] + all[k][2] * all[k][2];
            if (length2 <= most) continue;
            most = length2;
            memcpy(n, all[k], sizeof n);
        }
    }
    if (!(most > CLEAR * p2 * p2)) {
        geom_eigen3(m, value, u);
        memcpy(direction, u[0], sizeof u[0]);
        return;
    }
    for (int k = 0; k < 3; ++k) direction[k] = n[k] / sqrt(most);
    const double *d = direction; /* its value again, as exact as the square of how exact it is itself */
    value[0] = m[0] * d[0] * d[0] + m[1] * d[1] * d[1] + m[2] * d[2] * d[2] +
               2 * (m[3] * d[0] * d[1] + m[4] * d[0] * d[2] + m[5] * d[1] * d[2]);
    value[1] = 3 * mean - value[0] - value[2];
    value[1] = value[1] < value[0] ? value[0] : value[1] > value[2] ? value[2] : value[1];
}

void geom_least_direction(const double m[6], double values[3], double direction[3]) {
    geom_least3((const double[6]){m[0], m[3], m[5], m[1], m[2], m[4]}, values, direction);
}

/* A = L L^T, and A^-1 = L^-T L^-1; false: a pivot vanishes, or A is ill-conditioned, by the trace of A, which is no
 * less than its largest eigenvalue, and that of A^-1, which is no less than one over its least. */
static inline bool invert_clear(int32_t n, const double *matrix, double *out) {
    static const double CLEAR = 1e6; /* rounding times that is far below what a step of an iteration leaves */
    double l[GEOM_EIGEN_MOST * GEOM_EIGEN_MOST] = {0}, on = 0, over = 0;
    for (int32_t j = 0; j < n; ++j) {
        on += matrix[j * n + j];
        for (int32_t i = j; i < n; ++i) {
            double sum = matrix[i * n + j];
            for (int32_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
            if (i == j && !(sum > 0)) return false;
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    }
    for (int32_t j = 0; j < n; ++j) { /* L^-1 in its place */
        l[j * n + j] = 1 / l[j * n + j];
        for (int32_t i = j + 1; i < n; ++i) {
            double sum = 0;
            for (int32_t k = j; k < i; ++k) sum -= l[i * n + k] * l[k * n + j];
            l[i * n + j] = sum / l[i * n + i];
        }
    }
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = i; j < n; ++j) {
            double sum = 0;
            for (int32_t k = j; k < n; ++k) sum += l[k * n + i] * l[k * n + j];
            out[i * n + j] = out[j * n + i] = sum;
            over += i == j ? sum : 0;
        }
    return on * over < CLEAR && isfinite(on * over);
}

bool geom_invert_symmetric(int32_t n, const double *matrix, double *out) {
    if (n == 6 ? invert_clear(6, matrix, out) : invert_clear(n, matrix, out)) return true;
    double value[GEOM_EIGEN_MOST] = {0}, vector[GEOM_EIGEN_MOST * GEOM_EIGEN_MOST];
    geom_eigen(n, matrix, value, vector);
    if (!(value[0] > 1e-13 * value[n - 1]) || !isfinite(1 / value[0])) return false;
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < n; ++j) {
            out[i * n + j] = 0;
            for (int32_t k = 0; k < n; ++k) out[i * n + j] += vector[i * n + k] * vector[j * n + k] / value[k];
        }
    return true;
}
