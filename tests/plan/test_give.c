/* Kernels and programs made once and given tables: they work on what was given last, and what is refused says why. */
#include "testkit.h"

#include "num/array.h"
#include "plan/give.h"

static atn_array *vector_of(const atn_ctx *ctx, atn_device *device, float a, float b) {
    atn_array *array;
    kit_ok(ctx, atn_array_create_vector(device, ATN_SP, 2, &array));
    kit_ok(ctx, atn_array_put(array, (float[]){a, b}, 0));
    return array;
}

static const char PROGRAM[] = "kernel scaled(x: vector SP, factor: SP) -> y: vector SP\n"
                              "    y[i] = factor * x[i]\n"
                              "program twice(x: vector SP, factor: SP) -> y: vector SP\n"
                              "    z = scaled(x, factor)\n"
                              "    y = scaled(z, factor)\n";
static const char KERNEL[] = "kernel scaled(x: vector SP, factor: SP) -> y: vector SP\n"
                             "    y[i] = factor * x[i]\n";

KIT_TEST(work_on_what_was_given) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = kit_open_host(ctx);
    atn_array *x = vector_of(ctx, device, 1, -2), *other = vector_of(ctx, device, 5, 7),
              *y = vector_of(ctx, device, 9, 9);
    atn_kernel *kernel = NULL, *before;
    atn_program *program = NULL;
    float result[2];
    kit_ok(ctx, atn_kernel_make(device, KERNEL, ATN_SP, ATN_TRUSTED | ATN_ANY_SIZE, &kernel));
    before = kernel;
    kit_ok(ctx, atn_kernel_make(device, KERNEL, ATN_SP, 0, &kernel));
    assert_ptr_equal(kernel, before);
    kit_ok(ctx, atn_kernel_give(kernel, ATN_ARRAYS({"x", x}, {"y", y}), ATN_NUMBERS({"factor", 3})));
    kit_ok(ctx, atn_kernel_run(kernel));
    kit_ok(ctx, atn_array_get(y, result, 0));
    assert_true(result[0] == 3 && result[1] == -6);
    kit_ok(ctx, atn_kernel_give(kernel, ATN_ARRAYS({"x", other}), ATN_NOTHING)); /* the number stays */
    kit_ok(ctx, atn_kernel_run(kernel));
    kit_ok(ctx, atn_array_get(y, result, 0));
    assert_true(result[0] == 15 && result[1] == 21);
    kit_ok(ctx, atn_program_make(device, PROGRAM, ATN_SP, ATN_TRUSTED, &program));
    kit_ok(ctx, atn_program_give(program, ATN_ARRAYS({"x", x}, {"y", y}), ATN_NUMBERS({"factor", 3})));
    kit_ok(ctx, atn_program_run(program));
    kit_ok(ctx, atn_array_get(y, result, 0));
    assert_true(result[0] == 9 && result[1] == -18);
    assert_int_equal(atn_kernel_give(kernel, ATN_ARRAYS({"w", x}), ATN_NUMBERS({"factor", 1})), ATN_ERR_INPUT);
    assert_int_equal(atn_kernel_give(kernel, ATN_NOTHING, ATN_NUMBERS({"factors", 1})), ATN_ERR_INPUT);
    assert_int_equal(atn_program_give(program, ATN_ARRAYS({"w", x}), ATN_NOTHING), ATN_ERR_INPUT);
    atn_program_free(program);
    atn_kernel_free(kernel);
    atn_array_free(x);
    atn_array_free(other);
    atn_array_free(y);
    atn_device_close(device);
    kit_free(ctx);
}

KIT_TEST(what_cannot_be_made_is_nothing) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = kit_open_host(ctx);
    atn_kernel *kernel = NULL;
    atn_program *program = NULL;
    assert_int_not_equal(atn_kernel_make(device, "no such kernel", ATN_DP, ATN_TRUSTED, &kernel), ATN_OK);
    assert_null(kernel);
    assert_int_not_equal(atn_program_make(device, "no such program", ATN_DP, ATN_TRUSTED, &program), ATN_OK);
    assert_null(program);
    atn_device_close(device);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(work_on_what_was_given),
                                       cmocka_unit_test(what_cannot_be_made_is_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
