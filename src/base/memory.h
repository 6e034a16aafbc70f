/* Counted allocation through the context's allocator. All of the library allocates here. */
#ifndef ATN_BASE_MEMORY_H
#define ATN_BASE_MEMORY_H

#include "base/context.h"

/* NULL on failure, with the sentence left. Zero bytes give a valid block. Blocks are owned by the caller and
 * go back with atn_free. atn_resize keeps the old block when it fails; block NULL allocates. */
void *atn_alloc(const atn_ctx *ctx, size_t bytes);
void *atn_zalloc(const atn_ctx *ctx, size_t bytes); /* zeroed */
void *atn_resize(const atn_ctx *ctx, void *block, size_t bytes);
void atn_free(const atn_ctx *ctx, void *block); /* NULL is fine */

char *atn_strdup(const atn_ctx *ctx, const char *text);

/* Room for one more element of `size` bytes in a growing array: *capacity doubles, *array moves. */
atn_status atn_grow(const atn_ctx *ctx, void **array, size_t *capacity, size_t count, size_t size);

/* For programs of which several run side by side: the first 256 MB of blocks come in large pages, and stay when they
 * are freed. Each process touches its memory for the first time by itself, which takes long in small pages. */
void atn_memory_in_large_pages(void);

/* The hook and the counters, kept with the context. */
void *atn_ctx_resize(const atn_ctx *ctx, void *block, size_t bytes);
void atn_ctx_count(const atn_ctx *ctx, size_t more, size_t less);
void atn_ctx_count_refusal(const atn_ctx *ctx);
/* Allocations that failed so far. For libraries that allocate through us and do not say why they failed. */
size_t atn_ctx_refused(const atn_ctx *ctx);

#endif
