/* attune tune as people call it: what it refuses, a small tuning as a table and as JSON, Ctrl-C, a report. */
#include "clikit.h"

#include <stdlib.h>

static int begin(void **state) {
    int failed = cli_begin_tuning(state);
    cli_put("one.lanai", "x = (1,)\n");
    cli_put("space.lanai", "vec_p0 = (1, 2)\nregs_p0 = (1, 2)\n");
    return failed;
}

KIT_TEST(what_it_refuses) {
    static const cli_refusal CASES[] = {
        {"tune", 2, "attune tune: "},
        {"tune --device host nonsense", 1, "nonsense: no such file or shipped kernel: above"},
        {"tune --device host add --budget soon", 2, "--budget cannot be 'soon'"},
        {"tune --device host add --budget -3s", 2, "--budget cannot be '-3s'"},
        {"tune --device host add --budget 1e400s", 2, "--budget cannot be '1e400s'"},
        {"tune --device host add --evals many", 2, "--evals cannot be 'many'"},
        {"tune --device host add --evals 1.5", 2, "--evals cannot be '1.5'; it takes a whole number from 1"},
        {"tune --device host add --evals 1e300", 2, "--evals cannot be '1e300'"},
        {"tune --device host add --seed 1e300", 2, "--seed cannot be '1e300'"},
        {"tune --device host add --tolerance inf", 2, "--tolerance cannot be 'inf'"},
        {"tune --device host all --size A=3x3", 2, "--size cannot be used with all"},
        {"tune --device host all --param factor=3", 2, "--param cannot be used with all"},
        {"tune --device host scale --param factr=3", 1, "scale: no parameter 'factr'; there is factor"},
        {"tune --device host add --size A=3", 1, "'A' is a matrix"},
        {"tune --device host gemm --size A=30x30", 1, "the size of 'B' must be given"},
        {"tune --device host add --size A=30x30 --strategy luck", 2,
         "--strategy cannot be 'luck'; there are portfolio, model"},
        {"tune --device host add --size A=30x30 --space nowhere.lanai", 1, "nowhere.lanai"},
        {"tune --command true", 2, "--command takes its parameters from --space FILE"},
        {"tune gemm --command true --space @/space.lanai", 2, "unexpected argument 'gemm'"},
        {"tune --command true --space @/space.lanai --cold", 2, "--cold is for kernels"},
        {"tune --command true --space @/space.lanai --budget 5%", 2, "a time, such as 60s"},
        {"tune --command true --space @/space.lanai --timeout long", 2, "--timeout cannot be 'long'"},
        {"tune --command true --space @/space.lanai", 1, "{vec_p0} is not in it"},
        {"tune --command true --space nowhere.lanai", 1, "nowhere.lanai"},
        {"tune --command false --space @/one.lanai", 1, "no point of the space ran; the first: x=1: exit 1"},
        {"tune --command nosuchprogram --space @/one.lanai", 1, "there is no program 'nosuchprogram'"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

KIT_TEST(a_command_of_ones_own) {
    json_t *root = cli_object("tune --command true --space @/one.lanai --json");
    assert_string_equal(json_string_value(json_object_get(root, "command")), "true");
    assert_string_equal(json_string_value(json_object_get(root, "variant")), "x=1");
    assert_int_equal(json_integer_value(json_object_get(root, "tried")), 1);
    assert_true(json_number_value(json_object_get(root, "best_s")) > 0);
    json_decref(root);
    cli_result r = cli_run("tune --command true --space @/one.lanai");
    assert_int_equal(r.code, 0);
    kit_contains(r.out, "best      x=1");
    cli_drop(&r);
}

KIT_TEST(a_small_tuning) {
#define ADD "tune --device host add --size A=65x67 --strategy exhaustive --evals 4 --space @/space.lanai "
    char path[512];
    json_t *root = cli_object(ADD "--json --report @/page.html");
    assert_string_equal(json_string_value(json_object_get(root, "kernel")), "add");
    assert_string_equal(json_string_value(json_object_get(root, "shape")), "65x67");
    assert_int_equal(json_integer_value(json_object_get(root, "tried")), 4);
    assert_true(json_number_value(json_object_get(root, "best_s")) > 0);
    assert_true(json_number_value(json_object_get(root, "default_s")) > 0);
    assert_true(json_is_string(json_object_get(root, "variant")));
    static const char *const FAILED[] = {"wrong", "crash", "hang", "build", "memory"};
    for (size_t k = 0; k < 5; ++k)
        assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "failed"), FAILED[k])), 0);
    assert_true(json_array_size(json_object_get(root, "choices")) > 0);
    assert_int_equal(json_array_size(json_object_get(root, "results")), 1);
    json_decref(root);
    snprintf(path, sizeof path, "%s/page.html", cli_dir);
    FILE *page = fopen(path, "r");
    assert_non_null(page);
    fclose(page);

    cli_result r = cli_run(ADD "--resume"); /* all is known */
    if (r.code != 0) fail_msg("%s", r.err);
    kit_contains(r.out, "kernel  shape");
    kit_contains(r.out, "add     65x67");
    cli_drop(&r);
    atn_ctx_cancel(
        cli_ctx); /* Ctrl-C, here before it begins: what is known is told all the same, or at least why not */
    r = cli_run(ADD "--resume");
    assert_int_equal(r.code, 1);
    kit_contains(r.err, "stopped on request");
    cli_drop(&r);
}

/* A space of which nothing fits, and a compiler that compiles nothing: told, and no success. */
KIT_TEST(nothing_is_right) {
    char line[1200], path[512];
    snprintf(path, sizeof path, "%s/odd.lanai", cli_dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("vec_p0 = (3, 5)\n", file);
    fclose(file);
    atn_ctx *before = cli_ctx; /* asked to stop by the test before */
    cli_ctx = kit_ctx();
    snprintf(line, sizeof line, "tune --device host add --size A=33x35 --evals 3 --json --space %s", path);
    cli_result r = cli_run(line);
    assert_int_equal(r.code, 1);
    kit_contains(r.err, "add 33x35: no variant of the space was right; 'attune wisdom show add'");
    json_t *root = json_loads(r.out, 0, NULL);
    assert_true(json_is_null(json_object_get(root, "variant")));
    json_decref(root);
    cli_drop(&r);
    kit_free(cli_ctx);
    setenv("ATTUNE_CC", "/nonexistent/cc", 1);
    cli_ctx = kit_ctx();
    r = cli_run("tune --device host add --size A=33x35 --evals 2");
    assert_int_equal(r.code, 1);
    kit_contains(r.out, "none is right");
    kit_contains(r.err, "no variant of the space was right");
    cli_drop(&r);
    kit_free(cli_ctx);
    cli_ctx = before;
    unsetenv("ATTUNE_CC");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_it_refuses), cmocka_unit_test(a_command_of_ones_own),
                                       cmocka_unit_test(a_small_tuning), cmocka_unit_test(nothing_is_right)};
    return cmocka_run_group_tests(tests, begin, cli_end_tuning);
}
