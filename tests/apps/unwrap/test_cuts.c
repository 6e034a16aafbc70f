/* The shortest cuts: against all answers of small images, with weights, masks and islands; what is chosen where nothing
 * is asked for; what plain least squares says where it smears; surfaces that are kept. */
#include "testkit.h"

#include "apps/unwrap/cuts.h"
#include "apps/unwrap/regular.h"

#include <attune/unwrap.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 9 };
static const double TURN = 6.283185307179586;

static atn_ctx *ctx;
static atn_device *device;

static double wrapped(double d) { return d - TURN * rint(d / TURN); }

/* ---- all answers ---- */

typedef struct tiny {
    int64_t width, height;
    int32_t wrapped[2 * MOST], cut[2 * MOST];
    uint16_t cost[2 * MOST];
} tiny;

static int64_t weight_of(const tiny *t, const int *turns) {
    int64_t sum = 0, w = t->width;
    for (int64_t p = 0; p < w * t->height; ++p) {
        if (t->cost[2 * p]) sum += t->cost[2 * p] * labs(turns[p + 1] - turns[p] + t->wrapped[2 * p]);
        if (t->cost[2 * p + 1]) sum += t->cost[2 * p + 1] * labs(turns[p + w] - turns[p] + t->wrapped[2 * p + 1]);
    }
    return sum;
}

static int64_t least_of(const tiny *t) {
    int turns[MOST] = {0}, count = (int)(t->width * t->height);
    int64_t least = INT64_MAX;
    for (int k = 0; k < count; ++k) turns[k] = -1;
    for (bool more = true; more;) {
        int64_t weight = weight_of(t, turns);
        if (weight < least) least = weight;
        int k = 0;
        while (k < count && ++turns[k] > 1) turns[k++] = -1;
        more = k < count;
    }
    return least;
}

static void add_pair(tiny *t, const double *psi, int64_t p, int64_t q, int64_t e, uint16_t cost) {
    t->wrapped[e] = cost ? (int32_t)rint((psi[q] - psi[p]) / TURN) : 0;
    t->cost[e] = cost;
}

KIT_TEST(no_answer_has_less) {
    uint64_t seed = 21;
    for (int round = 0; round < 60; ++round) {
        tiny t = {.width = 1 + (int64_t)(kit_random(&seed) % 3), .height = 1 + (int64_t)(kit_random(&seed) % 3)};
        double psi[MOST] = {0};
        bool holes = round % 3 == 1, weights = round % 2;
        bool found;
        int64_t w = t.width, count = w * t.height, weight = 0;
        for (int64_t p = 0; p < count; ++p) psi[p] = TURN * (kit_uniform(&seed) - 0.5);
        for (int64_t p = 0; p < count; ++p)
            for (int d = 0; d < 2; ++d) {
                uint16_t cost = weights ? (uint16_t)(1 + kit_random(&seed) % 50) : 1;
                if (holes && kit_uniform(&seed) < 0.3) cost = 0;
                if (d == 0 && p % w + 1 < w) add_pair(&t, psi, p, p + 1, 2 * p, cost);
                if (d == 1 && p + w < count) add_pair(&t, psi, p, p + w, 2 * p + 1, cost);
            }
        unwrap_cuts cuts = {t.width, t.height, t.wrapped, t.cost, t.cut};
        kit_ok(ctx, unwrap_cuts_find(ctx, &cuts, 100000, &found));
        assert_true(found);
        for (int64_t e = 0; e < 2 * count; ++e) weight += t.cost[e] * labs(t.cut[e]);
        if (weight != least_of(&t)) fail_msg("round %d: %d instead of %d", round, (int)weight, (int)least_of(&t));
    }
}

KIT_TEST(gives_up) {
    int32_t turns[2 * 16] = {0}, cut[2 * 16];
    uint16_t cost[2 * 16] = {0};
    bool found = true;
    for (int p = 0; p < 16; ++p) {
        if (p % 4 < 3) cost[2 * p] = 1;
        if (p < 12) cost[2 * p + 1] = 1;
    }
    turns[2 * 5] = 1; /* two residues */
    unwrap_cuts cuts = {4, 4, turns, cost, cut};
    kit_ok(ctx, unwrap_cuts_find(ctx, &cuts, 3, &found));
    assert_false(found);
    kit_ok(ctx, unwrap_cuts_find(ctx, &cuts, 1000, &found));
    assert_true(found);
    for (int e = 0; e < 32; ++e) assert_int_equal(labs(cut[e]), e == 10);
}

/* ---- images ---- */

enum { SIDE = 64 };
static double psi[SIDE * SIDE], out[SIDE * SIDE];

static atn_unwrap_result solve(const atn_unwrap_solve_settings *settings) {
    atn_unwrap *unwrap;
    atn_unwrap_result r = {0};
    kit_ok(ctx, atn_unwrap_create(device, SIDE, SIDE, &(atn_unwrap_settings){.bits = 64}, &unwrap));
    kit_ok(ctx, atn_unwrap_solve(unwrap, psi, settings, out, &r));
    atn_unwrap_free(unwrap);
    return r;
}

/* Turns about the middle: one residue; the way to the border is half the side. */
static void put_spiral(double hole) {
    for (int k = 0; k < SIDE * SIDE; ++k) {
        double x = k % SIDE - SIDE / 2 + 0.5, y = k / SIDE - SIDE / 2 + 0.5;
        psi[k] = hypot(x, y) < hole ? NAN : atan2(y, x);
    }
}

KIT_TEST(residues_are_cut) {
    put_spiral(0);
    atn_unwrap_result r = solve(NULL);
    assert_true(r.converged && r.shortest && !r.smeared && r.weighted && r.residues == 1);
    assert_int_equal(r.cut_length, SIDE / 2);
    for (int k = 0; k < SIDE * SIDE; ++k) assert_true(fabs(wrapped(out[k] - psi[k])) < 1e-9);
    r = solve(&(atn_unwrap_solve_settings){.weights = ATN_UNWRAP_WEIGHTS_NONE});
    assert_true(r.converged && r.smeared && !r.shortest);
    kit_contains(r.reason, "1 residues: least squares without weights");
    r = solve(&(atn_unwrap_solve_settings){.weights = ATN_UNWRAP_WEIGHTS_AUTO}); /* not congruent: adapted weights */
    assert_true(r.converged && r.solutions > 1 && !r.smeared && !r.shortest);
    float quality[SIDE * SIDE]; /* where cuts are cheap, they go, on a longer way */
    for (int k = 0; k < SIDE * SIDE; ++k) quality[k] = k % SIDE > 28 && k % SIDE < 34 && k / SIDE > 20 ? 0.01f : 1;
    r = solve(&(atn_unwrap_solve_settings){.quality = quality});
    assert_true(r.shortest);
    for (int k = 0; k + SIDE < SIDE * SIDE; ++k)
        if (fabs(out[k + SIDE] - out[k] - wrapped(psi[k + SIDE] - psi[k])) > 3) assert_true(quality[k] < 0.5f);
}

/* Steep planes are regular, whatever wraps; noise is not; pixels without neighbours are no trouble. */
KIT_TEST(noise_is_not_regular) {
    static unwrap_phasor value[SIDE * SIDE];
    static float grade[SIDE * SIDE];
    unwrap_phasors f = {SIDE, SIDE, value};
    uint64_t seed = 8;
    double mean = 0;
    for (int k = 0; k < SIDE * SIDE; ++k) value[k] = cexpf(I * (2.5f * (float)(k % SIDE) - 1.9f * (float)(k / SIDE)));
    unwrap_regularity(&f, grade);
    for (int k = 0; k < SIDE * SIDE; ++k) assert_true(grade[k] > 0.999f && grade[k] < 1.001f);
    for (int k = 0; k < SIDE * SIDE; ++k) value[k] = cexpf(I * (float)(TURN * kit_uniform(&seed)));
    unwrap_regularity(&f, grade);
    for (int k = 0; k < SIDE * SIDE; ++k) mean += (double)grade[k] / (SIDE * SIDE);
    assert_true(mean > 0.2 && mean < 0.5);
    for (int k = 0; k < SIDE * SIDE; ++k) value[k] = k == 70;
    unwrap_regularity(&f, grade);
    assert_true(grade[70] == 1 && grade[0] == 0);
}

/* No corner has a residue, but the way around the hole does not add up. */
KIT_TEST(holes_hide_residues) {
    put_spiral(10);
    atn_unwrap_result r = solve(NULL);
    assert_true(r.converged && r.shortest && r.residues == 0);
    assert_true(r.cut_length > 15 && r.cut_length < SIDE / 2);
    r = solve(&(atn_unwrap_solve_settings){.weights = ATN_UNWRAP_WEIGHTS_NONE});
    assert_true(r.smeared);
    kit_contains(r.reason, "around holes");
    for (int k = 0; k < SIDE * SIDE; ++k)
        psi[k] = isnan(psi[k]) ? NAN : wrapped(0.3 * (k % SIDE)); /* and one that does */
    r = solve(NULL);
    assert_true(r.converged && !r.shortest && !r.smeared && r.cut_length == 0 && r.solutions == 0);
}

/* Holes all over a plane: every way around them adds up. */
KIT_TEST(holes_that_add_up) {
    uint64_t seed = 6;
    uint8_t mask[SIDE * SIDE];
    for (int share = 1; share <= 5; ++share) {
        for (int k = 0; k < SIDE * SIDE; ++k) {
            psi[k] = wrapped(0.9 * (k % SIDE) - 1.4 * (k / SIDE));
            mask[k] = kit_uniform(&seed) > 0.1 * share;
        }
        atn_unwrap_result r = solve(&(atn_unwrap_solve_settings){.mask = mask});
        assert_true(r.converged && !r.shortest && !r.smeared && r.cut_length == 0);
    }
}

/* Phases of any size, islands, a frame of one row: whole turns all the same. */
KIT_TEST(any_phase_will_do) {
    uint64_t seed = 4;
    uint8_t mask[SIDE * SIDE];
    for (int k = 0; k < SIDE * SIDE; ++k) {
        psi[k] = 400 * (kit_uniform(&seed) - 0.5);
        mask[k] = k % SIDE != 20 && k / SIDE != 33;
    }
    atn_unwrap_result r = solve(&(atn_unwrap_solve_settings){.mask = mask});
    assert_true(r.converged && r.shortest && r.islands == 4);
    for (int k = 0; k < SIDE * SIDE; ++k) {
        assert_int_equal(isnan(out[k]) != 0, !mask[k]);
        if (mask[k]) assert_true(fabs(wrapped(out[k] - psi[k])) < 1e-9);
    }
}

KIT_TEST(surfaces_are_kept) {
    for (int k = 0; k < SIDE * SIDE; ++k) psi[k] = (k % SIDE < 30 ? 0 : 20) + 0.1 * (k / SIDE);
    atn_unwrap_result r = solve(&(atn_unwrap_solve_settings){.unwrapped = true});
    assert_true(r.converged && !r.shortest);
    assert_memory_equal(psi, out, sizeof psi);
    r = solve(&(atn_unwrap_solve_settings){.unwrapped = true, .remove = ATN_UNWRAP_REMOVE_PISTON});
    assert_true(r.converged);
    double mean = 0;
    for (int k = 0; k < SIDE * SIDE; ++k) mean += out[k] / (SIDE * SIDE);
    assert_true(fabs(mean) < 1e-9 && fabs(out[30] - out[29] - 20) < 1e-9);
}

static int open_all(void **state) {
    (void)state;
    setenv("ATTUNE_CC", "/nowhere/cc", 1); /* the library's own kernels: this is about numbers, nothing is built */
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_answer_has_less), cmocka_unit_test(gives_up),
        cmocka_unit_test(residues_are_cut),   cmocka_unit_test(holes_hide_residues),
        cmocka_unit_test(any_phase_will_do),  cmocka_unit_test(surfaces_are_kept),
        cmocka_unit_test(holes_that_add_up),  cmocka_unit_test(noise_is_not_regular),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
