/* A radix sort from the highest digit down, so that all but the first passes stay inside a cache; a digit begins at the
 * highest bit in which the keys still differ. */
#include "cloud/sort.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/size.h"

#include <string.h>

enum { DIGIT_BITS = 8, VALUES = 1 << DIGIT_BITS, FEW = 24, MANY = 1 << 15, SHARED = 1 << 13 };

atn_status cloud_keyed_make(const atn_ctx *ctx, size_t count, cloud_keyed **out) {
    size_t bytes;
    *out = NULL;
    if (count > UINT32_MAX)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%zu points; at most %u are sorted", count, UINT32_MAX);
    if (!atn_size_mul(count, 2 * sizeof **out, &bytes)) return atn_fail_memory(ctx, SIZE_MAX, "keys of points");
    *out = atn_alloc(ctx, bytes);
    return *out ? ATN_OK : ATN_ERR_MEMORY;
}

/* Equal keys stay as they are. */
static void insert_each(cloud_keyed *items, size_t count) {
    for (size_t k = 1; k < count; ++k) {
        cloud_keyed item = items[k];
        size_t at = k;
        for (; at && item.key < items[at - 1].key; --at) items[at] = items[at - 1];
        items[at] = item;
    }
}

/* At most eight deep: each level settles eight bits, or all that are left. */
static void sort_part(cloud_keyed *items, cloud_keyed *scratch, size_t count) { // NOLINT(misc-no-recursion)
    if (count <= FEW) {
        insert_each(items, count);
        return;
    }
    uint64_t differ = 0;
    for (size_t k = 1; k < count; ++k) differ |= items[k].key ^ items[0].key;
    int shift = 0;
    while (differ >> shift >= VALUES) ++shift;
    size_t end[VALUES] = {0}, sum = 0;
    for (size_t k = 0; k < count; ++k) ++end[items[k].key >> shift & (VALUES - 1)];
    for (size_t value = 0; value < VALUES; ++value) {
        size_t here = end[value];
        end[value] = sum; /* its beginning; grows to its end */
        sum += here;
    }
    for (size_t k = 0; k < count; ++k) scratch[end[items[k].key >> shift & (VALUES - 1)]++] = items[k];
    memcpy(items, scratch, count * sizeof *items);
    for (size_t value = 0, first = 0; shift && value < VALUES; first = end[value++])
        sort_part(items + first, scratch + first, end[value] - first);
}

/* ---- many items: the first digit by all cores, and again in parts that are still large; then the others ---- */

/* Each worker counts and moves a part of its own: what was in order stays so. */
typedef struct task {
    cloud_keyed *items, *scratch;
    size_t count;
    int shift;
    int64_t slices;
    uint64_t differ[ATN_PARALLEL_MOST];
    uint32_t end[ATN_PARALLEL_MOST][VALUES]; /* where the next one of a slice goes */
    size_t begin[VALUES + 1];
    size_t
        large; /* parts of more items are split by all cores again: most points are in few cells of a coarse raster */
} task;

static size_t slice_begin(const task *t, int64_t k) { return t->count * (size_t)k / (size_t)t->slices; }

static void find_difference(void *user, int64_t from, int64_t to) {
    task *t = user;
    for (int64_t s = from; s < to; ++s) {
        uint64_t differ = 0;
        for (size_t k = slice_begin(t, s); k < slice_begin(t, s + 1); ++k) differ |= t->items[k].key ^ t->items[0].key;
        t->differ[s] = differ;
    }
}

static void count_digits(void *user, int64_t from, int64_t to) {
    task *t = user;
    for (int64_t s = from; s < to; ++s) {
        memset(t->end[s], 0, sizeof t->end[s]);
        for (size_t k = slice_begin(t, s); k < slice_begin(t, s + 1); ++k)
            ++t->end[s][t->items[k].key >> t->shift & (VALUES - 1)];
    }
}

static void move_items(void *user, int64_t from, int64_t to) {
    task *t = user;
    for (int64_t s = from; s < to; ++s)
        for (size_t k = slice_begin(t, s); k < slice_begin(t, s + 1); ++k)
            t->scratch[t->end[s][t->items[k].key >> t->shift & (VALUES - 1)]++] = t->items[k];
}

static void sort_parts(void *user, int64_t from, int64_t to) {
    task *t = user;
    for (int64_t v = from; v < to; ++v) {
        size_t first = t->begin[v], count = t->begin[v + 1] - first;
        if (count > t->large) continue;
        memcpy(t->items + first, t->scratch + first, count * sizeof *t->items);
        if (t->shift) sort_part(t->items + first, t->scratch + first, count);
    }
}

static void copy_back(void *user, int64_t from, int64_t to) {
    cloud_keyed *const *both = user;
    memcpy(both[0] + from, both[1] + from, (size_t)(to - from) * sizeof **both);
}

/* As deep as sort_part. */
static void sort_many(cloud_keyed *items, cloud_keyed *scratch, size_t count) { // NOLINT(misc-no-recursion)
    task t;
    t.items = items;
    t.scratch = scratch;
    t.count = count;
    t.shift = 0;
    t.slices = atn_parallel_workers();
    t.large = count / (4 * (size_t)t.slices) > MANY ? count / (4 * (size_t)t.slices) : MANY;
    uint64_t differ = 0;
    uint32_t sum = 0; /* of at most that many */
    atn_parallel(t.slices, 1, find_difference, &t);
    for (int64_t s = 0; s < t.slices; ++s) differ |= t.differ[s];
    while (differ >> t.shift >= VALUES) ++t.shift;
    atn_parallel(t.slices, 1, count_digits, &t);
    for (size_t value = 0; value < VALUES; ++value) {
        t.begin[value] = sum;
        for (int64_t s = 0; s < t.slices; ++s) {
            uint32_t here = t.end[s][value];
            t.end[s][value] = sum;
            sum += here;
        }
    }
    t.begin[VALUES] = sum;
    atn_parallel(t.slices, 1, move_items, &t);
    if (!t.shift) t.large = count;
    atn_parallel_pieces(VALUES, sort_parts, &t);
    for (size_t value = 0; value < VALUES; ++value) {
        size_t first = t.begin[value], many = t.begin[value + 1] - first;
        if (many <= t.large) continue;
        cloud_keyed *both[] = {items + first, scratch + first};
        atn_parallel((int64_t)many, MANY / 4, copy_back, both);
        sort_many(items + first, scratch + first, many);
    }
}

void cloud_keyed_sort(cloud_keyed *items, size_t count) {
    if (count < SHARED || atn_parallel_workers() == 1)
        sort_part(items, items + count, count);
    else
        sort_many(items, items + count, count);
}
