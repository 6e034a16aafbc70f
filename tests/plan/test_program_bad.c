/* Programs in bad cases: no numbers, no memory, wrong arrays, scalars that decide; every allocation fails once. */
#include "testkit.h"

#include "plan/program.h"

#include <attune/attune.h>

#include <math.h>
#include <string.h>

static atn_ctx *ctx;
static atn_device *device;

static atn_array *vector(atn_device *of, int64_t n, double first, double step) {
    atn_array *array;
    void *at;
    kit_ok(ctx, atn_array_create_vector(of, ATN_DP, n, &array));
    kit_ok(ctx, atn_array_map_write(array, &at));
    for (int64_t k = 0; k < n; ++k) ((double *)at)[k] = first + step * (double)k;
    return array;
}

static void expect(atn_array *array, int64_t n, double first, double step) {
    const void *at;
    kit_ok(ctx, atn_array_map_read(array, &at));
    for (int64_t k = 0; k < n; ++k)
        if (((const double *)at)[k] != first + step * (double)k)
            fail_msg("element %d is %g, %g is right", (int)k, ((const double *)at)[k], first + step * (double)k);
}

static atn_program *open(const char *text) {
    atn_program *program;
    kit_ok(ctx, atn_program_create(device, text, NULL, &program));
    return program;
}

static int32_t count_of(atn_array *array) {
    int32_t count;
    kit_ok(ctx, atn_array_get(array, &count, 1));
    return count;
}

static const char HALVE[] = "kernel halve(x: vector DP) -> y: vector DP\n    y[i] = x[i] / 2\n"
                            "kernel total(x: vector DP) -> s: vector DP\n    s[0] = sum(i) x[i]\n"
                            "program p(inout u: vector DP, least: DP) -> rounds: INT32\n"
                            "    while total(u) > least, at most 5, counted in rounds\n"
                            "        u = halve(u)\n";

KIT_TEST(loops_end_and_say_how) {
    atn_program *p = open(HALVE);
    atn_array *u = vector(device, 4, 2, 0), *rounds;
    kit_ok(ctx, atn_array_create_vector(device, ATN_INT32, 1, &rounds));
    kit_ok(ctx, atn_program_bind(p, "u", u));
    kit_ok(ctx, atn_program_bind(p, "rounds", rounds));
    kit_ok(ctx, atn_program_param(p, "least", 3, 0));
    kit_ok(ctx, atn_program_run(p)); /* 8, 4, 2 */
    assert_int_equal(count_of(rounds), 2);
    expect(u, 4, 0.5, 0);
    assert_null(atn_program_note(p));
    kit_ok(ctx, atn_program_run(p));
    assert_int_equal(count_of(rounds), 0);
    expect(u, 4, 0.5, 0);
    kit_ok(ctx, atn_program_param(p, "least", -1, 0));
    kit_ok(ctx, atn_program_run(p));
    assert_int_equal(count_of(rounds), 5);
    assert_string_equal(atn_program_note(p), "the loop was left after 5 rounds, as many as it may take");
    void *at;
    kit_ok(ctx, atn_array_map_write(u, &at));
    ((double *)at)[2] = NAN;
    kit_ok(ctx, atn_program_run(p));
    assert_int_equal(count_of(rounds), 0);
    assert_string_equal(atn_program_note(p), "the loop ended after 0 rounds at a value that is not a number");
    kit_ok(ctx, atn_program_param(p, "least", NAN, 0));
    kit_ok(ctx, atn_program_run(p));
    assert_non_null(strstr(atn_program_note(p), "not a number"));
    atn_program_free(p);
    atn_array_free(rounds), atn_array_free(u);
}

KIT_TEST(what_does_not_fit_is_told) {
    atn_program *p = open("kernel blank(x: vector DP) -> y: vector DP\n    y[i] = x[0]\n"
                          "kernel total(x: vector DP) -> s: vector DP\n    s[0] = sum(i) x[i]\n"
                          "program big(x: vector DP, n: INT32) -> r: vector DP\n"
                          "    small: vector DP[7]\n    large: vector DP[n * 1000000]\n"
                          "    small = blank(x)\n    large = blank(small)\n    r = total(large)\n");
    atn_array *x = vector(device, 3, 1, 0), *r = vector(device, 1, 0, 0);
    kit_ok(ctx, atn_program_seams(p, (const int8_t[8]){0}, 8));
    kit_ok(ctx, atn_program_bind(p, "x", x));
    kit_ok(ctx, atn_program_bind(p, "r", r));
    kit_ok(ctx, atn_program_param(p, "n", 100000000, 0));
    kit_fails(ctx, ATN_ERR_MEMORY, "big: its temporaries take 8000000000", atn_program_plan(p));
    kit_contains(atn_ctx_message(ctx), "are free; the largest is 'large' with 800000000000000");
    assert_non_null(strstr(atn_program_explain(p), "is not planned"));
    kit_ok(ctx, atn_program_param(p, "n", 0, 0)); /* and it is planned again */
    kit_ok(ctx, atn_program_run(p));
    expect(r, 1, 0, 0);
    atn_program_free(p);
    atn_array_free(r), atn_array_free(x);
}

KIT_TEST(wrong_things_are_refused) {
    atn_program *p = open("kernel one(x: vector DP) -> y: vector DP\n    y[i] = x[i]\n"
                          "program p(x: vector DP, s: DP) -> r: vector DP\n    r = one(x)\n");
    atn_array *x = vector(device, 3, 1, 1), *r = vector(device, 3, 0, 0), *whole;
    kit_ok(ctx, atn_array_create_vector(device, ATN_INT32, 3, &whole));
    kit_fails(ctx, ATN_ERR_INPUT, "p: no array 'y'; there is x, r", atn_program_bind(p, "y", x));
    kit_fails(ctx, ATN_ERR_INPUT, "p: no parameter 'x'; there is s", atn_program_param(p, "x", 1, 0));
    kit_fails(ctx, ATN_ERR_INPUT, "'x': there is no array to bind", atn_program_bind(p, "x", NULL));
    kit_fails(ctx, ATN_ERR_INPUT, "p: 'x' is a vector of DP, not a vector of INT32", atn_program_bind(p, "x", whole));
    kit_fails(ctx, ATN_ERR_INPUT, "p: the parameter 's' has no value", atn_program_run(p));
    kit_ok(ctx, atn_program_param(p, "s", 1, 0));
    kit_fails(ctx, ATN_ERR_INPUT, "p: nothing is bound to 'x', a vector of DP", atn_program_run(p));
    kit_ok(ctx, atn_program_bind(p, "x", x));
    kit_ok(ctx, atn_program_bind(p, "r", x));
    kit_fails(ctx, ATN_ERR_INPUT, "'x' and 'r' share elements; a result must not overlap another array",
              atn_program_run(p));
    kit_ok(ctx, atn_program_bind(p, "r", r));
    kit_ok(ctx, atn_program_run(p));
    expect(r, 3, 1, 1);
    atn_program_free(p);
    atn_array_free(whole), atn_array_free(r), atn_array_free(x);
}

/* What a called program takes of the caller's scalar decides there as well. */
KIT_TEST(scalars_that_decide_are_planned_anew) {
    atn_program *p =
        open("kernel from(x: vector DP, at: INT32) -> y: vector DP\n    for i in 3\n        y[i] = x[i + at]\n"
             "program q(x: vector DP, at: INT32) -> r: vector DP\n    r = from(x, at)\n"
             "program p(x: vector DP, n: INT32, s: DP) -> r: vector DP\n    r = q(x, n / 2)\n");
    atn_array *x = vector(device, 6, 0, 1), *r = vector(device, 3, 0, 0);
    kit_ok(ctx, atn_program_bind(p, "x", x));
    kit_ok(ctx, atn_program_bind(p, "r", r));
    kit_ok(ctx, atn_program_param(p, "n", 3, 0));
    kit_ok(ctx, atn_program_param(p, "s", 3, 0));
    kit_ok(ctx, atn_program_run(p));
    expect(r, 3, 1, 1);
    kit_ok(ctx, atn_program_param(p, "s", 4, 0)); /* what is made of the others stays what it was */
    kit_ok(ctx, atn_program_run(p));
    expect(r, 3, 1, 1);
    kit_ok(ctx, atn_program_param(p, "n", 6, 0));
    kit_ok(ctx, atn_program_run(p));
    expect(r, 3, 3, 1);
    kit_ok(ctx, atn_program_param(p, "n", 8, 0));
    kit_fails(ctx, ATN_ERR_INPUT, "from", atn_program_run(p));
    kit_ok(ctx, atn_program_param(p, "n", 0, 0));
    kit_ok(ctx, atn_program_run(p));
    expect(r, 3, 0, 1);
    atn_program_free(p);
    atn_array_free(r), atn_array_free(x);
}

KIT_TEST(whole_numbers_are_divided_as_kernels_do) {
    atn_program *p = open("kernel add(x: vector DP, k: INT32, s: DP) -> y: vector DP\n    y[i] = x[i] + k + s\n"
                          "program p(x: vector DP, n: INT32, w: DP) -> r: vector DP\n    r = add(x, n / 2, w / 2)\n");
    atn_array *x = vector(device, 2, 0, 0), *r = vector(device, 2, 0, 0);
    kit_ok(ctx, atn_program_bind(p, "x", x));
    kit_ok(ctx, atn_program_bind(p, "r", r));
    kit_ok(ctx, atn_program_param(p, "n", 7, 0));
    kit_ok(ctx, atn_program_param(p, "w", 1, 0));
    kit_ok(ctx, atn_program_run(p));
    expect(r, 2, 3.5, 0);
    kit_ok(ctx, atn_program_param(p, "w", 3, 0));
    kit_ok(ctx, atn_program_run(p));
    expect(r, 2, 4.5, 0);
    atn_program_free(p);
    atn_array_free(r), atn_array_free(x);
}

KIT_TEST(a_name_takes_all_elements) {
    atn_program *p = open("kernel one(x: vector DP) -> y: vector DP\n    y[i] = 2 * x[i]\n"
                          "program p(x: vector DP, inout u: vector DP) -> r: vector DP\n"
                          "    t = u\n    u = one(x)\n    r = t\n");
    atn_array *x = vector(device, 5, 1, 1), *u = vector(device, 5, 7, 2), *r = vector(device, 5, 0, 0);
    kit_ok(ctx, atn_program_bind(p, "x", x));
    kit_ok(ctx, atn_program_bind(p, "u", u));
    kit_ok(ctx, atn_program_bind(p, "r", r));
    kit_ok(ctx, atn_program_run(p));
    expect(u, 5, 2, 2);
    expect(r, 5, 7, 2);
    atn_program_free(p);
    atn_array_free(r), atn_array_free(u), atn_array_free(x);
}

static const char ALL[] =
    "kernel one(x: vector DP, s: DP) -> y: vector DP\n    y[i] = s * x[i]\n"
    "kernel edge(x: vector DP) -> y: vector DP\n    y[i] = x[i - 1] + x[i + 1]  with x clamped\n"
    "kernel total(x: vector DP) -> s: vector DP\n    s[0] = sum(i) x[i]\n"
    "program twice(x: vector DP, s: DP) -> y: vector DP\n    t = one(x, s)\n    y = one(t, s + 1)\n"
    "program p(x: vector DP, inout u: vector DP, w: DP) -> n: INT32\n"
    "    t = twice(x, w)\n    t = edge(t)\n    a = total(t) / 2\n"
    "    while total(u) > a, at most 3, counted in n\n        u = one(u, 0.5)\n"
    "    if a > 2\n        u = edge(u)\n";

/* Every allocation of a handle's life fails once; what is built is in the cache from the first time. */
KIT_TEST(memory_may_run_out) {
    kit_faults faults = {0};
    atn_ctx_settings options = kit_fault_options(&faults);
    char *dir = kit_tempdir();
    options.cache_dir = dir;
    atn_ctx *failing;
    atn_devices *found;
    atn_device *own;
    kit_ok(ctx, atn_ctx_create(&options, &failing));
    kit_ok(failing, atn_devices_find(failing, &found));
    kit_ok(failing, atn_device_open(found, 0, &own));
    atn_array *x = vector(own, 9, 1, 1), *u = vector(own, 9, 1, 0);
    long n = 0;
    for (bool whole = false; !whole; ++n) {
        atn_program *p;
        if (n > 0) faults.fail_at = atomic_load(&faults.count) + n;
        atn_status status = atn_program_create(own, ALL, NULL, &p);
        if (status == ATN_OK) status = atn_program_seams(p, (const int8_t[2]){1, -1}, 2);
        if (status == ATN_OK) status = atn_program_bind(p, "x", x);
        if (status == ATN_OK) status = atn_program_bind(p, "u", u);
        if (status == ATN_OK) status = atn_program_param(p, "w", 2, 0);
        if (status == ATN_OK) status = atn_program_plan(p);
        for (int run = 0; run < 3 && status == ATN_OK; ++run) status = atn_program_run(p);
        if (status == ATN_OK) assert_non_null(atn_program_explain(p));
        whole = n > 0 && atomic_load(&faults.count) < faults.fail_at;
        faults.fail_at = 0;
        if (n == 0 || whole) kit_ok(failing, status);
        if (status != ATN_OK && status != ATN_ERR_MEMORY)
            fail_msg("allocation %ld: %s: %s", n, atn_status_name(status), atn_ctx_message(failing));
        atn_program_free(p);
    }
    print_message("    %ld allocations failed in turn\n", n - 2);
    atn_array_free(u), atn_array_free(x);
    atn_device_close(own);
    atn_devices_free(found);
    atn_ctx_free(failing);
    assert_int_equal(atomic_load(&faults.live), 0);
    kit_remove(dir);
}

int main(void) {
    ctx = kit_ctx();
    device = kit_open_host(ctx);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_end_and_say_how),
        cmocka_unit_test(what_does_not_fit_is_told),
        cmocka_unit_test(wrong_things_are_refused),
        cmocka_unit_test(scalars_that_decide_are_planned_anew),
        cmocka_unit_test(whole_numbers_are_divided_as_kernels_do),
        cmocka_unit_test(a_name_takes_all_elements),
        cmocka_unit_test(memory_may_run_out),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    atn_device_close(device);
    kit_free(ctx);
    return failed;
}
