/* Replay: the baseline and the score by hand, the same whatever the threads, and stopping. */
#include "spacekit.h"
#include "tune/replay.h"

#include <math.h>
#include <string.h>

KIT_TEST(baseline) {
    double sorted[9];
    for (int k = 0; k < 9; ++k) sorted[k] = k + 1;         /* N = 9, the optimum is 1 */
    assert_true(atn_replay_baseline(sorted, 9, 1) == 5);   /* rank 5 of 9 from the worst: the median */
    assert_true(atn_replay_baseline(sorted, 9, 4) == 2);   /* rank 8 */
    assert_true(atn_replay_baseline(sorted, 9, 9) == 1);   /* rank 9 */
    assert_true(atn_replay_baseline(sorted, 9, 500) == 1); /* held at the last */
    assert_true(atn_replay_baseline(sorted, 1, 3) == 1);
}

/* The line takes 1 ms, 2 ms, … 40 ms; in order, the optimum is found at once. */
KIT_TEST(by_hand) {
    atn_ctx *ctx = kit_ctx();
    atn_recorded *recorded = kit_space_record(ctx, kit_space_find("line"));
    atn_replay_options options = {.evaluations = 10, .repeats = 3, .seed = 1};
    atn_replay_result result;
    kit_ok(ctx, atn_replay(ctx, recorded, atn_strategy_find("exhaustive"), &options, &result));
    assert_string_equal(result.strategy, "exhaustive");
    assert_int_equal(result.points, 40);
    assert_int_equal(result.failures, 0);
    assert_true(fabs(result.optimum - 1e-3) < 1e-15 && fabs(result.median - 20.5e-3) < 1e-15);
    assert_true(result.mean_best == result.optimum && result.fraction == 1 && result.found == 1);
    assert_true(fabs(result.score - 1) < 1e-12);
    /* more evaluations than points: the curve goes on as it was */
    options = (atn_replay_options){.evaluations = 100, .repeats = 2};
    kit_ok(ctx, atn_replay(ctx, recorded, atn_strategy_find("random"), &options, &result));
    assert_true(result.found == 1 && result.evaluations == 100);
    atn_recorded_free(recorded);
    kit_free(ctx);
}

KIT_TEST(threads) {
    atn_ctx *ctx = kit_ctx();
    atn_recorded *recorded = kit_space_record(ctx, kit_space_find("failing"));
    atn_replay_result one, many;
    atn_replay_options options = {.evaluations = 40, .repeats = 9, .seed = 5, .threads = 1};
    kit_ok(ctx, atn_replay(ctx, recorded, ATN_STRATEGIES[0], &options, &one));
    options.threads = 4;
    kit_ok(ctx, atn_replay(ctx, recorded, ATN_STRATEGIES[0], &options, &many));
    assert_true(one.score == many.score && one.mean_best == many.mean_best);
    assert_true(one.failures > 0);
    atn_recorded_free(recorded);
    kit_free(ctx);
}

static void cancel_at_first(void *user, int64_t done, int64_t repeats) {
    (void)done;
    assert_int_equal(repeats, 1000000);
    atn_ctx_cancel(user);
}

KIT_TEST(stopping) {
    atn_ctx *ctx = kit_ctx();
    atn_recorded *recorded = kit_space_record(ctx, kit_space_find("smooth"));
    atn_replay_result result;
    atn_replay_options options = {.evaluations = 100, .repeats = 1000000, .progress = cancel_at_first, .user = ctx};
    assert_int_equal(atn_replay(ctx, recorded, ATN_STRATEGIES[0], &options, &result), ATN_ERR_CANCELLED);
    atn_recorded_free(recorded);
    kit_free(ctx);
}

KIT_TEST(refused) {
    atn_ctx *ctx = kit_ctx();
    atn_recorded *recorded = kit_space_record(ctx, kit_space_find("all fail"));
    atn_replay_result result;
    atn_replay_options options = {.evaluations = 10, .repeats = 2};
    kit_fails(ctx, ATN_ERR_INPUT, "none of the 36 recorded points ran",
              atn_replay(ctx, recorded, ATN_STRATEGIES[0], &options, &result));
    options.repeats = options.evaluations = (int64_t)1 << 40;
    kit_fails(ctx, ATN_ERR_INPUT, "too many", atn_replay(ctx, recorded, ATN_STRATEGIES[0], &options, &result));
    atn_recorded_free(recorded);
    kit_free(ctx);
}

KIT_TEST(no_memory) {
    kit_faults faults = {0};
    atn_ctx_settings faulty = kit_fault_options(&faults);
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&faulty, &ctx), ATN_OK);
    atn_recorded *recorded = kit_space_record(ctx, kit_space_find("tiny"));
    atn_replay_options options = {.evaluations = 20, .repeats = 2, .threads = 1};
    bool through = false;
    long start = faults.count, live = faults.live;
    for (long n = 1; !through; ++n) {
        atn_replay_result result;
        faults.count = start;
        faults.fail_at = start + n;
        atn_status status = atn_replay(ctx, recorded, ATN_STRATEGIES[0], &options, &result);
        through = faults.count < faults.fail_at;
        assert_int_equal(status, through ? ATN_OK : ATN_ERR_MEMORY);
        assert_int_equal(faults.live, live);
    }
    faults.fail_at = 0;
    atn_recorded_free(recorded);
    atn_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baseline), cmocka_unit_test(by_hand), cmocka_unit_test(threads),
        cmocka_unit_test(stopping), cmocka_unit_test(refused), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
