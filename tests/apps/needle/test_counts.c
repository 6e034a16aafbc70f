/* The four forms of counting against plain loops in single precision with fused multiply-adds, number for number:
 * random clouds of many sizes, and points that stand within a rounding of the threshold. */
#include "needlekit.h"
#include "support/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 33 }; /* more than vectors have lanes; few other numbers, as each has kernels to compile */
static const double THRESHOLD = 0.02;

SHARED_DEVICE(needle_device);

static atn_cloud *cloud_of(size_t count, const double *position) {
    atn_cloud *out;
    kit_ok(ctx, atn_cloud_create(ctx, count, position, NULL, &out));
    return out;
}

/* The scan as a pose brings it to the model; x y z after x y z. */
static float *mapped(const atn_needle *n, const geom_pose *pose) {
    size_t points = (size_t)n->scan_points;
    float *q = malloc(3 * points * sizeof *q), *scan = needle_points_taken(ctx, n), a[9], b[3], p[3];
    geom_pose back;
    double at[3];
    assert_true(geom_pose_invert(pose, &back));
    geom_pose_apply(&back, n->scan_centre, at);
    for (int k = 0; k < 9; ++k) a[k] = (float)back.a[k];
    for (int k = 0; k < 3; ++k) b[k] = (float)(at[k] - n->centre[k]);
    for (size_t i = 0; i < points; ++i) {
        for (int k = 0; k < 3; ++k) p[k] = scan[(size_t)k * points + i];
        for (int k = 0; k < 3; ++k)
            q[3 * i + (size_t)k] = fmaf(a[3 * k], p[0], fmaf(a[3 * k + 1], p[1], fmaf(a[3 * k + 2], p[2], b[k])));
    }
    free(scan);
    return q;
}

static int32_t plain(const atn_needle *n, const geom_pose *pose) {
    bool model = n->options.count == ATN_NEEDLE_COUNT_MODEL;
    size_t points = (size_t)n->scan_points;
    size_t rows = model ? n->model.count : points, columns = model ? points : n->model.count;
    float *q = mapped(n, pose), *m = calloc(3 * n->model.count, sizeof *m);
    float threshold2 = (float)(n->options.threshold * n->options.threshold);
    int32_t count = 0;
    for (size_t k = 0; k < 3 * n->model.count; ++k) m[k] = (float)(n->model.position[k % 3][k / 3] - n->centre[k % 3]);
    for (size_t r = 0; r < rows; ++r) {
        bool near = false;
        for (size_t c = 0; c < columns && !near; ++c) {
            const float *from = q + 3 * (model ? c : r), *to = m + 3 * (model ? r : c);
            float dx = to[0] - from[0], dy = to[1] - from[1], dz = to[2] - from[2];
            near = fmaf(dz, dz, fmaf(dy, dy, dx * dx)) < threshold2; /* kernels see z, y, x */
        }
        count += near;
    }
    free(q);
    free(m);
    return count;
}

/* All forms at these poses. Returns how many matches there were. */
static int64_t hold(const atn_cloud *model, const atn_cloud *scan, const geom_pose *pose, int64_t poses,
                    double threshold) {
    int64_t matches = 0;
    for (int form = 0; form < 4; ++form) {
        atn_needle_settings options = {
            .threshold = threshold, .edge = -1, .brute = form & 1, .count = (atn_needle_count)(form / 2)};
        atn_needle_match_settings settings = {
            .roll_deg = {0, 0, 1}, .shift = {0, 0, 1}, .rounds = 1, .no_refine = true, .least = 1};
        atn_needle_result result = {0};
        atn_needle *n;
        const int32_t *count;
        kit_ok(ctx, atn_needle_create(device, model, &options, &n));
        kit_ok(ctx, atn_needle_match(n, scan, &settings, &result)); /* takes the scan in */
        kit_ok(ctx, needle_engine_room(n, poses));
        memcpy(n->pose, pose, (size_t)poses * sizeof *pose);
        kit_ok(ctx, needle_engine_count(n, poses, NEEDLE_ALL, &count));
        for (int64_t k = 0; k < poses; ++k) {
            assert_int_equal(count[k], plain(n, &pose[k]));
            matches += count[k];
        }
        atn_needle_free(n);
    }
    return matches;
}

static geom_pose small_pose(uint64_t *seed, double turn, double way) {
    double twist[6];
    for (int k = 0; k < 6; ++k) twist[k] = (2 * kit_uniform(seed) - 1) * (k < 3 ? turn : way);
    return geom_pose_exp(twist);
}

KIT_TEST(random_clouds) {
    static const size_t SIZES[][2] = {{1, 1}, {1, 50}, {50, 1}, {130, 90}, {400, 128}, {37, 300}};
    uint64_t seed = 7;
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; ++k) {
        double position[2][3 * 400];
        geom_pose pose[POSES];
        for (int side = 0; side < 2; ++side)
            for (size_t n = 0; n < 3 * SIZES[k][side]; ++n) position[side][n] = 0.2 * kit_uniform(&seed) + 3 * side;
        for (int n = 0; n < POSES; ++n) {
            pose[n] = small_pose(&seed, 0.02, 0.02);
            for (int axis = 0; axis < 3; ++axis) pose[n].b[axis] += 3;
        }
        atn_cloud *model = cloud_of(SIZES[k][0], position[0]), *scan = cloud_of(SIZES[k][1], position[1]);
        int64_t matches = hold(model, scan, pose, POSES, THRESHOLD);
        if (SIZES[k][0] * SIZES[k][1] > 10000) assert_true(matches > 0);
        matches = hold(model, scan, pose, POSES, 0.3); /* a threshold as large as the model */
        if (SIZES[k][0] > 1) assert_true(matches > 0);
        atn_cloud_free(scan);
        atn_cloud_free(model);
    }
}

/* Scan points a few roundings around the threshold away from a model point, in any direction: some count, some do not.
 */
KIT_TEST(at_the_threshold) {
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
    geom_pose pose[POSES] = {GEOM_IDENTITY};
    for (int k = 1; k < POSES; ++k) pose[k] = small_pose(&seed, 1e-6, 1e-7);
    atn_cloud *m = cloud_of(POINTS, model), *s = cloud_of(POINTS, scan);
    int64_t matches = hold(m, s, pose, POSES, THRESHOLD);
    assert_true(matches > 4 * POSES * POINTS / 10 && matches < 4 * POSES * POINTS * 9 / 10);
    atn_cloud_free(m);
    atn_cloud_free(s);
}

/* A distance of exactly 0 counts; the threshold itself does not. */
KIT_TEST(zero_and_threshold) {
    const double model[6] = {0, 0, 0, 8, 0, 0}, scan[9] = {0, 0, 0, 8, 2, 0, 4, 0, 0};
    atn_cloud *m = cloud_of(2, model), *s = cloud_of(3, scan);
    assert_int_equal(hold(m, s, &GEOM_IDENTITY, 1, 2), 4);
    assert_int_equal(hold(m, s, &GEOM_IDENTITY, 1, 2.5), 8);
    atn_cloud_free(m);
    atn_cloud_free(s);
}

/* The published sizes with thresholds to match, at poses about the truth: more than vectors have lanes where that is
 * quick. */
KIT_TEST(published_sizes) {
    static const struct {
        size_t scan, model;
        double threshold;
        int64_t poses;
    } SIZES[] = {{462, 283, 0.05, POSES},
                 {557, 428, 0.04, POSES},
                 {1159, 716, 0.03, POSES},
                 {2289, 1225, 0.02, POSES},
                 {9037, 2037, 0.01, 1}};
    const bevel parts[2] = {{.radius = 0.155, .length = 2, .angle_deg = 20},
                            {.radius = 0.155, .length = 0.5, .angle_deg = 20}};
    uint64_t seed = 11;
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; ++k) {
        double *scan = malloc(3 * SIZES[k].scan * sizeof *scan), *model = malloc(3 * SIZES[k].model * sizeof *model);
        geom_pose pose[POSES];
        kit_ok(ctx, bevel_points(ctx, &parts[0], SIZES[k].scan, -0.05, 3, scan));
        kit_ok(ctx, bevel_points(ctx, &parts[1], SIZES[k].model, -2, 4, model));
        for (int64_t n = 0; n < SIZES[k].poses; ++n) pose[n] = small_pose(&seed, 0.1, 0.02);
        atn_cloud *s = cloud_of(SIZES[k].scan, scan), *m = cloud_of(SIZES[k].model, model);
        assert_true(hold(m, s, pose, SIZES[k].poses, SIZES[k].threshold) > 0);
        atn_cloud_free(s);
        atn_cloud_free(m);
        free(scan);
        free(model);
    }
}

static float distance2(const float *const model[3], size_t point, const float place[3]) {
    float dx = model[0][point] - place[0], dy = model[1][point] - place[1], dz = model[2][point] - place[2];
    return fmaf(dx, dx, fmaf(dy, dy, dz * dz));
}

/* What voxels of this edge say of places is true: at random, and within a rounding of a border between two. */
static void hold_volume(size_t count, const float *const model[3], double threshold, double edge, needle_lists lists) {
    needle_volume v;
    uint64_t seed = 5;
    float threshold2 = (float)(threshold * threshold), per = (float)(1 / edge);
    kit_ok(ctx, needle_volume_make(ctx, count, model, threshold, edge, lists, &v));
    assert_true(v.edge == edge && v.inside + v.mixed > 0 &&
                (lists != NEEDLE_LISTS_DECIDING ? v.inside == 0 : v.inside > 0 || edge > threshold / 2));
    for (int n = 0; n < 20000; ++n) {
        float place[3];
        int64_t at[3];
        for (int axis = 0; axis < 3; ++axis) {
            double voxel = kit_uniform(&seed) * (v.size[axis] - 1);
            if (n % 4 == 0) voxel = floor(voxel) + (n / 4 % 3 - 1) * 1e-6;
            place[axis] = (float)(v.low[axis] + fmax(voxel, 0) * edge);
            at[axis] = (int64_t)fmaxf((place[axis] - (float)v.low[axis]) * per, 0);
        }
        int32_t list = v.list[(at[2] * v.size[1] + at[1]) * v.size[0] + at[0]];
        bool near = false, said = list == NEEDLE_INSIDE;
        int32_t nearby = 0, listed = 0;
        float nearest2 = INFINITY, least2 = INFINITY;
        for (size_t k = 0; k < count; ++k) {
            nearby += distance2(model, k, place) < threshold2;
            nearest2 = fminf(nearest2, distance2(model, k, place));
        }
        for (int32_t k = v.start[list]; k < v.start[list + 1]; ++k) {
            listed += distance2(model, (size_t)v.index[k], place) < threshold2;
            least2 = fminf(least2, distance2(model, (size_t)v.index[k], place));
        }
        near = nearby > 0;
        said = said || listed > 0;
        assert_int_equal(near, said);
        if (lists == NEEDLE_LISTS_ALL) assert_int_equal(nearby, listed);
        if (lists == NEEDLE_LISTS_NEAREST && near) assert_true(least2 == nearest2);
    }
    needle_volume_free(&v);
}

/* What the volume is made of: inside, mixed, and outside for most. */
KIT_TEST(voxels) {
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
    kit_ok(ctx, needle_volume_make(ctx, 1000, read, 0.03, 0.015, NEEDLE_LISTS_DECIDING, &v));
    kit_ok(ctx, needle_volume_make(ctx, 1000, read, 0.03, 0.015, NEEDLE_LISTS_ALL, &full));
    for (int k = 1; k <= 8; k *= 2) {
        hold_volume(300, read, 0.03, 0.03 / k, NEEDLE_LISTS_DECIDING);
        hold_volume(300, read, 0.03, 0.03 / k, NEEDLE_LISTS_NEAREST);
        hold_volume(300, read, 0.03, 0.03 / k, NEEDLE_LISTS_ALL);
    }
    int64_t all = (int64_t)v.size[0] * v.size[1] * v.size[2];
    assert_true(v.inside > 1000 && v.mixed > 1000 && v.inside + v.mixed < all / 2);
    assert_true(v.candidates < full.candidates && v.lists <= v.mixed + NEEDLE_MIXED && v.candidates < 3 * v.mixed);
    needle_volume_free(&v);
    needle_volume_free(&full);
    for (int k = 0; k < 3; ++k) free(axis[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_clouds), cmocka_unit_test(at_the_threshold),
                                       cmocka_unit_test(zero_and_threshold), cmocka_unit_test(published_sizes),
                                       cmocka_unit_test(voxels)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
