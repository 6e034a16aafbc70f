/* Two threads, one context, two devices: each unwraps a ramp on a device of its own, here the host opened twice. The
 * message of a failure belongs to the thread that failed. docs/interface.md: what may be called from which thread. */
#include <attune/attune.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

static atn_ctx *ctx;
static atn_devices *devices;

static void *unwrap(void *ramp) { /* 64 x 64 pixels, in place; NULL: failed */
    atn_device *device = NULL;
    atn_unwrap *solver = NULL;
    atn_status status = atn_device_open(devices, 0, &device);
    if (!status) status = atn_unwrap_create(device, 64, 64, NULL, &solver);
    if (!status) status = atn_unwrap_solve(solver, ramp, NULL, ramp, NULL);
    if (status) fprintf(stderr, "%s\n", atn_ctx_message(ctx));
    atn_unwrap_free(solver);
    atn_device_close(device);
    return status ? NULL : ramp;
}

int main(void) {
    static float ramp[2][4096]; /* 1 and 2 radians a pixel, wrapped */
    pthread_t thread[2];
    void *done[2];
    if (atn_ctx_create(NULL, &ctx) || atn_devices_find(ctx, &devices)) return 1;
    for (int i = 0; i < 8192; ++i) ramp[i / 4096][i % 4096] = remainderf((float)(i % 64 << i / 4096), 6.2831853F);
    for (int k = 0; k < 2; ++k) pthread_create(&thread[k], NULL, unwrap, ramp[k]);
    for (int k = 0; k < 2; ++k) pthread_join(thread[k], &done[k]);
    for (int k = 0; k < 2; ++k) printf("ramp %d: %.2f radians\n", k, (double)(ramp[k][63] - ramp[k][0]));
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return done[0] && done[1] && fabsf(ramp[1][63] - ramp[1][0] - 126) < 0.01F ? 0 : 1;
}
