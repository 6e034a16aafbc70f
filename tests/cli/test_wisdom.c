/* attune wisdom: what each action prints, for people and as JSON, and every wrong call. */
#include "clikit.h"

#include "tune/key.h"
#include "wisdom/wisdom.h"

#include <stdlib.h>

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
    kit_ok(cli_ctx, atn_wisdom_begin(wisdom, key, variant, &starts));
    kit_ok(cli_ctx, atn_wisdom_tell(wisdom, key, &row));
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
    kit_ok(cli_ctx, atn_wisdom_open(cli_ctx, NULL, false, &wisdom));
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
    kit_ok(cli_ctx, atn_wisdom_crown(wisdom, &gemm, &winner));
    tell(wisdom, &dot, "stage=1", "right", 1, 0, "");
    atn_wisdom_close(wisdom);
}

KIT_TEST(nothing_yet) {
    cli_does("wisdom list", "no entries");
    json_t *root = cli_object("wisdom list --json");
    assert_int_equal(json_array_size(json_object_get(root, "entries")), 0);
    json_decref(root);
    cli_does("wisdom verify", "ok");
    cli_does("wisdom export", "\"entries\":[]");
    cli_does("wisdom forget --all", "0 entries with 0 measurements forgotten");
    cli_refuses("wisdom show gemm", 1, "there is no wisdom for 'gemm'");
    atn_wisdom *wisdom;
    kit_ok(cli_ctx, atn_wisdom_open(cli_ctx, NULL, true, &wisdom));
    assert_null(wisdom); /* none of this made one */
}

KIT_TEST(wrong_calls) {
    static const cli_refusal cases[] = {
        {"wisdom", 2, "needs list|show|export|import|forget|verify"},
        {"wisdom lst", 2, "'lst' is not known; did you mean 'list'?"},
        {"wisdom frobnicate", 2, "'frobnicate' is not known; it is one of list, show,"},
        {"wisdom list more", 2, "list takes nothing else"},
        {"wisdom show", 2, "show takes KERNEL"},
        {"wisdom show a b", 2, "show takes KERNEL"},
        {"wisdom show a --kernel b", 2, "without --kernel"},
        {"wisdom import", 2, "import takes FILE..."},
        {"wisdom forget", 2, "what to forget is missing: --kernel, --device, --stale or --all"},
        {"wisdom forget --all --stale", 2, "it takes no other option"},
        {"wisdom list --device 99", 1, "99"},
        {"wisdom import @/none.json", 1, "none.json: No such file"},
        {"wisdom import @", 1, "is a directory"},
        {"wisdom export -o @/none/x.json", 1, "cannot be written"},
    };
    cli_refuses_all(cases, sizeof cases / sizeof *cases);
}

KIT_TEST(lists) {
    fill();
    cli_does("wisdom list", "kernel  backend  device");
    cli_does("wisdom list", "1024x512x256  2 ms  1.500      4");
    cli_does("wisdom list", "another generator");
    cli_does("wisdom list --kernel nobody", "no entries");
    json_t *root = cli_object("wisdom list --json"), *entries = json_object_get(root, "entries");
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
    } cases[] = {{"wisdom list --json --kernel gemm", 1}, {"wisdom list --json --device cuda", 1},
                 {"wisdom list --json --device some", 1}, {"wisdom list --json --device tpu", 0},
                 {"wisdom list --json --device 0", 0}, /* the host that is here */
                 {"wisdom list --json --stale", 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        root = cli_object(cases[k].line);
        assert_int_equal(json_array_size(json_object_get(root, "entries")), cases[k].entries);
        json_decref(root);
    }
}

KIT_TEST(shows) {
    fill();
    cli_does("wisdom show gemm", "gemm 1024x512x256 on cuda Sample 9000: 4 measured, 3 right\n");
    cli_does("wisdom show gemm", "too many registers");
    cli_does("wisdom show gemm --all", "plain");
    cli_does("wisdom show dot", "stale (another generator)");
    cli_refuses("wisdom show gemm --device opencl", 1, "there is no wisdom for 'gemm' with these options");
    json_t *root = cli_object("wisdom show gemm --all --json"),
           *entry = json_array_get(json_object_get(root, "entries"), 0);
    assert_int_equal(json_array_size(json_object_get(entry, "pareto")), 2);
    assert_int_equal(json_array_size(json_object_get(entry, "measurements")), 4);
    json_t *failure = json_array_get(json_object_get(entry, "failures"), 0);
    assert_string_equal(json_string_value(json_object_get(failure, "detail")), "too many registers");
    assert_int_equal(json_integer_value(json_object_get(failure, "starts")), 1);
    json_decref(root);
    root = cli_object("wisdom show gemm --json");
    assert_null(json_object_get(json_array_get(json_object_get(root, "entries"), 0), "measurements"));
    json_decref(root);
}

KIT_TEST(carries) {
    fill();
    cli_does("wisdom export -o @/all.json", "2 entries with 5 measurements written");
    cli_does("wisdom export --kernel gemm -o @/gemm.json", "1 entry with 4 measurements written");
    json_decref(cli_object("wisdom export --json"));
    cli_does("wisdom forget --kernel gemm", "1 entry with 4 measurements forgotten");
    cli_does("wisdom forget --stale", "1 entry with 1 measurement forgotten");
    cli_does("wisdom import @/all.json @/gemm.json", "3 entries with 9 measurements read; 6 new or better");
    json_t *root = cli_object("wisdom import @/all.json --json");
    assert_int_equal(json_integer_value(json_object_get(root, "taken")), 0);
    json_decref(root);
    cli_does("wisdom list", "1024x512x256");
    char *path = kit_script(cli_dir, "broken.json", "{");
    cli_refuses("wisdom import @/gemm.json @/broken.json", 1, "broken.json: line 1, column");
    free(path);
    root = cli_object("wisdom forget --device cuda --json");
    assert_int_equal(json_integer_value(json_object_get(root, "entries")), 1);
    json_decref(root);
    cli_does("wisdom forget --all", "1 entry");
    cli_does("wisdom list", "no entries");
}

KIT_TEST(verifies) {
    fill();
    cli_does("wisdom verify", "ok");
    atn_wisdom *wisdom;
    atn_wisdom_key key = {.kernel = "odd", .generator = ATN_GENERATOR_VERSION, .device = "this"};
    kit_ok(cli_ctx, atn_wisdom_open(cli_ctx, NULL, false, &wisdom));
    tell(wisdom, &key, "soup=1", "right", 1, 0, "");
    atn_wisdom_close(wisdom);
    cli_refuses("wisdom verify", 1, "attune wisdom: 1 problem\n");
    cli_result r = cli_run("wisdom verify --json");
    assert_int_equal(r.code, 1);
    json_t *root = json_loads(r.out, 0, NULL);
    assert_true(json_is_false(json_object_get(root, "ok")));
    kit_contains(json_string_value(json_array_get(json_object_get(root, "problems"), 0)),
                 "odd on this: a variant 'soup");
    json_decref(root);
    cli_drop(&r);
    char *broken = kit_script(cli_dir, "broken.sqlite", "this is not a database");
    setenv("ATTUNE_WISDOM", broken, 1);
    r = cli_run("wisdom verify --json");
    assert_int_equal(r.code, 1);
    kit_contains(r.out, "is damaged or no database at all");
    cli_drop(&r);
    cli_refuses("wisdom list", 1, "is damaged or no database at all");
    unsetenv("ATTUNE_WISDOM");
    free(broken);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_yet, cli_begin, cli_end),
        cmocka_unit_test_setup_teardown(wrong_calls, cli_begin, cli_end),
        cmocka_unit_test_setup_teardown(lists, cli_begin, cli_end),
        cmocka_unit_test_setup_teardown(shows, cli_begin, cli_end),
        cmocka_unit_test_setup_teardown(carries, cli_begin, cli_end),
        cmocka_unit_test_setup_teardown(verifies, cli_begin, cli_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
