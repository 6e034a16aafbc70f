/* Knobs of the unwrapper: as text, measured, remembered, and taken by solvers that are made later. */
#include "testkit.h"

#include "apps/unwrap/knobs.h"

#include <attune/unwrap.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static atn_ctx *ctx;
static atn_device *host;

static int setup(void **state) {
    (void)state;
    ctx = kit_ctx();
    host = kit_open_host(ctx);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    atn_device_close(host);
    kit_free(ctx);
    return 0;
}

KIT_TEST(text_and_back) {
    unwrap_knobs knobs = {2, 2, 3, 1, 256, 0}, read;
    char text[UNWRAP_KNOBS_TEXT];
    unwrap_knobs_print(&knobs, text, sizeof text);
    assert_string_equal(text, "smoother=jacobi,cycle=W,before=3,after=1,coarsest=256,fuse=0");
    assert_true(unwrap_knobs_read(text, &read));
    assert_memory_equal(&knobs, &read, sizeof read);
    static const char *const WRONG[] = {
        "",
        "smoother=jacobi,cycle=W,before=3,after=1,coarsest=256,fuse=2",
        "smoother=jacobi,cycle=X,before=3,after=1,coarsest=256,fuse=0",
        "smoother=jacobi,cycle=W,before=9,after=1,coarsest=256,fuse=0",
        "smoother=jacobi,cycle=W,before=3,after=,coarsest=256,fuse=0",
        "smoother=jacobi,cycle=W,before=3,after=1,coarsest=99999,fuse=0",
        "smoother=jacobi,cycle=W,before=-3,after=1,coarsest=256,fuse=0",
        "vec_p0=16",
        "smoother",
    };
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; ++k)
        if (unwrap_knobs_read(WRONG[k], &read)) fail_msg("'%s' was read", WRONG[k]);
}

KIT_TEST(what_is_refused) {
    atn_unwrap_tuned tuned = {0};
    kit_fails(ctx, ATN_ERR_INPUT, "8 to 32768 pixels", atn_unwrap_tune(host, 4, 100, NULL, &tuned));
    kit_fails(ctx, ATN_ERR_INPUT, "32 or 64 bits",
              atn_unwrap_tune(host, 64, 64, &(atn_unwrap_tune_settings){.bits = 16}, &tuned));
    kit_fails(ctx, ATN_ERR_INPUT, "own.lanai: 1 parameters",
              atn_unwrap_tune(
                  host, 64, 64,
                  &(atn_unwrap_tune_settings){.space = "cycle = (\"V\", \"W\")\n", .space_name = "own.lanai"}, &tuned));
}

static void solve_with_known(const char *from, atn_unwrap_settings options, int32_t bits) {
    enum { W = 40, H = 32 };
    atn_unwrap *u;
    atn_unwrap_result result = {0};
    double phase[W * H], answer[W * H];
    options.bits = bits;
    options.method = ATN_UNWRAP_METHOD_MULTIGRID;
    kit_ok(ctx, atn_unwrap_create(host, W, H, &options, &u));
    kit_contains(atn_unwrap_explain(u), from);
    for (int k = 0; k < W * H; ++k) {
        double value = remainder(0.4 * (k % W) + 0.2 * (k / W), 2 * acos(-1.0));
        if (bits == 64)
            phase[k] = value;
        else
            ((float *)phase)[k] = (float)value;
    }
    kit_ok(ctx, atn_unwrap_solve(u, phase, NULL, answer, &result));
    assert_true(result.converged && result.cycles > 0 && result.cut_length == 0);
    atn_unwrap_free(u);
}

KIT_TEST(best_is_remembered) {
    atn_unwrap_tuned tuned = {0};
    static const char ONE[] = "smoother = (\"jacobi\",)\ncycle = (\"V\", \"W\")\nbefore = (2,)\nafter = (2,)\n"
                              "coarsest = (100,)\nfuse = (1, 0)\n";
    kit_ok(ctx, atn_unwrap_tune(host, 40, 32, &(atn_unwrap_tune_settings){.space = ONE, .space_name = "one"}, &tuned));
    assert_true(tuned.tried >= 3 && tuned.tried <= 4 && tuned.failed == 0 && tuned.seconds > 0);
    assert_true(tuned.default_seconds >= tuned.seconds);
    unwrap_knobs knobs;
    assert_true(unwrap_knobs_read(tuned.knobs, &knobs));
    solve_with_known("Knobs: measured at 40 x 32.", (atn_unwrap_settings){0}, 32);
    solve_with_known("Knobs: usual.", (atn_unwrap_settings){0}, 64); /* nothing was measured in 64 bits */
}

/* What somebody wrote into the database is not believed, and what the caller says goes before what is known. */
KIT_TEST(nonsense_is_passed_over) {
    atn_wisdom *wisdom;
    atn_wisdom_key key = unwrap_knobs_key(atn_device_get_info(host), 40, 32, 32);
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    kit_ok(ctx,
           atn_wisdom_crown(wisdom, &key, &(atn_wisdom_winner){.variant = "cycle=Z", .runner_up = "", .seconds = 1}));
    solve_with_known("Knobs: usual.", (atn_unwrap_settings){0}, 32);
    kit_ok(ctx, atn_wisdom_crown(wisdom, &key,
                                 &(atn_wisdom_winner){.variant = "smoother=redblack,cycle=W,before=1,after=1,"
                                                                 "coarsest=16,fuse=0",
                                                      .runner_up = "",
                                                      .seconds = 1}));
    atn_wisdom_close(wisdom);
    solve_with_known("W-cycles with 1 + 1 sweeps of two colours, ", (atn_unwrap_settings){0}, 32);
    solve_with_known("V-cycles with 2 + 1 sweeps of two colours",
                     (atn_unwrap_settings){.cycle = ATN_UNWRAP_CYCLE_V, .before = 2}, 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(text_and_back),
                                       cmocka_unit_test_setup_teardown(what_is_refused, setup, teardown),
                                       cmocka_unit_test_setup_teardown(best_is_remembered, setup, teardown),
                                       cmocka_unit_test_setup_teardown(nonsense_is_passed_over, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
