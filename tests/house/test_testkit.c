/* The tests' own ground: what a test that fails leaves behind is removed when its process ends. */
#include "testkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

/* A process that makes a directory with a file in it, tells its path, and ends without removing it. */
static void leave_one(int to) {
    char path[4096], *dir = kit_tempdir();
    free(kit_script(dir, "file", "exit 0"));
    snprintf(path, sizeof path, "%s", dir);
    free(dir);
    exit(write(to, path, sizeof path) == (ssize_t)sizeof path ? 0 : 1);
}

KIT_TEST(directories_end_with_their_process) {
    char *ours = kit_tempdir(), path[4096];
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) leave_one(ends[1]);
    assert_int_equal(read(ends[0], path, sizeof path), sizeof path);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_non_null(strstr(path, "attune-test-"));
    assert_false(is_there(path));
    assert_true(is_there(ours)); /* the child knew of it, too */
    close(ends[0]);
    close(ends[1]);
    char *again = strdup(ours);
    kit_remove(ours);
    assert_false(is_there(again));
    free(again);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(directories_end_with_their_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
