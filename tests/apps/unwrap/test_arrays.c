/* Frames in device memory: nothing of their size goes to the host or comes from there; in host memory, the host's own
 * device reads them where they are. The answers are those of copies, with gaps between rows and in place too. */
#include "testkit.h"

#include "apps/unwrap/unwrap.h"
#include "num/array.h"

#include <attune/attune.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { W = 60, H = 50, GAP = 4 };
static float psi[W * H], quality[W * H], expected[W * H];
static uint8_t mask[W * H];

static void put_scene(void) {
    uint64_t seed = 3;
    for (int k = 0; k < W * H; ++k) {
        psi[k] = (float)remainder(0.004 * (k % W) * (k % W) - 0.3 * (k / W), 2 * acos(-1.0));
        mask[k] = kit_uniform(&seed) > 0.2;
        quality[k] = (float)(0.5 + 0.5 * kit_uniform(&seed));
    }
}

static atn_array *matrix(const atn_ctx *ctx, atn_device *device, atn_type type, const void *from, bool gaps) {
    atn_array *array;
    kit_ok(ctx, atn_array_create_matrix(device, type, H, W, gaps ? W + GAP : 0, &array));
    if (from) kit_ok(ctx, atn_array_put(array, from, 0));
    return array;
}

static void on_device(atn_ctx *ctx, atn_device *device, const atn_unwrap_solve_settings *from, bool gaps,
                      bool in_place) {
    atn_unwrap *unwrap;
    atn_unwrap_result r = {0};
    atn_unwrap_solve_settings s = *from;
    float out[W * H];
    kit_ok(ctx, atn_unwrap_create(device, W, H, NULL, &unwrap));
    kit_ok(ctx, atn_unwrap_solve(unwrap, psi, &s, expected, &r));
    atn_array *phase = matrix(ctx, device, ATN_SP, psi, gaps);
    atn_array *answer = in_place ? phase : matrix(ctx, device, ATN_SP, NULL, gaps);
    s.mask_array = s.mask ? matrix(ctx, device, ATN_U8, s.mask, gaps) : NULL;
    s.quality_array = s.quality ? matrix(ctx, device, ATN_SP, s.quality, gaps) : NULL;
    s.mask = NULL;
    s.quality = NULL;
    atn_array *all[] = {phase, answer, s.mask_array, s.quality_array};
    for (int k = 0; k < 4; ++k)
        if (all[k]) kit_ok(ctx, atn_array_ready_device(all[k], false));
    int64_t before[4][2], after[2];
    for (int k = 0; k < 4; ++k)
        if (all[k]) atn_array_transfers(all[k], &before[k][0], &before[k][1]);
    kit_ok(ctx, atn_unwrap_solve_array(unwrap, phase, &s, answer, &r));
    assert_true(r.converged);
    for (int k = 0; k < 4 && !gaps; ++k) {
        if (!all[k]) continue;
        atn_array_transfers(all[k], &after[0], &after[1]);
        if (after[0] != before[k][0] || after[1] != before[k][1]) fail_msg("array %d went to the host or back", k);
    }
    kit_ok(ctx, atn_array_get(answer, out, 0));
    for (int k = 0; k < W * H; ++k)
        if (!(fabsf(out[k] - expected[k]) < 1e-4f) && !(isnan(out[k]) && isnan(expected[k])))
            fail_msg("pixel %d: %g, %g", k, (double)out[k], (double)expected[k]);
    for (int k = in_place; k < 4; ++k) atn_array_free(all[k]);
    /* what was bound is gone: the next frame does not look at it */
    kit_ok(ctx, atn_unwrap_solve(unwrap, psi, from, out, &r));
    assert_memory_equal(out, expected, sizeof out);
    atn_unwrap_free(unwrap);
}

KIT_TEST(nothing_is_copied) {
    const atn_unwrap_solve_settings KINDS[] = {{0}, {.mask = mask}, {.mask = mask, .quality = quality}};
    const char *const DEVICES[] = {"host", "opencl"};
    put_scene();
    for (int d = 0; d < 2; ++d) {
        atn_ctx *ctx = kit_ctx();
        atn_devices *devices;
        atn_device *device;
        int32_t index;
        kit_ok(ctx, atn_devices_find(ctx, &devices));
        if (atn_devices_pick(devices, DEVICES[d], &index) != ATN_OK) {
            print_message("[  SKIPPED ] no %s device here\n", DEVICES[d]);
        } else {
            kit_ok(ctx, atn_device_open(devices, index, &device));
            for (int k = 0; k < 3; ++k) on_device(ctx, device, &KINDS[k], false, k == 1 && d == 0);
            if (d == 0) on_device(ctx, device, &KINDS[2], true, false);
            if (d == 0) on_device(ctx, device, &KINDS[2], true, true);
            atn_device_close(device);
        }
        atn_devices_free(devices);
        kit_free(ctx);
    }
}

/* The arrays that copies would go to have no memory yet. */
KIT_TEST(host_memory_is_read_in_place) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = kit_open_host(ctx);
    atn_unwrap *unwrap;
    atn_unwrap_result r = {0};
    put_scene();
    kit_ok(ctx, atn_unwrap_create(device, W, H, NULL, &unwrap));
    kit_ok(ctx,
           atn_unwrap_solve(unwrap, psi, &(atn_unwrap_solve_settings){.mask = mask, .quality = quality}, expected, &r));
    const atn_array *own[] = {unwrap->psi, unwrap->mask, unwrap->quality};
    for (int k = 0; k < 3; ++k) assert_true(!own[k]->storage->buffer && !own[k]->storage->host);
    atn_unwrap_free(unwrap);
    atn_device_close(device);
    kit_free(ctx);
}

KIT_TEST(wrong_arrays_are_refused) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = kit_open_host(ctx);
    atn_unwrap *unwrap;
    atn_unwrap_result r = {0};
    kit_ok(ctx, atn_unwrap_create(device, W, H, NULL, &unwrap));
    atn_array *phase = matrix(ctx, device, ATN_SP, psi, false), *small;
    kit_ok(ctx, atn_array_create_matrix(device, ATN_U8, H, W - 1, 0, &small));
    kit_fails(ctx, ATN_ERR_INPUT, "the mask is 59 x 50",
              atn_unwrap_solve_array(unwrap, phase, &(atn_unwrap_solve_settings){.mask_array = small}, phase, &r));
    kit_fails(
        ctx, ATN_ERR_INPUT, "twice",
        atn_unwrap_solve(unwrap, psi, &(atn_unwrap_solve_settings){.mask_array = small, .mask = mask}, expected, &r));
    kit_fails(ctx, ATN_ERR_INPUT, "the quality is",
              atn_unwrap_solve(unwrap, psi, &(atn_unwrap_solve_settings){.quality_array = small}, expected, &r));
    atn_array_free(phase), atn_array_free(small);
    atn_unwrap_free(unwrap);
    atn_device_close(device);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_copied),
        cmocka_unit_test(host_memory_is_read_in_place),
        cmocka_unit_test(wrong_arrays_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
