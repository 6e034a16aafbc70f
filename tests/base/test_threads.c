/* Threads that can be made, and those that cannot: with room for a stack or without. */
#include "testkit.h"

#include "base/aside.h"
#include "base/attempt.h"
#include "base/parallel.h"
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

KIT_TEST(there_are_threads) {
    for (int32_t wanted = 0; wanted < 9; ++wanted)
        assert_int_equal(atn_threads_possible(wanted), wanted > 1 ? wanted : 1);
}

/* No address space for another stack: in a child, which has never had a thread whose stack is kept. */
KIT_TEST(none_can_be_made) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* their shadows need all address space */
#endif
    if (!kit_memory_limits()) skip();
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
        if (setrlimit(RLIMIT_AS, &none) != 0) _exit(2);
        _exit(atn_threads_possible(4) == 1 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Work beside the caller's. */
enum { PIECES = 1000 };
typedef struct counted {
    int32_t workers;
    int32_t done[PIECES];
} counted;

static void count_some(void *user, int64_t from, int64_t to) {
    counted *c = user;
    for (int64_t k = from; k < to; ++k) ++c->done[k];
}

static void count(void *user) {
    counted *c = user;
    c->workers = atn_parallel_workers();
    atn_parallel(PIECES, 1, count_some, c);
    atn_parallel_pieces(PIECES, count_some, c);
}

KIT_TEST(work_is_done_aside) {
    atn_ctx *ctx = kit_ctx();
    for (int32_t threads = 0; threads < 4; ++threads) {
        counted c = {0};
        atn_aside aside = {0};
        int32_t most = atn_parallel_workers();
        atn_aside_end(&aside); /* none */
        atn_aside_begin(ctx, &aside, count, &c, threads);
        assert_int_equal(atn_parallel_workers(), 1); /* the others are kept off */
        atn_aside_end(&aside);
        atn_aside_end(&aside); /* is over */
        int32_t wanted = threads < 1 ? 1 : threads;
        assert_int_equal(c.workers, wanted < most ? wanted : most);
        for (int k = 0; k < PIECES; ++k) assert_int_equal(c.done[k], 2);
        assert_int_equal(atn_parallel_workers(), most); /* the caller's are what they were */
    }
    kit_free(ctx);
}

/* Loops that leave it a core go on with the others. */
KIT_TEST(cores_are_left_to_work_aside) {
    int32_t most = atn_parallel_workers();
    if (most < 2) skip();
    atn_ctx *ctx = kit_ctx();
    for (int32_t left = most; left > 0; --left) {
        counted c = {0}, own = {0};
        atn_aside aside = {0};
        atn_parallel_leave(left);
        int32_t rest = left < most ? most - left : 1;
        assert_int_equal(atn_parallel_workers(), rest);
        atn_aside_begin(ctx, &aside, count, &c, 1);
        count(&own);
        assert_int_equal(own.workers, rest);
        atn_aside_end(&aside);
        atn_parallel_leave(0);
        assert_int_equal(atn_parallel_workers(), most);
        for (int k = 0; k < PIECES; ++k) assert_true(c.done[k] == 2 && own.done[k] == 2);
    }
    kit_free(ctx);
}

static void go_wrong(void *user) {
    const atn_ctx *ctx = user;
    (void)atn_fail(ctx, ATN_ERR_INPUT, "wrong beside");
}

/* Messages are those of a thread: that of a failure aside comes to the caller, if he has none of his own since. */
KIT_TEST(failures_aside_have_their_sentence) {
    atn_ctx *ctx = kit_ctx();
    for (int own = 0; own < 2; ++own) {
        atn_aside aside = {0};
        (void)atn_fail(ctx, ATN_ERR_INPUT, "an older one");
        atn_aside_begin(ctx, &aside, go_wrong, ctx, 1);
        if (own) (void)atn_fail(ctx, ATN_ERR_INPUT, "one of the caller's");
        atn_aside_end(&aside);
        assert_string_equal(atn_ctx_message(ctx), own ? "one of the caller's" : "wrong beside");
    }
    counted c = {0};
    atn_aside aside = {0};
    atn_aside_begin(ctx, &aside, count, &c, 1); /* on the same thread, without a failure */
    atn_aside_end(&aside);
    assert_string_equal(atn_ctx_message(ctx), "one of the caller's");
    kit_free(ctx);
}

static atn_status go_wrong_at_two(void *user, int64_t from, int64_t to) {
    atn_status status = ATN_OK;
    for (int64_t k = from; k < to && status == ATN_OK; ++k)
        if (k == 2) status = atn_fail(user, ATN_ERR_INPUT, "the third is wrong");
    return status;
}

static atn_status go_wrong_silently(void *user, int64_t from, int64_t to) {
    (void)user;
    return from <= 1 && to > 1 ? ATN_ERR_MEMORY : ATN_OK;
}

/* Whichever thread fails: its status and its message are the caller's; one without a message leaves an older one. */
KIT_TEST(loops_that_fail_have_their_sentence) {
    enum { COUNT = 5 };
    atn_ctx *ctx = kit_ctx();
    for (int64_t least = 0; least < 2; ++least) {
        (void)atn_fail(ctx, ATN_ERR_INPUT, "an older one");
        assert_int_equal(atn_attempt(ctx, 2, least, go_wrong_at_two, ctx), ATN_OK);
        assert_int_equal(atn_attempt(ctx, 0, least, go_wrong_at_two, ctx), ATN_OK);
        assert_int_equal(atn_attempt(ctx, COUNT, least, go_wrong_silently, ctx), ATN_ERR_MEMORY);
        assert_string_equal(atn_ctx_message(ctx), "an older one");
        assert_int_equal(atn_attempt(ctx, COUNT, least, go_wrong_at_two, ctx), ATN_ERR_INPUT);
        assert_string_equal(atn_ctx_message(ctx), "the third is wrong");
    }
    kit_free(ctx);
}

/* Several at once, again and again: what a context keeps for them is used anew, by a child of this process made anew.
 */
KIT_TEST(threads_are_kept_for_work_aside) {
    enum { ASIDES = 10, ROUNDS = 30 };
    atn_ctx *ctx = kit_ctx();
    static counted c[ASIDES];
    for (int round = 0; round < ROUNDS; ++round) {
        atn_aside aside[ASIDES] = {0};
        memset(c, 0, sizeof c);
        for (int k = 0; k < ASIDES; ++k) atn_aside_begin(ctx, &aside[k], count, &c[k], 1 + (k + round) % 4);
        for (int k = 0; k < ASIDES; ++k) atn_aside_end(&aside[k]);
        for (int k = 0; k < ASIDES; ++k)
            for (int n = 0; n < PIECES; ++n) assert_int_equal(c[k].done[n], 2);
    }
#ifndef __SANITIZE_THREAD__
    pid_t child = fork();
    if (child == 0) {
        atn_aside aside = {0};
        memset(c, 0, sizeof c);
        atn_aside_begin(ctx, &aside, count, &c[0], 2);
        atn_aside_end(&aside);
        _exit(c[0].done[0] == 2 && c[0].done[PIECES - 1] == 2 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
#endif
    kit_free(ctx);
}

typedef struct working {
    atn_ctx *ctx;
    atomic_bool over;
} working;

static void *work_on(void *user) {
    working *w = user;
    counted c = {0};
    while (!atomic_load(&w->over)) {
        atn_aside aside = {0};
        atn_aside_begin(w->ctx, &aside, count, &c, 2);
        atn_aside_end(&aside);
    }
    return NULL;
}

/* A fork while another thread begins and ends such work: the child is not left with a lock of a thread that it does
 * not have. */
KIT_TEST(forks_at_any_moment) {
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    enum { FORKS = 1000, SECONDS = 60 };
    working w = {.ctx = kit_ctx()};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work_on, &w), 0);
    for (int k = 0; k < FORKS; ++k) {
        pid_t child = fork();
        if (child == 0) {
            atn_aside aside = {0};
            counted c = {0};
            alarm(SECONDS);
            atn_aside_begin(w.ctx, &aside, count, &c, 2);
            atn_aside_end(&aside);
            _exit(c.done[0] == 2 ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    atomic_store(&w.over, true);
    pthread_join(thread, NULL);
    kit_free(w.ctx);
}

/* Without room for a thread it is done when it is to be over. */
KIT_TEST(work_is_done_at_the_end) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    if (!kit_memory_limits()) skip();
    atn_ctx *ctx = kit_ctx();
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
        counted c = {0};
        atn_aside aside = {0};
        if (setrlimit(RLIMIT_AS, &none) != 0) _exit(2);
        atn_aside_begin(ctx, &aside, count, &c, 2);
        if (c.done[0]) _exit(3);
        atn_aside_end(&aside);
        _exit(c.done[0] == 2 && c.done[PIECES - 1] == 2 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    kit_free(ctx);
}

/* A number of OpenMP's limits the cores; what is none, or more than there are, does not. */
KIT_TEST(openmp_says_how_many) {
    static const char *const LESS[] = {"1", "1,4"}, *const AS_BEFORE[] = {"", "0", "-3", "x", "100000"};
    const char *was = getenv("OMP_NUM_THREADS");
    char *kept = was ? strdup(was) : NULL;
    unsetenv("OMP_NUM_THREADS");
    int32_t all = atn_parallel_cores();
    for (size_t k = 0; k < sizeof LESS / sizeof *LESS; ++k) {
        setenv("OMP_NUM_THREADS", LESS[k], 1);
        assert_int_equal(atn_parallel_cores(), 1);
    }
    for (size_t k = 0; k < sizeof AS_BEFORE / sizeof *AS_BEFORE; ++k) {
        setenv("OMP_NUM_THREADS", AS_BEFORE[k], 1);
        assert_int_equal(atn_parallel_cores(), all);
    }
    if (kept)
        setenv("OMP_NUM_THREADS", kept, 1);
    else
        unsetenv("OMP_NUM_THREADS");
    free(kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(openmp_says_how_many),
                                       cmocka_unit_test(none_can_be_made),
                                       cmocka_unit_test(work_is_done_at_the_end), /* stacks of threads are kept */
                                       cmocka_unit_test(threads_are_kept_for_work_aside),
                                       cmocka_unit_test(failures_aside_have_their_sentence),
                                       cmocka_unit_test(loops_that_fail_have_their_sentence),
                                       cmocka_unit_test(work_is_done_aside),
                                       cmocka_unit_test(cores_are_left_to_work_aside),
                                       cmocka_unit_test(there_are_threads),
                                       cmocka_unit_test(forks_at_any_moment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
