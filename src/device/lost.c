/* Lost devices: how a device is marked as lost, that it is not used afterwards, and which device takes over. */
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

uint64_t atn_devices_reserve(atn_device *const *devices, int32_t count) {
    uint64_t hosts = 0;
    bool gpu = false;
    for (int32_t k = 0; k < count && k < 64; ++k) {
        hosts |= (uint64_t)(devices[k]->info.cpu && devices[k]->info.unified) << k;
        gpu = gpu || !devices[k]->info.cpu;
    }
    return gpu ? hosts : 0;
}
