/* The turn that fits weighted pairs best: the eigenvector of Horn's 4 x 4 matrix (Horn 1987), and the least direction
 * of a 3 x 3 covariance; both by Jacobi's rotations. */
#include "apps/register/search_parts.h"

#include <math.h>
#include <string.h>

/* a becomes diagonal, the columns of v its eigenvectors. */
static void jacobi(int n, double a[4][4], double v[4][4]) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) v[i][j] = i == j;
    for (int sweep = 0; sweep < 16; ++sweep) {
        double off = 0, on = 0;
        for (int p = 0; p < n; ++p) {
            on += fabs(a[p][p]);
            for (int q = p + 1; q < n; ++q) off += fabs(a[p][q]);
        }
        if (!(off > 1e-15 * on)) return;
        for (int p = 0; p < n - 1; ++p)
            for (int q = p + 1; q < n; ++q) {
                if (a[p][q] == 0) continue;
                double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; ++k) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < n; ++k) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
                for (int k = 0; k < n; ++k) {
                    double x = v[k][p], y = v[k][q];
                    v[k][p] = c * x - s * y;
                    v[k][q] = s * x + c * y;
                }
            }
    }
}

void search_least_direction(const double m[6], double values[3], double direction[3]) {
    double a[4][4] = {{m[0], m[1], m[2]}, {m[1], m[3], m[4]}, {m[2], m[4], m[5]}}, v[4][4];
    jacobi(3, a, v);
    int low = 0;
    for (int k = 1; k < 3; ++k)
        if (a[k][k] < a[low][low]) low = k;
    int one = (low + 1) % 3, two = (low + 2) % 3;
    values[0] = a[low][low];
    values[1] = fmin(a[one][one], a[two][two]);
    values[2] = fmax(a[one][one], a[two][two]);
    for (int k = 0; k < 3; ++k) direction[k] = v[k][low];
}

double search_pose_angle(const search_pose *a, const search_pose *b) {
    double trace = 0;
    for (int k = 0; k < 9; ++k) trace += a->turn[k] * b->turn[k];
    return acos(fmax(-1, fmin(1, (trace - 1) / 2)));
}

void search_moments_add(search_moments *m, double weight, const double y[3], const double x[3]) {
    ++m->pairs;
    m->weight += weight;
    for (int a = 0; a < 3; ++a) {
        m->y[a] += weight * y[a];
        m->x[a] += weight * x[a];
        m->yy += weight * y[a] * y[a];
        m->xx += weight * x[a] * x[a];
        for (int b = 0; b < 3; ++b) m->xy[3 * a + b] += weight * x[a] * y[b];
    }
}

bool search_moments_fit(const search_moments *m, bool scaled, search_pose *pose) {
    if (m->pairs < 3 || !(m->weight > 0)) return false;
    double s[3][3], x[3], y[3], yy = m->yy, xx = m->xx;
    for (int a = 0; a < 3; ++a) {
        x[a] = m->x[a] / m->weight;
        y[a] = m->y[a] / m->weight;
        yy -= m->weight * y[a] * y[a];
        xx -= m->weight * x[a] * x[a];
    }
    for (int a = 0; a < 3; ++a) /* s[a][b]: y_a with x_b, as Horn has it */
        for (int b = 0; b < 3; ++b) s[a][b] = m->xy[3 * b + a] - m->weight * x[b] * y[a];
    if (!(yy > 0) || !(xx > 0)) return false;
    double n[4][4] = {{s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
                      {0, s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
                      {0, 0, s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
                      {0, 0, 0, s[2][2] - s[0][0] - s[1][1]}};
    double v[4][4];
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j) n[i][j] = n[j][i];
    jacobi(4, n, v);
    int top = 0;
    for (int k = 1; k < 4; ++k)
        if (n[k][k] > n[top][top]) top = k;
    double q = v[0][top], i = v[1][top], j = v[2][top], k = v[3][top];
    double turn[9] = {1 - 2 * (j * j + k * k), 2 * (i * j - q * k),     2 * (i * k + q * j),
                      2 * (i * j + q * k),     1 - 2 * (i * i + k * k), 2 * (j * k - q * i),
                      2 * (i * k - q * j),     2 * (j * k + q * i),     1 - 2 * (i * i + j * j)};
    memcpy(pose->turn, turn, sizeof turn);
    if (scaled) pose->scale = sqrt(xx / yy); /* from both spreads: noise does not shrink it */
    for (int a = 0; a < 3; ++a)
        pose->shift[a] = x[a] - pose->scale * (turn[3 * a] * y[0] + turn[3 * a + 1] * y[1] + turn[3 * a + 2] * y[2]);
    return true;
}
