/* Two files in ten lines of C, with the public headers only: where does the source lie on the target?
 * usage: align [SOURCE TARGET [ALIGNED]]      without files, two small clouds that are made here */
#include "../shape.h"

#include <stdio.h>

int main(int argc, char **argv) {
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_cloud *source = NULL, *target = NULL, *aligned = NULL;
    atn_register_result result = {0};
    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    if (status == ATN_OK) status = argc > 2 ? atn_cloud_read(ctx, argv[1], NULL, &source) : shape_source(ctx, &source);
    if (status == ATN_OK) status = argc > 2 ? atn_cloud_read(ctx, argv[2], NULL, &target) : shape_target(ctx, &target);
    if (status == ATN_OK) status = atn_register(device, source, target, NULL, &result);
    if (status == ATN_OK && argc > 3) status = atn_cloud_moved(source, result.transform, &aligned);
    if (status == ATN_OK && argc > 3) status = atn_cloud_write(aligned, argv[3]);

    for (int i = 0; i < 4 && status == ATN_OK; ++i)
        printf("%10.6f %10.6f %10.6f %10.6f\n", result.transform[4 * i], result.transform[4 * i + 1],
               result.transform[4 * i + 2], result.transform[4 * i + 3]);
    if (status == ATN_OK)
        printf("rmse %g, overlap %.0f %%, %s: %s\n", result.rmse, 100 * result.overlap,
               atn_verdict_name(result.verdict), result.reason);
    else
        fprintf(stderr, "%s\n", ctx ? atn_ctx_message(ctx) : "no memory");
    atn_cloud_free(aligned);
    atn_cloud_free(target);
    atn_cloud_free(source);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status != ATN_OK || result.verdict == ATN_VERDICT_REFUSED ||
           (argc <= 2 && shape_error(result.transform) > 0.04);
}
