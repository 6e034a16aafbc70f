/* Planes that hold a large part of a cloud: walls and floors. What is in none of them distinguishes one room from
 * another. Found from the planes of single samples: each collects the samples in it, and is fitted to these twice. */
#include "apps/register/fitness.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "geom/eigen.h"

#include <math.h>

static const double WALL = 0.06;      /* of the planes: that many in one plane are a wall */
static const double LEANS = 0.9;      /* least cosine of its normal and theirs */
static const double WALL_REACH = 0.5; /* spacings about it that belong to it, */
static const double NOISES = 2.5;     /* besides so many thicknesses */
enum { MOST_WALLS = 8, TRIES = 32, FEWEST = 3 };

typedef struct wall_plane {
    double at[3], normal[3];
} wall_plane;

/* The samples that are planes and in no wall yet, and the planes of some of them as tries. */
typedef struct walls {
    wall_plane *plane;
    size_t count;
    double within;
    struct {
        wall_plane found;
        size_t planes; /* in it */
    } attempt[TRIES + 1];
    size_t tried[TRIES + 1]; /* which planes */
    size_t tries;
} walls;

static double height_over(const wall_plane *w, const double p[3]) {
    return (p[0] - w->at[0]) * w->normal[0] + (p[1] - w->at[1]) * w->normal[1] + (p[2] - w->at[2]) * w->normal[2];
}

/* The plane through the mean of those that are in it, and their number; fewer than FEWEST tell none. Sums are about its
 * first place. */
static size_t fit_wall(const walls *t, const wall_plane *from, wall_plane *out) {
    double sum[3] = {0}, c[6] = {0}, value[3], vector[3][3], count = 0;
    for (size_t k = 0; k < t->count; ++k) {
        const double *at = t->plane[k].at, *n = t->plane[k].normal, *m = from->normal;
        double d[3] = {at[0] - from->at[0], at[1] - from->at[1], at[2] - from->at[2]};
        double height = d[0] * m[0] + d[1] * m[1] + d[2] * m[2];
        if (fabs(height) >= t->within || fabs(n[0] * m[0] + n[1] * m[1] + n[2] * m[2]) <= LEANS) continue;
        ++count;
        for (int a = 0; a < 3; ++a) sum[a] += d[a];
        c[0] += d[0] * d[0], c[1] += d[1] * d[1], c[2] += d[2] * d[2];
        c[3] += d[0] * d[1], c[4] += d[0] * d[2], c[5] += d[1] * d[2];
    }
    if (count < FEWEST) return (size_t)count;
    for (int a = 0; a < 3; ++a) c[a] -= sum[a] * sum[a] / count;
    c[3] -= sum[0] * sum[1] / count, c[4] -= sum[0] * sum[2] / count, c[5] -= sum[1] * sum[2] / count;
    geom_eigen3(c, value, vector);
    for (int a = 0; a < 3; ++a) {
        out->at[a] = from->at[a] + sum[a] / count;
        out->normal[a] = vector[0][a];
    }
    return (size_t)count;
}

static void try_some(void *user, int64_t from, int64_t to) {
    walls *t = user;
    for (int64_t k = from; k < to; ++k) {
        wall_plane first = {0};
        t->attempt[k].planes = 0;
        if (fit_wall(t, &t->plane[t->tried[k]], &first) < FEWEST) continue;
        t->attempt[k].planes = fit_wall(t, &first, &t->attempt[k].found);
    }
}

/* Those of the samples that are in no wall; the tries are spread evenly over all samples. */
static void gather(const fitness_side *s, walls *t) {
    size_t every = s->samples / TRIES + 1;
    t->count = t->tries = 0;
    for (size_t i = 0; i < s->samples; ++i) {
        const fitness_plane *plane = &s->plane[s->sample[i]];
        if (!plane->flat || s->wall[i]) continue;
        if (i % every == 0) t->tried[t->tries++] = t->count;
        for (int a = 0; a < 3; ++a) {
            t->plane[t->count].at[a] = (double)plane->at[a];
            t->plane[t->count].normal[a] = (double)plane->normal[a];
        }
        ++t->count;
    }
}

atn_status fitness_find_walls(fitness_side *s, const atn_ctx *ctx) {
    walls t = {.within = NOISES * s->noise + WALL_REACH * s->spacing};
    double flat = s->flat * (double)s->samples;
    t.plane = atn_alloc(ctx, s->samples * sizeof *t.plane);
    if (!t.plane) return ATN_ERR_MEMORY;
    for (int w = 0; w < MOST_WALLS; ++w) {
        size_t most = 0, best = 0;
        gather(s, &t);
        atn_parallel((int64_t)t.tries, 2, try_some, &t);
        for (size_t k = 0; k < t.tries; ++k)
            if (t.attempt[k].planes > most) most = t.attempt[k].planes, best = k;
        if ((double)most < WALL * flat || most < FEWEST) break;
        for (size_t k = 0; k < s->samples; ++k) {
            const fitness_plane *plane = &s->plane[s->sample[k]];
            double at[3] = {(double)plane->at[0], (double)plane->at[1], (double)plane->at[2]};
            if (fabs(height_over(&t.attempt[best].found, at)) < t.within) s->wall[k] = true;
        }
    }
    atn_free(ctx, t.plane);
    return ATN_OK;
}
