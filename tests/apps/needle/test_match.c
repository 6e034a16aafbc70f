/* Needles found: poses against the truth, what is not found or not told by the scan, tracking, and what is refused. */
#include "needlekit.h"

#include "geom/eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const bevel NEEDLE = {.radius = 0.25, .length = 2.5, .angle_deg = 20}, ROD = {0.25, 2.5, 0, true};
static const double NOISE = 0.003;
enum { MODEL_POINTS = 60000, SCAN_POINTS = 6000 };

static atn_ctx *ctx;
static atn_device *device;
static atn_cloud *model;
static atn_needle *needle;

/* The truth, and a start that is off as an axis fit leaves it: tilted a little, shifted back, rolled. */
typedef struct scene {
    geom_pose truth, start;
    atn_cloud *scan;
} scene;

static scene scene_make(uint64_t seed, const bevel *b) {
    atn_random random;
    scene s;
    double at[3];
    atn_random_seed(&random, seed);
    double tx = 0.3 * atn_random_unit(&random), ty = 0.3 * atn_random_unit(&random) - 0.15;
    double roll = 180 * atn_random_unit(&random); /* the cut is seen, more or less, from above */
    for (int k = 0; k < 3; ++k) at[k] = 1 + atn_random_unit(&random);
    s.truth = needle_lay(tx, ty, roll, at);
    double shift = 0.5 * atn_random_unit(&random);
    at[0] -= shift * tx, at[1] -= shift * ty, at[2] -= shift;
    s.start = needle_lay(tx + 0.004 * atn_random_normal(&random), ty + 0.004 * atn_random_normal(&random),
                         roll + 8 * atn_random_unit(&random) - 4, at);
    s.scan = needle_scan(ctx, b, SCAN_POINTS, &s.truth, NOISE, seed + 100);
    return s;
}

static double tip_error(const geom_pose *a, const geom_pose *b) {
    const double tip[3] = {-0.25, 0, 0};
    double p[3], q[3];
    geom_pose_apply(a, tip, p);
    geom_pose_apply(b, tip, q);
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
}

static double roll_error(const geom_pose *a, const geom_pose *b) {
    geom_pose back, step;
    double twist[6];
    assert_true(geom_pose_invert(a, &back));
    step = geom_pose_compose(&back, b); /* in the model's frame z is the roll */
    geom_pose_log(&step, twist);
    return fabs(twist[2]) * 180 / 3.14159265358979323846;
}

KIT_TEST(poses_are_found) {
    enum { POSES = 12 };
    double squares = 0, worst = 0, worst_roll = 0;
    for (int k = 0; k < POSES; ++k) {
        scene s = scene_make((uint64_t)k, &NEEDLE);
        atn_needle_match_settings settings = {.has_start = true};
        atn_needle_result r = {0};
        double twist[6], inverse[36], normalised = 0;
        needle_put(&s.start, settings.start);
        kit_ok(ctx, atn_needle_match(needle, s.scan, &settings, &r));
        geom_pose pose = needle_get(r.transform), back;
        assert_true(r.found && r.n_rounds == 4 && r.round[0].combinations == 121 && r.round[3].combinations == 441);
        assert_true(r.matches >= r.round[2].matches && r.matches > r.runner_up && r.matches <= r.scan_points);
        assert_true(r.roll_observable && r.has_covariance);
        assert_true(geom_pose_invert(&pose, &back));
        back = geom_pose_compose(&s.truth, &back); /* truth = exp(error) pose */
        geom_pose_log(&back, twist);
        assert_true(geom_invert_symmetric(6, r.covariance, inverse));
        for (int a = 0; a < 6; ++a)
            for (int b = 0; b < 6; ++b) normalised += twist[a] * inverse[6 * a + b] * twist[b];
        squares += normalised / 6;
        worst = fmax(worst, tip_error(&pose, &s.truth));
        worst_roll = fmax(worst_roll, roll_error(&pose, &s.truth));
        atn_cloud_free(s.scan);
    }
    print_message("    tip within %.1f um, roll within %.2f degrees, squared error per variance %.2f\n", worst * 1000,
                  worst_roll, squares / POSES);
    assert_true(worst < 0.01 && worst_roll < 1);
    assert_true(squares / POSES < 4); /* 1 where the covariance is right */
}

KIT_TEST(forms_agree) {
    scene s = scene_make(3, &NEEDLE);
    atn_needle_result r[4] = {0}; /* coarse, since brute force takes its time */
    for (int form = 0; form < 4; ++form) {
        atn_needle_settings options = {
            .threshold = 0.06, .edge = 0.06, .brute = form & 1, .count = (atn_needle_count)(form / 2)};
        atn_needle_match_settings settings = {.has_start = true, .rounds = 2, .least = 0.01};
        atn_needle *n;
        needle_put(&s.start, settings.start);
        kit_ok(ctx, atn_needle_create(device, model, &options, &n));
        kit_ok(ctx, atn_needle_match(n, s.scan, &settings, &r[form]));
        atn_needle_free(n);
    }
    assert_memory_equal(r[0].round, r[1].round, sizeof r[0].round);
    assert_memory_equal(r[2].round, r[3].round, sizeof r[0].round);
    assert_memory_equal(r[0].transform, r[1].transform, sizeof r[0].transform);
    assert_true(r[0].matches != r[2].matches && r[2].found);
    atn_cloud_free(s.scan);
}

/* Residuals and rows of all pairs at a pose, in double, and the nearest model point by looking at all. */
static size_t pairs_of(const atn_needle *n, const geom_pose *pose, double (*row)[8]) {
    const double reach = 0.04;
    size_t count = 0, points = (size_t)n->scan_points;
    float *scan = needle_points_taken(ctx, n);
    for (size_t k = 0; k < points; ++k) {
        double p[3], from[3], turned[3] = {0}, least = INFINITY, best[3] = {0};
        size_t at = 0;
        for (int axis = 0; axis < 3; ++axis) p[axis] = (double)scan[(size_t)axis * points + k] + n->scan_centre[axis];
        for (size_t m = 0; m < n->model.count; ++m) {
            double q[3], x[3], d2 = 0;
            for (int axis = 0; axis < 3; ++axis) q[axis] = n->model.position[axis][m];
            geom_pose_apply(pose, q, x);
            for (int axis = 0; axis < 3; ++axis) d2 += (x[axis] - p[axis]) * (x[axis] - p[axis]);
            if (d2 < least) least = d2, at = m, memcpy(best, x, sizeof best);
        }
        const float *normal = n->normal + 3 * at;
        if (least > reach * reach || (normal[0] == 0 && normal[1] == 0 && normal[2] == 0)) continue;
        double *out = row[count++];
        out[6] = 0;
        out[7] = 1;
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 3; ++c) turned[r] += pose->a[3 * r + c] * (double)normal[c];
            from[r] = best[r] - n->scan_centre[r];
            out[3 + r] = turned[r];
            out[6] += turned[r] * (p[r] - best[r]);
        }
        for (int r = 0; r < 3; ++r)
            out[r] = from[(r + 1) % 3] * turned[(r + 2) % 3] - from[(r + 2) % 3] * turned[(r + 1) % 3];
    }
    free(scan);
    return count;
}

static int by_size(const void *a, const void *b) {
    double x = fabs(((const double *)a)[6]), y = fabs(((const double *)b)[6]);
    return (x > y) - (x < y);
}

static void hold(double is, double wanted, double within) { assert_true(fabs(is - wanted) <= within); }

/* The sums that come back from the device are those of all pairs, as far as a median between marks lets them. */
static void hold_equations(atn_needle *n, const geom_pose *pose, size_t at_least, size_t at_most) {
    double(*row)[8] = malloc((size_t)n->scan_points * sizeof *row), wanted[64] = {0};
    size_t count = pairs_of(n, pose, row);
    needle_sums sums;
    kit_ok(ctx, needle_equations_of(n, pose, &sums));
    assert_true(count >= at_least && count <= at_most);
    qsort(row, count, sizeof *row, by_size);
    double scale = count ? 1.4826 * fabs(row[count / 2][6]) : 1;
    for (size_t k = 0; k < count; ++k) {
        double u = fmin(fabs(row[k][6]) / (4.685 * scale), 1), w = (1 - u * u) * (1 - u * u);
        for (int e = 0; e < 64; ++e) wanted[e] += w * row[k][e / 8] * row[k][e % 8];
    }
    hold(sums.weight, wanted[63], 2e-3 * (double)count);
    hold(sums.square, wanted[54], 4e-3 * wanted[54]);
    for (int r = 0; r < 6; ++r) {
        hold(sums.g[r], wanted[8 * 6 + r], 4e-3 * sqrt(wanted[54] * wanted[9 * r]));
        for (int c = 0; c < 6; ++c)
            hold(sums.h[6 * r + c], wanted[8 * r + c], 4e-3 * sqrt(wanted[9 * r] * wanted[9 * c]));
    }
    free(row);
}

/* On every device: at the truth, somewhat off it, and where nothing is near. */
KIT_TEST(equations_are_those_of_all_pairs) {
    scene s = scene_make(30, &NEEDLE);
    atn_devices *devices;
    geom_pose off = s.truth, away = s.truth;
    off.b[1] += 0.01;
    away.b[1] += 2;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        atn_device *other;
        atn_needle *n;
        if (!kit_wants(atn_devices_info(devices, d)->backend)) continue;
        kit_ok(ctx, atn_device_open(devices, d, &other));
        kit_ok(ctx, atn_needle_create(other, model, NULL, &n));
        kit_ok(ctx, needle_take_scan(n, s.scan));
        hold_equations(n, &s.truth, 1000, (size_t)n->scan_points);
        hold_equations(n, &off, 1000, (size_t)n->scan_points);
        hold_equations(n, &away, 0, 0);
        atn_needle_free(n);
        atn_device_close(other);
    }
    atn_devices_free(devices);
    atn_cloud_free(s.scan);
}

/* The published winner need not be the best combination; the best one has the largest count. */
KIT_TEST(marginal_and_joint) {
    scene s = scene_make(5, &NEEDLE);
    atn_needle_match_settings settings = {.has_start = true, .rounds = 1, .no_refine = true};
    atn_needle_result joint = {0}, marginal = {0};
    needle_put(&s.start, settings.start);
    kit_ok(ctx, atn_needle_match(needle, s.scan, &settings, &joint));
    settings.marginal = true;
    kit_ok(ctx, atn_needle_match(needle, s.scan, &settings, &marginal));
    assert_true(joint.matches >= marginal.matches && marginal.matches > 0);
    assert_false(joint.has_covariance);
    atn_cloud_free(s.scan);
}

KIT_TEST(roll_of_a_rod) {
    atn_cloud *rod = needle_model(ctx, &ROD, MODEL_POINTS, 2);
    scene s = scene_make(8, &ROD);
    atn_needle_match_settings settings = {.has_start = true};
    atn_needle_result r = {0};
    atn_needle *n;
    needle_put(&s.start, settings.start);
    kit_ok(ctx, atn_needle_create(device, rod, NULL, &n));
    kit_ok(ctx, atn_needle_match(n, s.scan, &settings, &r));
    assert_true(r.found && !r.roll_observable && r.has_covariance);
    kit_contains(r.reason, "roll is not observable");
    double trace = r.covariance[0] + r.covariance[7] + r.covariance[14];
    assert_true(trace > 3);
    atn_needle_free(n);
    atn_cloud_free(s.scan);
    atn_cloud_free(rod);
}

KIT_TEST(frames_are_tracked) {
    scene s = scene_make(6, &NEEDLE);
    atn_needle_match_settings settings = {.has_start = true};
    atn_needle_result r = {0};
    needle_put(&s.start, settings.start);
    kit_ok(ctx, atn_needle_match(needle, s.scan, &settings, &r));
    settings.track = true;
    geom_pose truth = s.truth;
    for (int frame = 0; frame < 6; ++frame) {
        double step[6] = {0.002, -0.001, 0.012, 0.004, -0.003, 0.02};
        geom_pose motion = geom_pose_exp(step);
        truth = geom_pose_compose(&motion, &truth);
        atn_cloud *scan = needle_scan(ctx, &NEEDLE, SCAN_POINTS, &truth, NOISE, 50 + (uint64_t)frame);
        memcpy(settings.start, r.transform, sizeof r.transform);
        kit_ok(ctx, atn_needle_match(needle, scan, &settings, &r));
        geom_pose pose = needle_get(r.transform);
        int64_t combinations = 0;
        for (int k = 0; k < r.n_rounds; ++k) combinations += r.round[k].combinations;
        assert_true(r.found && combinations < 200);
        assert_true(tip_error(&pose, &truth) < 0.01);
        atn_cloud_free(scan);
    }
    atn_cloud_free(s.scan);
}

KIT_TEST(what_is_not_there) {
    scene s = scene_make(4, &NEEDLE);
    atn_needle_match_settings settings = {.has_start = true};
    atn_needle_result r = {0};
    needle_put(&s.start, settings.start);
    settings.start[3] += 1; /* a millimetre beside it */
    kit_ok(ctx, atn_needle_match(needle, s.scan, &settings, &r));
    assert_false(r.found);
    kit_contains(r.reason, "have a partner");
    settings.start[3] -= 1;
    settings.shift = (atn_needle_interval){0, 0, 0.05}; /* one shift only: too short an interval has no end */
    kit_ok(ctx, atn_needle_match(needle, s.scan, &settings, &r));
    assert_int_equal(r.round[0].combinations, 11);
    const double one[3] = {1, 1, 1};
    atn_cloud *single;
    kit_ok(ctx, atn_cloud_create(ctx, 1, one, NULL, &single));
    settings = (atn_needle_match_settings){0};
    kit_ok(ctx, atn_needle_match(needle, single, &settings, &r));
    assert_true(!r.found && r.scan_points == 1);
    atn_cloud_free(single);
    atn_cloud_free(s.scan);
}

KIT_TEST(refusals) {
    scene s = scene_make(4, &NEEDLE);
    atn_needle_result r = {0};
    atn_needle *n;
    atn_cloud *none, *metres;
    static const struct {
        atn_needle_match_settings settings;
        const char *part;
    } WRONG[] = {
        {{.roll_deg = {-5, 5, 0}}, "roll's step of 0; it must be positive"},
        {{.shift = {0, 0.5, -0.05}}, "shift's step of -0.05"},
        {{.shift = {0.5, 0, 0.05}}, "is empty"},
        {{.shift = {0, 1e9, 1e-9}}, "more than fit into memory"},
        {{.roll_deg = {-180, 180, 1e-3}, .shift = {0, 1, 1e-3}}, "larger steps"},
        {{.roll_deg = {NAN, 5, 1}}, "not finite"},
        {{.rounds = -1}, "rounds"},
        {{.rounds = 17}, "rounds"},
        {{.least = 2}, "required fraction"},
        {{.axis = {1, 0, 0}}, "no z component"},
        {{.has_start = true, .start = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2}}, "not rigid"},
        {{.has_start = true, .start = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}}, "not rigid"},
    };
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; ++k)
        kit_fails(ctx, ATN_ERR_INPUT, WRONG[k].part, atn_needle_match(needle, s.scan, &WRONG[k].settings, &r));
    const double small[16] = {1e-3, 0, 0, 0, 0, 1e-3, 0, 0, 0, 0, 1e-3, 0, 0, 0, 0, 1};
    kit_ok(ctx, atn_cloud_moved(model, small, &metres));
    kit_ok(ctx, atn_needle_create(device, metres, NULL, &n));
    kit_fails(ctx, ATN_ERR_INPUT, "another unit", atn_needle_match(n, s.scan, NULL, &r));
    atn_needle_free(n);
    kit_ok(ctx, atn_cloud_create(ctx, 0, NULL, NULL, &none));
    kit_fails(ctx, ATN_ERR_INPUT, "model has no points", atn_needle_create(device, none, NULL, &n));
    kit_fails(ctx, ATN_ERR_INPUT, "scan has no points", atn_needle_match(needle, none, NULL, &r));
    atn_needle_settings options = {.threshold = -1};
    kit_fails(ctx, ATN_ERR_INPUT, "must be positive", atn_needle_create(device, model, &options, &n));
    atn_cloud_free(none);
    atn_cloud_free(metres);
    atn_cloud_free(s.scan);
}

static int setup(void **state) {
    (void)state;
    ctx = kit_ctx();
    device = needle_device(ctx);
    model = needle_model(ctx, &NEEDLE, MODEL_POINTS, 1);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_are_found),    cmocka_unit_test(forms_agree),
        cmocka_unit_test(marginal_and_joint), cmocka_unit_test(roll_of_a_rod),
        cmocka_unit_test(frames_are_tracked), cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(refusals),           cmocka_unit_test(equations_are_those_of_all_pairs)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
