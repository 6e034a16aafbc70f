/* Every named operation against a plain loop: odd sizes, none and one, pitches, real and complex, on every device. */
#include "support/numkit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const atn_type TYPES[] = {ATN_SP, ATN_DP, ATN_SP2, ATN_DP2};
static const int64_t SIZES[][3] = {{37, 70, 45}, {1, 1, 1}, {0, 0, 0},     {3, 257, 0},
                                   {5, 0, 3},    {0, 9, 2}, {130, 33, 101}}; /* m, n, k */

static bool has(const atn_device *device, atn_type type) {
    return atn_device_get_info(device)->fp64 || type == ATN_SP || type == ATN_SP2;
}
static bool is_complex(atn_type type) { return type == ATN_SP2 || type == ATN_DP2; }
static double unit(atn_type type) { return type == ATN_SP || type == ATN_SP2 ? FLT_EPSILON : DBL_EPSILON; }

/* |got - wanted| within 2 n u times the sum of |terms|. */
static void near(const char *what, atn_type type, int64_t at, double complex got, double complex wanted, double terms,
                 double n) {
    double bound = 2 * (n + 4) * unit(type) * terms;
    if (!(cabs(got - wanted) <= bound))
        fail_msg("%s of %s: element %lld is %.9g%+.9gi, %.9g%+.9gi within %.3g is right", what, atn_type_name(type),
                 (long long)at, creal(got), cimag(got), creal(wanted), cimag(wanted), bound);
}

static void drop(atn_array *a, double complex *v) {
    atn_array_free(a);
    free(v);
}

static void elementwise(atn_ctx *ctx, atn_device *device, atn_operations *ops, atn_type type, const int64_t mnk[3],
                        bool vectors) {
    uint64_t seed = 7;
    int64_t rows = vectors ? -1 : mnk[0], n = mnk[1];
    atn_array *a = num_random(device, type, n, rows, 3, &seed), *b = num_random(device, type, n, rows, 0, &seed);
    atn_array *c = num_empty(device, type, n, rows, 5), *d = num_empty(device, type, n, rows, 1);
    double complex factor = is_complex(type) ? 1.5 - 0.5 * I : 1.5;
    kit_ok(ctx, atn_array_add(ops, a, b, c));
    kit_ok(ctx, atn_array_scale(ops, creal(factor), cimag(factor), a, d));
    double complex *va = num_values(a), *vb = num_values(b), *vc = num_values(c), *vd = num_values(d);
    for (int64_t k = 0; k < a->size[0] * a->size[1]; ++k) {
        near("add", type, k, vc[k], va[k] + vb[k], cabs(va[k]) + cabs(vb[k]), 1);
        near("scale", type, k, vd[k], va[k] * factor, 2 * cabs(va[k] * factor), 1);
    }
    drop(a, va), drop(b, vb), drop(c, vc), drop(d, vd);
}

static void turned(atn_ctx *ctx, atn_device *device, atn_operations *ops, atn_type type, const int64_t mnk[3]) {
    uint64_t seed = 11;
    int64_t m = mnk[0], n = mnk[1];
    atn_array *a = num_random(device, type, n, m, 2, &seed), *t = num_empty(device, type, m, n, 1);
    kit_ok(ctx, atn_array_transpose(ops, a, t));
    double complex *va = num_values(a), *vt = num_values(t);
    for (int64_t row = 0; row < m; ++row)
        for (int64_t column = 0; column < n; ++column)
            if (vt[column * m + row] != va[row * n + column]) fail_msg("transpose: (%d, %d)", (int)row, (int)column);
    drop(a, va), drop(t, vt);
}

static double complex clamped(const double complex *v, int64_t m, int64_t n, int64_t row, int64_t column) {
    row = row < 0 ? 0 : row >= m ? m - 1 : row;
    column = column < 0 ? 0 : column >= n ? n - 1 : column;
    return v[row * n + column];
}

static void stencil(atn_ctx *ctx, atn_device *device, atn_operations *ops, atn_type type, const int64_t mnk[3]) {
    uint64_t seed = 13;
    int64_t m = mnk[0], n = mnk[1];
    atn_array *a = num_random(device, type, n, m, 2, &seed), *b = num_empty(device, type, n, m, 0);
    kit_ok(ctx, atn_array_laplace2d(ops, a, b));
    double complex *va = num_values(a), *vb = num_values(b);
    for (int64_t r = 0; r < m; ++r)
        for (int64_t c = 0; c < n; ++c)
            near("laplace2d", type, r * n + c, vb[r * n + c],
                 clamped(va, m, n, r, c - 1) + clamped(va, m, n, r, c + 1) + clamped(va, m, n, r - 1, c) +
                     clamped(va, m, n, r + 1, c) - 4 * clamped(va, m, n, r, c),
                 8, 4);
    drop(a, va), drop(b, vb);
}

static void reductions(atn_ctx *ctx, atn_device *device, atn_operations *ops, atn_type type, const int64_t mnk[3]) {
    uint64_t seed = 17;
    int64_t n = mnk[1] * 13;
    atn_array *x = num_random(device, type, n, -1, 0, &seed), *y = num_random(device, type, mnk[1], 13, 0, &seed);
    atn_array *r = num_empty(device, type, 1, -1, 0), *v = num_empty(device, type, 1, -1, 0),
              *i = num_empty(device, ATN_INT32, 1, -1, 0);
    double complex *vx = num_values(x), *vy = num_values(y), sum = 0, *got;
    double squares = 0, terms = 0, largest = -INFINITY, where = -1;
    for (int64_t k = 0; k < n; ++k) {
        sum += vx[k] * vy[k];
        terms += cabs(vx[k]) * cabs(vy[k]);
        squares += creal(vx[k]) * creal(vx[k]);
        if (creal(vx[k]) > largest) largest = creal(vx[k]), where = (double)k;
    }
    kit_ok(ctx, atn_array_dot(ops, x, y, r)); /* a matrix without gaps is a vector too */
    got = num_values(r);
    near("dot", type, 0, *got, sum, 2 * terms, (double)n);
    free(got);
    if (!is_complex(type)) {
        kit_ok(ctx, atn_array_l2norm(ops, x, r));
        got = num_values(r);
        near("l2norm", type, 0, *got, sqrt(squares), sqrt(squares), (double)n);
        free(got);
        kit_ok(ctx, atn_array_max(ops, x, v, i));
        got = num_values(v);
        if (creal(*got) != largest) fail_msg("max of %lld: %g, %g is right", (long long)n, creal(*got), largest);
        free(got);
        got = num_values(i);
        if (n > 0 && creal(*got) != where)
            fail_msg("max of %lld is at %g, %g is right", (long long)n, creal(*got), where);
        free(got);
    }
    drop(x, vx), drop(y, vy), drop(r, NULL), drop(v, NULL), drop(i, NULL);
}

static void products(atn_ctx *ctx, atn_device *device, atn_operations *ops, atn_type type, const int64_t mnk[3]) {
    uint64_t seed = 19;
    int64_t m = mnk[0], n = mnk[1], k = mnk[2];
    atn_array *a = num_random(device, type, k, m, 1, &seed), *b = num_random(device, type, n, k, 0, &seed);
    atn_array *c = num_empty(device, type, n, m, 3), *x = num_random(device, type, k, -1, 0, &seed),
              *y = num_empty(device, type, m, -1, 0);
    kit_ok(ctx, atn_array_gemm(ops, a, b, c));
    kit_ok(ctx, atn_array_gemv(ops, a, x, y));
    double complex *va = num_values(a), *vb = num_values(b), *vc = num_values(c), *vx = num_values(x),
                   *vy = num_values(y);
    for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column <= n; ++column) { /* the last one: times x */
            double complex sum = 0;
            for (int64_t q = 0; q < k; ++q) sum += va[row * k + q] * (column < n ? vb[q * n + column] : vx[q]);
            near(column < n ? "gemm" : "gemv", type, row * n + column, column < n ? vc[row * n + column] : vy[row], sum,
                 4 * (double)k, (double)k);
        }
    }
    drop(a, va), drop(b, vb), drop(c, vc), drop(x, vx), drop(y, vy);
}

static void sparse(atn_ctx *ctx, atn_device *device, atn_operations *ops, atn_type type, const int64_t mnk[3]) {
    uint64_t seed = 23;
    int64_t m = mnk[0], n = mnk[1];
    int32_t *start = calloc((size_t)m + 1, sizeof *start), *column = calloc((size_t)(m * 9) + 1, sizeof *column);
    for (int64_t row = 0; row < m; ++row) {
        int32_t count = n ? (int32_t)(kit_random(&seed) % 9) : 0;
        start[row + 1] = start[row] + count;
        for (int32_t q = start[row]; q < start[row + 1]; ++q) column[q] = (int32_t)(kit_random(&seed) % (uint64_t)n);
    }
    atn_array *elements = num_random(device, type, start[m], -1, 0, &seed),
              *x = num_random(device, type, n, -1, 0, &seed);
    atn_array *y = num_empty(device, type, m, -1, 0);
    const void *data;
    atn_csr *csr;
    kit_ok(ctx, atn_array_map_read(elements, &data));
    kit_ok(ctx, atn_csr_create(device, type, m, n, start, column, data, &csr));
    assert_int_equal(atn_csr_rows(csr), m);
    assert_int_equal(atn_csr_columns(csr), n);
    assert_int_equal(atn_csr_count(csr), start[m]);
    kit_ok(ctx, atn_csr_spmv(ops, csr, x, y));
    double complex *ve = num_values(elements), *vx = num_values(x), *vy = num_values(y);
    for (int64_t row = 0; row < m; ++row) {
        double complex sum = 0;
        for (int32_t q = start[row]; q < start[row + 1]; ++q) sum += ve[q] * vx[column[q]];
        near("spmv", type, row, vy[row], sum, 9, 9);
    }
    atn_csr_free(csr);
    drop(elements, ve), drop(x, vx), drop(y, vy);
    free(start);
    free(column);
}

static void on_device(atn_ctx *ctx, atn_device *device) {
    atn_operations *ops;
    kit_ok(ctx, atn_operations_create(device, &ops));
    /* each size may be another variant, which is built: without ATTUNE_TEST_ALL two sizes in one type, one in another
     * type, others every day */
    bool all = getenv("ATTUNE_TEST_ALL");
    size_t most = all ? sizeof SIZES / sizeof *SIZES : 2;
    for (size_t t = 0; t < 4; ++t) {
        if (!has(device, TYPES[t]) || (t == 3 && !all) || (t && !kit_turn(t, 2))) continue;
        for (size_t k = 0; k < (t == 0 || all ? most : 1); ++k) {
            size_t at = k ? 1 + (k - 1 + (size_t)kit_day()) % (sizeof SIZES / sizeof *SIZES - 1) : 0;
            elementwise(ctx, device, ops, TYPES[t], SIZES[at], at % 2);
            turned(ctx, device, ops, TYPES[t], SIZES[at]);
            reductions(ctx, device, ops, TYPES[t], SIZES[at]);
            products(ctx, device, ops, TYPES[t], SIZES[at]);
            if (is_complex(TYPES[t])) continue;
            stencil(ctx, device, ops, TYPES[t], SIZES[at]);
            sparse(ctx, device, ops, TYPES[t], SIZES[at]);
        }
    }
    atn_operations_free(ops);
}

KIT_TEST(all_operations) {
    atn_ctx *ctx = kit_ctx();
    num_each_device(ctx, on_device);
    kit_free(ctx);
}

/* Views as operands: a row, a range, a block; what lies around the result stays. */
static void views_on_device(atn_ctx *ctx, atn_device *device) {
    uint64_t seed = 29;
    atn_operations *ops;
    atn_array *a = num_random(device, ATN_SP, 20, 10, 0, &seed), *c = num_random(device, ATN_SP, 20, 10, 0, &seed),
              *from, *to;
    double complex *before = num_values(c), *va = num_values(a), *after;
    kit_ok(ctx, atn_operations_create(device, &ops));
    kit_ok(ctx, atn_array_view_block(a, 2, 3, 5, 7, &from));
    kit_ok(ctx, atn_array_view_block(c, 4, 11, 5, 7, &to));
    kit_ok(ctx, atn_array_scale(ops, 2, 0, from, to));
    after = num_values(c);
    for (int k = 0; k < 200; ++k) {
        int column = k % 20, row = k / 20;
        bool inside = column >= 11 && column < 18 && row >= 4 && row < 9;
        double complex wanted = inside ? 2 * va[(row - 2) * 20 + column - 8] : before[k];
        if (after[k] != wanted)
            fail_msg("view: (%d, %d) is %g, %g is right", column, row, creal(after[k]), creal(wanted));
    }
    atn_array_free(to);
    free(after);
    kit_ok(ctx, atn_array_view_row(c, 3, &to));
    atn_array_free(from);
    kit_ok(ctx, atn_array_view_row(a, 9, &from));
    kit_ok(ctx, atn_array_add(ops, from, from, to));
    after = num_values(to);
    for (int k = 0; k < 20; ++k) assert_true(after[k] == 2 * va[180 + k]);
    kit_fails(ctx, ATN_ERR_INPUT, "share elements", atn_array_add(ops, from, to, c));
    atn_array_free(from);
    atn_array_free(to);
    drop(a, va), drop(c, before);
    free(after);
    atn_operations_free(ops);
}

KIT_TEST(views_are_operands) {
    atn_ctx *ctx = kit_ctx();
    num_each_device(ctx, views_on_device);
    kit_free(ctx);
}

/* Volumes go plane by plane, gaps between rows and all. */
static void volumes_on_device(atn_ctx *ctx, atn_device *device) {
    enum { COLUMNS = 5, ROWS = 3, PLANES = 4, ALL = COLUMNS * ROWS * PLANES };
    atn_operations *ops;
    atn_array *a, *b, *sum, *other;
    float x[ALL], y[ALL], z[ALL], norm;
    double squares = 0;
    for (int k = 0; k < ALL; ++k) {
        x[k] = (float)k;
        y[k] = (float)(2 * k);
        squares += (double)k * k;
    }
    kit_ok(ctx, atn_operations_create(device, &ops));
    kit_ok(ctx, atn_array_create_volume(device, ATN_SP, PLANES, ROWS, COLUMNS, 0, &a));
    kit_ok(ctx, atn_array_create_volume(device, ATN_SP, PLANES, ROWS, COLUMNS, 8, &b));
    kit_ok(ctx, atn_array_create_volume(device, ATN_SP, PLANES, ROWS, COLUMNS, 6, &sum));
    kit_ok(ctx, atn_array_create_volume(device, ATN_SP, PLANES - 1, ROWS, COLUMNS, 0, &other));
    kit_ok(ctx, atn_array_put(a, x, 0));
    kit_ok(ctx, atn_array_put(b, y, 0));
    kit_ok(ctx, atn_array_add(ops, a, b, sum));
    kit_ok(ctx, atn_array_get(sum, z, 0));
    for (int k = 0; k < ALL; ++k) assert_true(z[k] == (float)(3 * k));
    kit_fails(ctx, ATN_ERR_INPUT, "'C' has 3 planes; 4 are needed", atn_array_add(ops, a, b, other));
    kit_fails(ctx, ATN_ERR_INPUT, "'A' is a volume, a matrix is needed", atn_array_laplace2d(ops, a, sum));
    atn_array *result;
    kit_ok(ctx, atn_array_create_vector(device, ATN_SP, 1, &result));
    kit_ok(ctx, atn_array_l2norm(ops, a, result));
    kit_ok(ctx, atn_array_get(result, &norm, 0));
    assert_true(fabs((double)norm - sqrt(squares)) <= 1e-4 * sqrt(squares));
    atn_array_free(result);
    atn_array_free(other);
    atn_array_free(sum);
    atn_array_free(b);
    atn_array_free(a);
    atn_operations_free(ops);
}

KIT_TEST(volumes_are_operands) {
    atn_ctx *ctx = kit_ctx();
    num_each_device(ctx, volumes_on_device);
    kit_free(ctx);
}

KIT_TEST(wrong_operands_are_refused) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = num_device(ctx, "host"), *other = num_device(ctx, "host");
    atn_operations *ops;
    kit_ok(ctx, atn_operations_create(device, &ops));
    uint64_t seed = 3;
    atn_array *a = num_random(device, ATN_SP, 4, 3, 0, &seed), *b = num_random(device, ATN_SP, 5, 4, 1, &seed);
    atn_array *d = num_random(device, ATN_DP, 4, 3, 0, &seed), *x = num_random(device, ATN_SP, 4, -1, 0, &seed);
    atn_array *one = num_empty(device, ATN_SP, 1, -1, 0), *h = num_empty(device, ATN_HP, 4, 3, 0),
              *z = num_empty(device, ATN_SP2, 4, 3, 0);
    atn_array *far = num_empty(other, ATN_SP, 4, 3, 0), *c = num_empty(device, ATN_SP, 4, 3, 0);
    kit_fails(ctx, ATN_ERR_INPUT, "add: 'B' has 4 rows of 5 elements; 3 of 4 are needed", atn_array_add(ops, a, b, c));
    kit_fails(ctx, ATN_ERR_INPUT, "add: 'B' has elements of DP, SP are needed", atn_array_add(ops, a, d, c));
    kit_fails(ctx, ATN_ERR_INPUT, "add: 'B' is a vector, a matrix is needed", atn_array_add(ops, a, x, c));
    kit_fails(ctx, ATN_ERR_INPUT, "add: 'C' is on another device", atn_array_add(ops, a, a, far));
    kit_fails(ctx, ATN_ERR_INPUT, "add: 'A' and 'C' share elements; a result must not overlap another array",
              atn_array_add(ops, a, c, a));
    kit_fails(ctx, ATN_ERR_INPUT, "add: elements are HP; it takes SP and DP, SP2 and DP2", atn_array_add(ops, h, h, h));
    kit_fails(ctx, ATN_ERR_INPUT, "laplace2d: elements are SP2; it takes SP and DP", atn_array_laplace2d(ops, z, z));
    kit_fails(ctx, ATN_ERR_INPUT, "scale: parameter 'factor' is SP; its value has an imaginary part",
              atn_array_scale(ops, 1, 1, a, c));
    kit_fails(ctx, ATN_ERR_INPUT, "gemm: 'B' has 3 rows of 4 elements; 4 of 4 are needed",
              atn_array_gemm(ops, a, c, b));
    kit_fails(ctx, ATN_ERR_INPUT, "gemm: 'C' has 3 rows of 4 elements; 3 of 5 are needed",
              atn_array_gemm(ops, a, b, c));
    kit_fails(ctx, ATN_ERR_INPUT, "gemv: 'x' has 1 rows of 1 elements; 1 of 4 are needed",
              atn_array_gemv(ops, a, one, x));
    kit_fails(ctx, ATN_ERR_INPUT, "transpose: 'B' has 3 rows of 4 elements; 4 of 3 are needed",
              atn_array_transpose(ops, a, c));
    kit_fails(ctx, ATN_ERR_INPUT, "dot: 'x' has gaps between its rows; a vector is needed",
              atn_array_dot(ops, b, b, one));
    kit_fails(ctx, ATN_ERR_INPUT, "l2norm: 'norm' has 1 rows of 4 elements; 1 of 1 are needed",
              atn_array_l2norm(ops, a, x));
    kit_fails(ctx, ATN_ERR_INPUT, "max: 'index' has elements of SP, INT32 are needed", atn_array_max(ops, a, one, one));
    drop(a, 0), drop(b, 0), drop(d, 0), drop(x, 0), drop(one, 0), drop(h, 0), drop(z, 0), drop(far, 0), drop(c, 0);
    atn_operations_free(ops);
    atn_device_close(other);
    atn_device_close(device);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_operations), cmocka_unit_test(views_are_operands),
                                       cmocka_unit_test(volumes_are_operands),
                                       cmocka_unit_test(wrong_operands_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
