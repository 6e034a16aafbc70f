/* The program in this process: exit statuses, sentences, help, JSON, and standard output that cannot be written. */
#include "testkit.h"

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

/* One cache for all tests here, so that peaks are measured once. */
static char *cache;
static kit_faults blocks;

static int cache_begin(void **state) {
    (void)state;
    cache = kit_tempdir();
    return 0;
}

static int cache_end(void **state) {
    (void)state;
    kit_remove(cache);
    return 0;
}

static atn_ctx *begin(void) {
    blocks = (kit_faults){0};
    atn_options options = kit_fault_options(&blocks);
    options.cache_dir = cache;
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    return ctx;
}

static void end(atn_ctx *ctx) {
    atn_ctx_free(ctx);
    assert_int_equal(blocks.live, 0);
}

/* What a run left behind. */
typedef struct result {
    int code;
    char *out, *err; /* owned */
} result;

/* Runs `attune LINE`, words apart by single blanks. */
static result run_line(atn_ctx *ctx, const char *line) {
    result r = {0};
    size_t out_bytes, err_bytes;
    FILE *out = open_memstream(&r.out, &out_bytes), *err = open_memstream(&r.err, &err_bytes);
    assert_non_null(out);
    assert_non_null(err);
    char *copy = strdup(line), *argv[MOST + 2] = {(char *)"attune"};
    int argc = 1;
    for (char *word = strtok(copy, " "); word && argc < MOST; word = strtok(NULL, " ")) argv[argc++] = word;
    r.code = atn_cli_run(ctx, argc, argv, out, err);
    fclose(out);
    fclose(err);
    free(copy);
    return r;
}

static void drop(result *r) {
    free(r->out);
    free(r->err);
}

static size_t lines_in(const char *text) {
    size_t lines = 0;
    for (; *text; ++text) lines += *text == '\n';
    return lines;
}

static void wrong_usage_is_2_and_one_line(void **state) {
    (void)state;
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        {"", "attune: what to do is missing"},
        {"devcies", "attune: there is no verb 'devcies'; did you mean 'devices'?"},
        {"dev", "did you mean 'devices'?"},
        {"frobnicate", "attune: there is no verb 'frobnicate' (see 'attune help')"},
        {"devices --jsn", "attune devices: unknown option '--jsn'; did you mean '--json'?"},
        {"devices --frobnicate", "unknown option '--frobnicate' (see 'attune help devices')"},
        {"devices --frobnicate=7", "unknown option '--frobnicate' (see"},
        {"devices -json", "did you mean '--json'?"},
        {"devices -q", "unknown option '-q'"},
        {"devices --device", "--device needs a value: --device NAME"},
        {"devices --device --json", "--device needs a value"},
        {"devices --device a --device b", "--device is given twice"},
        {"devices --json=yes", "--json takes no value, but got 'yes'"},
        {"devices extra", "'extra' is one too many; it takes options only"},
        {"devices --version", "unknown option '--version'"},
        {"help devcies", "attune help: there is no verb 'devcies'; did you mean 'devices'?"},
        {"replay", "CACHE.json.gz"},
        {"help a b", "'b' is one too many; it takes [VERB]"},
        {"completion frogs", "'frogs' cannot be listed"},
        {"--frobnicate devices", "attune: unknown option '--frobnicate'"},
    };
    atn_ctx *ctx = begin();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        result r = run_line(ctx, cases[k].line);
        if (r.code != 2) fail_msg("attune %s: exit %d, wanted 2", cases[k].line, r.code);
        kit_contains(r.err, cases[k].sentence);
        assert_int_equal(lines_in(r.err), 1);
        assert_string_equal(r.out, "");
        drop(&r);
    }
    end(ctx);
}

static void help_knows_every_verb(void **state) {
    (void)state;
    atn_ctx *ctx = begin();
    result all = run_line(ctx, "help"), flag = run_line(ctx, "--help"), manual = run_line(ctx, "man");
    assert_int_equal(all.code, 0);
    assert_string_equal(all.out, flag.out);
    kit_contains(all.out, atn_version());
    for (const atn_cli_verb *const *verb = ATN_CLI_VERBS; *verb; ++verb) {
        char line[64];
        snprintf(line, sizeof line, "help %s", (*verb)->name);
        result one = run_line(ctx, line);
        snprintf(line, sizeof line, "%s --help", (*verb)->name);
        result same = run_line(ctx, line);
        snprintf(line, sizeof line, "%s -h", (*verb)->name);
        result again = run_line(ctx, line);
        assert_int_equal(one.code, 0);
        assert_string_equal(one.err, "");
        assert_string_equal(one.out, same.out);
        assert_string_equal(one.out, again.out);
        kit_contains(one.out, (*verb)->summary);
        for (const atn_cli_option *o = (*verb)->options; o && o->name; ++o) kit_contains(one.out, o->meaning);
        for (const atn_cli_option *o = ATN_CLI_GLOBALS; o->name; ++o) kit_contains(one.out, o->meaning);
        assert_int_equal(strstr(all.out, (*verb)->summary) != NULL, !(*verb)->hidden);
        assert_int_equal(strstr(manual.out, (*verb)->summary) != NULL, !(*verb)->hidden);
        drop(&one);
        drop(&same);
        drop(&again);
    }
    drop(&all);
    drop(&flag);
    drop(&manual);
    end(ctx);
}

static void tables_are_whole(void **state) {
    (void)state;
    for (const atn_cli_verb *const *verb = ATN_CLI_VERBS; *verb; ++verb) {
        assert_non_null((*verb)->run);
        assert_non_null((*verb)->synopsis);
        assert_non_null((*verb)->paragraphs);
        assert_true((*verb)->min_operands <= (*verb)->max_operands);
        assert_null(strchr((*verb)->summary, '\n'));
        assert_ptr_equal(atn_cli_find_verb((*verb)->name), *verb);
        for (const atn_cli_option *o = (*verb)->options; o && o->name; ++o) {
            assert_non_null(o->meaning);
            for (const atn_cli_option *g = ATN_CLI_GLOBALS; g->name; ++g) assert_string_not_equal(o->name, g->name);
        }
    }
}

/* The one object on standard output, or a failed test; the caller's. */
static json_t *only_object(const char *text) {
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    if (!json_is_object(root)) fail_msg("no JSON object: %s: \"%s\"", error.text, text);
    return root;
}

static void json_is_one_object(void **state) {
    (void)state;
    static const char *const lines[] = {
        "help --json",       "help devices --json", "--json --version", "--help --json",  "man --json",
        "completion --json", "devices --json",      "selftest --json",  "--json devices", "devices --device=0 --json"};
    atn_ctx *ctx = begin();
    for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) {
        result r = run_line(ctx, lines[k]);
        if (r.code != 0) fail_msg("attune %s: exit %d: %s", lines[k], r.code, r.err);
        json_decref(only_object(r.out));
        drop(&r);
    }
    end(ctx);
}

static void devices_json_has_its_fields(void **state) {
    (void)state;
    static const char *const numbers[] = {"index", "cores", "memory_bytes", "local_bytes", "simd"};
    static const char *const texts[] = {"backend", "name", "driver"};
    static const char *const peaks[] = {"fp16", "fp32", "fp64", "bandwidth"};
    atn_ctx *ctx = begin();
    result r = run_line(ctx, "devices --json");
    assert_int_equal(r.code, 0);
    json_t *root = only_object(r.out), *devices = json_object_get(root, "devices"), *device;
    size_t index;
    assert_true(json_array_size(devices) >= 1);
    assert_true(json_is_array(json_object_get(root, "notes")));
    json_array_foreach(devices, index, device) {
        assert_int_equal(json_integer_value(json_object_get(device, "index")), index);
        for (size_t k = 0; k < 5; ++k) assert_true(json_is_integer(json_object_get(device, numbers[k])));
        for (size_t k = 0; k < 3; ++k) assert_true(json_is_string(json_object_get(device, texts[k])));
        json_t *peak = json_object_get(device, "peak");
        for (size_t k = 0; k < 4; ++k) {
            json_t *rate = json_object_get(peak, peaks[k]);
            assert_true(json_is_null(rate) || json_real_value(rate) > 0);
        }
    }
    json_t *host = json_array_get(devices, 0);
    assert_string_equal(json_string_value(json_object_get(host, "backend")), "host");
    assert_true(json_is_real(json_object_get(json_object_get(host, "peak"), "fp32")));
    json_decref(root);
    drop(&r);
    end(ctx);
}

static void devices_table_is_for_people(void **state) {
    (void)state;
    atn_ctx *ctx = begin();
    result r = run_line(ctx, "devices --device host");
    assert_int_equal(r.code, 0);
    kit_contains(r.out, "backend");
    kit_contains(r.out, "FLOP/s");
    kit_contains(r.out, "GB/s");
    assert_null(strstr(r.out, " \n"));
    drop(&r);
    r = run_line(ctx, "selftest --device host");
    assert_int_equal(r.code, 0);
    kit_contains(r.out, "ok");
    drop(&r);
    end(ctx);
}

static void unknown_device_is_1_and_named(void **state) {
    (void)state;
    static const char *const lines[] = {"devices --device nonesuch", "selftest --device nonesuch --json",
                                        "--device=nonesuch devices"};
    atn_ctx *ctx = begin();
    for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) {
        result r = run_line(ctx, lines[k]);
        assert_int_equal(r.code, 1);
        kit_contains(r.err, "nonesuch");
        kit_contains(r.err, "host");
        assert_int_equal(lines_in(r.err), 1);
        assert_string_equal(r.out, "");
        drop(&r);
    }
    end(ctx);
}

static void stopping_is_1(void **state) {
    (void)state;
    atn_ctx *ctx = begin();
    atn_ctx_cancel(ctx);
    result r = run_line(ctx, "devices");
    assert_int_equal(r.code, 1);
    kit_contains(r.err, "stopped");
    drop(&r);
    end(ctx);
}

static void full_output_is_1(void **state) {
    (void)state;
    static const char *const lines[] = {"help", "devices", "devices --json", "selftest", "man", "--version"};
    FILE *full = fopen("/dev/full", "w");
    if (!full) skip();
    fclose(full);
    atn_ctx *ctx = begin();
    for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) {
        char *argv[4] = {(char *)"attune"}, *copy = strdup(lines[k]), *sentence;
        size_t bytes;
        int argc = 1;
        for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
        FILE *out = fopen("/dev/full", "w"), *err = open_memstream(&sentence, &bytes);
        assert_int_equal(atn_cli_run(ctx, argc, argv, out, err), 1);
        fclose(out);
        fclose(err);
        kit_contains(sentence, "standard output could not be written");
        assert_int_equal(lines_in(sentence), 1);
        free(sentence);
        free(copy);
    }
    end(ctx);
}

static void log_lines_go_to_stderr(void **state) {
    (void)state;
    char *text;
    size_t bytes;
    FILE *err = open_memstream(&text, &bytes);
    atn_options options = {.log = atn_cli_log, .log_user = err};
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    atn_log(ctx, ATN_LOG_INFO, "quiet");
    atn_log(ctx, ATN_LOG_WARNING, "the cache\nis full");
    atn_cli_log_verbose(true);
    atn_log(ctx, ATN_LOG_DEBUG, "chatty");
    atn_cli_log_verbose(false);
    atn_ctx_free(ctx);
    fclose(err);
    assert_string_equal(text, "attune: the cache is full\nattune: chatty\n");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_usage_is_2_and_one_line),
        cmocka_unit_test(help_knows_every_verb),
        cmocka_unit_test(tables_are_whole),
        cmocka_unit_test(json_is_one_object),
        cmocka_unit_test(devices_json_has_its_fields),
        cmocka_unit_test(devices_table_is_for_people),
        cmocka_unit_test(unknown_device_is_1_and_named),
        cmocka_unit_test(stopping_is_1),
        cmocka_unit_test(full_output_is_1),
        cmocka_unit_test(log_lines_go_to_stderr),
    };
    return cmocka_run_group_tests(tests, cache_begin, cache_end);
}
