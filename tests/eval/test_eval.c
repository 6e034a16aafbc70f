/* The oracle on each construct of the language, with results worked out by hand: accesses, writes, functions. */
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

static const char mv_children[] =
    ITERATOR("iter1", 1, "ICF='#acc(0)+#in(0)' ICFType='SP'",
             READ("access_A", "A", "v0, v1") READ("access_b", "b", "v0") FUNCTION("MulFunc", "SP", "#in(0) * #in(1);"))
        WRITE("access_c", "c", "v0");
static const char mv_connections[] = "A.Size(1)>K.Range(0) A.Size(0)>iter1.Range(0) iter1.i(0)>access_A.v(0) "
                                     "K.i(0)>access_A.v(1) iter1.i(0)>access_b.v(0) "
                                     "access_A.out>MulFunc.in(0) access_b.out>MulFunc.in(1) "
                                     "MulFunc.out(0)>iter1.func(0) iter1.out>access_c.in K.i(0)>access_c.v(0)";

/* Listing 2 of the seed, on a matrix with a pitch. */
KIT_TEST(matrix_times_vector) {
    kernel k = kernel_make(ctx, 1, "", "A=SP:2 b=SP:1 c=SP:1", mv_children, mv_connections);
    float A[2][4] = {{1, 2, 3, -99}, {4, 5, 6, -99}}, b[3] = {1, 10, 100}, c[2] = {-1, -1};
    kernel_matrix(&k, "A", ATN_SP, A, 3, 2, 4);
    kernel_vector(&k, "b", ATN_SP, b, 3);
    kernel_vector(&k, "c", ATN_SP, c, 2);
    kit_ok(ctx, kernel_eval(&k, NULL));
    expect_floats(c, (float[]){321, 654}, 2);
    kernel_free(&k);
}

/* Sizes 0 and 1: an empty range gives the ICF's init, an empty space writes nothing. */
KIT_TEST(small_sizes) {
    float A[1] = {3}, b[1] = {5}, c[2] = {-1, -1};
    for (int columns = 0; columns < 2; ++columns) {
        for (int rows = 0; rows < 2; ++rows) {
            kernel k = kernel_make(ctx, 1, "", "A=SP:2 b=SP:1 c=SP:1", mv_children, mv_connections);
            c[0] = -1;
            kernel_matrix(&k, "A", ATN_SP, A, columns, rows, columns);
            kernel_vector(&k, "b", ATN_SP, b, columns);
            kernel_vector(&k, "c", ATN_SP, c, rows);
            kit_ok(ctx, kernel_eval(&k, NULL));
            expect_floats(c, (float[]){rows == 0 ? -1 : columns == 0 ? 0 : 15}, 1);
            kernel_free(&k);
        }
    }
}

/* Every boundary mode, two and more elements off either end. */
KIT_TEST(boundaries) {
    static const struct {
        const char *mode;
        float wanted[9];
    } rows[] = {
        {"clamp", {10, 10, 10, 10, 20, 30, 30, 30, 30}},
        {"zero", {0, 0, 0, 10, 20, 30, 0, 0, 0}},
        {"wrap", {10, 20, 30, 10, 20, 30, 10, 20, 30}},
        {"mirror", {30, 20, 10, 10, 20, 30, 30, 20, 10}},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; ++row) {
        char children[512];
        snprintf(children, sizeof children,
                 "<DataAccessRead name='r' source='x' selFunction='v0 - 3' boundary='%s'/>" WRITE("w", "y", "v0"),
                 rows[row].mode);
        kernel k = kernel_make(ctx, 1, "", "x=SP:1 y=SP:1", children,
                               "y.Size(0)>K.Range(0) K.i(0)>r.v(0) K.i(0)>w.v(0) r.out>w.in");
        float x[3] = {10, 20, 30}, y[9] = {0};
        int64_t bad;
        kernel_vector(&k, "x", ATN_SP, x, 3);
        kernel_vector(&k, "y", ATN_SP, y, 9);
        kit_ok(ctx, kernel_eval(&k, &bad));
        expect_floats(y, rows[row].wanted, 9);
        assert_int_equal(bad, 0);
        kernel_free(&k);
    }
}

/* A five-point stencil in two dimensions; a zero outside on either axis. */
KIT_TEST(stencil) {
    kernel k = kernel_make(ctx, 2, "", "u=DP:2 v=DP:2",
                           READ_EDGE("c", "u", "v0, v1", "zero") READ_EDGE("w", "u", "v0 - 1, v1", "zero")
                               READ_EDGE("e", "u", "v0 + 1, v1", "zero") READ_EDGE("n", "u", "v0, v1 - 1", "zero")
                                   READ_EDGE("s", "u", "v0, v1 + 1", "zero")
                                       FUNCTION("f", "DP", "#in(0) + #in(1) + #in(2) + #in(3) - 4 * #in(4)")
                                           WRITE("o", "v", "v0, v1"),
                           "u.Size(0)>K.Range(0) u.Size(1)>K.Range(1) K.i(0)>c.v(0) K.i(1)>c.v(1) K.i(0)>w.v(0) "
                           "K.i(1)>w.v(1) K.i(0)>e.v(0) K.i(1)>e.v(1) "
                           "K.i(0)>n.v(0) K.i(1)>n.v(1) K.i(0)>s.v(0) K.i(1)>s.v(1) w.out>f.in(0) e.out>f.in(1) "
                           "n.out>f.in(2) s.out>f.in(3) c.out>f.in(4) "
                           "f.out>o.in K.i(0)>o.v(0) K.i(1)>o.v(1)");
    double u[2][3] = {{1, 2, 3}, {4, 5, 6}}, v[2][3];
    kernel_matrix(&k, "u", ATN_DP, u, 3, 2, 3);
    kernel_matrix(&k, "v", ATN_DP, v, 3, 2, 3);
    kit_ok(ctx, kernel_eval(&k, NULL));
    double wanted[2][3] = {{2 + 4 - 4, 1 + 3 + 5 - 8, 2 + 6 - 12}, {5 + 1 - 16, 4 + 6 + 2 - 20, 5 + 3 - 24}};
    assert_memory_equal(v, wanted, sizeof v);
    kernel_free(&k);
}

/* Gathers: out of range reads give 0 and are counted; a transposed, strided, reversed read is affine. */
KIT_TEST(gathers) {
    kernel k = kernel_make(ctx, 1, "", "i=INT32:1 x=SP:1 y=SP:1",
                           READ("at", "i", "v0") READ("r", "x", "v0") WRITE("w", "y", "v0"),
                           "i.Size(0)>K.Range(0) K.i(0)>at.v(0) at.out>r.v(0) r.out>w.in K.i(0)>w.v(0)");
    int32_t i[5] = {2, 0, -1, 3, 1};
    float x[3] = {10, 20, 30}, y[5];
    int64_t bad;
    kernel_vector(&k, "i", ATN_INT32, i, 5);
    kernel_vector(&k, "x", ATN_SP, x, 3);
    kernel_vector(&k, "y", ATN_SP, y, 5);
    kit_ok(ctx, kernel_eval(&k, &bad));
    expect_floats(y, (float[]){30, 10, 0, 0, 20}, 5);
    assert_int_equal(bad, 2);
    kernel_free(&k);

    k = kernel_make(ctx, 1, "", "A=SP:2 y=SP:1", READ("r", "A", "1, 2 * v0") WRITE("w", "y", "2 - v0"),
                    "y.Size(0)>K.Range(0) K.i(0)>r.v(0) r.out>w.in K.i(0)>w.v(0)");
    float A[5][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}};
    kernel_matrix(&k, "A", ATN_SP, A, 2, 5, 2);
    kernel_vector(&k, "y", ATN_SP, y, 3);
    kit_ok(ctx, kernel_eval(&k, &bad));
    expect_floats(y, (float[]){9, 5, 1}, 3);
    kernel_free(&k);
}

KIT_TEST(tables_and_parameters) {
    const char *xml =
        "<ParallelAlgorithm name='K' dimensions='1'><DataObjects>"
        "<DataObject name='t' structure='vector' elementDataType='SP' values='1, -2, 0.5'/>"
        "<DataObject name='y' structure='vector' elementDataType='SP'/>" PARAMETER("scale", "SP", "default='10'")
            PARAMETER("n", "INT32", "") "</DataObjects><Children>" READ("r", "t", "v0 mod 3")
                FUNCTION("f", "SP", "#in(0) * #in(1)") WRITE(
                    "w", "y", "v0") "</Children><Connections><Connection source='n.out' destination='K.Range(0)'/>"
                                    "<Connection source='K.i(0)' destination='r.v(0)'/><Connection source='K.i(0)' "
                                    "destination='w.v(0)'/>"
                                    "<Connection source='r.out' destination='f.in(0)'/><Connection source='scale.out' "
                                    "destination='f.in(1)'/>"
                                    "<Connection source='f.out' destination='w.in'/></Connections></ParallelAlgorithm>";
    float y[5] = {9, 9, 9, 9, 9};
    kernel k = kernel_parse(ctx, xml);
    kernel_vector(&k, "y", ATN_SP, y, 5);
    kernel_param(&k, "n", 4);
    kit_ok(ctx, kernel_eval(&k, NULL));
    expect_floats(y, (float[]){10, -20, 5, 10, 9}, 5);
    kernel_param(&k, "scale", 2);
    kit_ok(ctx, kernel_eval(&k, NULL));
    expect_floats(y, (float[]){2, -4, 1, 2, 9}, 5);
    kernel_free(&k);
}

/* Half of the points, in place: what is read is what was there. */
KIT_TEST(red_black) {
    kernel k =
        kernel_make(ctx, 1, "", "u=SP:1",
                    PARAMETER("colour", "INT32", "") READ_EDGE("l", "u", "v0 - 1", "clamp")
                        READ_EDGE("r", "u", "v0 + 1", "clamp") FUNCTION("mine", "B", "#in(0) mod 2 == #in(1) mod 2")
                            FUNCTION("f", "SP", "0.5 * (#in(0) + #in(1))") WRITE("w", "u", "v0"),
                    "u.Size(0)>K.Range(0) K.i(0)>l.v(0) K.i(0)>r.v(0) K.i(0)>mine.in(0) colour.out>mine.in(1) "
                    "l.out>f.in(0) r.out>f.in(1) "
                    "f.out>w.in mine.out>w.enable K.i(0)>w.v(0)");
    float u[5] = {0, 8, 4, 2, 6};
    kernel_vector(&k, "u", ATN_SP, u, 5);
    kernel_param(&k, "colour", 1);
    kit_ok(ctx, kernel_eval(&k, NULL));
    expect_floats(u, (float[]){0, 2, 4, 5, 6}, 5);
    kernel_free(&k);
}

/* Reads see what was there before: a point may swap two elements of its own. */
KIT_TEST(in_place_swap) {
    kernel k =
        kernel_make(ctx, 1, "", "u=SP:1",
                    PARAMETER("n", "INT32", "") READ("r", "u", "2 * v0") READ("s", "u", "2 * v0 + 1")
                        WRITE("a", "u", "2 * v0") WRITE("b", "u", "2 * v0 + 1"),
                    "n.out>K.Range(0) K.i(0)>r.v(0) K.i(0)>s.v(0) K.i(0)>a.v(0) K.i(0)>b.v(0) r.out>b.in s.out>a.in");
    float u[5] = {1, 2, 3, 4, 5};
    kernel_vector(&k, "u", ATN_SP, u, 5);
    kernel_param(&k, "n", 2);
    kit_ok(ctx, kernel_eval(&k, NULL));
    expect_floats(u, (float[]){2, 1, 4, 3, 5}, 5);
    kernel_free(&k);
}

/* A write that a predicate holds back, inside and outside of an iterator. */
KIT_TEST(predicated_writes) {
    kernel k = kernel_make(
        ctx, 1, "", "x=SP:1 y=SP:1 m=SP:2",
        READ("r", "x", "v0") FUNCTION("positive", "B", "#in(0) > 0") WRITE("w", "y", "v0")
            ITERATOR("it", 1, "", FUNCTION("upper", "B", "#in(0) > #in(1)") WRITE("wm", "m", "v0, v1")),
        "x.Size(0)>K.Range(0) x.Size(0)>it.Range(0) K.i(0)>r.v(0) r.out>positive.in(0) r.out>w.in "
        "positive.out>w.enable K.i(0)>w.v(0) "
        "it.i(0)>upper.in(0) K.i(0)>upper.in(1) it.i(0)>wm.v(0) K.i(0)>wm.v(1) upper.out>wm.enable r.out>wm.in");
    float x[3] = {1, -2, NAN}, y[3] = {7, 7, 7}, m[3][3] = {{0}};
    kernel_vector(&k, "x", ATN_SP, x, 3);
    kernel_vector(&k, "y", ATN_SP, y, 3);
    kernel_matrix(&k, "m", ATN_SP, m, 3, 3, 3);
    kit_ok(ctx, kernel_eval(&k, NULL));
    expect_floats(y, (float[]){1, 7, 7}, 3);
    expect_floats(m[0], (float[]){0, 1, 1, 0, 0, -2, 0, 0, 0}, 9);
    kernel_free(&k);
}

KIT_TEST(scatters) {
    kernel k = kernel_make(ctx, 1, "", "i=INT32:1 v=INT32:1 sum=INT32:1 low=INT32:1 high=SP:1 bits=U8:1",
                           READ("at", "i", "v0") READ("r", "v", "v0") FUNCTION("byte", "U8", "U8(#in(0))")
                               FUNCTION("real", "SP", "SP(#in(0))") WRITE_COMBINE("ws", "sum", "v0", "add")
                                   WRITE_COMBINE("wl", "low", "v0", "min") WRITE_COMBINE("wh", "high", "v0", "max")
                                       WRITE_COMBINE("wb", "bits", "v0", "or"),
                           "i.Size(0)>K.Range(0) K.i(0)>at.v(0) K.i(0)>r.v(0) at.out>ws.v(0) at.out>wl.v(0) "
                           "at.out>wh.v(0) at.out>wb.v(0) r.out>ws.in "
                           "r.out>wl.in r.out>byte.in(0) r.out>real.in(0) real.out>wh.in byte.out>wb.in");
    int32_t i[6] = {0, 1, 0, 1, 5, 0}, v[6] = {1, 2, INT32_MAX, 4, 5, 1}, sum[2] = {100, 200}, low[2] = {0, 3};
    float high[2] = {NAN, 3.5f};
    uint8_t bits[2] = {128, 0};
    int64_t bad;
    kernel_vector(&k, "i", ATN_INT32, i, 6);
    kernel_vector(&k, "v", ATN_INT32, v, 6);
    kernel_vector(&k, "sum", ATN_INT32, sum, 2);
    kernel_vector(&k, "low", ATN_INT32, low, 2);
    kernel_vector(&k, "high", ATN_SP, high, 2);
    kernel_vector(&k, "bits", ATN_U8, bits, 2);
    kit_ok(ctx, kernel_eval(&k, &bad));
    assert_int_equal(bad, 4); /* element 5, by all four */
    assert_int_equal(sum[0], INT32_MIN + 101);
    assert_int_equal(sum[1], 206);
    assert_true(low[0] == 0 && low[1] == 2);
    expect_floats(high, (float[]){(float)INT32_MAX, 4}, 2);
    assert_true(bits[0] == 255 && bits[1] == 6);
    kernel_free(&k);
}

/* Only some points of P, at their own places; nothing else is computed. */
KIT_TEST(sampled_points) {
    kernel k =
        kernel_make(ctx, 2, "", "y=SP:2", FUNCTION("f", "SP", "SP(#in(0) + 10 * #in(1))") WRITE("w", "y", "v0, v1"),
                    "y.Size(0)>K.Range(0) y.Size(1)>K.Range(1) K.i(0)>f.in(0) K.i(1)>f.in(1) f.out>w.in K.i(0)>w.v(0) "
                    "K.i(1)>w.v(1)");
    float y[3][4] = {{0}};
    kernel_matrix(&k, "y", ATN_SP, y, 4, 3, 4);
    kit_ok(ctx, kernel_bind(&k));
    static const int64_t points[3][ATN_MAX_RANK] = {{3, 2}, {0, 1}, {4, 0}}; /* the last is no point of P */
    atn_eval_options options = {.points = points, .n_points = 3};
    atn_eval_result *result;
    kit_ok(ctx, atn_eval_run(ctx, k.graph, &k.frame, &options, &result));
    assert_int_equal(result->n_cells, 2);
    assert_true(atn_eval_find(result, 0, 3, 2)->value[0] == 23 && atn_eval_find(result, 0, 0, 1)->value[0] == 10);
    assert_null(atn_eval_find(result, 0, 1, 1));
    atn_eval_free(result);
    kernel_free(&k);
}

KIT_TEST(cancelled) {
    atn_ctx *own = kit_ctx();
    kernel k = kernel_make(own, 1, "", "A=SP:2 b=SP:1 c=SP:1", mv_children, mv_connections);
    float A[1] = {3}, b[1] = {5}, c[1];
    kernel_matrix(&k, "A", ATN_SP, A, 1, 1, 1);
    kernel_vector(&k, "b", ATN_SP, b, 1);
    kernel_vector(&k, "c", ATN_SP, c, 1);
    atn_ctx_cancel(own);
    kit_fails(own, ATN_ERR_CANCELLED, "stopped", kernel_eval(&k, NULL));
    kernel_free(&k);
    kit_free(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_times_vector),
        cmocka_unit_test(small_sizes),
        cmocka_unit_test(boundaries),
        cmocka_unit_test(stencil),
        cmocka_unit_test(gathers),
        cmocka_unit_test(tables_and_parameters),
        cmocka_unit_test(red_black),
        cmocka_unit_test(in_place_swap),
        cmocka_unit_test(predicated_writes),
        cmocka_unit_test(scatters),
        cmocka_unit_test(sampled_points),
        cmocka_unit_test(cancelled),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
