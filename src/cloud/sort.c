/* A radix sort from the lowest digit up: all digits are counted in one pass, each then moves the items once. */
#include "cloud/sort.h"

#include "base/memory.h"
#include "base/size.h"

#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 6, VALUES = 1 << DIGIT_BITS }; /* 66 bits */

static size_t digit_of(uint64_t key, int digit) { return key >> (DIGIT_BITS * digit) & (VALUES - 1); }

atn_status cloud_keyed_make(const atn_ctx *ctx, size_t count, cloud_keyed **out) {
    size_t bytes;
    *out = NULL;
    if (count > UINT32_MAX)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%zu points; at most %u are sorted", count, UINT32_MAX);
    if (!atn_size_mul(count, 2 * sizeof **out, &bytes)) return atn_fail_memory(ctx, SIZE_MAX, "keys of points");
    *out = atn_alloc(ctx, bytes);
    return *out ? ATN_OK : ATN_ERR_MEMORY;
}

void cloud_keyed_sort(cloud_keyed *items, size_t count) {
    uint32_t counts[DIGITS][VALUES] = {{0}};
    for (size_t k = 0; k < count; ++k)
        for (int digit = 0; digit < DIGITS; ++digit) ++counts[digit][digit_of(items[k].key, digit)];
    cloud_keyed *from = items, *to = items + count;
    for (int digit = 0; digit < DIGITS && count; ++digit) {
        uint32_t *start = counts[digit], sum = 0;
        if (start[digit_of(items[0].key, digit)] == count) continue;
        for (size_t value = 0; value < VALUES; ++value) {
            uint32_t here = start[value];
            start[value] = sum;
            sum += here;
        }
        for (size_t k = 0; k < count; ++k) to[start[digit_of(from[k].key, digit)]++] = from[k];
        cloud_keyed *held = from;
        from = to;
        to = held;
    }
    if (from != items) memcpy(items, from, count * sizeof *items);
}
