/* The host in place of a lost device. */
#include "apps/register/rescue.h"

#include "base/context.h"
#include "device/device.h"

atn_status reg_open_host(const atn_device *lost, atn_device **out) {
    atn_ctx *ctx = atn_device_ctx(lost);
    atn_devices *all = NULL;
    int32_t index = 0;
    *out = NULL;
    atn_log(ctx, ATN_LOG_WARNING, "register: %s; the host registers these clouds from the start", atn_ctx_message(ctx));
    atn_status status = atn_devices_find(ctx, &all);
    if (status == ATN_OK) status = atn_devices_pick(all, "host", &index);
    if (status == ATN_OK) status = atn_device_open(all, index, out);
    atn_devices_free(all);
    return status;
}
