/* Clouds from clouds: one point for each cube, normals, moved ones; on planes, spheres and what is neither. */
#include "cloudkit.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NOWHERE[3] = {0}; /* the origin */

static atn_cloud *sphere(atn_ctx *ctx, size_t count, double radius, const double centre[3]) {
    double *p = malloc((count + 1) * 3 * sizeof *p);
    for (size_t k = 0; k < count; ++k) { /* a spiral: even, and the same always */
        double z = 1 - (2 * (double)k + 1) / (double)count, r = sqrt(1 - z * z), turn = 2.399963229728653 * (double)k;
        p[3 * k] = centre[0] + radius * r * cos(turn);
        p[3 * k + 1] = centre[1] + radius * r * sin(turn);
        p[3 * k + 2] = centre[2] + radius * z;
    }
    atn_cloud *cloud;
    kit_ok(ctx, atn_cloud_create(ctx, count, p, NULL, &cloud));
    free(p);
    return cloud;
}

static atn_cloud *cloud_from(atn_ctx *ctx, const char *text) {
    kit_file file = {"a.csv", text, strlen(text)};
    return cloud_of(ctx, &file, ATN_INVALID_REFUSE);
}

static double normal_of(const atn_cloud *cloud, size_t k, int axis) {
    return (double)atn_cloud_normals(cloud, axis)[k];
}

/* ---- normals ---- */

/* Outwards; with 20 neighbours of 5,000 points they are right to 0.02 rad at every size. */
KIT_TEST(normals_of_a_sphere) {
    enum { POINTS = 5000 };
    static const double radii[] = {1, 1e-20, 1e30, 1e100}, centres[][3] = {{0, 0, 0}, {3, -4, 5}};
    atn_ctx *ctx = kit_ctx();
    for (size_t size = 0; size < 4; ++size)
        for (size_t c = 0; c < 2; ++c) {
            double centre[3];
            for (int d = 0; d < 3; ++d) centre[d] = centres[c][d] * radii[size];
            atn_cloud *a = sphere(ctx, POINTS, radii[size], centre), *b, *inwards;
            kit_ok(ctx, atn_cloud_with_normals(a, 0, NULL, &b));
            kit_ok(ctx, atn_cloud_with_normals(a, 20, centre, &inwards));
            cloud_same(a, b, ROLE_POSITION);
            for (size_t k = 0; k < POINTS; ++k) {
                double cosine = 0, back = 0;
                for (int d = 0; d < 3; ++d) {
                    double out = (atn_cloud_positions(a, d)[k] - centre[d]) / radii[size];
                    cosine += out * normal_of(b, k, d);
                    back += out * normal_of(inwards, k, d);
                }
                if (!(cosine > cos(0.02) && cosine < 1 + 1e-6))
                    fail_msg("radius %g: point %zu is off by %g rad", radii[size], k, acos(cosine));
                assert_true(back < -cos(0.02));
            }
            atn_cloud_free(a), atn_cloud_free(b), atn_cloud_free(inwards);
        }
    kit_free(ctx);
}

KIT_TEST(normals_of_a_plane) {
    enum { POINTS = 500 };
    atn_ctx *ctx = kit_ctx();
    double p[3 * POINTS];
    uint64_t seed = 3;
    for (size_t k = 0; k < POINTS; ++k) {
        p[3 * k] = kit_uniform(&seed) + 1e6;
        p[3 * k + 1] = kit_uniform(&seed);
        p[3 * k + 2] = 0.5 * p[3 * k + 1];
    }
    atn_cloud *a, *b;
    kit_ok(ctx, atn_cloud_create(ctx, POINTS, p, NULL, &a));
    static const double above[3] = {1e6, 0, 10}, below[3] = {1e6, 0, -10};
    for (int side = 0; side < 2; ++side) {
        kit_ok(ctx, atn_cloud_with_normals(a, 8, side ? below : above, &b));
        double sign = side ? -1 : 1;
        for (size_t k = 0; k < POINTS; ++k) {
            assert_true(fabs(normal_of(b, k, 0)) < 1e-6);
            assert_true(fabs(normal_of(b, k, 1) + sign * 0.5 / sqrt(1.25)) < 1e-6);
            assert_true(fabs(normal_of(b, k, 2) - sign / sqrt(1.25)) < 1e-6);
        }
        atn_cloud_free(b);
    }
    atn_cloud_free(a);
    kit_free(ctx);
}

/* Few points, points at one place, points on a line: zeros. */
KIT_TEST(normals_where_there_is_no_plane) {
    atn_ctx *ctx = kit_ctx();
    double same[30], line[30];
    for (int k = 0; k < 30; ++k) same[k] = 0.1;
    for (int k = 0; k < 10; ++k)
        for (int d = 0; d < 3; ++d) line[3 * k + d] = 0.1 * k * (1 + d);
    const struct {
        size_t points;
        const double *positions;
    } cases[] = {{0, same}, {1, same}, {2, line}, {10, same}, {10, line}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        atn_cloud *a, *b;
        kit_ok(ctx, atn_cloud_create(ctx, cases[c].points, cases[c].positions, NULL, &a));
        kit_ok(ctx, atn_cloud_with_normals(a, 0, NULL, &b));
        assert_true(atn_cloud_info_of(b).normals);
        assert_int_equal(atn_cloud_info_of(b).points, cases[c].points);
        for (size_t k = 0; k < cases[c].points; ++k)
            for (int d = 0; d < 3; ++d) assert_true(normal_of(b, k, d) == 0);
        atn_cloud_free(b);
        kit_fails(ctx, ATN_ERR_INPUT, "2 neighbours", atn_cloud_with_normals(a, 2, NULL, &b));
        assert_null(b);
        static const double far[3] = {INFINITY, 0, 0};
        kit_fails(ctx, ATN_ERR_INPUT, "viewpoint", atn_cloud_with_normals(a, 3, far, &b));
        atn_cloud_free(a);
    }
    kit_free(ctx);
}

/* What else a cloud has stays; frames know nothing of each other. */
KIT_TEST(normals_keep_all) {
    static const char text[] = "3\n\nAl 0 0 0\nNi 1 0 0\nAl 0 1 0\n3\n\nAl 0 0 0.1\nAl 1 0 1.1\nAl 0 1 0.1\n";
    atn_ctx *ctx = kit_ctx();
    kit_file file = {"a.xyz", text, sizeof text - 1};
    atn_cloud *a = cloud_of(ctx, &file, ATN_INVALID_REFUSE), *b;
    kit_ok(ctx, atn_cloud_with_normals(a, 3, NOWHERE, &b));
    cloud_same(a, b, ROLE_POSITION | ROLE_BIT(ROLE_SPECIES));
    assert_int_equal(atn_cloud_info_of(b).frames, 2);
    for (size_t k = 0; k < 3; ++k) {
        assert_true(fabs(fabs(normal_of(b, k, 2)) - 1) < 1e-6);
        assert_true(fabs(normal_of(b, 3 + k, 0) - sqrt(0.5)) < 1e-6);
    }
    atn_cloud_free(a), atn_cloud_free(b);
    kit_free(ctx);
}

/* ---- cubes ---- */

KIT_TEST(merges_all_columns) {
    atn_ctx *ctx = kit_ctx();
    atn_cloud *a = cloud_from(ctx, "x,y,z,nx,ny,nz,weight,mass,species\n"
                                   "0.25,0.5,0,1,0,0,1,10,5\n"
                                   "0.75,0.5,0,0,1,0,1,20,5\n"
                                   "0.5,0.5,0,0,0,1,2,30,6\n"
                                   "-0.5,0.5,0,0,0,1,0,40,5\n"
                                   "-0.25,0.5,0,0,0,-1,0,60,5\n"),
              *b;
    kit_ok(ctx, atn_cloud_voxels(a, 1, &b));
    assert_int_equal(b->count, 3);
    size_t seen = 0;
    for (size_t k = 0; k < 3; ++k) {
        double x = cloud_get(b, ROLE_X, k), weight = cloud_get(b, ROLE_WEIGHT, k), mass = cloud_get(b, ROLE_MASS, k);
        if (x < 0) { /* no weights: the plain mean, and normals that cancel */
            assert_true(x == -0.375 && weight == 0 && mass == 50 && normal_of(b, k, 2) == 0);
            seen |= 1;
        } else if (atn_cloud_species(b)[k] == 5) {
            assert_true(x == 0.5 && weight == 2 && mass == 15);
            assert_true(fabs(normal_of(b, k, 0) - sqrt(0.5)) < 1e-7 && fabs(normal_of(b, k, 1) - sqrt(0.5)) < 1e-7);
            seen |= 2;
        } else {
            assert_true(x == 0.5 && weight == 2 && mass == 30 && normal_of(b, k, 2) == 1);
            seen |= 4;
        }
    }
    assert_int_equal(seen, 7);
    atn_cloud_free(b);
    kit_fails(ctx, ATN_ERR_INPUT, "an edge of 0", atn_cloud_voxels(a, 0, &b));
    assert_null(b);
    atn_cloud_free(a);
    a = cloud_from(ctx, "x,y,z,weight\n1,2,3,-1\n");
    kit_fails(ctx, ATN_ERR_INPUT, "weight -1", atn_cloud_voxels(a, 1, &b));
    atn_cloud_free(a);
    kit_free(ctx);
}

/* Weights are 1 each without; none are lost; frames are kept apart. */
KIT_TEST(merges_frames_and_nothing) {
    static const char text[] = "2\n\nAl 0 0 0\nAl 0.5 0 0\n0\n\n1\n\nAl 0 0 0\n";
    atn_ctx *ctx = kit_ctx();
    kit_file file = {"a.xyz", text, sizeof text - 1};
    atn_cloud *a = cloud_of(ctx, &file, ATN_INVALID_REFUSE), *b;
    kit_ok(ctx, atn_cloud_voxels(a, 1, &b));
    assert_int_equal(b->count, 2);
    assert_int_equal(atn_cloud_info_of(b).frames, 3);
    assert_int_equal(atn_cloud_frame(b, 1), 1);
    assert_int_equal(atn_cloud_frame(b, 2), 1);
    assert_true(atn_cloud_weights(b)[0] == 2 && atn_cloud_weights(b)[1] == 1);
    assert_int_equal(atn_cloud_species(b)[0], 13);
    atn_cloud_free(a), atn_cloud_free(b);
    kit_ok(ctx, atn_cloud_create(ctx, 0, NOWHERE, NULL, &a));
    kit_ok(ctx, atn_cloud_voxels(a, 1, &b));
    assert_int_equal(b->count, 0);
    atn_cloud_free(a), atn_cloud_free(b);
    a = sphere(ctx, 5000, 1e30, NOWHERE);
    kit_ok(ctx, atn_cloud_voxels(a, 1e29, &b));
    double sum = 0;
    for (size_t k = 0; k < b->count; ++k) sum += (double)atn_cloud_weights(b)[k];
    assert_true(sum == 5000 && b->count < 2000 && b->count > 100);
    atn_cloud_free(a), atn_cloud_free(b);
    kit_free(ctx);
}

/* ---- moved ---- */

KIT_TEST(moves) {
    atn_ctx *ctx = kit_ctx();
    atn_cloud *a = cloud_from(ctx, "x,y,z,nx,ny,nz,weight,species\n1,2,3,0.6,0.8,0,5,2\n0,0,0,0,0,0,1,1\n"), *b;
    static const double turned[16] = {0, -1, 0, 10, 1, 0, 0, 20, 0, 0, 1, 30, 0, 0, 0, 1};
    kit_ok(ctx, atn_cloud_moved(a, turned, &b));
    assert_true(cloud_get(b, ROLE_X, 0) == 8 && cloud_get(b, ROLE_Y, 0) == 21 && cloud_get(b, ROLE_Z, 0) == 33);
    assert_true(fabs(normal_of(b, 0, 0) + 0.8) < 1e-6 && fabs(normal_of(b, 0, 1) - 0.6) < 1e-6);
    assert_true(normal_of(b, 1, 0) == 0 && cloud_get(b, ROLE_WEIGHT, 0) == 5 && cloud_get(b, ROLE_SPECIES, 0) == 2);
    atn_cloud_free(b);
    /* Twice as long in x and mirrored: the plane 0.6 x + 0.8 y = c has the normal (-0.3, 0.8). */
    static const double stretched[16] = {-2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    kit_ok(ctx, atn_cloud_moved(a, stretched, &b));
    assert_true(fabs(normal_of(b, 0, 0) + 0.3 / sqrt(0.73)) < 1e-6 &&
                fabs(normal_of(b, 0, 1) - 0.8 / sqrt(0.73)) < 1e-6);
    atn_cloud_free(b);
    static const double flat[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}; /* no normals are left */
    kit_ok(ctx, atn_cloud_moved(a, flat, &b));
    assert_true(normal_of(b, 0, 0) == 0 && normal_of(b, 0, 2) == 0);
    atn_cloud_free(b);
    static const double perspective[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1};
    kit_fails(ctx, ATN_ERR_INPUT, "last row", atn_cloud_moved(a, perspective, &b));
    assert_null(b);
    double far[16] = {DBL_MAX, 0, 0, DBL_MAX, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    kit_fails(ctx, ATN_ERR_INPUT, "point 0", atn_cloud_moved(a, far, &b));
    far[5] = NAN;
    kit_fails(ctx, ATN_ERR_INPUT, "not finite", atn_cloud_moved(a, far, &b));
    atn_cloud_free(a);
    kit_free(ctx);
}

static atn_status use_all(atn_ctx *ctx, const void *given) {
    static const double turned[16] = {0, -1, 0, 10, 1, 0, 0, 20, 0, 0, 1, 30, 0, 0, 0, 1};
    const char *text = given;
    atn_cloud *a, *b = NULL, *c = NULL, *d = NULL;
    atn_status status = atn_cloud_read_bytes(ctx, "a.xyz", text, strlen(text), NULL, &a);
    if (status == ATN_OK) status = atn_cloud_voxels(a, 0.1, &b);
    if (status == ATN_OK) status = atn_cloud_with_normals(b, 0, NULL, &c);
    if (status == ATN_OK) status = atn_cloud_moved(c, turned, &d);
    atn_cloud_free(a), atn_cloud_free(b), atn_cloud_free(c), atn_cloud_free(d);
    return status;
}

KIT_TEST(every_allocation_fails_once) {
    cloud_walk(use_all, "3\n\nAl 0 0 0\nNi 1 0 0\nAl 0 1 0\n3\n\nAl 0 0 0.1\nAl 1 0 1.1\nAl 0 1 0.1\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normals_of_a_sphere),
        cmocka_unit_test(normals_of_a_plane),
        cmocka_unit_test(normals_where_there_is_no_plane),
        cmocka_unit_test(normals_keep_all),
        cmocka_unit_test(merges_all_columns),
        cmocka_unit_test(merges_frames_and_nothing),
        cmocka_unit_test(moves),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
