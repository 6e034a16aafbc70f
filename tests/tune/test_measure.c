/* The rules of measuring, with noise of known kind and no clock: medians and their intervals, duels, finals, drift. */
#include "testkit.h"

#include "tune/measure.h"

#include <math.h>
#include <string.h>

/* Contestants with a true time each. Noise: every sample up to `jitter` slower, one in `rare` five times as slow, and
 * the whole machine slower by `sway` now and then, for all alike within a round. */
typedef struct fake {
    uint64_t seed;
    double time[ATN_MOST_RACERS], jitter, sway;
    int rare;
    int taken[ATN_MOST_RACERS];
    int all, n, fail_at;
} fake;

static atn_status sample(void *user, int32_t contestant, double *seconds) {
    fake *f = user;
    if (++f->all == f->fail_at) return ATN_ERR_LOST;
    ++f->taken[contestant];
    double slow = 1 + f->sway * (f->all / (2 * f->n) % 3); /* changes every other round */
    *seconds = f->time[contestant] * slow * (1 + f->jitter * kit_uniform(&f->seed));
    if (f->rare && kit_random(&f->seed) % (uint64_t)f->rare == 0) *seconds *= 5;
    return ATN_OK;
}

KIT_TEST(medians_have_intervals) {
    const double few[] = {3, 1, 2}, six[] = {6, 1, 5, 2, 4, 3}, nine[] = {9, 1, 8, 2, 7, 3, 6, 4, 5};
    atn_middle m = atn_middle_of(few, 3);
    assert_true(m.median == 2 && m.low == 1 && m.high == 3);
    m = atn_middle_of(six, 6); /* least to most: 1 - 2 / 64 */
    assert_true(m.median == 3.5 && m.low == 1 && m.high == 6);
    m = atn_middle_of(nine, 9); /* one left out at each end: 1 - 2 * 10 / 512 */
    assert_true(m.median == 5 && m.low == 2 && m.high == 8);
    m = atn_middle_of(NULL, 0);
    assert_true(m.count == 0);
}

/* The interval holds the true median in 95 of 100 cases, whatever the noise. */
KIT_TEST(intervals_hold_the_truth) {
    uint64_t seed = 11;
    int held = 0, all = 2000;
    for (int k = 0; k < all; ++k) {
        double numbers[20];
        for (int n = 0; n < 20; ++n) numbers[n] = exp(3 * kit_uniform(&seed)); /* median e^1.5 */
        atn_middle m = atn_middle_of(numbers, 20);
        held += m.low <= exp(1.5) && m.high >= exp(1.5);
    }
    assert_in_range(held, 0.945 * all, all);
}

KIT_TEST(ratios_cancel_what_both_suffer) {
    double a[9], b[9];
    for (int k = 0; k < 9; ++k) {
        b[k] = 1 + k % 4; /* the machine's moods */
        a[k] = 0.9 * b[k];
    }
    atn_middle m = atn_ratio_of(a, b, 9);
    assert_true(fabs(m.median - 0.9) < 1e-12 && fabs(m.high - m.low) < 1e-12);
}

static atn_duel duel(fake *f, double best) {
    atn_sampler s = {sample, f};
    atn_duel d;
    f->n = 2;
    assert_int_equal(atn_duel_run(NULL, &s, best, &d), ATN_OK);
    return d;
}

KIT_TEST(the_slow_are_dropped_at_once) {
    fake f = {.seed = 5, .time = {4, 1}, .jitter = 0.1};
    atn_duel d = duel(&f, 1);
    assert_true(d.dropped);
    assert_int_equal(f.taken[0], 1);
    assert_int_equal(f.taken[1], 0);
    f = (fake){.seed = 5, .time = {1.5, 1}, .jitter = 0.1}; /* behind, but not that far: three pairs are enough */
    d = duel(&f, 1);
    assert_false(d.dropped);
    assert_int_equal(d.count, 3);
    assert_true(d.ratio.low > 1);
}

KIT_TEST(duels_find_the_faster) {
    fake f = {.seed = 9, .time = {0.93, 1}, .jitter = 0.04, .sway = 0.5, .rare = 40};
    atn_duel d = duel(&f, 1);
    assert_true(d.ratio.median < 1 && d.count <= 15);
    assert_true(fabs(d.ratio.median - 0.93) < 0.05);
    f = (fake){.seed = 9, .time = {1, 1}, .jitter = 0.2}; /* equals: no verdict, and not for ever */
    d = duel(&f, 1);
    assert_true(d.ratio.low <= 1.05 && d.ratio.high >= 0.95 && d.count <= 15);
    f = (fake){.seed = 9, .time = {1, 1}, .jitter = 0.001}; /* equals without noise: it is soon clear */
    d = duel(&f, 1);
    assert_int_equal(d.count, 6);
    f = (fake){.seed = 9, .time = {1}, .jitter = 0.1}; /* alone */
    d = duel(&f, 0);
    assert_int_equal(d.count, 6);
    assert_int_equal(d.ratio.count, 0);
    f = (fake){.seed = 9, .time = {1, 1}, .fail_at = 4, .n = 2};
    atn_sampler s = {sample, &f};
    assert_int_equal(atn_duel_run(NULL, &s, 1, &d), ATN_ERR_LOST);
}

static atn_final race(fake *f, int32_t n, const int32_t *burden) {
    atn_sampler s = {sample, f};
    static atn_final out;
    f->n = n;
    assert_int_equal(atn_final_run(&(atn_race_rules){.most = 31}, &s, n, burden, &out), ATN_OK);
    return out;
}

/* A clear winner wins in nearly all of many finals under heavy noise. */
KIT_TEST(finals_find_the_fastest) {
    int right = 0;
    for (int k = 0; k < 200; ++k) {
        fake f = {
            .seed = (uint64_t)k + 1, .time = {1.3, 1.08, 1, 1.12, 1.2, 1.09}, .jitter = 0.1, .sway = 0.4, .rare = 30};
        atn_final r = race(&f, 6, NULL);
        right += r.winner == 2;
        assert_true(f.taken[0] < f.taken[2] || r.winner != 2); /* the worse half left early */
        assert_true(r.seconds[0].median > r.seconds[2].median);
    }
    assert_in_range(right, 194, 200);
}

KIT_TEST(ties_go_to_the_simpler) {
    int simpler = 0, ties = 0;
    for (int k = 0; k < 100; ++k) {
        fake f = {.seed = (uint64_t)k + 1, .time = {1, 1}, .jitter = 0.2};
        atn_final r = race(&f, 2, (const int32_t[]){7, 3});
        ties += r.tie;
        simpler += r.tie && r.winner == 1;
    }
    assert_in_range(ties, 90, 100);
    assert_true(simpler >= ties - 8);
    fake f = {.seed = 3, .time = {1, 1.2}, .jitter = 0.05}; /* simpler, but slower */
    atn_final r = race(&f, 2, (const int32_t[]){7, 0});
    assert_int_equal(r.winner, 0);
    assert_int_equal(r.runner_up, 1);
    assert_false(r.tie);
    assert_true(fabs(r.ratio.median - 1.2) < 0.05);
    f = (fake){.seed = 3, .time = {1}}; /* nobody else */
    r = race(&f, 1, NULL);
    assert_int_equal(r.winner, 0);
    assert_int_equal(r.runner_up, -1);
}

KIT_TEST(drift_is_seen) {
    const double even[] = {1, 1.02, 0.98, 1, 1.3, 1, 1.01, 1};
    const double slower[] = {1, 1.02, 0.98, 1.01, 1.2, 1.25, 1.3};
    assert_false(atn_has_drifted(even, 8));
    assert_true(atn_has_drifted(slower, 7));
    assert_false(atn_has_drifted(slower, 5));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_have_intervals),         cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(ratios_cancel_what_both_suffer), cmocka_unit_test(the_slow_are_dropped_at_once),
        cmocka_unit_test(duels_find_the_faster),          cmocka_unit_test(finals_find_the_fastest),
        cmocka_unit_test(ties_go_to_the_simpler),         cmocka_unit_test(drift_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
