/* Every allocation of a run may fail: each failure ends the run with 1 and one sentence, and nothing stays behind. */
#include "testkit.h"

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static char *cache; /* one for all runs: what the first, whole run built and measured, the others find */

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

/* One run whose `fail_at`-th allocation fails; what it counted is left in *faults. */
static int run_with(kit_faults *faults, char **argv, char **out, char **err) {
    int argc = 0, code = 1;
    while (argv[argc]) ++argc;
    size_t out_bytes, err_bytes;
    FILE *out_file = open_memstream(out, &out_bytes), *err_file = open_memstream(err, &err_bytes);
    atn_options options = kit_fault_options(faults);
    options.cache_dir = cache;
    atn_ctx *ctx;
    if (atn_ctx_create(&options, &ctx) == ATN_OK)
        code = atn_cli_run(ctx, argc, argv, out_file, err_file);
    else
        fputs("attune: could not start: memory\n", err_file);
    atn_ctx_free(ctx);
    fclose(out_file);
    fclose(err_file);
    return code;
}

static void walk(char **argv) {
    for (long n = 0;; ++n) {
        kit_faults faults = {.fail_at = n}; /* 0: a run in which nothing fails */
        char *out, *err;
        int code = run_with(&faults, argv, &out, &err);
        bool through = n == 0 || faults.count < n;
        if (faults.live != 0) fail_msg("allocation %ld failed: %ld blocks stay behind", n, faults.live);
        if (code != (through ? 0 : 1)) fail_msg("allocation %ld failed: exit %d: %s", n, code, err);
        if (!through && (!strchr(err, '\n') || strncmp(err, "attune", 6) != 0))
            fail_msg("allocation %ld failed: no sentence: \"%s\"", n, err);
        free(out);
        free(err);
        if (n > 0 && through) {
            print_message("%s: %ld allocations\n", argv[1], faults.count);
            break;
        }
    }
}

#define WALK(name, ...)                                                                                                \
    static void name(void **state) {                                                                                   \
        (void)state;                                                                                                   \
        char *argv[] = {(char *)"attune", __VA_ARGS__, NULL};                                                          \
        walk(argv);                                                                                                    \
    }

WALK(devices_table, (char *)"devices")
WALK(devices_json, (char *)"devices", (char *)"--json")
WALK(help_text, (char *)"help")
WALK(help_json, (char *)"help", (char *)"--json")
WALK(verb_help, (char *)"help", (char *)"devices")
WALK(manual, (char *)"man")
WALK(completion_json, (char *)"completion", (char *)"--json")
WALK(version, (char *)"--version", (char *)"--json")
WALK(selftest_host, (char *)"selftest", (char *)"--device", (char *)"host")

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_table), cmocka_unit_test(devices_json),    cmocka_unit_test(help_text),
        cmocka_unit_test(help_json),     cmocka_unit_test(verb_help),       cmocka_unit_test(manual),
        cmocka_unit_test(version),       cmocka_unit_test(completion_json), cmocka_unit_test(selftest_host),
    };
    return cmocka_run_group_tests(tests, cache_begin, cache_end);
}
