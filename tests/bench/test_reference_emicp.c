/* The reference that registration is measured against computes what the published code computes: the same transform as
 * --compat, which is checked against published numbers elsewhere. */
#include "testkit.h"

#include "bench/register_parts.h"

#include <math.h>

KIT_TEST(same_transform_as_compat) {
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    atn_device *device;
    bench_pair pair;
    emicp published;
    atn_register_result compat = {0};
    int32_t host;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    kit_ok(ctx, atn_devices_pick(devices, "host", &host));
    kit_ok(ctx, atn_device_open(devices, host, &device));
    kit_ok(ctx, bench_turned(ctx, 600, &pair));
    kit_ok(ctx, emicp_open(ctx, pair.source, pair.target, &published));
    for (int k = 0; k < EMICP_STEPS; ++k) assert_true(emicp_step(&published));
    assert_true(fabs(published.sigma2 - emicp_sigma2(EMICP_STEPS)) < 1e-12);
    kit_ok(ctx, atn_register(device, pair.source, pair.target, &(atn_register_settings){.compat = true}, &compat));
    assert_int_equal(compat.iterations, EMICP_STEPS);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) assert_true(fabs(published.pose.a[3 * i + j] - compat.transform[4 * i + j]) < 1e-4);
        assert_true(fabs(published.pose.b[i] - compat.transform[4 * i + 3]) < 1e-4);
    }
    assert_true(bench_turn_error(compat.transform, pair.truth) < 0.02); /* it blurs, but it finds the turn */
    emicp_close(&published);
    bench_pair_free(&pair);
    atn_device_close(device);
    atn_devices_free(devices);
    kit_free(ctx);
}

KIT_TEST(its_matrix_is_what_it_needs) {
    assert_int_equal(emicp_bytes(100000, 100000), 40000000000);
    assert_int_equal(emicp_bytes(SIZE_MAX / 2, 4), SIZE_MAX);
}

KIT_TEST(errors_are_angles) {
    double angle = 0.3;
    const double still[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    double turned[16] = {cos(angle), -sin(angle), 0, 5, sin(angle), cos(angle), 0, 6, 0, 0, 1, 7, 0, 0, 0, 1};
    assert_true(fabs(bench_turn_error(turned, still) - angle) < 1e-12);
    assert_true(bench_turn_error(still, still) <= 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_transform_as_compat),
                                       cmocka_unit_test(its_matrix_is_what_it_needs),
                                       cmocka_unit_test(errors_are_angles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
