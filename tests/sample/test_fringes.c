/* The synthetic fringes: wrapped is the truth up to turns, smooth surfaces can be unwrapped, the shear cannot; frames
 * show the phase; seeds repeat. */
#include "testkit.h"

#include "base/compare.h"
#include "sample/fringes.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793;

static double around(double d) { return d - 2 * PI * floor(d / (2 * PI) + 0.5); }

static atn_fringes make(atn_ctx *ctx, const atn_fringes_settings *s) {
    atn_fringes f;
    kit_ok(ctx, atn_fringes_make(ctx, s, &f));
    return f;
}

/* Corners where the wrapped differences of the truth do not add up. */
static int residues(const atn_fringes_settings *s, const double *u) {
    int count = 0;
    for (int64_t y = 0; y + 1 < s->height; ++y)
        for (int64_t x = 0; x + 1 < s->width; ++x) {
            const double *p = u + y * s->width + x;
            double sum = around(p[1] - p[0]) + around(p[s->width + 1] - p[1]) + around(p[s->width] - p[s->width + 1]) +
                         around(p[0] - p[s->width]);
            count += fabs(sum) > 1;
        }
    return count;
}

KIT_TEST(surfaces) {
    atn_ctx *ctx = kit_ctx();
    for (int kind = ATN_FRINGES_PEAKS; kind <= ATN_FRINGES_SHEAR; ++kind)
        for (uint64_t seed = 0; seed < 3; ++seed) {
            const atn_fringes_settings s = {.width = 120,
                                            .height = 90,
                                            .seed = seed,
                                            .surface = (atn_fringes_surface)kind,
                                            .hidden = 0.2,
                                            .steps = 4,
                                            .turns = 5};
            atn_fringes f = make(ctx, &s);
            size_t valid = 0, count = 120 * 90;
            double low = INFINITY, high = -INFINITY;
            for (size_t k = 0; k < count; ++k) {
                valid += f.mask[k];
                low = fmin(low, f.truth[k]);
                high = fmax(high, f.truth[k]);
                if (!f.mask[k]) continue;
                assert_true(f.wrapped[k] >= -PI && f.wrapped[k] < PI);
                assert_true(fabs(around(f.wrapped[k] - f.truth[k])) < 1e-9);
                double sine = f.frames[3 * count + k] - (double)f.frames[count + k];
                double cosine = f.frames[k] - (double)f.frames[2 * count + k];
                if (fabs(around(atan2(sine, cosine) - f.truth[k])) > 0.02) fail_msg("pixel %zu", k);
            }
            assert_true(valid == count - count / 5);
            assert_true(high - low > 2 * PI);
            assert_int_equal(residues(&s, f.truth), kind == ATN_FRINGES_SHEAR ? 2 : 0);
            atn_fringes_free(ctx, &f);
        }
    kit_free(ctx);
}

KIT_TEST(seeds_and_noise) {
    atn_ctx *ctx = kit_ctx();
    atn_fringes_settings s = {.width = 64, .height = 64, .noise = 0.3, .steps = 3, .turns = 2};
    atn_fringes a = make(ctx, &s), b = make(ctx, &s);
    assert_memory_equal(a.wrapped, b.wrapped, 64 * 64 * sizeof *a.wrapped);
    assert_memory_equal(a.frames, b.frames, 3 * 64 * 64);
    double sum = 0;
    for (int k = 0; k < 64 * 64; ++k) sum += pow(around(a.wrapped[k] - a.truth[k]), 2);
    assert_true(fabs(sqrt(sum / (64 * 64)) - 0.3) < 0.02);
    atn_fringes_free(ctx, &b);
    s.seed = 1;
    b = make(ctx, &s);
    assert_false(atn_same_bits(a.truth, b.truth, 64 * 64 * sizeof *a.truth));
    atn_fringes_free(ctx, &a);
    atn_fringes_free(ctx, &b);
    const atn_fringes_settings one = {.width = 1, .height = 1, .steps = 3, .turns = 1, .hidden = 0.9};
    a = make(ctx, &one);
    assert_true(isfinite(a.truth[0]));
    atn_fringes_free(ctx, &a);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(surfaces), cmocka_unit_test(seeds_and_noise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
