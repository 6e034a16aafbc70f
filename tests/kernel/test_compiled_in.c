/* Without a compiler: every shipped kernel runs as it was compiled into the library, and agrees with the oracle. What
 * is not shipped is refused with a sentence. */
#include "testkit.h"

#include "device/builtin.h"
#include "graph/shipped.h"
#include "kernel/choose.h"
#include "shipped_arrays.h"
#include "support/held.h"

#include <attune/attune.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atn_ctx *ctx;
static atn_device *host;
static char *compiler, *before_path, *before_compiler;

static void open_host(void) {
    ctx = kit_ctx();
    host = kit_open_host(ctx);
}

static int setup(void **state) {
    (void)state;
    before_path = kit_getenv("PATH");
    before_compiler = kit_getenv("ATTUNE_CC");
    setenv("PATH", "/nowhere", 1);
    setenv("ATTUNE_CC", "/nonexistent", 1);
    open_host();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    atn_device_close(host);
    kit_free(ctx);
    kit_setenv("PATH", before_path);
    kit_setenv("ATTUNE_CC", before_compiler);
    return 0;
}

static void need_builtins(void) {
    if (ATN_BUILTINS[0].kernel) return;
    print_message("    skipped: nothing is compiled into this library\n");
    skip();
}

static atn_sequence *parse(const char *name, const char *xml, const char *type) {
    atn_define define = {"USED_FLOAT", type};
    atn_sequence *sequence;
    atn_status status = atn_sequence_parse(ctx, name, xml, strlen(xml),
                                           &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence);
    return status == ATN_OK ? sequence : NULL; /* not in this type */
}

static void hold(const char *name, const atn_graph *graph, const int64_t mnk[3]) {
    shipped_arrays arrays;
    if (!shipped_arrays_make(ctx, name, graph, mnk, &arrays)) return;
    const atn_device_info *info = atn_device_get_info(host);
    atn_bindings frame = {.views = arrays.views, .params = (const double(*)[2])arrays.params};
    atn_choice choice;
    atn_eval_result *oracle;
    kit_ok(ctx, atn_choose(ctx, graph, info, &frame, NULL, &choice));
    assert_string_equal(atn_origin_name(choice.origin), "compiled in");
    atn_eval_options options = atn_variant_arithmetic(graph, &choice.variant, info);
    kit_ok(ctx, atn_eval_run(ctx, graph, &frame, &options, &oracle));
    held_case c = {graph, arrays.views, (const double(*)[2])arrays.params};
    atn_status status = held_run(host, &c, &choice.variant, oracle);
    if (status != ATN_OK)
        fail_msg("%s at m=%d n=%d k=%d: %s", name, (int)mnk[0], (int)mnk[1], (int)mnk[2], atn_ctx_message(ctx));
    atn_eval_free(oracle);
    atn_choice_free(&choice);
    shipped_arrays_free(&arrays);
}

KIT_TEST(every_shipped_kernel_runs) {
    static const char *const TYPES[] = {"SP", "DP", "SP2", "DP2"};
    static const int64_t SIZES[][3] = {{37, 70, 45}, {1, 1, 1}, {0, 0, 0}, {3, 257, 0}};
    int tried = 0, of_complex = 0;
    need_builtins();
    for (const atn_embedded *s = ATN_SHIPPED; s->name; ++s)
        for (size_t t = 0; t < sizeof TYPES / sizeof *TYPES; ++t) {
            atn_sequence *sequence = parse(s->name, s->text, TYPES[t]);
            bool real = t < 2;
            if (!sequence || (!real && !atn_builtin_of_graph(sequence->step[0]->hash))) {
                assert_false(real); /* SP and DP are for all, complex numbers for linear algebra */
                atn_sequence_free(sequence);
                continue;
            }
            of_complex += !real;
            for (size_t n = 0; n < sizeof SIZES / sizeof *SIZES && sequence->count == 1; ++n)
                hold(s->name, sequence->step[0], SIZES[n]);
            for (int32_t k = 0; k < sequence->count; ++k)
                assert_non_null(atn_builtin_of_graph(sequence->step[k]->hash));
            ++tried;
            atn_sequence_free(sequence);
        }
    print_message("    %d kernels and types, %d of them complex\n", tried, of_complex);
    assert_true(of_complex >= 16);
}

KIT_TEST(operations_run) {
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1}, product[4];
    atn_operations *operations;
    atn_array *arrays[3];
    need_builtins();
    kit_ok(ctx, atn_operations_create(host, &operations));
    kit_ok(ctx, atn_array_create_matrix(host, ATN_SP, 2, 3, 0, &arrays[0]));
    kit_ok(ctx, atn_array_create_matrix(host, ATN_SP, 3, 2, 0, &arrays[1]));
    kit_ok(ctx, atn_array_create_matrix(host, ATN_SP, 2, 2, 0, &arrays[2]));
    kit_ok(ctx, atn_array_put(arrays[0], a, 0));
    kit_ok(ctx, atn_array_put(arrays[1], b, 0));
    kit_ok(ctx, atn_array_gemm(operations, arrays[0], arrays[1], arrays[2]));
    kit_ok(ctx, atn_array_get(arrays[2], product, 0));
    const float right[4] = {4, 5, 10, 11};
    assert_memory_equal(product, right, sizeof right);
    for (int k = 0; k < 3; ++k) atn_array_free(arrays[k]);
    atn_operations_free(operations);
}

static const char OWN[] = "kernel own(x: vector SP) -> y: vector SP\n"
                          "    y[i] = x[i] * 7 - 3\n";

KIT_TEST(ones_own_kernel_is_refused) {
    atn_kernel *kernel;
    atn_array *x;
    kit_ok(ctx, atn_kernel_create(host, OWN, NULL, &kernel));
    kit_ok(ctx, atn_array_create_vector(host, ATN_SP, 5, &x));
    kit_ok(ctx, atn_kernel_bind(kernel, "x", x));
    kit_fails(ctx, ATN_ERR_BUILD, "own: the compiler '/nonexistent'", atn_kernel_run(kernel));
    kit_contains(atn_ctx_message(ctx), "only the kernels that attune ships run");
    atn_kernel_free(kernel);
    atn_array_free(x);
}

/* A compiler that says its version and compiles nothing: headers that are missing, say. */
KIT_TEST(a_compiler_that_fails_is_stood_in_for) {
    need_builtins();
    char *dir = kit_tempdir();
    compiler = kit_script(dir, "cc",
                          "[ \"$1\" = --version ] && { echo cc 1; exit 0; }\necho 'error: no stdint.h' >&2\nexit 1\n");
    const char *const defines[] = {"USED_FLOAT=SP", NULL};
    float number[2] = {3, 4};
    atn_kernel *kernel;
    atn_array *x, *norm;
    setenv("ATTUNE_CC", compiler, 1);
    atn_device_close(host);
    kit_free(ctx);
    open_host();
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
    atn_kernel_free(kernel);
    kit_ok(ctx, atn_kernel_create(host, OWN, NULL, &kernel));
    kit_ok(ctx, atn_kernel_bind(kernel, "x", x));
    kit_fails(ctx, ATN_ERR_BUILD, "no stdint.h", atn_kernel_run(kernel));
    atn_kernel_free(kernel);
    atn_array_free(norm), atn_array_free(x);
    free(compiler);
    kit_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_shipped_kernel_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(operations_run, setup, teardown),
        cmocka_unit_test_setup_teardown(ones_own_kernel_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_compiler_that_fails_is_stood_in_for, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
