/* A cloud that another one is compared with: samples, and planes fitted around its points. The plane of a point is that
 * of its twelve neighbours, or of more where noise hides it; its thickness is what noise and curvature leave. */
#include "apps/register/fitness.h"
#include "apps/register/fitness_normals.h"
#include "apps/register/gather.h"

#include "apps/register/search_parts.h"
#include "base/attempt.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "geom/eigen.h"
#include "geom/nth.h"

#include <math.h>
#include <string.h>

enum { MOST_POINTS = 30000, FEWEST_POINTS = 300, SAMPLES = FITNESS_SAMPLES, NEIGHBOURS = 13, SIXTH = 6 };
enum { MOST_NEIGHBOURS = 8 * NEIGHBOURS, FEWEST_PLANES = 20 }; /* of a plane; so many times that many points */
static const double FLAT = 0.35;   /* thickness over width below which a neighbourhood is a plane */
static const double MOSTLY = 0.5;  /* share of planes from which on coarser points need not be looked at */
static const double HARDLY = 0.05; /* share of planes below which points fill space */
static const double MUCH = 1.3;    /* times as many planes, for which coarser points are taken */

/* ---- one cloud ---- */

/* From how neighbours are spread about their mean: xx yy zz xy xz yz. */
static void take_spread(const double c[6], fitness_plane *out) {
    double value[3], normal[3];
    geom_least3(c, value, normal);
    for (int a = 0; a < 3; ++a) out->normal[a] = (float)normal[a];
    out->thickness = (float)sqrt(fmax(0, value[0]));
    out->flat = value[1] > 1e-3 * value[2] && value[0] < FLAT * FLAT * value[1];
}

static void find_plane(const fitness_side *s, size_t k, fitness_plane *out) {
    uint32_t index[MOST_NEIGHBOURS];
    double distance2[MOST_NEIGHBOURS], mean[3] = {0}, c[6] = {0};
    double at[3] = {s->points.position[0][k], s->points.position[1][k], s->points.position[2][k]};
    size_t n = cloud_grid_nearest(s->grid, at, s->neighbours, INFINITY, index, distance2), half = s->neighbours / 2;
    *out = (fitness_plane){.reach = n > half ? (float)sqrt(distance2[half]) : 0,
                           .sixth = n > SIXTH ? (float)sqrt(distance2[SIXTH]) : 0};
    for (size_t i = 0; i < n; ++i)
        for (int a = 0; a < 3; ++a) mean[a] += (s->points.position[a][index[i]] - at[a]) / (double)n;
    for (int a = 0; a < 3; ++a) out->at[a] = (float)(at[a] + mean[a]);
    if (n < s->neighbours) return;
    for (size_t i = 0; i < n; ++i) {
        double d[3];
        for (int a = 0; a < 3; ++a) d[a] = s->points.position[a][index[i]] - at[a] - mean[a];
        const double all[6] = {d[0] * d[0], d[1] * d[1], d[2] * d[2], d[0] * d[1], d[0] * d[2], d[1] * d[2]};
        for (int e = 0; e < 6; ++e) c[e] += all[e] / (double)n;
    }
    take_spread(c, out);
}

enum { NONE, BEING_KEPT, KEPT }; /* states of planes */

/* Looked at when first asked for, by whoever asks: of several at once each looks for itself, and one keeps it. */
fitness_plane fitness_plane_of(const fitness_side *s, size_t k) {
    unsigned char state = atomic_load_explicit(&s->state[k], memory_order_acquire);
    fitness_plane plane;
    if (state == KEPT) return s->plane[k];
    find_plane(s, k, &plane);
    if (state == NONE && atomic_compare_exchange_strong(&s->state[k], &state, BEING_KEPT)) {
        s->plane[k] = plane;
        atomic_store_explicit(&s->state[k], KEPT, memory_order_release);
    }
    return plane;
}

/* Of the samples, which are all different points: of one side, or of two, one after the other. */
typedef struct sampled {
    const fitness_side *side[2];
} sampled;

static void find_planes(void *user, int64_t from, int64_t to) {
    const sampled *t = user;
    int64_t first = (int64_t)t->side[0]->samples;
    for (int64_t k = from; k < to; ++k) {
        const fitness_side *s = t->side[k >= first];
        fitness_plane_of(s, s->sample[k < first ? k : k - first]);
    }
}

static double median(double *list, size_t n) { return n ? geom_nth(list, n, n / 2) : 0; }

static void side_free(fitness_side *s, const atn_ctx *ctx) {
    cloud_points_free(&s->points);
    cloud_grid_free(s->grid);
    atn_free(ctx, s->plane);
    atn_free(ctx, s->state);
    atn_free(ctx, s->sample);
    atn_free(ctx, s->wall);
    *s = (fitness_side){0};
}

enum { WORTH_A_THREAD = 32 };

/* What the samples come to. */
static void sum_up(fitness_side *s) {
    double list[SAMPLES];
    fitness_normals flat = {.count = 0};
    for (size_t k = 0; k < s->samples; ++k) list[k] = (double)s->plane[s->sample[k]].reach;
    s->spacing = median(list, s->samples);
    for (size_t k = 0; k < s->samples; ++k) list[k] = (double)s->plane[s->sample[k]].sixth;
    s->sixth = median(list, s->samples);
    for (size_t k = 0; k < s->samples; ++k) {
        const fitness_plane *plane = &s->plane[s->sample[k]];
        if (!plane->flat) continue;
        list[flat.count] = (double)plane->thickness;
        fitness_normals_add(&flat, plane->normal);
    }
    s->flat = s->samples ? (double)flat.count / (double)s->samples : 0;
    s->noise = median(list, flat.count);
    s->planar = fitness_normals_along_three(&flat);
}

static void forget_planes(fitness_side *s, size_t neighbours) {
    s->neighbours = neighbours;
    memset(s->state, 0, s->points.count * sizeof *s->state);
}

/* Planes of so many neighbours. */
static void survey(fitness_side *s, size_t neighbours) {
    forget_planes(s, neighbours);
    atn_parallel((int64_t)s->samples, WORTH_A_THREAD, find_planes, &(sampled){{s}});
    sum_up(s);
}

/* All but planes. Takes the points over; `key`: along the curve that they are in the order of, NULL where they are not.
 */
static atn_status begin(cloud_points *points, const uint64_t *key, fitness_side *s) {
    const atn_ctx *ctx = points->ctx;
    *s = (fitness_side){.points = *points, .samples = points->count < SAMPLES ? points->count : SAMPLES};
    *points = (cloud_points){0};
    s->sample = atn_alloc(ctx, SAMPLES * sizeof *s->sample);
    s->wall = atn_zalloc(ctx, SAMPLES * sizeof *s->wall);
    s->plane = atn_alloc(ctx, (s->points.count + 1) * sizeof *s->plane);
    s->state = atn_alloc(ctx, (s->points.count + 1) * sizeof *s->state);
    atn_status status = s->sample && s->wall && s->plane && s->state ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK)
        status = key ? cloud_grid_make_along(&s->points, key, &s->grid) : cloud_grid_make(&s->points, 0, &s->grid);
    if (status != ATN_OK) return status;
    atn_random random;
    atn_random_seed(&random, 5);
    for (size_t k = 0; k < s->samples; ++k) { /* one by chance out of each run of the array */
        size_t first = s->points.count * k / s->samples, last = s->points.count * (k + 1) / s->samples;
        s->sample[k] = (uint32_t)(first + atn_random_below(&random, last - first));
    }
    return ATN_OK;
}

static atn_status describe(cloud_points *points, fitness_side *s) {
    atn_status status = begin(points, NULL, s);
    if (status == ATN_OK) survey(s, NEIGHBOURS);
    return status;
}

/* Into the frame inside, without points that weigh nothing. `key` likewise: those of `along`. */
static atn_status inside(const cloud_points *p, const double origin[3], double unit, const uint64_t *along,
                         cloud_points *out, uint64_t *key) {
    size_t n = 0;
    atn_status status = cloud_points_make(p->ctx, p->count, false, out);
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < p->count; ++k) {
        if (!(p->weight[k] > 0)) continue;
        for (int a = 0; a < 3; ++a) out->position[a][n] = (p->position[a][k] - origin[a]) / unit;
        if (along) key[n] = along[k];
        out->weight[n++] = 1;
    }
    out->count = n;
    return ATN_OK;
}

/* The same from a level's points, which are in that frame: those of at least some weight. */
static atn_status inside_of(const reg_side *s, const atn_ctx *ctx, double least, cloud_points *out) {
    size_t n = 0;
    atn_status status = cloud_points_make(ctx, s->padded, false, out);
    for (size_t r = 0; r < s->padded && status == ATN_OK; ++r) {
        if (!(s->weight[r] > 0) || (double)s->weight[r] < least) continue;
        for (int a = 0; a < 3; ++a) out->position[a][n] = s->position[a][r];
        out->weight[n++] = 1;
    }
    if (status == ATN_OK) out->count = n;
    return status;
}

bool fitness_takes_all(const reg_problem *p) {
    return p->parts == 1 && p->source_count <= 2 * MOST_POINTS && p->target_count <= 2 * MOST_POINTS;
}

/* The coarsest level with enough points, strays counted or not; none where the cloud has not many, or there is none. */
static atn_status level_of(reg_problem *p, bool target, bool strays, fitness_level *out) {
    size_t all = target ? p->target_count : p->source_count;
    atn_status status = ATN_OK;
    double least = 0;
    *out = (fitness_level){0};
    for (int32_t k = 0; k + 1 < p->levels && p->parts == 1 && all > 2 * MOST_POINTS && status == ATN_OK; ++k) {
        reg_side *side = target ? &p->level[k].target : &p->level[k].source;
        size_t count = side->count;
        if (count < MOST_POINTS / 2) continue;
        status = reg_side_fetch(side);
        if (status == ATN_OK && !strays) status = reg_side_solid(side, p->engine.ctx, &least, &count);
        if (status != ATN_OK || count < MOST_POINTS / 2) continue;
        *out = (fitness_level){side, least};
        break;
    }
    return status;
}

/* One side of both, as far as one core does it at a time. */
typedef struct beginning {
    const reg_problem *p;
    const reg_side *level[2]; /* that points are taken of; NULL: they are not very many */
    cloud_points points[2];
    uint64_t *key[2];   /* of the points along the curve that they are in the order of; NULL: they are in none */
    double edge[2];     /* of the cubes that points are merged in; 0: they are not many */
    fitness_side *side; /* two of them */
} beginning;

/* Points of the source or the target: those of a level where there are very many; else all, which are merged where they
 * are many. */
static atn_status take_points(beginning *t, bool target) {
    const reg_problem *p = t->p;
    const atn_ctx *ctx = p->engine.ctx;
    const cloud_points *all = target ? &p->target : &p->source;
    const uint64_t *key = target ? p->target_curve.key : p->source_curve.key;
    const uint64_t *along = all->count > MOST_POINTS || all->species ? NULL : key; /* kinds are in order one by one */
    cloud_points *out = &t->points[target];
    if (t->level[target]) return inside_of(t->level[target], ctx, 0, out);
    if (along && !(t->key[target] = atn_alloc(ctx, (all->count + 1) * sizeof *along))) return ATN_ERR_MEMORY;
    atn_status status = inside(all, target ? p->target_origin : p->source_origin, p->unit, along, out, t->key[target]);
    if (status != ATN_OK || out->count <= MOST_POINTS) return status;
    return search_edge(out, MOST_POINTS / 3, &t->edge[target]);
}

static atn_status merge_points(beginning *t, int side) {
    cloud_points merged;
    if (!(t->edge[side] > 0)) return ATN_OK;
    atn_status status = cloud_points_merge(&t->points[side], t->edge[side], &merged);
    cloud_points_free(&t->points[side]);
    t->points[side] = merged;
    return status;
}

static atn_status take_if_flatter(const atn_ctx *ctx, cloud_points *some, fitness_side *side) {
    fitness_side other = {0};
    atn_status status = some->count >= FEWEST_POINTS ? describe(some, &other) : ATN_OK;
    if (status == ATN_OK && other.flat > side->flat) {
        fitness_side last = *side;
        *side = other;
        other = last;
    }
    side_free(&other, ctx);
    cloud_points_free(some);
    return status;
}

/* Of very many points those that belong to nothing may be most of a level's, each alone in its cell: without them, of a
 * level that has enough others, if that shows more planes. */
static atn_status without_strays(const atn_ctx *ctx, const fitness_level *firm, fitness_side *side) {
    cloud_points some = {0};
    if (!firm->side) return ATN_OK;
    atn_status status = inside_of(firm->side, ctx, firm->least, &some);
    return status == ATN_OK ? take_if_flatter(ctx, &some, side) : status;
}

/* Without outliers, if that shows more planes. */
static atn_status without_outliers(const atn_ctx *ctx, fitness_side *side) {
    cloud_points some = {0};
    atn_status status = fitness_dense(side, &some);
    if (status == ATN_OK) status = take_if_flatter(ctx, &some, side);
    return status;
}

/* The smallest neighbourhoods that show surfaces; the smallest of all where none do. */
static void widen(fitness_side *s) {
    size_t best = s->neighbours;
    double flat = s->flat;
    for (size_t n = 2 * s->neighbours; flat < MOSTLY && n <= MOST_NEIGHBOURS && n * FEWEST_PLANES < s->points.count;
         n *= 2) {
        survey(s, n);
        if (s->flat > MUCH * flat && s->flat > HARDLY) best = n, flat = s->flat;
    }
    if (s->neighbours != best) survey(s, best);
}

bool fitness_in_noise(const fitness_side *side) { return side->neighbours > NEIGHBOURS; }

double fitness_planes(const fitness *f, size_t samples) {
    return 2.0 * NEIGHBOURS * (double)samples / (double)(f->side[0].neighbours + f->side[1].neighbours);
}

/* Parts are one side. */
static atn_status take_side(void *user, int64_t side, int64_t end) {
    (void)end;
    return take_points(user, side == 1);
}

static atn_status begin_side(void *user, int64_t side, int64_t end) {
    beginning *t = user;
    (void)end;
    return begin(&t->points[side], t->key[side], &t->side[side]);
}

/* Both sides at the same time. */
static atn_status both(beginning *t, atn_attempt_part *part) { return atn_attempt(t->p->engine.ctx, 2, 0, part, t); }

/* Where hardly any planes are seen, by all cores. */
static atn_status look_closer(const atn_ctx *ctx, const fitness_level *firm, fitness_side *s) {
    atn_status status = without_strays(ctx, firm, s);
    if (status == ATN_OK && s->flat < MOSTLY && s->spacing > 0) status = without_outliers(ctx, s);
    if (status == ATN_OK) widen(s);
    return status == ATN_OK ? fitness_find_walls(s, ctx) : status;
}

static void end_side(void *user, int64_t from, int64_t to) {
    fitness *t = user;
    for (int64_t k = from; k < to; ++k) sum_up(&t->side[k]);
}

/* A plane as programs/fitness_planes.atn has it. */
static void take_plane(const fitness_side *s, size_t k, const float *from) {
    float seventh = sqrtf(from[8]);
    fitness_plane *out = &s->plane[k];
    *out = (fitness_plane){.thickness = from[6], .reach = seventh, .sixth = seventh, .flat = from[7] > 0};
    for (int a = 0; a < 3; ++a) {
        out->at[a] = (float)(s->points.position[a][k] + (double)from[a]);
        out->normal[a] = from[3 + a];
    }
    atomic_store_explicit(&s->state[k], KEPT, memory_order_release);
}

/* Planes of all points, in one launch with those of other pairs; the host finds what is not there then. */
static void find_planes_together(fitness *f) {
    const float flat2 = (float)(FLAT * FLAT), item[4] = {1.0F / NEIGHBOURS, flat2, 1.0F / NEIGHBOURS, flat2};
    size_t n[2] = {f->side[0].points.count, f->side[1].points.count};
    int32_t base, place[2][REG_GATHER_PLACE] = {{0}};
    if (!f->client || n[0] < NEIGHBOURS || n[1] < NEIGHBOURS || n[0] > REG_FIT_POINTS || n[1] > REG_FIT_POINTS) return;
    size_t wide = REG_PLANES_POINT * (n[0] > n[1] ? n[0] : n[1]);
    float *room = reg_gather_room(f->client, REG_GATHER_PLANES, 3 * (n[0] + n[1]), &base);
    float *sums = room ? atn_alloc(f->ctx, 2 * wide * sizeof *sums) : NULL;
    for (int side = 0; side < 2 && sums; ++side) {
        place[side][0] = base + (side ? (int32_t)(3 * n[0]) : 0);
        place[side][1] = (int32_t)n[side];
        for (int a = 0; a < 3; ++a)
            for (size_t k = 0; k < n[side]; ++k) *room++ = (float)f->side[side].points.position[a][k];
    }
    bool done = sums && reg_gather_run(f->client, REG_GATHER_PLANES, 2, item, place[0], wide, sums);
    for (int side = 0; side < 2 && done; ++side)
        for (size_t k = 0; k < n[side]; ++k)
            take_plane(&f->side[side], k, sums + (size_t)side * wide + k * REG_PLANES_POINT);
    atn_free(f->ctx, sums);
}

/* Planes of both sides at the same time, then what each of them comes to. */
static atn_status end_both(fitness *f) {
    atn_status status = ATN_OK;
    for (int k = 0; k < 2; ++k) forget_planes(&f->side[k], NEIGHBOURS);
    find_planes_together(f);
    atn_parallel((int64_t)(f->side[0].samples + f->side[1].samples), WORTH_A_THREAD, find_planes,
                 &(sampled){{&f->side[0], &f->side[1]}});
    atn_parallel_pieces(2, end_side, f);
    for (int k = 0; k < 2 && status == ATN_OK; ++k)
        status = f->side[k].flat < MOSTLY ? look_closer(f->ctx, &f->firm[k], &f->side[k])
                                          : fitness_find_walls(&f->side[k], f->ctx);
    return status;
}

atn_status fitness_choose(reg_problem *p, fitness *out) {
    atn_status status = ATN_OK;
    out->ctx = p->engine.ctx;
    for (int k = 0; k < 2 && status == ATN_OK; ++k) {
        status = level_of(p, k == 1, true, &out->all[k]);
        if (status == ATN_OK) status = level_of(p, k == 1, false, &out->firm[k]);
    }
    return status;
}

static atn_status begin_both(const reg_problem *p, fitness *out) {
    beginning t = {.p = p, .level = {out->all[0].side, out->all[1].side}, .side = out->side};
    atn_status status = both(&t, take_side);
    for (int k = 0; k < 2 && status == ATN_OK; ++k) status = merge_points(&t, k);
    if (status == ATN_OK) status = both(&t, begin_side);
    for (int k = 0; k < 2; ++k) {
        cloud_points_free(&t.points[k]);
        atn_free(p->engine.ctx, t.key[k]);
    }
    return status;
}

bool fitness_may_be_early(const reg_problem *p) {
    return p->source.count <= MOST_POINTS && p->target.count <= MOST_POINTS && p->source_count <= MOST_POINTS &&
           p->target_count <= MOST_POINTS;
}

atn_status fitness_begin_early(void *user, int64_t side, int64_t end) {
    const fitness_early *t = user;
    beginning one = {.p = t->p, .side = t->out->side};
    (void)end;
    atn_status status = take_points(&one, side == 1);
    if (status == ATN_OK) status = begin_side(&one, side, end);
    cloud_points_free(&one.points[side]);
    atn_free(t->p->engine.ctx, one.key[side]);
    return status;
}

void fitness_end_early(const fitness_early *t, bool begun) {
    t->out->ctx = t->p->engine.ctx;
    t->out->begun = begun && t->out->side[0].grid && t->out->side[1].grid;
    if (!t->out->begun) fitness_free(t->out);
}

atn_status fitness_describe(const reg_problem *p, fitness *out) {
    atn_status status = out->begun ? ATN_OK : begin_both(p, out);
    if (status == ATN_OK) status = end_both(out);
    out->solid = out->side[0].flat < HARDLY || out->side[1].flat < HARDLY;
    out->begun = out->described = status == ATN_OK;
    if (out->client && !out->kept) out->kept = atn_zalloc(out->ctx, sizeof *out->kept);
    if (status != ATN_OK) fitness_free(out);
    return status;
}

void fitness_free(fitness *f) {
    for (int k = 0; k < 2; ++k) side_free(&f->side[k], f->ctx);
    atn_free(f->ctx, f->kept);
    f->kept = NULL;
    f->begun = f->described = false;
}
