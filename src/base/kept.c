/* Few enough for a linear search, the last first: what was just freed is in the caches. */
#include "base/kept.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
enum { KEEPS = false }; /* its own allocator detects use after free */
#else
enum { KEEPS = true };
#endif

void atn_kept_begin(atn_kept *kept) {
    kept->count = kept->bytes = 0;
    pthread_mutex_init(&kept->lock, NULL);
}

void atn_kept_end(atn_kept *kept) {
    while (kept->count) free(kept->of[--kept->count].block);
    pthread_mutex_destroy(&kept->lock);
}

static bool is_kept(size_t bytes) { return KEEPS && bytes >= ATN_KEPT_LEAST && bytes <= ATN_KEPT_LARGEST; }

enum { PAGE = 4096 };

/* Sizes an eighth apart, so that one serves many. */
static size_t round_up(size_t bytes) {
    size_t step = 1024;
    while (step < bytes / 8) step *= 2;
    return (bytes + step - 1) / step * step;
}

void *atn_kept_take(atn_kept *kept, size_t bytes) {
    void *found = NULL;
    if (!is_kept(bytes)) return malloc(bytes);
    size_t most = round_up(bytes) + PAGE; /* malloc may return up to a page more */
    pthread_mutex_lock(&kept->lock);
    for (size_t k = kept->count; k-- > 0 && !found;)
        if (kept->of[k].bytes >= bytes && kept->of[k].bytes <= most) {
            found = kept->of[k].block;
            kept->bytes -= kept->of[k].bytes;
            kept->of[k] = kept->of[--kept->count];
        }
    pthread_mutex_unlock(&kept->lock);
    return found ? found : malloc(round_up(bytes));
}

void atn_kept_give(atn_kept *kept, void *block) {
    enum { ROOM = sizeof kept->of / sizeof *kept->of };
    size_t bytes = block && KEEPS ? malloc_usable_size(block) : 0;
    if (is_kept(bytes)) {
        pthread_mutex_lock(&kept->lock);
        bool keep = kept->count < ROOM && kept->bytes + bytes <= ATN_KEPT_MOST;
        if (keep) {
            kept->of[kept->count].block = block;
            kept->of[kept->count++].bytes = bytes;
            kept->bytes += bytes;
            block = NULL;
        }
        pthread_mutex_unlock(&kept->lock);
    }
    free(block);
}

void *atn_kept_grow(atn_kept *kept, void *block, size_t bytes) {
    size_t room = KEEPS ? malloc_usable_size(block) : 0;
    if (!is_kept(bytes) || bytes <= room) return realloc(block, bytes);
    void *larger = atn_kept_take(kept, bytes);
    if (!larger) return NULL;
    memcpy(larger, block, room);
    atn_kept_give(kept, block);
    return larger;
}
