/* The four forms of counting against plain loops in single precision with fused multiply-adds, number for number:
 * random clouds of many sizes, and points that stand within a rounding of the threshold. */
#include "needlekit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double THRESHOLD = 0.02;

static atn_ctx *ctx;
static atn_device *device;

static atn_cloud *cloud_of(size_t count, const double *position) {
    atn_cloud *out;
    kit_ok(ctx, atn_cloud_create(ctx, count, position, NULL, &out));
    return out;
}

static bool is_near(const atn_needle *n, const reg_pose *pose, size_t i, size_t j) {
    reg_pose back;
    double at[3];
    float a[9], b[3], p[3], q[3], d[3], threshold2 = (float)(n->options.threshold * n->options.threshold);
    assert_true(reg_pose_invert(pose, &back));
    reg_pose_apply(&back, n->scan_centre, at);
    for (int k = 0; k < 9; ++k) a[k] = (float)back.a[k];
    for (int k = 0; k < 3; ++k) {
        b[k] = (float)(at[k] - n->centre[k]);
        p[k] = (float)(n->scan.position[k][i] - n->scan_centre[k]);
    }
    for (int k = 0; k < 3; ++k) {
        q[k] = fmaf(a[3 * k], p[0], fmaf(a[3 * k + 1], p[1], fmaf(a[3 * k + 2], p[2], b[k])));
        d[k] = (float)(n->model.position[k][j] - n->centre[k]) - q[k];
    }
    return fmaf(d[0], d[0], fmaf(d[1], d[1], d[2] * d[2])) < threshold2;
}

static int32_t plain(const atn_needle *n, const reg_pose *pose) {
    bool model = n->options.count == ATN_NEEDLE_COUNT_MODEL;
    size_t rows = model ? n->model.count : n->scan.count, columns = model ? n->scan.count : n->model.count;
    int32_t count = 0;
    for (size_t r = 0; r < rows; ++r) {
        bool near = false;
        for (size_t c = 0; c < columns && !near; ++c) near = is_near(n, pose, model ? c : r, model ? r : c);
        count += near;
    }
    return count;
}

/* All forms at these poses. Returns how many matches there were. */
static int64_t hold(const atn_cloud *model, const atn_cloud *scan, const reg_pose *pose, int64_t poses,
                    double threshold) {
    int64_t matches = 0;
    for (int form = 0; form < 4; ++form) {
        atn_needle_options options = {
            .threshold = threshold, .edge = -1, .brute = form & 1, .count = (atn_needle_count)(form / 2)};
        atn_needle_settings settings = {
            .roll_deg = {0, 0, 1}, .shift = {0, 0, 1}, .rounds = 1, .no_refine = true, .least = 1};
        atn_needle_result result;
        atn_needle *n;
        const int32_t *count;
        kit_ok(ctx, atn_needle_create(device, model, &options, &n));
        kit_ok(ctx, atn_needle_match(n, scan, &settings, &result)); /* takes the scan in */
        kit_ok(ctx, needle_engine_room(n, poses));
        memcpy(n->pose, pose, (size_t)poses * sizeof *pose);
        kit_ok(ctx, needle_engine_count(n, poses, &count));
        for (int64_t k = 0; k < poses; ++k) {
            assert_int_equal(count[k], plain(n, &pose[k]));
            matches += count[k];
        }
        atn_needle_free(n);
    }
    return matches;
}

static reg_pose small_pose(uint64_t *seed, double turn, double way) {
    double twist[6];
    for (int k = 0; k < 6; ++k) twist[k] = (2 * kit_uniform(seed) - 1) * (k < 3 ? turn : way);
    return reg_pose_exp(twist);
}

static void random_clouds(void **state) {
    (void)state;
    static const size_t SIZES[][2] = {{1, 1}, {1, 50}, {50, 1}, {130, 90}, {400, 128}, {37, 300}};
    uint64_t seed = 7;
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; ++k) {
        double position[2][3 * 400];
        reg_pose pose[9];
        for (int side = 0; side < 2; ++side)
            for (size_t n = 0; n < 3 * SIZES[k][side]; ++n) position[side][n] = 0.2 * kit_uniform(&seed) + 3 * side;
        for (int n = 0; n < 9; ++n) {
            pose[n] = small_pose(&seed, 0.02, 0.02);
            for (int axis = 0; axis < 3; ++axis) pose[n].b[axis] += 3;
        }
        atn_cloud *model = cloud_of(SIZES[k][0], position[0]), *scan = cloud_of(SIZES[k][1], position[1]);
        int64_t matches = hold(model, scan, pose, 9, THRESHOLD);
        if (SIZES[k][0] * SIZES[k][1] > 10000) assert_true(matches > 0);
        matches = hold(model, scan, pose, 3, 0.3); /* a threshold as large as the model */
        if (SIZES[k][0] > 1) assert_true(matches > 0);
        atn_cloud_free(scan);
        atn_cloud_free(model);
    }
}

/* Scan points a few roundings around the threshold away from a model point, in any direction: some count, some do not.
 */
static void at_the_threshold(void **state) {
    (void)state;
    enum { POINTS = 300 };
    uint64_t seed = 3;
    double model[3 * POINTS], scan[3 * POINTS];
    for (int k = 0; k < POINTS; ++k) {
        double direction[3], length = 0;
        for (int axis = 0; axis < 3; ++axis) {
            model[3 * k + axis] = (double)(float)(2 * kit_uniform(&seed));
            direction[axis] = 2 * kit_uniform(&seed) - 1;
            length += direction[axis] * direction[axis];
        }
        if (k % 7 == 0) direction[0] = sqrt(length), direction[1] = direction[2] = 0; /* along an axis */
        double roundings = (double)(k % 9) - 4;
        for (int axis = 0; axis < 3; ++axis)
            scan[3 * k + axis] =
                model[3 * k + axis] + THRESHOLD * (1 + roundings * 0x1p-22) * direction[axis] / sqrt(length);
    }
    reg_pose pose[5] = {REG_IDENTITY};
    for (int k = 1; k < 5; ++k) pose[k] = small_pose(&seed, 1e-6, 1e-7);
    atn_cloud *m = cloud_of(POINTS, model), *s = cloud_of(POINTS, scan);
    int64_t matches = hold(m, s, pose, 5, THRESHOLD);
    assert_true(matches > 4 * 5 * POINTS / 10 && matches < 4 * 5 * POINTS * 9 / 10);
    atn_cloud_free(m);
    atn_cloud_free(s);
}

/* A distance of exactly 0 counts; the threshold itself does not. */
static void zero_and_threshold(void **state) {
    (void)state;
    const double model[6] = {0, 0, 0, 8, 0, 0}, scan[9] = {0, 0, 0, 8, 2, 0, 4, 0, 0};
    atn_cloud *m = cloud_of(2, model), *s = cloud_of(3, scan);
    assert_int_equal(hold(m, s, &REG_IDENTITY, 1, 2), 4);
    assert_int_equal(hold(m, s, &REG_IDENTITY, 1, 2.5), 8);
    atn_cloud_free(m);
    atn_cloud_free(s);
}

/* What the volume is made of: inside, mixed, and outside for most. */
static void voxels(void **state) {
    (void)state;
    bevel b = {.radius = 0.2, .length = 1, .angle_deg = 20};
    double position[3 * 1000];
    float *axis[3];
    needle_volume v, full;
    kit_ok(ctx, bevel_points(ctx, &b, 1000, -2, 5, position));
    for (int k = 0; k < 3; ++k) {
        axis[k] = malloc(1000 * sizeof **axis);
        for (int n = 0; n < 1000; ++n) axis[k][n] = (float)position[3 * n + k];
    }
    const float *const read[3] = {axis[0], axis[1], axis[2]};
    kit_ok(ctx, needle_volume_make(ctx, 1000, read, 0.03, 0.015, false, &v));
    kit_ok(ctx, needle_volume_make(ctx, 1000, read, 0.03, 0.015, true, &full));
    int64_t all = (int64_t)v.size[0] * v.size[1] * v.size[2];
    assert_true(v.inside > 1000 && v.mixed > 1000 && v.inside + v.mixed < all / 2);
    assert_true(v.candidates < full.candidates && v.candidates < 3 * (v.inside + v.mixed));
    needle_volume_free(&v);
    needle_volume_free(&full);
    for (int k = 0; k < 3; ++k) free(axis[k]);
}

static int setup(void **state) {
    (void)state;
    ctx = kit_ctx();
    device = needle_device(ctx);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    atn_device_close(device);
    kit_free(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_clouds), cmocka_unit_test(at_the_threshold),
                                       cmocka_unit_test(zero_and_threshold), cmocka_unit_test(voxels)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
