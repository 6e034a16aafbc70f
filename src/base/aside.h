/* Host work that runs concurrently with the calling thread while that waits for a device. */
#ifndef ATN_BASE_ASIDE_H
#define ATN_BASE_ASIDE_H

#include "base/gang.h"

/* Zeroed: there is none. Must stay where it is from beginning to end. */
typedef struct atn_aside {
    void (*work)(void *user); /* NULL: none, or done */
    void *user;
    int32_t threads;
    atn_gang *gang; /* that does it; NULL: it is left to atn_aside_end */
    bool kept_off;  /* the caller's loops keep off its cores */
    const atn_ctx *ctx;
    uint64_t failures;                /* of the caller, when it began */
    char sentence[ATN_MESSAGE_BYTES]; /* of the last failure of `work`; "": none */
} atn_aside;

/* Begins `work`, whose loops over all cores (base/parallel.h) have so many threads of their own; loops of the caller
 * have one until it is over, unless they leave as many cores (atn_parallel_leave). Where no thread can be had,
 * atn_aside_end does it. */
void atn_aside_begin(const atn_ctx *ctx, atn_aside *aside, void (*work)(void *user), void *user, int32_t threads);
bool atn_aside_is_done(const atn_aside *aside); /* its end would not wait; none: true */
/* Waits until it is done; none: nothing. By the thread that began it, which then has the message of a failure of `work`
 * where it has none of its own since. */
void atn_aside_end(atn_aside *aside);

#endif
