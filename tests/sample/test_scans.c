/* The synthetic scans: the truth puts the source onto the target, as far as they overlap; seeds repeat. */
#include "testkit.h"

#include "sample/scans.h"

#include <math.h>
#include <string.h>

static const atn_scans_settings USUAL = {.size = 3000, .noise = 0.002, .overlap = 0.65, .turn_deg = -1};

static atn_scans make(atn_ctx *ctx, atn_scans_settings settings) {
    atn_scans scans;
    kit_ok(ctx, atn_scans_make(ctx, &settings, NULL, NULL, &scans));
    assert_int_equal(atn_cloud_info_of(scans.source).points, settings.size);
    assert_int_equal(atn_cloud_info_of(scans.target).points, settings.size);
    return scans;
}

/* Share of the source's points, moved by the truth, that have one of the target nearer than `reach`. */
static double near_share(const atn_scans *scans, size_t n, double reach) {
    const double *t = scans->transform, *s[3], *x[3];
    size_t near = 0;
    for (int d = 0; d < 3; ++d) {
        s[d] = atn_cloud_positions(scans->source, d);
        x[d] = atn_cloud_positions(scans->target, d);
    }
    for (size_t i = 0; i < n; ++i) {
        double p[3], least = INFINITY;
        for (int d = 0; d < 3; ++d)
            p[d] = t[4 * d] * s[0][i] + t[4 * d + 1] * s[1][i] + t[4 * d + 2] * s[2][i] + t[4 * d + 3];
        for (size_t j = 0; j < n; ++j) {
            double a = p[0] - x[0][j], b = p[1] - x[1][j], c = p[2] - x[2][j];
            least = fmin(least, a * a + b * b + c * c);
        }
        near += least < reach * reach;
    }
    return (double)near / (double)n;
}

KIT_TEST(the_truth_is_true) {
    atn_ctx *ctx = kit_ctx();
    for (uint64_t seed = 0; seed < 4; ++seed) {
        atn_scans_settings settings = USUAL;
        settings.seed = seed;
        settings.overlap = 0.5 + 0.1 * (double)seed;
        atn_scans scans = make(ctx, settings);
        assert_true(fabs(scans.overlap - settings.overlap) < 0.03);
        double share = near_share(&scans, settings.size, 0.08); /* about twice the spacing */
        if (fabs(share - scans.overlap) > 0.08) fail_msg("seed %d: %g near, %g said", (int)seed, share, scans.overlap);
        atn_scans_free(&scans);
    }
    kit_free(ctx);
}

KIT_TEST(seeds_repeat) {
    atn_ctx *ctx = kit_ctx();
    atn_scans_settings settings = USUAL;
    settings.size = 500;
    atn_scans a = make(ctx, settings), b = make(ctx, settings);
    settings.seed = 1;
    atn_scans c = make(ctx, settings);
    size_t bytes = settings.size * sizeof(double);
    for (int d = 0; d < 3; ++d) {
        assert_memory_equal(atn_cloud_positions(a.source, d), atn_cloud_positions(b.source, d), bytes);
        assert_memory_equal(atn_cloud_positions(a.target, d), atn_cloud_positions(b.target, d), bytes);
        assert_memory_not_equal(atn_cloud_positions(a.source, d), atn_cloud_positions(c.source, d), bytes);
    }
    assert_memory_equal(a.transform, b.transform, sizeof a.transform);
    atn_scans_free(&a);
    atn_scans_free(&b);
    atn_scans_free(&c);
    kit_free(ctx);
}

KIT_TEST(turns_are_as_asked) {
    static const double TURNS[] = {0, 0.5, 30, 90, 180};
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof TURNS / sizeof *TURNS; ++k) {
        atn_scans_settings settings = USUAL;
        settings.size = 1;
        settings.turn_deg = TURNS[k];
        atn_scans scans = make(ctx, settings);
        const double *t = scans.transform;
        double cosine = cos(TURNS[k] * acos(-1) / 180);
        assert_true(fabs(t[0] + t[5] + t[10] - 1 - 2 * cosine) < 1e-12);
        double determinant = t[0] * (t[5] * t[10] - t[6] * t[9]) - t[1] * (t[4] * t[10] - t[6] * t[8]) +
                             t[2] * (t[4] * t[9] - t[5] * t[8]);
        assert_true(fabs(determinant - 1) < 1e-12);
        atn_scans_free(&scans);
    }
    kit_free(ctx);
}

KIT_TEST(no_memory_is_told) {
    for (long n = 2; n < 12; ++n) {
        kit_faults faults = {.fail_at = n};
        atn_ctx_settings options = kit_fault_options(&faults);
        atn_ctx *ctx;
        assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
        atn_scans_settings settings = USUAL;
        settings.size = 10;
        atn_scans scans;
        atn_status status = atn_scans_make(ctx, &settings, NULL, NULL, &scans);
        assert_true(status == ATN_ERR_MEMORY || (status == ATN_OK && atomic_load(&faults.count) < n));
        atn_scans_free(&scans);
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_truth_is_true), cmocka_unit_test(seeds_repeat),
                                       cmocka_unit_test(turns_are_as_asked), cmocka_unit_test(no_memory_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
