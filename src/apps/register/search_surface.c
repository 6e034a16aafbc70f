/* A cloud made small and described: one point in a cube, normals from the points within 2.5 cubes, and what the surface
 * looks like within 6, as histograms that no turn changes. Normals have no sign that could be trusted; a point takes
 * the one that makes its own surroundings a hill, so that a hill and the same hill seen from below look alike. */
#include "apps/register/search_parts.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLED_FOR_EDGE = 12000, SAMPLED = 120000, LEAST_FOR_NORMAL = 5, LEAST_FOR_FEATURE = 8 };
static const float SPARSE = 0.1F; /* of the points of a usual cube */
static const float NORMAL_REACH = 2.5F, FEATURE_REACH = 6;

/* At most `most` of the points, one by chance out of each run of the array, without species. */
static atn_status sample(const cloud_points *points, size_t most, cloud_points *out) {
    atn_random random;
    atn_random_seed(&random, 1);
    atn_status status = cloud_points_make(points->ctx, points->count < most ? points->count : most, false, out);
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < out->count; ++k) {
        size_t first = points->count / out->count * k + points->count % out->count * k / out->count;
        size_t last = points->count / out->count * (k + 1) + points->count % out->count * (k + 1) / out->count;
        size_t from = first + (last - first > 1 ? (size_t)atn_random_below(&random, last - first) : 0);
        for (int a = 0; a < 3; ++a) out->position[a][k] = points->position[a][from];
        out->weight[k] = 1; /* where points are dense says nothing of the shape */
    }
    return ATN_OK;
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* Points that belong to nothing are alone in their cubes, and there are many cubes: cubes that have far fewer points
 * than those which half of all points are in go. `weight`: of the cubes; what a cube must have is returned. */
static float least_weight(float *weight, size_t count) {
    double all = 0, seen = 0;
    qsort(weight, count, sizeof *weight, ascending);
    for (size_t k = 0; k < count; ++k) all += (double)weight[k];
    size_t k = 0;
    while (k < count && (seen += (double)weight[k]) < all / 2) ++k;
    return k < count ? SPARSE * weight[k] : 0;
}

static atn_status drop_sparse(cloud_points *merged) {
    float *weight = atn_alloc(merged->ctx, merged->count * sizeof *weight);
    if (!weight) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < merged->count; ++k) weight[k] = merged->weight[k];
    float least = least_weight(weight, merged->count);
    size_t kept = 0;
    for (size_t k = 0; k < merged->count; ++k) {
        if (merged->weight[k] < least) continue;
        for (int a = 0; a < 3; ++a) merged->position[a][kept] = merged->position[a][k];
        merged->weight[kept++] = merged->weight[k];
    }
    merged->count = kept;
    atn_free(merged->ctx, weight);
    return ATN_OK;
}

static double extent_of(const cloud_points *points) {
    double extent = 0;
    for (int a = 0; a < 3; ++a) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < points->count; ++k) {
            low = fmin(low, points->position[a][k]);
            high = fmax(high, points->position[a][k]);
        }
        extent = fmax(extent, high - low);
    }
    return extent;
}

atn_status search_edge(const cloud_points *points, size_t most, double *out) {
    cloud_points some = {0};
    *out = 0;
    atn_status status = sample(points, SAMPLED_FOR_EDGE, &some);
    double extent = status == ATN_OK ? extent_of(&some) : 0;
    if (!(extent > 0) || !isfinite(extent)) goto end;
    double wanted = fmin((double)most, 0.6 * (double)some.count), edge = extent / sqrt(wanted);
    double low = extent * 1e-6, high = 2 * extent; /* cubes of side low are too many, those of side high too few */
    for (int round = 0; round < 12; ++round) {
        cloud_cubes cubes = {0};
        status = cloud_cubes_make(&some, edge, &cubes);
        if (status != ATN_OK) goto end;
        float *weight = atn_alloc(points->ctx, cubes.count * sizeof *weight);
        if (!weight) {
            cloud_cubes_free(&cubes);
            status = ATN_ERR_MEMORY;
            goto end;
        }
        for (size_t k = 0; k < cubes.count; ++k) weight[k] = (float)(cubes.start[k + 1] - cubes.start[k]);
        float least = least_weight(weight, cubes.count);
        double count = 0;
        for (size_t k = 0; k < cubes.count; ++k) count += weight[k] >= least;
        atn_free(points->ctx, weight);
        cloud_cubes_free(&cubes);
        if (fabs(count / wanted - 1) < 0.08) break;
        if (count > wanted)
            low = edge;
        else
            high = edge;
        edge *= sqrt(count / wanted); /* a surface has as many as the square of 1 / edge */
        if (edge <= low || edge >= high) edge = sqrt(low * high);
    }
    *out = edge;
end:
    cloud_points_free(&some);
    return status;
}

typedef struct along_x {
    double x;
    size_t point;
} along_x;

static int compare(const void *left, const void *right) {
    const along_x *a = left, *b = right;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

/* The points that can lie within `reach` of point i along x: [*first, *last). */
static void window(const search_surface *s, size_t i, float reach, size_t *first, size_t *last) {
    const float *x = s->at[0];
    while (*first < i && x[i] - x[*first] > reach) ++*first;
    if (*last < i + 1) *last = i + 1;
    while (*last < s->count && x[*last] - x[i] <= reach) ++*last;
}

static void find_normals(search_surface *s) {
    size_t first = 0, last = 0;
    for (size_t i = 0; i < s->count; ++i) {
        double sum[3] = {0}, m[6] = {0}, values[3], normal[3];
        int32_t near = 0;
        window(s, i, NORMAL_REACH, &first, &last);
        for (size_t k = first; k < last; ++k) {
            double d[3] = {s->at[0][k] - s->at[0][i], s->at[1][k] - s->at[1][i], s->at[2][k] - s->at[2][i]};
            if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > NORMAL_REACH * NORMAL_REACH) continue;
            ++near;
            for (int a = 0, c = 0; a < 3; ++a) {
                sum[a] += d[a];
                for (int b = a; b < 3; ++b) m[c++] += d[a] * d[b];
            }
        }
        if (near < LEAST_FOR_NORMAL) continue;
        for (int a = 0, c = 0; a < 3; ++a)
            for (int b = a; b < 3; ++b) m[c++] -= sum[a] * sum[b] / near;
        search_least_direction(m, values, normal);
        if (values[1] < 1e-3 * values[2] || values[0] > 0.7 * values[1]) continue; /* a line, or a lump */
        for (int a = 0; a < 3; ++a) s->normal[a][i] = (float)normal[a];
    }
}

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

static void find_feature(search_surface *s, size_t i, size_t first, size_t last, size_t *near) {
    const float *const *at = (const float *const *)s->at, *const *normal = (const float *const *)s->normal;
    float *feature = s->feature + i * SEARCH_FEATURE, up = 0;
    size_t count = 0;
    for (size_t k = first; k < last; ++k) {
        float d[3] = {at[0][k] - at[0][i], at[1][k] - at[1][i], at[2][k] - at[2][i]};
        if (k == i || d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > FEATURE_REACH * FEATURE_REACH) continue;
        near[count++] = k;
        up += d[0] * normal[0][i] + d[1] * normal[1][i] + d[2] * normal[2][i];
    }
    if (count < LEAST_FOR_FEATURE) return;
    for (size_t n = 0; n < count; ++n) {
        size_t k = near[n];
        float d[3] = {at[0][k] - at[0][i], at[1][k] - at[1][i], at[2][k] - at[2][i]};
        float length = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        float height = d[0] * normal[0][i] + d[1] * normal[1][i] + d[2] * normal[2][i];
        float cosine = normal[0][k] * normal[0][i] + normal[1][k] * normal[1][i] + normal[2][k] * normal[2][i];
        int shell = (int)(length / FEATURE_REACH * SEARCH_SHELLS);
        if (shell >= SEARCH_SHELLS) shell = SEARCH_SHELLS - 1;
        float outer = FEATURE_REACH * (float)(shell + 1) / SEARCH_SHELLS;
        float *bins = feature + shell * SEARCH_SHELL;
        put(bins, SEARCH_HEIGHTS, (up > 0 ? -height : height) / outer, -0.8F, 0.8F);
        put(bins + SEARCH_HEIGHTS, SEARCH_ANGLES, fabsf(cosine), 0, 1);
    }
    for (int shell = 0; shell < SEARCH_SHELLS; ++shell) { /* roots of shares: their product is a likeness in [0, 1] */
        float *bins = feature + shell * SEARCH_SHELL, sum = 0;
        for (int k = 0; k < SEARCH_SHELL; ++k) sum += bins[k];
        for (int k = 0; k < SEARCH_SHELL && sum > 0; ++k) bins[k] = sqrtf(bins[k] / sum);
    }
}

atn_status search_surface_describe(search_surface *s) {
    if (s->feature) return ATN_OK;
    size_t *near = atn_alloc(s->ctx, s->count * sizeof *near), first = 0, last = 0;
    s->feature = atn_zalloc(s->ctx, s->count * SEARCH_FEATURE * sizeof *s->feature);
    if (!near || !s->feature) {
        atn_free(s->ctx, near);
        return ATN_ERR_MEMORY;
    }
    for (size_t i = 0; i < s->count; ++i) {
        window(s, i, FEATURE_REACH, &first, &last);
        if (s->normal[0][i] != 0 || s->normal[1][i] != 0 || s->normal[2][i] != 0) find_feature(s, i, first, last, near);
    }
    atn_free(s->ctx, near);
    return ATN_OK;
}

/* Into units of the edge, in order of x. */
static atn_status arrange(const cloud_points *merged, search_surface *s) {
    along_x *order = atn_alloc(s->ctx, s->count * sizeof *order);
    if (!order) return ATN_ERR_MEMORY;
    double square = 0;
    for (size_t k = 0; k < s->count; ++k) order[k] = (along_x){merged->position[0][k], k};
    qsort(order, s->count, sizeof *order, compare);
    for (int a = 0; a < 3; ++a) {
        double mean = 0;
        for (size_t k = 0; k < s->count; ++k) mean += (merged->position[a][k] - mean) / (double)(k + 1);
        s->centre[a] = mean;
        for (size_t k = 0; k < s->count; ++k) {
            double at = (merged->position[a][order[k].point] - mean) / s->edge;
            s->at[a][k] = (float)at;
            square += at * at;
        }
    }
    s->size = sqrt(square / (double)s->count);
    atn_free(s->ctx, order);
    return ATN_OK;
}

atn_status search_surface_make(const cloud_points *points, double edge, bool features, search_surface *out) {
    cloud_points some = {0}, merged = {0};
    *out = (search_surface){.ctx = points->ctx, .edge = edge};
    atn_status status = sample(points, SAMPLED, &some);
    if (status == ATN_OK) status = cloud_points_merge(&some, edge, &merged);
    if (status == ATN_OK) status = drop_sparse(&merged);
    if (status == ATN_OK) {
        out->count = merged.count;
        out->block = atn_zalloc(points->ctx, merged.count * 6 * sizeof *out->block);
        if (!out->block) status = ATN_ERR_MEMORY;
    }
    if (status == ATN_OK) {
        for (int a = 0; a < 3; ++a) {
            out->at[a] = out->block + (size_t)a * out->count;
            out->normal[a] = out->block + (size_t)(3 + a) * out->count;
        }
        status = arrange(&merged, out);
    }
    if (status == ATN_OK) find_normals(out);
    if (status == ATN_OK && features) status = search_surface_describe(out);
    cloud_points_free(&merged);
    cloud_points_free(&some);
    if (status != ATN_OK) search_surface_free(out);
    return status;
}

void search_surface_free(search_surface *surface) {
    if (surface->block) atn_free(surface->ctx, surface->block);
    if (surface->feature) atn_free(surface->ctx, surface->feature);
    *surface = (search_surface){0};
}
