/* A batch and one registration on several devices: what the host alone finds, told in order; a device that is lost in
 * the middle leaves its pairs, or its rows, to the others. */
#include "apps/register/helpers.h"
#include "device/backend.h"
#include "regkit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 5 };
static const double AXIS[3] = {0.3, -0.5, 0.8}, SHIFT[3] = {0.05, -0.02, 0.03};

typedef struct fixture {
    atn_ctx *ctx;
    atn_devices *found;
    atn_device *device[2]; /* the host, and OpenCL or another host */
    double motion[PAIRS][16];
    atn_cloud *source[PAIRS], *target;
} fixture;

static void fill(const fixture *f, atn_register_pair pairs[PAIRS]) {
    memset(pairs, 0, PAIRS * sizeof *pairs);
    for (int k = 0; k < PAIRS; ++k) pairs[k] = (atn_register_pair){.source = f->source[k], .target = f->target};
}

static int setup(void **state) {
    static fixture f;
    int32_t index;
    f = (fixture){0};
    f.ctx = kit_ctx();
    kit_ok(f.ctx, atn_devices_find(f.ctx, &f.found));
    kit_ok(f.ctx, atn_devices_pick(f.found, "host", &index));
    kit_ok(f.ctx, atn_device_open(f.found, index, &f.device[0]));
    if (getenv("ATTUNE_TEST_ALL") && atn_devices_pick(f.found, "opencl", &index) != ATN_OK) {
        printf("SKIPPED: no OpenCL; the host twice\n");
        kit_ok(f.ctx, atn_devices_pick(f.found, "host", &index));
    }
    kit_ok(f.ctx, atn_device_open(f.found, index, &f.device[1]));
    f.target = shape_make(f.ctx, &(shape){500, 1, 12, 0.005, 0, 0, NULL});
    for (int k = 0; k < PAIRS; ++k) {
        double back[16];
        motion_make(2 + k, AXIS, 1, SHIFT, f.motion[k]);
        motion_invert(f.motion[k], back);
        f.source[k] = shape_make(f.ctx, &(shape){400, 1, 20 + (uint64_t)k, 0.005, 0, 0, back});
    }
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    for (int k = 0; k < PAIRS; ++k) atn_cloud_free(f->source[k]);
    atn_cloud_free(f->target);
    for (int k = 0; k < 2; ++k) atn_device_close(f->device[k]);
    atn_devices_free(f->found);
    kit_free(f->ctx);
    return 0;
}

typedef struct order {
    size_t next;
    bool good;
    atn_device *lose; /* after the first step that is seen; NULL: none */
} order;

static void in_order(void *user, size_t pair) {
    order *o = user;
    o->good = o->good && pair == o->next++;
}

static bool lose_it(void *user, const atn_register_step *step) {
    order *o = user;
    (void)step;
    if (o->lose) (void)atn_device_lose(o->lose, "unplugged");
    o->lose = NULL;
    return true;
}

static void check(const fixture *f, const atn_register_pair *pairs, const order *o) {
    assert_true(o->good);
    assert_int_equal(o->next, PAIRS);
    for (int k = 0; k < PAIRS; ++k) {
        kit_ok(f->ctx, pairs[k].status);
        assert_true(turn_between(pairs[k].result.transform, f->motion[k]) < 0.5);
    }
}

static void as_the_host(void **state) {
    const fixture *f = *state;
    static atn_register_pair alone[PAIRS], pairs[PAIRS];
    order o = {.good = true};
    atn_register_settings settings = {.init = ATN_START_IDENTITY, .no_covariance = true};
    fill(f, alone);
    fill(f, pairs);
    kit_ok(f->ctx, atn_register_batch(f->device[0], PAIRS, alone, &settings));
    settings.done = in_order;
    settings.done_user = &o;
    kit_ok(f->ctx, atn_register_batch_several(f->device, 2, PAIRS, pairs, &settings));
    check(f, pairs, &o);
    for (int k = 0; k < PAIRS; ++k)
        assert_true(turn_between(pairs[k].result.transform, alone[k].result.transform) < 0.01);
}

/* Whichever is lost; the first step that is seen may be of either. */
static void one_is_lost(void **state) {
    const fixture *f = *state;
    static atn_register_pair pairs[PAIRS];
    order o = {.good = true, .lose = f->device[1]};
    const atn_register_settings settings = {.init = ATN_START_IDENTITY,
                                            .no_covariance = true,
                                            .done = in_order,
                                            .done_user = &o,
                                            .watch = lose_it,
                                            .watch_user = &o};
    fill(f, pairs);
    kit_ok(f->ctx, atn_register_batch_several(f->device, 2, PAIRS, pairs, &settings));
    check(f, pairs, &o);
}

/* Who has a pair must not decide its last digits: the first device has all of them, or fails. */
static void reproducible(void **state) {
    const fixture *f = *state;
    static atn_register_pair alone[PAIRS], pairs[PAIRS];
    atn_register_settings settings = {.init = ATN_START_IDENTITY, .no_covariance = true, .reproducible = true};
    fill(f, alone);
    fill(f, pairs);
    kit_ok(f->ctx, atn_register_batch(f->device[0], PAIRS, alone, &settings));
    kit_ok(f->ctx, atn_register_batch_several(f->device, 2, PAIRS, pairs, &settings));
    for (int k = 0; k < PAIRS; ++k)
        assert_memory_equal(pairs[k].result.transform, alone[k].result.transform, sizeof alone[k].result.transform);
    (void)atn_device_lose(f->device[0], "unplugged");
    fill(f, pairs);
    kit_fails(f->ctx, ATN_ERR_LOST, "was lost", atn_register_batch_several(f->device, 2, PAIRS, pairs, &settings));
    settings.reproducible = false;
    kit_ok(f->ctx, atn_register_batch_several(f->device, 2, PAIRS, pairs, &settings));
}

static void refusals(void **state) {
    const fixture *f = *state;
    static atn_register_pair pairs[PAIRS];
    atn_device *const twice[2] = {f->device[0], f->device[0]};
    atn_device *many[ATN_MOST_DEVICES + 1];
    atn_register_result result = {0};
    for (int k = 0; k <= ATN_MOST_DEVICES; ++k) many[k] = f->device[0];
    fill(f, pairs);
    kit_fails(f->ctx, ATN_ERR_INPUT, "65 devices; at most 64",
              atn_register_batch_several(many, ATN_MOST_DEVICES + 1, PAIRS, pairs, NULL));
    kit_fails(f->ctx, ATN_ERR_INPUT, "65 devices; at most 64",
              atn_register_several(many, ATN_MOST_DEVICES + 1, f->source[0], f->target, NULL, &result));
    kit_fails(f->ctx, ATN_ERR_INPUT, "named twice", atn_register_batch_several(twice, 2, PAIRS, pairs, NULL));
    kit_fails(NULL, ATN_ERR_INPUT, "needs a device", atn_register_batch_several(twice, 0, PAIRS, pairs, NULL));
    kit_ok(f->ctx, atn_register_batch_several(twice, 2, 0, pairs, NULL));
}

/* Rows of one step: each as one device makes it, and some of them by the other; none where that is lost by then. */
static void rows_are_shared(void **state) {
    const fixture *f = *state;
    enum { POINTS = 5000 };
    atn_cloud *cloud[2] = {shape_make(f->ctx, &(shape){POINTS, 1, 31, 0.005, 0, 0, NULL}),
                           shape_make(f->ctx, &(shape){POINTS, 1, 32, 0.005, 0, 0, f->motion[0]})};
    const atn_register_settings plain = {0}, dense = {.dense = true}, same = {.dense = true, .reproducible = true};
    const atn_register_settings *const SETTINGS[] = {&plain, &dense, &same};
    for (size_t c = 0; c < sizeof SETTINGS / sizeof *SETTINGS; ++c)
        for (int nearest = 0; nearest < 2; ++nearest) {
            reg_engine engine = {0};
            reg_helpers *helpers;
            reg_side side[2] = {{0}};
            cloud_points points[2] = {{0}};
            double *sum[2] = {calloc(4 * POINTS, sizeof **sum), calloc(4 * POINTS, sizeof **sum)};
            bool lose = c == 1 && nearest; /* the last that are shared */
            kit_ok(f->ctx, reg_engine_open(f->device[0], SETTINGS[c], &engine));
            kit_ok(f->ctx, reg_helpers_open(f->device, 2, SETTINGS[c], &helpers));
            for (int k = 0; k < 2; ++k) {
                kit_ok(f->ctx, cloud_points_of(f->ctx, cloud[k], &points[k]));
                kit_ok(f->ctx, reg_side_make(f->device[0], &points[k], (double[3]){0}, 0.2, engine.type, REG_HOST_BLOCK,
                                             &side[k]));
                kit_ok(f->ctx, reg_side_unpark(&side[k]));
                kit_ok(f->ctx, reg_place(&engine, &side[k], &GEOM_IDENTITY));
            }
            for (int several = 0; several < (lose ? 3 : 2); ++several) {
                engine.helpers = several ? helpers : NULL;
                size_t made = reg_helpers_rows(helpers);
                if (several == 2) (void)atn_device_lose(f->device[1], "unplugged");
                if (nearest)
                    kit_ok(f->ctx, reg_partners(&engine, &side[0], &side[1], 8, 0));
                else
                    kit_ok(f->ctx, reg_estep(&engine, &side[0], &side[1], 8, false));
                for (size_t k = 0; k < (nearest ? 1 : 4); ++k)
                    kit_ok(f->ctx, reg_array_get(side[0].sum[k], POINTS, sum[several > 0] + k * POINTS));
                if (several == 2) assert_int_equal(reg_helpers_rows(helpers), made);
            }
            assert_int_equal(reg_helpers_rows(helpers) > 0, c < 2);
            for (size_t k = 0; k < 4 * POINTS; ++k)
                assert_true(fabs(sum[0][k] - sum[1][k]) <= (c < 2 ? 1e-4 : 0) * (1 + fabs(sum[0][k])));
            for (int k = 0; k < 2; ++k) {
                reg_engine_forget(&engine, &side[k]);
                reg_side_free(&side[k]);
                cloud_points_free(&points[k]);
                free(sum[k]);
            }
            reg_helpers_close(helpers);
            reg_engine_close(&engine);
        }
    for (int k = 0; k < 2; ++k) atn_cloud_free(cloud[k]);
}

/* One registration: the pose of the host alone, with both devices, and where one of them is lost after a step. */
static void one_pair(void **state) {
    const fixture *f = *state;
    double back[16];
    motion_invert(f->motion[0], back);
    atn_cloud *source = shape_make(f->ctx, &(shape){5000, 1, 33, 0.005, 0, 0, back}),
              *target = shape_make(f->ctx, &(shape){5000, 1, 34, 0.005, 0, 0, NULL});
    atn_register_result alone = {0}, both = {0};
    order o = {.good = true};
    atn_register_settings settings = {.init = ATN_START_IDENTITY, .dense = true, .no_covariance = true};
    settings.method = ATN_REGISTER_ICP; /* whose steps are long */
    settings.watch = lose_it;
    settings.watch_user = &o;
    kit_ok(f->ctx, atn_register(f->device[0], source, target, &settings, &alone));
    assert_true(turn_between(alone.transform, f->motion[0]) < 0.5);
    for (int lost = -1; lost < 2; ++lost) { /* none, the second, the first: that one is the last thing done here */
        o.lose = lost < 0 ? NULL : f->device[1 - lost];
        kit_ok(f->ctx, atn_register_several(f->device, 2, source, target, &settings, &both));
        assert_true(turn_between(both.transform, alone.transform) < 0.01);
    }
    atn_device *const twice[2] = {f->device[1], f->device[1]};
    kit_fails(f->ctx, ATN_ERR_INPUT, "named twice", atn_register_several(twice, 2, source, target, NULL, &both));
    kit_fails(NULL, ATN_ERR_INPUT, "a device is needed", atn_register_several(twice, 0, source, target, NULL, &both));
    atn_cloud_free(source);
    atn_cloud_free(target);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(as_the_host, setup, teardown),
                                       cmocka_unit_test_setup_teardown(one_is_lost, setup, teardown),
                                       cmocka_unit_test_setup_teardown(rows_are_shared, setup, teardown),
                                       cmocka_unit_test_setup_teardown(one_pair, setup, teardown),
                                       cmocka_unit_test_setup_teardown(reproducible, setup, teardown),
                                       cmocka_unit_test_setup_teardown(refusals, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
