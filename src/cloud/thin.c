/* Crowds thinned out: whatever looks at all points within a few spacings of each other takes a time that grows with the
 * square of their number where many more than usual lie that close. */
#include "base/memory.h"
#include "cloud/points.h"
#include "cloud/sort.h"

#include <math.h>

enum { DEPTH = 20 }; /* halvings of a cube */

/* Along a Morton curve through the cube: DEPTH bits an axis, the leading ones name the larger cubes. */
static uint64_t place_in(const cloud_points *p, double edge, size_t k) {
    uint64_t key = 0;
    for (int d = 0; d < 3; ++d) {
        double x = p->position[d][k] / edge, part = (x - floor(x)) * (1 << DEPTH);
        key |= cloud_spread(part < (1 << DEPTH) ? (uint64_t)part : (1 << DEPTH) - 1) << d;
    }
    return key;
}

/* How many cubes the sorted points are in, when their keys are shortened by `bits`. */
static size_t count_places(const cloud_keyed *items, size_t count, int bits) {
    size_t places = 1;
    for (size_t k = 1; k < count; ++k) places += items[k].key >> bits != items[k - 1].key >> bits;
    return places;
}

static void thin_cube(const cloud_points *p, double edge, const uint32_t *order, size_t count, size_t most,
                      cloud_keyed *items, uint32_t *of) {
    int bits = 0;
    for (size_t k = 0; k < count; ++k) items[k] = (cloud_keyed){.key = place_in(p, edge, order[k]), .index = order[k]};
    cloud_keyed_sort(items, count);
    while (count_places(items, count, bits) > most) bits += 3; /* all of the cube is one place */
    for (size_t k = 0, first = 0; k < count; ++k) {
        if (items[k].key >> bits != items[first].key >> bits) first = k;
        of[items[k].index] = items[first].index;
    }
}

atn_status cloud_points_thin(cloud_points *points, double edge, size_t most, uint32_t **from) {
    const atn_ctx *ctx = points->ctx;
    cloud_cubes cubes;
    cloud_keyed *items = NULL;
    uint32_t *of = NULL;
    size_t largest = 0;
    atn_status status = cloud_cubes_make(points, edge, &cubes);
    for (size_t k = 0; status == ATN_OK && k < cubes.count; ++k)
        if (cubes.start[k + 1] - cubes.start[k] > largest) largest = cubes.start[k + 1] - cubes.start[k];
    if (largest > most) {
        status = cloud_keyed_make(ctx, largest, &items);
        if (status == ATN_OK && !(of = atn_alloc(ctx, points->count * sizeof *of))) status = ATN_ERR_MEMORY;
    }
    for (size_t k = 0; of && k < points->count; ++k) of[k] = (uint32_t)k;
    for (size_t k = 0; status == ATN_OK && of && k < cubes.count; ++k) {
        size_t count = cubes.start[k + 1] - cubes.start[k];
        if (k % 4096 == 0) status = atn_check_cancel(ctx);
        if (count > most) thin_cube(points, edge, cubes.order + cubes.start[k], count, most, items, of);
    }
    if (status == ATN_OK && of) status = cloud_points_join(points, of, from);
    atn_free(ctx, of);
    atn_free(ctx, items);
    cloud_cubes_free(&cubes);
    return status;
}
