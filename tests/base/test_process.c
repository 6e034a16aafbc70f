/* Running other programs: no shell in between, nothing left over, whatever they do. */
#include "testkit.h"

#include "base/memory.h"
#include "base/process.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const double LONG_S = 100; /* never reached in a test that passes */

static atn_ctx *ctx;
static char *dir;
static atn_text output;

/* Runs `body` as a script, with further arguments or NULL. */
static atn_status run(const char *body, const char *const arguments[], double timeout_s, int *code) {
    char *path = kit_script(dir, "program", body);
    const char *argv[16] = {path};
    for (size_t k = 0; arguments && arguments[k]; ++k) argv[k + 1] = arguments[k];
    atn_text_clear(&output);
    atn_status status = atn_process_run(ctx, argv, NULL, timeout_s, &output, code);
    free(path);
    return status;
}

static void expect(const char *body, int wanted_code, const char *wanted_output) {
    int code;
    kit_ok(ctx, run(body, NULL, LONG_S, &code));
    assert_int_equal(code, wanted_code);
    assert_string_equal(atn_text_str(&output), wanted_output);
}

static void no_children_left(void) {
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

KIT_TEST(there_is_no_shell) {
    int code;
    const char *const arguments[] = {"$(id)", "a  b", "; exit 9", "*", "", "`id`", "\"", "\n", NULL};
    kit_ok(ctx, run("for a; do printf '<%s>' \"$a\"; done", arguments, LONG_S, &code));
    assert_string_equal(atn_text_str(&output), "<$(id)><a  b><; exit 9><*><><`id`><\"><\n>");
}

KIT_TEST(the_end_is_told) {
    expect("echo out; echo err >&2", 0, "out\nerr\n");
    expect("exit 7", 7, "");
    expect("exit 255", 255, "");
    expect("kill -KILL $$", 128 + SIGKILL, "");
    expect("kill -TERM $$", 128 + SIGTERM, "");
    no_children_left();
}

KIT_TEST(surroundings_are_plain) {
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    expect("echo $LC_ALL; cat", 0, "C\n"); /* cat ends: there is no standard input */
    unsetenv("LC_ALL");
    expect("echo $LC_ALL", 0, "C\n");
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* ours, not the program's */
    expect("kill -PIPE $$; exit 3", 128 + SIGPIPE, "");
    signal(SIGPIPE, before);
}

KIT_TEST(it_may_have_a_directory) {
    char *path = kit_script(dir, "where", "pwd -P; echo $TMPDIR"), real[4096], wanted[8300];
    char *old = kit_getenv("TMPDIR");
    const char *argv[] = {path, NULL};
    int code;
    assert_non_null(realpath(dir, real));
    snprintf(wanted, sizeof wanted, "%s\n%s\n", real, dir);
    setenv("TMPDIR", "/elsewhere", 1);
    atn_text_clear(&output);
    kit_ok(ctx, atn_process_run(ctx, argv, dir, LONG_S, &output, &code));
    assert_string_equal(atn_text_str(&output), wanted);
    if (kit_spawn_tells())
        kit_fails(ctx, ATN_ERR_IO, "cannot be run", atn_process_run(ctx, argv, "/no/such/place", LONG_S, NULL, &code));
    kit_setenv("TMPDIR", old);
    free(path);
}

KIT_TEST(a_hanging_one_is_stopped) {
    static const char *const BODIES[] = {
        "echo $$; sleep 1000",
        "echo $$; exec >&- 2>&-; sleep 1000", /* its output is closed, it goes on */
        "echo $$; trap '' TERM INT HUP; while :; do sleep 1; done",
        "echo $$; sleep 1000 & sleep 1000 & wait", /* with children of its own */
        "echo $$; yes",                            /* never ends its output */
    };
    for (size_t k = 0; k < sizeof BODIES / sizeof *BODIES; ++k) {
        int code;
        kit_fails(ctx, ATN_ERR_TIMEOUT, "did not finish in 0.3 s", run(BODIES[k], NULL, 0.3, &code));
        assert_int_equal(code, -1);
        kit_gone(atol(atn_text_str(&output)));
    }
    no_children_left();
}

KIT_TEST(grandchildren_are_stopped_too) {
    int code;
    assert_int_equal(run("sleep 1000 & echo $!; wait", NULL, 0.3, &code), ATN_ERR_TIMEOUT);
    kit_gone(atol(atn_text_str(&output)));
    kit_ok(ctx, run("sleep 1000 & echo $!; exit 3", NULL, LONG_S, &code)); /* holds our pipe open after the end */
    assert_int_equal(code, 3);
    kit_gone(atol(atn_text_str(&output)));
    kit_ok(ctx, run("sleep 1000 >/dev/null 2>&1 & echo $!", NULL, LONG_S, &code));
    assert_int_equal(code, 0);
    kit_gone(atol(atn_text_str(&output)));
    no_children_left();
}

KIT_TEST(output_is_cut_at_a_mebibyte) {
    int code;
    kit_ok(ctx, run("head -c 3000001 /dev/zero | tr '\\0' x; exit 5", NULL, LONG_S, &code));
    assert_int_equal(code, 5);
    assert_int_equal(output.length, 1 << 20);
    assert_int_equal(strlen(output.data), 1 << 20);
    char *path = kit_script(dir, "loud", "head -c 3000001 /dev/zero");
    const char *argv[] = {path, NULL};
    kit_ok(ctx, atn_process_run(ctx, argv, NULL, LONG_S, NULL, &code)); /* nobody wants it */
    assert_int_equal(code, 0);
    free(path);
}

KIT_TEST(what_cannot_be_run_says_so) {
    if (!kit_spawn_tells()) skip();
    char path[4200];
    int code;
    const char *argv[] = {path, NULL};
    snprintf(path, sizeof path, "%s/nothing", dir);
    kit_fails(ctx, ATN_ERR_IO, "cannot be run: No such file", atn_process_run(ctx, argv, NULL, LONG_S, &output, &code));
    assert_int_equal(code, -1);
    FILE *file = fopen(path, "w");
    fputs("neither a script nor a program\n", file);
    fclose(file);
    kit_fails(ctx, ATN_ERR_IO, "Permission denied", atn_process_run(ctx, argv, NULL, LONG_S, &output, &code));
    chmod(path, 0700);
    kit_fails(ctx, ATN_ERR_IO, "Exec format", atn_process_run(ctx, argv, NULL, LONG_S, &output, &code));
    snprintf(path, sizeof path, "%s", dir);
    kit_fails(ctx, ATN_ERR_IO, "cannot be run", atn_process_run(ctx, argv, NULL, LONG_S, &output, &code));
    no_children_left();
}

KIT_TEST(a_lost_end_is_no_success) {
    int code;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    atn_status status = run("exit 1", NULL, LONG_S, &code);
    signal(SIGCHLD, before);
    assert_int_equal(status, ATN_ERR_IO);
    kit_contains(atn_ctx_message(ctx), "SIGCHLD");
}

static void *cancel_once_it_runs(void *path) {
    while (access(path, F_OK) != 0) usleep(1000);
    atn_ctx_cancel(ctx);
    return NULL;
}

KIT_TEST(cancel_stops_it) {
    char mark[4200];
    const char *const arguments[] = {mark, NULL};
    int code;
    pthread_t thread;
    snprintf(mark, sizeof mark, "%s/mark", dir);
    pthread_create(&thread, NULL, cancel_once_it_runs, mark);
    kit_fails(ctx, ATN_ERR_CANCELLED, "stopped", run("echo $$; : >\"$1\"; sleep 1000", arguments, LONG_S, &code));
    pthread_join(thread, NULL);
    kit_gone(atol(atn_text_str(&output)));
    unlink(mark);
    assert_int_equal(run(": >\"$1\"", arguments, LONG_S, &code), ATN_ERR_CANCELLED);
    assert_int_not_equal(access(mark, F_OK), 0); /* not even started */
    no_children_left();
}

/* ---- finding ---- */

static void expect_found(const char *name, const char *wanted) {
    char *path;
    kit_ok(ctx, atn_process_find(ctx, name, &path));
    if (wanted)
        assert_string_equal(path, wanted);
    else
        assert_null(path);
    atn_free(ctx, path);
}

KIT_TEST(programs_are_found_along_path) {
    char *before = kit_getenv("PATH"), *here = getcwd(NULL, 0);
    char along[16800], first[4200], second[4200], path[4200], real[4096];
    snprintf(first, sizeof first, "%s/first", dir);
    snprintf(second, sizeof second, "%s/second", dir);
    mkdir(first, 0700);
    mkdir(second, 0700);
    char *tool = kit_script(second, "tool", "exit 0"), *shadow = kit_script(first, "tool", "exit 1");
    snprintf(along, sizeof along, "/no/such/place:%s:%s", first, second);
    setenv("PATH", along, 1);
    expect_found("tool", shadow);
    chmod(shadow, 0600); /* no program any more */
    expect_found("tool", tool);
    unlink(shadow);
    mkdir(shadow, 0700); /* nor is a directory */
    expect_found("tool", tool);
    expect_found("no-such-tool", NULL);
    expect_found("", NULL);
    expect_found(tool, tool);
    expect_found("/no/such/tool", NULL);
    expect_found(dir, NULL);
    assert_int_equal(chdir(dir), 0);
    assert_non_null(getcwd(real, sizeof real));
    snprintf(path, sizeof path, "%.3000s/./second/tool", real);
    expect_found("./second/tool", path);
    setenv("PATH", "second", 1);
    snprintf(path, sizeof path, "%.3000s/second/tool", real);
    expect_found("tool", path);
    setenv("PATH", "", 1);
    expect_found("tool", NULL);
    char *shell;
    kit_ok(ctx,
           atn_process_find(ctx, "sh", &shell)); /* an empty PATH is as good as none: where systems have programs */
    atn_free(ctx, shell);
    unsetenv("PATH");
    expect_found("no-such-tool", NULL);
    assert_int_equal(chdir(here), 0);
    kit_setenv("PATH", before);
    free(here);
    free(tool);
    free(shadow);
}

/* ---- many at once, and without memory ---- */

static void *run_some(void *number) {
    char text[32], wanted[40];
    snprintf(text, sizeof text, "%d", *(int *)number);
    snprintf(wanted, sizeof wanted, "%s\n", text);
    const char *argv[] = {"/bin/sh", "-c", "echo $0", text, NULL};
    for (int k = 0; k < 20; ++k) {
        atn_text mine = {.ctx = ctx};
        int code;
        if (atn_process_run(ctx, argv, NULL, LONG_S, &mine, &code) != ATN_OK || code != 0 ||
            strcmp(atn_text_str(&mine), wanted) != 0)
            *(int *)number = -1;
        atn_text_free(&mine);
    }
    return NULL;
}

KIT_TEST(threads_do_not_mix) {
    pthread_t threads[4];
    int numbers[4] = {10, 20, 30, 40};
    for (int k = 0; k < 4; ++k) pthread_create(&threads[k], NULL, run_some, &numbers[k]);
    for (int k = 0; k < 4; ++k) {
        pthread_join(threads[k], NULL);
        assert_int_equal(numbers[k], 10 * (k + 1));
    }
}

KIT_TEST(every_allocation_may_fail) {
    const char *argv[] = {"/bin/sh", "-c", "echo hello", NULL};
    for (long n = 1;; ++n) {
        kit_faults faults = {0};
        atn_ctx_settings options = kit_fault_options(&faults);
        atn_ctx *own;
        assert_int_equal(atn_ctx_create(&options, &own), ATN_OK);
        long first = faults.count;
        faults.fail_at = first + n;
        atn_text text = {.ctx = own};
        char *path = NULL;
        int code;
        atn_status status = atn_process_run(own, argv, "/", LONG_S, &text, &code);
        if (status == ATN_OK) status = atn_process_find(own, "sh", &path);
        bool reached = faults.count >= first + n;
        assert_int_equal(status, reached ? ATN_ERR_MEMORY : ATN_OK);
        if (reached) kit_contains(atn_ctx_message(own), "out of memory");
        atn_free(own, path);
        atn_text_free(&text);
        atn_ctx_free(own);
        assert_int_equal(faults.live, 0);
        no_children_left();
        if (!reached) break;
    }
}

static int setup(void **state) {
    (void)state;
    ctx = kit_ctx();
    dir = kit_tempdir();
    output = (atn_text){.ctx = ctx};
    return 0;
}

static int teardown(void **state) {
    (void)state;
    atn_text_free(&output);
    kit_remove(dir);
    kit_free(ctx);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(there_is_no_shell),
        TEST(the_end_is_told),
        TEST(surroundings_are_plain),
        TEST(it_may_have_a_directory),
        TEST(a_hanging_one_is_stopped),
        TEST(grandchildren_are_stopped_too),
        TEST(output_is_cut_at_a_mebibyte),
        TEST(what_cannot_be_run_says_so),
        TEST(a_lost_end_is_no_success),
        TEST(cancel_stops_it),
        TEST(programs_are_found_along_path),
        TEST(threads_do_not_mix),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
