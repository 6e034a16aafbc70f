/* Points grouped by the cube of a raster that they lie in: cube (floor(x / e), floor(y / e), floor(z / e)), kept as
 * doubles because coordinates may be larger than any integer. */
#include "base/extreme.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cloud/points.h"
#include "cloud/sort.h"

#include <math.h>
#include <string.h>

enum { PACKED_BITS = 21 };

/* -0 and 0 are one cube. Where an integer holds it no function is called: floor is one on some processors. */
static double cube_of(double position, double edge) {
    static const double WHOLE = 4e15;
    double at = position / edge;
    if (!(at > -WHOLE && at < WHOLE)) return floor(at) + 0.0;
    double whole = (double)(int64_t)at;
    return whole - (whole > at);
}

/* Bits that are ordered as the doubles are. */
static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* The lowest cube on each axis; do all of them together fit one key? */
static atn_status bounds_of(const cloud_points *points, double edge, double low[3], bool *packed) {
    *packed = true;
    for (int d = 0; d < 3 && points->count; ++d) {
        double least, most;
        atn_extremes(points->position[d], points->count, &least, &most);
        low[d] = cube_of(least, edge);
        double high = cube_of(most, edge);
        if (!isfinite(low[d]) || !isfinite(high))
            return atn_fail(points->ctx, ATN_ERR_INPUT, "an edge of %g is too short for coordinates up to %g", edge,
                            fmax(fabs(least), fabs(most)));
        *packed = *packed && high - low[d] < (1 << PACKED_BITS);
    }
    return ATN_OK;
}

typedef struct task {
    const cloud_points *points;
    double edge;
    const double *low;
    cloud_keyed *items;
} task;

static void key_some(void *user, int64_t from, int64_t to) {
    const task *t = user;
    for (int64_t k = from; k < to; ++k) {
        size_t at = t->items[k].index;
        uint64_t key = 0;
        for (int d = 0; d < 3; ++d)
            key |= cloud_spread((uint64_t)(cube_of(t->points->position[d][at], t->edge) - t->low[d])) << d;
        t->items[k].key = key;
    }
}

/* Along a Morton curve: cubes that are near each other stay so in memory. */
static void sort_packed(const cloud_points *points, double edge, const double low[3], cloud_keyed *items) {
    task t = {points, edge, low, items};
    atn_parallel((int64_t)points->count, CLOUD_WORTH_A_THREAD, key_some, &t);
    cloud_keyed_sort(items, points->count);
}

/* An axis after the other; each sorting keeps what the ones before it did. */
static void sort_axes(const cloud_points *points, double edge, cloud_keyed *items) {
    for (int d = 0; d < 3; ++d) {
        for (size_t k = 0; k < points->count; ++k)
            items[k].key = bits_of(cube_of(points->position[d][items[k].index], edge));
        cloud_keyed_sort(items, points->count);
    }
}

static bool same_cube(const cloud_points *points, double edge, size_t a, size_t b) {
    for (int d = 0; d < 3; ++d)
        if (cube_of(points->position[d][a], edge) != cube_of(points->position[d][b], edge)) return false;
    return true;
}

static bool begins(const cloud_points *points, double edge, bool packed, const cloud_keyed *items, size_t k) {
    if (points->species && points->species[items[k].index] != points->species[items[k - 1].index]) return true;
    return packed ? items[k].key != items[k - 1].key : !same_cube(points, edge, items[k].index, items[k - 1].index);
}

/* Where cubes begin among the items, `start` having room for each to be one; how many there are. */
static size_t cut(const cloud_points *points, double edge, bool packed, const cloud_keyed *items, uint32_t *start) {
    size_t cubes = points->count > 0;
    start[0] = 0;
    if (packed && !points->species)
        for (size_t k = 1; k < points->count; ++k) { /* without an unpredictable branch */
            start[cubes] = (uint32_t)k;
            cubes += items[k].key != items[k - 1].key;
        }
    else
        for (size_t k = 1; k < points->count; ++k)
            if (begins(points, edge, packed, items, k)) start[cubes++] = (uint32_t)k;
    start[cubes] = (uint32_t)points->count;
    return cubes;
}

static atn_status keep(const cloud_points *points, double edge, bool packed, const cloud_keyed *items,
                       cloud_cubes *out) {
    out->order = atn_alloc(points->ctx, points->count * sizeof *out->order);
    uint32_t *start = out->order ? atn_alloc(points->ctx, (points->count + 1) * sizeof *start) : NULL;
    if (!start) return ATN_ERR_MEMORY;
    out->start = start;
    out->count = cut(points, edge, packed, items, start);
    start = atn_resize(points->ctx, start, (out->count + 1) * sizeof *start);
    if (!start) return ATN_ERR_MEMORY;
    out->start = start;
    for (size_t k = 0; k < points->count; ++k) out->order[k] = items[k].index;
    return ATN_OK;
}

atn_status cloud_cubes_make(const cloud_points *points, double edge, cloud_cubes *out) {
    double low[3] = {0};
    bool packed;
    cloud_keyed *items = NULL;
    *out = (cloud_cubes){.ctx = points->ctx};
    if (!(edge > 0) || !isfinite(edge))
        return atn_fail(points->ctx, ATN_ERR_INPUT, "an edge of %g; it is finite and more than 0", edge);
    atn_status status = bounds_of(points, edge, low, &packed);
    if (status == ATN_OK) status = cloud_keyed_make(points->ctx, points->count, &items);
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < points->count; ++k) items[k].index = (uint32_t)k;
    if (points->species) {
        for (size_t k = 0; k < points->count; ++k) items[k].key = (uint32_t)points->species[k];
        cloud_keyed_sort(items, points->count);
    }
    if (packed)
        sort_packed(points, edge, low, items);
    else
        sort_axes(points, edge, items);
    status = atn_check_cancel(points->ctx);
    if (status == ATN_OK) status = keep(points, edge, packed, items, out);
    if (status != ATN_OK) cloud_cubes_free(out);
    atn_free(points->ctx, items);
    return status;
}

void cloud_cubes_free(cloud_cubes *cubes) {
    if (!cubes->ctx) return;
    atn_free(cubes->ctx, cubes->order);
    atn_free(cubes->ctx, cubes->start);
    *cubes = (cloud_cubes){0};
}
