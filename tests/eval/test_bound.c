/* Halves, the running error bound, and the judgement that rests on it. */
#include "support/kernel.h"
#include "support/shared.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

SHARED_CTX;

KIT_TEST(halves) {
    for (uint32_t bits = 0; bits < 65536; ++bits) { /* there and back */
        double number = atn_half_to_double((uint16_t)bits);
        if (isnan(number))
            assert_true(isnan(atn_half_to_double(atn_half_from_double(number))));
        else
            assert_int_equal(atn_half_from_double(number), bits);
    }
    static const struct {
        double number;
        uint16_t bits;
    } rows[] = {{1, 0x3c00},           {-2, 0xc000},          {65504, 0x7bff},
                {65519.99, 0x7bff},    {65520, 0x7c00},       {0x1p-24, 1},
                {0x1p-25, 0},          {0x1.000002p-25, 1},   {0x1.8p-24, 2},
                {0x1p-14, 0x0400},     {-0.0, 0x8000},        {INFINITY, 0x7c00},
                {1 + 0x1p-11, 0x3c00}, {1 + 0x3p-11, 0x3c02}, {0x1.ff8p-15, 0x03ff},
                {0x1.ffcp-15, 0x0400}, {1e300, 0x7c00},       {5e-324, 0}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
        if (atn_half_from_double(rows[k].number) != rows[k].bits)
            fail_msg("%a is %04x, not %04x", rows[k].number, atn_half_from_double(rows[k].number), rows[k].bits);
#ifdef __FLT16_MANT_DIG__
    uint64_t random = 7; /* against the compiler's own */
    for (int n = 0; n < 200000; ++n) {
        float number = (float)ldexp(2 * kit_uniform(&random) - 1, (int)(kit_random(&random) % 48) - 30);
        _Float16 half = (_Float16)number;
        uint16_t bits;
        memcpy(&bits, &half, sizeof bits);
        if (atn_half_from_double((double)number) != bits) fail_msg("%a", (double)number);
        if (atn_half_to_double(bits) != (double)half) fail_msg("%04x", bits);
    }
#endif
}

/* y(0) = f(a, b) evaluated by the oracle, of SP inputs. */
static atn_eval_cell evaluate(const char *text, const char *type, float a, float b, const atn_eval_options *options) {
    char children[512], objects[64];
    atn_type element = atn_type_from_name(type);
    snprintf(children, sizeof children,
             READ("a", "x", "0")
                 READ("b", "x",
                      "1") "<FunctionBlock name='f' dataType='%s' numInVars='2' function='%s'/>" WRITE("w", "y", "0"),
             type, text);
    snprintf(objects, sizeof objects, "x=SP:1 y=%s:1", type);
    kernel k = kernel_make(ctx, 0, "", objects, children, "a.out>f.in(0) b.out>f.in(1) f.out>w.in");
    float x[2] = {a, b};
    double y[2] = {0};
    atn_eval_result *result;
    kernel_vector(&k, "x", ATN_SP, x, 2);
    kernel_vector(&k, "y", element, y, 1);
    kit_ok(ctx, kernel_bind(&k));
    kit_ok(ctx, atn_eval_check(ctx, k.graph, &k.frame));
    kit_ok(ctx, atn_eval_run(ctx, k.graph, &k.frame, options, &result));
    assert_int_equal(result->n_cells, 1);
    atn_eval_cell cell = result->cells[0];
    atn_eval_free(result);
    kernel_free(&k);
    return cell;
}

#define STRAIGHT(name, formula)                                                                                        \
    static float name(float a, float b) {                                                                              \
        (void)a, (void)b;                                                                                              \
        return (float)(formula);                                                                                       \
    }
STRAIGHT(f_sum, (a + b) * (a - b))
STRAIGHT(f_cancel, (a + b) - a)
STRAIGHT(f_ratio, a / (b + 3) - a / (b + 2.5f))
STRAIGHT(f_root, sqrtf(fabsf(a *b)) - sqrtf(fabsf(a)))
STRAIGHT(f_exp, expf(a) * expf(-b) - expf(a - b))
STRAIGHT(f_log, logf(1 + fabsf(a)) * sinf(b) + cosf(a * b))
STRAIGHT(f_max, fmaxf(a *b, b / 3) + fminf(a, b))
STRAIGHT(f_choose, a *b > b * 0.3f ? a * b : b * 0.3f)
STRAIGHT(f_pow, powf(fabsf(a) + 1, b) - tanhf(a * b) + atan2f(a * b, b + 5))
STRAIGHT(f_floor, floorf(a * 3) + truncf(b * 7))

/* What single precision computes lies within the bound, and the bound is no larger than it must be. */
KIT_TEST(bounds_hold) {
    static const struct {
        const char *text;
        float (*straight)(float, float);
    } rows[] = {
        {"(#in(0) + #in(1)) * (#in(0) - #in(1))", f_sum},
        {"(#in(0) + #in(1)) - #in(0)", f_cancel},
        {"#in(0) / (#in(1) + 3) - #in(0) / (#in(1) + 2.5)", f_ratio},
        {"sqrt(fabs(#in(0) * #in(1))) - sqrt(fabs(#in(0)))", f_root},
        {"exp(#in(0)) * exp(-#in(1)) - exp(#in(0) - #in(1))", f_exp},
        {"log(1 + fabs(#in(0))) * sin(#in(1)) + cos(#in(0) * #in(1))", f_log},
        {"fmax(#in(0) * #in(1), #in(1) / 3) + fmin(#in(0), #in(1))", f_max},
        {"#in(0) * #in(1) > #in(1) * 0.3 ? #in(0) * #in(1) : #in(1) * 0.3", f_choose},
        {"pow(fabs(#in(0)) + 1, #in(1)) - tanh(#in(0) * #in(1)) + atan2(#in(0) * #in(1), #in(1) + 5)", f_pow},
        {"floor(#in(0) * 3) + trunc(#in(1) * 7)", f_floor},
    };
    uint64_t random = 99;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; ++row) {
        int sure = 0;
        for (int n = 0; n < 100; ++n) {
            float a = (float)(4 * kit_uniform(&random) - 2), b = (float)(4 * kit_uniform(&random) - 2);
            atn_eval_cell cell = evaluate(rows[row].text, "SP", a, b, NULL);
            float got = rows[row].straight(a, b);
            if (!atn_eval_agrees(ATN_SP, &got, &cell, 1))
                fail_msg("%s of %g, %g: %.9g, not %.9g +- %g", rows[row].text, (double)a, (double)b, (double)got,
                         cell.value[0], cell.bound);
            sure += cell.bound < 200 * 0x1p-24;
        }
        if (sure < 90) fail_msg("%s: %d of 100 bounds are of use", rows[row].text, sure);
    }
}

/* What an error can turn altogether is uncertain, and only that. */
KIT_TEST(doubts) {
    static const struct {
        const char *type, *text;
        float a, b;
        bool uncertain;
    } rows[] = {
        {"INT32", "INT32(#in(0) * #in(1))", 3, 5, false},    /* exact */
        {"INT32", "INT32(#in(0) * #in(1))", 0.1f, 10, true}, /* 1 - 2^-26 or 1 */
        {"INT32", "INT32(#in(0) * #in(1))", 0.1f, 15, false},
        {"INT32", "#in(0) / 3 &lt; #in(1) ? 1 : 2", 3, 1, true},
        {"INT32", "#in(0) / 3 &lt; #in(1) ? 1 : 1", 3, 1, false}, /* either way */
        {"INT32", "#in(0) &lt; #in(1) ? 1 : 2", 1, 1, false},     /* inputs are exact */
        {"INT32", "#in(0) / 3 &lt; 2 &amp;&amp; #in(1) > 5 ? 1 : 2", 6, 1, false},
        {"SP", "log(#in(0) / 3 - #in(1))", 3, 1, true}, /* log of nearly nothing */
        {"SP", "1 / (#in(0) / 3 - #in(1))", 3, 1, true},
        {"SP", "sqrt(#in(0) - #in(1))", 1, 1, false},
        {"SP", "1 / (#in(0) - #in(1))", 1, 1, false},        /* an exact zero: infinity */
        {"SP", "#in(0) * 1e30 * 1e30 * #in(1)", 1, 1, true}, /* overflow on the way */
        {"SP", "fmod(#in(0), #in(1))", 7, 2, false},
        {"SP", "fmod(#in(0) * 1.1, #in(1) * 1.1)", 9, 3, true},
        {"SP", "copysign(#in(0), #in(1) * 0.1 - 0.3)", 1, 3, true},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; ++row) {
        atn_eval_cell cell = evaluate(rows[row].text, rows[row].type, rows[row].a, rows[row].b, NULL);
        if (isinf(cell.bound) != rows[row].uncertain) fail_msg("%s: bound %g", rows[row].text, cell.bound);
    }
}

KIT_TEST(options_widen) {
    atn_eval_options half = {.unit[ATN_SP] = 0x1p-11}, rough = {.exp_error = 1e-3}, native = {.exp_slope = 1e-4},
                     fast = {.fast = true};
    double own = evaluate("#in(0) * #in(1)", "SP", 0.1f, 0.3f, NULL).bound,
           wide = evaluate("#in(0) * #in(1)", "SP", 0.1f, 0.3f, &half).bound;
    assert_true(own < 0.03 * 0x1p-23 && wide > 0.03 * 0x1p-11 && wide < 0.03 * 0x1p-9);
    assert_true(evaluate("exp(#in(0))", "SP", 0, 0, &rough).bound > 0.9e-3);
    assert_true(evaluate("exp(#in(0))", "SP", 3, 0, &native).bound > 3e-4 * exp(3));
    assert_true(evaluate("#in(0) + #in(1)", "SP", 1, 2, NULL).bound == 0);
    assert_true(evaluate("#in(0) + #in(1)", "SP", 1, 2, &fast).bound > 0);
}

/* A sum of terms that cancel: every order is within the bound, what is wrong is not. */
KIT_TEST(sums_in_any_order) {
    kernel k =
        kernel_make(ctx, 1, "ICF='#acc(0) + #in(0) * #in(0) * #in(1)'", "x=SP:1 s=SP:1 y=SP:1",
                    READ("r", "x", "v0") READ("q", "s", "v0") WRITE("w", "y", "0"),
                    "x.Size(0)>K.Range(0) K.i(0)>r.v(0) K.i(0)>q.v(0) r.out>K.func(0) q.out>K.func(1) K.out>w.in");
    enum { N = 3000 };
    float x[N], sign[N], y[1], forward = 0, backward = 0, lanes[8] = {0};
    uint64_t random = 5;
    for (int n = 0; n < N; ++n) x[n] = (float)kit_uniform(&random), sign[n] = n % 2 ? -1 : 1;
    kernel_vector(&k, "x", ATN_SP, x, N);
    kernel_vector(&k, "s", ATN_SP, sign, N);
    kernel_vector(&k, "y", ATN_SP, y, 1);
    kit_ok(ctx, kernel_bind(&k));
    atn_eval_result *result;
    kit_ok(ctx, atn_eval_run(ctx, k.graph, &k.frame, NULL, &result));
    for (int n = 0; n < N; ++n) {
        forward += x[n] * x[n] * sign[n];
        backward += x[N - 1 - n] * x[N - 1 - n] * sign[N - 1 - n];
        lanes[n % 8] += x[n] * x[n] * sign[n];
    }
    float joined = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
    const float orders[3] = {forward, backward, joined};
    atn_eval_mismatch mismatch;
    for (int n = 0; n < 3; ++n) {
        y[0] = orders[n];
        assert_true(atn_eval_verify(k.graph, result, k.views, NULL, 1, &mismatch));
    }
    y[0] = forward - 1; /* one term dropped is more than roundoff */
    assert_false(atn_eval_verify(k.graph, result, k.views, NULL, 0, &mismatch));
    assert_true(mismatch.object == 2 && mismatch.count == 1 && mismatch.bound < 1 && mismatch.got[0] == (double)y[0]);
    atn_eval_free(result);
    kernel_free(&k);
}

KIT_TEST(agreement) {
    static const struct {
        float got;
        double value, bound;
        bool agrees;
    } rows[] = {
        {1, 1, 0, true},
        {1.5f, 1, 0.2, true},
        {1.5f, 1, 0.1, false},
        {NAN, NAN, 0, true},
        {NAN, 1, 1e30, false},
        {1, NAN, 0, false},
        {INFINITY, INFINITY, 0, true},
        {-INFINITY, INFINITY, 0, false},
        {INFINITY, 1e39, 0, true},      /* stored, it is */
        {INFINITY, 3.4e38, 1e36, true}, /* within the error */
        {INFINITY, 3.4e38, 0, false},
        {FLT_MAX, INFINITY, 0, false},
        {0.1f, 0.1, 0, true}, /* rounding of storage */
        {0, 1e-45, 0, true},  /* flushed */
        {0, 1e-30, 0, false},
        {-0.0f, 0, 0, true},
        {42, 7, INFINITY, true},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; ++row) {
        atn_eval_cell cell = {.value = {rows[row].value, 0}, .bound = rows[row].bound};
        if (atn_eval_agrees(ATN_SP, &rows[row].got, &cell, 0) != rows[row].agrees) fail_msg("row %zu", row);
    }
    atn_eval_cell whole = {.whole = 3};
    assert_true(atn_eval_agrees(ATN_INT32, &(int32_t){3}, &whole, 0));
    assert_false(atn_eval_agrees(ATN_INT32, &(int32_t){4}, &whole, 0));
    whole.whole = 1;
    assert_true(atn_eval_agrees(ATN_B, &(uint8_t){1}, &whole, 0));
    assert_false(atn_eval_agrees(ATN_B, &(uint8_t){255}, &whole, 0));
    const float z[2] = {1, 2};
    atn_eval_cell complex = {.value = {1, 2}};
    assert_true(atn_eval_agrees(ATN_SP2, z, &complex, 0));
    complex.value[1] = 2.1;
    assert_false(atn_eval_agrees(ATN_SP2, z, &complex, 0));
}

/* Elements that were not to be written must hold what they held. */
KIT_TEST(stray_writes) {
    kernel k = kernel_make(ctx, 1, "", "y=INT32:1",
                           PARAMETER("n", "INT32", "") FUNCTION("f", "INT32", "7") WRITE("w", "y", "v0"),
                           "n.out>K.Range(0) f.out>w.in K.i(0)>w.v(0)");
    int32_t y[4] = {7, 7, 9, 9}, before[4] = {1, 2, 9, 9};
    kernel_vector(&k, "y", ATN_INT32, before, 4);
    kernel_param(&k, "n", 2);
    kit_ok(ctx, kernel_bind(&k));
    atn_eval_result *result;
    atn_eval_mismatch mismatch;
    kit_ok(ctx, atn_eval_run(ctx, k.graph, &k.frame, NULL, &result));
    atn_view got = k.views[0];
    got.data = y;
    assert_true(atn_eval_verify(k.graph, result, &got, k.views, 0, &mismatch));
    y[3] = 7;
    assert_false(atn_eval_verify(k.graph, result, &got, k.views, 0, &mismatch));
    assert_true(mismatch.at[0] == 3 && mismatch.wanted[0] == 9 && mismatch.got[0] == 7);
    atn_eval_free(result);
    kernel_free(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves),        cmocka_unit_test(bounds_hold),       cmocka_unit_test(doubts),
        cmocka_unit_test(options_widen), cmocka_unit_test(sums_in_any_order), cmocka_unit_test(agreement),
        cmocka_unit_test(stray_writes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
