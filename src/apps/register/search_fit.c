/* The rotation that fits weighted pairs best (Horn), and the scale from the spreads of both sets. */
#include "apps/register/search_parts.h"

#include "geom/fit.h"

#include <math.h>

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
    double s[9], x[3], y[3], yy = m->yy, xx = m->xx;
    for (int a = 0; a < 3; ++a) {
        x[a] = m->x[a] / m->weight;
        y[a] = m->y[a] / m->weight;
        yy -= m->weight * y[a] * y[a];
        xx -= m->weight * x[a] * x[a];
    }
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) s[3 * a + b] = m->xy[3 * a + b] - m->weight * x[a] * y[b];
    if (!(yy > 0) || !(xx > 0)) return false;
    geom_turn(s, pose->turn);
    const double *turn = pose->turn;
    if (scaled) pose->scale = sqrt(xx / yy); /* from both spreads: noise does not shrink it */
    for (int a = 0; a < 3; ++a)
        pose->shift[a] = x[a] - pose->scale * (turn[3 * a] * y[0] + turn[3 * a + 1] * y[1] + turn[3 * a + 2] * y[2]);
    return true;
}

void search_sort(search_pose *pose, size_t count) {
    for (size_t i = 1; i < count; ++i) {
        search_pose moving = pose[i];
        size_t k = i;
        for (; k > 0 && pose[k - 1].score < moving.score; --k) pose[k] = pose[k - 1];
        pose[k] = moving;
    }
}
