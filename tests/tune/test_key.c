/* What a measurement belongs to: equal where the speed is, different where it is not. */
#include "tune/key.h"

#include "graph/shipped.h"
#include "support/kernel.h"
#include "support/shared.h"

#include <string.h>

SHARED_CTX;
static const atn_device_info HOST = {
    .backend = "host", .name = "a CPU", .arch = "x86_64", .driver = "gcc 12", .cores = 8};
static const atn_device_info GPU = {.backend = "cuda", .name = "a GPU", .arch = "sm_90", .driver = "550", .cores = 132};

static kernel shipped(const char *name, const char *type) {
    kernel k = {.ctx = ctx};
    const char *text = atn_shipped_find(name);
    atn_define define = {"USED_FLOAT", type};
    kit_ok(ctx, atn_sequence_parse(ctx, name, text, strlen(text),
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &k.sequence));
    k.graph = k.sequence->step[0];
    return k;
}

static void make(kernel *k, const atn_device_info *info, double tolerance, atn_tune_key *key) {
    kit_ok(ctx, kernel_bind(k));
    kit_ok(ctx, atn_tune_key_make(ctx, k->graph, info, &k->frame, false, tolerance, key));
}

KIT_TEST(gemm_has_three_sizes) {
    kernel k = shipped("gemm", "SP");
    atn_tune_key key;
    kernel_matrix(&k, "A", ATN_SP, NULL, 30, 20, 30);
    kernel_matrix(&k, "B", ATN_SP, NULL, 50, 30, 50);
    kernel_matrix(&k, "C", ATN_SP, NULL, 50, 20, 50);
    make(&k, &HOST, 0, &key);
    assert_int_equal(key.key.n_shape, 3);
    assert_int_equal(key.key.shape[0], 50);
    assert_int_equal(key.key.shape[1], 20);
    assert_int_equal(key.key.shape[2], 30);
    assert_string_equal(key.key.layout, "dense");
    assert_string_equal(key.key.tolerance, "derived");
    assert_string_equal(key.key.compiler, "gcc 12");
    assert_string_equal(key.key.driver, "");
    assert_string_equal(key.key.threads, "8 threads");
    assert_string_equal(key.key.kernel, "gemm");
    assert_memory_equal(&key.key.graph, &k.graph->hash, sizeof key.key.graph);
    kernel_free(&k);
}

KIT_TEST(rows_with_gaps_are_another_layout) {
    kernel k = shipped("laplace2d", "SP");
    atn_tune_key key;
    kernel_matrix(&k, "A", ATN_SP, NULL, 30, 20, 32);
    kernel_matrix(&k, "B", ATN_SP, NULL, 30, 20, 48);
    make(&k, &GPU, 2e-3, &key);
    assert_string_equal(key.key.layout, "gaps, lines");
    assert_string_equal(key.key.tolerance, "1e-3");
    assert_string_equal(key.key.threads, "");
    assert_string_equal(key.key.driver, "550");
    assert_string_equal(key.key.compiler, "");
    assert_int_equal(key.key.n_shape, 2);
    kernel_free(&k);
    k = shipped("laplace2d", "SP");
    kernel_matrix(&k, "A", ATN_SP, NULL, 30, 20, 31);
    kernel_matrix(&k, "B", ATN_SP, NULL, 30, 20, 30);
    make(&k, &GPU, 1e-3, &key);
    assert_string_equal(key.key.layout, "gaps");
    assert_string_equal(key.key.tolerance, "1e-3");
    kernel_free(&k);
}

KIT_TEST(ranges_from_data_count_by_their_mean) {
    kernel k = shipped("spmv", "DP");
    atn_tune_key key;
    kernel_vector(&k, "start", ATN_INT32, NULL, 101);
    kernel_vector(&k, "column", ATN_INT32, NULL, 738);
    kernel_vector(&k, "element", ATN_DP, NULL, 738);
    kernel_vector(&k, "x", ATN_DP, NULL, 100000);
    kernel_vector(&k, "y", ATN_DP, NULL, 100);
    make(&k, &HOST, 0, &key);
    assert_int_equal(key.key.n_shape, 3);
    assert_int_equal(key.key.shape[0], 100);
    assert_int_equal(key.key.shape[1], 1);
    assert_int_equal(key.key.shape[2], 7);
    kernel_free(&k);
}

/* Ranges of lattice_score differ by atom, not by rotation. */
KIT_TEST(ranges_that_points_share_count_once) {
    kernel k = shipped("lattice_score", "SP");
    atn_tune_key key;
    kernel_matrix(&k, "turn", ATN_SP, NULL, 416, 9, 416);
    for (int axis = 0; axis < 3; ++axis)
        kernel_vector(&k, (const char *const[]){"px", "py", "pz"}[axis], ATN_SP, NULL, 1400);
    kernel_vector(&k, "start", ATN_INT32, NULL, 100);
    kernel_vector(&k, "last", ATN_INT32, NULL, 100);
    kernel_vector(&k, "table", ATN_U8, NULL, 4096);
    kernel_matrix(&k, "score", ATN_INT32, NULL, 416, 100, 416);
    make(&k, &HOST, 0, &key);
    assert_int_equal(key.key.n_shape, 3);
    assert_int_equal(key.key.shape[0], 416);
    assert_int_equal(key.key.shape[1], 100);
    assert_int_equal(key.key.shape[2], 14);
    kernel_free(&k);
}

KIT_TEST(reductions_have_one_point) {
    kernel k = shipped("l2norm", "SP");
    atn_tune_key key;
    kernel_vector(&k, "x", ATN_SP, NULL, 0);
    kernel_vector(&k, "norm", ATN_SP, NULL, 1);
    make(&k, &HOST, 0, &key);
    assert_int_equal(key.key.n_shape, 3);
    assert_int_equal(key.key.shape[0], 1);
    assert_int_equal(key.key.shape[1], 1);
    assert_int_equal(key.key.shape[2], 1); /* nothing at all counts as one */
    kernel_free(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_has_three_sizes),
        cmocka_unit_test(rows_with_gaps_are_another_layout),
        cmocka_unit_test(ranges_from_data_count_by_their_mean),
        cmocka_unit_test(ranges_that_points_share_count_once),
        cmocka_unit_test(reductions_have_one_point),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
