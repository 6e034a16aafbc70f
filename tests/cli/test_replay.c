/* attune replay: what it prints for people and as JSON, one strategy or all, and a table of wrong calls. */
#include "clikit.h"

#include "base/file.h"
#include "tune/strategy.h"

#include <math.h>

/* A cache of 64 configurations: the faster the larger x + y, one in eight fails. */
static int begin(void **state) {
    cli_begin(state);
    atn_text text = {.ctx = cli_ctx};
    char path[512];
    atn_text_add(&text, "{\"tune_params_keys\": [\"x\", \"y\"], \"cache\": {");
    for (int x = 0; x < 8; ++x)
        for (int y = 0; y < 8; ++y)
            atn_text_printf(&text, "%s\n\"%d,%d\": {\"x\": %d, \"y\": %d, \"time\": %s%d}", x + y ? "," : "", x, y, x,
                            y, (x + y) % 8 == 7 ? "\"RuntimeFailedConfig\", \"n\": " : "", 20 - x - y);
    snprintf(path, sizeof path, "%s/open.json", cli_dir);
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path, text.data, text.length));
    snprintf(path, sizeof path, "%s/cut.json", cli_dir);
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path, text.data, text.length - 20));
    snprintf(path, sizeof path, "%s/bad.json", cli_dir);
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path, text.data, 60));
    atn_text_free(&text);
    return 0;
}

KIT_TEST(one_strategy) {
    json_t *root = cli_object("replay @/open.json --strategy default --evals 30 --repeats 4 --json");
    assert_string_equal(json_string_value(json_object_get(root, "strategy")), "portfolio");
    assert_int_equal(json_integer_value(json_object_get(root, "evals")), 30);
    assert_int_equal(json_integer_value(json_object_get(root, "repeats")), 4);
    assert_int_equal(json_integer_value(json_object_get(root, "points")), 64);
    assert_int_equal(json_integer_value(json_object_get(root, "failures")), 8);
    double optimum = json_number_value(json_object_get(root, "optimum"));
    assert_true(optimum > 0.00599 && optimum < 0.00601); /* seconds, of 6 ms */
    static const char *const NUMBERS[] = {"mean_best", "median", "fraction", "score", "found", "seconds"};
    for (size_t k = 0; k < sizeof NUMBERS / sizeof *NUMBERS; ++k)
        assert_true(json_is_real(json_object_get(root, NUMBERS[k])));
    json_decref(root);
    cli_result r = cli_run("replay @/open.json --evals 30 --repeats 4");
    assert_int_equal(r.code, 0);
    kit_contains(r.out, "64 points, 8 of them failures");
    kit_contains(r.out, "portfolio");
    cli_drop(&r);
}

KIT_TEST(all_strategies) {
    json_t *root = cli_object("replay @/open.json --strategy all --evals 10 --repeats 2 --seed 9 --json");
    assert_int_equal(json_array_size(json_object_get(root, "rows")), 7);
    json_decref(root);
    cli_does("replay @/open.json --strategy all --evals 10 --repeats 2", "exhaustive");
}

/* The help and the completion name every strategy. */
KIT_TEST(strategies_are_choices) {
    const char *choices = ATN_VERB_REPLAY.options[0].value;
    for (const atn_strategy *const *s = ATN_STRATEGIES; *s; ++s)
        assert_true(atn_cli_choice_allows(choices, (*s)->name));
}

KIT_TEST(a_cut_file_is_read) { cli_does("replay @/cut.json --strategy random --evals 10 --repeats 2", "63 points"); }

/* As T4 it is the same space. */
KIT_TEST(written_as_t4) {
    json_t *one = cli_object("replay @/open.json --evals 20 --repeats 2 --t4 @/t4.json --json");
    json_t *two = cli_object("replay @/t4.json --evals 20 --repeats 2 --json");
    static const char *const SAME[] = {"points", "failures", "mean_best", "optimum", "score"};
    for (size_t k = 0; k < sizeof SAME / sizeof *SAME; ++k) {
        double a = json_number_value(json_object_get(one, SAME[k])),
               b = json_number_value(json_object_get(two, SAME[k]));
        assert_true(a != 0 && fabs(a - b) <= 1e-12 * fabs(a));
    }
    json_decref(one);
    json_decref(two);
}

KIT_TEST(wrong_calls) {
    static const cli_refusal CALLS[] = {
        {"replay", 2, "CACHE.json.gz"},
        {"replay @/open.json --strategy nonsense", 2, "nonsense"},
        {"replay @/open.json --evals 0", 2, "--evals cannot be '0'; it takes a whole number from 1"},
        {"replay @/open.json --evals many", 2, "--evals cannot be 'many'"},
        {"replay @/open.json --repeats 1.5", 2, "--repeats cannot be '1.5'"},
        {"replay @/open.json --seed -1", 2, "--seed cannot be '-1'"},
        {"replay @/open.json --evals 1e9 --repeats 1e9", 1, "too many"},
        {"replay @/open.json --t4 @/no/where", 1, "no/where"},
        {"replay @/none.json", 1, "none.json"},
        {"replay @", 1, "is a directory"},
        {"replay @/bad.json", 1, "bad.json: is cut before its first entry ends"},
    };
    cli_refuses_all(CALLS, sizeof CALLS / sizeof *CALLS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_strategy),           cmocka_unit_test(all_strategies),
        cmocka_unit_test(strategies_are_choices), cmocka_unit_test(a_cut_file_is_read),
        cmocka_unit_test(written_as_t4),          cmocka_unit_test(wrong_calls),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
