/* The best map for weighted pairs. Rigid: the quaternion q that maximises tr(R(q)^T S), S = sum l (x - x̄)(y - ȳ)^T, is
 * the eigenvector of Horn's 4 x 4 matrix to its largest eigenvalue (Horn 1987). Similarity: s = tr(R^T S) / sum l |y -
 * ȳ|^2. Affine: A = S (sum l (y - ȳ)(y - ȳ)^T)^-1. */
#include "apps/register/pose.h"

#include <math.h>
#include <string.h>

void reg_eigen(int32_t n, const double *matrix, double *value, double *vector) {
    double a[36];
    memcpy(a, matrix, (size_t)(n * n) * sizeof *a);
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < n; ++j) vector[i * n + j] = i == j;
    for (int sweep = 0; sweep < 50; ++sweep) {
        double off = 0, all = 0;
        for (int32_t i = 0; i < n; ++i)
            for (int32_t j = 0; j < n; ++j) {
                if (i != j) off += a[i * n + j] * a[i * n + j];
                all += a[i * n + j] * a[i * n + j];
            }
        if (!(off > 1e-32 * all)) break;
        for (int32_t p = 0; p < n; ++p)
            for (int32_t q = p + 1; q < n; ++q) {
                double apq = a[p * n + q];
                if (!(fabs(apq) > 0)) continue;
                double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int32_t k = 0; k < n; ++k) {
                    double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for (int32_t k = 0; k < n; ++k) {
                    double x = a[p * n + k], y = a[q * n + k];
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                    double u = vector[k * n + p], v = vector[k * n + q];
                    vector[k * n + p] = c * u - s * v;
                    vector[k * n + q] = s * u + c * v;
                }
            }
    }
    for (int32_t i = 0; i < n; ++i) value[i] = a[i * n + i];
    for (int32_t i = 0; i < n; ++i) /* ascending */
        for (int32_t j = i + 1; j < n; ++j) {
            if (value[j] >= value[i]) continue;
            double kept = value[i];
            value[i] = value[j];
            value[j] = kept;
            for (int32_t k = 0; k < n; ++k) {
                kept = vector[k * n + i];
                vector[k * n + i] = vector[k * n + j];
                vector[k * n + j] = kept;
            }
        }
}

bool reg_invert_symmetric(int32_t n, const double *matrix, double *out) {
    double value[6], vector[36];
    reg_eigen(n, matrix, value, vector);
    if (!(value[0] > 1e-13 * value[n - 1]) || !isfinite(1 / value[0])) return false;
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < n; ++j) {
            out[i * n + j] = 0;
            for (int32_t k = 0; k < n; ++k) out[i * n + j] += vector[i * n + k] * vector[j * n + k] / value[k];
        }
    return true;
}

void reg_moments_add(reg_moments *to, const reg_moments *more) {
    to->weight += more->weight;
    for (int k = 0; k < 3; ++k) {
        to->y[k] += more->y[k];
        to->x[k] += more->x[k];
    }
    for (int k = 0; k < 9; ++k) to->cross[k] += more->cross[k];
    for (int k = 0; k < 6; ++k) to->spread[k] += more->spread[k];
    to->likelihood += more->likelihood;
    to->residual += more->residual;
}

/* S and, where it is wanted, the spread of y, about the means. */
static void centre(const reg_moments *m, double s[9], double yy[9]) {
    static const int PLACE[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            s[3 * i + j] = m->cross[3 * i + j] - m->x[i] * m->y[j] / m->weight;
            yy[3 * i + j] = m->spread[PLACE[3 * i + j]] - m->y[i] * m->y[j] / m->weight;
        }
}

static void turn(const double s[9], double r[9]) {
    double sum = s[0] + s[4] + s[8];
    double n[16] = {sum,         s[7] - s[5],        s[2] - s[6],        s[3] - s[1], /* as for R y -> x */
                    s[7] - s[5], s[0] - s[4] - s[8], s[1] + s[3],        s[2] + s[6],
                    s[2] - s[6], s[1] + s[3],        s[4] - s[0] - s[8], s[5] + s[7],
                    s[3] - s[1], s[2] + s[6],        s[5] + s[7],        s[8] - s[0] - s[4]};
    double value[4], vector[16], w, x, y, z;
    reg_eigen(4, n, value, vector);
    double most = fmax(fabs(value[0]), fabs(value[3]));
    if (value[3] - value[2] <= 1e-12 * most) { /* a turn is left open: the one nearest to none among the best */
        double q[4] = {0, 0, 0, 0};
        for (int k = 3; k >= 0; --k) {
            if (value[3] - value[k] > 1e-12 * most) break;
            for (int i = 0; i < 4; ++i) q[i] += vector[k] * vector[4 * i + k];
        }
        double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (length > 1e-6)
            for (int i = 0; i < 4; ++i) vector[4 * i + 3] = q[i] / length;
    }
    w = vector[3], x = vector[7], y = vector[11], z = vector[15];
    double turned[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                        2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                        2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(r, turned, sizeof turned);
}

bool reg_fit(const reg_moments *m, atn_transform_kind kind, reg_pose *out) {
    double s[9], yy[9];
    *out = REG_IDENTITY;
    if (!(m->weight > 0) || !isfinite(m->weight)) return false;
    centre(m, s, yy);
    if (kind == ATN_TRANSFORM_AFFINE) {
        double inverse[9];
        if (!reg_invert_symmetric(3, yy, inverse)) return false;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                out->a[3 * i + j] = 0;
                for (int k = 0; k < 3; ++k) out->a[3 * i + j] += s[3 * i + k] * inverse[3 * k + j];
            }
    } else
        turn(s, out->a);
    if (kind == ATN_TRANSFORM_SIMILARITY) {
        double along = 0, spread = yy[0] + yy[4] + yy[8];
        for (int i = 0; i < 9; ++i) along += out->a[i] * s[i];
        if (!(along > 0) || !(spread > 0)) return false;
        for (int i = 0; i < 9; ++i) out->a[i] *= along / spread;
    }
    for (int i = 0; i < 3; ++i) {
        out->b[i] = m->x[i] / m->weight;
        for (int j = 0; j < 3; ++j) out->b[i] -= out->a[3 * i + j] * m->y[j] / m->weight;
    }
    for (int i = 0; i < 9; ++i)
        if (!isfinite(out->a[i]) || !isfinite(out->b[i % 3])) return false;
    return true;
}
