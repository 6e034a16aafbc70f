/* Host work that runs concurrently with the calling thread while that waits for a device. */
#ifndef ATN_BASE_ASIDE_H
#define ATN_BASE_ASIDE_H

#include "base/gang.h"

/* Zeroed: there is none. Must not be moved between beginning and end. */
typedef struct atn_aside {
    void (*work)(void *user); /* NULL: none, or done */
    void *user;
    int32_t threads;
    atn_gang *gang; /* the threads that run it; NULL: it is left to atn_aside_end */
    bool kept_off;  /* loops of the caller avoid its cores */
    const atn_ctx *ctx;
    uint64_t failures;                /* of the caller, when it began */
    char sentence[ATN_MESSAGE_BYTES]; /* of the last failure of `work`; "": none */
} atn_aside;

/* Starts `work`, whose loops over all cores (base/parallel.h) have at most that many threads; loops of the caller
 * use one until it has finished, unless they leave as many cores (atn_parallel_leave). If no thread can be created,
 * atn_aside_end does the work. */
void atn_aside_begin(const atn_ctx *ctx, atn_aside *aside, void (*work)(void *user), void *user, int32_t threads);
void atn_aside_await(bool (*is_so)(void *user), void *user); /* what another thread does */
/* Waits until it has finished; none: returns at once. Called by the thread that started it, which then has the message
 * of a failure of `work`, unless it failed itself since. */
void atn_aside_end(atn_aside *aside);

#endif
