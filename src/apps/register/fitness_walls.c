/* Planes that hold a large part of a cloud: walls and floors. What is in none of them distinguishes one room from
 * another. Found from the planes of single samples: each collects the samples in it, and is fitted to these twice. */
#include "apps/register/fitness.h"
#include "apps/register/fitness_normals.h"

#include "base/lanes.h"
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
    float *at[3], *normal[3]; /* of each */
    size_t count;
    uint32_t sample[FITNESS_SAMPLES]; /* that each of them is */
    float *place[3];                  /* of all samples, planes or not */
    double within;
    struct {
        wall_plane found;
        size_t planes; /* in it */
    } attempt[TRIES + 1];
    size_t tried[TRIES + 1]; /* which planes */
    size_t tries;
} walls;

/* Of those that are in a plane: their number, and sums of d = at - place, d d^T (xx yy zz xy xz yz). */
enum { COUNT, SUM, SQUARE = SUM + 3, SUMS = SQUARE + 6 };

ATN_IN_LANES static void add_walls(const walls *t, const wall_plane *from, double out[SUMS]) {
    const float *ax = t->at[0], *ay = t->at[1], *az = t->at[2];
    const float *bx = t->normal[0], *by = t->normal[1], *bz = t->normal[2];
    const float px = (float)from->at[0], py = (float)from->at[1], pz = (float)from->at[2], within = (float)t->within;
    const float mx = (float)from->normal[0], my = (float)from->normal[1], mz = (float)from->normal[2];
    const float leans = (float)LEANS;
    float n = 0, sx = 0, sy = 0, sz = 0, xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
    ATN_LANES(reduction(+ : n, sx, sy, sz, xx, yy, zz, xy, xz, yz))
    for (size_t k = 0; k < t->count; ++k) {
        float x = ax[k] - px, y = ay[k] - py, z = az[k] - pz;
        float height = fabsf(x * mx + y * my + z * mz), cosine = fabsf(bx[k] * mx + by[k] * my + bz[k] * mz);
        float in = height < within ? 1.0F : 0.0F;
        in = cosine > leans ? in : 0;
        float u = in * x, v = in * y, w = in * z;
        n += in, sx += u, sy += v, sz += w;
        xx += u * x, yy += v * y, zz += w * z, xy += u * y, xz += u * z, yz += v * z;
    }
    const float all[SUMS] = {n, sx, sy, sz, xx, yy, zz, xy, xz, yz};
    for (int k = 0; k < SUMS; ++k) out[k] = (double)all[k];
}

/* The plane through the mean of those that are in it, and their number; fewer than FEWEST tell none. Sums are about its
 * first place. */
static size_t fit_wall(const walls *t, const wall_plane *from, wall_plane *out) {
    double all[SUMS], *sum = all + SUM, *c = all + SQUARE, value[3], normal[3];
    add_walls(t, from, all);
    double count = all[COUNT];
    if (count < FEWEST) return (size_t)count;
    for (int a = 0; a < 3; ++a) c[a] -= sum[a] * sum[a] / count;
    c[3] -= sum[0] * sum[1] / count, c[4] -= sum[0] * sum[2] / count, c[5] -= sum[1] * sum[2] / count;
    geom_least3(c, value, normal);
    for (int a = 0; a < 3; ++a) {
        out->at[a] = from->at[a] + sum[a] / count;
        out->normal[a] = normal[a];
    }
    return (size_t)count;
}

static wall_plane plane_of(const walls *t, size_t k) {
    wall_plane plane;
    for (int a = 0; a < 3; ++a) {
        plane.at[a] = (double)t->at[a][k];
        plane.normal[a] = (double)t->normal[a][k];
    }
    return plane;
}

static void try_some(void *user, int64_t from, int64_t to) {
    walls *t = user;
    for (int64_t k = from; k < to; ++k) {
        wall_plane own = plane_of(t, t->tried[k]), first = {0};
        t->attempt[k].planes = 0;
        if (fit_wall(t, &own, &first) < FEWEST) continue;
        t->attempt[k].planes = fit_wall(t, &first, &t->attempt[k].found);
    }
}

/* Those of the samples that are planes. */
static void gather(const fitness_side *s, walls *t) {
    for (size_t i = 0; i < s->samples; ++i) {
        const fitness_plane *plane = &s->plane[s->sample[i]];
        if (!plane->flat) continue;
        t->sample[t->count] = (uint32_t)i;
        for (int a = 0; a < 3; ++a) {
            t->at[a][t->count] = plane->at[a];
            t->normal[a][t->count] = plane->normal[a];
        }
        ++t->count;
    }
}

/* Those that are in no wall stay, in their order; the tries are spread evenly over all samples. */
static void leave_out(const fitness_side *s, walls *t) {
    size_t every = s->samples / TRIES + 1, all = t->count;
    t->count = t->tries = 0;
    for (size_t k = 0; k < all; ++k) {
        uint32_t i = t->sample[k];
        if (s->wall[i]) continue;
        if (i % every == 0) t->tried[t->tries++] = t->count;
        for (int a = 0; a < 3; ++a) {
            t->at[a][t->count] = t->at[a][k];
            t->normal[a][t->count] = t->normal[a][k];
        }
        t->sample[t->count++] = i;
    }
}

/* Samples within a wall's reach belong to it. */
ATN_IN_LANES static void mark(const walls *t, const wall_plane *w, size_t samples, bool *wall) {
    const float *x = t->place[0], *y = t->place[1], *z = t->place[2];
    const double px = w->at[0], py = w->at[1], pz = w->at[2], within = t->within;
    const double nx = w->normal[0], ny = w->normal[1], nz = w->normal[2];
    ATN_LANES()
    for (size_t k = 0; k < samples; ++k) {
        double height = ((double)x[k] - px) * nx + ((double)y[k] - py) * ny + ((double)z[k] - pz) * nz;
        wall[k] = wall[k] | (fabs(height) < within);
    }
}

/* Room for all samples. */
static bool begin(const fitness_side *s, const atn_ctx *ctx, walls *t) {
    float *room = atn_alloc(ctx, 9 * s->samples * sizeof *room);
    if (!room) return false;
    for (size_t a = 0; a < 3; ++a) {
        t->place[a] = room + a * s->samples;
        t->at[a] = room + (3 + a) * s->samples;
        t->normal[a] = room + (6 + a) * s->samples;
        for (size_t k = 0; k < s->samples; ++k) t->place[a][k] = s->plane[s->sample[k]].at[a];
    }
    return true;
}

atn_status fitness_find_walls(fitness_side *s, const atn_ctx *ctx) {
    walls t = {.within = NOISES * s->noise + WALL_REACH * s->spacing};
    double flat = s->flat * (double)s->samples;
    if (!begin(s, ctx, &t)) return ATN_ERR_MEMORY;
    gather(s, &t);
    for (int w = 0; w < MOST_WALLS; ++w) {
        size_t most = 0, best = 0;
        leave_out(s, &t);
        atn_parallel((int64_t)t.tries, 2, try_some, &t);
        for (size_t k = 0; k < t.tries; ++k)
            if (t.attempt[k].planes > most) most = t.attempt[k].planes, best = k;
        if ((double)most < WALL * flat || most < FEWEST) break;
        mark(&t, &t.attempt[best].found, s->samples, s->wall);
    }
    atn_free(ctx, t.place[0]);
    return ATN_OK;
}
