/* Continuing on the host after a device is lost. */
#include "apps/register/rescue.h"

#include "base/context.h"
#include "device/backend.h"

atn_status reg_open_host(const atn_device *lost, atn_device **out) {
    atn_ctx *ctx = atn_device_ctx(lost);
    *out = NULL;
    atn_log(ctx, ATN_LOG_WARNING, "register: %s; the host registers these clouds from the start", atn_ctx_message(ctx));
    return atn_device_open_host(ctx, out);
}
