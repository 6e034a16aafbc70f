/* Work that runs concurrently with the calling thread. */
#include "base/aside.h"

#include "base/context_own.h"
#include "base/parallel.h"

#include <stdio.h>
#include <time.h>

static void run(void *argument) {
    atn_aside *a = argument;
    uint64_t before = atn_fail_count();
    (void)atn_parallel_limit(a->threads > 0 ? a->threads : 1);
    a->work(a->user);
    if (atn_fail_count() != before) snprintf(a->sentence, sizeof a->sentence, "%s", atn_ctx_message(a->ctx));
}

void atn_aside_begin(const atn_ctx *ctx, atn_aside *a, void (*work)(void *user), void *user, int32_t threads) {
    *a = (atn_aside){.work = work, .user = user, .threads = threads, .ctx = ctx, .failures = atn_fail_count()};
    a->gang = atn_gang_begin(ctx, atn_parallel_cores() >= ATN_PARALLEL_MANY, run, a);
    a->kept_off = a->gang && atn_parallel_left() < (threads < 1 ? 1 : threads);
    if (a->kept_off) atn_parallel_keep_off(1);
}

void atn_aside_await(bool (*is_so)(void *user), void *user) {
    bool busily = atn_parallel_cores() >= ATN_PARALLEL_MANY;
    while (!(busily && atn_pool_poll(is_so, user)) && !is_so(user))
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

void atn_aside_end(atn_aside *a) {
    if (!a->work) return;
    if (a->gang) {
        atn_gang_end(a->gang);
        if (a->kept_off) atn_parallel_keep_off(-1);
        if (*a->sentence && a->failures == atn_fail_count()) (void)atn_fail(a->ctx, ATN_OK, "%s", a->sentence);
    } else
        a->work(a->user);
    *a = (atn_aside){0};
}
