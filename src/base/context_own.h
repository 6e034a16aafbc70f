/* The context's definition, for the files that implement it: context.c, fail.c, held.c. */
#ifndef ATN_BASE_CONTEXT_OWN_H
#define ATN_BASE_CONTEXT_OWN_H

#include "base/context.h"
#include "base/kept.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ATN_CTX_ATTACHMENTS = 8 };

typedef struct atn_attachment {
    const void *tag; /* NULL: free */
    void *object;
    void (*release)(void *object);
} atn_attachment;

struct atn_ctx {
    uint64_t number;          /* from 1, of this one only */
    atn_ctx_settings options; /* as given, strings copied */
    char *cache_dir;          /* owned copy, or NULL */
    char *compiler;           /* owned copy, or NULL */
    atomic_bool cancelled;    /* set by atn_ctx_cancel */
    atn_progress_fn progress; /* or NULL */
    void *progress_user;
    pthread_mutex_t *progress_lock; /* threads of one call report one at a time; a pointer as `lock` is */
    pthread_mutex_t progress_lock_;
    atomic_size_t bytes;   /* allocated now */
    atomic_size_t peak;    /* the most allocated at once */
    atomic_size_t watched; /* the same since a watch began */
    atomic_size_t refused; /* allocations that failed */
    pthread_mutex_t *lock; /* guards what is attached; a pointer, so that a const context can be locked */
    pthread_mutex_t lock_; /* what `lock` points to */
    atn_attachment attached[ATN_CTX_ATTACHMENTS];
    atn_kept kept; /* where the caller has no allocator */
};

/* fail.c, for aside.c: failures of this thread so far. */
uint64_t atn_fail_count(void);

/* held.c: the allocator where the caller has none. */
void *atn_ctx_plain_resize(void *user, void *block, size_t bytes);

#endif
