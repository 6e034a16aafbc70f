/* Faults planted into generated code, or into itself, by a compiler of our own: each ends with a row that says so, none
 * wins, and none ends the tuning. */
#include "tunekit.h"

#include <stdio.h>
#include <string.h>

static const char SPACE[] = "vec_p0 = (2,)\n"
                            "schedule = (\"dynamic\",)\n"
                            "chunk = (1, 3, 7, 9, 11, 13, 15, 17%s)\n";

KIT_TEST(planted_faults_never_win) {
    tunekit k;
    bool hangs = kit_turn(0, 4); /* a minute, until it is killed: every fourth day */
    char space[256];
    snprintf(space, sizeof space, SPACE, hangs ? ", 5" : "");
    atn_tune_result r;
    tunekit_open(&k, TUNEKIT_PLANTER);
    atn_workload add = tunekit_add();
    atn_tune_options options = tunekit_options(space);
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
    const struct {
        const char *variant, *row;
    } wanted[] = {
        {"vec_p0=2,schedule=dynamic,chunk=5", "hang 1 it did not come back from stage 'run' in time"},
        {"vec_p0=2,schedule=dynamic,chunk=1", "right 1 "},
        {"vec_p0=2,schedule=dynamic,chunk=3", "crash 1 it ended its process in stage 'run'"},
        {"vec_p0=2,schedule=dynamic,chunk=7", "wrong 1 "},
        {"vec_p0=2,schedule=dynamic,chunk=9", "wrong 1 "},
        {"vec_p0=2,schedule=dynamic,chunk=11", "wrong 1 "},
        {"vec_p0=2,schedule=dynamic,chunk=13", "build 0 "},
        {"vec_p0=2,schedule=dynamic,chunk=15", "memory 1 the system killed it"},
        {"vec_p0=2,schedule=dynamic,chunk=17", "right 1 "},
    };
    for (size_t n = !hangs; n < sizeof wanted / sizeof *wanted; ++n) {
        const char *row = tunekit_row(&k, wanted[n].variant);
        if (!row || strncmp(row, wanted[n].row, strlen(wanted[n].row)) != 0)
            fail_msg("%s: '%s', wanted '%s'", wanted[n].variant, row ? row : "no row", wanted[n].row);
    }
    kit_contains(tunekit_row(&k, "vec_p0=2,schedule=dynamic,chunk=7"), "outside its outputs, next to 'C'");
    kit_contains(tunekit_row(&k, "vec_p0=2,schedule=dynamic,chunk=13"), "planted");
    assert_int_equal(r.failed[ATN_OUTCOME_WRONG], 3);
    assert_int_equal(r.failed[ATN_OUTCOME_CRASH], 1);
    assert_int_equal(r.failed[ATN_OUTCOME_HANG], hangs);
    assert_int_equal(r.failed[ATN_OUTCOME_MEMORY], 1);
    assert_int_equal(r.failed[ATN_OUTCOME_BUILD], 1);
    assert_non_null(r.variant);
    for (size_t n = 0; n < sizeof wanted / sizeof *wanted; ++n)
        if (strncmp(wanted[n].row, "right", 5) != 0) assert_string_not_equal(r.variant, wanted[n].variant);
    assert_true(r.best_s > 0 && r.default_s > 0 && r.worst_s >= r.best_s);
    int64_t tried = r.tried, rows = tunekit_count(&k, NULL);
    atn_tune_result_free(&r);

    /* Again: all is known, nothing is begun. */
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
    assert_int_equal(r.tried, tried);
    assert_int_equal(r.recalled, tried);
    assert_int_equal(tunekit_count(&k, NULL), rows);
    for (size_t n = !hangs; n < sizeof wanted / sizeof *wanted; ++n)
        kit_contains(tunekit_row(&k, wanted[n].variant), wanted[n].row);
    atn_tune_result_free(&r);
    tunekit_close(&k);
}

/* Crashes on what is not plain, as gcc 12 does on some reductions; chunk 5 ends it by a signal. */
static const char CRASHES[] =
    "real=$(command -v gcc || command -v clang || command -v cc)\n"
    "for word in \"$@\"; do case $word in *.c) file=$word ;; esac; done\n"
    "[ -n \"$file\" ] && case $(sed -n 's/.*Variant: \\(.*\\)\\. Generated.*/,\\1,/p' \"$file\") in\n"
    "*,chunk=5,*) kill -SEGV $$ ;;\n"
    "*=*) echo 'x.c:1:2: internal compiler error: in vect_transform_reduction, at planted.cc:1' >&2; exit 4 ;;\n"
    "esac\n"
    "exec \"$real\" \"$@\"\n";
static const char ALWAYS[] = "[ \"$1\" = --version ] && { echo cc 1; exit 0; }\nkill -SEGV $$\n";

KIT_TEST(a_crash_of_the_compiler_is_a_failed_candidate) {
    tunekit k;
    atn_tune_result r;
    tunekit_open(&k, CRASHES);
    atn_workload add = tunekit_add();
    atn_tune_options options = tunekit_options("vec_p0 = (1, 2)\nchunk = (0, 5)\n");
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
    const char *row = tunekit_row(&k, "vec_p0=2");
    kit_contains(row, "build 0 ");
    kit_contains(row, "crashed on it (internal compiler error, exit code 4): error: in vect_transform_reduction");
    kit_contains(tunekit_row(&k, "chunk=5"), "crashed on it (signal 11)");
    assert_int_equal(r.failed[ATN_OUTCOME_BUILD], r.tried - 1); /* the estimate among them: the plain one stands in */
    assert_string_equal(r.variant, "");
    assert_string_equal(r.estimate, "");
    assert_true(r.default_s > 0);
    atn_tune_result_free(&r);
    tunekit_close(&k);
}

/* What came with the library says nothing about a variant: nothing is measured, let alone crowned. */
KIT_TEST(a_compiler_that_always_crashes_crowns_nobody) {
    tunekit k;
    atn_tune_result r;
    tunekit_open(&k, ALWAYS);
    atn_workload add = tunekit_add();
    atn_tune_options options = tunekit_options("vec_p0 = (1, 4)\n");
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
    assert_int_equal(r.failed[ATN_OUTCOME_BUILD], r.tried);
    assert_null(r.variant);
    kit_contains(tunekit_row(&k, "vec_p0=4"), "crashed on it (signal 11)");
    atn_tune_result_free(&r);
    tunekit_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(planted_faults_never_win),
                                       cmocka_unit_test(a_crash_of_the_compiler_is_a_failed_candidate),
                                       cmocka_unit_test(a_compiler_that_always_crashes_crowns_nobody)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
