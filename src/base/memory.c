/* Counted allocation: each block is preceded by its size, so that the context knows how much is held. */
#include "base/memory.h"

#include "base/size.h"

#include <stdalign.h>
#include <string.h>

typedef union header {
    size_t bytes; /* what the caller asked for */
    max_align_t align;
} header;

void *atn_resize(const atn_ctx *ctx, void *block, size_t bytes) {
    header *old = block ? (header *)block - 1 : NULL;
    size_t before = old ? old->bytes : 0, total;
    header *fresh = atn_size_add(bytes, sizeof *fresh, &total) ? atn_ctx_resize(ctx, old, total) : NULL;
    if (!fresh) {
        atn_ctx_count_refusal(ctx);
        (void)atn_fail_memory(ctx, bytes, "a block");
        return NULL;
    }
    fresh->bytes = bytes;
    atn_ctx_count(ctx, bytes, before);
    return fresh + 1;
}

void *atn_alloc(const atn_ctx *ctx, size_t bytes) { return atn_resize(ctx, NULL, bytes); }

void *atn_zalloc(const atn_ctx *ctx, size_t bytes) {
    void *block = atn_alloc(ctx, bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

void atn_free(const atn_ctx *ctx, void *block) {
    if (!block) return;
    header *old = (header *)block - 1;
    atn_ctx_count(ctx, 0, old->bytes);
    (void)atn_ctx_resize(ctx, old, 0);
}

char *atn_strdup(const atn_ctx *ctx, const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = atn_alloc(ctx, bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

atn_status atn_grow(const atn_ctx *ctx, void **array, size_t *capacity, size_t count, size_t size) {
    if (count < *capacity) return ATN_OK;
    size_t wanted = *capacity ? *capacity : 8, bytes;
    if (!atn_size_mul(wanted, 2, &wanted) || !atn_size_mul(wanted, size, &bytes))
        return atn_fail_memory(ctx, SIZE_MAX, "a growing array");
    void *moved = atn_resize(ctx, *array, bytes);
    if (!moved) return ATN_ERR_MEMORY;
    *array = moved;
    *capacity = wanted;
    return ATN_OK;
}
