/* The oracle on each kind of number: complex, integers that wrap, narrow types that round and saturate. */
#include "support/kernel.h"
#include "support/shared.h"

#include <math.h>
#include <stdio.h>

SHARED_CTX;

static void expect_floats(const float *got, const float *wanted, size_t count) {
    for (size_t k = 0; k < count; ++k)
        if (got[k] != wanted[k] && !(isnan(got[k]) && isnan(wanted[k])))
            fail_msg("element %zu is %g, not %g", k, (double)got[k], (double)wanted[k]);
}

/* c = a * b / conj(b) + |a|. */
KIT_TEST(complex_numbers) {
    kernel k = kernel_make(
        ctx, 1, "", "a=SP2:1 b=SP2:1 c=SP2:1 d=SP:1",
        READ("ra", "a", "v0") READ("rb", "b", "v0") FUNCTION("f", "SP2", "#in(0) * #in(1) / conj(#in(1)) + abs(#in(0))")
            FUNCTION("g", "SP", "imag(#in(0)) + arg(#in(1))") WRITE("wc", "c", "v0") WRITE("wd", "d", "v0"),
        "a.Size(0)>K.Range(0) K.i(0)>ra.v(0) K.i(0)>rb.v(0) ra.out>f.in(0) rb.out>f.in(1) ra.out>g.in(0) "
        "rb.out>g.in(1) f.out>wc.in "
        "g.out>wd.in K.i(0)>wc.v(0) K.i(0)>wd.v(0)");
    float a[2] = {3, 4}, b[2] = {0, 2}, c[2], d[1];
    kernel_vector(&k, "a", ATN_SP2, a, 1);
    kernel_vector(&k, "b", ATN_SP2, b, 1);
    kernel_vector(&k, "c", ATN_SP2, c, 1);
    kernel_vector(&k, "d", ATN_SP, d, 1);
    kit_ok(ctx, kernel_eval(&k, NULL));
    expect_floats(c, (float[]){-3 + 5, -4}, 2); /* 2i / -2i = -1 */
    expect_floats(d, (float[]){(float)(4 + M_PI_2)}, 1);
    kernel_free(&k);
}

/* Integers wrap; division by zero gives 0; casts saturate; mod is never negative. */
KIT_TEST(integers) {
    static const struct {
        const char *text;
        int32_t a, b, wanted;
    } rows[] = {
        {"#in(0) + #in(1)", INT32_MAX, 1, INT32_MIN},
        {"#in(0) * #in(1)", 65536, 65537, 65536},
        {"-#in(0)", INT32_MIN, 0, INT32_MIN},
        {"#in(0) / #in(1)", INT32_MIN, -1, INT32_MIN},
        {"#in(0) / #in(1)", -7, 2, -3},
        {"#in(0) / #in(1)", 7, 0, 0},
        {"#in(0) % #in(1)", -7, 3, -1},
        {"#in(0) % #in(1)", 7, 0, 0},
        {"#in(0) mod #in(1)", -7, 3, 2},
        {"#in(0) &lt;&lt; #in(1)", 1, 31, INT32_MIN},
        {"#in(0) >> #in(1)", -8, 1, -4},
        {"#in(0) &amp; ~#in(1) | 1", 12, 4, 9},
        {"abs(#in(0)) ^ #in(1)", -5, 1, 4},
        {"INT32(1e10 * SP(#in(0)))", 1, 0, INT32_MAX},
        {"INT32(SP(#in(0)) * -1e10)", 1, 0, INT32_MIN},
        {"INT32(SP(#in(0)) / SP(#in(1)))", 0, 0, 0},
        {"INT32(-2.75 * SP(#in(0)))", 1, 0, -2},
        {"#in(0) > #in(1) ? min(#in(0), 3) : max(#in(1), 5)", 4, 2, 3},
        {"INT32(U8(#in(0)))", 300, 0, 44},
        {"(#in(0) > 0 &amp;&amp; #in(1) > 0) || !(#in(0) != 4) ? 1 : 2", 4, 0, 1},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; ++row) {
        char children[512];
        snprintf(children, sizeof children,
                 READ("a", "x", "0")
                     READ("b", "x", "1") "<FunctionBlock name='f' dataType='INT32' numInVars='2' function='%s'/>" WRITE(
                         "w", "y", "0"),
                 rows[row].text);
        kernel k = kernel_make(ctx, 0, "", "x=INT32:1 y=INT32:1", children, "a.out>f.in(0) b.out>f.in(1) f.out>w.in");
        int32_t x[2] = {rows[row].a, rows[row].b}, y[1] = {-99};
        kernel_vector(&k, "x", ATN_INT32, x, 2);
        kernel_vector(&k, "y", ATN_INT32, y, 1);
        kit_ok(ctx, kernel_eval(&k, NULL));
        if (y[0] != rows[row].wanted)
            fail_msg("%s of %d, %d is %d, not %d", rows[row].text, x[0], x[1], y[0], rows[row].wanted);
        kernel_free(&k);
    }
}

/* Stored halves are rounded to nearest, ties to even; images saturate by a cast. */
KIT_TEST(narrow_types) {
    kernel k = kernel_make(ctx, 1, "", "x=SP:1 h=HP:1 b=U8:1 w=U16:1",
                           READ("r", "x", "v0") FUNCTION("fh", "HP", "HP(#in(0))") FUNCTION("fb", "U8", "U8(#in(0))")
                               FUNCTION("fw", "U16", "U16(#in(0))") WRITE("wh", "h", "v0") WRITE("wb", "b", "v0")
                                   WRITE("ww", "w", "v0"),
                           "x.Size(0)>K.Range(0) K.i(0)>r.v(0) r.out>fh.in(0) r.out>fb.in(0) r.out>fw.in(0) "
                           "fh.out>wh.in fb.out>wb.in fw.out>ww.in "
                           "K.i(0)>wh.v(0) K.i(0)>wb.v(0) K.i(0)>ww.v(0)");
    float x[6] = {1, 2049, 2051, 65519, 65520, -1};
    uint16_t h[6], w[6];
    uint8_t b[6];
    kernel_vector(&k, "x", ATN_SP, x, 6);
    kernel_vector(&k, "h", ATN_HP, h, 6);
    kernel_vector(&k, "b", ATN_U8, b, 6);
    kernel_vector(&k, "w", ATN_U16, w, 6);
    kit_ok(ctx, kernel_eval(&k, NULL));
    static const uint16_t halves[6] = {0x3c00, 0x6800, 0x6802, 0x7bff, 0x7c00, 0xbc00},
                          words[6] = {1, 2049, 2051, 65519, 65520, 0};
    static const uint8_t bytes[6] = {1, 255, 255, 255, 255, 0};
    assert_memory_equal(h, halves, sizeof h);
    assert_memory_equal(b, bytes, sizeof b);
    assert_memory_equal(w, words, sizeof w);
    kernel_free(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complex_numbers),
        cmocka_unit_test(integers),
        cmocka_unit_test(narrow_types),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
