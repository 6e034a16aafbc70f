/* A cloud made small and described: one point in a cube, normals from the points within 2.5 cubes, and what the surface
 * looks like within 6, as histograms that no turn changes. Normals have no sign that could be trusted; a point takes
 * the one that makes its own surroundings a hill, so that a hill and the same hill seen from below look alike. */
#include "apps/register/search_parts.h"

#include "base/lanes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "geom/eigen.h"

#include <math.h>
#include <string.h>

enum { LEAST_FOR_NORMAL = 5, LEAST_FOR_FEATURE = 8 };
static const float NORMAL_REACH = 2.5F, FEATURE_REACH = 6;

/* ---- neighbours ---- */

/* Points that follow each other lie near each other: runs of them are looked through where their boxes are in reach.
 * All runs but the last are full. */
enum { RUN = 16, MOST_RUNS = 1024 };

/* Points one after the other: those of a run, or all that may be near one, so that sums over them stay in lanes. */
typedef struct span {
    const float *at[3], *normal[3];
    const uint32_t *index; /* among all points; NULL: they follow each other from `first` on */
    size_t first, count;
} span;

typedef struct surroundings {
    search_surface *surface;
    size_t runs;
    size_t run; /* points of one: more than RUN where there would be more than MOST_RUNS */
    float low[MOST_RUNS][3], high[MOST_RUNS][3];
    float reach;                                                                          /* around each point, */
    void (*find)(const struct surroundings *t, size_t i, const span *near, size_t count); /* with the points in it */
} surroundings;

static size_t run_end(const surroundings *t, size_t run) {
    return (run + 1) * t->run < t->surface->count ? (run + 1) * t->run : t->surface->count;
}

static void find_boxes(search_surface *s, surroundings *out) {
    out->surface = s;
    out->run = s->count / RUN < MOST_RUNS ? RUN : s->count / MOST_RUNS + 1;
    out->runs = (s->count + out->run - 1) / out->run;
    for (size_t r = 0; r < out->runs; ++r)
        for (int a = 0; a < 3; ++a) {
            float low = INFINITY, high = -INFINITY;
            for (size_t k = r * out->run; k < run_end(out, r); ++k) {
                low = s->at[a][k] < low ? s->at[a][k] : low;
                high = s->at[a][k] > high ? s->at[a][k] : high;
            }
            out->low[r][a] = low;
            out->high[r][a] = high;
        }
}

/* The runs that can have points within reach of one of another run; their number. */
static size_t find_near(const surroundings *t, size_t run, uint16_t *near) {
    size_t count = 0;
    for (size_t r = 0; r < t->runs; ++r) {
        float gap2 = 0;
        for (int a = 0; a < 3; ++a) {
            float below = t->low[r][a] - t->high[run][a], above = t->low[run][a] - t->high[r][a];
            float gap = below > above ? below : above;
            gap2 += gap > 0 ? gap * gap : 0;
        }
        if (gap2 <= t->reach * t->reach) near[count++] = (uint16_t)r;
    }
    return count;
}

/* Copies of the points that can be within reach of one of a run. */
enum { GATHERED = 1024 };
typedef struct gathered {
    float at[3][GATHERED], normal[3][GATHERED];
    uint32_t index[GATHERED];
} gathered;

/* Of near runs the points in reach of a run's box; false: they are too many. */
static bool gather(const surroundings *t, size_t run, const uint16_t *near, size_t count, gathered *to, span *out) {
    const search_surface *s = t->surface;
    const float reach = t->reach * 1.00001F, *low = t->low[run], *high = t->high[run];
    size_t n = 0;
    for (size_t r = 0; r < count; ++r)
        for (size_t k = near[r] * t->run; k < run_end(t, near[r]); ++k) {
            bool in = true;
            for (int a = 0; a < 3; ++a) in = in & (low[a] - s->at[a][k] <= reach) & (s->at[a][k] - high[a] <= reach);
            if (!in) continue;
            if (n == GATHERED) return false;
            for (int a = 0; a < 3; ++a) to->at[a][n] = s->at[a][k];
            for (int a = 0; a < 3 && s->feature; ++a) to->normal[a][n] = s->normal[a][k]; /* they are known then */
            to->index[n++] = (uint32_t)k;
        }
    *out = (span){.index = to->index, .count = n};
    for (int a = 0; a < 3; ++a) out->at[a] = to->at[a], out->normal[a] = to->normal[a];
    return true;
}

static span span_of(const surroundings *t, size_t run) {
    const search_surface *s = t->surface;
    size_t first = run * t->run;
    span all = {.first = first, .count = run_end(t, run) - first};
    for (int a = 0; a < 3; ++a) all.at[a] = s->at[a] + first, all.normal[a] = s->normal[a] + first;
    return all;
}

/* ---- normals ---- */

typedef struct moments {
    float near, d[3], m[6]; /* neighbours; sums of the ways to them, and of their products: xx xy xz yy yz zz */
} moments;

ATN_IN_LANES static void add_span(const span *all, const float at[3], moments *out) {
    const float *x = all->at[0], *y = all->at[1], *z = all->at[2], a = at[0], b = at[1], c = at[2];
    const float reach2 = NORMAL_REACH * NORMAL_REACH;
    float near = 0, dx = 0, dy = 0, dz = 0, xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
    ATN_LANES(reduction(+ : near, dx, dy, dz, xx, xy, xz, yy, yz, zz))
    for (size_t k = 0; k < all->count; ++k) {
        float u = x[k] - a, v = y[k] - b, w = z[k] - c, d2 = u * u + v * v + w * w;
        float in = d2 <= reach2 ? 1.0F : 0.0F;
        u = d2 <= reach2 ? u : 0, v = d2 <= reach2 ? v : 0, w = d2 <= reach2 ? w : 0;
        near += in, dx += u, dy += v, dz += w;
        xx += u * u, xy += u * v, xz += u * w, yy += v * v, yz += v * w, zz += w * w;
    }
    const float d[3] = {dx, dy, dz}, m[6] = {xx, xy, xz, yy, yz, zz};
    out->near += near;
    for (int k = 0; k < 3; ++k) out->d[k] += d[k];
    for (int k = 0; k < 6; ++k) out->m[k] += m[k];
}

static void find_normal(const surroundings *t, size_t i, const span *near, size_t count) {
    search_surface *s = t->surface;
    const float at[3] = {s->at[0][i], s->at[1][i], s->at[2][i]};
    moments sum = {0};
    double m[6], values[3], normal[3];
    for (size_t n = 0; n < count; ++n) add_span(&near[n], at, &sum);
    if (sum.near < LEAST_FOR_NORMAL) return;
    for (int a = 0, c = 0; a < 3; ++a)
        for (int b = a; b < 3; ++b, ++c)
            m[c] = (double)sum.m[c] - (double)sum.d[a] * (double)sum.d[b] / (double)sum.near;
    geom_least_direction(m, values, normal);
    if (values[1] < 1e-3 * values[2] || values[0] > 0.7 * values[1]) return; /* a line, or a lump */
    for (int a = 0; a < 3; ++a) s->normal[a][i] = (float)normal[a];
}

/* ---- features ---- */

/* A unit shared between the two bins next to `value` in [low, high]. */
static void put(float *bins, int count, float value, float low, float high) {
    float place = (value - low) / (high - low) * (float)(count - 1);
    place = place > 0 ? place : 0;
    int k = place < (float)(count - 1) ? (int)place : count - 2;
    float share = place - (float)k;
    share = share < 1 ? share : 1;
    bins[k] += 1 - share;
    bins[k + 1] += share;
}

/* The neighbours of point i among some points: how many, and how far they are over its plane in all. */
ATN_IN_LANES static void weigh_span(const search_surface *s, size_t i, const span *all, float sum[2]) {
    const float *x = all->at[0], *y = all->at[1], *z = all->at[2], at[3] = {s->at[0][i], s->at[1][i], s->at[2][i]};
    const float n[3] = {s->normal[0][i], s->normal[1][i], s->normal[2][i]}, reach2 = FEATURE_REACH * FEATURE_REACH;
    float near = 0, up = 0;
    ATN_LANES(reduction(+ : near, up))
    for (size_t k = 0; k < all->count; ++k) {
        float u = x[k] - at[0], v = y[k] - at[1], w = z[k] - at[2], d2 = u * u + v * v + w * w;
        float over = u * n[0] + v * n[1] + w * n[2];
        near += d2 <= reach2 ? 1.0F : 0.0F;
        up += d2 <= reach2 ? over : 0;
    }
    sum[0] += near;
    sum[1] += up;
}

/* Into the bins of the shells; `up`: 1 or -1, the side that heights are counted on. */
static void sort_span(const search_surface *s, size_t i, const span *all, float up, float *feature) {
    const float at[3] = {s->at[0][i], s->at[1][i], s->at[2][i]};
    const float n[3] = {s->normal[0][i], s->normal[1][i], s->normal[2][i]};
    for (size_t k = 0; k < all->count; ++k) {
        float d[3] = {all->at[0][k] - at[0], all->at[1][k] - at[1], all->at[2][k] - at[2]};
        float d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (d2 > FEATURE_REACH * FEATURE_REACH || (all->index ? all->index[k] : all->first + k) == i) continue;
        float height = d[0] * n[0] + d[1] * n[1] + d[2] * n[2];
        float cosine = all->normal[0][k] * n[0] + all->normal[1][k] * n[1] + all->normal[2][k] * n[2];
        int shell = (int)(sqrtf(d2) / FEATURE_REACH * SEARCH_SHELLS);
        if (shell >= SEARCH_SHELLS) shell = SEARCH_SHELLS - 1;
        float outer = FEATURE_REACH * (float)(shell + 1) / SEARCH_SHELLS;
        float *bins = feature + shell * SEARCH_SHELL;
        put(bins, SEARCH_HEIGHTS, up * height / outer, -0.8F, 0.8F);
        put(bins + SEARCH_HEIGHTS, SEARCH_ANGLES, fabsf(cosine), 0, 1);
    }
}

static void find_feature(const surroundings *t, size_t i, const span *near, size_t count) {
    const search_surface *s = t->surface;
    float *feature = s->feature + i * SEARCH_FEATURE, sum[2] = {0, 0};
    if (s->normal[0][i] == 0 && s->normal[1][i] == 0 && s->normal[2][i] == 0) return;
    for (size_t n = 0; n < count; ++n) weigh_span(s, i, &near[n], sum);
    if (sum[0] - 1 < LEAST_FOR_FEATURE) return; /* itself is not one */
    for (size_t n = 0; n < count; ++n) sort_span(s, i, &near[n], sum[1] > 0 ? -1 : 1, feature);
    for (int shell = 0; shell < SEARCH_SHELLS; ++shell) { /* roots of shares: their product is a likeness in [0, 1] */
        float *bins = feature + shell * SEARCH_SHELL, all = 0;
        for (int k = 0; k < SEARCH_SHELL; ++k) all += bins[k];
        for (int k = 0; k < SEARCH_SHELL && all > 0; ++k) bins[k] = sqrtf(bins[k] / all);
    }
}

/* ---- around all points ---- */

static void look_at_run(const surroundings *t, size_t run) {
    uint16_t near[MOST_RUNS];
    span all[MOST_RUNS];
    gathered some;
    size_t runs = find_near(t, run, near), count = 1;
    if (!gather(t, run, near, runs, &some, &all[0]))
        for (count = 0; count < runs; ++count) all[count] = span_of(t, near[count]);
    for (size_t i = run * t->run; i < run_end(t, run); ++i) t->find(t, i, all, count);
}

/* Runs of one surface, then those of the other. */
typedef struct both_around {
    surroundings of[2];
} both_around;

static void look_at_runs(void *user, int64_t from, int64_t to) {
    const both_around *t = user;
    for (size_t run = (size_t)from; run < (size_t)to; ++run)
        look_at_run(&t->of[run >= t->of[0].runs], run < t->of[0].runs ? run : run - t->of[0].runs);
}

/* Runs by all cores: whoever is free takes the next one. One surface, or two at the same time. */
static atn_status look_around(search_surface *const *surface, int count, float reach,
                              void (*find)(const surroundings *, size_t, const span *, size_t)) {
    const atn_ctx *ctx = surface[0]->ctx;
    both_around *t = atn_alloc(ctx, sizeof *t);
    if (!t) return ATN_ERR_MEMORY;
    t->of[1].runs = 0;
    for (int k = 0; k < count; ++k) {
        find_boxes(surface[k], &t->of[k]);
        t->of[k].reach = reach;
        t->of[k].find = find;
    }
    atn_parallel_pieces((int64_t)(t->of[0].runs + t->of[1].runs), look_at_runs, t);
    atn_free(ctx, t);
    return ATN_OK;
}

atn_status search_surfaces_describe(search_surface *const *surface, int count) {
    search_surface *some[2];
    int n = 0;
    for (int k = 0; k < count; ++k) {
        search_surface *s = surface[k];
        if (s->feature) continue;
        s->feature = atn_zalloc(s->ctx, s->count * SEARCH_FEATURE * sizeof *s->feature);
        if (!s->feature) return ATN_ERR_MEMORY;
        some[n++] = s;
    }
    return n ? look_around(some, n, FEATURE_REACH, find_feature) : ATN_OK;
}

/* ---- the surface ---- */

/* Into units of the edge, about the centroid. */
static void arrange(const cloud_points *merged, search_surface *s) {
    double square = 0;
    for (int a = 0; a < 3; ++a) {
        double mean = 0;
        for (size_t k = 0; k < s->count; ++k) mean += (merged->position[a][k] - mean) / (double)(k + 1);
        s->centre[a] = mean;
        for (size_t k = 0; k < s->count; ++k) {
            double at = (merged->position[a][k] - mean) / s->edge;
            s->at[a][k] = (float)at;
            square += at * at;
        }
    }
    s->size = sqrt(square / (double)s->count);
}

/* All but normals. */
static atn_status take(const cloud_points *merged, double edge, search_surface *out) {
    *out = (search_surface){.ctx = merged->ctx, .edge = edge, .count = merged->count};
    out->block = atn_zalloc(out->ctx, out->count * 6 * sizeof *out->block);
    if (!out->block) return ATN_ERR_MEMORY;
    for (int a = 0; a < 3; ++a) {
        out->at[a] = out->block + (size_t)a * out->count;
        out->normal[a] = out->block + (size_t)(3 + a) * out->count;
    }
    arrange(merged, out);
    return ATN_OK;
}

atn_status search_surfaces_make(const cloud_points *const *points, const double *edge, int count,
                                struct reg_client *client, search_surface *const *out) {
    cloud_points merged[2] = {{0}, {0}};
    for (int k = 0; k < count; ++k) *out[k] = (search_surface){0};
    atn_status status = search_thin(points, edge, count, merged);
    for (int k = 0; k < count && status == ATN_OK; ++k) status = take(&merged[k], edge[k], out[k]);
    if (status == ATN_OK && !search_normals_together(client, out, count, (double)NORMAL_REACH))
        status = look_around(out, count, NORMAL_REACH, find_normal);
    for (int k = 0; k < count; ++k) cloud_points_free(&merged[k]);
    for (int k = 0; k < count && status != ATN_OK; ++k) search_surface_free(out[k]);
    return status;
}

void search_surface_free(search_surface *surface) {
    if (surface->block) atn_free(surface->ctx, surface->block);
    if (surface->feature) atn_free(surface->ctx, surface->feature);
    *surface = (search_surface){0};
}

void search_publish(const search_surface *source, const search_surface *target, const search_pose *pose, double factor,
                    double out[16]) {
    memset(out, 0, 16 * sizeof *out);
    out[15] = 1;
    for (int a = 0; a < 3; ++a) {
        double *row = out + 4 * a;
        row[3] = target->centre[a] + target->edge * pose->shift[a];
        for (int b = 0; b < 3; ++b) {
            row[b] = factor * pose->turn[3 * a + b];
            row[3] -= row[b] * source->centre[b];
        }
    }
}
