/* Memoised counts. */
#include "base/memory.h"
#include "space/plan.h"

#include <string.h>

static size_t place(uint64_t key, size_t capacity) {
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (capacity - 1);
}

bool atn_memo_find(const atn_memo *memo, uint64_t key, atn_wide *out) {
    if (!memo->capacity) return false;
    for (size_t at = place(key, memo->capacity); memo->keys[at]; at = (at + 1) & (memo->capacity - 1)) {
        if (memo->keys[at] != key + 1) continue;
        if (out) *out = memo->counts[at];
        return true;
    }
    return false;
}

static void insert(atn_memo *memo, uint64_t key, atn_wide count) {
    size_t at = place(key, memo->capacity);
    while (memo->keys[at]) at = (at + 1) & (memo->capacity - 1);
    memo->keys[at] = key + 1;
    if (memo->counts) memo->counts[at] = count;
}

static atn_status enlarge(const atn_ctx *ctx, atn_memo *memo) {
    bool counts = memo->on;
    atn_memo larger = {.on = memo->on, .count = memo->count, .capacity = memo->capacity ? 4 * memo->capacity : 64};
    larger.keys = atn_zalloc(ctx, larger.capacity * sizeof *larger.keys);
    if (counts) larger.counts = atn_alloc(ctx, larger.capacity * sizeof *larger.counts);
    if (!larger.keys || (counts && !larger.counts)) {
        atn_memo_free(ctx, &larger);
        return ATN_ERR_MEMORY;
    }
    for (size_t at = 0; at < memo->capacity; ++at)
        if (memo->keys[at]) insert(&larger, memo->keys[at] - 1, counts ? memo->counts[at] : 0);
    atn_memo_free(ctx, memo);
    *memo = larger;
    return ATN_OK;
}

atn_status atn_memo_put(const atn_ctx *ctx, atn_memo *memo, uint64_t key, atn_wide count) {
    if (4 * (memo->count + 1) > 3 * memo->capacity) {
        atn_status status = enlarge(ctx, memo);
        if (status) return status;
    }
    insert(memo, key, count);
    ++memo->count;
    return ATN_OK;
}

void atn_memo_free(const atn_ctx *ctx, atn_memo *memo) {
    atn_free(ctx, memo->keys);
    atn_free(ctx, memo->counts);
    memo->keys = NULL;
    memo->counts = NULL;
    memo->count = memo->capacity = 0;
}
