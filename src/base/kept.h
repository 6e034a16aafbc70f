/* Freed blocks of memory, kept for the next allocation: a registration allocates and frees hundreds of some kilobytes,
 * and the system's allocator returns such blocks to the kernel, which clears every page again. */
#ifndef ATN_BASE_KEPT_H
#define ATN_BASE_KEPT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum {
    ATN_KEPT_LEAST = 4 << 10,
    ATN_KEPT_LARGEST = (2 << 20) - 1,
    ATN_KEPT_MOST = 32 << 20
}; /* bytes: of a block; all */

/* Threads put blocks on a shelf of their own, or of few others, and look at the other shelves after that: a hundred
 * that register pairs side by side would wait for one. */
enum { ATN_KEPT_SHELVES = 16 };
typedef struct atn_kept {
    struct atn_kept_shelf {
        pthread_mutex_t lock;
        struct {
            void *block;
            size_t bytes; /* that it has room for */
        } of[256];
        atomic_size_t count;
    } shelf[ATN_KEPT_SHELVES];
    atomic_size_t bytes; /* of all blocks */
} atn_kept;

void atn_kept_begin(atn_kept *kept);
void atn_kept_end(atn_kept *kept); /* frees all */

/* A block of at least that many bytes, from malloc or kept; NULL: out of memory. */
void *atn_kept_take(atn_kept *kept, size_t bytes);
void atn_kept_give(atn_kept *kept, void *block); /* from malloc; kept or freed */
/* As realloc; a growing block continues in one that was kept. */
void *atn_kept_grow(atn_kept *kept, void *block, size_t bytes);

#endif
