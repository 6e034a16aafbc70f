/* attune tune of a program: its seams and its steps, and who takes what was found. */
#include "clikit.h"

#include <stdlib.h>
#include <string.h>

static const char PROGRAM[] =
    "kernel twice(x: vector T) -> y: vector T\n    y[i] = 2 * x[i]\n"
    "kernel near(x: vector T) -> y: vector T\n"
    "    for i in length(x) - 2\n        y[i] = x[i] + x[i + 1] + x[i + 2]\n"
    "kernel total(x: vector T) -> s: vector T\n    s[0] = sum(i) x[i]\n"
    "program chain(x: vector T, inout u: vector T) -> s: vector T\n"
    "    a = twice(x)\n    b = near(a)\n    c = near(b)\n    u = twice(u)\n    s = total(c)\n";

static int begin(void **state) {
    int failed = cli_begin_tuning(state);
    cli_put("space.lanai", "vec_p0 = (1, 2)\n");
    cli_put("chain.atn", PROGRAM);
    return failed;
}

KIT_TEST(what_it_refuses) {
    static const cli_refusal CASES[] = {
        {"tune --device host @/chain.atn", 1,
         "chain: its plan depends on the size of 'x', a vector of SP: --size x=LENGTH"},
        {"tune --device host @/chain.atn --size z=3", 1, "chain: no array 'z'; there is x, u, s"},
        {"tune --device host @/chain.atn --param w=3", 1, "chain: no parameter 'w'; there is none"},
        {"tune --device host @/chain.atn --size x=30 --size u=30 --report page.html", 2, "--report is for kernels"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

#define SIZES "@/chain.atn --size x=3000 --size u=3000 "
#define TUNE  "tune --device %s " SIZES "--strategy exhaustive --evals 3 --space @/space.lanai "

static const json_t *row(const json_t *root, size_t k) { return json_array_get(json_object_get(root, "results"), k); }

static const char *text_of(const json_t *object, const char *name) {
    return json_string_value(json_object_get(object, name));
}

/* Of what is tuned, the first row is the whole; the others are its steps, which wisdom has as well. */
static void tune_on(const char *device) {
    char line[1200], seams[64];
    snprintf(line, sizeof line, TUNE "--json", device);
    json_t *root = cli_object(line);
    assert_true(json_array_size(json_object_get(root, "results")) > 1);
    assert_string_equal(text_of(row(root, 0), "kernel"), "chain");
    assert_string_equal(text_of(row(root, 0), "shape"), "3000 3000");
    assert_int_equal(json_integer_value(json_object_get(row(root, 0), "tried")), 3);
    assert_true(json_number_value(json_object_get(row(root, 0), "best_s")) > 0);
    assert_true(json_number_value(json_object_get(row(root, 0), "default_s")) > 0);
    snprintf(seams, sizeof seams, "%s", text_of(row(root, 0), "variant"));
    assert_memory_equal(seams, "seams=", 6);
    for (size_t k = 1; k < json_array_size(json_object_get(root, "results")); ++k) {
        assert_true(json_integer_value(json_object_get(row(root, k), "tried")) > 0);
        assert_true(json_is_string(json_object_get(row(root, k), "variant")));
    }
    json_decref(root);

    snprintf(line, sizeof line, "show --device %s " SIZES "--plan --json", device);
    root = cli_object(line);
    assert_non_null(text_of(root, "seams_from"));
    assert_memory_equal(text_of(root, "seams_from"), "exact, measured on ", 19);
    kit_contains(text_of(root, "plan"), "seams from wisdom (exact");
    const json_t *list = json_object_get(root, "seams");
    assert_int_equal(json_array_size(list), strlen(seams + 6));
    for (size_t k = 0; k < json_array_size(list); ++k)
        assert_int_equal(json_is_true(json_object_get(json_array_get(list, k), "fused")), seams[6 + k] == '1');
    json_decref(root);
    snprintf(line, sizeof line, "show --device %s @/chain.atn --size x=2000 --size u=2000 --plan", device);
    cli_result r = cli_run(line);
    kit_contains(r.out, "seams from wisdom (near shape");
    cli_drop(&r);
    snprintf(line, sizeof line, "show --device %s @/chain.atn --size x=2000000 --size u=2000 --plan", device);
    r = cli_run(line);
    kit_contains(r.out, "\nseams\n");
    cli_drop(&r);
    snprintf(line, sizeof line, TUNE, device); /* nothing is measured twice */
    r = cli_run(line);
    assert_int_equal(r.code, 0);
    kit_contains(r.out, seams);
    cli_drop(&r);
}

KIT_TEST(on_the_host) { tune_on("host"); }

KIT_TEST(on_opencl) {
    cli_result r = cli_run("devices --json");
    bool there = strstr(r.out, "\"opencl\"") != NULL;
    cli_drop(&r);
    if (!there) {
        print_message("    no OpenCL device here\n");
        skip();
    }
    tune_on("opencl");
}

KIT_TEST(wisdom_carries_it) {
    cli_result r = cli_run("wisdom list");
    kit_contains(r.out, "seams=");
    cli_drop(&r);
    r = cli_run("wisdom verify");
    assert_int_equal(r.code, 0);
    cli_drop(&r);
    r = cli_run("wisdom export --kernel chain -o @/chain.json");
    assert_int_equal(r.code, 0);
    cli_drop(&r);
    r = cli_run("wisdom forget --all");
    assert_int_equal(r.code, 0);
    cli_drop(&r);
    r = cli_run("show --device host " SIZES "--plan");
    kit_contains(r.out, "\nseams\n");
    cli_drop(&r);
    r = cli_run("wisdom import @/chain.json");
    assert_int_equal(r.code, 0);
    cli_drop(&r);
    r = cli_run("show --device host " SIZES "--plan");
    kit_contains(r.out, "seams from wisdom (exact");
    cli_drop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_it_refuses), cmocka_unit_test(on_the_host),
                                       cmocka_unit_test(on_opencl), cmocka_unit_test(wisdom_carries_it)};
    return cmocka_run_group_tests(tests, begin, cli_end_tuning);
}
