/* What a process that ends at once leaves behind: nothing that was noted, all that was forgotten or is another's. */
#include "testkit.h"

#include "base/leftover.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *dir;

static const char *make(const char *name, bool folder) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (folder) {
        assert_int_equal(mkdir(path, 0700), 0);
        return path;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    close(fd);
    return path;
}

static bool is_there(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

/* In a process of its own, whose table is then as it was left. */
static void end_at_once(void) {
    atn_leftover_remove_all();
    _exit(0);
}

static void wait_for(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

KIT_TEST(nothing_noted_is_left) {
    make("kept", false), make("file", false), make("forgotten", false);
    make("folder", true), make("folder/one", false), make("folder/two", false);
    make("folder/below", true), make("folder/below/three", false);
    pid_t child = fork();
    if (child == 0) {
        char path[512];
        snprintf(path, sizeof path, "%s/file", dir);
        if (atn_leftover_add_file(path) < 0) _exit(1);
        snprintf(path, sizeof path, "%s/forgotten", dir);
        atn_leftover_forget(atn_leftover_add_file(path));
        atn_leftover_forget(-1);
        snprintf(path, sizeof path, "%s/folder", dir);
        if (atn_leftover_add_folder(path) < 0) _exit(1);
        snprintf(path, sizeof path, "%s/folder/below", dir);
        if (atn_leftover_add_folder(path) < 0) _exit(1);
        end_at_once();
    }
    wait_for(child);
    assert_false(is_there("file") || is_there("folder"));
    assert_true(is_there("kept") && is_there("forgotten"));
}

KIT_TEST(programs_are_killed) {
    pid_t program = fork();
    if (program == 0) {
        setpgid(0, 0);
        for (;;) pause();
    }
    setpgid(program, program);
    assert_true(atn_leftover_add_group(program) >= 0);
    atn_leftover_remove_all();
    int status;
    assert_int_equal(waitpid(program, &status, 0), program);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* A copy made by fork has the table, too, but it is not its own. */
KIT_TEST(a_fork_removes_nothing) {
    int place = atn_leftover_add_file(make("parents", false));
    assert_true(place >= 0);
    pid_t child = fork();
    if (child == 0) end_at_once();
    wait_for(child);
    assert_true(is_there("parents"));
    atn_leftover_forget(place);
}

KIT_TEST(a_full_table_is_told) {
    int places[1000], n = 0;
    char longest[5000];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(atn_leftover_add_file(longest), -1);
    while (n < 1000 && (places[n] = atn_leftover_add_file("/nowhere/at/all")) >= 0) ++n;
    assert_true(n > 8 && n < 1000);
    for (int k = 0; k < n; ++k) atn_leftover_forget(places[k]);
    places[0] = atn_leftover_add_file("/nowhere/at/all");
    assert_true(places[0] >= 0);
    atn_leftover_forget(places[0]);
}

static int setup(void **state) {
    (void)state;
    dir = kit_tempdir();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    kit_remove(dir);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_noted_is_left),
        cmocka_unit_test(programs_are_killed),
        cmocka_unit_test(a_fork_removes_nothing),
        cmocka_unit_test(a_full_table_is_told),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
