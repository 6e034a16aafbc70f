/* Memory held by a context: where blocks come from, and the counters of current, peak and refused bytes. */
#include "base/context_own.h"
#include "base/memory.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What this thread has allocated since its own watch began, less what it has freed. */
static _Thread_local struct {
    bool on;
    int64_t held, peak;
} own;

/* Large blocks come in large pages: the first touch of small ones costs as much as the work done with them. */
enum { LARGE_PAGE = 1 << 21 };

static bool heap_is_large; /* its pages */

void atn_memory_in_large_pages(void) {
#if defined MADV_HUGEPAGE && defined M_TOP_PAD
    enum { MOST = 1 << 28, SOME = 1 << 20, LARGE = 1 << 25 };
    if (!mallopt(M_TOP_PAD, MOST) || !mallopt(M_MMAP_THRESHOLD, LARGE) || !mallopt(M_TRIM_THRESHOLD, INT_MAX)) return;
    char *first = malloc(SOME), *end = sbrk(0);
    uintptr_t from = ((uintptr_t)first + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    if (first && from < (uintptr_t)end && (uintptr_t)end - from <= 2 * (uintptr_t)MOST)
        heap_is_large = madvise((void *)from, ((uintptr_t)end - from) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE) == 0;
    free(first);
#endif
}

void *atn_ctx_plain_resize(void *user, void *block, size_t bytes) {
    (void)user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    if (block || bytes < (heap_is_large ? 8 * LARGE_PAGE : LARGE_PAGE)) return realloc(block, bytes);
    void *large = bytes <= SIZE_MAX - LARGE_PAGE
                      ? aligned_alloc(LARGE_PAGE, (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE)
                      : NULL;
#ifdef MADV_HUGEPAGE
    if (large) (void)madvise(large, bytes, MADV_HUGEPAGE);
#endif
    return large;
}

size_t atn_ctx_bytes(const atn_ctx *ctx) { return atomic_load(&ctx->bytes); }

size_t atn_ctx_peak_bytes(const atn_ctx *ctx) { return atomic_load(&ctx->peak); }

void atn_ctx_watch_thread(bool on) { own.on = on; }

size_t atn_ctx_watch_peak(const atn_ctx *ctx) {
    own.held = own.peak = 0;
    if (own.on) return 0;
    size_t now = atomic_load(&ctx->bytes);
    atomic_store(&((atn_ctx *)(uintptr_t)ctx)->watched, now);
    return now;
}

size_t atn_ctx_watched_peak(const atn_ctx *ctx) { return own.on ? (size_t)own.peak : atomic_load(&ctx->watched); }

size_t atn_ctx_refused(const atn_ctx *ctx) { return atomic_load(&ctx->refused); }

void atn_ctx_count_refusal(const atn_ctx *ctx) { atomic_fetch_add(&((atn_ctx *)(uintptr_t)ctx)->refused, 1); }

void *atn_ctx_resize(const atn_ctx *ctx, void *block, size_t bytes) {
    atn_kept *kept = &((atn_ctx *)(uintptr_t)ctx)->kept;
    bool plain = ctx->options.resize == atn_ctx_plain_resize;
    if (plain && !block && bytes && bytes <= ATN_KEPT_LARGEST) return atn_kept_take(kept, bytes);
    if (plain && block && !bytes) {
        atn_kept_give(kept, block);
        return NULL;
    }
    if (plain && block) return atn_kept_grow(kept, block, bytes);
    return ctx->options.resize(ctx->options.resize_user, block, bytes);
}

void atn_ctx_count(const atn_ctx *ctx, size_t more, size_t less) {
    atn_ctx *c = (atn_ctx *)ctx;
    size_t now = atomic_fetch_add(&c->bytes, more - less) + more - less;
    size_t peak = atomic_load(&c->peak), watched = atomic_load(&c->watched);
    while (now > peak && !atomic_compare_exchange_weak(&c->peak, &peak, now)) {}
    while (now > watched && !atomic_compare_exchange_weak(&c->watched, &watched, now)) {}
    own.held += (int64_t)more - (int64_t)less;
    if (own.held > own.peak) own.peak = own.held;
}
