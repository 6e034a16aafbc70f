/* Questions without an answer, for every method: no points, one, all on a line or at one place, clouds that are far
 * from each other; weights and kinds of points; settings that say nothing; allocations that fail one after the other.
 */
#include "regkit.h"

#include "base/parallel.h"
#include "cloud/formats.h"
#include "device/backend.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double AXIS[3] = {0.3, -0.5, 0.8}, SHIFT[3] = {0.12, -0.1, 0.08}, NONE[3] = {0, 0, 0};
static const atn_register_method METHODS[] = {ATN_REGISTER_EM_ICP,     ATN_REGISTER_ICP, ATN_REGISTER_ICP_PLANE,
                                              ATN_REGISTER_SOFTASSIGN, ATN_REGISTER_CPD, ATN_REGISTER_GICP};
enum { N_METHODS = sizeof METHODS / sizeof *METHODS };

/* No answer: refused with a sentence, or not converged with a reason. */
static void no_answer(kit_host *host, const char *what, size_t n, const double *y, size_t m, const double *x) {
    atn_cloud *from, *target;
    kit_ok(host->ctx, atn_cloud_create(host->ctx, n, y, NULL, &from));
    kit_ok(host->ctx, atn_cloud_create(host->ctx, m, x, NULL, &target));
    for (size_t k = 0; k < N_METHODS; ++k)
        for (int init = 0; init < 2; ++init) {
            atn_register_settings settings = {.method = METHODS[k], .outlier_distance = init ? 0.5 : 0};
            atn_register_result result = {0};
            atn_status status = atn_register(host->device, from, target, &settings, &result);
            if (status != ATN_OK && !atn_ctx_message(host->ctx)[0]) fail_msg("%s: no sentence", what);
            if (status == ATN_OK && (result.converged || !result.reason[0]))
                fail_msg("%s, method %d: converged %d, \"%s\"", what, (int)METHODS[k], result.converged, result.reason);
            for (int i = 0; i < 16 && status == ATN_OK; ++i) assert_true(isfinite(result.transform[i]));
        }
    atn_cloud_free(from);
    atn_cloud_free(target);
}

KIT_TEST(answers_nothing_to_no_question) {
    kit_host host = host_open();
    enum { MANY = 100 };
    double ball[3 * MANY], line[3 * MANY], place[3 * MANY];
    uint64_t seed = 3;
    for (size_t k = 0; k < 3 * MANY; ++k) {
        ball[k] = 2 * kit_uniform(&seed) - 1;
        line[k] = (double)(k / 3) * (double)(1 + k % 3) / MANY;
        place[k] = (double)(k % 3);
    }
    no_answer(&host, "one onto one", 1, ball, 1, ball + 3);
    no_answer(&host, "one onto many", 1, ball, MANY, ball);
    no_answer(&host, "many onto one", MANY, ball, 1, ball);
    no_answer(&host, "two onto two", 2, ball, 2, ball + 6);
    no_answer(&host, "a line onto many", MANY, line, MANY, ball);
    no_answer(&host, "many onto a line", MANY, ball, MANY, line);
    no_answer(&host, "a line onto a line", MANY, line, MANY, line);
    no_answer(&host, "one place onto many", MANY, place, MANY, ball);
    no_answer(&host, "many onto one place", MANY, ball, MANY, place);
    no_answer(&host, "none onto many", 0, ball, MANY, ball);
    no_answer(&host, "many onto none", MANY, ball, 0, ball);
    host_close(&host);
}

/* Far away: methods that look from afar may find it; those that do not say so. Never a wrong answer called right. */
KIT_TEST(far_clouds_are_found_or_not_but_not_wrong) {
    kit_host host = host_open();
    double far[16], back[16];
    const double shift[3] = {1e4, 0, 0};
    motion_make(0, AXIS, 1, shift, far);
    motion_invert(far, back);
    atn_cloud *from = shape_make(host.ctx, &(shape){300, 4, 41, 0, 0, 0, back});
    atn_cloud *target = shape_make(host.ctx, &(shape){300, 4, 42, 0, 0, 0, NULL});
    for (size_t k = 0; k < N_METHODS; ++k) {
        atn_register_settings settings = {.method = METHODS[k]};
        atn_register_result result = {0};
        kit_ok(host.ctx, atn_register(host.device, from, target, &settings, &result));
        assert_true(result.reason[0]);
        const double centre[3] = {-shift[0], 0, 0};
        if (result.verdict == ATN_VERDICT_TRUSTED) assert_true(way_between(result.transform, far, centre) < 0.1);
    }
    atn_cloud_free(from);
    atn_cloud_free(target);
    host_close(&host);
}

KIT_TEST(refuses_scale_along_normals) {
    kit_host host = host_open();
    atn_cloud *cloud = shape_make(host.ctx, &(shape){50, 4, 41, 0, 0, 0, NULL});
    for (int kind = 1; kind < 3; ++kind) {
        atn_register_settings settings = {.method = ATN_REGISTER_ICP_PLANE, .transform = (atn_transform_kind)kind};
        atn_register_result result = {0};
        kit_fails(host.ctx, ATN_ERR_INPUT, "icp-plane is rigid",
                  atn_register(host.device, cloud, cloud, &settings, &result));
        settings.method = ATN_REGISTER_GICP;
        kit_fails(host.ctx, ATN_ERR_INPUT, "gicp is rigid",
                  atn_register(host.device, cloud, cloud, &settings, &result));
    }
    atn_cloud_free(cloud);
    host_close(&host);
}

/* Two shapes in one cloud: of kinds 1 and 2, of weight 1; or, without kinds, the second weighs nothing. */
static atn_cloud *two_shapes(kit_host *host, const double first[16], const double second[16], bool kinds) {
    enum { MOST = 400000 };
    char *text = malloc(MOST);
    size_t n[2], at = 0;
    double *p[2] = {shape_positions(&(shape){500, 6, 61, 0.005, 0, 0, first}, &n[0]),
                    shape_positions(&(shape){500, 6, 62, 0.005, 0, 0, second}, &n[1])};
    at += (size_t)snprintf(text, MOST,
                           "ply\nformat ascii 1.0\nelement vertex %zu\nproperty double x\nproperty double y\n"
                           "property double z\nproperty float weight\nproperty int species\nend_header\n",
                           n[0] + n[1]);
    for (int s = 0; s < 2; ++s)
        for (size_t k = 0; k < n[s]; ++k)
            at += (size_t)snprintf(text + at, MOST - at, "%.17g %.17g %.17g %d %d\n", p[s][3 * k], p[s][3 * k + 1],
                                   p[s][3 * k + 2], kinds ? 1 : 2 - 2 * s, 1 + s);
    atn_cloud *cloud;
    kit_ok(host->ctx, atn_cloud_read_bytes(host->ctx, "two.ply", text, at, NULL, &cloud));
    free(p[0]), free(p[1]), free(text);
    return cloud;
}

KIT_TEST(weights_and_kinds_count) {
    kit_host host = host_open();
    double motion[16], back[16], other[16], none[16], across[16];
    motion_make(12, AXIS, 1, SHIFT, motion);
    motion_make(-25, AXIS, 1, NONE, other);
    motion_make(0, AXIS, 1, NONE, none);
    motion_invert(motion, back);
    for (int i = 0; i < 16; ++i) {
        across[i] = 0;
        for (int j = 0; j < 4; ++j) across[i] += back[i / 4 * 4 + j] * other[4 * j + i % 4];
    }
    for (size_t k = 0; k < N_METHODS; ++k) {
        atn_register_result result = {0};
        atn_cloud *from = two_shapes(&host, back, other, false),
                  *target = shape_make(host.ctx, &(shape){500, 6, 63, 0.005, 0, 0, NULL});
        assert_true(atn_cloud_info_of(from).weights && atn_cloud_info_of(from).species);
        atn_register_settings settings = {.method = METHODS[k]};
        kit_ok(host.ctx, atn_register(host.device, from, target, &settings, &result));
        if (!result.converged || turn_between(result.transform, motion) > 0.7)
            fail_msg("weights, method %d: %g degrees, %s", (int)METHODS[k], turn_between(result.transform, motion),
                     result.reason);
        atn_cloud_free(from), atn_cloud_free(target);
        /* the second kind lies across the first, in both clouds */
        from = two_shapes(&host, back, across, true);
        target = two_shapes(&host, none, other, true);
        settings.match_species = true;
        kit_ok(host.ctx, atn_register(host.device, from, target, &settings, &result));
        if (!result.converged || turn_between(result.transform, motion) > 0.7)
            fail_msg("kinds, method %d: %g degrees, %s", (int)METHODS[k], turn_between(result.transform, motion),
                     result.reason);
        atn_cloud_free(from), atn_cloud_free(target);
    }
    host_close(&host);
}

typedef struct watched {
    int32_t stop_at, seen;
} watched;
static bool watch(void *user, const atn_register_step *step) {
    watched *w = user;
    w->seen = step->iteration;
    return step->iteration < w->stop_at;
}

KIT_TEST(stops_when_told_to) {
    kit_host host = host_open();
    double motion[16], back[16];
    motion_make(15, AXIS, 1, SHIFT, motion);
    motion_invert(motion, back);
    atn_cloud *from = shape_make(host.ctx, &(shape){300, 4, 41, 0.01, 0, 0, back});
    atn_cloud *target = shape_make(host.ctx, &(shape){300, 4, 42, 0.01, 0, 0, NULL});
    for (size_t k = 0; k < N_METHODS; ++k) {
        watched w = {.stop_at = 3};
        atn_register_settings settings = {.method = METHODS[k], .watch = watch, .watch_user = &w};
        atn_register_result result = {0};
        kit_fails(host.ctx, ATN_ERR_CANCELLED, "stopped after 3 iterations",
                  atn_register(host.device, from, target, &settings, &result));
        assert_int_equal(w.seen, 3);
        settings = (atn_register_settings){.method = METHODS[k], .init = ATN_START_IDENTITY, .most_iterations = 2};
        kit_ok(host.ctx, atn_register(host.device, from, target, &settings, &result));
        assert_int_equal(result.iterations, 2);
        assert_true(!result.converged && result.verdict != ATN_VERDICT_TRUSTED);
        kit_contains(result.reason, "after 2 iterations");
    }
    atn_cloud_free(from);
    atn_cloud_free(target);
    host_close(&host);
}

/* The n-th allocation from the first call on fails, for every n until it goes well. */
KIT_TEST(every_allocation_fails_once) {
    double motion[16], back[16];
    motion_make(10, AXIS, 1, SHIFT, motion);
    motion_invert(motion, back);
    for (size_t k = 0; k < N_METHODS; ++k) {
        kit_faults faults = {.fail_at = 0};
        atn_ctx_settings options = kit_fault_options(&faults);
        char *dir = kit_tempdir();
        options.cache_dir = dir;
        atn_ctx *ctx;
        atn_devices *devices;
        atn_device *device;
        int32_t index;
        assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
        kit_ok(ctx, atn_devices_find(ctx, &devices));
        kit_ok(ctx, atn_devices_pick(devices, "host", &index));
        kit_ok(ctx, atn_device_open(devices, index, &device));
        atn_cloud *from = shape_make(ctx, &(shape){60, 4, 41, 0.01, 0, 0, back});
        atn_cloud *target = shape_make(ctx, &(shape){70, 4, 42, 0.01, 0, 0, NULL});
        atn_register_settings settings = {
            .method = METHODS[k], .most_iterations = 2, .trim = 0.1, .robust = ATN_ROBUST_HUBER};
        atn_register_result result = {0};
        atn_status status = ATN_ERR_MEMORY;
        long step = 1;
        for (long n = 1; status != ATN_OK; n += step) {
            faults.fail_at = atomic_load(&faults.count) + n;
            status = atn_register(device, from, target, &settings, &result);
            if (status != ATN_OK && status != ATN_ERR_MEMORY) fail_msg("allocation %ld: %s", n, atn_ctx_message(ctx));
            step = n < 40 ? 1 : n / 8; /* planning kernels takes many; the later ones are sampled */
        }
        faults.fail_at = 0;
        atn_cloud_free(from);
        atn_cloud_free(target);
        atn_device_close(device);
        atn_devices_free(devices);
        atn_ctx_free(ctx);
        if (faults.live) fail_msg("method %d: %ld blocks were not freed", (int)METHODS[k], (long)faults.live);
        kit_remove(dir);
    }
}

/* Fails the `fail_at`-th allocation (from 1) of threads other than the one that calls. */
typedef struct elsewhere {
    pthread_t caller;
    atomic_long count, fail_at;
} elsewhere;

static void *resize_elsewhere(void *user, void *block, size_t bytes) {
    elsewhere *e = user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    bool other = !pthread_equal(pthread_self(), e->caller);
    if (other && atomic_fetch_add(&e->count, 1) + 1 == atomic_load(&e->fail_at)) return NULL;
    return realloc(block, bytes);
}

/* Messages are kept by thread: that of a thread which works for the caller becomes the caller's. */
KIT_TEST(a_failure_of_another_thread_has_its_message) {
    enum { POINTS = 6000, MOST = 400 };
    elsewhere e = {.caller = pthread_self()};
    double motion[16], back[16];
    atn_ctx *ctx;
    char *dir = kit_tempdir();
    kit_pool_take(dir);
    atn_ctx_settings options = {
        .size = sizeof options, .resize = resize_elsewhere, .resize_user = &e, .cache_dir = dir};
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    atn_device *device = kit_open_host(ctx);
    motion_make(10, AXIS, 1, SHIFT, motion);
    motion_invert(motion, back);
    atn_cloud *from = shape_make(ctx, &(shape){POINTS, 4, 41, 0.01, 0, 0, back});
    atn_cloud *target = shape_make(ctx, &(shape){POINTS, 4, 42, 0.01, 0, 0, NULL});
    const atn_register_settings settings = {.most_iterations = 2, .no_covariance = true, .no_polish = true};
    atn_register_result result = {0};
    kit_ok(ctx, atn_register(device, from, target, &settings, &result)); /* builds kernels */
    int failed = 0;
    for (long n = 1; n < MOST; n += n < 40 ? 1 : n / 8) {
        (void)atn_fail(ctx, ATN_ERR_INPUT, "an earlier failure");
        atomic_store(&e.fail_at, atomic_load(&e.count) + n);
        atn_status status = atn_register(device, from, target, &settings, &result);
        atomic_store(&e.fail_at, 0);
        if (status == ATN_OK) continue;
        ++failed;
        if (status != ATN_ERR_MEMORY || !strstr(atn_ctx_message(ctx), "out of memory"))
            fail_msg("allocation %ld elsewhere: %s: %s", n, atn_status_name(status), atn_ctx_message(ctx));
    }
    if (atn_parallel_cores() > 1)
        assert_true(failed > 0);
    else
        printf("SKIPPED: one core: no other threads\n");
    atn_cloud_free(from);
    atn_cloud_free(target);
    atn_device_close(device);
    atn_ctx_free(ctx);
    kit_remove(dir);
}

/* A start is of the kind that is asked for: what is far from it is refused, what a file rounded is made whole. */
KIT_TEST(a_start_is_what_it_should_be) {
    static const struct {
        double start[9];
        const char *why[3]; /* by kind of transform; NULL: it is taken */
    } STARTS[] = {
        {{0, 0, 0, 0, 0, 0, 0, 0, 0}, {"singular", "singular", "singular"}},
        {{1, 0, 0, 0, 1, 0, 0, 0, 1e-30}, {"singular", "singular", "singular"}},
        {{2, 0, 0, 0, 2, 0, 0, 0, 2}, {"a rigid transform does not", NULL, NULL}},
        {{1, 0, 0, 0, 1, 0, 0, 0, -1}, {"a rigid transform does not", "shears or mirrors", NULL}},
        {{1, 0.2, 0, 0, 1, 0, 0, 0, 1}, {"a rigid transform does not", "shears or mirrors", NULL}},
        {{1.0004, 0, 0, 0, 1, 0, 0, 0, 1}, {NULL, NULL, NULL}},
    };
    kit_host host = host_open();
    atn_cloud *cloud = shape_make(host.ctx, &(shape){200, 4, 41, 0, 0, 0, NULL});
    for (size_t k = 0; k < sizeof STARTS / sizeof *STARTS; ++k)
        for (int kind = 0; kind < 3; ++kind) {
            atn_register_settings settings = {
                .transform = (atn_transform_kind)kind, .init = ATN_START_GIVEN, .start = {[15] = 1}};
            atn_register_result result = {0};
            for (int i = 0; i < 9; ++i) settings.start[i / 3 * 4 + i % 3] = STARTS[k].start[i];
            atn_status status = atn_register(host.device, cloud, cloud, &settings, &result);
            if (STARTS[k].why[kind]) {
                kit_fails(host.ctx, ATN_ERR_INPUT, STARTS[k].why[kind], status);
                continue;
            }
            kit_ok(host.ctx, status);
            double off = 0; /* of rigid results: a rotation to the last digits */
            for (int i = 0; i < 9 && kind == 0; ++i) {
                double dot = -(i % 4 == 0);
                for (int j = 0; j < 3; ++j) dot += result.transform[4 * j + i / 3] * result.transform[4 * j + i % 3];
                off = fmax(off, fabs(dot));
            }
            assert_true(off < 1e-9);
        }
    atn_cloud_free(cloud);
    host_close(&host);
}

/* Every point twice, or half of them at one place, is the same shape. */
KIT_TEST(copies_of_points_are_no_density) {
    kit_host host = host_open();
    double motion[16], back[16];
    motion_make(8, AXIS, 1, SHIFT, motion);
    motion_invert(motion, back);
    size_t n[2];
    double *p[2] = {shape_positions(&(shape){700, 6, 61, 0, 0, 0, back}, &n[0]),
                    shape_positions(&(shape){700, 6, 62, 0, 0, 0, NULL}, &n[1])};
    atn_cloud *cloud[2];
    for (int c = 0; c < 2; ++c) { /* each behind itself */
        p[c] = realloc(p[c], 6 * n[c] * sizeof **p);
        for (size_t k = 2 * n[c]; k-- > 0;) memcpy(p[c] + 3 * k, p[c] + 3 * (k / 2), 3 * sizeof **p);
        kit_ok(host.ctx, atn_cloud_create(host.ctx, 2 * n[c], p[c], NULL, &cloud[c]));
    }
    for (size_t k = 0; k < N_METHODS; ++k) {
        atn_register_settings settings = {.method = METHODS[k]};
        atn_register_result result = {0};
        kit_ok(host.ctx, atn_register(host.device, cloud[0], cloud[1], &settings, &result));
        if (!result.converged || turn_between(result.transform, motion) > 1 || result.overlap < 0.8)
            fail_msg("method %d: %g degrees, overlap %g, %s", (int)METHODS[k], turn_between(result.transform, motion),
                     result.overlap, result.reason);
    }
    for (int c = 0; c < 2; ++c) {
        atn_cloud_free(cloud[c]);
        free(p[c]);
    }
    host_close(&host);
}

/* What can be known to be no answer is told for what it is. */
KIT_TEST(reasons_name_the_cause) {
    kit_host host = host_open();
    size_t n;
    double *p = shape_positions(&(shape){300, 6, 61, 0, 0, 0, NULL}, &n), *q = malloc(3 * n * sizeof *q);
    static const struct {
        double scale, alone; /* of all points; of five, which are at one place, beside it: too many to be left out */
        const char *reason;
    } CASES[] = {{1000, 1, "times as large as the target"}, {1, 1e25, "away from the others"}};
    atn_cloud *from, *target;
    kit_ok(host.ctx, atn_cloud_create(host.ctx, n, p, NULL, &target));
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; ++c)
        for (size_t k = 0; k < N_METHODS; ++k) {
            atn_register_settings settings = {.method = METHODS[k]};
            atn_register_result result = {0};
            for (size_t i = 0; i < 3 * n; ++i) {
                bool alone = CASES[c].alone > 1 && i / 3 % 60 == 7;
                q[i] = alone ? p[21 + i % 3] * CASES[c].alone : p[i] * CASES[c].scale;
            }
            kit_ok(host.ctx, atn_cloud_create(host.ctx, n, q, NULL, &from));
            kit_ok(host.ctx, atn_register(host.device, from, target, &settings, &result));
            assert_false(result.converged || result.has_covariance);
            kit_contains(result.reason, CASES[c].reason);
            atn_cloud_free(from);
        }
    for (size_t i = 0; i < 3 * n; ++i) q[i] = p[i] * 1e-200;
    kit_ok(host.ctx, atn_cloud_create(host.ctx, n, q, NULL, &from));
    kit_fails(host.ctx, ATN_ERR_INPUT, "use another unit",
              atn_register(host.device, from, target, NULL, &(atn_register_result){0}));
    atn_cloud_free(from);
    for (size_t k = 0; k < N_METHODS; ++k) { /* six points of a thing: all of it is far from them */
        atn_register_settings settings = {.method = METHODS[k]};
        atn_register_result result = {0};
        kit_ok(host.ctx, atn_cloud_create(host.ctx, 6, p, NULL, &from));
        kit_ok(host.ctx, atn_register(host.device, target, from, &settings, &result));
        assert_true(!result.converged || result.rmse < 0.45);
        atn_cloud_free(from);
    }
    atn_cloud_free(target);
    free(p), free(q);
    host_close(&host);
}

/* A device that is lost after some steps. */
typedef struct losing {
    atn_device *device;
    int32_t after; /* iterations */
} losing;

static bool lose_it(void *user, const atn_register_step *step) {
    const losing *l = user;
    if (step->iteration == l->after) (void)atn_device_lose(l->device, "unplugged");
    return true;
}

/* The host takes over, from the start, and it is said once; the pairs after it stay there. */
KIT_TEST(goes_on_without_its_device) {
    kit_log log = {0};
    atn_ctx *ctx;
    kit_ok(NULL, atn_ctx_create(&(atn_ctx_settings){.log = kit_log_line, .log_user = &log}, &ctx));
    double motion[16], back[16];
    motion_make(10, AXIS, 1, SHIFT, motion);
    motion_invert(motion, back);
    atn_cloud *from = shape_make(ctx, &(shape){800, 1, 11, 0.005, 0, 0, back});
    atn_cloud *target = shape_make(ctx, &(shape){900, 1, 12, 0.005, 0, 0, NULL});
    for (int batch = 0; batch < 2; ++batch) {
        atn_devices *devices;
        losing l = {.after = 2};
        int32_t index;
        kit_ok(ctx, atn_devices_find(ctx, &devices));
        kit_ok(ctx, atn_devices_pick(devices, "host", &index));
        kit_ok(ctx, atn_device_open(devices, index, &l.device));
        const atn_register_settings settings = {
            .watch = lose_it, .watch_user = &l, .profile = true}; /* pairs one after the other, on this device */
        atn_register_pair pairs[3] = {
            {.source = from, .target = target}, {.source = from, .target = target}, {.source = target, .target = from}};
        int before = log.warnings;
        if (batch)
            kit_ok(ctx, atn_register_batch(l.device, 3, pairs, &settings));
        else
            kit_ok(ctx, atn_register(l.device, from, target, &settings, &pairs[0].result));
        for (int k = 0; k < (batch ? 3 : 1); ++k) {
            kit_ok(ctx, pairs[k].status);
            assert_true(pairs[k].result.converged);
            assert_true(turn_between(pairs[k].result.transform, k == 2 ? back : motion) < 0.5);
        }
        assert_int_equal(log.warnings, before + 1);
        assert_non_null(strstr(log.last, "lost"));
        assert_non_null(strstr(log.last, "the host"));
        atn_device_close(l.device);
        atn_devices_free(devices);
    }
    atn_cloud_free(from);
    atn_cloud_free(target);
    atn_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_nothing_to_no_question),
        cmocka_unit_test(far_clouds_are_found_or_not_but_not_wrong),
        cmocka_unit_test(refuses_scale_along_normals),
        cmocka_unit_test(a_start_is_what_it_should_be),
        cmocka_unit_test(copies_of_points_are_no_density),
        cmocka_unit_test(reasons_name_the_cause),
        cmocka_unit_test(weights_and_kinds_count),
        cmocka_unit_test(stops_when_told_to),
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(a_failure_of_another_thread_has_its_message),
        cmocka_unit_test(goes_on_without_its_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
