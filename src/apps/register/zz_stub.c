#include "apps/register/search.h"
atn_status reg_search(atn_device *device, const cloud_points *source, const cloud_points *target,
                      const atn_register_settings *settings, reg_start *out) {
    (void)source;
    (void)target;
    (void)settings;
    (void)out;
    return atn_fail(atn_device_ctx(device), ATN_ERR_UNSUPPORTED, "not yet");
}
