/* When a covariance is reported, when it is withheld, and that estimating it changes nothing else. Whether it comes
 * true is the subject of bench/covariance. */
#include "regkit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double AXIS[3] = {0.3, -0.5, 0.8}, SHIFT[3] = {0.02, -0.01, 0.03};

static const atn_register_method METHODS[] = {ATN_REGISTER_EM_ICP, ATN_REGISTER_ICP,        ATN_REGISTER_ICP_PLANE,
                                              ATN_REGISTER_CPD,    ATN_REGISTER_SOFTASSIGN, ATN_REGISTER_GICP};
enum { N_METHODS = sizeof METHODS / sizeof *METHODS };

/* Two samples of the same shape, 2 degrees apart. */
static atn_register_result of_shapes(kit_host *host, size_t points, const atn_register_settings *settings) {
    double motion[16], back[16];
    motion_make(2, AXIS, 1, SHIFT, motion);
    motion_invert(motion, back);
    atn_cloud *source = shape_make(host->ctx, &(shape){points, 1, 11, 0.003, 0, 0, back});
    atn_cloud *target = shape_make(host->ctx, &(shape){points, 2, 12, 0.003, 0, 0, NULL});
    atn_register_result result = {0};
    kit_ok(host->ctx, atn_register(host->device, source, target, settings, &result));
    atn_cloud_free(source);
    atn_cloud_free(target);
    return result;
}

KIT_TEST(every_method_reports_one_and_stays_as_it_is) {
    kit_host host = host_open();
    for (int m = 0; m < N_METHODS; ++m) {
        atn_register_settings settings = {.method = METHODS[m], .reproducible = true, .no_covariance = true};
        atn_register_result without = of_shapes(&host, 800, &settings);
        settings.no_covariance = false;
        atn_register_result with = of_shapes(&host, 800, &settings);
        assert_true(with.converged && with.has_covariance && !without.has_covariance);
        assert_memory_equal(with.transform, without.transform, sizeof with.transform);
        assert_int_equal(with.iterations, without.iterations);
        assert_true(with.evaluated_pairs == without.evaluated_pairs && with.rmse == without.rmse);
        assert_string_equal(with.covariance_reason, "");
        for (int i = 0; i < 36; ++i) assert_true(isfinite(with.covariance[i]));
        for (int i = 0; i < 6; ++i) assert_true(with.covariance[7 * i] > 0);
        for (int i = 0; i < 3; ++i) assert_true(with.covariance[7 * i] < 0.1 && with.covariance[7 * (3 + i)] < 0.01);
    }
    host_close(&host);
}

/* Withheld, with a reason. */
static void none_for(atn_register_result r, const char *reason) {
    assert_false(r.has_covariance);
    assert_true(strlen(r.covariance_reason) > 0);
    kit_contains(r.covariance_reason, reason);
}

KIT_TEST(withheld_where_it_cannot_be_honest) {
    kit_host host = host_open();
    for (int kind = ATN_TRANSFORM_SIMILARITY; kind <= ATN_TRANSFORM_AFFINE; ++kind) {
        const atn_register_method methods[] = {ATN_REGISTER_EM_ICP, ATN_REGISTER_ICP, ATN_REGISTER_CPD};
        for (int m = 0; m < 3; ++m) {
            atn_register_settings settings = {.method = methods[m], .transform = (atn_transform_kind)kind};
            none_for(of_shapes(&host, 800, &settings), "only rigid poses");
        }
    }
    const atn_register_settings compat = {.compat = true}, unwanted = {.no_covariance = true};
    none_for(of_shapes(&host, 300, &compat), "");
    none_for(of_shapes(&host, 300, &unwanted), "not asked for");
    for (int m = 0; m < 3; ++m) { /* too few places */
        atn_register_settings settings = {.method = METHODS[m]};
        none_for(of_shapes(&host, 10, &settings), "");
    }
    host_close(&host);
}

/* Beyond 8,192 points the curvature is taken from some of them. */
KIT_TEST(many_points_are_thinned) {
    kit_host host = host_open();
    const atn_register_settings settings = {.init = ATN_START_IDENTITY, .sigma_start = 0.1};
    atn_register_result all = of_shapes(&host, 8000, &settings), some = of_shapes(&host, 10000, &settings);
    assert_true(all.has_covariance && some.has_covariance);
    for (int i = 0; i < 6; ++i) {
        double ratio = sqrt(some.covariance[7 * i] / all.covariance[7 * i]);
        if (!(ratio > 0.5 && ratio < 2)) fail_msg("deviation %d: %.3g times as large", i, ratio);
    }
    host_close(&host);
}

/* A turned sphere fits in every turn. */
KIT_TEST(spheres_slide) {
    enum { POINTS = 2000 };
    kit_host host = host_open();
    double *at = malloc(3 * POINTS * sizeof *at);
    assert_non_null(at);
    atn_cloud *cloud[2];
    uint64_t seed = 5;
    for (int c = 0; c < 2; ++c) {
        for (size_t k = 0; k < POINTS; ++k) {
            double z = 2 * kit_uniform(&seed) - 1, turn = 6.283185307179586 * kit_uniform(&seed);
            double radius = 1 + 0.01 * (kit_uniform(&seed) - 0.5), rest = sqrt(1 - z * z);
            at[3 * k] = radius * rest * cos(turn);
            at[3 * k + 1] = radius * rest * sin(turn);
            at[3 * k + 2] = radius * z;
        }
        kit_ok(host.ctx, atn_cloud_create(host.ctx, POINTS, at, NULL, &cloud[c]));
    }
    for (int m = 0; m < 3; ++m) {
        atn_register_settings settings = {.method = METHODS[m]};
        atn_register_result r = {0};
        kit_ok(host.ctx, atn_register(host.device, cloud[0], cloud[1], &settings, &r));
        if (!r.has_covariance) continue;
        double angle = sqrt(r.covariance[0] + r.covariance[7] + r.covariance[14]);
        print_message("    method %d claims %.3g rad\n", (int)METHODS[m], angle);
        assert_true(angle > 0.1);
    }
    free(at);
    for (int c = 0; c < 2; ++c) atn_cloud_free(cloud[c]);
    host_close(&host);
}

/* Where both clouds lie does not change the rotation's share, and moves the translation's with it: C' = A C A^T. */
KIT_TEST(moves_with_the_frame) {
    kit_host host = host_open();
    double motion[16], there[16];
    const double far[3] = {100, -50, 20};
    motion_make(2, AXIS, 1, SHIFT, motion);
    motion_make(0, AXIS, 1, far, there);
    atn_cloud *source = shape_make(host.ctx, &(shape){800, 1, 11, 0.003, 0, 0, NULL}), *source_there;
    atn_cloud *target = shape_make(host.ctx, &(shape){800, 2, 12, 0.003, 0, 0, motion}), *target_there;
    kit_ok(host.ctx, atn_cloud_moved(source, there, &source_there));
    kit_ok(host.ctx, atn_cloud_moved(target, there, &target_there));
    atn_register_result a = {0}, b = {0};
    const atn_register_settings settings = {.reproducible = true};
    kit_ok(host.ctx, atn_register(host.device, source, target, &settings, &a));
    kit_ok(host.ctx, atn_register(host.device, source_there, target_there, &settings, &b));
    assert_true(a.has_covariance && b.has_covariance);
    for (int i = 0; i < 3; ++i) assert_true(fabs(b.covariance[7 * i] / a.covariance[7 * i] - 1) < 0.1);
    /* v' = v + far x w, of which x is v_x + far_y w_z - far_z w_y */
    double by[6] = {0, -far[2], far[1], 1, 0, 0}, sum = 0;
    for (int i = 0; i < 36; ++i) sum += by[i / 6] * a.covariance[i] * by[i % 6];
    assert_true(fabs(b.covariance[21] / sum - 1) < 0.1);
    atn_cloud_free(source);
    atn_cloud_free(target);
    atn_cloud_free(source_there);
    atn_cloud_free(target_there);
    host_close(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_reports_one_and_stays_as_it_is),
        cmocka_unit_test(withheld_where_it_cannot_be_honest),
        cmocka_unit_test(many_points_are_thinned),
        cmocka_unit_test(spheres_slide),
        cmocka_unit_test(moves_with_the_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
