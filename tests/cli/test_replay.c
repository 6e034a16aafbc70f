/* attune replay: what it prints for people and as JSON, one strategy or all, and a table of wrong calls. */
#include "testkit.h"

#include "base/file.h"
#include "cli/cli.h"
#include "tune/strategy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static char *dir;
static atn_ctx *ctx;

typedef struct result {
    int code;
    char *out, *err; /* owned */
} result;

/* Runs `attune replay LINE`, words apart by single blanks; @ stands for the directory of the test. */
static result run_line(const char *line) {
    result r = {0};
    size_t out_bytes, err_bytes;
    FILE *out = open_memstream(&r.out, &out_bytes), *err = open_memstream(&r.err, &err_bytes);
    atn_text text = {.ctx = ctx};
    for (const char *c = line; *c; ++c) atn_text_add_bytes(&text, *c == '@' ? dir : c, *c == '@' ? strlen(dir) : 1);
    char *argv[MOST + 2] = {(char *)"attune", (char *)"replay"}, *rest = NULL;
    int argc = 2;
    for (char *word = text.data ? strtok_r(text.data, " ", &rest) : NULL; word && argc < MOST;
         word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    r.code = atn_cli_run(ctx, argc, argv, out, err);
    fclose(out);
    fclose(err);
    atn_text_free(&text);
    return r;
}

static void drop(result *r) {
    free(r->out);
    free(r->err);
}

/* A cache of 64 configurations: the faster the larger x + y, one in eight fails. */
static int begin(void **state) {
    (void)state;
    ctx = kit_ctx();
    dir = kit_tempdir();
    atn_text text = {.ctx = ctx};
    char path[512];
    atn_text_add(&text, "{\"tune_params_keys\": [\"x\", \"y\"], \"cache\": {");
    for (int x = 0; x < 8; ++x)
        for (int y = 0; y < 8; ++y)
            atn_text_printf(&text, "%s\n\"%d,%d\": {\"x\": %d, \"y\": %d, \"time\": %s%d}", x + y ? "," : "", x, y, x,
                            y, (x + y) % 8 == 7 ? "\"RuntimeFailedConfig\", \"n\": " : "", 20 - x - y);
    snprintf(path, sizeof path, "%s/open.json", dir);
    kit_ok(ctx, atn_file_write(ctx, path, text.data, text.length));
    snprintf(path, sizeof path, "%s/cut.json", dir);
    kit_ok(ctx, atn_file_write(ctx, path, text.data, text.length - 20));
    snprintf(path, sizeof path, "%s/bad.json", dir);
    kit_ok(ctx, atn_file_write(ctx, path, text.data, 60));
    atn_text_free(&text);
    return 0;
}

static int end(void **state) {
    (void)state;
    kit_remove(dir);
    kit_free(ctx);
    return 0;
}

static json_t *load(const char *line) {
    result r = run_line(line);
    json_error_t error;
    if (r.code != 0) fail_msg("attune replay %s: exit %d: %s", line, r.code, r.err);
    json_t *root = json_loads(r.out, 0, &error);
    assert_non_null(root);
    drop(&r);
    return root;
}

static void one_strategy(void **state) {
    (void)state;
    json_t *root = load("@/open.json --strategy default --evals 30 --repeats 4 --json");
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
    result r = run_line("@/open.json --evals 30 --repeats 4");
    assert_int_equal(r.code, 0);
    kit_contains(r.out, "64 points, 8 of them failures");
    kit_contains(r.out, "portfolio");
    drop(&r);
}

static void all_strategies(void **state) {
    (void)state;
    json_t *root = load("@/open.json --strategy all --evals 10 --repeats 2 --seed 9 --json");
    assert_int_equal(json_array_size(json_object_get(root, "rows")), 7);
    json_decref(root);
    result r = run_line("@/open.json --strategy all --evals 10 --repeats 2");
    assert_int_equal(r.code, 0);
    kit_contains(r.out, "exhaustive");
    drop(&r);
}

/* The help and the completion name every strategy. */
static void strategies_are_choices(void **state) {
    (void)state;
    const char *choices = ATN_VERB_REPLAY.options[0].value;
    for (const atn_strategy *const *s = ATN_STRATEGIES; *s; ++s)
        assert_true(atn_cli_choice_allows(choices, (*s)->name));
}

static void a_cut_file_is_read(void **state) {
    (void)state;
    result r = run_line("@/cut.json --strategy random --evals 10 --repeats 2");
    assert_int_equal(r.code, 0);
    kit_contains(r.out, "63 points");
    drop(&r);
}

/* As T4 it is the same space. */
static void written_as_t4(void **state) {
    (void)state;
    json_t *one = load("@/open.json --evals 20 --repeats 2 --t4 @/t4.json --json");
    json_t *two = load("@/t4.json --evals 20 --repeats 2 --json");
    static const char *const SAME[] = {"points", "failures", "mean_best", "optimum", "score"};
    for (size_t k = 0; k < sizeof SAME / sizeof *SAME; ++k) {
        double a = json_number_value(json_object_get(one, SAME[k])),
               b = json_number_value(json_object_get(two, SAME[k]));
        assert_true(a != 0 && fabs(a - b) <= 1e-12 * fabs(a));
    }
    json_decref(one);
    json_decref(two);
}

static void wrong_calls(void **state) {
    (void)state;
    static const struct {
        const char *line;
        int code;
        const char *part;
    } CALLS[] = {
        {"", 2, "CACHE.json.gz"},
        {"@/open.json --strategy nonsense", 2, "nonsense"},
        {"@/open.json --evals 0", 2, "--evals cannot be '0'; it takes a whole number from 1"},
        {"@/open.json --evals many", 2, "--evals cannot be 'many'"},
        {"@/open.json --repeats 1.5", 2, "--repeats cannot be '1.5'"},
        {"@/open.json --seed -1", 2, "--seed cannot be '-1'"},
        {"@/open.json --evals 1e9 --repeats 1e9", 1, "too many"},
        {"@/open.json --t4 @/no/where", 1, "no/where"},
        {"@/none.json", 1, "none.json"},
        {"@", 1, "is a directory"},
        {"@/bad.json", 1, "bad.json: is cut before its first entry ends"},
    };
    for (size_t k = 0; k < sizeof CALLS / sizeof *CALLS; ++k) {
        result r = run_line(CALLS[k].line);
        if (r.code != CALLS[k].code) fail_msg("replay %s: exit %d: %s", CALLS[k].line, r.code, r.err);
        kit_contains(r.err, CALLS[k].part);
        assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1); /* one line */
        assert_string_equal(r.out, "");
        drop(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_strategy),           cmocka_unit_test(all_strategies),
        cmocka_unit_test(strategies_are_choices), cmocka_unit_test(a_cut_file_is_read),
        cmocka_unit_test(written_as_t4),          cmocka_unit_test(wrong_calls),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
