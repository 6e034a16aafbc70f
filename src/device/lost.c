/* A device that was lost: how it comes to be, and that nothing is asked of it afterwards. */
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
    return atn_fail(device->ctx, ATN_ERR_LOST, "%s: was lost in an earlier call; close it and open it in a new process",
                    device->info.name);
}
