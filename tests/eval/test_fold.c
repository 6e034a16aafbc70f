/* Reductions in the oracle: every way of joining, on iterators and on the algorithm, empty ranges, ties, NaN, ranges
 * from data, iterators within iterators. */
#include "support/kernel.h"
#include "support/shared.h"

#include <math.h>
#include <stdio.h>

SHARED_CTX;

/* One ICF with one input over x, of `count` elements; on an iterator of a single point, or on the algorithm. */
static double fold(const char *attributes, const double *x, int64_t count, bool algorithm) {
    char text[1024];
    double y[1] = {-99}, data[8] = {0};
    for (int64_t k = 0; k < count; ++k) data[k] = x[k];
    kernel k;
    if (algorithm) {
        k = kernel_make(ctx, 1, attributes, "x=DP:1 y=DP:1", READ("r", "x", "v0") WRITE("w", "y", "0"),
                        "x.Size(0)>K.Range(0) K.i(0)>r.v(0) r.out>K.func(0) K.out>w.in");
    } else {
        snprintf(
            text, sizeof text,
            "<IteratorBlock name='it' dimensions='1' %s>" READ("r", "x", "v0") "</IteratorBlock>" WRITE("w", "y", "0"),
            attributes);
        k = kernel_make(ctx, 0, "", "x=DP:1 y=DP:1", text,
                        "x.Size(0)>it.Range(0) it.i(0)>r.v(0) r.out>it.func(0) it.out>w.in");
    }
    kernel_vector(&k, "x", ATN_DP, data, count);
    kernel_vector(&k, "y", ATN_DP, y, 1);
    kit_ok(ctx, kernel_eval(&k, NULL));
    kernel_free(&k);
    return y[0];
}

KIT_TEST(one_accumulator) {
    static const struct {
        const char *attributes;
        int64_t count;
        double x[4], wanted;
    } rows[] = {
        {"ICF='#acc(0) + #in(0)'", 4, {1, 2, 3, 4}, 10},
        {"ICF='#acc(0) + #in(0) * #in(0)' ICFInit='100'", 2, {3, 4}, 125},
        {"ICF='#acc(0) - #in(0)'", 2, {3, 4}, -7},
        {"ICF='#acc(0) + #in(0)'", 0, {0}, 0},
        {"ICF='#acc(0) * #in(0)'", 3, {2, 3, 4}, 24},
        {"ICF='#acc(0) * #in(0)'", 0, {0}, 1},
        {"ICF='fmin(#acc(0), #in(0))'", 3, {2, NAN, -4}, -4},
        {"ICF='fmin(#acc(0), #in(0))'", 0, {0}, INFINITY},
        {"ICF='#acc(0) &lt; #in(0) ? #in(0) : #acc(0)'", 3, {NAN, 7, 3}, 7},
        {"ICF='max(#acc(0), #in(0))' ICFInit='5'", 2, {1, 2}, 5},
        {"ICF='#acc(0) * 0.5 + #in(0)' ICFInit='8'", 3, {1, 2, 3}, ((8 * 0.5 + 1) * 0.5 + 2) * 0.5 + 3}, /* in order */
        {"ICF='#acc(0) + #in(0)' ICFCombine='#a(0) + #b(0)' ICFInit='0'", 3, {1, 2, 3}, 6},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; ++row)
        for (int algorithm = 0; algorithm < 2; ++algorithm) {
            double got = fold(rows[row].attributes, rows[row].x, rows[row].count, algorithm);
            if (got != rows[row].wanted) fail_msg("%s: %g, not %g", rows[row].attributes, got, rows[row].wanted);
        }
}

KIT_TEST(truth) {
    for (int or = 0; or < 2; ++ or) {
        char text[512];
        snprintf(text, sizeof text,
                 "<IteratorBlock name='it' dimensions='1' ICF='#acc(0) %s #in(0)' ICFType='B'>" READ("r", "x", "v0, v1")
                     FUNCTION("f", "B", "#in(0) > 2") "</IteratorBlock>" WRITE("w", "y", "v0"),
                 or ? "||" : "&amp;&amp;");
        kernel k = kernel_make(ctx, 1, "", "x=INT32:2 y=B:1", text,
                               "x.Size(1)>K.Range(0) x.Size(0)>it.Range(0) it.i(0)>r.v(0) K.i(0)>r.v(1) r.out>f.in(0) "
                               "f.out>it.func(0) it.out>w.in K.i(0)>w.v(0)");
        int32_t x[3][2] = {{1, 2}, {2, 3}, {3, 4}};
        uint8_t y[3];
        kernel_matrix(&k, "x", ATN_INT32, x, 2, 3, 2);
        kernel_vector(&k, "y", ATN_B, y, 3);
        kit_ok(ctx, kernel_eval(&k, NULL));
        assert_true(y[0] == 0 && y[1] == or &&y[2] == 1);
        kernel_free(&k);
    }
}

/* Value and place; ties keep the earliest (axis 1 outside, axis 0 inside), NaN never wins, an empty range gives the
 * init. */
KIT_TEST(extremes_with_place) {
    static const struct {
        const char *sign;
        float x[6]; /* 3 columns, 2 rows */
        int64_t rows;
        float value;
        int32_t column, row;
    } rows[] = {
        {">", {1, 5, 2, 5, 4, 5}, 2, 5, 1, 0},
        {"&lt;", {NAN, 3, 3, 7, -1, -1}, 2, -1, 1, 1},
        {">", {NAN, NAN, NAN, NAN, NAN, NAN}, 2, -INFINITY, -1, -1},
        {">", {0}, 0, -INFINITY, -1, -1},
        {"&lt;", {INFINITY, INFINITY, INFINITY}, 1, INFINITY, -1, -1}, /* not better than the init */
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; ++row) {
        char attributes[512];
        snprintf(attributes, sizeof attributes,
                 "ICFType='SP, INT32, INT32' ICF='if (#in(0) %s #acc(0)) { #acc(0) = #in(0); #acc(1) = INT32(#in(1)); "
                 "#acc(2) = INT32(#in(2)); }'",
                 rows[row].sign);
        kernel k =
            kernel_make(ctx, 2, attributes, "x=SP:2 v=SP:1 at=INT32:1",
                        READ("r", "x", "v0, v1") WRITE("w", "v", "0") WRITE("w0", "at", "0") WRITE("w1", "at", "1"),
                        "x.Size(0)>K.Range(0) x.Size(1)>K.Range(1) K.i(0)>r.v(0) K.i(1)>r.v(1) r.out>K.func(0) "
                        "K.i(0)>K.func(1) K.i(1)>K.func(2) "
                        "K.out(0)>w.in K.out(1)>w0.in K.out(2)>w1.in");
        float x[6], v[1];
        int32_t at[2];
        for (int n = 0; n < 6; ++n) x[n] = rows[row].x[n];
        kernel_matrix(&k, "x", ATN_SP, x, 3, rows[row].rows, 3);
        kernel_vector(&k, "v", ATN_SP, v, 1);
        kernel_vector(&k, "at", ATN_INT32, at, 2);
        kit_ok(ctx, kernel_eval(&k, NULL));
        if (v[0] != rows[row].value || at[0] != rows[row].column || at[1] != rows[row].row)
            fail_msg("row %zu: %g at %d, %d", row, (double)v[0], at[0], at[1]);
        kernel_free(&k);
    }
}

/* Several accumulators are assigned at once from the old values: mean and variance after Welford. */
KIT_TEST(custom) {
    kernel k = kernel_make(
        ctx, 0, "", "x=DP:1 y=DP:1",
        ITERATOR(
            "it", 1,
            "ICFType='DP' ICFInit='0, 0, 0' ICF='double n = #acc(0) + 1, d = #in(0) - #acc(1), m = #acc(1) + d / n; "
            "#acc(0) = n; #acc(1) = m; #acc(2) = #acc(2) + d * (#in(0) - m);' "
            "ICFCombine='double n = #a(0) + #b(0), d = #b(1) - #a(1), w = n == 0 ? 0 : #b(0) / n; "
            "#acc(0) = n; #acc(1) = #a(1) + d * w; #acc(2) = #a(2) + #b(2) + d * d * #a(0) * w;'",
            READ("r", "x", "v0")) WRITE("w0", "y", "0") WRITE("w1", "y", "1") WRITE("w2", "y", "2"),
        "x.Size(0)>it.Range(0) it.i(0)>r.v(0) r.out>it.func(0) it.out(0)>w0.in it.out(1)>w1.in it.out(2)>w2.in");
    double x[4] = {2, 4, 4, 6}, y[3];
    kernel_vector(&k, "x", ATN_DP, x, 4);
    kernel_vector(&k, "y", ATN_DP, y, 3);
    kit_ok(ctx, kernel_eval(&k, NULL));
    assert_true(y[0] == 4 && fabs(y[1] - 4) < 1e-14 && fabs(y[2] - 8) < 1e-13);
    kernel_free(&k);
}

/* Sparse matrix times vector in CSR; a column out of range is counted. */
KIT_TEST(ranges_from_data) {
    kernel k = kernel_make(ctx, 1, "", "row=INT32:1 col=INT32:1 val=SP:1 x=SP:1 y=SP:1",
                           READ("first", "row", "v0") READ("last", "row", "v0 + 1")
                               ITERATOR("it", 1, "ICF='#acc(0) + #in(0) * #in(1)'",
                                        READ("c", "col", "v0") READ("v", "val", "v0") READ("g", "x", "v0"))
                                   WRITE("w", "y", "v0"),
                           "y.Size(0)>K.Range(0) K.i(0)>first.v(0) K.i(0)>last.v(0) first.out>it.Begin(0) "
                           "last.out>it.End(0) it.i(0)>c.v(0) it.i(0)>v.v(0) "
                           "c.out>g.v(0) v.out>it.func(0) g.out>it.func(1) it.out>w.in K.i(0)>w.v(0)");
    int32_t row[4] = {0, 2, 2, 3}, col[3] = {0, 2, 1};
    float val[3] = {1, 2, 3}, x[3] = {10, 20, 30}, y[3] = {-1, -1, -1};
    int64_t bad;
    kernel_vector(&k, "row", ATN_INT32, row, 4);
    kernel_vector(&k, "col", ATN_INT32, col, 3);
    kernel_vector(&k, "val", ATN_SP, val, 3);
    kernel_vector(&k, "x", ATN_SP, x, 3);
    kernel_vector(&k, "y", ATN_SP, y, 3);
    kit_ok(ctx, kernel_eval(&k, &bad));
    assert_true(y[0] == 70 && y[1] == 0 && y[2] == 60 && bad == 0);
    col[1] = 3;
    row[3] = 4; /* beyond val and col */
    kit_ok(ctx, kernel_eval(&k, &bad));
    assert_true(y[0] == 10 && y[2] == 60 && bad == 3);
    row[1] = -5; /* ends before it begins: empty */
    kit_ok(ctx, kernel_eval(&k, &bad));
    assert_true(y[0] == 0);
    kernel_free(&k);
}

/* The nearest of three points in two dimensions; a triangle of pairs. */
KIT_TEST(nested) {
    kernel k = kernel_make(
        ctx, 1, "", "X=DP:2 Y=DP:2 d=DP:1 at=INT32:1",
        ITERATOR("points", 1,
                 "ICFType='DP, INT32' ICF='if (#in(0) &lt; #acc(0)) { #acc(0) = #in(0); #acc(1) = INT32(#in(1)); }'",
                 ITERATOR("axes", 1, "ICF='#acc(0) + #in(0)'",
                          READ("x", "X", "v0, v1") READ("y", "Y", "v0, v1")
                              FUNCTION("square", "DP", "double d = #in(0) - #in(1); #out(0) = d * d;")))
            WRITE("wd", "d", "v0") WRITE("wa", "at", "v0"),
        "X.Size(1)>K.Range(0) Y.Size(1)>points.Range(0) X.Size(0)>axes.Range(0) axes.i(0)>x.v(0) K.i(0)>x.v(1) "
        "axes.i(0)>y.v(0) points.i(0)>y.v(1) "
        "x.out>square.in(0) y.out>square.in(1) square.out>axes.func(0) axes.out>points.func(0) "
        "points.i(0)>points.func(1) points.out(0)>wd.in "
        "points.out(1)>wa.in K.i(0)>wd.v(0) K.i(0)>wa.v(0)");
    double X[2][2] = {{0, 0}, {5, 5}}, Y[3][2] = {{3, 4}, {5, 4}, {-1, 0}}, d[2];
    int32_t at[2];
    kernel_matrix(&k, "X", ATN_DP, X, 2, 2, 2);
    kernel_matrix(&k, "Y", ATN_DP, Y, 2, 3, 2);
    kernel_vector(&k, "d", ATN_DP, d, 2);
    kernel_vector(&k, "at", ATN_INT32, at, 2);
    kit_ok(ctx, kernel_eval(&k, NULL));
    assert_true(d[0] == 1 && at[0] == 2 && d[1] == 1 && at[1] == 1);
    kernel_free(&k);

    k = kernel_make(ctx, 1, "", "x=DP:1 y=DP:1",
                    ITERATOR("it", 1, "ICF='#acc(0) + #in(0)'", READ("r", "x", "v0 - v1 - 1")) WRITE("w", "y", "v0"),
                    "y.Size(0)>K.Range(0) K.i(0)>it.Range(0) K.i(0)>r.v(0) it.i(0)>r.v(1) r.out>it.func(0) it.out>w.in "
                    "K.i(0)>w.v(0)");
    double x[3] = {1, 10, 100}, y[4];
    kernel_vector(&k, "x", ATN_DP, x, 3);
    kernel_vector(&k, "y", ATN_DP, y, 4);
    kit_ok(ctx, kernel_eval(&k, NULL)); /* shown in range: q < p */
    assert_true(y[0] == 0 && y[1] == 1 && y[2] == 11 && y[3] == 111);
    kernel_free(&k);
}

/* Integer and complex accumulators. */
KIT_TEST(other_types) {
    kernel k = kernel_make(
        ctx, 1, "ICFType='INT32, SP2' ICFInit='1, ' ICF='#acc(0) = #acc(0) * #in(0); #acc(1) = #acc(1) + #in(1);'",
        "i=INT32:1 z=SP2:1 p=INT32:1 s=SP2:1",
        READ("ri", "i", "v0") READ("rz", "z", "v0") WRITE("wp", "p", "0") WRITE("ws", "s", "0"),
        "i.Size(0)>K.Range(0) K.i(0)>ri.v(0) K.i(0)>rz.v(0) ri.out>K.func(0) rz.out>K.func(1) K.out(0)>wp.in "
        "K.out(1)>ws.in");
    int32_t i[3] = {65536, 65536, 3}, p[1];
    float z[6] = {1, 2, 3, -4, 5, 6}, s[2];
    kernel_vector(&k, "i", ATN_INT32, i, 3);
    kernel_vector(&k, "z", ATN_SP2, z, 3);
    kernel_vector(&k, "p", ATN_INT32, p, 1);
    kernel_vector(&k, "s", ATN_SP2, s, 1);
    kit_ok(ctx, kernel_eval(&k, NULL));
    assert_true(p[0] == 0 && s[0] == 9 && s[1] == 4);
    kernel_free(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_accumulator),     cmocka_unit_test(truth),
        cmocka_unit_test(extremes_with_place), cmocka_unit_test(custom),
        cmocka_unit_test(ranges_from_data),    cmocka_unit_test(nested),
        cmocka_unit_test(other_types),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
