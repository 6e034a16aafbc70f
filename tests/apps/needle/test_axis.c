/* Axis, tip and start from synthetic centres and widths. */
#include "needlekit.h"
#include "support/shared.h"

#include <math.h>

SHARED_CTX;

KIT_TEST(line_with_outliers) {
    enum { POINTS = 128 };
    atn_random random;
    double centre[3 * POINTS], direction[3] = {0.2, -0.1, 1}, length = sqrt(1.05);
    atn_needle_line line, again;
    atn_random_seed(&random, 11);
    for (int k = 0; k < POINTS; ++k)
        for (int d = 0; d < 3; ++d)
            centre[3 * k + d] = k % 4 == 0 ? 3 * atn_random_unit(&random)
                                           : 1 + direction[d] * 3 * k / POINTS + 0.005 * atn_random_normal(&random);
    kit_ok(ctx, atn_needle_axis(ctx, POINTS, centre, 0, 1, &line));
    assert_true(line.inliers >= 96 && line.inliers < 110 && line.rms < 0.02);
    for (int d = 0; d < 3; ++d) assert_true(fabs(line.direction[d] - direction[d] / length) < 2e-3);
    kit_ok(ctx, atn_needle_axis(ctx, POINTS, centre, 0, 1, &again));
    assert_memory_equal(&line, &again, sizeof line);
}

KIT_TEST(few_centres) {
    const double two[6] = {0, 0, 1, 0, 0, 0}, same[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, bad[6] = {0, NAN, 0, 1, 1, 1};
    atn_needle_line line;
    kit_ok(ctx, atn_needle_axis(ctx, 2, two, 0, 1, &line));
    assert_true(line.inliers == 2 && fabs(line.direction[2] - 1) < 1e-12);
    kit_fails(ctx, ATN_ERR_INPUT, "a line needs at least two", atn_needle_axis(ctx, 1, two, 0, 1, &line));
    kit_fails(ctx, ATN_ERR_INPUT, "all centres coincide", atn_needle_axis(ctx, 3, same, 0, 1, &line));
    kit_fails(ctx, ATN_ERR_INPUT, "not finite", atn_needle_axis(ctx, 2, bad, 0, 1, &line));
    kit_fails(ctx, ATN_ERR_INPUT, "must be positive", atn_needle_axis(ctx, 2, two, -1, 1, &line));
}

KIT_TEST(ramp_then_flat) {
    enum { SCANS = 100 };
    atn_random random;
    double z[SCANS], width[SCANS];
    atn_needle_tip tip;
    for (int turned = 0; turned < 2; ++turned) {
        atn_random_seed(&random, 5);
        for (int k = 0; k < SCANS; ++k) {
            double at = 0.4 + 0.02 * k;
            z[k] = turned ? 3 - at : at;
            width[k] = (at < 1.25 ? 0.5 * (at - 0.25) : 0.5) + 0.004 * atn_random_normal(&random);
        }
        kit_ok(ctx, atn_needle_tip_fit(ctx, SCANS, z, width, !turned, &tip));
        assert_true(tip.found);
        assert_true(fabs((turned ? 3 - tip.end : tip.end) - 1.25) < 0.02);
        assert_true(fabs((turned ? 3 - tip.tip : tip.tip) - 0.25) < 0.02);
        assert_true(fabs(tip.width - 0.5) < 0.003);
    }
}

/* Flat all along, or a ramp all along: no end is there. */
KIT_TEST(no_tip) {
    double z[40], flat[40], ramp[40];
    atn_needle_tip tip;
    atn_random random;
    atn_random_seed(&random, 6);
    for (int k = 0; k < 40; ++k) {
        z[k] = 0.02 * k;
        flat[k] = 0.5 + 0.01 * atn_random_normal(&random);
        ramp[k] = z[k] + 0.01 * atn_random_normal(&random);
    }
    kit_ok(ctx, atn_needle_tip_fit(ctx, 40, z, flat, true, &tip));
    assert_false(tip.found);
    kit_ok(ctx, atn_needle_tip_fit(ctx, 40, z, ramp, true, &tip));
    assert_false(tip.found);
    kit_fails(ctx, ATN_ERR_INPUT, "at least", atn_needle_tip_fit(ctx, 3, z, ramp, true, &tip));
}

KIT_TEST(start_lies_along) {
    atn_needle_line line = {.point = {1, 2, 3}, .direction = {0.6, 0, 0.8}};
    double start[16], at[3];
    kit_ok(ctx, atn_needle_start(ctx, &line, 0.5, 4, start));
    geom_pose pose = needle_get(start);
    geom_pose_apply(&pose, (double[3]){0, 0, 0.5}, at);
    assert_true(fabs(at[0] - 1.75) < 1e-12 && fabs(at[1] - 2) < 1e-12 && fabs(at[2] - 4) < 1e-12);
    assert_true(fabs(pose.a[4] - 1) < 1e-12 && fabs(pose.a[2] - 0.6) < 1e-12); /* y is up */
    line = (atn_needle_line){.direction = {1, 0, 0}};
    kit_fails(ctx, ATN_ERR_INPUT, "across", atn_needle_start(ctx, &line, 0, 0, start));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(line_with_outliers), cmocka_unit_test(few_centres),
                                       cmocka_unit_test(ramp_then_flat), cmocka_unit_test(no_tip),
                                       cmocka_unit_test(start_lies_along)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
