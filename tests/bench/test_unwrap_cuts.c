/* What unwrapping is held against: sorted reliability is right on a smooth surface, the optimum found by gaining loops
 * is ours, and radar scenes with layover are told at least as well as by sorted reliability. */
#include "testkit.h"

#include "bench/layover.h"
#include "bench/reference_reliability.h"
#include "bench/unwrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static atn_ctx *ctx;
static atn_device *device;

KIT_TEST(reliability_unwraps) {
    enum { W = 40, H = 30 };
    static float psi[W * H], out[W * H];
    for (int k = 0; k < W * H; ++k) psi[k] = remainderf(0.9f * (float)(k % W) - 0.5f * (float)(k / W), 6.2831853f);
    kit_ok(ctx, reliability_reference_run(ctx, W, H, psi, out));
    for (int k = 0; k < W * H; ++k)
        assert_true(fabsf(out[k] - out[0] - (0.9f * (float)(k % W) - 0.5f * (float)(k / W))) < 1e-3f);
}

typedef struct rows {
    int cuts, scenes;
} rows;

static bool visit(void *user, const atn_bench_row *row) {
    rows *seen = user;
    if (strncmp(row->name, "cut length", 10) == 0) {
        ++seen->cuts;
        if (!(row->ours > 0) || row->ours != row->reference)
            fail_msg("%s: %g, optimum %g", row->name, row->ours, row->reference);
    } else {
        ++seen->scenes;
        if (row->ours > row->reference + 0.005) fail_msg("%s: %g, %g", row->name, row->ours, row->reference);
    }
    return true;
}

KIT_TEST(cuts_are_the_optimum) {
    rows seen = {0};
    kit_ok(ctx, atn_bench_unwrap_cuts(
                    ctx, device, &(atn_bench_unwrap_options){.quick = true, .to = {.visit = visit, .user = &seen}}));
    assert_true(seen.cuts == 2 && seen.scenes == 1);
}

/* Steep, and noise: the correlation must not mislead, as it is low on slopes, too. */
KIT_TEST(layover_with_quality) {
    enum { SIDE = 128 };
    double sum[2] = {0};
    static float out[SIDE * SIDE];
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        layover scene;
        atn_unwrap *unwrap;
        atn_unwrap_result result = {0};
        layover_settings s = {
            .side = SIDE, .seed = seed, .hills = 6, .steep = 1.3, .noise = 0.5, .turn = 0.9, .looks = 4};
        kit_ok(ctx, layover_make(ctx, &s, &scene));
        for (int k = 0; k < 2; ++k) {
            int64_t votes[129] = {0}, known = 0, most = 0;
            kit_ok(ctx, atn_unwrap_create(device, SIDE, SIDE, NULL, &unwrap));
            if (k == 0)
                kit_ok(ctx, atn_unwrap_solve(unwrap, scene.psi,
                                             &(atn_unwrap_solve_settings){.quality = scene.correlation}, out, &result));
            else
                kit_ok(ctx, reliability_reference_run(ctx, SIDE, SIDE, scene.psi, out));
            atn_unwrap_free(unwrap);
            for (int p = 0; p < SIDE * SIDE; ++p) {
                if (!scene.known[p]) continue;
                double turns = fmax(fmin(rint(((double)out[p] - scene.truth[p]) / 6.283185307179586), 64), -64);
                int64_t *vote = &votes[(int)turns + 64];
                ++known;
                if (++*vote > most) most = *vote;
            }
            assert_true(known > SIDE * SIDE / 2);
            sum[k] += 1 - (double)most / (double)known;
        }
        layover_free(ctx, &scene);
    }
    if (sum[0] > sum[1]) fail_msg("%g of the pixels wrong, by reliability %g", sum[0] / 3, sum[1] / 3);
}

static int open_all(void **state) {
    (void)state;
    setenv("ATTUNE_CC", "/nowhere/cc", 1); /* the library's own kernels: nothing is built */
    ctx = kit_ctx();
    device = kit_open_host(ctx);
    return 0;
}

static int close_all(void **state) {
    (void)state;
    atn_device_close(device);
    kit_free(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reliability_unwraps), cmocka_unit_test(cuts_are_the_optimum),
                                       cmocka_unit_test(layover_with_quality)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
