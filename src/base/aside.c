/* Work that runs concurrently with the calling thread. */
#include "base/aside.h"

#include "base/parallel.h"

static void run(void *argument, int32_t k) {
    const atn_aside *a = argument;
    (void)k;
    (void)atn_parallel_limit(a->threads > 0 ? a->threads : 1);
    a->work(a->user);
}

void atn_aside_begin(const atn_ctx *ctx, atn_aside *a, void (*work)(void *user), void *user, int32_t threads) {
    *a = (atn_aside){.work = work, .user = user, .threads = threads};
    a->gang = atn_gang_begin(ctx, threads, atn_parallel_cores() >= ATN_PARALLEL_MANY, run, a);
    a->kept_off = a->gang && atn_parallel_left() < (threads < 1 ? 1 : threads);
    if (a->kept_off) atn_parallel_keep_off(1);
}

bool atn_aside_is_done(const atn_aside *a) { return !a->work || (a->gang && atn_gang_is_done(a->gang)); }

void atn_aside_end(atn_aside *a) {
    if (!a->work) return;
    if (a->gang) {
        atn_gang_end(a->gang);
        if (a->kept_off) atn_parallel_keep_off(-1);
    } else
        a->work(a->user);
    *a = (atn_aside){0};
}
