/* The smallest program that uses the installed library: names the first device. */
#include <attune/attune.h>
#include <stdio.h>

int main(void) {
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) printf("attune %s: %s\n", atn_version(), atn_devices_info(devices, 0)->backend);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status != ATN_OK;
}
