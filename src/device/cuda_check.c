/* Needed by every call of the CUDA driver: making the device's context current, turning results into messages. */
#include "device/cuda.h"

#include <stdio.h>

atn_status atn_cuda_check(atn_cuda_device *device, int result, const char *format, ...) {
    if (result == ATN_CU_SUCCESS) return ATN_OK;
    char what[256];
    ATN_FORMAT(what, format);
    const atn_cuda_error *error = atn_cuda_error_of(result);
    if (error->status == ATN_ERR_LOST)
        return atn_device_lose(&device->base, "%s ended with %s (%d), %s", what, error->name, result, error->meaning);
    return atn_fail(device->base.ctx, error->status, "%s (cuda): %s failed with %s (%d), %s", device->base.info.name,
                    what, error->name, result, error->meaning);
}

atn_status atn_cuda_enter(atn_cuda_device *device) {
    return atn_cuda_check(device, device->api.context_set(device->context), "making the context current");
}
