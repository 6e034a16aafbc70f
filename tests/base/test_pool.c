/* The threads that all loops share: every part once, whoever calls and however many at a time, and in a child of fork.
 */
#include "testkit.h"

#include "base/parallel.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1000, THREADS = 4 }; /* more threads than a small machine has cores */

typedef struct counted {
    int32_t plain[MOST]; /* not atomic: whoever reads it must see what others have written */
    atomic_int nested, wrong;
} counted;

static void count_some(void *user, int64_t from, int64_t to) {
    counted *c = user;
    for (int64_t k = from; k < to; ++k) ++c->plain[k];
    if (atn_parallel_workers() != 1) atomic_fetch_add(&c->wrong, 1);
}

static bool all_are(const counted *c, int64_t count, int32_t times) {
    for (int64_t k = 0; k < MOST; ++k)
        if (c->plain[k] != (k < count ? times : 0)) return false;
    return c->wrong == 0;
}

KIT_TEST(each_is_done_once) {
    static const int64_t COUNTS[] = {-1, 0, 1, 2, 3, 100, MOST}, LEAST[] = {0, 1, 60, 5000};
    for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; ++k)
        for (size_t l = 0; l < sizeof LEAST / sizeof *LEAST; ++l) {
            counted c = {0};
            atn_parallel(COUNTS[k], LEAST[l], count_some, &c);
            assert_true(all_are(&c, COUNTS[k], 1));
            atn_parallel_pieces(COUNTS[k], count_some, &c);
            assert_true(all_are(&c, COUNTS[k], 2));
        }
}

/* One after another, so closely that threads come late, and with pauses in which they fall asleep. */
KIT_TEST(loops_follow_each_other) {
    enum { ROUNDS = 3000, PAUSE = 500 };
    counted c = {0};
    for (int32_t k = 0; k < ROUNDS; ++k) {
        atn_parallel(MOST, 1, count_some, &c);
        if (k % PAUSE == 0) usleep(2000);
    }
    assert_true(all_are(&c, MOST, ROUNDS));
}

/* A piece may wait for those before it: they have been started. */
typedef struct chain {
    atomic_int done;
} chain;

static void follow(void *user, int64_t from, int64_t to) {
    chain *c = user;
    (void)to;
    while (atomic_load(&c->done) != from) sched_yield();
    atomic_store(&c->done, (int)from + 1);
}

KIT_TEST(pieces_begin_in_order) {
    chain c = {0};
    atn_parallel_pieces(MOST, follow, &c);
    assert_int_equal(c.done, MOST);
}

static void nest(void *user, int64_t from, int64_t to) {
    counted *outer = user;
    for (int64_t k = from; k < to; ++k) {
        counted inner = {0};
        int32_t worker = atn_parallel_worker();
        atn_parallel(MOST, 1, count_some, &inner);
        if (!all_are(&inner, MOST, 1) || atn_parallel_worker() != worker) atomic_fetch_add(&outer->wrong, 1);
        atomic_fetch_add(&outer->nested, 1);
    }
}

KIT_TEST(loops_are_nested) {
    counted c = {0};
    atn_parallel(20, 1, nest, &c);
    assert_int_equal(c.nested, 20);
    assert_int_equal(c.wrong, 0);
}

/* Callers of their own share the threads: more of them than there are posts on the board. */
static void *call(void *user) {
    enum { ROUNDS = 200 };
    counted c = {0};
    for (int32_t k = 0; k < ROUNDS; ++k) atn_parallel(MOST, 1, count_some, &c);
    *(bool *)user = all_are(&c, MOST, ROUNDS);
    return NULL;
}

KIT_TEST(several_call_at_once) {
    enum { CALLERS = 70 };
    pthread_t thread[CALLERS];
    bool right[CALLERS];
    for (int k = 0; k < CALLERS; ++k) assert_int_equal(pthread_create(&thread[k], NULL, call, &right[k]), 0);
    for (int k = 0; k < CALLERS; ++k) {
        pthread_join(thread[k], NULL);
        assert_true(right[k]);
    }
}

/* More threads than cores: each waits until all are there, so that all must come. */
typedef struct meeting {
    atomic_int there;
    atomic_int homes[THREADS];
} meeting;

static void meet(void *user, int32_t home) {
    meeting *m = user;
    if (home >= 0 && home < THREADS) atomic_fetch_add(&m->homes[home], 1);
    atomic_fetch_add(&m->there, 1);
    while (atomic_load(&m->there) < THREADS) sched_yield();
}

KIT_TEST(all_come_if_they_are_waited_for) {
    for (int k = 0; k < 50; ++k) {
        meeting m = {0};
        atn_pool_run(THREADS, meet, &m);
        assert_int_equal(m.there, THREADS);
        int homes = 0;
        for (int h = 0; h < THREADS; ++h) homes += m.homes[h];
        assert_int_equal(homes, THREADS);
        assert_true(m.homes[0] >= 1);
        if (k % 10 == 0) usleep(3000);
    }
}

/* They work where the caller may: on one core, then on all. */
typedef struct places {
    cpu_set_t allowed;
    atomic_int there, outside;
} places;

static void look(void *user, int32_t home) {
    places *p = user;
    cpu_set_t own;
    (void)home;
    if (sched_getaffinity(0, sizeof own, &own) != 0 || !CPU_EQUAL(&own, &p->allowed)) atomic_fetch_add(&p->outside, 1);
    atomic_fetch_add(&p->there, 1);
    while (atomic_load(&p->there) < THREADS) sched_yield();
}

KIT_TEST(they_use_the_cores_of_the_caller) {
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); ++cpu)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    for (int k = 0; k < 4; ++k) {
        places p = {.allowed = k % 2 ? before : one};
        assert_int_equal(sched_setaffinity(0, sizeof p.allowed, &p.allowed), 0);
        atn_pool_run(THREADS, look, &p);
        assert_int_equal(p.there, THREADS);
        assert_int_equal(p.outside, 0);
    }
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

/* Quick loops for few threads: of those that are there, the others stay away until the last of these loops is over. */
typedef struct guests {
    atomic_int of[ATN_POOL_MOST];
} guests;

static void visit(void *user, int32_t home) {
    guests *g = user;
    atomic_fetch_add(&g->of[home], 1);
    for (int k = 0; k < 1000 && home == 0; ++k) sched_yield(); /* meanwhile others may come */
}

/* How often threads from `first` on came to so many loops. */
static int visits(int32_t threads, int32_t first, int loops) {
    guests g = {0};
    int count = 0;
    for (int k = 0; k < loops; ++k) atn_pool_run(threads, visit, &g);
    for (int32_t h = first; h < threads; ++h) count += g.of[h];
    return count;
}

KIT_TEST(only_those_who_are_expected_come) {
    enum { LOOPS = 40 };
    int32_t all = atn_parallel_cores() > THREADS ? atn_parallel_cores() : THREADS, others = all - 2;
    meeting m = {0};
    atn_pool_run(THREADS, meet, &m);
    for (int round = 0; round < 3; ++round) {
        atn_pool_expect(1);
        assert_true(visits(all, 2, LOOPS) <= others); /* each once, where it had been about to */
        int came = 0;
        for (int tries = 0; !came && tries < 100; ++tries) came = visits(all, 1, LOOPS);
        assert_true(came);
        atn_pool_rest();
        for (int tries = 0; came && tries < 100; ++tries) came = visits(all, 2, LOOPS) == 0;
        assert_int_equal(came, 0);
    }
}

#ifndef __SANITIZE_THREAD__
/* A child has none of the threads and makes its own; also where another thread is in the middle of a loop. */
static atomic_bool over;

static void *keep_calling(void *user) {
    counted c = {0};
    (void)user;
    while (!atomic_load(&over)) atn_parallel(MOST, 1, count_some, &c);
    return NULL;
}

static void *nothing(void *user) { return user; }

/* Threads of a child, in a process that has some: not under emulators that keep the parent's (qemu-user). */
static bool children_have_threads(void) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        _exit(pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0 ? 0 : 1);
    }
    bool have = waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!have) print_message("    threads of a child: skipped, there are none under this emulator\n");
    return have;
}

KIT_TEST(children_have_their_own) {
    enum { FORKS = 200, SECONDS = 60 };
    pthread_t thread;
    if (!children_have_threads()) skip();
    assert_int_equal(pthread_create(&thread, NULL, keep_calling, NULL), 0);
    for (int k = 0; k < FORKS; ++k) {
        pid_t child = fork();
        if (child == 0) {
            counted c = {0};
            meeting m = {0};
            alarm(SECONDS);
            atn_parallel(MOST, 1, count_some, &c);
            atn_pool_run(THREADS, meet, &m);
            _exit(all_are(&c, MOST, 1) && m.there == THREADS ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
}
#endif

/* Threads sleep in a plugin that is closed, and wake up in it. */
KIT_TEST(plugins_can_be_closed) {
    for (int k = 0; k < 3; ++k) {
        void *plugin = dlopen(POOL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
        assert_non_null(plugin);
        int (*use)(void) = (int (*)(void))(uintptr_t)dlsym(plugin, "use");
        assert_non_null(use);
        assert_int_equal(use(), 2);
        if (k == 0) usleep(5000);
        assert_int_equal(dlclose(plugin), 0);
        usleep(2000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_done_once),
        cmocka_unit_test(loops_follow_each_other),
        cmocka_unit_test(pieces_begin_in_order),
        cmocka_unit_test(loops_are_nested),
        cmocka_unit_test(several_call_at_once),
        cmocka_unit_test(all_come_if_they_are_waited_for),
        cmocka_unit_test(they_use_the_cores_of_the_caller),
        cmocka_unit_test(only_those_who_are_expected_come),
        cmocka_unit_test(plugins_can_be_closed),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(children_have_their_own),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
