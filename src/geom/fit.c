/* The best map for weighted pairs. Rigid: the quaternion q that maximises tr(R(q)^T S), S = sum l (x - x̄)(y - ȳ)^T, is
 * the eigenvector of Horn's 4 x 4 matrix to its largest eigenvalue (Horn 1987). Similarity: s = tr(R^T S) / sum l |y -
 * ȳ|^2. Affine: A = S (sum l (y - ȳ)(y - ȳ)^T)^-1. */
#include "geom/fit.h"

#include "geom/eigen.h"

#include <math.h>
#include <string.h>

void geom_moments_add(geom_moments *to, const geom_moments *more) {
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
static void centre(const geom_moments *m, double s[9], double yy[9]) {
    static const int PLACE[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    double most = 0, left = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            most = fmax(most, fabs(m->cross[3 * i + j]));
            s[3 * i + j] = m->cross[3 * i + j] - m->x[i] * m->y[j] / m->weight;
            yy[3 * i + j] = m->spread[PLACE[3 * i + j]] - m->y[i] * m->y[j] / m->weight;
            left = fmax(left, fabs(s[3 * i + j]));
        }
    if (left <= 1e-14 * most) memset(s, 0, 9 * sizeof *s); /* all at one place: rounding is no turn */
}

/* Cofactors of row `i` of a symmetric 4 x 4 matrix: where it is singular, what it sends to nothing. */
static void cofactors(const double m[16], int i, double out[4]) {
    int r[3], k = 0;
    for (int row = 0; row < 4; ++row)
        if (row != i) r[k++] = 4 * row;
    for (int j = 0; j < 4; ++j) {
        int a = j == 0, b = j <= 1 ? 2 : 1, c = j <= 2 ? 3 : 2; /* the other columns */
        double det = m[r[0] + a] * (m[r[1] + b] * m[r[2] + c] - m[r[1] + c] * m[r[2] + b]) -
                     m[r[0] + b] * (m[r[1] + a] * m[r[2] + c] - m[r[1] + c] * m[r[2] + a]) +
                     m[r[0] + c] * (m[r[1] + a] * m[r[2] + b] - m[r[1] + b] * m[r[2] + a]);
        out[j] = (i + j) % 2 ? -det : det;
    }
}

/* The eigenvector to the largest eigenvalue of Horn's matrix, from that root of its characteristic polynomial, x^4 - 2
 * |S|^2 x^2 - 8 det(S) x + det(N): Newton's steps from above come down to it. False where another is near: Jacobi's
 * method tells them apart. */
static bool turn_soon(const double s[9], const double n[16], double out[4]) {
    enum { MOST_STEPS = 16 };
    static const double CLEAR = 0.02, LEAST = 1e-60, MOST = 1e60;
    double square = 0, cofactor[4], length2 = 0;
    for (int k = 0; k < 9; ++k) square += s[k] * s[k];
    if (!(square > LEAST && square < MOST)) return false;
    double det =
        s[0] * (s[4] * s[8] - s[5] * s[7]) - s[1] * (s[3] * s[8] - s[5] * s[6]) + s[2] * (s[3] * s[7] - s[4] * s[6]);
    cofactors(n, 0, cofactor);
    double last = n[0] * cofactor[0] + n[1] * cofactor[1] + n[2] * cofactor[2] + n[3] * cofactor[3];
    double most = sqrt(3 * square), x = most, change = x;
    for (int k = 0; k < MOST_STEPS && change > 1e-15 * most; ++k) {
        double x2 = x * x, slope = 4 * (x2 - square) * x - 8 * det;
        if (!(slope > CLEAR * most * square)) return false;
        change = ((x2 - 2 * square) * x2 - 8 * det * x + last) / slope;
        x -= change;
    }
    double m[16];
    for (int k = 0; k < 16; ++k) m[k] = n[k] - (k % 5 ? 0 : x);
    for (int i = 0; i < 4; ++i) {
        cofactors(m, i, cofactor);
        double own2 = cofactor[0] * cofactor[0] + cofactor[1] * cofactor[1] + cofactor[2] * cofactor[2] +
                      cofactor[3] * cofactor[3];
        if (own2 > length2) length2 = own2, memcpy(out, cofactor, sizeof cofactor);
        if (length2 > CLEAR * CLEAR * square * square * square) break;
    }
    double by = 1 / sqrt(length2);
    for (int k = 0; k < 4; ++k) out[k] *= by;
    return length2 > CLEAR * CLEAR * CLEAR * CLEAR * square * square * square;
}

void geom_turn(const double s[9], double turn[9]) {
    double sum = s[0] + s[4] + s[8];
    double n[16] = {sum,         s[7] - s[5],        s[2] - s[6],        s[3] - s[1], /* as for R y -> x */
                    s[7] - s[5], s[0] - s[4] - s[8], s[1] + s[3],        s[2] + s[6],
                    s[2] - s[6], s[1] + s[3],        s[4] - s[0] - s[8], s[5] + s[7],
                    s[3] - s[1], s[2] + s[6],        s[5] + s[7],        s[8] - s[0] - s[4]};
    double value[4], vector[16], found[4];
    if (turn_soon(s, n, found)) {
        geom_quaternion_matrix(found, turn);
        return;
    }
    geom_eigen(4, n, value, vector);
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
    geom_quaternion_matrix((const double[4]){vector[3], vector[7], vector[11], vector[15]}, turn);
}

bool geom_fit(const geom_moments *m, atn_transform_kind kind, geom_pose *out) {
    double s[9], yy[9];
    *out = GEOM_IDENTITY;
    if (!(m->weight > 0) || !isfinite(m->weight)) return false;
    centre(m, s, yy);
    if (kind == ATN_TRANSFORM_AFFINE) {
        double inverse[9];
        if (!geom_invert_symmetric(3, yy, inverse)) return false;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                out->a[3 * i + j] = 0;
                for (int k = 0; k < 3; ++k) out->a[3 * i + j] += s[3 * i + k] * inverse[3 * k + j];
            }
    } else
        geom_turn(s, out->a);
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
