/* An engine on which pairs are registered one after the other: on the requested device, its host, or the one that takes
 * over when that is lost. */
#ifndef ATN_APPS_REGISTER_WORKPLACE_H
#define ATN_APPS_REGISTER_WORKPLACE_H

#include "apps/register/engine.h"
#include "apps/register/where.h"

typedef struct reg_workplace {
    reg_where where;
    reg_engine engine;
    atn_device *own; /* NULL: nothing was lost */
} reg_workplace;

/* `most`: points of the largest cloud. Ended with reg_workplace_leave, after a failure too. */
atn_status reg_workplace_enter(atn_device *device, const atn_register_settings *settings, size_t most,
                               reg_workplace *out);
void reg_workplace_leave(reg_workplace *workplace);

/* Settings that reg_check has seen. */
atn_status reg_workplace_register(reg_workplace *workplace, const atn_cloud *source, const atn_cloud *target,
                                  const atn_register_settings *settings, atn_register_result *out);

/* atn_register_batch; gathered: steps of small pairs are made together (gather.h) on a host and for few pairs, too. */
atn_status reg_batch(atn_device *device, size_t count, atn_register_pair *pairs, const atn_register_settings *given,
                     bool gathered);

#endif
