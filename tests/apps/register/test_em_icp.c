/* EM-ICP as a whole: scans in unknown poses, what leaving out pairs and working in parts costs, the same bits for any
 * number of threads, a covariance held against what really happens, batches, kinds, weights, and being stopped. */
#include "regkit.h"

#include "base/compare.h"
#include "geom/eigen.h"
#include "geom/pose.h"
#include "sample/scans.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static atn_scans scans_of(kit_host *host, size_t size, uint64_t seed, double turn) {
    atn_scans scans;
    atn_scans_settings settings = {.size = size, .seed = seed, .noise = 0.002, .overlap = 0.65, .turn_deg = turn};
    kit_ok(host->ctx, atn_scans_make(host->ctx, &settings, NULL, NULL, &scans));
    return scans;
}

static atn_register_result found(kit_host *host, const atn_scans *scans, const atn_register_settings *settings) {
    atn_register_result result = {0};
    kit_ok(host->ctx, atn_register(host->device, scans->source, scans->target, settings, &result));
    return result;
}

KIT_TEST(finds_scans_in_any_pose) {
    kit_host host = host_open();
    const atn_register_settings settings = {.init = ATN_START_AUTO};
    int32_t right = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        atn_scans scans = scans_of(&host, 4000, seed, -1);
        atn_register_result r = found(&host, &scans, &settings);
        right += r.converged && turn_between(r.transform, scans.transform) < 0.2;
        assert_true(r.overlap > 0.3 && r.overlap < 0.9);
        assert_true(r.evaluated_pairs < 0.5 * r.pairs && r.error_bound <= 1e-4);
        assert_true(r.peak_bytes > 0 && r.seconds > 0 && r.gpts > 0 && r.profile_count > 3 && r.variant[0]);
        atn_scans_free(&scans);
    }
    assert_true(right >= 5);
    host_close(&host);
}

/* A target, and as the source the same points with noise, moved. */
static atn_register_result register_moved(kit_host *host, size_t n, double *target, double noise, double wanted[16]) {
    static const double AXIS[3] = {1, 2, 3}, SHIFT[3] = {0.02, -0.01, 0.03};
    double back[16], *source = malloc(3 * n * sizeof *source);
    uint64_t random = 77;
    atn_cloud *clouds[2];
    atn_register_result r = {0};
    assert_non_null(source);
    motion_make(3, AXIS, 1, SHIFT, wanted);
    motion_invert(wanted, back);
    for (size_t k = 0; k < n; ++k) {
        double at[3];
        for (size_t a = 0; a < 3; ++a) at[a] = target[3 * k + a] + noise * (2 * kit_uniform(&random) - 1);
        for (size_t a = 0; a < 3; ++a)
            source[3 * k + a] =
                back[4 * a] * at[0] + back[4 * a + 1] * at[1] + back[4 * a + 2] * at[2] + back[4 * a + 3];
    }
    kit_ok(host->ctx, atn_cloud_create(host->ctx, n, source, NULL, &clouds[0]));
    kit_ok(host->ctx, atn_cloud_create(host->ctx, n, target, NULL, &clouds[1]));
    kit_ok(host->ctx, atn_register(host->device, clouds[0], clouds[1], NULL, &r));
    for (int k = 0; k < 2; ++k) atn_cloud_free(clouds[k]);
    free(source);
    free(target);
    return r;
}

/* More points than the polish begins with, and no surface at any resolution. */
static void takes_points_that_fill_space(void **state) {
    enum { N = 100000 };
    (void)state;
    kit_host host = host_open();
    double wanted[16], *target = malloc(3 * N * sizeof *target);
    uint64_t random = 5;
    assert_non_null(target);
    for (size_t k = 0; k < 3 * N; ++k) target[k] = (1 - 0.2 * (double)(k % 3)) * kit_uniform(&random);
    atn_register_result r = register_moved(&host, N, target, 0.001, wanted);
    assert_true(r.converged && turn_between(r.transform, wanted) < 0.01);
    host_close(&host);
}

/* In cells so large that a noisy surface is seen, points that belong to nothing are most, though they are few. */
KIT_TEST(sees_surfaces_among_many_strays) {
    kit_host host = host_open();
    double wanted[16];
    size_t n;
    double *target =
        shape_positions(&(shape){.points = 160000, .seed = 3, .noise_seed = 4, .noise = 0.004, .outliers = 0.3}, &n);
    atn_register_result r = register_moved(&host, n, target, 0.004, wanted);
    assert_true(r.verdict == ATN_VERDICT_TRUSTED && turn_between(r.transform, wanted) < 0.05);
    host_close(&host);
}

/* All pairs of all points, and those that count: soft pairs to the end, where the sums decide alone. */
KIT_TEST(leaves_out_what_does_not_count) {
    kit_host host = host_open();
    atn_scans scans = scans_of(&host, 1500, 5, 10);
    atn_register_settings settings = {
        .init = ATN_START_GIVEN, .sigma_start = 0.1, .sigma_end = 0.05, .no_polish = true, .no_covariance = true};
    memcpy(settings.start, scans.transform, sizeof settings.start);
    atn_register_result near = found(&host, &scans, &settings);
    settings.dense = true;
    atn_register_result all = found(&host, &scans, &settings);
    assert_true(near.evaluated_pairs < 0.7 * all.evaluated_pairs);
    assert_true(all.error_bound < near.error_bound);
    assert_true(turn_between(near.transform, all.transform) < 0.02);
    settings.dense = false;
    settings.precision = 64;
    atn_register_result exact = found(&host, &scans, &settings);
    assert_true(turn_between(near.transform, exact.transform) < 0.01);
    atn_scans_free(&scans);
    host_close(&host);
}

static void work_in_parts(kit_host *host) {
    atn_scans scans = scans_of(host, 6000, 3, 10);
    atn_register_settings settings = {.init = ATN_START_GIVEN, .no_polish = true};
    memcpy(settings.start, scans.transform, sizeof settings.start);
    atn_register_result whole = found(host, &scans, &settings);
    size_t wanted = atn_register_bytes(host->device, &settings, 6000, 6000);
    settings.most_bytes = wanted - 250000; /* half of what the source has on the device */
    atn_register_result parts = found(host, &scans, &settings);
    assert_true(parts.converged == whole.converged);
    assert_true(turn_between(whole.transform, parts.transform) < 0.05);
    assert_true(fabs(parts.overlap - whole.overlap) < 0.01);
    /* with the polish and the covariance, on levels that have the source whole */
    settings.no_polish = false;
    settings.most_bytes = 0;
    whole = found(host, &scans, &settings);
    settings.most_bytes = atn_register_bytes(host->device, &settings, 6000, 6000) - 350000;
    parts = found(host, &scans, &settings);
    assert_false(atn_same_bits(whole.transform, parts.transform, sizeof whole.transform));
    assert_true(parts.converged && whole.has_covariance && parts.has_covariance);
    assert_int_equal(parts.verdict, ATN_VERDICT_TRUSTED);
    assert_true(turn_between(whole.transform, parts.transform) < 0.1);
    assert_true(parts.covariance[0] > 0.5 * whole.covariance[0] && parts.covariance[0] < 50 * whole.covariance[0]);
    atn_register_result none = {0};
    settings.most_bytes = wanted / 4;
    kit_fails(host->ctx, ATN_ERR_MEMORY, "needs",
              atn_register(host->device, scans.source, scans.target, &settings, &none));
    atn_scans_free(&scans);
}

KIT_TEST(works_in_parts) {
    kit_host host = host_open();
    int32_t index;
    work_in_parts(&host);
    if (getenv("ATTUNE_TEST_ALL")) {
        if (atn_devices_pick(host.devices, "opencl", &index) == ATN_OK) {
            atn_device_close(host.device);
            kit_ok(host.ctx, atn_device_open(host.devices, index, &host.device));
            work_in_parts(&host);
        } else
            print_message("    SKIPPED: no OpenCL; parts on the host alone\n");
    }
    host_close(&host);
}

/* A device that is opened sees the processors that the thread may use then. */
KIT_TEST(repeats_bit_by_bit) {
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2) {
        print_message("    skipped: one processor only\n");
        return;
    }
    size_t first = 0;
    while (!CPU_ISSET(first, &before)) ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    const atn_register_settings settings = {.init = ATN_START_AUTO, .reproducible = true};
    atn_register_result r[2] = {0};
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(sched_setaffinity(0, sizeof one, k ? &before : &one), 0);
        kit_host host = host_open();
        atn_scans scans = scans_of(&host, 3000, 4, -1);
        r[k] = found(&host, &scans, &settings);
        atn_scans_free(&scans);
        host_close(&host);
    }
    assert_memory_equal(r[0].transform, r[1].transform, sizeof r[0].transform);
    assert_memory_equal(r[0].covariance, r[1].covariance, sizeof r[0].covariance);
    assert_int_equal(r[0].iterations, r[1].iterations);
}

/* e^T C^-1 e of how far results are off has a mean of 6 where C is right. */
KIT_TEST(covariance_is_honest) {
    enum { TRIALS = 24 };
    kit_host host = host_open();
    double sum = 0;
    int32_t counted = 0;
    for (uint64_t seed = 1; seed <= TRIALS; ++seed) {
        atn_scans scans = scans_of(&host, 1500, seed, 5);
        atn_register_settings settings = {.init = ATN_START_GIVEN, .sigma_start = 0.05};
        memcpy(settings.start, scans.transform, sizeof settings.start);
        atn_register_result r = found(&host, &scans, &settings);
        if (r.converged && r.has_covariance) {
            geom_pose truth, mine, back, off;
            for (int i = 0; i < 3; ++i) {
                memcpy(truth.a + 3 * i, scans.transform + 4 * i, 3 * sizeof(double));
                memcpy(mine.a + 3 * i, r.transform + 4 * i, 3 * sizeof(double));
                truth.b[i] = scans.transform[4 * i + 3];
                mine.b[i] = r.transform[4 * i + 3];
            }
            double e[6], inverse[36];
            assert_true(geom_pose_invert(&mine, &back));
            off = geom_pose_compose(&truth, &back);
            geom_pose_log(&off, e);
            assert_true(geom_invert_symmetric(6, r.covariance, inverse));
            double q = 0;
            for (int i = 0; i < 36; ++i) q += e[i / 6] * inverse[i] * e[i % 6];
            sum += q;
            ++counted;
        }
        atn_scans_free(&scans);
    }
    print_message("    e^T C^-1 e: %.2f over %d trials; 6 is right\n", sum / counted, counted);
    assert_true(counted >= TRIALS - 2);
    assert_true(sum / counted > 2 && sum / counted < 15);
    host_close(&host);
}

KIT_TEST(batches_go_on) {
    kit_host host = host_open();
    atn_scans scans = scans_of(&host, 2000, 2, 5);
    atn_cloud *nothing;
    kit_ok(host.ctx, atn_cloud_create(host.ctx, 0, NULL, NULL, &nothing));
    atn_register_pair pairs[3] = {{.source = scans.source, .target = scans.target, .start = scans.transform},
                                  {.source = nothing, .target = scans.target},
                                  {.source = scans.source, .target = scans.target, .start = scans.transform}};
    kit_ok(host.ctx, atn_register_batch(host.device, 3, pairs, NULL));
    assert_int_equal(pairs[0].status, ATN_OK);
    assert_int_equal(pairs[1].status, ATN_ERR_INPUT);
    kit_contains(pairs[1].message, "no points");
    assert_int_equal(pairs[2].status, ATN_OK);
    assert_memory_equal(pairs[0].result.transform, pairs[2].result.transform, sizeof pairs[0].result.transform);
    assert_true(turn_between(pairs[0].result.transform, scans.transform) < 0.3);
    kit_ok(host.ctx, atn_register_batch(host.device, 0, NULL, NULL));
    atn_cloud_free(nothing);
    atn_scans_free(&scans);
    host_close(&host);
}

static bool three(void *user, const atn_register_step *step) {
    int *seen = user;
    assert_int_equal(step->iteration, ++*seen);
    assert_true(step->sigma > 0 && step->pairs > 0 && step->source > 0 && step->target > 0);
    return step->iteration < 3;
}

KIT_TEST(stops_when_told) {
    kit_host host = host_open();
    atn_scans scans = scans_of(&host, 2000, 2, 20);
    int seen = 0;
    const atn_register_settings settings = {.watch = three, .watch_user = &seen};
    atn_register_result r = {0};
    kit_fails(host.ctx, ATN_ERR_CANCELLED, "stopped",
              atn_register(host.device, scans.source, scans.target, &settings, &r));
    assert_int_equal(seen, 3);
    atn_scans_free(&scans);
    host_close(&host);
}

/* Few points a thousand and a hundred thousand radii away in both clouds are none of the thing. */
KIT_TEST(points_far_away_do_not_count) {
    enum { SIZE = 5000, FAR = 20 };
    kit_host host = host_open();
    atn_scans scans = scans_of(&host, SIZE, 6, 10);
    const atn_cloud *given[2] = {scans.source, scans.target};
    static double positions[3 * (SIZE + FAR)];
    static const atn_register_method METHODS[] = {ATN_REGISTER_EM_ICP, ATN_REGISTER_ICP_PLANE};
    for (double away = 1e3; away < 1e6; away *= 100) {
        atn_cloud *cloud[2];
        uint64_t random = 77;
        for (int c = 0; c < 2; ++c) {
            for (size_t k = 0; k < SIZE + FAR; ++k) /* among the others, not behind them */
                for (int axis = 0; axis < 3; ++axis) {
                    size_t before = k / (SIZE / FAR + 1);
                    bool far = k % (SIZE / FAR + 1) == 0;
                    positions[3 * k + (size_t)axis] = far ? away * (2 * kit_uniform(&random) - 1)
                                                          : atn_cloud_positions(given[c], axis)[k - before - 1];
                }
            kit_ok(host.ctx, atn_cloud_create(host.ctx, SIZE + FAR, positions, NULL, &cloud[c]));
        }
        for (int m = 0; m < 2; ++m) {
            const atn_register_settings settings = {.method = METHODS[m]};
            atn_register_result r = {0};
            kit_ok(host.ctx, atn_register(host.device, cloud[0], cloud[1], &settings, &r));
            double turn = turn_between(r.transform, scans.transform);
            if (r.verdict != ATN_VERDICT_TRUSTED || !(turn < 0.1))
                fail_msg("%g away, method %d: %g degrees, %s", away, m, turn, r.reason);
        }
        for (int c = 0; c < 2; ++c) atn_cloud_free(cloud[c]);
    }
    atn_scans_free(&scans);
    host_close(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_scans_in_any_pose),
        cmocka_unit_test(leaves_out_what_does_not_count),
        cmocka_unit_test(works_in_parts),
        cmocka_unit_test(repeats_bit_by_bit),
        cmocka_unit_test(covariance_is_honest),
        cmocka_unit_test(batches_go_on),
        cmocka_unit_test(stops_when_told),
        cmocka_unit_test(takes_points_that_fill_space),
        cmocka_unit_test(sees_surfaces_among_many_strays),
        cmocka_unit_test(points_far_away_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
