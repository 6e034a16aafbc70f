/* A device lost during a run, and the host that takes over. */
#ifndef ATN_APPS_REGISTER_RESCUE_H
#define ATN_APPS_REGISTER_RESCUE_H

#include <attune/device.h>

/* Opens the host in place of a device that was lost, and warns that it does. Owned by the caller: atn_device_close. */
atn_status reg_open_host(const atn_device *lost, atn_device **out);

#endif
