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
    atomic_init(&kept->bytes, 0);
    for (int k = 0; k < ATN_KEPT_SHELVES; ++k) {
        atomic_init(&kept->shelf[k].count, 0);
        pthread_mutex_init(&kept->shelf[k].lock, NULL);
    }
}

void atn_kept_end(atn_kept *kept) {
    for (int k = 0; k < ATN_KEPT_SHELVES; ++k) {
        struct atn_kept_shelf *shelf = &kept->shelf[k];
        while (shelf->count) free(shelf->of[--shelf->count].block);
        pthread_mutex_destroy(&shelf->lock);
    }
}

/* Of the calling thread. */
static unsigned own_shelf(void) {
    static atomic_uint threads;
    static _Thread_local unsigned own; /* its number, from 1 on */
    if (!own) own = 1 + atomic_fetch_add(&threads, 1) % ATN_KEPT_SHELVES;
    return own - 1;
}

static bool is_kept(size_t bytes) { return KEEPS && bytes >= ATN_KEPT_LEAST && bytes <= ATN_KEPT_LARGEST; }

enum { PAGE = 4096 };

/* Sizes an eighth apart, so that one serves many. */
static size_t round_up(size_t bytes) {
    size_t step = 1024;
    while (step < bytes / 8) step *= 2;
    return (bytes + step - 1) / step * step;
}

/* NULL: there is none. Its lock is held. */
static void *take_from(atn_kept *kept, struct atn_kept_shelf *shelf, size_t bytes) {
    size_t most = round_up(bytes) + PAGE; /* malloc may return up to a page more */
    for (size_t k = shelf->count; k-- > 0;)
        if (shelf->of[k].bytes >= bytes && shelf->of[k].bytes <= most) {
            void *found = shelf->of[k].block;
            atomic_fetch_sub(&kept->bytes, shelf->of[k].bytes);
            shelf->of[k] = shelf->of[--shelf->count];
            return found;
        }
    return NULL;
}

void *atn_kept_take(atn_kept *kept, size_t bytes) {
    void *found = NULL;
    if (!is_kept(bytes)) return malloc(bytes);
    for (unsigned k = 0; k < ATN_KEPT_SHELVES && !found; ++k) {
        struct atn_kept_shelf *shelf = &kept->shelf[(own_shelf() + k) % ATN_KEPT_SHELVES];
        if (!shelf->count) continue;
        if (k == 0)
            pthread_mutex_lock(&shelf->lock);
        else if (pthread_mutex_trylock(&shelf->lock) != 0)
            continue;
        found = take_from(kept, shelf, bytes);
        pthread_mutex_unlock(&shelf->lock);
    }
    return found ? found : malloc(round_up(bytes));
}

void atn_kept_give(atn_kept *kept, void *block) {
    enum { ROOM = sizeof kept->shelf->of / sizeof *kept->shelf->of };
    size_t bytes = block && KEEPS ? malloc_usable_size(block) : 0;
    if (is_kept(bytes)) {
        struct atn_kept_shelf *shelf = &kept->shelf[own_shelf()];
        pthread_mutex_lock(&shelf->lock);
        if (shelf->count < ROOM && kept->bytes + bytes <= ATN_KEPT_MOST) {
            shelf->of[shelf->count].block = block;
            shelf->of[shelf->count++].bytes = bytes;
            atomic_fetch_add(&kept->bytes, bytes);
            block = NULL;
        }
        pthread_mutex_unlock(&shelf->lock);
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
