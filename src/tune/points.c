/* A growing set of points: open addressing, at most half full. */
#include "tune/points.h"

#include "base/memory.h"

#include <string.h>

enum { FIRST_SLOTS = 64, MOST_POINTS = 1 << 29 };

static size_t point_bytes(const atn_points *points) { return (size_t)points->width * sizeof(int32_t); }

const int32_t *atn_points_get(const atn_points *points, int64_t place) {
    return points->levels + (size_t)place * (size_t)points->width;
}

/* The slot of a point, or the free one where it belongs. */
static size_t slot_of(const atn_points *points, const int32_t *point) {
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (int32_t k = 0; k < points->width; ++k) {
        hash = (hash ^ (uint32_t)point[k]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    size_t slot = (size_t)hash & (points->n_slots - 1);
    while (points->slots[slot] &&
           memcmp(atn_points_get(points, points->slots[slot] - 1), point, point_bytes(points)) != 0)
        slot = (slot + 1) & (points->n_slots - 1);
    return slot;
}

int64_t atn_points_find(const atn_points *points, const int32_t *point) {
    return points->n ? (int64_t)points->slots[slot_of(points, point)] - 1 : ATN_NOWHERE;
}

void atn_points_rehash(atn_points *points) {
    if (points->n_slots) memset(points->slots, 0, points->n_slots * sizeof *points->slots);
    for (int64_t k = 0; k < points->n; ++k) points->slots[slot_of(points, atn_points_get(points, k))] = (int32_t)k + 1;
}

static bool more_slots(atn_points *points) {
    size_t n = points->n_slots ? points->n_slots * 2 : FIRST_SLOTS;
    int32_t *slots = atn_alloc(points->ctx, n * sizeof *slots);
    if (!slots) return false;
    atn_free(points->ctx, points->slots);
    points->slots = slots;
    points->n_slots = n;
    atn_points_rehash(points);
    return true;
}

int64_t atn_points_add(atn_points *points, const int32_t *point) {
    size_t n = (size_t)points->n, bytes = point_bytes(points);
    if (n >= MOST_POINTS) {
        (void)atn_fail(points->ctx, ATN_ERR_MEMORY, "more than %d points", MOST_POINTS);
        return ATN_NOWHERE;
    }
    if (2 * (n + 1) > points->n_slots && !more_slots(points)) return ATN_NOWHERE;
    if (atn_grow(points->ctx, (void **)&points->levels, &points->room, n, bytes ? bytes : 1)) return ATN_NOWHERE;
    size_t slot = slot_of(points, point);
    memcpy(points->levels + n * (size_t)points->width, point, bytes);
    points->slots[slot] = (int32_t)++points->n;
    return (int64_t)n;
}

void atn_points_free(atn_points *points) {
    atn_free(points->ctx, points->levels);
    atn_free(points->ctx, points->slots);
    points->levels = points->slots = NULL;
    points->n = 0;
    points->room = points->n_slots = 0;
}
