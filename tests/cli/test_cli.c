/* The program in this process: exit statuses, sentences, help, JSON, and standard output that cannot be written. */
#include "clikit.h"

#include "bench/covariance.h"
#include "bench/estimate.h"
#include "bench/kernels.h"
#include "cli/tune_list.h"
#include "space/device_given.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static kit_faults blocks;

static void begin(void) {
    blocks = (kit_faults){0};
    atn_ctx_settings options = kit_fault_options(&blocks);
    options.cache_dir = cli_cache;
    assert_int_equal(atn_ctx_create(&options, &cli_ctx), ATN_OK);
}

static void end(void) {
    atn_ctx_free(cli_ctx);
    assert_int_equal(blocks.live, 0);
}

KIT_TEST(wrong_usage_is_2_and_one_line) {
    static const cli_refusal cases[] = {
        {"", 2, "attune: a verb is missing"},
        {"devcies", 2, "attune: there is no verb 'devcies'; did you mean 'devices'?"},
        {"dev", 2, "did you mean 'devices'?"},
        {"frobnicate", 2, "attune: there is no verb 'frobnicate' (see 'attune help')"},
        {"devices --jsn", 2, "attune devices: unknown option '--jsn'; did you mean '--json'?"},
        {"devices --frobnicate", 2, "unknown option '--frobnicate' (see 'attune help devices')"},
        {"devices --frobnicate=7", 2, "unknown option '--frobnicate' (see"},
        {"devices -json", 2, "did you mean '--json'?"},
        {"devices -q", 2, "unknown option '-q'"},
        {"devices --device", 2, "--device needs a value: --device NAME"},
        {"devices --device --json", 2, "--device needs a value"},
        {"devices --device a --device b", 2, "--device is given twice"},
        {"devices --json=yes", 2, "--json takes no value, but got 'yes'"},
        {"devices extra", 2, "unexpected argument 'extra'; it takes options only"},
        {"devices --version", 2, "unknown option '--version'"},
        {"help devcies", 2, "attune help: there is no verb 'devcies'; did you mean 'devices'?"},
        {"replay", 2, "CACHE.json.gz"},
        {"help a b", 2, "unexpected argument 'b'; it takes [VERB]"},
        {"completion frogs", 2, "'frogs' is not a known shell: bash, zsh or fish"},
        {"--frobnicate devices", 2, "attune: unknown option '--frobnicate'"},
    };
    begin();
    cli_refuses_all(cases, sizeof cases / sizeof *cases);
    end();
}

KIT_TEST(help_knows_every_verb) {
    begin();
    cli_result all = cli_run("help"), flag = cli_run("--help"), manual = cli_run("man");
    assert_int_equal(all.code, 0);
    assert_string_equal(all.out, flag.out);
    kit_contains(all.out, atn_version());
    for (const atn_cli_verb *const *verb = ATN_CLI_VERBS; *verb; ++verb) {
        char line[64];
        snprintf(line, sizeof line, "help %s", (*verb)->name);
        cli_result one = cli_run(line);
        snprintf(line, sizeof line, "%s --help", (*verb)->name);
        cli_result same = cli_run(line);
        snprintf(line, sizeof line, "%s -h", (*verb)->name);
        cli_result again = cli_run(line);
        assert_int_equal(one.code, 0);
        assert_string_equal(one.err, "");
        assert_string_equal(one.out, same.out);
        assert_string_equal(one.out, again.out);
        kit_contains(one.out, (*verb)->summary);
        for (const atn_cli_option *o = (*verb)->options; o && o->name; ++o) kit_contains(one.out, o->meaning);
        for (const atn_cli_option *o = ATN_CLI_GLOBALS; o->name; ++o) kit_contains(one.out, o->meaning);
        assert_int_equal(strstr(all.out, (*verb)->summary) != NULL, !(*verb)->hidden);
        assert_int_equal(strstr(manual.out, (*verb)->summary) != NULL, !(*verb)->hidden);
        cli_drop(&one);
        cli_drop(&same);
        cli_drop(&again);
    }
    cli_drop(&all);
    cli_drop(&flag);
    cli_drop(&manual);
    end();
}

KIT_TEST(tables_are_whole) {
    for (const atn_cli_verb *const *verb = ATN_CLI_VERBS; *verb; ++verb) {
        assert_non_null((*verb)->run);
        assert_non_null((*verb)->synopsis);
        assert_non_null((*verb)->paragraphs);
        assert_true((*verb)->min_operands <= (*verb)->max_operands);
        assert_null(strchr((*verb)->summary, '\n'));
        assert_ptr_equal(atn_cli_find_verb(ATN_CLI_VERBS, (*verb)->name), *verb);
        for (const atn_cli_option *o = (*verb)->options; o && o->name; ++o) {
            assert_non_null(o->meaning);
            for (const atn_cli_option *g = ATN_CLI_GLOBALS; g->name; ++g) assert_string_not_equal(o->name, g->name);
        }
    }
}

/* What went wrong is an object with --json, and the same sentence on standard error, without the verb twice. */
KIT_TEST(failures_are_objects_too) {
    static const struct {
        const char *line, *part;
        int code;
    } CASES[] = {{"register no.ply such.ply --json", "No such file", 1},
                 {"--json frobnicate", "there is no verb 'frobnicate'", 2},
                 {"devices --json --frobnicate", "unknown option", 2},
                 {"unwrap no.npy --frames 3 --json", "--frames needs --stream", 2},
                 {"bench space --pairs 3 --json", "--pairs does not apply to space, only to trust, covariance", 2},
                 {"wisdom list --winners --json", "--winners does not apply to list, only to export", 2},
                 {"space no.lanai --seed 3 --json", "--seed needs --sample", 2}};
    begin();
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        cli_result r = cli_run(CASES[k].line);
        json_t *root = json_loads(r.out, 0, NULL);
        const char *error = json_string_value(json_object_get(root, "error"));
        if (!error) fail_msg("attune %s: %s", CASES[k].line, r.out);
        assert_int_equal(r.code, CASES[k].code);
        kit_contains(error, CASES[k].part);
        kit_contains(r.err, error);
        assert_int_equal(json_integer_value(json_object_get(root, "exit")), CASES[k].code);
        assert_true(json_is_string(json_object_get(root, "status")));
        json_decref(root);
        cli_drop(&r);
    }
    cli_result r = cli_run("register no.ply such.ply");
    assert_string_equal(r.out, "");
    cli_drop(&r);
    end();
}

KIT_TEST(json_is_one_object) {
    static const char *const lines[] = {
        "help --json",       "help devices --json", "--json --version", "--help --json",  "man --json",
        "completion --json", "devices --json",      "selftest --json",  "--json devices", "devices --device=0 --json"};
    begin();
    for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) json_decref(cli_object(lines[k]));
    end();
}

KIT_TEST(devices_json_has_its_fields) {
    static const char *const numbers[] = {"index", "cores", "memory_bytes", "local_bytes", "simd"};
    static const char *const texts[] = {"backend", "name", "driver"};
    static const char *const peaks[] = {"fp16", "fp32", "fp64", "bandwidth"};
    begin();
    json_t *root = cli_object("devices --json"), *devices = json_object_get(root, "devices"), *device;
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
        assert_true(json_is_boolean(json_object_get(peak, "busy")));
    }
    json_t *host = json_array_get(devices, 0);
    assert_string_equal(json_string_value(json_object_get(host, "backend")), "host");
    assert_true(json_is_real(json_object_get(json_object_get(host, "peak"), "fp32")));
    json_decref(root);
    end();
}

KIT_TEST(devices_table_is_for_people) {
    begin();
    cli_result r = cli_run("devices --device host");
    assert_int_equal(r.code, 0);
    kit_contains(r.out, "backend");
    kit_contains(r.out, "FLOP/s");
    kit_contains(r.out, "GB/s");
    assert_null(strstr(r.out, " \n"));
    cli_drop(&r);
    r = cli_run("selftest --device host");
    assert_int_equal(r.code, 0);
    kit_contains(r.out, "ok");
    cli_drop(&r);
    end();
}

KIT_TEST(unknown_device_is_1_and_named) {
    static const char *const lines[] = {"devices --device nonesuch", "selftest --device nonesuch --json",
                                        "--device=nonesuch devices"};
    begin();
    for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) {
        cli_result r = cli_run(lines[k]);
        assert_int_equal(r.code, 1);
        kit_contains(r.err, "nonesuch");
        kit_contains(r.err, "host");
        assert_int_equal(cli_lines(r.err), 1);
        assert_int_equal(*r.out != 0, strstr(lines[k], "--json") != NULL); /* the failure as an object */
        cli_drop(&r);
    }
    end();
}

KIT_TEST(stopping_is_1) {
    begin();
    atn_ctx_cancel(cli_ctx);
    cli_result r = cli_run("devices");
    assert_int_equal(r.code, 1);
    kit_contains(r.err, "stopped");
    cli_drop(&r);
    end();
}

KIT_TEST(full_output_is_1) {
    static const char *const lines[] = {"help", "devices", "devices --json", "selftest", "man", "--version"};
    FILE *full = fopen("/dev/full", "w");
    if (!full) skip();
    fclose(full);
    begin();
    for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) {
        cli_result r = cli_run_to(lines[k], fopen("/dev/full", "w"));
        assert_int_equal(r.code, 1);
        kit_contains(r.err, "standard output could not be written");
        assert_int_equal(cli_lines(r.err), 1);
        cli_drop(&r);
    }
    end();
}

KIT_TEST(log_lines_go_to_stderr) {
    char *text;
    size_t bytes;
    FILE *err = open_memstream(&text, &bytes);
    atn_ctx_settings options = {.log = atn_cli_log, .log_user = err};
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

/* Percent and time left on a terminal, nothing where standard error is none. */
KIT_TEST(progress_is_for_terminals) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), other = -1;
    if (terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0)
        other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (other < 0) {
        if (terminal >= 0) close(terminal);
        puts("skipped: there are no pseudo terminals here");
        skip();
    }
    char said[256] = "", *quiet = NULL;
    size_t length = 0;
    atn_cli_call call = {.err = fdopen(other, "w")};
    atn_cli_show_share(&call, "scanning", 0.25);
    call.watch.since_s -= 3; /* began three seconds ago */
    call.watch.shown_s = 0;
    atn_cli_show_share(&call, "scanning", 0.5);
    atn_cli_progress_end(&call);
    fflush(call.err);
    static const char WANTED[] = "scanning: 25 %\r\033[Kscanning: 50 %, 3 s left\r\033[K";
    for (size_t got = 0; got < strlen(WANTED);) { /* a terminal may hand it over in pieces */
        ssize_t more = read(terminal, said + got, sizeof said - 1 - got);
        assert_true(more > 0);
        got += (size_t)more;
    }
    assert_string_equal(said, WANTED);
    fclose(call.err);
    close(terminal);
    call = (atn_cli_call){.err = open_memstream(&quiet, &length)};
    atn_cli_show_share(&call, "scanning", 0.25);
    atn_cli_progress_end(&call);
    fclose(call.err);
    assert_int_equal(length, 0);
    free(quiet);
}

KIT_TEST(budgets_are_shares) {
    static const struct {
        atn_tune_options options;
        double elapsed_s;
        int32_t index;
        int64_t tried;
        const char *says;
    } ROWS[] = {
        {{0}, 5, 0, 3, ""},
        {{.fraction = 0.1}, 5, 0, 3, ""},
        {{.budget_s = 60}, 15, 1, 3, ", 25 %, 45 s left"},
        {{.budget_s = 600}, 60, 0, 3, ", 10 %, 9 min left"},
        {{.budget_s = 60}, 61, 0, 3, ", 100 %"},
        {{.evaluations = 10}, 6, 1, 5, ", 75 %, 2 s left"},
        {{.evaluations = 10}, 6, 1, 50, ", 100 %"},
        {{.evaluations = 10, .budget_s = 8}, 6, 0, 1, ", 75 %, 2 s left"},
        {{.evaluations = 10}, 0, 0, 0, ", 0 %"},
    };
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; ++k) {
        char text[48] = "poison";
        atn_cli_print_budget(&ROWS[k].options, ROWS[k].elapsed_s, ROWS[k].index, 2, ROWS[k].tried, text, sizeof text);
        if (strcmp(text, ROWS[k].says) != 0) fail_msg("row %zu: '%s'", k, text);
    }
}

/* A bench says beforehand how many measurements there will be. */
KIT_TEST(benches_know_their_steps) {
    atn_device_info host;
    atn_device_host_info(&host);
    size_t all = atn_bench_kernel_rows(&host, NULL), one = atn_bench_kernel_rows(&host, "gemm");
    assert_true(one > 0 && one < all && atn_bench_kernel_rows(&host, "none") == 0);
    assert_true(atn_bench_estimate_rows(&host, NULL) > all && atn_bench_estimate_rows(&host, "gemm") == one);
    atn_bench_covariance_options c = {0};
    size_t usual = atn_bench_covariance_steps(&c);
    c.method = "icp";
    assert_true(usual > 0 && atn_bench_covariance_steps(&c) * 3 == usual); /* em-icp, icp, icp-plane */
    c.kind = "no such kind";
    assert_int_equal(atn_bench_covariance_steps(&c), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_usage_is_2_and_one_line),
        cmocka_unit_test(progress_is_for_terminals),
        cmocka_unit_test(budgets_are_shares),
        cmocka_unit_test(benches_know_their_steps),
        cmocka_unit_test(help_knows_every_verb),
        cmocka_unit_test(tables_are_whole),
        cmocka_unit_test(failures_are_objects_too),
        cmocka_unit_test(json_is_one_object),
        cmocka_unit_test(devices_json_has_its_fields),
        cmocka_unit_test(devices_table_is_for_people),
        cmocka_unit_test(unknown_device_is_1_and_named),
        cmocka_unit_test(stopping_is_1),
        cmocka_unit_test(full_output_is_1),
        cmocka_unit_test(log_lines_go_to_stderr),
    };
    return cmocka_run_group_tests(tests, cli_cache_begin, cli_cache_end);
}
