/* Pairs of things: the same points from the same seed, the truth undone, every kind and pair of it. */
#include "testkit.h"

#include "sample/things.h"

#include <math.h>

static double extent(const atn_cloud *cloud) {
    double most = 0;
    size_t n = atn_cloud_info_of(cloud).points;
    for (int a = 0; a < 3; ++a) {
        const double *x = atn_cloud_positions(cloud, a);
        double low = x[0], high = x[0];
        for (size_t k = 0; k < n; ++k) {
            assert_true(isfinite(x[k]));
            low = fmin(low, x[k]);
            high = fmax(high, x[k]);
        }
        most = fmax(most, high - low);
    }
    return most;
}

KIT_TEST(every_kind) {
    atn_ctx *ctx = kit_ctx();
    for (int kind = 0; kind < THING_KINDS; ++kind)
        for (int pair = THING_SAME; pair <= THING_BOX; ++pair) {
            thing_settings s = {.kind = (thing_kind)kind,
                                .pair = (thing_pair_kind)pair,
                                .source = 400,
                                .target = 400,
                                .overlap = 0.6,
                                .noise = 0.1,
                                .outliers = 0.2,
                                .seed = 9};
            thing_pair once, again;
            kit_ok(ctx, thing_pair_make(ctx, &s, &once));
            kit_ok(ctx, thing_pair_make(ctx, &s, &again));
            for (int a = 0; a < 3; ++a) {
                assert_memory_equal(atn_cloud_positions(once.source, a), atn_cloud_positions(again.source, a),
                                    400 * sizeof(double));
                assert_memory_equal(atn_cloud_positions(once.target, a), atn_cloud_positions(again.target, a),
                                    400 * sizeof(double));
            }
            assert_true(extent(once.source) > 0.5 && extent(once.source) < 12 && once.spacing > 0);
            thing_pair_free(&once);
            thing_pair_free(&again);
        }
    kit_free(ctx);
}

/* T source lies on the cube: one coordinate is 0.6, the others less. */
KIT_TEST(the_truth_is_undone) {
    atn_ctx *ctx = kit_ctx();
    thing_settings s = {.kind = THING_CUBE, .source = 300, .target = 300, .overlap = 1, .seed = 2};
    thing_pair pair;
    kit_ok(ctx, thing_pair_make(ctx, &s, &pair));
    for (size_t k = 0; k < 300; ++k) {
        double most = 0;
        for (int a = 0; a < 3; ++a) {
            double x = pair.transform[4 * a + 3];
            for (int b = 0; b < 3; ++b) x += pair.transform[4 * a + b] * atn_cloud_positions(pair.source, b)[k];
            most = fmax(most, fabs(x));
        }
        assert_true(fabs(most - 0.6) < 1e-9);
    }
    thing_pair_free(&pair);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind), cmocka_unit_test(the_truth_is_undone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
