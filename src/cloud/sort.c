/* A radix sort from the highest digit down, so that all but the first passes stay inside a cache; a digit begins at the
 * highest bit in which the keys still differ. */
#include "cloud/sort.h"

#include "base/memory.h"
#include "base/size.h"

#include <string.h>

enum { DIGIT_BITS = 8, VALUES = 1 << DIGIT_BITS, FEW = 24 };

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

void cloud_keyed_sort(cloud_keyed *items, size_t count) { sort_part(items, items + count, count); }
