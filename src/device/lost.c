/* Lost devices: how a device is marked as lost, that it is not used afterwards, and which of several devices take over.
 */
#include "device/backend.h"

#include <stdio.h>

atn_status atn_device_lose(atn_device *device, const char *format, ...) {
    char why[512];
    ATN_FORMAT(why, format);
    device->lost = true;
    return atn_fail(device->ctx, ATN_ERR_LOST, "%s: %s; the device is not usable any more in this process",
                    device->info.name, why);
}

atn_status atn_device_check(const atn_device *device) {
    if (!device->lost) return ATN_OK;
    return atn_fail(device->ctx, ATN_ERR_LOST,
                    "%s: was lost in an earlier call; close it and continue in a new process", device->info.name);
}

atn_status atn_devices_check(atn_device *const *devices, int32_t count, const char *what) {
    const atn_ctx *ctx = devices[0]->ctx;
    if (count > ATN_MOST_DEVICES)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: %d devices; at most %d work together", what, (int)count,
                        ATN_MOST_DEVICES);
    for (int32_t k = 1; k < count; ++k)
        for (int32_t m = 0; m < k; ++m)
            if (devices[k] == devices[m]) return atn_fail(ctx, ATN_ERR_INPUT, "%s: a device is named twice", what);
    return ATN_OK;
}

uint64_t atn_devices_reserve(atn_device *const *devices, int32_t count) {
    uint64_t hosts = 0;
    bool gpu = false;
    for (int32_t k = 0; k < count && k < 64; ++k) {
        hosts |= (uint64_t)(devices[k]->info.cpu && devices[k]->info.unified) << k;
        gpu = gpu || !devices[k]->info.cpu;
    }
    return gpu ? hosts : 0;
}
