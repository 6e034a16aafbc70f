/* The search for a start: shapes made here, turned at will, seen in part and with noise; clouds that have no turn; what
 * goes wrong on the way. */
#include "support/shared.h"

#include "apps/register/search.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

static const double DEGREE = 0.017453292519943295;

SHARED_CTX;

/* ---- shapes ---- */

/* A point of a lumpy body without symmetry, about 2.5 long, in direction d. */
static void lumpy(const double d[3], double point[3]) {
    static const double wave[6][5] = {{1.9, 0.7, -1.1, 0.3, 0.14},  {-0.8, 2.6, 0.9, 1.7, 0.13},
                                      {2.2, -1.5, 2.1, 4.0, 0.11},  {-3.0, 1.2, -0.6, 5.1, 0.10},
                                      {0.4, -2.9, -2.8, 2.2, 0.10}, {3.1, 2.4, -2.0, 0.9, 0.08}};
    static const double axes[3] = {1, 1.3, 0.8};
    double radius = 1;
    for (int k = 0; k < 6; ++k)
        radius += wave[k][4] * cos(wave[k][0] * d[0] + wave[k][1] * d[1] + wave[k][2] * d[2] + wave[k][3]);
    for (int a = 0; a < 3; ++a) point[a] = radius * d[a] * axes[a];
}

typedef void shape(atn_random *random, double point[3]);

static void whole(atn_random *random, double point[3]) {
    double d[3], l = 0;
    for (int a = 0; a < 3; ++a) d[a] = atn_random_normal(random), l += d[a] * d[a];
    for (int a = 0; a < 3; ++a) d[a] /= sqrt(l);
    lumpy(d, point);
}

static void one_place(atn_random *random, double point[3]) {
    (void)random;
    point[0] = 3, point[1] = -4, point[2] = 5;
}

static void line(atn_random *random, double point[3]) {
    double t = atn_random_unit(random);
    for (int a = 0; a < 3; ++a) point[a] = (a + 1) * t;
}

/* Flat, and no two sides alike. */
static void flat(atn_random *random, double point[3]) {
    do {
        for (int a = 0; a < 2; ++a) point[a] = 2 * atn_random_unit(random) - 1;
    } while ((point[0] > 0.1 && point[1] > -0.3) || (point[0] < -0.6 && point[1] > 0.5));
    point[2] = 0;
}

static void ball(atn_random *random, double point[3]) {
    for (int a = 0; a < 3; ++a) point[a] = atn_random_normal(random);
}

/* `count` points with noise; only those with side . p above `from` (side NULL: all). */
static cloud_points made(shape *of, size_t count, const double *side, double from, double noise, uint64_t seed) {
    cloud_points out;
    atn_random random;
    atn_random_seed(&random, seed);
    kit_ok(ctx, cloud_points_make(ctx, count, false, &out));
    for (size_t k = 0; k < count;) {
        double p[3];
        of(&random, p);
        if (side && side[0] * p[0] + side[1] * p[1] + side[2] * p[2] < from) continue;
        for (int a = 0; a < 3; ++a) out.position[a][k] = p[a] + noise * atn_random_normal(&random);
        out.weight[k++] = 1;
    }
    return out;
}

/* A random motion, 4 x 4. */
static void motion(atn_random *random, double scale, double m[16]) {
    double q[4], l = 0;
    for (int k = 0; k < 4; ++k) q[k] = atn_random_normal(random), l += q[k] * q[k];
    for (int k = 0; k < 4; ++k) q[k] /= sqrt(l);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                         2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memset(m, 0, 16 * sizeof *m);
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) m[4 * a + b] = scale * r[3 * a + b];
        m[4 * a + 3] = 10 * atn_random_normal(random);
    }
    m[15] = 1;
}

static void move(cloud_points *points, const double m[16]) {
    for (size_t k = 0; k < points->count; ++k) {
        double p[3] = {points->position[0][k], points->position[1][k], points->position[2][k]};
        for (int a = 0; a < 3; ++a)
            points->position[a][k] = m[4 * a] * p[0] + m[4 * a + 1] * p[1] + m[4 * a + 2] * p[2] + m[4 * a + 3];
    }
}

/* How far T m is from the identity: degrees, the largest way of a corner of the body, the scale. */
typedef struct miss {
    double degrees, way, scale;
} miss;

static miss missed(const double t[16], const double m[16]) {
    double all[16] = {0};
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            for (int k = 0; k < 4; ++k) all[4 * i + j] += t[4 * i + k] * m[4 * k + j];
    miss out = {0};
    for (int a = 0; a < 3; ++a) out.scale += all[a] * all[a];
    out.scale = sqrt(out.scale);
    double trace = (all[0] + all[5] + all[10]) / out.scale;
    out.degrees = acos(fmax(-1, fmin(1, (trace - 1) / 2))) / DEGREE;
    for (int corner = 0; corner < 8; ++corner) {
        double p[3] = {corner & 1 ? 1 : -1, corner & 2 ? 1 : -1, corner & 4 ? 1 : -1}, d2 = 0;
        for (int a = 0; a < 3; ++a) {
            double d = all[4 * a] * p[0] + all[4 * a + 1] * p[1] + all[4 * a + 2] * p[2] + all[4 * a + 3] - p[a];
            d2 += d * d;
        }
        out.way = fmax(out.way, sqrt(d2));
    }
    return out;
}

/* A scene for one search. */
static atn_status search_in(const cloud_points *source, const cloud_points *target, bool scaled, reg_start *out) {
    reg_scene *scene;
    atn_status status = reg_scene_make(source, target, scaled, NULL, &scene);
    if (status == ATN_OK) status = reg_search(scene, out);
    reg_scene_free(scene);
    return status;
}

/* ---- what is found ---- */

/* Of `rounds` random motions, how many are undone to 5 degrees (and scale to 5 %). The source is what lies above `from`
 * in a random direction, the target what lies below -from. */
static int found(int rounds, double from, double noise, double scale, bool similarity, size_t points) {
    atn_random random;
    atn_random_seed(&random, 42);
    int right = 0;
    for (int round = 0; round < rounds; ++round) {
        double side[3], other[3], m[16], l = 0;
        for (int a = 0; a < 3; ++a) side[a] = atn_random_normal(&random), l += side[a] * side[a];
        for (int a = 0; a < 3; ++a) side[a] /= sqrt(l), other[a] = -side[a];
        cloud_points source = made(whole, points, side, from, noise, 1000 + (uint64_t)round);
        cloud_points target = made(whole, points, other, from, noise, 2000 + (uint64_t)round);
        motion(&random, scale, m);
        move(&source, m);
        reg_start start = {0};
        kit_ok(ctx, search_in(&source, &target, similarity, &start));
        miss by = missed(start.transform, m);
        bool good = by.degrees < 5 && by.way < 0.2 && fabs(by.scale - 1) < (similarity ? 0.05 : 1e-9);
        assert_true(start.score >= start.runner_up && start.score <= 1 && start.runner_up >= 0);
        right += good;
        cloud_points_free(&source);
        cloud_points_free(&target);
    }
    return right;
}

KIT_TEST(test_full_copy) { assert_int_equal(found(10, -10, 0.002, 1, false, 6000), 10); }

/* Planes at -0.35 of a body that reaches to about 1 leave two thirds of it on each side: half of the source overlaps.
 */
KIT_TEST(test_half_overlap) { assert_true(found(20, -0.35, 0.008, 1, false, 8000) >= 18); }

KIT_TEST(test_few_points) { assert_true(found(10, -10, 0.01, 1, false, 300) >= 9); }

KIT_TEST(test_scale) { assert_true(found(6, -0.7, 0.005, 1.7, true, 6000) >= 5); }

KIT_TEST(test_million) { assert_int_equal(found(1, -0.5, 0.01, 1, false, 1000000), 1); }

/* ---- clouds without a turn ---- */

static void holds(const reg_start *start) {
    for (int k = 0; k < 16; ++k) assert_true(isfinite(start->transform[k]));
    for (int a = 0; a < 3; ++a) {
        double l = 0;
        for (int b = 0; b < 3; ++b) l += start->transform[4 * a + b] * start->transform[4 * a + b];
        assert_true(fabs(l - 1) < 1e-9);
    }
}

KIT_TEST(test_degenerate) {
    static const struct {
        shape *of;
        size_t count;
        bool tried;
    } cases[] = {{one_place, 1, false}, {one_place, 500, false}, {line, 2, false},  {line, 1000, false},
                 {ball, 1, false},      {ball, 2, false},        {ball, 3, true},   {ball, 4, true},
                 {ball, 12, true},      {flat, 2000, true},      {ball, 3000, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        for (size_t n = 0; n < sizeof cases / sizeof *cases; ++n) {
            cloud_points source = made(cases[k].of, cases[k].count, NULL, 0, 0, 5);
            cloud_points target = made(cases[n].of, cases[n].count, NULL, 0, 0, 6);
            reg_start start = {0};
            kit_ok(ctx, search_in(&source, &target, false, &start));
            holds(&start);
            if (!cases[k].tried || !cases[n].tried) assert_int_equal(start.tried, 0);
            cloud_points_free(&source);
            cloud_points_free(&target);
        }
}

/* Centroids are aligned where nothing can be tried. */
KIT_TEST(test_line_is_centred) {
    cloud_points source = made(line, 100, NULL, 0, 0, 5), target = made(one_place, 7, NULL, 0, 0, 6);
    reg_start start = {0};
    kit_ok(ctx, search_in(&source, &target, false, &start));
    for (int a = 0; a < 3; ++a) {
        double mean = 0;
        for (size_t k = 0; k < source.count; ++k) mean += source.position[a][k] / (double)source.count;
        assert_true(fabs(mean + start.transform[4 * a + 3] - target.position[a][0]) < 1e-9);
        assert_true(start.transform[5 * a] == 1);
    }
    cloud_points_free(&source);
    cloud_points_free(&target);
}

/* A flat shape has no surface that tells places apart: even turns find it. */
KIT_TEST(test_flat) {
    atn_random random;
    atn_random_seed(&random, 7);
    for (int round = 0; round < 5; ++round) {
        cloud_points source = made(flat, 3000, NULL, 0, 0, 5), target = made(flat, 3000, NULL, 0, 0, 6);
        double m[16];
        motion(&random, 1, m);
        move(&source, m);
        reg_start start = {0};
        kit_ok(ctx, search_in(&source, &target, false, &start));
        assert_true(missed(start.transform, m).degrees < 5);
        cloud_points_free(&source);
        cloud_points_free(&target);
    }
}

/* ---- the same again, and what goes wrong ---- */

KIT_TEST(test_repeats) {
    cloud_points source = made(whole, 5000, NULL, 0, 0.01, 5), target = made(whole, 5000, NULL, 0, 0.01, 6);
    reg_start first = {0}, again = {0};
    kit_ok(ctx, search_in(&source, &target, false, &first));
    kit_ok(ctx, search_in(&source, &target, false, &again));
    assert_memory_equal(first.transform, again.transform, sizeof first.transform);
    assert_true(first.score == again.score && first.runner_up == again.runner_up && first.tried == again.tried);
    cloud_points_free(&source);
    cloud_points_free(&target);
}

KIT_TEST(test_no_points) {
    cloud_points some = made(whole, 10, NULL, 0, 0, 5), none = {.ctx = ctx};
    reg_start start = {0};
    kit_fails(ctx, ATN_ERR_INPUT, "source has no points", search_in(&none, &some, false, &start));
    kit_fails(ctx, ATN_ERR_INPUT, "target has no points", search_in(&some, &none, false, &start));
    cloud_points_free(&some);
}

/* Every so manyth allocation fails: it is said, and nothing is left behind. */
KIT_TEST(test_memory) {
    kit_faults faults = {0};
    char *dir = kit_tempdir();
    atn_ctx_settings options = kit_fault_options(&faults);
    options.cache_dir = dir;
    atn_ctx *faulty;
    assert_int_equal(atn_ctx_create(&options, &faulty), ATN_OK);
    cloud_points source = made(whole, 300, NULL, 0, 0.01, 5), target = made(whole, 300, NULL, 0, 0.01, 6);
    source.ctx = target.ctx = faulty;
    reg_start start = {0};
    kit_ok(faulty, search_in(&source, &target, false, &start));
    long before = atomic_load(&faults.count);
    kit_ok(faulty, search_in(&source, &target, false, &start));
    long all = atomic_load(&faults.count) - before, step = all > 40 ? all / 40 : 1;
    for (long k = 1; k <= all; k += step) {
        long live = atomic_load(&faults.live);
        faults.fail_at = atomic_load(&faults.count) + k;
        atn_status status = search_in(&source, &target, false, &start);
        faults.fail_at = 0;
        assert_true(status == ATN_OK || status == ATN_ERR_MEMORY);
        if (status != ATN_OK) assert_true(atomic_load(&faults.live) <= live);
    }
    source.ctx = target.ctx = ctx;
    cloud_points_free(&source);
    cloud_points_free(&target);
    atn_ctx_free(faulty);
    assert_int_equal(atomic_load(&faults.live), 0);
    kit_remove(dir);
}

KIT_TEST(test_cancel) {
    cloud_points source = made(whole, 500, NULL, 0, 0.01, 5), target = made(whole, 500, NULL, 0, 0.01, 6);
    atn_ctx *other = kit_ctx();
    reg_start start = {0};
    source.ctx = target.ctx = other;
    atn_ctx_cancel(other);
    assert_int_equal(search_in(&source, &target, false, &start), ATN_ERR_CANCELLED);
    source.ctx = target.ctx = ctx;
    kit_free(other);
    cloud_points_free(&source);
    cloud_points_free(&target);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_copy),       cmocka_unit_test(test_half_overlap), cmocka_unit_test(test_few_points),
        cmocka_unit_test(test_scale),           cmocka_unit_test(test_million),      cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_line_is_centred), cmocka_unit_test(test_flat),         cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_no_points),       cmocka_unit_test(test_memory),       cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
