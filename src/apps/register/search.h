#ifndef X_SEARCH
#define X_SEARCH
#include "apps/register/problem.h"
typedef struct reg_start {
    double transform[16];
    double score, runner_up;
    int32_t tried;
} reg_start;
atn_status reg_search(atn_device *device, const cloud_points *source, const cloud_points *target,
                      const atn_register_settings *settings, reg_start *out);
#endif
