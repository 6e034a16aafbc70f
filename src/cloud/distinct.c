/* Points at the very same place merged into one, and whether points lie so far apart that no raster can hold them: both
 * are asked before anything is done whose time depends on how points lie. */
#include "base/memory.h"
#include "cloud/points.h"
#include "cloud/sort.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* -0 and 0 are one place. */
static uint64_t bits_of(double value) {
    uint64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t mix(uint64_t hash, uint64_t bits) {
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static bool same(const cloud_points *p, size_t a, size_t b) {
    bool equal = !p->species || p->species[a] == p->species[b];
    for (int d = 0; d < 3; ++d) equal = equal && bits_of(p->position[d][a]) == bits_of(p->position[d][b]);
    return equal;
}

/* One sorting brings equal points together, unless others share their hash. */
static bool sort_hashed(const cloud_points *p, cloud_keyed *items) {
    bool alone = true;
    for (size_t k = 0; k < p->count; ++k) {
        uint64_t hash = p->species ? (uint32_t)p->species[k] : 0;
        for (int d = 0; d < 3; ++d) hash = mix(hash, bits_of(p->position[d][k]));
        items[k] = (cloud_keyed){.key = hash, .index = (uint32_t)k};
    }
    cloud_keyed_sort(items, p->count);
    for (size_t k = 1; k < p->count && alone; ++k)
        alone = items[k].key != items[k - 1].key || same(p, items[k].index, items[k - 1].index);
    return alone;
}

/* Four sortings always do, whoever chose the points. */
static void sort_exactly(const cloud_points *p, cloud_keyed *items) {
    for (size_t k = 0; k < p->count; ++k) items[k].index = (uint32_t)k;
    for (int d = 0; d < 4; ++d) {
        if (d == 3 && !p->species) break;
        for (size_t k = 0; k < p->count; ++k) {
            uint32_t at = items[k].index;
            items[k].key = d < 3 ? bits_of(p->position[d][at]) : (uint32_t)p->species[at];
        }
        cloud_keyed_sort(items, p->count);
    }
}

/* Into the room of the points themselves. */
static void join(cloud_points *p, uint32_t *of, uint32_t *from, bool known) {
    size_t left = 0;
    for (size_t k = 0; k < p->count; ++k) {
        if (of[k] != k) {
            size_t to = of[of[k]]; /* it came before, and says where it is now */
            p->weight[to] = fminf(p->weight[to] + p->weight[k], FLT_MAX);
            double share = p->weight[to] > 0 ? (double)p->weight[k] / (double)p->weight[to] : 0;
            for (int d = 0; d < 3; ++d) p->position[d][to] += share * (p->position[d][k] - p->position[d][to]);
            continue;
        }
        for (int d = 0; d < 3; ++d) p->position[d][left] = p->position[d][k];
        p->weight[left] = p->weight[k];
        if (p->species) p->species[left] = p->species[k];
        from[left] = known ? from[k] : (uint32_t)k;
        of[k] = (uint32_t)left++;
    }
    p->count = left;
}

atn_status cloud_points_join(cloud_points *points, uint32_t *of, uint32_t **from) {
    bool known = *from != NULL;
    size_t left = 0;
    for (size_t k = 0; k < points->count; ++k) left += of[k] == k;
    if (left == points->count) return ATN_OK;
    if (!known && !(*from = atn_alloc(points->ctx, left * sizeof **from))) return ATN_ERR_MEMORY;
    join(points, of, *from, known);
    return ATN_OK;
}

atn_status cloud_points_distinct(cloud_points *points, uint32_t **from) {
    const atn_ctx *ctx = points->ctx;
    cloud_keyed *items;
    *from = NULL;
    atn_status status = cloud_keyed_make(ctx, points->count, &items);
    if (status != ATN_OK) return status;
    if (!sort_hashed(points, items)) sort_exactly(points, items);
    uint32_t *of = atn_alloc(ctx, points->count * sizeof *of);
    for (size_t k = 0, first = 0; of && k < points->count; ++k) { /* of equal ones the lowest index comes first */
        if (k == 0 || !same(points, items[k].index, items[k - 1].index)) first = k;
        of[items[k].index] = items[first].index;
    }
    status = of ? cloud_points_join(points, of, from) : ATN_ERR_MEMORY;
    atn_free(ctx, of);
    atn_free(ctx, items);
    return status == ATN_OK ? atn_check_cancel(ctx) : status;
}

atn_status cloud_extent_check(const atn_ctx *ctx, const char *who, const double low[3], const double high[3],
                              double edge, double most) {
    if (!(edge > 0) || !isfinite(edge))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: cells with an edge of %g; it is finite and more than 0", who, edge);
    for (int d = 0; d < 3; ++d) {
        double half = high[d] / 2 - low[d] / 2; /* the whole may be more than a double holds */
        if (half <= most / 2 * edge) continue;
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "%s: points from %g to %g along %c are too far apart for cells of %.3g; is one far away from "
                        "the others, or the unit another one?",
                        who, low[d], high[d], "xyz"[d], edge);
    }
    return ATN_OK;
}
