/* A stop in the middle of a step over all pairs on the host: rows behind it are left alone. The stop comes with an
 * allocation, so that no clock decides where. */
#include "regkit.h"

#include "apps/register/problem.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { POINTS = 15000, BLOCK = 16 };
static const float UNTOUCHED = -7;

/* Counts allocations, and cancels with one of them. */
typedef struct counting {
    atn_ctx *ctx;
    atomic_long count;
    long stop_at; /* 0: never */
} counting;

static void *resize(void *user, void *block, size_t bytes) {
    counting *c = user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    if (atomic_fetch_add(&c->count, 1) + 1 == c->stop_at) atn_ctx_cancel(c->ctx);
    return realloc(block, bytes);
}

static reg_side side_of(atn_device *device, uint64_t seed) {
    const atn_ctx *ctx = atn_device_ctx(device);
    const double origin[3] = {0, 0, 0};
    cloud_points points;
    reg_side side;
    kit_ok(ctx, cloud_points_make(ctx, POINTS, false, &points));
    for (size_t k = 0; k < POINTS; ++k) {
        for (int a = 0; a < 3; ++a) points.position[a][k] = kit_uniform(&seed);
        points.weight[k] = 1;
    }
    kit_ok(ctx, reg_side_make(device, &points, origin, 1, ATN_SP, BLOCK, &side));
    cloud_points_free(&points);
    return side;
}

/* The sum of the first or the last row. */
static float sum_of(const atn_ctx *ctx, reg_side *rows, bool last) {
    const void *sums;
    kit_ok(ctx, atn_array_map_read(rows->sum[0], &sums));
    return ((const float *)sums)[last ? rows->padded - 1 : 0];
}

static void forget(const atn_ctx *ctx, reg_side *rows) {
    void *sums;
    kit_ok(ctx, atn_array_map_write(rows->sum[0], &sums));
    for (size_t k = 0; k < rows->padded; ++k) ((float *)sums)[k] = UNTOUCHED;
}

/* Steps over all pairs; sums of rows are in the first of their arrays. */
typedef atn_status step(reg_engine *engine, reg_side *rows, reg_side *columns, atn_array *square);

static atn_status estep(reg_engine *e, reg_side *rows, reg_side *columns, atn_array *square) {
    (void)square;
    return reg_estep(e, rows, columns, INFINITY, false);
}

static atn_status nearest(reg_engine *e, reg_side *rows, reg_side *columns, atn_array *square) {
    (void)square;
    return reg_partners(e, rows, columns, 2, 0);
}

/* The kernel is built by a first run; `each` run takes so many allocations, the last of them for the last rows. */
static void stop_a_step(counting *c, reg_engine *engine, reg_side *rows, reg_side *columns, atn_array *square,
                        step *make) {
    kit_ok(c->ctx, make(engine, rows, columns, square));
    float first = sum_of(c->ctx, rows, false), last = sum_of(c->ctx, rows, true);
    assert_true(first > 0 && last > 0);
    forget(c->ctx, rows);
    long before = atomic_load(&c->count);
    kit_ok(c->ctx, make(engine, rows, columns, square));
    long each = atomic_load(&c->count) - before;
    assert_true(each > 0);
    assert_true(sum_of(c->ctx, rows, false) == first && sum_of(c->ctx, rows, true) == last);
    forget(c->ctx, rows);
    c->stop_at = atomic_load(&c->count) + each;
    assert_int_equal(make(engine, rows, columns, square), ATN_ERR_CANCELLED);
    atn_ctx_resume(c->ctx);
    assert_true(sum_of(c->ctx, rows, false) == first);
    assert_true(sum_of(c->ctx, rows, true) == UNTOUCHED);
}

KIT_TEST(a_step_stops_between_its_rows) {
    static step *const STEPS[] = {estep, nearest, reg_estep_compat};
    counting c = {.stop_at = 0};
    atn_devices *devices;
    atn_device *device;
    atn_array *square;
    int32_t index;
    char *folder = kit_tempdir();
    kit_pool_take(folder);
    atn_ctx_settings options = {.size = sizeof options, .resize = resize, .resize_user = &c, .cache_dir = folder};
    assert_int_equal(atn_ctx_create(&options, &c.ctx), ATN_OK);
    kit_ok(c.ctx, atn_devices_find(c.ctx, &devices));
    kit_ok(c.ctx, atn_devices_pick(devices, "host", &index));
    kit_ok(c.ctx, atn_device_open(devices, index, &device));
    atn_register_settings settings = {.precision = 32, .error_bound = 1e-4, .dense = true};
    reg_engine engine;
    kit_ok(c.ctx, reg_engine_open(device, &settings, &engine));
    reg_side rows = side_of(device, 3), columns = side_of(device, 5);
    kit_ok(c.ctx, reg_place(&engine, &rows, &GEOM_IDENTITY));
    kit_ok(c.ctx, reg_place(&engine, &columns, &GEOM_IDENTITY));
    kit_ok(c.ctx, atn_array_create_vector(device, ATN_SP, (int64_t)rows.padded, &square));
    for (size_t k = 0; k < sizeof STEPS / sizeof *STEPS; ++k)
        stop_a_step(&c, &engine, &rows, &columns, square, STEPS[k]);
    atn_array_free(square);
    reg_side_free(&rows);
    reg_side_free(&columns);
    reg_engine_close(&engine);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(c.ctx);
    free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_step_stops_between_its_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
