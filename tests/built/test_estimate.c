/* What the estimate makes of accesses and sizes: filters are no matrix products, vectors are no longer than ranges,
 * short ranges are not staged. */
#include "support/golden.h"

#include "built/built.h"
#include "graph/shipped.h"

#include <stdio.h>
#include <string.h>

#define HOST GOLDEN_DEVICES[GOLDEN_AVX512]
#define GPU  GOLDEN_DEVICES[GOLDEN_CUDA]

static atn_variant estimate(const char *kernel, const atn_device_info *info, const atn_extent *extent) {
    atn_ctx *ctx = kit_ctx();
    atn_sequence *sequence = golden_kernel(ctx, kernel);
    atn_variant v = atn_variant_estimate(sequence->step[0], info, extent);
    atn_sequence_free(sequence);
    kit_free(ctx);
    return v;
}

KIT_TEST(filters_are_not_staged) {
    static const char *const FILTERS[] = {"convolve", "convolve_rows", "convolve_columns", "box"};
    const atn_extent extent = {.points = {2048, 2048}, .range = 25};
    for (size_t k = 0; k < sizeof FILTERS / sizeof *FILTERS; ++k)
        for (int gpu = 0; gpu < 2; ++gpu)
            for (int sized = 0; sized < 2; ++sized) {
                atn_variant v = estimate(FILTERS[k], gpu ? &GPU : &HOST, sized ? &extent : NULL);
                assert_int_equal(v.stage, 0);
                assert_int_equal(v.q[0].tile, 0);
                assert_int_equal(gpu ? v.p[0].lanes : v.p[0].vec, gpu ? 32 : 16);
            }
    assert_int_equal(estimate("gemm", &HOST, NULL).stage, 1);
    assert_int_equal(estimate("distances", &HOST, NULL).stage, 1);
}

KIT_TEST(rows_are_read_along_the_range) {
    assert_int_equal(estimate("row_norms", &HOST, NULL).q[0].vec, 16);
    assert_int_equal(estimate("softmax", &HOST, NULL).q[0].vec, 16);
    assert_int_equal(estimate("gemv", &HOST, NULL).q[0].vec, 16);
    assert_int_equal(estimate("column_means", &HOST, NULL).p[0].vec, 16);
    assert_int_equal(estimate("row_norms", &GPU, NULL).q[0].lanes, 32);
    assert_int_equal(estimate("column_means", &GPU, NULL).q[0].lanes, 1);
}

/* Lanes that cross a boundary are read one by one: a few vectors of them are more than compilers take. */
KIT_TEST(boundaries_within_sums) {
    static const char TEXT[] =
        "kernel energy(u, v: matrix SP) -> s: vector SP\n    s[0] = sum(y, x) u[y, x] * (4 * v[y, x] - "
        "v[y-1, x] - v[y+1, x] - v[y, x-1] - v[y, x+1])    with v zero\n";
    atn_ctx *ctx = kit_ctx();
    atn_sequence *sequence;
    atn_text source = {.ctx = ctx};
    atn_target target = atn_target_of(&HOST);
    kit_ok(ctx, atn_sequence_parse(ctx, "energy.atn", TEXT, sizeof TEXT - 1, NULL, NULL, &sequence));
    atn_variant v = atn_variant_estimate(sequence->step[0], &HOST, NULL);
    assert_int_equal(v.q[0].vec, 16);
    kit_ok(ctx, atn_built_source(ctx, sequence->step[0], &v, "host", &target, &source));
    atn_text_free(&source);
    atn_sequence_free(sequence);
    kit_free(ctx);
}

/* A sum for each row, whose length data say, of what a loop of its own finds: of few rows several groups take one, on
 * devices with cores enough. */
KIT_TEST(few_rows_with_loops_are_shared) {
    static const char TEXT[] = "kernel far(at: vector SP, count: vector INT32) -> s: vector SP\n"
                               "    for y in length(count)\n"
                               "        over i in count[y]\n"
                               "            over j in count[y]\n"
                               "                least: SP min= (at[j] - at[i])^2\n"
                               "            s[y] += least\n";
    static const struct {
        int64_t rows;
        int32_t split;
    } EXPECTED[] = {{12, 4}, {48, 4}, {120, 2}, {192, 1}, {3000, 1}};
    atn_ctx *ctx = kit_ctx();
    atn_sequence *sequence;
    kit_ok(ctx, atn_sequence_parse(ctx, "far.atn", TEXT, sizeof TEXT - 1, NULL, NULL, &sequence));
    for (size_t k = 0; k < sizeof EXPECTED / sizeof *EXPECTED; ++k) {
        const atn_extent extent = {.points = {EXPECTED[k].rows, 1, 1}};
        atn_variant v = atn_variant_estimate(sequence->step[0], &GPU, &extent);
        assert_int_equal(v.q[0].split, EXPECTED[k].split);
        assert_int_equal(v.q[0].lanes, 256);
    }
    atn_sequence_free(sequence);
    kit_free(ctx);
}

KIT_TEST(short_ranges) {
    const atn_extent extent = {.points = {8, 65536}, .range = 8};
    assert_int_equal(estimate("batch_product", &HOST, &extent).q[0].vec, 8);
    assert_int_equal(estimate("batch_product", &GPU, &extent).stage, 0);
}

/* Ranges whose ends the points decide: a block of keys each, for as many items. */
KIT_TEST(narrow_matrices_keep_items_busy) {
    const atn_extent pairs = {.points = {2, 1000000}}, rows = {.points = {1000, 1000}};
    atn_variant v = estimate("laplace2d", &GPU, &pairs);
    assert_true(v.p[0].lanes == 2 && v.p[1].lanes == 128);
    assert_int_equal(estimate("laplace2d", &GPU, &rows).p[0].lanes, 64);
    assert_int_equal(estimate("laplace2d", &GPU, NULL).p[0].lanes, 64);
}

KIT_TEST(blocks_of_keys) {
    enum { KEYS = 10000000, PER = 4096, COUNTS = 39072 };
    static const char *const KERNELS[] = {"sort_count", "sort_scatter"};
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof KERNELS / sizeof *KERNELS; ++k) {
        atn_sequence *sequence = golden_kernel(ctx, KERNELS[k]);
        const atn_graph *g = sequence->step[0];
        atn_view views[8] = {{0}};
        double params[8][2] = {{0}};
        atn_extent extent;
        for (int32_t n = 0; n < g->n_objects; ++n) {
            bool counts = strcmp(g->objects[n].name, "count") == 0 || strcmp(g->objects[n].name, "first") == 0;
            views[n] = (atn_view){.type = ATN_INT32, .rank = 1, .size = {counts ? COUNTS : KEYS, 1, 1}};
        }
        for (int32_t n = 0; n < g->n_parameters; ++n) params[n][0] = strcmp(g->parameters[n].name, "per") ? 0 : PER;
        const atn_bindings frame = {.views = views, .params = (const double(*)[2])params};
        kit_ok(ctx, atn_extent_of(ctx, g, &frame, &extent));
        assert_int_equal(extent.points[0], COUNTS / 16);
        assert_int_equal(extent.range, PER);
        atn_variant v = atn_variant_estimate(g, &GPU, &extent);
        assert_int_equal(v.q[0].lanes, 256);
        assert_int_equal(v.p[0].lanes, 1);
        atn_sequence_free(sequence);
    }
    kit_free(ctx);
}

static int32_t matrix_of(const char *kernel, const char *type, const atn_device_info *info, const atn_extent *extent) {
    atn_ctx *ctx = kit_ctx();
    const char *text = atn_shipped_find(kernel);
    atn_define define = {"USED_FLOAT", type};
    atn_sequence *sequence;
    kit_ok(ctx, atn_sequence_parse(ctx, kernel, text, strlen(text),
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
    atn_variant v = atn_variant_estimate(sequence->step[0], info, extent);
    atn_sequence_free(sequence);
    kit_free(ctx);
    return v.matrix;
}

/* Where the device has the units for it; sums over pairs of singles only where that was measured. */
KIT_TEST(matrix_units_are_used) {
    const atn_extent large = {.points = {4096, 4096, 1}, .range = 4096},
                     small = {.points = {32, 4096, 1}, .range = 4096},
                     pairs = {.points = {10000, 1, 1}, .range = 10000};
    atn_device_info old = GPU;
    snprintf(old.arch, sizeof old.arch, "sm_75");
    atn_device_info between = GPU; /* no products by four warps together */
    snprintf(between.arch, sizeof between.arch, "sm_80");
    assert_int_equal(matrix_of("gemm", "HP", &GPU, &large), ATN_MATRIX_WARPGROUP);
    assert_int_equal(matrix_of("gemm", "HP", &between, &large), ATN_MATRIX_HALF);
    assert_int_equal(matrix_of("gemm", "DP", &GPU, &large), ATN_MATRIX_DOUBLE);
    assert_int_equal(matrix_of("gemm", "SP", &GPU, &large), ATN_MATRIX_PAIR);
    assert_int_equal(matrix_of("gemm", "SP", &GPU, &small), ATN_MATRIX_OFF);
    assert_int_equal(matrix_of("gemm", "HP", &GPU, &small), ATN_MATRIX_OFF);
    assert_int_equal(matrix_of("gemm", "HP", &old, &large), ATN_MATRIX_OFF);
    assert_int_equal(matrix_of("estep", "HP", &GPU, &pairs), ATN_MATRIX_HALF);
    assert_int_equal(matrix_of("estep", "SP", &GPU, &pairs), ATN_MATRIX_OFF);
    assert_int_equal(matrix_of("estep", "HP", &HOST, &pairs), ATN_MATRIX_OFF);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_units_are_used),           cmocka_unit_test(filters_are_not_staged),
        cmocka_unit_test(rows_are_read_along_the_range),   cmocka_unit_test(boundaries_within_sums),
        cmocka_unit_test(few_rows_with_loops_are_shared),  cmocka_unit_test(short_ranges),
        cmocka_unit_test(narrow_matrices_keep_items_busy), cmocka_unit_test(blocks_of_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
