/* attune space and attune bench space in this process: what they print, and the sentence for each mistake. */
#include "testkit.h"

#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *dir;      /* with the files below, and the cache */
static char file[512]; /* a small space */

static const char TEXT[] = "size = (1, 2, 4)\nfast = (False, True)\nhow = ('a', 'b')\n"
                           "@condition\ndef large(size, fast):\n    return size > 2 and fast\n";

static int begin_all(void **state) {
    (void)state;
    dir = kit_tempdir();
    snprintf(file, sizeof file, "%s/small.lanai", dir);
    FILE *f = fopen(file, "we");
    if (!f) return -1;
    fputs(TEXT, f);
    return fclose(f);
}

static int end_all(void **state) {
    (void)state;
    kit_remove(dir);
    return 0;
}

typedef struct result {
    int code;
    char *out, *err; /* owned */
} result;

/* Runs `attune LINE`, words apart by single blanks; FILE stands for the small space. */
static result run_line(const char *line) {
    result r = {0};
    size_t out_bytes, err_bytes;
    kit_faults blocks = {0};
    atn_options options = kit_fault_options(&blocks);
    options.cache_dir = dir;
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    FILE *out = open_memstream(&r.out, &out_bytes), *err = open_memstream(&r.err, &err_bytes);
    char *copy = strdup(line), *argv[18] = {(char *)"attune"}, *rest;
    int argc = 1;
    for (char *word = strtok_r(copy, " ", &rest); word && argc < 16; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = strcmp(word, "FILE") == 0 ? file : word;
    r.code = atn_cli_run(ctx, argc, argv, out, err);
    fclose(out);
    fclose(err);
    free(copy);
    atn_ctx_free(ctx);
    assert_int_equal(blocks.live, 0);
    return r;
}

static void drop(result *r) {
    free(r->out);
    free(r->err);
}

static void prints(void **state) {
    (void)state;
    static const struct {
        const char *line, *out;
    } cases[] = {
        {"space FILE --count", "10\n"},
        {"space FILE --why size=4,fast=True,how=a", "excluded by large\n"},
        {"space FILE --why size=2,fast=True,how=a", "allowed\n"},
        {"space FILE --why size=4,fast=True,how=a --json", "{\n  \"allowed\": false,\n  \"by\": \"large\"\n}\n"},
        {"space FILE --why size=1,fast=True,how=b --json", "{\n  \"allowed\": true,\n  \"by\": null\n}\n"},
        {"space FILE --list", "size=1,fast=False,how=a\nsize=1,fast=False,how=b\nsize=1,fast=True,how=a\n"
                              "size=1,fast=True,how=b\nsize=2,fast=False,how=a\nsize=2,fast=False,how=b\n"
                              "size=2,fast=True,how=a\nsize=2,fast=True,how=b\nsize=4,fast=False,how=a\n"
                              "size=4,fast=False,how=b\n"},
        {"space FILE --neighbours size=4,fast=False,how=a",
         "size=1,fast=False,how=a\nsize=2,fast=False,how=a\nsize=4,fast=False,how=b\n"},
        {"space FILE --neighbours size=4,fast=False,how=a --near",
         "size=2,fast=False,how=a\nsize=4,fast=False,how=b\n"},
        {"space FILE --prune-report", "constraint  alone  together  only\nlarge           2         2     2\n"},
        {"space FILE --sample 0 --json", "{\n  \"points\": [],\n  \"complete\": true\n}\n"},
        {"space FILE", "size  3  1, 2, 4\nfast  2  False, True\nhow   2  a, b\nconstraints: large\n"
                       "10 of 12 points are allowed\n"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        result r = run_line(cases[k].line);
        if (r.code != 0 || strcmp(r.out, cases[k].out) != 0)
            fail_msg("attune %s: exit %d: %s%s", cases[k].line, r.code, r.out, r.err);
        drop(&r);
    }
}

static void json(void **state) {
    (void)state;
    result r = run_line("space FILE --count --json");
    json_t *root = json_loads(r.out, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(root, "count")), 10);
    assert_int_equal(json_integer_value(json_object_get(root, "product")), 12);
    assert_int_equal(json_integer_value(json_object_get(root, "parameters")), 3);
    assert_int_equal(json_integer_value(json_object_get(root, "constraints")), 1);
    assert_true(json_is_real(json_object_get(root, "seconds")));
    json_decref(root);
    drop(&r);
    r = run_line("space FILE --sample 4 --seed 9 --json");
    result again = run_line("space FILE --sample 4 --seed 9 --json");
    assert_string_equal(r.out, again.out);
    root = json_loads(r.out, 0, NULL);
    json_t *points = json_object_get(root, "points");
    assert_int_equal(json_array_size(points), 4);
    assert_true(json_is_boolean(json_object_get(json_array_get(points, 0), "fast")));
    json_decref(root);
    drop(&r);
    drop(&again);
    r = run_line("space example --count --given device.local_memory=0");
    result other = run_line("space example --count --given device.local_memory=1");
    assert_true(r.code == 0 && other.code == 0 && atoi(r.out) < atoi(other.out)); /* no padding without it */
    drop(&r);
    drop(&other);
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *line;
        int code;
        const char *sentence;
    } cases[] = {
        {"space", 2, "attune space: needs FILE"},
        {"space FILE --count --list", 2, "--count and --list: one at a time"},
        {"space FILE --sample many", 2, "--sample cannot be 'many'; it takes a number"},
        {"space FILE --sample 1 --seed x", 2, "--seed cannot be 'x'"},
        {"space FILE --given cores=3", 2, "--given cannot be 'cores=3'; it takes MODULE.NAME=VALUE"},
        {"space nosuch", 1,
         "attune space: nosuch: no such file, and no space that is shipped: cuda, example, host, opencl"},
        {"space FILE --why size=3,fast=True,how=a", 1, "'size' cannot be '3'; it is one of 1, 2, 4"},
        {"space FILE --why siez=1", 1, "there is no parameter 'siez'; did you mean 'size'?"},
        {"bench", 2, "attune bench: needs SUBJECT"},
        {"bench spaec", 2, "there is nothing to measure called 'spaec'; did you mean 'space'?"},
        {"bench space /nonexistent", 1, "/nonexistent"},
        {"bench space FILE --device", 2, "--device needs a value"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        result r = run_line(cases[k].line);
        if (r.code != cases[k].code) fail_msg("attune %s: exit %d: %s", cases[k].line, r.code, r.err);
        kit_contains(r.err, cases[k].sentence);
        assert_string_equal(r.out, "");
        drop(&r);
    }
}

static void bench(void **state) {
    (void)state;
    result r = run_line("bench space FILE --json");
    if (r.code != 0 && strstr(r.err, "python3, to compare with")) {
        drop(&r);
        skip();
    }
    if (r.code != 0) fail_msg("%s", r.err);
    json_t *root = json_loads(r.out, 0, NULL), *rows = json_object_get(root, "rows");
    assert_int_equal(json_array_size(rows), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "name")), "count small.lanai");
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "shape")), "10 of 12");
    assert_true(json_real_value(json_object_get(json_array_get(rows, 0), "ratio")) > 0);
    json_decref(root);
    drop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints),
        cmocka_unit_test(json),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(bench),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}
