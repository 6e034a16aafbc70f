/* A C compiler that crashes on generated code: the next plainer variant runs, one warning says so, and the explanation
 * says what really runs. */
#include "testkit.h"

#include "device/builtin.h"

#include <attune/attune.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* On all but the plain variant, as gcc 12 does on some vectorised reductions. */
static const char ON_VECTORS[] =
    "real=$(command -v gcc || command -v clang || command -v cc)\n"
    "for word in \"$@\"; do case $word in *.c) file=$word ;; esac; done\n"
    "[ -n \"$file\" ] && case $(sed -n 's/.*Variant: \\(.*\\)\\. Generated.*/\\1/p' \"$file\") in\n"
    "*=*) echo 'x.c:1:2: internal compiler error: in vect_transform_reduction, at planted.cc:1' >&2; exit 4 ;;\n"
    "esac\n"
    "exec \"$real\" \"$@\"\n";
static const char ALWAYS[] = "[ \"$1\" = --version ] && { echo cc 1; exit 0; }\nkill -SEGV $$\n";

static const char OWN[] = "kernel own(x: vector SP) -> y: vector SP\n"
                          "    y[i] = x[i] * 7 - 3\n";

static kit_log said;
static char *dir, *compiler;
static atn_ctx *ctx;
static atn_device *host;

static void open_with(const char *script) {
    said = (kit_log){0};
    dir = kit_tempdir();
    compiler = kit_script(dir, "cc", script);
    atn_ctx_settings options = {
        .cache_dir = dir, .compiler = compiler, .log = kit_log_line, .log_user = &said, .log_from = ATN_LOG_WARNING};
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    host = kit_open_host(ctx);
}

static void close_all(void) {
    atn_device_close(host);
    atn_ctx_free(ctx);
    free(compiler);
    kit_remove(dir);
}

/* y = 7 x - 3 on five elements. */
static atn_status run_own(char *explained, size_t bytes) {
    float number[5] = {1, 2, 3, 4, 5};
    atn_kernel *kernel;
    atn_array *x, *y;
    kit_ok(ctx, atn_kernel_create(host, OWN, NULL, &kernel));
    kit_ok(ctx, atn_array_create_vector(host, ATN_SP, 5, &x));
    kit_ok(ctx, atn_array_create_vector(host, ATN_SP, 5, &y));
    kit_ok(ctx, atn_array_put(x, number, 0));
    kit_ok(ctx, atn_kernel_bind(kernel, "x", x));
    kit_ok(ctx, atn_kernel_bind(kernel, "y", y));
    atn_status status = atn_kernel_run(kernel);
    if (status == ATN_OK) {
        kit_ok(ctx, atn_array_get(y, number, 0));
        for (int k = 0; k < 5; ++k) assert_true(number[k] == (float)(7 * (k + 1) - 3));
        snprintf(explained, bytes, "%s", atn_kernel_explain(kernel));
    }
    atn_kernel_free(kernel);
    atn_array_free(y), atn_array_free(x);
    return status;
}

KIT_TEST(the_plain_variant_runs_instead) {
    char explained[2048];
    open_with(ON_VECTORS);
    kit_ok(ctx, run_own(explained, sizeof explained));
    kit_contains(explained, "variant plain, the plain one, since the compiler failed on the estimate");
    kit_contains(explained, "The estimate did not build: own: ");
    kit_contains(explained, "crashed on it (internal compiler error, exit code 4): error: in vect_transform_reduction");
    assert_int_equal(atomic_load(&said.warnings), 1);
    kit_contains(said.last, "(plain) runs instead");
    close_all();
}

KIT_TEST(ones_own_kernel_fails_with_one_sentence) {
    char explained[2048];
    open_with(ALWAYS);
    kit_fails(ctx, ATN_ERR_BUILD, "crashed on it (signal 11)", run_own(explained, sizeof explained));
    assert_null(strchr(atn_ctx_message(ctx), '\n'));
    assert_int_equal(atomic_load(&said.warnings), 0); /* the failure says it all */
    close_all();
}

KIT_TEST(what_ships_runs_as_it_is_compiled_in) {
    if (!ATN_BUILTINS[0].kernel) print_message("    skipped: nothing is compiled into this library\n"), skip();
    const char *const defines[] = {"USED_FLOAT=SP", NULL};
    float number[2] = {3, 4};
    atn_kernel *kernel;
    atn_array *x, *norm;
    open_with(ALWAYS);
    kit_ok(ctx, atn_kernel_create(host, "l2norm", &(atn_kernel_settings){.defines = defines}, &kernel));
    kit_ok(ctx, atn_array_create_vector(host, ATN_SP, 2, &x));
    kit_ok(ctx, atn_array_create_vector(host, ATN_SP, 1, &norm));
    kit_ok(ctx, atn_array_put(x, number, 0));
    kit_ok(ctx, atn_kernel_bind(kernel, "x", x));
    kit_ok(ctx, atn_kernel_bind(kernel, "norm", norm));
    kit_ok(ctx, atn_kernel_run(kernel));
    kit_ok(ctx, atn_array_get(norm, number, 0));
    assert_true(number[0] == 5);
    kit_contains(atn_kernel_explain(kernel), "compiled into the library");
    kit_contains(atn_kernel_explain(kernel), "crashed on it (signal 11)");
    assert_int_equal(atomic_load(&said.warnings), 1);
    kit_contains(said.last, "the variant that is compiled in runs instead");
    atn_kernel_free(kernel);
    atn_array_free(norm), atn_array_free(x);
    close_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plain_variant_runs_instead),
        cmocka_unit_test(ones_own_kernel_fails_with_one_sentence),
        cmocka_unit_test(what_ships_runs_as_it_is_compiled_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
