/* The benchmark sets: at which shapes the shipped kernels are tuned when nobody says. */
#ifndef ATN_TUNE_SETS_H
#define ATN_TUNE_SETS_H

#include "tune/tune.h"

typedef struct atn_set {
    const char *kernel;
    const char *where;     /* "cpu" or "gpu"; NULL: everywhere */
    const char *sizes[12]; /* the last is NULL */
    double range_length;   /* of ranges from data */
} atn_set;

/* The next shape of a kernel for a device: start with `after` NULL; NULL behind the last. */
const atn_set *atn_set_next(const char *kernel, const atn_device_info *info, const atn_set *after);

#endif
