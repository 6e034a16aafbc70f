/* Several processes at once, processes that are killed, and the lock that lets one tuner at a time onto a device. */
#include "wisdomkit.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 4, TURNS = 200, KILLS = 50 };

static atn_ctx *context(const char *dir) {
    atn_ctx_settings options = {.cache_dir = dir};
    atn_ctx *ctx;
    return atn_ctx_create(&options, &ctx) == ATN_OK ? ctx : NULL;
}

/* A child's whole life; its exit status says whether all went well. No assertions of cmocka in here. */
static int work(const char *dir, int me) {
    atn_ctx *ctx = context(dir);
    atn_wisdom *wisdom = NULL;
    if (!ctx || atn_wisdom_open(ctx, NULL, false, &wisdom) != ATN_OK) return 1;
    atn_wisdom_key key = wkit_key();
    for (int turn = 0; turn < TURNS; ++turn) {
        char variant[64];
        int64_t starts;
        snprintf(variant, sizeof variant, "regs_p0=%d,tile_q0=%d", me + 1, turn);
        atn_wisdom_row row = {.variant = variant, .outcome = "right", .seconds = 1 + turn};
        if (atn_wisdom_begin(wisdom, &key, "all", &starts) != ATN_OK) return 2; /* all of them count up this one */
        if (atn_wisdom_begin(wisdom, &key, variant, &starts) != ATN_OK || starts != 1) return 3;
        if (atn_wisdom_tell(wisdom, &key, &row) != ATN_OK) return 4;
    }
    atn_wisdom_close(wisdom);
    atn_ctx_free(ctx);
    return 0;
}

static pid_t start(int (*child)(const char *, int), const char *dir, int argument) {
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(child(dir, argument));
    return pid;
}

KIT_TEST(nothing_is_lost) {
    char *dir = kit_tempdir();
    pid_t pids[PROCESSES];
    double begin = atn_clock_seconds();
    for (int k = 0; k < PROCESSES; ++k) pids[k] = start(work, dir, k); /* all of them make the file at once, too */
    for (int k = 0; k < PROCESSES; ++k) {
        int status;
        assert_int_equal(waitpid(pids[k], &status, 0), pids[k]);
        assert_int_equal(status, 0);
    }
    double seconds = atn_clock_seconds() - begin;
    print_message("    %d writes by %d processes: %.0f us each\n", 3 * PROCESSES * TURNS, PROCESSES,
                  seconds / (3 * PROCESSES * TURNS) * 1e6);
    atn_ctx *ctx = context(dir);
    atn_wisdom *wisdom;
    atn_wisdom_key key = wkit_key();
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, true, &wisdom));
    wkit_count count = wkit_rows(ctx, wisdom, &key);
    assert_int_equal(count.rows, PROCESSES * TURNS + 1);
    assert_int_equal(count.right, PROCESSES * TURNS);
    assert_int_equal(count.starts, 2 * PROCESSES * TURNS);
    atn_wisdom_close(wisdom);
    atn_ctx_free(ctx);
    kit_remove(dir);
}

/* ---- kills ---- */

/* Acknowledges each begin and each tell with one byte, after it returned. */
static int acknowledge(const char *dir, int pipe_end) {
    atn_ctx *ctx = context(dir);
    atn_wisdom *wisdom = NULL;
    if (!ctx || atn_wisdom_open(ctx, NULL, false, &wisdom) != ATN_OK) return 1;
    atn_wisdom_key key = wkit_key();
    atn_wisdom_row row = {.variant = "lanes_p0=2", .outcome = "right"};
    for (int turn = 1;; ++turn) {
        int64_t starts;
        row.seconds = turn;
        if (atn_wisdom_begin(wisdom, &key, row.variant, &starts) != ATN_OK || write(pipe_end, "b", 1) != 1) return 2;
        if (atn_wisdom_tell(wisdom, &key, &row) != ATN_OK || write(pipe_end, "t", 1) != 1) return 3;
    }
}

/* What the child acknowledged before it ended; the pipe is drained. */
static void drain(int fd, int64_t *begins, int64_t *tells) {
    char bytes[4096];
    for (ssize_t got; (got = read(fd, bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR);)
        for (ssize_t k = 0; k < got; ++k) *(bytes[k] == 'b' ? begins : tells) += 1;
}

KIT_TEST(kills_lose_nothing) {
    char *dir = kit_tempdir();
    uint64_t seed = 20250131;
    int64_t begins = 0;
    for (int kill_number = 0; kill_number < KILLS; ++kill_number) {
        int ends[2], status;
        int64_t tells = 0, before = begins;
        assert_int_equal(pipe(ends), 0);
        pid_t pid = start(acknowledge, dir, ends[1]);
        close(ends[1]);
        usleep((useconds_t)(kit_uniform(&seed) * 60000)); /* now and then while the file is being made */
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        drain(ends[0], &begins, &tells);
        close(ends[0]);

        atn_ctx *ctx = context(dir);
        atn_wisdom *wisdom;
        atn_wisdom_key key = wkit_key();
        kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
        wkit_sound(ctx, wisdom);
        wkit_count count = wkit_rows(ctx, wisdom, &key);
        if (count.starts < begins) fail_msg("kill %d: %ld of %ld", kill_number, (long)count.starts, (long)begins);
        assert_true(count.starts <= begins + 1); /* one that was kept but not acknowledged any more */
        if (tells) assert_true(count.seconds >= (double)tells);
        if (begins > before) assert_int_equal(count.rows, 1);
        begins = count.starts;
        atn_wisdom_close(wisdom);
        atn_ctx_free(ctx);
    }
    print_message("    %d kills, %ld begins\n", KILLS, (long)begins);
    kit_remove(dir);
}

/* ---- the lock of tuners ---- */

static int hold(const char *dir, int pipe_end) {
    atn_ctx *ctx = context(dir);
    atn_wisdom *wisdom;
    atn_wisdom_lock_file *lock;
    if (!ctx || atn_wisdom_open(ctx, NULL, false, &wisdom) != ATN_OK) return 1;
    if (atn_wisdom_lock(ctx, wisdom, "cuda Sample 9000", false, &lock) != ATN_OK || write(pipe_end, "l", 1) != 1)
        return 2;
    for (;;) pause();
}

static void *wait_for_lock(void *user) {
    atn_wisdom_lock_file *lock = NULL;
    void **pair = user;
    atn_status status = atn_wisdom_lock(pair[0], pair[1], "cuda Sample 9000", true, &lock);
    atn_wisdom_unlock(lock);
    return status == ATN_OK ? user : NULL;
}

KIT_TEST(one_tuner_at_a_time) {
    char *dir = kit_tempdir(), byte, wanted[64];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = start(hold, dir, ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    atn_ctx *ctx = context(dir);
    atn_wisdom *wisdom;
    atn_wisdom_lock_file *lock, *other;
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    snprintf(wanted, sizeof wanted, "cuda Sample 9000 is being tuned by process %ld", (long)pid);
    kit_fails(ctx, ATN_ERR_DEVICE, wanted, atn_wisdom_lock(ctx, wisdom, "cuda Sample 9000", false, &lock));
    assert_null(lock);
    kit_ok(ctx, atn_wisdom_lock(ctx, wisdom, "cuda Sample 9500", false, &other)); /* another device is free */
    atn_wisdom_unlock(other);

    pthread_t thread;
    void *pair[2] = {ctx, wisdom}, *got;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_lock, pair), 0);
    usleep(20000);
    kill(pid, SIGKILL); /* the lock goes with its holder */
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(pthread_join(thread, &got), 0);
    assert_non_null(got);

    kit_ok(ctx, atn_wisdom_lock(ctx, wisdom, "cuda Sample 9000", false, &lock));
    kit_fails(ctx, ATN_ERR_DEVICE, "is being tuned by process",
              atn_wisdom_lock(ctx, wisdom, "cuda Sample 9000", false, &other)); /* twice in one process neither */
    assert_int_equal(pthread_create(&thread, NULL, wait_for_lock, pair), 0);
    usleep(20000);
    atn_ctx_cancel(ctx); /* ends the wait */
    assert_int_equal(pthread_join(thread, &got), 0);
    assert_null(got);
    atn_wisdom_unlock(lock);
    atn_wisdom_unlock(NULL);
    atn_wisdom_close(wisdom);
    atn_ctx_free(ctx);
    close(ends[0]);
    close(ends[1]);
    kit_remove(dir);
}

/* Threads share one handle. */
static void *tell_many(void *user) {
    atn_wisdom_key key = wkit_key();
    int64_t starts;
    for (int k = 0; k < 50; ++k)
        if (atn_wisdom_begin(user, &key, "lanes_p0=2", &starts) != ATN_OK) return NULL;
    return user;
}

KIT_TEST(threads_share) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom;
    atn_wisdom_key key = wkit_key();
    pthread_t threads[4];
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    for (int k = 0; k < 4; ++k) assert_int_equal(pthread_create(&threads[k], NULL, tell_many, wisdom), 0);
    for (int k = 0; k < 4; ++k) {
        void *good;
        assert_int_equal(pthread_join(threads[k], &good), 0);
        assert_non_null(good);
    }
    assert_int_equal(wkit_rows(ctx, wisdom, &key).starts, 200);
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(kills_lose_nothing),
        cmocka_unit_test(one_tuner_at_a_time),
        cmocka_unit_test(threads_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
