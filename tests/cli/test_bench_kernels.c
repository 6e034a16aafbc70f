/* attune bench kernels with a bad row: a compiler of our own plants a crash into the code of one shape, and all other
 * rows are there. Nothing looks at how fast anything is. */
#include "clikit.h"

#include <stdlib.h>
#include <string.h>

/* Only where there are 121 poses, the first of two rows: a kernel that ends the process it runs in. */
static const char PLANTER[] = "real=$(command -v gcc || command -v clang || command -v cc)\n"
                              "for word in \"$@\"; do case $word in *.c) file=$word ;; esac; done\n"
                              "[ -n \"$file\" ] && sed -i 's/^ *for (int64_t range.*_end, .*/if (pose_size0 == 121) "
                              "*(volatile int *)0 = 1;\\n&/' "
                              "\"$file\"\n"
                              "exec \"$real\" \"$@\"\n";

static char *script;

static int begin(void **state) {
    cli_begin(state);
    script = kit_script(cli_dir, "cc", PLANTER);
    setenv("ATTUNE_CC", script, 1);
    setenv("ATTUNE_PROGRAM", ATN_BINARY_DIR "/attune", 1);
    return 0;
}

static int end(void **state) {
    unsetenv("ATTUNE_CC");
    unsetenv("ATTUNE_PROGRAM");
    free(script);
    return cli_end(state);
}

KIT_TEST(a_bad_row_is_a_row) {
    json_t *root = cli_object("bench kernels --kernel shift_lookup --seconds 0.001 --device host --json");
    const json_t *rows = json_object_get(root, "rows"), *bad = json_array_get(rows, 0), *good = json_array_get(rows, 1);
    assert_int_equal(json_array_size(rows), 2);
    assert_int_equal(json_integer_value(json_object_get(root, "errors")), 1);
    assert_string_equal(json_string_value(json_object_get(bad, "error")), "crashed (SIGSEGV)");
    assert_true(json_is_null(json_object_get(bad, "ours")));
    assert_null(json_object_get(good, "error"));
    assert_true(json_number_value(json_object_get(good, "ours")) > 0);
    assert_true(json_is_string(json_object_get(good, "hit")));
    json_decref(root);
    cli_result r = cli_run("bench kernels --kernel shift_lookup --seconds 0.001 --device host");
    assert_int_equal(r.code, 0);
    kit_contains(r.out, "crashed (SIGSEGV)\n");
    kit_contains(r.out, "pose=12x441,");
    kit_contains(r.out, "1 of 2 rows could not be measured.\n");
    cli_drop(&r);
}

KIT_TEST(what_is_no_kernel_is_refused) {
    cli_refuses("bench kernels --kernel frogs --device host", 1, "attune ships no kernel 'frogs'");
    cli_refuses("bench kernels --seconds never", 2, "it takes a time above 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_bad_row_is_a_row),
                                       cmocka_unit_test(what_is_no_kernel_is_refused)};
    return cmocka_run_group_tests(tests, begin, end);
}
