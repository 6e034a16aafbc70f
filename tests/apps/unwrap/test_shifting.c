/* Phase shifting: 4, 5, N and odd steps give the phase that the frames were made of; what is dark or saturated is not
 * valid; Hariharan's weights forgive a wrong step. */
#include "testkit.h"

#include <attune/phase.h>

#include <math.h>
#include <string.h>

enum { W = 37, H = 11, PIXELS = W * H, MOST = 9 };
static const double PI = 3.141592653589793;

static atn_ctx *ctx;
static atn_devices *devices;
static atn_device *device;

static int begin(void **state) {
    (void)state;
    ctx = kit_ctx();
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    for (int32_t d = 0; d < atn_devices_count(devices) && !device; ++d)
        if (kit_wants(atn_devices_info(devices, d)->backend)) kit_ok(ctx, atn_device_open(devices, d, &device));
    return 0;
}

static int end(void **state) {
    (void)state;
    atn_device_close(device);
    atn_devices_free(devices);
    kit_free(ctx);
    return 0;
}

static double phase_of(int k) { return 0.37 * k - 5; }

static double apart(double a, double b) { return fabs(remainder(a - b, 2 * PI)); }

/* What the frames look like when they are really taken at these angles. */
static const float *const *take(const double *angle, int steps, double b) {
    static float pixels[MOST][PIXELS];
    static const float *frames[MOST];
    for (int f = 0; f < steps; ++f) {
        for (int k = 0; k < PIXELS; ++k) pixels[f][k] = (float)(200 + b * cos(phase_of(k) + angle[f]));
        frames[f] = pixels[f];
    }
    return frames;
}

static double worst(const atn_phase_settings *options, const float *const *frames, double b) {
    static double wide[PIXELS];
    static float out[PIXELS], modulation[PIXELS];
    atn_phase *phase;
    double most = 0;
    kit_ok(ctx, atn_phase_create(device, W, H, options, &phase));
    kit_ok(ctx, atn_phase_run(phase, frames, options->bits == 64 ? (void *)wide : out, modulation));
    for (int k = 0; k < PIXELS; ++k) {
        double got = options->bits == 64 ? wide[k] : (double)out[k];
        most = fmax(most, apart(got, phase_of(k)));
        if (b > 0 && fabs((double)modulation[k] - b) > 0.01 * b) fail_msg("modulation %g", (double)modulation[k]);
    }
    assert_int_equal(atn_array_info_of(atn_phase_array(phase)).shape[1], W);
    atn_phase_free(phase);
    return most;
}

KIT_TEST(steps_give_the_phase) {
    for (int32_t steps = 3; steps <= MOST; ++steps) {
        double angle[MOST];
        for (int k = 0; k < steps; ++k) angle[k] = steps == 5 ? (k - 2) * PI / 2 : 2 * PI * k / steps;
        for (int32_t bits = 32; bits <= 64; bits += 32) {
            const atn_phase_settings options = {.bits = bits, .steps = steps};
            double off = worst(&options, take(angle, steps, 90), 90);
            if (off > 1e-5) fail_msg("%d steps, %d bits: %g", (int)steps, (int)bits, off);
        }
    }
    static const double ODD[] = {0.1, 1, 2.7, 4, 4.1, 6, 6.2};
    const atn_phase_settings given = {.bits = 64, .steps = 7, .angle = ODD};
    assert_true(worst(&given, take(ODD, 7, 50), 50) < 1e-5);
}

/* Steps of 92 instead of 90 degrees: an error of first order in four steps, of second in five. */
KIT_TEST(five_steps_forgive) {
    double wrong[MOST];
    for (int k = 0; k < 5; ++k) wrong[k] = (k - 2) * 92 * PI / 180;
    const atn_phase_settings five = {.bits = 64, .steps = 5}, four = {.bits = 64, .steps = 4};
    double forgiving = worst(&five, take(wrong, 5, 90), 0);
    for (int k = 0; k < 4; ++k) wrong[k] = k * 92 * PI / 180;
    double strict = worst(&four, take(wrong, 4, 90), 0);
    if (!(forgiving < 0.001 && strict > 0.02)) fail_msg("five: %g, four: %g", forgiving, strict);
}

KIT_TEST(the_dark_and_the_bright) {
    static const double ANGLE[] = {0, 1.5707963267948966, 3.141592653589793, 4.71238898038469};
    static float out[PIXELS], modulation[PIXELS], changed[PIXELS];
    const float *frames[4];
    const atn_phase_settings options = {.least = 5, .most = 255};
    atn_phase *phase;
    for (int f = 0; f < 4; ++f) frames[f] = take(ANGLE, 4, 40)[f];
    for (int k = 0; k < PIXELS; ++k) changed[k] = frames[2][k];
    frames[2] = changed;
    changed[7] = 255;
    changed[9] = NAN;
    for (int f = 0; f < 4; ++f) ((float *)(uintptr_t)frames[f])[11] = 100;
    kit_ok(ctx, atn_phase_create(device, W, H, &options, &phase));
    kit_ok(ctx, atn_phase_run(phase, frames, out, modulation));
    for (int k = 0; k < PIXELS; ++k) {
        bool valid = k != 7 && k != 9 && k != 11;
        if (isnan(out[k]) == valid || (modulation[k] > 0) != valid) fail_msg("pixel %d", k);
    }
    atn_phase_free(phase);
}

KIT_TEST(what_is_refused) {
    static const double SAME[] = {1, 1, 1, 1}, TWO[] = {0, 1, 0, 1}, NO[] = {0, NAN, 2, 3};
    static const struct {
        atn_phase_settings options;
        int64_t width;
        const char *part;
    } CASES[] = {{{.steps = 2}, 3, "3 to 1024"},
                 {{.steps = 2000}, 3, "3 to 1024"},
                 {{.bits = 16}, 3, "32 and 64"},
                 {{0}, 0, "both sizes"},
                 {{.angle = SAME}, 3, "three different angles"},
                 {{.angle = TWO}, 3, "three different angles"},
                 {{.angle = NO}, 3, "not a finite"},
                 {{.least = -1}, 3, "less than 0"}};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        atn_phase *phase;
        assert_int_equal(atn_phase_create(device, CASES[k].width, 2, &CASES[k].options, &phase), ATN_ERR_INPUT);
        assert_null(phase);
        if (!strstr(atn_ctx_message(ctx), CASES[k].part)) fail_msg("%s", atn_ctx_message(ctx));
    }
    atn_phase_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_give_the_phase), cmocka_unit_test(five_steps_forgive),
                                       cmocka_unit_test(the_dark_and_the_bright), cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, begin, end);
}
