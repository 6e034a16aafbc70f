/* Work beside the calling thread. */
#include "base/aside.h"

#include "base/parallel.h"

static void *run(void *argument) {
    atn_aside *a = argument;
    (void)atn_parallel_limit(a->threads > 0 ? a->threads : 1);
    a->work(a->user);
    return NULL;
}

void atn_aside_begin(atn_aside *a, void (*work)(void *user), void *user, int32_t threads) {
    *a = (atn_aside){.work = work, .user = user, .threads = threads};
    a->running = pthread_create(&a->thread, NULL, run, a) == 0;
    a->kept_off = a->running && atn_parallel_left() < (threads < 1 ? 1 : threads);
    if (a->kept_off) atn_parallel_keep_off(1);
}

void atn_aside_end(atn_aside *a) {
    if (!a->work) return;
    if (a->running) {
        pthread_join(a->thread, NULL);
        if (a->kept_off) atn_parallel_keep_off(-1);
    } else
        a->work(a->user);
    *a = (atn_aside){0};
}
