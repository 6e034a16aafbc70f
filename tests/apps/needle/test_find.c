/* Needles found in B-scans: poses against the truth of samples, never a silent miss, and what has no needle, two, only
 * a part of one, or cannot be asked. */
#include "scankit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static atn_ctx *ctx;
static atn_device *device;
static atn_cloud *model;
static atn_needle *needle;

static atn_needle_result find(const atn_volume *volume) {
    atn_needle_result r = {0};
    kit_ok(ctx, atn_needle_find(needle, volume, NULL, NULL, &r));
    return r;
}

KIT_TEST(poses_are_found) {
    double worst = 0, worst_roll = 0;
    int told = 0;
    for (int form = 0; form < 6; ++form) {
        atn_needle_sample_settings s = scan_settings((uint64_t)form + 1);
        s.from_high = form == 1 || form == 5;
        s.missing = form == 2 ? 0.2 : 0;
        s.noise = form == 3 ? 2 : 1;
        s.no_tissue = form == 4;
        atn_needle_sample sample = scan_sample(ctx, &s);
        atn_needle_result r = find(sample.volume);
        double tip = scan_tip_error(&sample.truth, &r), roll = scan_roll_error(&sample.truth, &r), off = 0;
        if (!r.found || tip > 0.025) fail_msg("form %d: tip off by %.1f um; %s", form, tip * 1000, r.reason);
        if (sample.truth.bevel_visible && roll > 1) fail_msg("form %d: roll off by %.2f degrees", form, roll);
        for (int k = 0; k < 3; ++k) off = fmax(off, fabs(r.tip[k] - sample.truth.tip_scan[k]));
        assert_true(off < 0.06); /* the middle of the thin end is not its very point */
        assert_true(r.level > 30 && r.level < 200 && r.centres > 10 && r.surface > r.scan_points && r.n_rounds == 4);
        assert_true(r.free_share >= 0 && r.free_share < 0.02 && r.has_covariance);
        assert_true(r.segment_seconds > 0 && r.axis_seconds > 0 && r.seconds > r.match_seconds);
        told += r.roll_observable;
        worst = fmax(worst, tip);
        if (sample.truth.bevel_visible) worst_roll = fmax(worst_roll, roll);
        atn_needle_sample_free(&sample);
    }
    print_message("    tip within %.1f um, roll within %.2f degrees\n", worst * 1000, worst_roll);
    assert_true(told >= 5);
}

/* Whatever the roll: what is found is right, or its doubt is told. */
KIT_TEST(misses_are_told) {
    int found = 0;
    for (uint64_t seed = 20; seed < 28; ++seed) {
        atn_needle_sample_settings s = scan_settings(seed);
        s.roll_deg = 180;
        atn_needle_sample sample = scan_sample(ctx, &s);
        atn_needle_result r = find(sample.volume);
        double tip = scan_tip_error(&sample.truth, &r);
        found += r.found;
        if (r.found && tip > 0.1 && r.roll_observable)
            fail_msg("seed %d: tip off by %.3f, and nobody says so; %s", (int)seed, tip, r.reason);
        if (!r.found || !r.roll_observable) assert_true(*r.reason);
        print_message("    seed %d: cut met at %.0f degrees, tip off by %.1f um, roll by %.2f degrees; %s\n", (int)seed,
                      sample.truth.bevel_incidence_deg, tip * 1000, scan_roll_error(&sample.truth, &r), r.reason);
        if (sample.truth.bevel_incidence_deg < 70 &&
            !(r.found && tip < 0.025 && scan_roll_error(&sample.truth, &r) < 1))
            fail_msg("seed %d: seen well, off by %.3f: %s", (int)seed, tip, r.reason);
        atn_needle_sample_free(&sample);
    }
    assert_true(found >= 4);
}

KIT_TEST(a_start_stands_for_the_search) {
    atn_needle_sample_settings s = scan_settings(3);
    atn_needle_sample sample = scan_sample(ctx, &s);
    atn_needle_match_settings settings = {.has_start = true, .track = true};
    atn_needle_result r = {0};
    memcpy(settings.start, sample.truth.transform, sizeof settings.start);
    settings.start[3] += 0.01;
    settings.start[11] -= 0.03;
    kit_ok(ctx, atn_needle_find(needle, sample.volume, NULL, &settings, &r));
    assert_true(r.found && r.centres == 0 && r.n_rounds == 3 && scan_tip_error(&sample.truth, &r) < 0.025);
    settings.start[7] -= 1.5; /* nothing is there */
    kit_ok(ctx, atn_needle_find(needle, sample.volume, NULL, &settings, &r));
    assert_true(!r.found && *r.reason);
    atn_needle_sample_free(&sample);
}

/* ---- bad cases ---- */

KIT_TEST(no_needle) {
    for (uint64_t seed = 1; seed < 4; ++seed) {
        atn_needle_sample_settings s = scan_settings(seed);
        s.no_needle = true;
        s.shape[0] = 48;
        atn_needle_sample sample = scan_sample(ctx, &s);
        assert_false(sample.truth.tip_in_scan);
        atn_needle_result r = find(sample.volume);
        assert_false(r.found);
        kit_contains(r.reason, "no needle is in the scans");
        atn_needle_sample_free(&sample);
    }
}

KIT_TEST(two_needles) {
    static const uint64_t PAIRS[][2] = {{1, 6}, {2, 4}, {5, 7}};
    int told = 0;
    for (size_t k = 0; k < sizeof PAIRS / sizeof *PAIRS; ++k) {
        atn_needle_sample sample[2];
        for (int which = 0; which < 2; ++which) {
            atn_needle_sample_settings s = scan_settings(PAIRS[k][which]);
            s.no_tissue = true;
            sample[which] = scan_sample(ctx, &s);
        }
        atn_volume *both = scan_both(ctx, &sample[0], &sample[1]);
        atn_needle_result r = find(both);
        double near = fmin(scan_tip_error(&sample[0].truth, &r), scan_tip_error(&sample[1].truth, &r));
        double apart = fabs(sample[0].truth.tip_scan[0] - sample[1].truth.tip_scan[0]);
        print_message("    %.2f apart: %s, tip off by %.1f um; %s\n", apart, r.found ? "found" : "not found",
                      near * 1000, r.reason);
        if (r.found && near > 0.025) fail_msg("neither of the two: off by %.3f", near);
        told += strstr(r.reason, "another needle") != NULL;
        atn_volume_free(both);
        for (int which = 0; which < 2; ++which) atn_needle_sample_free(&sample[which]);
    }
    assert_int_equal(told, sizeof PAIRS / sizeof *PAIRS);
}

/* Scans from behind the cut on, within the cut, and columns that leave the tip out. */
KIT_TEST(the_tip_is_outside) {
    for (int high = 0; high < 2; ++high) {
        atn_needle_sample_settings s = scan_settings(high ? 2 : 1);
        s.from_high = high;
        atn_needle_sample sample = scan_sample(ctx, &s);
        int64_t tip = (int64_t)(sample.truth.tip_scan[2] / sample.truth.spacing[2]);
        int64_t behind = (int64_t)((sample.truth.bevel_length + 0.2) / sample.truth.spacing[2]);
        for (int form = 0; form < 2; ++form) {
            int64_t off = form ? behind / 2 : behind, first = high ? 0 : tip + off;
            int64_t count = high ? tip - off : s.shape[0] - first;
            if (count < 8) continue;
            atn_volume *cut = scan_cut(ctx, &sample, first, count, 0);
            atn_needle_result r = find(cut);
            if (r.found) fail_msg("form %d: found with the tip outside; %s", form, r.reason);
            assert_true(*r.reason);
            if (form == 0) kit_contains(r.reason, "the tip is outside the scans");
            atn_volume_free(cut);
        }
        atn_needle_sample_free(&sample);
    }
}

KIT_TEST(volumes_without_anything) {
    static const int64_t SHAPE[3] = {12, 200, 100}, ONE[3] = {1, 200, 100}, POINT[3] = {1, 1, 1};
    static const double SPACING[3] = {0.027, 0.012, 0.25};
    unsigned char *data = calloc(12 * 200 * 100, 1);
    for (int form = 0; form < 6; ++form) {
        const int64_t *shape = form == 2 || form == 3 ? ONE : form == 5 ? POINT : SHAPE;
        uint64_t seed = 9;
        atn_volume *volume;
        for (size_t k = 0; k < 12 * 200 * 100; ++k)
            data[k] = (unsigned char)(form % 2 ? 255 : form == 4 ? kit_random(&seed) % 256 : 0);
        kit_ok(ctx, atn_volume_create(ctx, shape, 8, data, SPACING, &volume));
        atn_needle_result r = {0};
        atn_status status = atn_needle_find(needle, volume, NULL, NULL, &r);
        if (status != ATN_ERR_INPUT) { /* a single pixel is narrower than the needle by far */
            kit_ok(ctx, status);
            if (r.found || !*r.reason) fail_msg("form %d: found %d: %s", form, r.found, r.reason);
        }
        atn_volume_free(volume);
    }
    free(data);
}

KIT_TEST(a_single_scan) {
    atn_needle_sample_settings s = scan_settings(1);
    atn_needle_sample sample = scan_sample(ctx, &s);
    atn_volume *one = scan_cut(ctx, &sample, 40, 1, 0);
    atn_needle_result r = find(one);
    assert_false(r.found);
    kit_contains(r.reason, "three scans at least");
    atn_volume_free(one);
    atn_needle_sample_free(&sample);
}

KIT_TEST(refusals) {
    static const int64_t SHAPE[3] = {8, 200, 100};
    static const double SPACING[3] = {0.027, 0.012, 0.25};
    static const struct {
        atn_needle_view view;
        atn_needle_match_settings settings;
        const char *part;
    } WRONG[] = {
        {.view = {.level = 1}, .part = "a level of 1; it must be between 0 and 1"},
        {.view = {.level = -0.1}, .part = "a level of -0.1"},
        {.view = {.level = NAN}, .part = "a level of"},
        {.view = {.spacing = {0.01, 0.01, 0}}, .part = "a spacing of 0"},
        {.view = {.spacing = {0.01, -1, 0.01}}, .part = "a spacing of -1"},
        {.view = {.spacing = {0.01, INFINITY, 0.01}}, .part = "a spacing of inf"},
        {.view = {.spacing = {27, 12, 250}}, .part = "another unit"},
        {.view = {.spacing = {27e-6, 12e-6, 250e-6}}, .part = "another unit"},
        {.view = {.least_pixels = -1}, .part = "not negative"},
        {.view = {.least_columns = -1}, .part = "not negative"},
        {.settings = {.roll_deg = {-5, 5, 0}}, .part = "roll's step of 0"},
        {.settings = {.shift = {0, 0.5, -0.05}}, .part = "shift's step of -0.05"},
        {.settings = {.shift = {0.5, 0, 0.05}}, .part = "is empty"},
        {.settings = {.rounds = 17}, .part = "rounds"},
        {.settings = {.has_start = true, .start = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2}}, .part = "not rigid"},
    };
    atn_volume *volume, *unknown;
    atn_needle_result r = {0};
    kit_ok(ctx, atn_volume_create(ctx, SHAPE, 8, NULL, SPACING, &volume));
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; ++k)
        kit_fails(ctx, ATN_ERR_INPUT, WRONG[k].part,
                  atn_needle_find(needle, volume, &WRONG[k].view, &WRONG[k].settings, &r));
    kit_ok(ctx, atn_volume_create(ctx, SHAPE, 8, NULL, NULL, &unknown));
    kit_fails(ctx, ATN_ERR_INPUT, "spacing of the pixels is unknown", atn_needle_find(needle, unknown, NULL, NULL, &r));
    const double small[16] = {1e-3, 0, 0, 0, 0, 1e-3, 0, 0, 0, 0, 1e-3, 0, 0, 0, 0, 1};
    atn_cloud *metres;
    atn_needle *n;
    kit_ok(ctx, atn_cloud_moved(model, small, &metres));
    kit_ok(ctx, atn_needle_create(device, metres, &(atn_needle_settings){.threshold = 2e-5}, &n));
    kit_fails(ctx, ATN_ERR_INPUT, "metres instead of millimetres", atn_needle_find(n, volume, NULL, NULL, &r));
    atn_needle_free(n);
    atn_cloud_free(metres);
    atn_volume_free(unknown);
    atn_volume_free(volume);
}

/* ---- no memory ---- */

/* The whole way with the n-th allocation failing; true once there are fewer. */
static bool fail_at(long n, const char *cache, const atn_cloud *points, const int64_t shape[3], const void *pixels,
                    const double spacing[3]) {
    kit_faults faults = {.fail_at = n};
    atn_ctx_settings options = kit_fault_options(&faults);
    atn_ctx *own = NULL;
    atn_devices *devices = NULL;
    atn_device *host = NULL;
    atn_volume *volume = NULL;
    atn_needle *made = NULL;
    atn_needle_result r = {0};
    options.cache_dir = cache;
    atn_status status = atn_ctx_create(&options, &own);
    if (status == ATN_OK) status = atn_devices_find(own, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &host);
    if (status == ATN_OK) status = atn_volume_create(own, shape, 8, pixels, spacing, &volume);
    if (status == ATN_OK) status = atn_needle_create(host, points, &(atn_needle_settings){.threshold = 0.08}, &made);
    for (int frame = 0; frame < 2 && status == ATN_OK; ++frame)
        status = atn_needle_find(made, volume, NULL, &(atn_needle_match_settings){.rounds = 1}, &r);
    bool through = n == 0 || faults.count < n;
    if (through != (status == ATN_OK)) fail_msg("allocation %ld: %s", n, atn_status_name(status));
    if (through && (!r.n_rounds || !r.found)) fail_msg("not matched: %s", r.reason);
    atn_needle_free(made);
    atn_volume_free(volume);
    atn_device_close(host);
    atn_devices_free(devices);
    atn_ctx_free(own);
    if (faults.live != 0) fail_msg("allocation %ld failed: %ld blocks stay behind", n, (long)faults.live);
    if (n > 0 && through) print_message("    %ld allocations\n", (long)faults.count);
    return n > 0 && through;
}

KIT_TEST(allocations_fail) {
    atn_needle_sample_settings s = scan_settings(3);
    long stride = getenv("ATTUNE_TEST_ALL") ? 1 : 163;
    s.shape[0] = 24;
    s.shape[1] = 256;
    s.shape[2] = 96;
    atn_needle_sample sample = scan_sample(ctx, &s);
    char *cache = kit_tempdir();
    atn_cloud *few;
    kit_ok(ctx, atn_cloud_voxels(model, 0.08, &few));
    for (long n = 0; !fail_at(n, cache, few, s.shape, atn_volume_frame(sample.volume, 0), sample.truth.spacing);)
        n += n ? stride : 1 + kit_day() % stride;
    atn_cloud_free(few);
    kit_remove(cache);
    atn_needle_sample_free(&sample);
}

static int setup(void **state) {
    (void)state;
    atn_needle_sample_settings s = scan_settings(0);
    s.shape[0] = s.shape[1] = s.shape[2] = 8;
    ctx = kit_ctx();
    device = needle_device(ctx);
    atn_needle_sample sample = scan_sample(ctx, &s);
    model = scan_model(ctx, &sample);
    atn_needle_sample_free(&sample);
    kit_ok(ctx, atn_needle_create(device, model, NULL, &needle));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    atn_needle_free(needle);
    atn_cloud_free(model);
    atn_device_close(device);
    kit_free(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(poses_are_found),
                                       cmocka_unit_test(misses_are_told),
                                       cmocka_unit_test(a_start_stands_for_the_search),
                                       cmocka_unit_test(no_needle),
                                       cmocka_unit_test(two_needles),
                                       cmocka_unit_test(the_tip_is_outside),
                                       cmocka_unit_test(volumes_without_anything),
                                       cmocka_unit_test(a_single_scan),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(allocations_fail)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
