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

/* The lowest key first. Digits that are the same in all keys cost nothing. */
void cloud_keyed_sort(cloud_keyed *items, size_t count);

#endif
