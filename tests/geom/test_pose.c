/* Maps of space: composed, inverted, as twists and back; the best map for pairs; the acceleration of steps. */
#include "testkit.h"

#include "apps/register/anderson.h"
#include "geom/eigen.h"
#include "geom/fit.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793;

static geom_pose random_rigid(uint64_t *seed, double most_angle) {
    double twist[6], length = 0, angle = kit_uniform(seed) * most_angle;
    for (int i = 0; i < 6; ++i) twist[i] = 2 * kit_uniform(seed) - 1;
    for (int i = 0; i < 3; ++i) length += twist[i] * twist[i];
    for (int i = 0; i < 3; ++i) twist[i] *= angle / sqrt(length);
    return geom_pose_exp(twist);
}

static void near(const geom_pose *a, const geom_pose *b, double tolerance) {
    for (int i = 0; i < 9; ++i) assert_true(fabs(a->a[i] - b->a[i]) <= tolerance);
    for (int i = 0; i < 3; ++i) assert_true(fabs(a->b[i] - b->b[i]) <= tolerance);
}

KIT_TEST(exp_and_log_go_back_and_forth) {
    static const double angles[] = {0, 1e-300, 1e-12, 1e-8, 1e-4, 0.1, 1, 2, 3, 3.1, 3.13, 3.1415, 3.14159265};
    uint64_t seed = 7;
    for (size_t k = 0; k < sizeof angles / sizeof *angles; ++k)
        for (int repeat = 0; repeat < 50; ++repeat) {
            double twist[6], back[6], length = 0;
            for (int i = 0; i < 6; ++i) twist[i] = 2 * kit_uniform(&seed) - 1;
            for (int i = 0; i < 3 && repeat < 3; ++i) twist[i] = i == repeat; /* along an axis too */
            for (int i = 0; i < 3; ++i) length += twist[i] * twist[i];
            for (int i = 0; i < 3; ++i) twist[i] *= angles[k] / sqrt(length);
            geom_pose pose = geom_pose_exp(twist), again;
            geom_pose_log(&pose, back);
            for (int i = 0; i < 6; ++i)
                if (!(fabs(back[i] - twist[i]) <= 1e-7))
                    fail_msg("angle %g: %g, wanted %g", angles[k], back[i], twist[i]);
            again = geom_pose_exp(back);
            near(&again, &pose, 1e-7);
        }
    for (int axis = 0; axis < 3; ++axis) { /* half a turn exactly: either sign is right */
        double twist[6] = {0}, back[6];
        twist[axis] = PI;
        geom_pose pose = geom_pose_exp(twist), again;
        geom_pose_log(&pose, back);
        again = geom_pose_exp(back);
        near(&again, &pose, 1e-12);
    }
}

KIT_TEST(composes_and_inverts) {
    uint64_t seed = 8;
    for (int repeat = 0; repeat < 100; ++repeat) {
        geom_pose a = random_rigid(&seed, PI), b = random_rigid(&seed, PI), back, both = geom_pose_compose(&a, &b);
        for (int i = 0; i < 9; ++i) a.a[i] += 0.2 * kit_uniform(&seed);
        both = geom_pose_compose(&a, &b);
        double p[3] = {1, -2, 3}, q[3], r[3];
        geom_pose_apply(&b, p, q);
        geom_pose_apply(&a, q, q);
        geom_pose_apply(&both, p, r);
        for (int i = 0; i < 3; ++i) assert_true(fabs(q[i] - r[i]) < 1e-12);
        assert_true(geom_pose_invert(&both, &back));
        geom_pose none = geom_pose_compose(&back, &both);
        near(&none, &GEOM_IDENTITY, 1e-9);
        geom_pose twice = geom_pose_scaled(&both, 2);
        assert_true(fabs(geom_pose_scale(&twice) - 2 * geom_pose_scale(&both)) < 1e-9);
        assert_true(geom_pose_stretch(&both) >= geom_pose_scale(&both) - 1e-9);
    }
    geom_pose flat = GEOM_IDENTITY, out;
    flat.a[8] = 0;
    assert_false(geom_pose_invert(&flat, &out));
    double low[3] = {-1, -1, -1}, high[3] = {1, 1, 2};
    geom_pose shifted = GEOM_IDENTITY;
    shifted.b[1] = 3;
    assert_true(fabs(geom_pose_motion(&GEOM_IDENTITY, &shifted, low, high) - 3) < 1e-12);
}

static void add(geom_moments *m, double l, const double y[3], const double x[3]) {
    int place = 0;
    m->weight += l;
    for (int i = 0; i < 3; ++i) {
        m->y[i] += l * y[i];
        m->x[i] += l * x[i];
        for (int j = 0; j < 3; ++j) m->cross[3 * i + j] += l * x[i] * y[j];
        for (int j = i; j < 3; ++j) m->spread[place++] += l * y[i] * y[j];
    }
}

static geom_moments pairs_of(const geom_pose *pose, size_t count, int dimensions, uint64_t *seed) {
    geom_moments m = {0};
    for (size_t k = 0; k < count; ++k) {
        double y[3] = {0.5, -0.25, 0.125}, x[3];
        for (int i = 0; i < dimensions; ++i) y[i] = 2 * kit_uniform(seed) - 1;
        geom_pose_apply(pose, y, x);
        add(&m, 0.1 + kit_uniform(seed), y, x);
    }
    return m;
}

KIT_TEST(finds_known_maps) {
    uint64_t seed = 9;
    for (int repeat = 0; repeat < 200; ++repeat) {
        geom_pose truth = random_rigid(&seed, PI), found;
        if (repeat < 3) { /* half a turn */
            double twist[6] = {0, 0, 0, 1, 2, 3};
            twist[repeat] = PI;
            truth = geom_pose_exp(twist);
        }
        geom_moments m = pairs_of(&truth, 20, 3, &seed);
        assert_true(geom_fit(&m, ATN_TRANSFORM_RIGID, &found));
        near(&found, &truth, 1e-9);
        m = pairs_of(&truth, 20, 2, &seed); /* in a plane a turn is told as well */
        assert_true(geom_fit(&m, ATN_TRANSFORM_RIGID, &found));
        near(&found, &truth, 1e-7);
        double by = 0.1 + 3 * kit_uniform(&seed);
        for (int i = 0; i < 9; ++i) truth.a[i] *= by;
        m = pairs_of(&truth, 20, 3, &seed);
        assert_true(geom_fit(&m, ATN_TRANSFORM_SIMILARITY, &found));
        near(&found, &truth, 1e-9);
        for (int i = 0; i < 9; ++i) truth.a[i] += 0.3 * kit_uniform(&seed);
        m = pairs_of(&truth, 20, 3, &seed);
        assert_true(geom_fit(&m, ATN_TRANSFORM_AFFINE, &found));
        near(&found, &truth, 1e-8);
    }
}

/* Mirrored pairs: the best turn, no mirror. */
KIT_TEST(never_mirrors) {
    uint64_t seed = 10;
    geom_pose mirror = GEOM_IDENTITY, found;
    mirror.a[0] = -1;
    geom_moments m = pairs_of(&mirror, 30, 3, &seed);
    assert_true(geom_fit(&m, ATN_TRANSFORM_RIGID, &found));
    const double *a = found.a;
    double det =
        a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
    assert_true(fabs(det - 1) < 1e-9);
}

KIT_TEST(says_what_cannot_be_told) {
    uint64_t seed = 11;
    geom_pose truth = random_rigid(&seed, 1), found;
    geom_moments m = {0};
    for (int kind = 0; kind < 3; ++kind) assert_false(geom_fit(&m, (atn_transform_kind)kind, &found));
    near(&found, &GEOM_IDENTITY, 0);
    for (int repeat = 0; repeat < 100; ++repeat) { /* one pair: a shift, and no turn */
        geom_pose shifted = GEOM_IDENTITY;
        shifted.b[0] = 3 * kit_uniform(&seed);
        m = pairs_of(&shifted, 1, 3, &seed);
        assert_true(geom_fit(&m, ATN_TRANSFORM_RIGID, &found));
        near(&found, &shifted, 1e-6);
    }
    m = pairs_of(&truth, 30, 2, &seed);
    assert_false(geom_fit(&m, ATN_TRANSFORM_AFFINE, &found)); /* a plane has no volume */
    m = pairs_of(&truth, 30, 0, &seed);
    assert_false(geom_fit(&m, ATN_TRANSFORM_SIMILARITY, &found)); /* nor has a place any size */
    m = pairs_of(&truth, 30, 3, &seed);
    m.weight = NAN;
    assert_false(geom_fit(&m, ATN_TRANSFORM_RIGID, &found));
    double zero[36] = {0}, out[36];
    assert_false(geom_invert_symmetric(6, zero, out));
}

/* A linear step that shrinks what is missing by factors of its own in every direction. */
KIT_TEST(acceleration_needs_few_steps) {
    static const double keep[6] = {0.95, 0.9, 0.8, 0.5, 0.3, 0.1};
    for (int bold = 0; bold < 2; ++bold) {
        reg_anderson history;
        double goal[6] = {0.02, -0.01, 0.03, 0.1, 0.2, -0.1};
        geom_pose pose = GEOM_IDENTITY, end = geom_pose_exp(goal);
        reg_anderson_begin(&history, &pose);
        int steps = 0;
        double low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
        while (steps < 1000 && geom_pose_motion(&pose, &end, low, high) > 1e-8) {
            double twist[6];
            geom_pose_log(&pose, twist);
            for (int i = 0; i < 6; ++i) twist[i] = goal[i] + keep[i] * (twist[i] - goal[i]);
            geom_pose to = geom_pose_exp(twist), next;
            pose = bold && reg_anderson_next(&history, &pose, &to, &next) ? next : to;
            ++steps;
        }
        if (bold)
            assert_true(steps < 30);
        else
            assert_true(steps > 200);
    }
    reg_anderson history; /* nothing moves: no step of its own */
    geom_pose next;
    reg_anderson_begin(&history, &GEOM_IDENTITY);
    for (int k = 0; k < 10; ++k) assert_false(reg_anderson_next(&history, &GEOM_IDENTITY, &GEOM_IDENTITY, &next));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_and_log_go_back_and_forth),
        cmocka_unit_test(composes_and_inverts),
        cmocka_unit_test(finds_known_maps),
        cmocka_unit_test(never_mirrors),
        cmocka_unit_test(says_what_cannot_be_told),
        cmocka_unit_test(acceleration_needs_few_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
