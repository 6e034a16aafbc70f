/* Planes that hold a large part of a cloud: walls and floors. What is in none of them is what tells one room from
 * another. Found from the planes of single samples: each collects the samples in it, and is fitted to these twice. */
#include "apps/register/fitness.h"

#include "base/eigen.h"

#include <math.h>

static const double WALL = 0.06;      /* of the planes: that many in one plane are a wall */
static const double LEANS = 0.9;      /* least cosine of its normal and theirs */
static const double WALL_REACH = 0.5; /* spacings about it that belong to it, */
static const double NOISES = 2.5;     /* besides so many thicknesses */
enum { MOST_WALLS = 8, TRIES = 32, FEWEST = 3 };

typedef struct wall_plane {
    double at[3], normal[3];
} wall_plane;

static double height_over(const wall_plane *w, const double p[3]) {
    return (p[0] - w->at[0]) * w->normal[0] + (p[1] - w->at[1]) * w->normal[1] + (p[2] - w->at[2]) * w->normal[2];
}

static bool in_wall(const wall_plane *w, const fitness_plane *plane, double within) {
    double cosine = 0, at[3];
    for (int a = 0; a < 3; ++a) {
        at[a] = (double)plane->at[a];
        cosine += w->normal[a] * (double)plane->normal[a];
    }
    return fabs(cosine) > LEANS && fabs(height_over(w, at)) < within;
}

/* The plane through the mean of the samples that are in it, and their number; fewer than FEWEST tell none. */
static size_t fit_wall(const fitness_side *s, const wall_plane *from, double within, wall_plane *out) {
    double mean[3] = {0}, c[6] = {0}, value[3], vector[3][3];
    size_t n = 0;
    for (int round = 0; round < 2; ++round)
        for (size_t k = 0; k < s->samples; ++k) {
            const fitness_plane *plane = &s->plane[s->sample[k]];
            double d[3];
            if (!plane->flat || s->wall[k] || !in_wall(from, plane, within)) continue;
            if (round == 0) {
                ++n;
                for (int a = 0; a < 3; ++a) mean[a] += (double)plane->at[a];
                continue;
            }
            for (int a = 0; a < 3; ++a) d[a] = (double)plane->at[a] - mean[a] / (double)n;
            const double all[6] = {d[0] * d[0], d[1] * d[1], d[2] * d[2], d[0] * d[1], d[0] * d[2], d[1] * d[2]};
            for (int e = 0; e < 6; ++e) c[e] += all[e];
        }
    if (n < FEWEST) return n;
    atn_eigen_symmetric3(c, value, vector);
    for (int a = 0; a < 3; ++a) {
        out->at[a] = mean[a] / (double)n;
        out->normal[a] = vector[0][a];
    }
    return n;
}

void fitness_find_walls(fitness_side *s) {
    double within = NOISES * s->noise + WALL_REACH * s->spacing, flat = s->flat * (double)s->samples;
    for (int w = 0; w < MOST_WALLS; ++w) {
        wall_plane best = {{0}, {0}}, other;
        size_t most = 0;
        for (size_t i = 0; i < s->samples; i += s->samples / TRIES + 1) {
            const fitness_plane *plane = &s->plane[s->sample[i]];
            wall_plane own;
            if (!plane->flat || s->wall[i]) continue;
            for (int a = 0; a < 3; ++a) {
                own.at[a] = (double)plane->at[a];
                own.normal[a] = (double)plane->normal[a];
            }
            if (fit_wall(s, &own, within, &other) < FEWEST) continue;
            size_t n = fit_wall(s, &other, within, &own);
            if (n > most) most = n, best = own;
        }
        if ((double)most < WALL * flat || most < FEWEST) return;
        for (size_t k = 0; k < s->samples; ++k) {
            const fitness_plane *plane = &s->plane[s->sample[k]];
            double at[3] = {(double)plane->at[0], (double)plane->at[1], (double)plane->at[2]};
            if (fabs(height_over(&best, at)) < within) s->wall[k] = true;
        }
    }
}
