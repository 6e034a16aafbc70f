/* Threads that can be made, and those that cannot: with room for a stack or without. */
#include "testkit.h"

#include "base/threads.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ONE, OTHER; /* addresses of two runtimes */

static void there_are_threads(void **state) {
    (void)state;
    for (int32_t wanted = 0; wanted < 9; ++wanted)
        assert_int_equal(atn_threads_possible(wanted), wanted > 1 ? wanted : 1);
    static const int32_t WANTED[] = {1, 2, 4, 2, 4, 1, 3};
    for (size_t k = 0; k < sizeof WANTED / sizeof *WANTED; ++k) {
        assert_int_equal(atn_threads_ready(&ONE, WANTED[k]), WANTED[k]);
        assert_int_equal(atn_threads_ready(&OTHER, WANTED[k]), WANTED[k]);
        assert_int_equal(atn_threads_ready(NULL, WANTED[k]), WANTED[k]);
    }
}

/* What a library keeps is what its last region had, of each library by itself. */
static void they_are_counted(void **state) {
    (void)state;
    static const char NEW;
    assert_int_equal(atn_threads_kept(&NEW), 1);
    assert_int_equal(atn_threads_ready(&ONE, 4), 4);
    assert_int_equal(atn_threads_ready(&OTHER, 2), 2);
    assert_int_equal(atn_threads_ready(&ONE, 1), 1);
    assert_int_equal(atn_threads_kept(&ONE), 4);
    assert_int_equal(atn_threads_kept(&OTHER), 2);
    assert_int_equal(atn_threads_ready(&ONE, 3), 3);
    assert_int_equal(atn_threads_kept(&ONE), 3);
}

/* No address space for another stack: in a child, which has never had a thread whose stack is kept. */
static void none_can_be_made(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* their shadows need all address space */
#endif
    if (!kit_memory_limits()) skip();
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
        if (setrlimit(RLIMIT_AS, &none) != 0) _exit(2);
        _exit(atn_threads_possible(4) == 1 && atn_threads_ready(&ONE, 4) == 1 && atn_threads_ready(&ONE, 4) == 1 ? 0
                                                                                                                 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(none_can_be_made), cmocka_unit_test(there_are_threads),
                                       cmocka_unit_test(they_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
