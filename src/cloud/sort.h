/* Indices sorted by keys of 64 bits: a radix sort, which keeps the order of equal keys. */
#ifndef ATN_CLOUD_SORT_H
#define ATN_CLOUD_SORT_H

#include "base/context.h"

typedef struct cloud_keyed {
    uint64_t key;
    uint32_t index;
} cloud_keyed;

/* Room for `count` of them, with as many behind for sorting; owned by the caller (atn_free). */
atn_status cloud_keyed_make(const atn_ctx *ctx, size_t count, cloud_keyed **out);

/* The lowest key first. Bits that are the same in all keys cost nothing. */
void cloud_keyed_sort(cloud_keyed *items, size_t count);

/* Two zeros between any two of 21 bits: three of these, shifted by 0, 1 and 2, are a key along a Morton curve. */
static inline uint64_t cloud_spread(uint64_t bits) {
    bits = (bits | bits << 32) & 0x001f00000000ffffu;
    bits = (bits | bits << 16) & 0x001f0000ff0000ffu;
    bits = (bits | bits << 8) & 0x100f00f00f00f00fu;
    bits = (bits | bits << 4) & 0x10c30c30c30c30c3u;
    bits = (bits | bits << 2) & 0x1249249249249249u;
    return bits;
}

#endif
