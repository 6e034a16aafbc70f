/* How exact the chain is: random poses, each with a seed of its own. A few small ones; ATTUNE_TEST_ALL=1 takes twenty
 * of the usual size, ATTUNE_TEST_POSES=N so many. */
#include "scankit.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1000 };

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

KIT_TEST(poses_at_random) {
    const char *all = getenv("ATTUNE_TEST_ALL"), *given = getenv("ATTUNE_TEST_POSES");
    int poses = given ? atoi(given) : all ? 20 : 5, wrong_rolls = 0, silent = 0, visible = 0;
    static double error[MOST];
    atn_ctx *ctx = kit_ctx();
    atn_device *device = needle_device(ctx);
    atn_cloud *model = NULL;
    atn_needle *needle = NULL;
    assert_true(poses > 0 && poses <= MOST);
    for (int k = 0; k < poses; ++k) {
        atn_needle_sample_settings s = all || given ? ATN_NEEDLE_SAMPLE_USUAL : scan_settings(0);
        s.seed = 100 + (uint64_t)k;
        s.from_high = k % 2;
        atn_needle_sample sample = scan_sample(ctx, &s);
        if (!needle) {
            model = scan_model(ctx, &sample);
            kit_ok(ctx, atn_needle_create(device, model, NULL, &needle));
        }
        atn_needle_result r = {0};
        kit_ok(ctx, atn_needle_find(needle, sample.volume, NULL, NULL, &r));
        error[k] = r.found ? scan_tip_error(&sample.truth, &r) : 1;
        double roll = scan_roll_error(&sample.truth, &r);
        visible += sample.truth.bevel_visible;
        wrong_rolls += sample.truth.bevel_visible && roll > 1;
        silent += r.found && error[k] > 0.1 && r.roll_observable;
        if (given || all || error[k] > 0.025)
            print_message("    seed %d: tip %.1f um, roll %.2f degrees, cut met at %.0f; %.0f ms; %s\n", 100 + k,
                          error[k] * 1000, roll, sample.truth.bevel_incidence_deg, r.seconds * 1000, r.reason);
        atn_needle_sample_free(&sample);
    }
    qsort(error, (size_t)poses, sizeof *error, compare);
    double middle = error[poses / 2], high = error[(int)(0.95 * (poses - 1) + 0.5)];
    print_message("    %d poses: median %.1f um, 95 %% within %.1f um, worst %.1f; %d of %d rolls off\n", poses,
                  middle * 1000, high * 1000, error[poses - 1] * 1000, wrong_rolls, visible);
    assert_true(middle < 0.01 && high < 0.025);
    assert_int_equal(wrong_rolls, 0);
    assert_int_equal(silent, 0);
    atn_needle_free(needle);
    atn_cloud_free(model);
    atn_device_close(device);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(poses_at_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
