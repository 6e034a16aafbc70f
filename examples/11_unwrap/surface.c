/* From the camera to heights, with the public headers only: four frames of an interferogram, wrapped phase, surface.
 * usage: surface [HEIGHTS.tif]      the frames are made here: a bowl 12 turns deep, seen in red light */
#include <attune/image.h>
#include <attune/phase.h>
#include <attune/unwrap.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { W = 300, H = 200, STEPS = 4, PIXELS = W * H };
static const double PI = 3.141592653589793, WAVELENGTH = 632.8e-9;

static double bowl(int k) {
    double x = (k % W - W / 2.0) / (W / 2.0), y = (k / W - H / 2.0) / (W / 2.0);
    return 12 * 2 * PI * (x * x + y * y) / 1.5;
}

/* How far the answer is from the bowl, whatever its mean: rms in radians. */
static double error_of(const float *phase) {
    double sum = 0, squares = 0;
    for (int k = 0; k < PIXELS; ++k) {
        double d = (double)phase[k] - bowl(k);
        sum += d;
        squares += d * d;
    }
    return sqrt(fmax(squares / PIXELS - sum / PIXELS * (sum / PIXELS), 0));
}

int main(int argc, char **argv) {
    static float frame[STEPS][PIXELS], phase[PIXELS];
    const float *frames[STEPS];
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_phase *shifting = NULL;
    atn_unwrap *unwrap = NULL;
    atn_image *heights = NULL;
    atn_unwrap_result result = {0};
    for (int s = 0; s < STEPS; ++s) { /* a camera would do this */
        for (int k = 0; k < PIXELS; ++k) frame[s][k] = (float)(128 + 100 * cos(bowl(k) + 2 * PI * s / STEPS));
        frames[s] = frame[s];
    }

    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    if (status == ATN_OK) status = atn_phase_create(device, W, H, NULL, &shifting);
    if (status == ATN_OK) status = atn_phase_run(shifting, frames, phase, NULL);
    if (status == ATN_OK) status = atn_unwrap_create(device, W, H, NULL, &unwrap);
    if (status == ATN_OK) status = atn_unwrap_solve(unwrap, phase, NULL, phase, &result);
    double error = status == ATN_OK ? error_of(phase) : 1;
    for (int k = 0; k < PIXELS; ++k) phase[k] *= (float)(WAVELENGTH / (4 * PI)); /* light goes there and back */
    if (status == ATN_OK && argc > 1) status = atn_image_create(ctx, W, H, phase, &heights);
    if (status == ATN_OK && argc > 1) status = atn_image_write(heights, argv[1]);

    if (status == ATN_OK)
        printf("%lld residues, %d cycles, %.2g rad rms from the truth; %g m at the corner\n",
               (long long)result.residues, (int)result.cycles, error, (double)(phase[0] - phase[PIXELS / 2 + W / 2]));
    else
        fprintf(stderr, "%s\n", ctx ? atn_ctx_message(ctx) : "no memory");
    atn_image_free(heights);
    atn_unwrap_free(unwrap);
    atn_phase_free(shifting);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status != ATN_OK || !result.converged || error > 1e-3 ? EXIT_FAILURE : EXIT_SUCCESS;
}
