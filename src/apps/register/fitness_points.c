/* Samples against nearest points: s = max(0, 1 - d^2 / h^2), h from the larger spacing of both clouds. */
#include "apps/register/fitness_points.h"

#include "base/parallel.h"
#include "geom/eigen.h"

#include <math.h>
#include <string.h>

static const double REACH = 0.75; /* of the sixth neighbour's distance: beyond it a sample does not fit */

static double reach_of(const fitness *f) { return REACH * fmax(f->side[0].sixth, f->side[1].sixth); }

/* The nearest point to a sample of a side in the other's frame; false: none within reach. */
static bool nearest(const fitness *f, int from, const geom_pose *pose, size_t k, double reach, double y[3], double x[3],
                    double *d2) {
    const fitness_side *mine = &f->side[from], *other = &f->side[1 - from];
    double at[3];
    uint32_t index;
    for (int a = 0; a < 3; ++a) at[a] = mine->points.position[a][mine->sample[k]];
    geom_pose_apply(pose, at, y);
    if (!cloud_grid_nearest(other->grid, y, 1, reach, &index, d2)) return false;
    for (int a = 0; a < 3; ++a) x[a] = other->points.position[a][index];
    return true;
}

void fitness_score(const fitness *f, const geom_pose *pose, fitness_scores *out) {
    geom_pose ways[2] = {*pose};
    double h = reach_of(f), y[3], x[3], d2, sum = 0, weight = 0, square = 0;
    out->count = 0;
    out->mean = out->size = out->centre[0] = out->centre[1] = out->centre[2] = 0;
    if (!geom_pose_invert(pose, &ways[1])) return;
    for (int from = 0; from < 2; ++from) {
        double own = from ? h * geom_pose_scale(&ways[1]) : h;
        for (size_t k = 0; k < f->side[from].samples; ++k) {
            double s = nearest(f, from, &ways[from], k, own, y, x, &d2) ? fmax(0, 1 - d2 / (own * own)) : 0;
            out->of[out->count++] = (float)s;
            sum += s;
            for (int a = 0; a < 3 && !from && s > 0; ++a) {
                out->centre[a] += s * y[a];
                square += s * y[a] * y[a];
            }
            weight += from ? 0 : s;
        }
    }
    for (int a = 0; a < 3 && weight > 0; ++a) {
        out->centre[a] /= weight;
        square -= weight * out->centre[a] * out->centre[a];
    }
    out->size = weight > 0 ? sqrt(fmax(0, square / weight)) : 0;
    out->mean = out->count ? sum / (double)out->count : 0;
}

/* One Gauss-Newton step of the source's samples towards their nearest points; false: they do not tell. */
static bool step(const fitness *f, const geom_pose *pose, geom_pose *out) {
    double h = reach_of(f), sums[36] = {0}, g[6] = {0}, inverse[36], twist[6], trace = 0;
    for (size_t k = 0; k < f->side[0].samples; ++k) {
        double y[3], x[3], d2;
        if (!nearest(f, 0, pose, k, 2 * h, y, x, &d2)) continue;
        const double rows[3][6] = {{0, y[2], -y[1], 1, 0, 0}, {-y[2], 0, y[0], 0, 1, 0}, {y[1], -y[0], 0, 0, 0, 1}};
        double w = 1 - d2 / (4 * h * h);
        for (int a = 0; a < 3; ++a)
            for (int i = 0; i < 6; ++i) {
                g[i] += w * rows[a][i] * (x[a] - y[a]);
                for (int j = 0; j < 6; ++j) sums[6 * i + j] += w * rows[a][i] * rows[a][j];
            }
    }
    for (int a = 0; a < 6; ++a) trace += sums[7 * a];
    for (int a = 0; a < 6; ++a) sums[7 * a] += 1e-6 * trace;
    if (!(trace > 0) || !geom_invert_symmetric(6, sums, inverse)) return false;
    for (int a = 0; a < 6; ++a) {
        twist[a] = 0;
        for (int b = 0; b < 6; ++b) twist[a] += inverse[6 * a + b] * g[b];
    }
    geom_pose by = geom_pose_exp(twist);
    *out = geom_pose_compose(&by, pose);
    return true;
}

void fitness_refine_points(const fitness *f, int steps, geom_pose *pose, fitness_scores *out) {
    geom_pose at = *pose, next;
    fitness_scores there;
    fitness_score(f, pose, out);
    for (int k = 0; k < steps && step(f, &at, &next); ++k) {
        fitness_score(f, &next, &there);
        at = next;
        if (!(there.mean > out->mean)) continue;
        *out = there;
        *pose = next;
    }
}

typedef struct refining {
    const fitness *f;
    int steps;
    geom_pose *pose;
    fitness_scores *scores;
} refining;

static void refine_some(void *user, int64_t from, int64_t to) {
    const refining *t = user;
    for (int64_t k = from; k < to; ++k) fitness_refine_points(t->f, t->steps, &t->pose[k], &t->scores[k]);
}

void fitness_refine_points_all(const fitness *f, int steps, size_t count, geom_pose *pose, fitness_scores *out) {
    atn_parallel_pieces((int64_t)count, refine_some, &(refining){f, steps, pose, out});
}

double fitness_ahead(const fitness_scores *a, const fitness_scores *b) {
    double n = (double)a->count, mean = a->mean - b->mean, square = 0;
    if (a->count < 2 || a->count != b->count) return 0;
    for (size_t k = 0; k < a->count; ++k) {
        double d = (double)a->of[k] - (double)b->of[k] - mean;
        square += d * d;
    }
    return mean / sqrt(fmax(square / (n * (n - 1)), 1e-300));
}
