/* Exponentials and logarithms in lanes, compared with those of the C library. */
#include "testkit.h"

#include "base/lane_math.h"

#include <math.h>

KIT_TEST(exponentials_are_right) {
    for (double x = -699; x < 700; x += 0.137) assert_true(fabs(atn_lane_exp(x) / exp(x) - 1) < 1e-13);
    for (double x = -1e-3; x < 1e-3; x += 1.3e-6) assert_true(fabs(atn_lane_exp(x) - exp(x)) < 1e-15);
    assert_true(atn_lane_exp(-1e9) > 0 && atn_lane_exp(-1e9) < 1e-300);
    assert_true(atn_lane_exp(0) == 1);
    for (float x = -42.9F; x < 0; x += 0.0137F)
        assert_true(fabs((double)atn_lane_power(x) / exp((double)x) - 1) < 2e-7 * (1 - (double)x));
}

KIT_TEST(logarithms_are_right) {
    for (float x = 1e-37F; x < 1e37F; x *= 1.37F)
        assert_true(fabs((double)atn_lane_log_single(x) - log((double)x)) < 2e-7 * fabs(log((double)x)));
    for (float x = 0.5F; x < 2; x += 0.00137F)
        assert_true(fabs((double)atn_lane_log_single(x) - log((double)x)) < 2e-7);
    assert_true(atn_lane_log_single(1) == 0);
    for (double x = 1e-300; x < 1e300; x *= 1.37) assert_true(fabs(atn_lane_log(x) - log(x)) < 2e-15 * fabs(log(x)));
    for (double x = 0.5; x < 2; x += 0.00137) assert_true(fabs(atn_lane_log(x) - log(x)) < 5e-16);
    assert_true(atn_lane_log(1) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exponentials_are_right),
                                       cmocka_unit_test(logarithms_are_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
