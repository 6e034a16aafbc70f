/* Covariances held against what really happens, on made pairs whose pose is known: e^T C^-1 e of how far answers are
 * off has a median of 5.35, and is hardly ever above 22. attune bench covariance measures the same over many more. */
#include "testkit.h"

#include "bench/covariance.h"

enum { PAIRS = 5, SEED = 301 };

typedef struct seen {
    int rows, counted, made, beyond;
    double medians; /* sum of the rows' */
} seen;

static bool visit(void *user, const atn_covariance_row *row) {
    seen *s = user;
    print_message("    %s, %s: median %.2f, largest %.2f, of %d\n", row->method, row->kind, row->median, row->most,
                  row->counted);
    ++s->rows;
    s->made += row->pairs;
    s->counted += row->counted;
    s->beyond += (int)(row->beyond * row->counted + 0.5);
    s->medians += row->median;
    return true;
}

/* Rows of one method over some kinds: how near the mean of their medians is to that of chi-square. */
static seen look_at(const char *method, const char *const *kinds, int32_t pairs) {
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    atn_device *device;
    int32_t index;
    seen s = {0};
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    kit_ok(ctx, atn_devices_pick(devices, "host", &index));
    kit_ok(ctx, atn_device_open(devices, index, &device));
    for (; *kinds; ++kinds) {
        atn_bench_covariance_options options = {
            .seed = SEED, .pairs = pairs, .method = method, .kind = *kinds, .visit = visit, .user = &s};
        kit_ok(ctx, atn_bench_covariance(ctx, device, &options));
    }
    atn_device_close(device);
    atn_devices_free(devices);
    kit_free(ctx);
    return s;
}

static seen look(const char *method, const char *const *kinds) { return look_at(method, kinds, PAIRS); }

/* Medians of five scatter: their mean over the kinds is from 3 to 9, a single one from 2, and one answer of all may be
 * beyond 22. */
static void comes_true(const char *method, const char *const *kinds, double most) {
    seen s = look(method, kinds);
    assert_true(s.rows > 0 && s.counted >= 0.8 * s.made);
    if (s.medians / s.rows < (s.rows > 1 ? 3 : 2) || s.medians / s.rows > most)
        fail_msg("%s: the mean of the medians is %.2f", method, s.medians / s.rows);
    assert_true(s.beyond <= 1);
}

KIT_TEST(em_icp_comes_true) {
    static const char *const KINDS[] = {"resampled, no noise", "resampled, noise 0.03", "partial views, no noise",
                                        "LiDAR in a room", NULL};
    comes_true("em-icp", KINDS, 9);
}

/* Borders draw one scan to the middle of the other, which no scatter tells. */
KIT_TEST(borders_pull) {
    static const char *const KINDS[] = {"range scans, no noise", NULL};
    comes_true("em-icp", KINDS, 8);
}

/* Errors that are alike over any distance: larger and larger cubes widen the covariance. */
KIT_TEST(scanners_bend) {
    static const char *const KINDS[] = {"bent", NULL};
    comes_true("gicp", KINDS, 9);
}

/* A sparse target pulls to the inside of what is round, everywhere alike, which is no scatter: it was 2.6. */
KIT_TEST(dense_on_sparse) {
    static const char *const KINDS[] = {"8 times as dense", NULL};
    seen s = look_at("em-icp", KINDS, 24);
    assert_int_equal(s.counted, 24);
    assert_true(s.medians > 3 && s.medians < 9 && s.beyond <= 1);
}

/* Points that correspond, noise aside: icp knows them better than surfaces do. */
KIT_TEST(copies_come_true) {
    static const char *const KINDS[] = {"copies", NULL};
    comes_true("icp", KINDS, 9);
}

KIT_TEST(withheld_in_thick_noise) {
    static const char *const KINDS[] = {"resampled, noise 0.05", NULL};
    assert_int_equal(look("gicp", KINDS).counted, 0);
}

/* Nearest points follow noise of a spacing: the polish knows how sure it is itself, not how sure others are. */
KIT_TEST(others_withheld_in_noise) {
    static const char *const KINDS[] = {"resampled, noise 0.03", NULL};
    assert_int_equal(look_at("icp-plane", KINDS, 2).counted, 0);
    assert_int_equal(look_at("em-icp", KINDS, 2).counted, 2);
}

KIT_TEST(other_methods_come_true) {
    static const char *const KINDS[] = {"resampled, noise 0.01", "LiDAR in a room", NULL};
    comes_true("icp-plane", KINDS, 9);
    comes_true("icp", KINDS, 9);
}

KIT_TEST(pairs_repeat) {
    atn_ctx *ctx = kit_ctx();
    for (int32_t kind = 0; atn_covariance_kind(kind); ++kind) {
        atn_covariance_pair a, b;
        kit_ok(ctx, atn_covariance_pair_make(ctx, kind, SEED, &a));
        kit_ok(ctx, atn_covariance_pair_make(ctx, kind, SEED, &b));
        assert_memory_equal(a.transform, b.transform, sizeof a.transform);
        size_t n = atn_cloud_info_of(a.source).points;
        assert_true(n > 500 && n == atn_cloud_info_of(b.source).points && a.spacing > 0);
        assert_memory_equal(atn_cloud_positions(a.source, 0), atn_cloud_positions(b.source, 0), n * sizeof(double));
        atn_covariance_pair_free(&a);
        atn_covariance_pair_free(&b);
    }
    kit_free(ctx);
}

KIT_TEST(what_there_is_not) {
    atn_ctx *ctx = kit_ctx();
    atn_bench_covariance_options options = {.pairs = 1, .method = "magic"};
    kit_fails(ctx, ATN_ERR_INPUT, "magic", atn_bench_covariance(ctx, NULL, &options));
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(em_icp_comes_true),
                                       cmocka_unit_test(borders_pull),
                                       cmocka_unit_test(other_methods_come_true),
                                       cmocka_unit_test(scanners_bend),
                                       cmocka_unit_test(copies_come_true),
                                       cmocka_unit_test(withheld_in_thick_noise),
                                       cmocka_unit_test(pairs_repeat),
                                       cmocka_unit_test(dense_on_sparse),
                                       cmocka_unit_test(others_withheld_in_noise),
                                       cmocka_unit_test(what_there_is_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
