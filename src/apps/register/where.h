/* Which device a pair is registered on: the requested one, or its host for clouds so small that kernel launches on a
 * GPU would take longer. */
#ifndef ATN_APPS_REGISTER_WHERE_H
#define ATN_APPS_REGISTER_WHERE_H

#include "device/device.h"

#include <attune/register.h>

typedef struct reg_where {
    atn_device *device;      /* the one to use */
    atn_device *asked;       /* for */
    struct reg_host *beside; /* kept with that one; NULL: it is used itself */
} reg_where;

/* Does a device evaluate so many pairs in less time than lists of near ones take? */
bool reg_all_at_once(const atn_device_info *info, double pairs);

/* `cores`: of the host. The second for many pairs at a time, each by one core. */
bool reg_sooner_on_host(const atn_device_info *asked, const atn_register_settings *settings, size_t most,
                        int32_t cores);
bool reg_sooner_side_by_side(const atn_device_info *asked, const atn_register_settings *settings, size_t most,
                             int32_t cores);

/* `most`: points of the larger cloud of all pairs. Ended with reg_where_end. */
reg_where reg_where_begin(atn_device *asked, const atn_register_settings *settings, size_t most);
void reg_where_end(reg_where *where);

#endif
