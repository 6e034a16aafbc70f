/* Many pairs in one call, with the public headers only: kernels are planned once, a pair that fails does not stop the
 * others. Here one of three has no points, which is told; the other two are checked. */
#include "../shape.h"

#include <stdio.h>

int main(void) {
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_cloud *source = NULL, *target = NULL, *nothing = NULL;
    int wrong = 0;

    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    if (status == ATN_OK) status = shape_source(ctx, &source);
    if (status == ATN_OK) status = shape_target(ctx, &target);
    if (status == ATN_OK) status = atn_cloud_create(ctx, 0, NULL, NULL, &nothing);

    atn_register_pair pairs[] = {{.source = source, .target = target},
                                 {.source = nothing, .target = target},
                                 {.source = source, .target = target, .start = SHAPE_TRUTH}};
    if (status == ATN_OK) status = atn_register_batch(device, 3, pairs, NULL); /* NULL: defaults */
    for (int k = 0; k < 3 && status == ATN_OK; ++k) {
        const atn_register_result *result = &pairs[k].result;
        if (pairs[k].status == ATN_OK)
            printf("pair %d: rmse %g after %d iterations, %g off\n", k, result->rmse, result->iterations,
                   shape_error(result->transform));
        else
            printf("pair %d: %s\n", k, pairs[k].message);
        wrong += (pairs[k].status == ATN_OK) != (k != 1) || (k != 1 && shape_error(result->transform) > 0.04);
    }
    if (status != ATN_OK) fprintf(stderr, "%s\n", ctx ? atn_ctx_message(ctx) : "no memory");
    atn_cloud_free(nothing);
    atn_cloud_free(target);
    atn_cloud_free(source);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status != ATN_OK || wrong;
}
