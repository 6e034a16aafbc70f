/* attune space and attune bench space in this process: what they print, and the sentence for each mistake. */
#include "clikit.h"

#include <stdlib.h>
#include <string.h>

static const char TEXT[] = "size = (1, 2, 4)\nfast = (False, True)\nhow = ('a', 'b')\n"
                           "@condition\ndef large(size, fast):\n    return size > 2 and fast\n";

/* The directory holds a small space, and the cache. */
static int begin_all(void **state) {
    (void)state;
    char path[512];
    cli_dir = kit_tempdir();
    snprintf(path, sizeof path, "%s/small.lanai", cli_dir);
    FILE *f = fopen(path, "we");
    if (!f) return -1;
    fputs(TEXT, f);
    return fclose(f);
}

static int end_all(void **state) {
    (void)state;
    kit_remove(cli_dir);
    return 0;
}

/* A context for each test, which may leave nothing behind. */
static kit_faults blocks;

static int begin(void **state) {
    (void)state;
    blocks = (kit_faults){0};
    atn_ctx_settings options = kit_fault_options(&blocks);
    options.cache_dir = cli_dir;
    return atn_ctx_create(&options, &cli_ctx) == ATN_OK ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    atn_ctx_free(cli_ctx);
    return blocks.live == 0 ? 0 : -1;
}

KIT_TEST(prints) {
    static const struct {
        const char *line, *out;
    } cases[] = {
        {"space @/small.lanai --count", "10\n"},
        {"space @/small.lanai --why size=4,fast=True,how=a", "excluded by large\n"},
        {"space @/small.lanai --why size=2,fast=True,how=a", "allowed\n"},
        {"space @/small.lanai --why size=4,fast=True,how=a --json",
         "{\n  \"allowed\": false,\n  \"by\": \"large\"\n}\n"},
        {"space @/small.lanai --why size=1,fast=True,how=b --json", "{\n  \"allowed\": true,\n  \"by\": null\n}\n"},
        {"space @/small.lanai --list", "size=1,fast=False,how=a\nsize=1,fast=False,how=b\nsize=1,fast=True,how=a\n"
                                       "size=1,fast=True,how=b\nsize=2,fast=False,how=a\nsize=2,fast=False,how=b\n"
                                       "size=2,fast=True,how=a\nsize=2,fast=True,how=b\nsize=4,fast=False,how=a\n"
                                       "size=4,fast=False,how=b\n"},
        {"space @/small.lanai --neighbours size=4,fast=False,how=a",
         "size=1,fast=False,how=a\nsize=2,fast=False,how=a\nsize=4,fast=False,how=b\n"},
        {"space @/small.lanai --neighbours size=4,fast=False,how=a --near",
         "size=2,fast=False,how=a\nsize=4,fast=False,how=b\n"},
        {"space @/small.lanai --prune-report",
         "constraint  alone  together  only\nlarge           2         2     2\n"},
        {"space @/small.lanai --sample 0 --json", "{\n  \"points\": [],\n  \"complete\": true\n}\n"},
        {"space @/small.lanai", "size  3  1, 2, 4\nfast  2  False, True\nhow   2  a, b\nconstraints: large\n"
                                "10 of 12 points are allowed\n"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        cli_result r = cli_run(cases[k].line);
        if (r.code != 0 || strcmp(r.out, cases[k].out) != 0)
            fail_msg("attune %s: exit %d: %s%s", cases[k].line, r.code, r.out, r.err);
        cli_drop(&r);
    }
}

KIT_TEST(json) {
    json_t *root = cli_object("space @/small.lanai --count --json");
    assert_int_equal(json_integer_value(json_object_get(root, "count")), 10);
    assert_int_equal(json_integer_value(json_object_get(root, "product")), 12);
    assert_int_equal(json_integer_value(json_object_get(root, "parameters")), 3);
    assert_int_equal(json_integer_value(json_object_get(root, "constraints")), 1);
    assert_true(json_is_real(json_object_get(root, "seconds")));
    json_decref(root);
    cli_result r = cli_run("space @/small.lanai --sample 4 --seed 9 --json");
    cli_result again = cli_run("space @/small.lanai --sample 4 --seed 9 --json");
    assert_string_equal(r.out, again.out);
    root = json_loads(r.out, 0, NULL);
    json_t *points = json_object_get(root, "points");
    assert_int_equal(json_array_size(points), 4);
    assert_true(json_is_boolean(json_object_get(json_array_get(points, 0), "fast")));
    json_decref(root);
    cli_drop(&r);
    cli_drop(&again);
    r = cli_run("space example --count --given device.local_memory=0");
    cli_result other = cli_run("space example --count --given device.local_memory=1");
    assert_true(r.code == 0 && other.code == 0 && atoi(r.out) < atoi(other.out)); /* no padding without it */
    cli_drop(&r);
    cli_drop(&other);
}

KIT_TEST(mistakes) {
    static const cli_refusal cases[] = {
        {"space", 2, "attune space: needs FILE"},
        {"space @/small.lanai --count --list", 2, "--count and --list cannot be combined"},
        {"space @/small.lanai --sample many", 2, "--sample cannot be 'many'; it takes a number"},
        {"space @/small.lanai --sample 1 --seed x", 2, "--seed cannot be 'x'"},
        {"space @/small.lanai --given cores=3", 2, "--given cannot be 'cores=3'; it takes MODULE.NAME=VALUE"},
        {"space nosuch", 1, "attune space: nosuch: no such file or shipped space: cuda, example, host, opencl"},
        {"space @/small.lanai --why size=3,fast=True,how=a", 1, "'size' cannot be '3'; it is one of 1, 2, 4"},
        {"space @/small.lanai --why siez=1", 1, "there is no parameter 'siez'; did you mean 'size'?"},
        {"bench", 2, "attune bench: needs kernels|programs"},
        {"bench spaec", 2, "no benchmark 'spaec'; did you mean 'space'?"},
        {"bench space /nonexistent", 1, "/nonexistent"},
        {"bench space @/small.lanai --device", 2, "--device needs a value"},
    };
    cli_refuses_all(cases, sizeof cases / sizeof *cases);
}

KIT_TEST(bench) {
    cli_result r = cli_run("bench space @/small.lanai --json");
    if (r.code != 0 && strstr(r.err, "python3, to compare with")) {
        cli_drop(&r);
        skip();
    }
    if (r.code != 0) fail_msg("%s", r.err);
    json_t *root = json_loads(r.out, 0, NULL), *rows = json_object_get(root, "rows");
    assert_int_equal(json_array_size(rows), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "name")), "count small.lanai");
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "shape")), "10 of 12");
    assert_true(json_real_value(json_object_get(json_array_get(rows, 0), "ratio")) > 0);
    json_decref(root);
    cli_drop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(prints, begin, end),
        cmocka_unit_test_setup_teardown(json, begin, end),
        cmocka_unit_test_setup_teardown(mistakes, begin, end),
        cmocka_unit_test_setup_teardown(bench, begin, end),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}
