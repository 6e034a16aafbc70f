/* The order of points along a Morton curve: the bits of x, y and z take turns. The curve fills the cube over the
 * longest side of the bounds, so that its steps are as long on every axis. */
#include "base/memory.h"
#include "base/parallel.h"
#include "cloud/points.h"
#include "cloud/sort.h"

#include <math.h>

enum { AXIS_BITS = 21 };

/* Halves, because the difference of two doubles may be more than a double holds. */
typedef struct morton_raster {
    double low[3]; /* half of the lowest coordinates */
    double side;   /* half of the longest side */
} morton_raster;

static morton_raster raster_of(const cloud_points *points) {
    morton_raster r = {.side = 0};
    for (int d = 0; d < 3 && points->count; ++d) {
        const double *p = points->position[d];
        double low = p[0], high = p[0];
        for (size_t k = 1; k < points->count; ++k) {
            low = p[k] < low ? p[k] : low;
            high = p[k] > high ? p[k] : high;
        }
        r.low[d] = low / 2;
        r.side = fmax(r.side, high / 2 - low / 2);
    }
    return r;
}

/* Where it lies on its axis, 0 … 2^21 - 1. */
static uint64_t step_of(const morton_raster *r, int axis, double position) {
    double part = r->side > 0 ? (position / 2 - r->low[axis]) / r->side : 0; /* 0 … 1 */
    double step = part * (1 << AXIS_BITS);
    return step < (1 << AXIS_BITS) ? (uint64_t)step : (1 << AXIS_BITS) - 1;
}

typedef struct task {
    const cloud_points *points;
    morton_raster raster;
    cloud_keyed *items;
} task;

static void key_some(void *user, int64_t from, int64_t to) {
    const task *t = user;
    for (int64_t k = from; k < to; ++k) {
        uint64_t key = 0;
        for (int d = 0; d < 3; ++d) key |= cloud_spread(step_of(&t->raster, d, t->points->position[d][k])) << d;
        t->items[k] = (cloud_keyed){.key = key, .index = (uint32_t)k};
    }
}

atn_status cloud_points_keys(const cloud_points *points, cloud_keyed **out) {
    atn_status status = cloud_keyed_make(points->ctx, points->count, out);
    if (status != ATN_OK) return status;
    task t = {points, raster_of(points), *out};
    atn_parallel((int64_t)points->count, CLOUD_WORTH_A_THREAD, key_some, &t);
    cloud_keyed_sort(*out, points->count);
    return ATN_OK;
}

atn_status cloud_points_order(const cloud_points *points, uint32_t *order) {
    cloud_keyed *items;
    atn_status status = cloud_points_keys(points, &items);
    if (status != ATN_OK) return status;
    if (points->species) {
        for (size_t k = 0; k < points->count; ++k)
            items[k].key = (uint32_t)points->species[items[k].index] ^ 0x80000000u; /* in the order of signed ones */
        cloud_keyed_sort(items, points->count);
    }
    for (size_t k = 0; k < points->count; ++k) order[k] = items[k].index;
    atn_free(points->ctx, items);
    return atn_check_cancel(points->ctx);
}
