/* Unwrapping against surfaces that are known: accuracy at awkward sizes, cycles that do not grow with the size, holes
 * and islands, congruence, warm starts, and questions that have no answer. */
#include "support/shared.h"

#include <attune/unwrap.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TURN = 6.283185307179586;

SHARED_DEVICE(kit_open_host);

typedef struct scene {
    int64_t width, height;
    size_t pixels;
    double *truth, *psi, *out;
    float *single, *single_out;
    uint8_t *mask;
} scene;

static double wrapped(double d) { return d - TURN * rint(d / TURN); }

/* A hill, a wave and a tilt, at most two radians from pixel to pixel; its height grows with the size. */
static scene make(int64_t width, int64_t height) {
    scene s = {.width = width, .height = height, .pixels = (size_t)(width * height)};
    s.truth = malloc(s.pixels * sizeof *s.truth);
    s.psi = malloc(s.pixels * sizeof *s.psi);
    s.out = malloc(s.pixels * sizeof *s.out);
    s.single = malloc(s.pixels * sizeof *s.single);
    s.single_out = malloc(s.pixels * sizeof *s.single_out);
    s.mask = malloc(s.pixels);
    double side = (double)(width > height ? width : height), high = fmin(0.3 * side, 60);
    for (size_t k = 0; k < s.pixels; ++k) {
        double x = ((double)(k % (size_t)width) - (double)width / 2) / side;
        double y = ((double)(k / (size_t)width) - (double)height / 2) / side;
        s.truth[k] = high * exp(-8 * (x * x + y * y)) + 0.3 * high * sin(5 * x) * cos(4 * y) + 0.2 * high * x;
        s.psi[k] = wrapped(s.truth[k]);
        s.single[k] = (float)s.psi[k];
        s.mask[k] = 1;
    }
    return s;
}

static void drop(scene *s) {
    free(s->truth), free(s->psi), free(s->out), free(s->single), free(s->single_out), free(s->mask);
}

static atn_unwrap_result solve_by(scene *s, atn_unwrap_method method, int32_t bits,
                                  const atn_unwrap_solve_settings *settings) {
    atn_unwrap *unwrap;
    atn_unwrap_result result = {0};
    atn_unwrap_settings options = {.bits = bits, .method = method};
    kit_ok(ctx, atn_unwrap_create(device, s->width, s->height, &options, &unwrap));
    kit_ok(ctx, atn_unwrap_solve(unwrap, bits == 64 ? (void *)s->psi : (void *)s->single, settings,
                                 bits == 64 ? (void *)s->out : (void *)s->single_out, &result));
    atn_unwrap_free(unwrap);
    for (size_t k = 0; bits == 32 && k < s->pixels; ++k) s->out[k] = (double)s->single_out[k];
    return result;
}

static atn_unwrap_result solve(scene *s, int32_t bits, const atn_unwrap_solve_settings *settings) {
    return solve_by(s, ATN_UNWRAP_METHOD_AUTO, bits, settings);
}

/* rms of out - truth without its mean, over what is valid and lies in [from, to). */
static double error_of(const scene *s, size_t from, size_t to) {
    double sum = 0, squares = 0, count = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (size_t k = from; k < to; ++k) {
            double d = s->out[k] - s->truth[k];
            if (isnan(d)) continue;
            if (pass == 0)
                sum += d, count += 1;
            else
                squares += (d - sum / count) * (d - sum / count);
        }
    return sqrt(squares / count);
}

KIT_TEST(is_accurate) {
    static const int64_t SIZE[][2] = {{64, 64}, {50, 37}, {1, 2048}, {2, 2}, {65, 17}, {1, 1}};
    for (size_t k = 0; k < 2 * sizeof SIZE / sizeof *SIZE; ++k) {
        if (!kit_turn(k / 2, 2)) continue;
        scene s = make(SIZE[k / 2][0], SIZE[k / 2][1]);
        atn_unwrap_method method = k % 2 ? ATN_UNWRAP_METHOD_MULTIGRID : ATN_UNWRAP_METHOD_AUTO;
        for (int32_t bits = 32; bits <= 64; bits += 32) {
            atn_unwrap_result r = solve_by(&s, method, bits, NULL);
            /* turns are whole: nothing but the phase itself is rounded */
            double error = error_of(&s, 0, s.pixels), bound = bits == 64 ? 1e-9 : method ? 1e-4 : 2e-5;
            if (error > bound || !r.converged)
                fail_msg("%lld x %lld in %d bits: %g, %s", (long long)s.width, (long long)s.height, bits, error,
                         r.reason);
            assert_true(r.islands == 1 && r.cut_length == 0 && r.residues == 0);
            assert_int_equal(r.solutions, method ? 1 : 0);
        }
        drop(&s);
    }
}

KIT_TEST(does_not_slow_down) {
    int32_t least = 1000, most = 0;
    for (int64_t n = 128; n <= 512; n *= 2) {
        scene s = make(n, n);
        atn_unwrap_result r =
            solve_by(&s, ATN_UNWRAP_METHOD_MULTIGRID, 64, &(atn_unwrap_solve_settings){.tolerance = 1e-8});
        assert_true(r.converged);
        assert_true(r.residual <= 1e-8);
        least = r.cycles < least ? r.cycles : least;
        most = r.cycles > most ? r.cycles : most;
        drop(&s);
    }
    assert_true(most <= least + 2);
    assert_true(most <= 12);
}

KIT_TEST(copes_with_holes) {
    scene s = make(64, 64);
    uint64_t seed = 5;
    for (size_t k = 0; k < s.pixels; ++k) s.mask[k] = kit_uniform(&seed) >= 0.2;
    s.psi[40] = NAN;
    s.psi[41] = INFINITY;
    s.mask[40] = s.mask[41] = 1;
    atn_unwrap_result r = solve(&s, 64, &(atn_unwrap_solve_settings){.mask = s.mask, .tolerance = 1e-8});
    assert_true(r.converged);
    assert_true(r.weighted);
    assert_true(r.cycles < 20);
    assert_true(r.islands > 1);
    assert_int_equal(r.cut_length, 0);
    int64_t valid = 0;
    for (size_t k = 0; k < s.pixels; ++k) {
        bool ok = s.mask[k] && k != 40 && k != 41;
        valid += ok;
        assert_int_equal(isnan(s.out[k]) != 0, !ok);
    }
    assert_int_equal(r.valid, valid);
    drop(&s);
}

/* Two halves that a masked row divides: each right by itself. */
KIT_TEST(solves_islands_apart) {
    scene s = make(64, 64);
    memset(s.mask + 30 * 64, 0, 64);
    atn_unwrap_result r =
        solve(&s, 64, &(atn_unwrap_solve_settings){.mask = s.mask, .remove = ATN_UNWRAP_REMOVE_PISTON});
    assert_int_equal(r.islands, 2);
    assert_non_null(strstr(r.reason, "2 islands"));
    assert_true(error_of(&s, 0, 30 * 64) < 1e-8);
    assert_true(error_of(&s, 31 * 64, s.pixels) < 1e-8);
    double sum = 0;
    for (size_t k = 0; k < 30 * 64; ++k) sum += s.out[k];
    assert_true(fabs(sum) < 1e-6);
    drop(&s);
}

KIT_TEST(is_congruent) {
    scene s = make(64, 64);
    uint64_t seed = 9;
    for (size_t k = 0; k < s.pixels; ++k) s.psi[k] = wrapped(s.truth[k] + 3 * (kit_uniform(&seed) - 0.5));
    for (int weights = ATN_UNWRAP_WEIGHTS_NONE; weights <= ATN_UNWRAP_WEIGHTS_ONCE; ++weights) {
        atn_unwrap_solve_settings settings = {.weights = (atn_unwrap_weights)weights, .congruent = true};
        atn_unwrap_result r = solve(&s, 64, &settings);
        int64_t cuts = 0;
        for (size_t k = 0; k < s.pixels; ++k) {
            double turns = (s.out[k] - s.psi[k]) / TURN;
            assert_true(fabs(turns - rint(turns)) < 1e-12);
            if (k % 64 != 63) cuts += fabs(s.out[k + 1] - s.out[k] - wrapped(s.psi[k + 1] - s.psi[k])) > 3;
            if (k + 64 < s.pixels) cuts += fabs(s.out[k + 64] - s.out[k] - wrapped(s.psi[k + 64] - s.psi[k])) > 3;
        }
        assert_int_equal(r.cut_length, cuts);
    }
    drop(&s);
}

/* Where all differences add up, turns are followed and nothing is solved: as gradients would have it, to rounding. */
KIT_TEST(follows_turns) {
    enum { W = 90, H = 70 };
    scene s = make(W, H);
    float quality[W * H];
    uint64_t seed = 3;
    for (size_t k = 0; k < s.pixels; ++k) {
        s.mask[k] = kit_uniform(&seed) > 0.25 && k % W != 40;
        quality[k] = k / W == 33 ? 0 : (float)(0.1 + kit_uniform(&seed)); /* a row of pixels that hang on to nobody */
    }
    for (int kind = 0; kind < 6; ++kind) {
        atn_unwrap_solve_settings settings = {.mask = kind % 3 != 1 ? s.mask : NULL,
                                              .quality = kind % 3 ? quality : NULL,
                                              .remove = kind < 3 ? ATN_UNWRAP_REMOVE_PISTON : ATN_UNWRAP_REMOVE_TILT};
        double *first = malloc((s.pixels + 1) * sizeof *first);
        atn_unwrap_result r[2] = {0};
        for (int gradients = 0; gradients < 2; ++gradients) {
            atn_unwrap *unwrap;
            atn_unwrap_settings options = {.bits = 64,
                                           .method = gradients ? ATN_UNWRAP_METHOD_CG : ATN_UNWRAP_METHOD_AUTO};
            kit_ok(ctx, atn_unwrap_create(device, W, H, &options, &unwrap));
            kit_ok(ctx, atn_unwrap_solve(unwrap, s.psi, &settings, gradients ? s.out : first, &r[gradients]));
            atn_unwrap_free(unwrap);
        }
        assert_true(r[0].converged && r[0].solutions == 0 && r[0].cycles == 0 && r[0].weighted);
        assert_true(r[1].converged && r[1].solutions == 1 && r[1].cycles > 3);
        assert_true(r[0].islands == r[1].islands && r[0].islands > (kind % 3 ? 60 : 1) && r[0].valid == r[1].valid);
        assert_true(r[0].residual_rms < 1e-12 || kind % 3);
        for (size_t k = 0; k < s.pixels; ++k)
            if (!(fabs(first[k] - s.out[k]) < (kind < 3 ? 1e-8 : 1e-6)) && !(isnan(first[k]) && isnan(s.out[k])))
                fail_msg("kind %d, pixel %d: %g, %g", kind, (int)k, first[k], s.out[k]);
        free(first);
    }
    drop(&s);
}

/* ---- windings ---- */

typedef bool pattern(int64_t x, int64_t y, uint64_t *seed);

static bool comb(int64_t x, int64_t y, uint64_t *seed) {
    (void)seed;
    return x % 2 == 0 || y == (x % 4 == 1 ? 0 : 129); /* one long way up and down */
}

static bool lying_comb(int64_t x, int64_t y, uint64_t *seed) {
    (void)seed;
    return y % 2 == 0 || x == (y % 4 == 1 ? 0 : 96);
}

static bool squares(int64_t x, int64_t y, uint64_t *seed) { /* one in another, closed: islands with holes */
    int64_t dx = x > 48 ? x - 48 : 48 - x, dy = y > 64 ? y - 64 : 64 - y;
    (void)seed;
    return (dx > dy ? dx : dy) % 2 == 0;
}

static bool stairs(int64_t x, int64_t y, uint64_t *seed) {
    (void)seed;
    return (x + y) % 5 < 2;
}

static bool grains(int64_t x, int64_t y, uint64_t *seed) { /* of all sizes */
    (void)x, (void)y;
    return kit_uniform(seed) > 0.41;
}

static bool sand(int64_t x, int64_t y, uint64_t *seed) {
    (void)x, (void)y;
    return kit_uniform(seed) > 0.2;
}

/* Fills one island and sums up how far its answer is from the phase; every pixel is as far from the truth as the first.
 */
static double fill_island(const scene *s, size_t seed, uint8_t *seen, size_t *stack, size_t *size) {
    size_t top = 0, w = (size_t)s->width;
    double sum = 0, off = s->out[seed] - s->truth[seed];
    stack[top++] = seed;
    seen[seed] = 1;
    for (*size = 0; top > 0; ++*size) {
        size_t k = stack[--top], near[4] = {k % w ? k - 1 : k, k % w + 1 < w ? k + 1 : k, k >= w ? k - w : k,
                                            k + w < s->pixels ? k + w : k};
        sum += s->out[k] - s->psi[k];
        if (!(fabs(s->out[k] - s->truth[k] - off) < 1e-9)) fail_msg("pixel %zu is off by another turn", k);
        for (int n = 0; n < 4; ++n)
            if (s->mask[near[n]] && !seen[near[n]]) seen[near[n]] = 1, stack[top++] = near[n];
    }
    return sum;
}

/* However a mask winds, islands and turns are those that a fill finds; means are those of the phase, up to half a turn.
 */
static void joins_windings(void **state) {
    static pattern *const PATTERNS[] = {comb, lying_comb, squares, stairs, grains, sand};
    (void)state;
    scene s = make(97, 130);
    uint8_t *seen = malloc(s.pixels);
    size_t *stack = malloc(s.pixels * sizeof *stack);
    uint64_t seed = 11;
    for (size_t p = 0; p < sizeof PATTERNS / sizeof *PATTERNS; ++p) {
        int64_t islands = 0, valid = 0;
        for (size_t k = 0; k < s.pixels; ++k)
            s.mask[k] = PATTERNS[p]((int64_t)k % s.width, (int64_t)k / s.width, &seed);
        atn_unwrap_result r = solve(&s, 64, &(atn_unwrap_solve_settings){.mask = s.mask});
        memset(seen, 0, s.pixels);
        for (size_t k = 0; k < s.pixels; ++k) {
            size_t size;
            assert_int_equal(isnan(s.out[k]), !s.mask[k]);
            if (!s.mask[k] || seen[k]) continue;
            double sum = fill_island(&s, k, seen, stack, &size);
            assert_true(fabs(sum) < (TURN / 2 + 1e-9) * (double)size);
            ++islands;
            valid += (int64_t)size;
        }
        assert_int_equal(r.islands, islands);
        assert_int_equal(r.valid, valid);
        assert_true(r.solutions == 0 && r.cut_length == 0 && r.residual_rms < 1e-12);
    }
    free(seen);
    free(stack);
    drop(&s);
}

KIT_TEST(removes_tilt) {
    scene s = make(64, 64);
    for (size_t k = 0; k < s.pixels; ++k) s.psi[k] = wrapped(0.3 * (double)(k % 64) - 0.2 * (double)(k / 64));
    solve(&s, 64, &(atn_unwrap_solve_settings){.remove = ATN_UNWRAP_REMOVE_TILT});
    for (size_t k = 0; k < s.pixels; ++k) assert_true(fabs(s.out[k]) < 1e-8);
    s.mask[0] = 0; /* the same with a hole */
    solve(&s, 64, &(atn_unwrap_solve_settings){.remove = ATN_UNWRAP_REMOVE_TILT, .mask = s.mask});
    for (size_t k = 1; k < s.pixels; ++k) assert_true(fabs(s.out[k]) < 1e-7);
    drop(&s);
}

KIT_TEST(starts_warm) {
    scene s = make(64, 64);
    atn_unwrap *unwrap;
    atn_unwrap_result cold = {0}, warm = {0};
    atn_unwrap_settings options = {.bits = 64, .method = ATN_UNWRAP_METHOD_MULTIGRID};
    kit_ok(ctx, atn_unwrap_create(device, 64, 64, &options, &unwrap));
    atn_unwrap_solve_settings settings = {.warm = true, .tolerance = 1e-6};
    kit_ok(ctx, atn_unwrap_solve(unwrap, s.psi, &settings, s.out, &cold));
    for (size_t k = 0; k < s.pixels; ++k) s.psi[k] = wrapped(1.001 * s.truth[k]);
    kit_ok(ctx, atn_unwrap_solve(unwrap, s.psi, &settings, s.out, &warm));
    assert_true(warm.converged);
    assert_true(warm.cycles < cold.cycles);
    atn_unwrap_free(unwrap);
    drop(&s);
}

/* Frames and masks that change: what an unwrapper keeps from one to the next, launches above all, changes no bit. */
KIT_TEST(frames_leave_no_trace) {
    static const float residue[4] = {0, 1.6f, -1.6f, 3.1f};
    scene s = make(100, 75);
    float *out = malloc(2 * s.pixels * sizeof *out);
    atn_unwrap *kept, *fresh;
    atn_unwrap_result result = {0};
    kit_ok(ctx, atn_unwrap_create(device, s.width, s.height, NULL, &kept));
    for (size_t k = 0; k < s.pixels; ++k) s.mask[k] = k % 19 != 3;
    for (size_t k = 0; k < 6; ++k) {
        s.single[k * 40] = 1;
        for (int p = 0; p < 4; ++p) s.single[3002 + p % 2 + p / 2 * 100] = residue[p];
        s.mask[k * 600] = 0;
        atn_unwrap_solve_settings settings = {.mask = k < 3 ? NULL : s.mask, .weights = ATN_UNWRAP_WEIGHTS_NONE};
        kit_ok(ctx, atn_unwrap_create(device, s.width, s.height, NULL, &fresh));
        kit_ok(ctx, atn_unwrap_solve(kept, s.single, &settings, out, &result));
        assert_true(result.converged);
        assert_true(result.cycles > 1);
        kit_ok(ctx, atn_unwrap_solve(fresh, s.single, &settings, out + s.pixels, &result));
        assert_memory_equal(out, out + s.pixels, s.pixels * sizeof *out);
        atn_unwrap_free(fresh);
    }
    atn_unwrap_free(kept);
    free(out);
    drop(&s);
}

/* What is not finite leaves nothing behind either. */
KIT_TEST(frames_after_one_that_is_not_finite) {
    scene s = make(61, 47);
    float *wild = malloc(s.pixels * sizeof *wild), *out = malloc(s.pixels * sizeof *out);
    atn_unwrap *unwrap;
    atn_unwrap_result result = {0};
    for (size_t k = 0; k < s.pixels; ++k) wild[k] = k % 2 ? 3e38f : -3e38f;
    kit_ok(ctx, atn_unwrap_create(device, s.width, s.height, NULL, &unwrap));
    for (int weights = 0; weights < 2; ++weights) {
        atn_unwrap_solve_settings settings = {.weights =
                                                  weights ? ATN_UNWRAP_WEIGHTS_VARIANCE : ATN_UNWRAP_WEIGHTS_NONE};
        kit_ok(ctx, atn_unwrap_solve(unwrap, wild, &settings, out, &result));
        assert_false(result.converged);
        kit_ok(ctx, atn_unwrap_solve(unwrap, s.single, &settings, out, &result));
        assert_true(result.converged);
    }
    atn_unwrap_free(unwrap);
    free(wild);
    free(out);
    drop(&s);
}

KIT_TEST(answers_the_hopeless) {
    scene s = make(16, 16);
    float quality[256] = {0};
    memset(s.mask, 0, s.pixels);
    atn_unwrap_result r = solve(&s, 64, &(atn_unwrap_solve_settings){.mask = s.mask});
    assert_int_equal(r.valid, 0);
    assert_false(r.converged);
    assert_non_null(strstr(r.reason, "no pixel is valid"));
    for (size_t k = 0; k < s.pixels; ++k) assert_true(isnan(s.out[k]));
    r = solve(&s, 64, &(atn_unwrap_solve_settings){.quality = quality}); /* no weight anywhere: every pixel an island */
    assert_int_equal(r.islands, 256);
    for (size_t k = 0; k < s.pixels; ++k) assert_true(fabs(s.out[k] - s.psi[k]) < 1e-12);
    for (size_t k = 0; k < s.pixels; ++k) s.psi[k] = NAN;
    r = solve(&s, 64, NULL);
    assert_int_equal(r.valid, 0);
    for (size_t k = 0; k < s.pixels; ++k) s.psi[k] = 2;
    r = solve(&s, 64, NULL);
    assert_true(r.converged);
    assert_int_equal(r.cycles, 0);
    for (size_t k = 0; k < s.pixels; ++k) assert_true(fabs(wrapped(s.out[k] - 2)) < 2e-3);
    for (size_t k = 0; k < s.pixels; ++k) s.psi[k] = k % 3 ? 1e308 : -1e308; /* no difference is finite */
    r = solve(&s, 64, NULL);
    assert_false(r.converged);
    assert_non_null(strstr(r.reason, "not finite"));
    drop(&s);
}

KIT_TEST(refuses) {
    scene s = make(4, 4);
    float quality[16] = {[3] = -1};
    atn_unwrap *unwrap;
    atn_unwrap_result r = {0};
    kit_fails(ctx, ATN_ERR_INPUT, "0 x 4 pixels", atn_unwrap_create(device, 0, 4, NULL, &unwrap));
    kit_fails(ctx, ATN_ERR_INPUT, "16 bits",
              atn_unwrap_create(device, 4, 4, &(atn_unwrap_settings){.bits = 16}, &unwrap));
    kit_fails(ctx, ATN_ERR_INPUT, "sweeps",
              atn_unwrap_create(device, 4, 4, &(atn_unwrap_settings){.before = 9}, &unwrap));
    kit_ok(ctx, atn_unwrap_create(device, 4, 4, NULL, &unwrap));
    kit_fails(ctx, ATN_ERR_INPUT, "pixel (3, 0) is -1",
              atn_unwrap_solve(unwrap, s.single, &(atn_unwrap_solve_settings){.quality = quality}, s.single_out, &r));
    kit_fails(ctx, ATN_ERR_INPUT, "tolerance",
              atn_unwrap_solve(unwrap, s.single, &(atn_unwrap_solve_settings){.tolerance = -1}, s.single_out, &r));
    atn_unwrap_free(unwrap);
    drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_accurate),
        cmocka_unit_test(does_not_slow_down),
        cmocka_unit_test(copes_with_holes),
        cmocka_unit_test(is_congruent),
        cmocka_unit_test(solves_islands_apart),
        cmocka_unit_test(removes_tilt),
        cmocka_unit_test(starts_warm),
        cmocka_unit_test(frames_leave_no_trace),
        cmocka_unit_test(frames_after_one_that_is_not_finite),
        cmocka_unit_test(answers_the_hopeless),
        cmocka_unit_test(refuses),
        cmocka_unit_test(follows_turns),
        cmocka_unit_test(joins_windings),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
