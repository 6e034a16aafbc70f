/* A downsampled cloud: one point per occupied voxel, at the mean of some of its points. Cubes are found in a table,
 * stretch by stretch of the cloud by all cores, and put together in the order of the stretches. */
#include "apps/register/search_parts.h"

#include "base/attempt.h"
#include "base/extreme.h"
#include "base/lanes.h"
#include "base/memory.h"
#include "base/random.h"
#include "geom/nth.h"

#include <math.h>
#include <string.h>

enum { SAMPLED_FOR_EDGE = 12000, SAMPLED = 120000, STRETCH = 1024 };

/* ---- cubes ---- */

typedef struct cube {
    int64_t at[3];  /* its corner is at these multiples of the edge */
    double from[3]; /* sum of its points' coordinates from there */
    uint32_t points;
} cube;

/* Cubes in the order in which they were met; those of a hash are looked for from their slot on. */
typedef struct table {
    const atn_ctx *ctx;
    cube *cube; /* owned */
    size_t count, capacity;
    uint32_t *slot; /* owned; number of a cube and 1, or 0 */
    size_t slots;   /* a power of 2, at least twice the cubes */
} table;

static void table_free(table *t) {
    atn_free(t->ctx, t->cube);
    atn_free(t->ctx, t->slot);
    *t = (table){0};
}

static size_t slot_of(const table *t, const int64_t at[3]) {
    uint64_t hash = (uint64_t)at[0] * 0x9e3779b97f4a7c15u ^ (uint64_t)at[1] * 0xc2b2ae3d27d4eb4fu ^
                    (uint64_t)at[2] * 0x165667b19e3779f9u;
    size_t k = (size_t)(hash >> 20) & (t->slots - 1);
    while (t->slot[k] && memcmp(t->cube[t->slot[k] - 1].at, at, sizeof t->cube->at) != 0) k = (k + 1) & (t->slots - 1);
    return k;
}

static atn_status widen(table *t) {
    enum { FIRST = 2048 };
    size_t slots = t->slots ? 2 * t->slots : FIRST;
    uint32_t *wider = atn_zalloc(t->ctx, slots * sizeof *wider);
    if (!wider) return ATN_ERR_MEMORY;
    atn_free(t->ctx, t->slot);
    t->slot = wider;
    t->slots = slots;
    for (size_t k = 0; k < t->count; ++k) t->slot[slot_of(t, t->cube[k].at)] = (uint32_t)k + 1;
    return ATN_OK;
}

/* The cube, which is made where there is none yet; NULL: no memory. */
static cube *find_cube(table *t, const int64_t at[3]) {
    if (2 * t->count >= t->slots && widen(t) != ATN_OK) return NULL;
    size_t k = slot_of(t, at);
    if (t->slot[k]) return &t->cube[t->slot[k] - 1];
    void *cubes = t->cube;
    atn_status status = atn_grow(t->ctx, &cubes, &t->capacity, t->count, sizeof *t->cube);
    t->cube = cubes;
    if (status != ATN_OK) return NULL;
    cube *made = &t->cube[t->count++];
    *made = (cube){.at = {at[0], at[1], at[2]}};
    t->slot[k] = (uint32_t)t->count;
    return made;
}

/* The largest whole number below; numbers that have no fraction, or are no numbers, stay in bounds. floor is a call on
 * some processors. */
static int64_t floor_of(double value) {
    static const double MOST = 4e18;
    if (!(value > -MOST && value < MOST)) return value > 0 ? (int64_t)MOST : -(int64_t)MOST;
    int64_t whole = (int64_t)value;
    return whole - ((double)whole > value);
}

/* per: 1 / edge. */
static atn_status add_point(table *t, double edge, double per, const double p[3], cube **last) {
    int64_t at[3];
    for (int a = 0; a < 3; ++a) at[a] = floor_of(p[a] * per);
    if (!*last || memcmp((*last)->at, at, sizeof at) != 0) *last = find_cube(t, at); /* often the one before */
    if (!*last) return ATN_ERR_MEMORY;
    ++(*last)->points;
    for (int a = 0; a < 3; ++a) (*last)->from[a] += p[a] - (double)at[a] * edge;
    return ATN_OK;
}

/* Cubes with far fewer points than those which half of all points are in are not of the thing: points that belong to
 * nothing are alone in theirs, and there are many. The points that a cube must have; `points` are those of each. */
static atn_status least_points(const atn_ctx *ctx, const uint32_t *points, size_t count, double *out) {
    size_t most = 0, all = 0, seen = 0, n = 0;
    for (size_t k = 0; k < count; ++k) {
        most = points[k] > most ? points[k] : most;
        all += points[k];
    }
    size_t *cubes = atn_zalloc(ctx, (most + 1) * sizeof *cubes); /* that have so many points */
    *out = 0;
    if (!cubes) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < count; ++k) ++cubes[points[k]];
    while (n < most && 2 * seen < all) {
        ++n;
        seen += n * cubes[n];
    }
    *out = GEOM_SPARSE * (double)n;
    atn_free(ctx, cubes);
    return ATN_OK;
}

/* ---- some points ---- */

/* Of `count` points about `most`: one by chance out of each run of the array. */
typedef struct sampling {
    size_t count, most;
} sampling;

static sampling sampling_of(const cloud_points *points, size_t most) {
    return (sampling){points->count, points->count < most ? points->count : most};
}

/* The points that stand for runs first ... last - 1, which are of one stretch. */
static void sample(const sampling *s, size_t first, size_t last, uint32_t *out) {
    atn_random random;
    atn_random_seed(&random, 1 + first / STRETCH);
    size_t whole = s->count / s->most, rest = s->count % s->most, low = whole * first + rest * first / s->most;
    for (size_t k = first; k < last; ++k) {
        size_t high = whole * (k + 1) + (rest ? rest * (k + 1) / s->most : 0);
        out[k - first] = (uint32_t)(low + (high - low > 1 ? (size_t)atn_random_below(&random, high - low) : 0));
        low = high;
    }
}

/* ---- the edge ---- */

static size_t stretches_of(const sampling *s) { return (s->most + STRETCH - 1) / STRETCH; }

static size_t stretch_end(const sampling *s, size_t stretch) {
    return (stretch + 1) * STRETCH < s->most ? (stretch + 1) * STRETCH : s->most;
}

typedef struct some_points {
    double *at[3];
    size_t count;
} some_points;

static void take_some(const cloud_points *points, const sampling *s, some_points *out) {
    for (size_t stretch = 0; stretch < stretches_of(s); ++stretch) {
        uint32_t from[STRETCH];
        size_t first = stretch * STRETCH, last = stretch_end(s, stretch);
        sample(s, first, last, from);
        for (int a = 0; a < 3; ++a)
            for (size_t k = first; k < last; ++k) out->at[a][k] = points->position[a][from[k - first]];
    }
}

static double extent_of(const some_points *p, double low[3]) {
    double extent = 0;
    for (int a = 0; a < 3; ++a) {
        double least, high;
        atn_extremes(p->at[a], p->count, &least, &high);
        low[a] = least;
        extent = fmax(extent, high - least);
    }
    return extent;
}

/* Cubes by a number of 21 bits an axis, from the lowest one: edges are a millionth of the extent or more. */
enum { AXIS_BITS = 21 };
typedef struct counting {
    uint64_t *key;    /* of the cubes, in the order in which they were met; owned, */
    uint32_t *points; /* and so is what they hold, */
    uint32_t *slot;   /* and this: number of a cube and 1, or 0 */
    size_t count, slots;
} counting;

static void counting_free(counting *t, const atn_ctx *ctx) {
    atn_free(ctx, t->key);
    atn_free(ctx, t->points);
    atn_free(ctx, t->slot);
}

static atn_status counting_make(const atn_ctx *ctx, size_t points, counting *out) {
    *out = (counting){.slots = 1024};
    while (out->slots < 2 * points) out->slots *= 2;
    out->key = atn_alloc(ctx, (points + 1) * sizeof *out->key);
    out->points = atn_alloc(ctx, (points + 1) * sizeof *out->points);
    out->slot = atn_alloc(ctx, out->slots * sizeof *out->slot);
    return out->key && out->points && out->slot ? ATN_OK : ATN_ERR_MEMORY;
}

static size_t number_of(counting *t, uint64_t key) {
    size_t k = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (t->slots - 1);
    while (t->slot[k] && t->key[t->slot[k] - 1] != key) k = (k + 1) & (t->slots - 1);
    if (t->slot[k]) return t->slot[k] - 1;
    t->key[t->count] = key;
    t->points[t->count++] = 0;
    t->slot[k] = (uint32_t)t->count;
    return t->count - 1;
}

/* The cubes of some points on one axis, from the lowest one on. */
ATN_IN_LANES static void count_steps(const double *p, size_t count, double per, double first, int32_t *out) {
    ATN_LANES()
    for (size_t k = 0; k < count; ++k) out[k] = (int32_t)(p[k] * per - first); /* not below 0 */
}

/* Cubes that are not sparse. */
static atn_status count_cubes(const atn_ctx *ctx, counting *t, const some_points *p, const double low[3], double edge,
                              double *out) {
    double least = 0, per = 1 / edge, first[3];
    uint64_t last = UINT64_MAX;
    size_t n = 0;
    t->count = 0;
    memset(t->slot, 0, t->slots * sizeof *t->slot);
    for (int a = 0; a < 3; ++a) first[a] = (double)floor_of(low[a] * per);
    for (size_t from = 0; from < p->count; from += STRETCH) {
        int32_t step[3][STRETCH];
        size_t count = from + STRETCH < p->count ? STRETCH : p->count - from;
        for (int a = 0; a < 3; ++a) count_steps(p->at[a] + from, count, per, first[a], step[a]);
        for (size_t k = 0; k < count; ++k) {
            uint64_t key =
                (uint64_t)step[0][k] << 2 * AXIS_BITS | (uint64_t)step[1][k] << AXIS_BITS | (uint64_t)step[2][k];
            if (key != last) n = number_of(t, key); /* often the one before */
            last = key;
            ++t->points[n];
        }
    }
    atn_status status = least_points(ctx, t->points, t->count, &least);
    *out = 0;
    for (size_t k = 0; k < t->count; ++k) *out += t->points[k] >= least;
    return status;
}

/* A surface has as many cubes as the square of 1 / edge. */
static atn_status find_edge(const atn_ctx *ctx, const some_points *p, size_t most, double *out) {
    size_t points = p->count;
    double lowest[3], extent = extent_of(p, lowest), count;
    counting t;
    if (!(extent > 0) || !isfinite(extent)) return ATN_OK;
    double wanted = fmin((double)most, 0.6 * (double)points), edge = extent / sqrt(wanted);
    double low = extent * 1e-6, high = 2 * extent; /* cubes of side low are too many, those of side high too few */
    atn_status status = counting_make(ctx, points, &t);
    for (int round = 0; round < 12 && status == ATN_OK; ++round) {
        status = count_cubes(ctx, &t, p, lowest, edge, &count);
        if (status != ATN_OK || fabs(count / wanted - 1) < 0.08) break;
        if (count > wanted)
            low = edge;
        else
            high = edge;
        edge *= sqrt(count / wanted);
        if (edge <= low || edge >= high) edge = sqrt(low * high);
    }
    counting_free(&t, ctx);
    *out = edge;
    return status;
}

atn_status search_edge(const cloud_points *points, size_t most, double *out) {
    sampling s = sampling_of(points, SAMPLED_FOR_EDGE);
    double *room = atn_alloc(points->ctx, 3 * s.most * sizeof *room);
    *out = 0;
    if (!room) return ATN_ERR_MEMORY;
    some_points some = {{room, room + s.most, room + 2 * s.most}, s.most};
    take_some(points, &s, &some);
    atn_status status = find_edge(points->ctx, &some, most, out);
    atn_free(points->ctx, room);
    return status;
}

/* ---- one point for each cube ---- */

typedef struct thinning {
    const cloud_points *points;
    sampling sampling;
    double edge;
    size_t stretches;
    table *of; /* of each of these */
} thinning;

static atn_status thin_stretch(const thinning *t, size_t stretch) {
    uint32_t point[STRETCH];
    size_t first = stretch * STRETCH, last = stretch_end(&t->sampling, stretch);
    table *of = &t->of[stretch];
    cube *now = NULL;
    atn_status status = ATN_OK;
    *of = (table){.ctx = t->points->ctx};
    sample(&t->sampling, first, last, point);
    for (size_t k = 0; k < last - first && status == ATN_OK; ++k) {
        double p[3];
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): all are there */
        for (int a = 0; a < 3; ++a) p[a] = t->points->position[a][point[k]];
        status = add_point(of, t->edge, 1 / t->edge, p, &now);
    }
    return status;
}

/* Cubes that lie in several stretches become one. */
static atn_status join(const table *from, table *to) {
    for (size_t k = 0; k < from->count; ++k) {
        cube *all = find_cube(to, from->cube[k].at);
        if (!all) return ATN_ERR_MEMORY;
        all->points += from->cube[k].points;
        for (int a = 0; a < 3; ++a) all->from[a] += from->cube[k].from[a];
    }
    return ATN_OK;
}

/* The means of cubes that are not sparse, in Morton order. */
static atn_status keep(const table *t, double edge, cloud_points *out) {
    cloud_points means = {0};
    double least = 0;
    size_t kept = 0;
    uint32_t *order = NULL, *points = atn_alloc(t->ctx, (t->count + 1) * sizeof *points);
    for (size_t k = 0; k < t->count && points; ++k) points[k] = t->cube[k].points;
    atn_status status = points ? least_points(t->ctx, points, t->count, &least) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = cloud_points_make(t->ctx, t->count, false, &means);
    for (size_t k = 0; k < t->count && status == ATN_OK; ++k) {
        const cube *c = &t->cube[k];
        if (c->points < least) continue;
        for (int a = 0; a < 3; ++a) means.position[a][kept] = (double)c->at[a] * edge + c->from[a] / (double)c->points;
        means.weight[kept++] = (float)c->points;
    }
    means.count = status == ATN_OK ? kept : 0;
    if (status == ATN_OK && !(order = atn_alloc(t->ctx, kept * sizeof *order))) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) status = cloud_points_order(&means, order);
    if (status == ATN_OK) status = cloud_points_permute(&means, order, out);
    atn_free(t->ctx, points);
    atn_free(t->ctx, order);
    cloud_points_free(&means);
    return status;
}

static atn_status begin(const cloud_points *points, double edge, thinning *t) {
    *t = (thinning){.points = points, .sampling = sampling_of(points, SAMPLED), .edge = edge};
    t->stretches = stretches_of(&t->sampling);
    t->of = atn_zalloc(points->ctx, t->stretches * sizeof *t->of);
    return t->of ? ATN_OK : ATN_ERR_MEMORY;
}

static atn_status put_together(const thinning *t, cloud_points *out) {
    table all = {.ctx = t->points->ctx};
    atn_status status = ATN_OK;
    for (size_t k = 0; k < t->stretches && status == ATN_OK; ++k) status = join(&t->of[k], &all);
    if (status == ATN_OK) status = keep(&all, t->edge, out);
    table_free(&all);
    return status;
}

static void finish(const thinning *t) {
    if (!t->points) return;
    for (size_t k = 0; k < t->stretches && t->of; ++k) table_free(&t->of[k]);
    atn_free(t->points->ctx, t->of);
}

/* One cloud, or two at the same time: stretches of the one, then those of the other. */
typedef struct thinnings {
    thinning of[2];
    cloud_points *out;
} thinnings;

/* Parts are one stretch, */
static atn_status thin_each(void *user, int64_t k, int64_t end) {
    const thinnings *t = user;
    int64_t first = (int64_t)t->of[0].stretches;
    (void)end;
    return thin_stretch(&t->of[k >= first], (size_t)(k < first ? k : k - first));
}

/* or one cloud. */
static atn_status end_each(void *user, int64_t k, int64_t end) {
    const thinnings *t = user;
    (void)end;
    return put_together(&t->of[k], &t->out[k]);
}

atn_status search_thin(const cloud_points *const *points, const double *edge, int count, cloud_points *out) {
    thinnings t = {.out = out};
    atn_status status = ATN_OK;
    for (int k = 0; k < count; ++k) out[k] = (cloud_points){0};
    for (int k = 0; k < count && status == ATN_OK; ++k) status = begin(points[k], edge[k], &t.of[k]);
    const atn_ctx *ctx = points[0]->ctx;
    if (status == ATN_OK) {
        int64_t stretches = (int64_t)(t.of[0].stretches + t.of[1].stretches);
        status = atn_attempt(ctx, stretches, 0, thin_each, &t);
    }
    if (status == ATN_OK) status = atn_attempt(ctx, count, 0, end_each, &t);
    for (int k = 0; k < 2; ++k) finish(&t.of[k]);
    for (int k = 0; k < count && status != ATN_OK; ++k) cloud_points_free(&out[k]);
    return status;
}
