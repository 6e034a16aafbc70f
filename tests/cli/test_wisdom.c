/* attune wisdom: what each action prints, for people and as JSON, and every wrong call. */
#include "testkit.h"

#include "cli/cli.h"
#include "tune/key.h"
#include "wisdom/wisdom.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16 };

static char *dir;
static atn_ctx *ctx;

typedef struct result {
    int code;
    char *out, *err; /* owned */
} result;

/* Runs `attune wisdom LINE`, words apart by single blanks; @ stands for the directory of the test. */
static result run_line(const char *line) {
    result r = {0};
    size_t out_bytes, err_bytes;
    FILE *out = open_memstream(&r.out, &out_bytes), *err = open_memstream(&r.err, &err_bytes);
    atn_text text = {.ctx = ctx};
    atn_text_add(&text, " ");
    for (const char *c = line; *c; ++c)
        if (*c == '@')
            atn_text_add(&text, dir);
        else
            atn_text_add_bytes(&text, c, 1);
    char *argv[MOST + 2] = {(char *)"attune", (char *)"wisdom"}, *rest = NULL;
    int argc = 2;
    for (char *word = strtok_r(text.data, " ", &rest); word && argc < MOST; word = strtok_r(NULL, " ", &rest))
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

static void does(const char *line, const char *part) {
    result r = run_line(line);
    if (r.code != 0) fail_msg("attune wisdom %s: exit %d: %s", line, r.code, r.err);
    assert_string_equal(r.err, "");
    kit_contains(r.out, part);
    drop(&r);
}

static void refuses(const char *line, int code, const char *part) {
    result r = run_line(line);
    if (r.code != code) fail_msg("attune wisdom %s: exit %d, wanted %d: %s%s", line, r.code, code, r.out, r.err);
    kit_contains(r.err, part);
    assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1);
    drop(&r);
}

static json_t *object_of(const char *line) {
    result r = run_line(line);
    if (r.code != 0) fail_msg("attune wisdom %s: exit %d: %s", line, r.code, r.err);
    json_t *root = json_loads(r.out, 0, NULL);
    if (!json_is_object(root)) fail_msg("attune wisdom %s: no JSON object: %s", line, r.out);
    drop(&r);
    return root;
}

static void tell(atn_wisdom *wisdom, const atn_wisdom_key *key, const char *variant, const char *outcome,
                 double seconds, double error, const char *detail) {
    int64_t starts;
    atn_wisdom_row row = {.variant = variant,
                          .outcome = outcome,
                          .detail = detail,
                          .seconds = seconds,
                          .low = seconds,
                          .high = seconds,
                          .error = error,
                          .samples = 5};
    kit_ok(ctx, atn_wisdom_begin(wisdom, key, variant, &starts));
    kit_ok(ctx, atn_wisdom_tell(wisdom, key, &row));
}

/* gemm on a device elsewhere, and dot on this host, by an older generator. */
static void fill(void) {
    atn_wisdom *wisdom;
    atn_wisdom_key gemm = {.kernel = "gemm",
                           .graph = {1, 2},
                           .generator = ATN_GENERATOR_VERSION,
                           .backend = "cuda",
                           .arch = "xx_90",
                           .device = "Sample 9000",
                           .driver = "550.1",
                           .n_shape = 3,
                           .shape = {1024, 512, 256},
                           .layout = "dense",
                           .tolerance = "derived"};
    atn_wisdom_key dot = gemm;
    dot.kernel = "dot";
    dot.graph.low = 3;
    dot.generator = "older";
    dot.backend = "host";
    dot.device = "Some CPU";
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    tell(wisdom, &gemm, "lanes_p0=16", "right", 0.002, 0.5, "");
    tell(wisdom, &gemm, "", "right", 0.003, 0.75, ""); /* beaten in both */
    tell(wisdom, &gemm, "lanes_p0=32", "right", 0.004, 0.125, "");
    tell(wisdom, &gemm, "lanes_p0=64", "build", 0, 0, "too many registers");
    atn_wisdom_winner winner = {.variant = "lanes_p0=16",
                                .runner_up = "",
                                .seconds = 0.002,
                                .low = 0.0019,
                                .high = 0.0021,
                                .runner_up_ratio = 1.5,
                                .fallback_seconds = 0.003,
                                .fraction_of_peak = 0.5,
                                .tried = 4};
    kit_ok(ctx, atn_wisdom_crown(wisdom, &gemm, &winner));
    tell(wisdom, &dot, "stage=1", "right", 1, 0, "");
    atn_wisdom_close(wisdom);
}

static int begin(void **state) {
    (void)state;
    dir = kit_tempdir();
    ctx = kit_ctx();
    return 0;
}

static int end(void **state) {
    (void)state;
    kit_free(ctx);
    kit_remove(dir);
    return 0;
}

static void nothing_yet(void **state) {
    (void)state;
    does("list", "no entries");
    json_t *root = object_of("list --json");
    assert_int_equal(json_array_size(json_object_get(root, "entries")), 0);
    json_decref(root);
    does("verify", "ok");
    does("export", "\"entries\":[]");
    does("forget --all", "0 entries with 0 measurements forgotten");
    refuses("show gemm", 1, "nothing is known of 'gemm'");
    atn_wisdom *wisdom;
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, true, &wisdom));
    assert_null(wisdom); /* none of this made one */
}

static void wrong_calls(void **state) {
    (void)state;
    static const struct {
        const char *line;
        int code;
        const char *sentence;
    } cases[] = {
        {"", 2, "needs list|show|export|import|forget|verify"},
        {"lst", 2, "'lst' is not known; did you mean 'list'?"},
        {"frobnicate", 2, "'frobnicate' is not known; it is one of list, show,"},
        {"list more", 2, "list takes nothing else"},
        {"show", 2, "show takes KERNEL"},
        {"show a b", 2, "show takes KERNEL"},
        {"show a --kernel b", 2, "without --kernel"},
        {"import", 2, "import takes FILE..."},
        {"forget", 2, "what to forget is missing: --kernel, --device, --stale or --all"},
        {"forget --all --stale", 2, "it stands alone"},
        {"list --device 99", 1, "99"},
        {"import @/none.json", 1, "none.json: No such file"},
        {"import @", 1, "is a directory"},
        {"export -o @/none/x.json", 1, "cannot be written"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) refuses(cases[k].line, cases[k].code, cases[k].sentence);
}

static void lists(void **state) {
    (void)state;
    fill();
    does("list", "kernel  backend  device");
    does("list", "1024x512x256  2 ms  1.500      4");
    does("list", "another generator");
    does("list --kernel nobody", "no entries");
    json_t *root = object_of("list --json"), *entries = json_object_get(root, "entries");
    assert_int_equal(json_array_size(entries), 2);
    json_t *dot = json_array_get(entries, 0), *gemm = json_array_get(entries, 1);
    assert_string_equal(json_string_value(json_object_get(dot, "kernel")), "dot");
    assert_true(json_is_true(json_object_get(dot, "stale")));
    assert_true(json_is_null(json_object_get(dot, "variant"))); /* none was crowned */
    assert_true(json_is_false(json_object_get(gemm, "stale")));
    assert_string_equal(json_string_value(json_object_get(gemm, "device")), "Sample 9000");
    assert_string_equal(json_string_value(json_object_get(gemm, "variant")), "lanes_p0=16");
    assert_true(json_real_value(json_object_get(gemm, "seconds")) == 0.002);
    assert_int_equal(json_integer_value(json_object_get(gemm, "tried")), 4);
    assert_int_equal(json_array_size(json_object_get(gemm, "shape")), 3);
    json_decref(root);
    static const struct {
        const char *line;
        size_t entries;
    } cases[] = {{"list --json --kernel gemm", 1}, {"list --json --device cuda", 1}, {"list --json --device some", 1},
                 {"list --json --device tpu", 0},  {"list --json --device 0", 0}, /* the host that is here */
                 {"list --json --stale", 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        root = object_of(cases[k].line);
        assert_int_equal(json_array_size(json_object_get(root, "entries")), cases[k].entries);
        json_decref(root);
    }
}

static void shows(void **state) {
    (void)state;
    fill();
    does("show gemm", "gemm 1024x512x256 on cuda Sample 9000: 4 measured, 3 right\n");
    does("show gemm", "too many registers");
    does("show gemm --all", "plain");
    does("show dot", "stale (another generator)");
    refuses("show gemm --device opencl", 1, "nothing is known of 'gemm' with these options");
    json_t *root = object_of("show gemm --all --json"), *entry = json_array_get(json_object_get(root, "entries"), 0);
    assert_int_equal(json_array_size(json_object_get(entry, "pareto")), 2);
    assert_int_equal(json_array_size(json_object_get(entry, "measurements")), 4);
    json_t *failure = json_array_get(json_object_get(entry, "failures"), 0);
    assert_string_equal(json_string_value(json_object_get(failure, "detail")), "too many registers");
    assert_int_equal(json_integer_value(json_object_get(failure, "starts")), 1);
    json_decref(root);
    root = object_of("show gemm --json");
    assert_null(json_object_get(json_array_get(json_object_get(root, "entries"), 0), "measurements"));
    json_decref(root);
}

static void carries(void **state) {
    (void)state;
    fill();
    does("export -o @/all.json", "2 entries with 5 measurements written");
    does("export --kernel gemm -o @/gemm.json", "1 entry with 4 measurements written");
    json_decref(object_of("export --json"));
    does("forget --kernel gemm", "1 entry with 4 measurements forgotten");
    does("forget --stale", "1 entry with 1 measurement forgotten");
    does("import @/all.json @/gemm.json", "3 entries with 9 measurements read; 6 new or better");
    json_t *root = object_of("import @/all.json --json");
    assert_int_equal(json_integer_value(json_object_get(root, "taken")), 0);
    json_decref(root);
    does("list", "1024x512x256");
    char *path = kit_script(dir, "broken.json", "{");
    refuses("import @/gemm.json @/broken.json", 1, "broken.json: line 1, column");
    free(path);
    root = object_of("forget --device cuda --json");
    assert_int_equal(json_integer_value(json_object_get(root, "entries")), 1);
    json_decref(root);
    does("forget --all", "1 entry");
    does("list", "no entries");
}

static void verifies(void **state) {
    (void)state;
    fill();
    does("verify", "ok");
    atn_wisdom *wisdom;
    atn_wisdom_key key = {.kernel = "odd", .generator = ATN_GENERATOR_VERSION, .device = "this"};
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    tell(wisdom, &key, "soup=1", "right", 1, 0, "");
    atn_wisdom_close(wisdom);
    refuses("verify", 1, "attune wisdom: 1 problem\n");
    result r = run_line("verify --json");
    assert_int_equal(r.code, 1);
    json_t *root = json_loads(r.out, 0, NULL);
    assert_true(json_is_false(json_object_get(root, "ok")));
    kit_contains(json_string_value(json_array_get(json_object_get(root, "problems"), 0)),
                 "odd on this: a variant 'soup");
    json_decref(root);
    drop(&r);
    char *broken = kit_script(dir, "broken.sqlite", "this is no database");
    setenv("ATTUNE_WISDOM", broken, 1);
    r = run_line("verify --json");
    assert_int_equal(r.code, 1);
    kit_contains(r.out, "is damaged or no database at all");
    drop(&r);
    refuses("list", 1, "is damaged or no database at all");
    unsetenv("ATTUNE_WISDOM");
    free(broken);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_yet, begin, end),
        cmocka_unit_test_setup_teardown(wrong_calls, begin, end),
        cmocka_unit_test_setup_teardown(lists, begin, end),
        cmocka_unit_test_setup_teardown(shows, begin, end),
        cmocka_unit_test_setup_teardown(carries, begin, end),
        cmocka_unit_test_setup_teardown(verifies, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
