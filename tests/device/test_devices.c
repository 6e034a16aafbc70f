/* Listing devices from several threads at once, in processes where nobody has listed any before: an OpenCL runtime sets
 * itself up on the first question, and PoCL's way of doing so is not made for two threads. */
#include "testkit.h"

#include <attune/device.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 40, THREADS = 4, TIMES = 3 };

static pthread_barrier_t together;

static void *list(void *counts) {
    int32_t *count = counts;
    atn_ctx *ctx;
    if (atn_ctx_create(NULL, &ctx) != ATN_OK) return NULL;
    pthread_barrier_wait(&together);
    for (int k = 0; k < TIMES; ++k) {
        atn_devices *devices;
        if (atn_devices_find(ctx, &devices) != ATN_OK) break;
        count[k] = atn_devices_count(devices);
        atn_devices_free(devices);
    }
    atn_ctx_free(ctx);
    return NULL;
}

/* In a process of its own: 0 where every thread found the same devices every time. */
static int list_at_once(void) {
    pthread_t threads[THREADS];
    int32_t counts[THREADS][TIMES] = {0};
    pthread_barrier_init(&together, NULL, THREADS);
    for (int k = 0; k < THREADS; ++k)
        if (pthread_create(&threads[k], NULL, list, counts[k]) != 0) return 2;
    for (int k = 0; k < THREADS; ++k) pthread_join(threads[k], NULL);
    for (int k = 0; k < THREADS; ++k)
        for (int t = 0; t < TIMES; ++t)
            if (counts[k][t] < 1 || counts[k][t] != counts[0][0]) return 3;
    return 0;
}

static void four_threads_list_devices(void **state) {
    (void)state;
    for (int k = 0; k < PROCESSES; ++k) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) _exit(list_at_once());
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status)) fail_msg("process %d of %d: signal %d", k, PROCESSES, WTERMSIG(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(four_threads_list_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
