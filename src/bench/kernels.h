/* How fast the shipped kernels are on a device, as ratios to what others reach on it in the same run. What runs is what
 * a user would get now: tuned where it was tuned, estimated where not. */
#ifndef ATN_BENCH_KERNELS_H
#define ATN_BENCH_KERNELS_H

#include "base/text.h"

#include <attune/device.h>

typedef struct atn_kernel_row {
    char name[64], shape[96];
    double seconds;         /* of one run of ours, at the median */
    double ours, reference; /* in units a second; reference 0: nobody to compare with */
    const char *reference_name, *unit;
    double ratio;          /* the median of the ratios of each round; above 1: ours is faster */
    double estimate_ratio; /* the same of the untuned estimate; 0: it is what ran */
    const char *hit;       /* where the variant came from */
    const char *variant;
    const char *missing; /* why there is no reference; NULL: there is */
} atn_kernel_row;

/* All rows of the device, or those of one kernel (NULL: all), as they come; about `seconds` each. A kernel that cannot
 * run here is told in `failed` lines of the log and left out. `visit` returns false to stop. */
atn_status atn_bench_kernels(atn_device *device, const char *kernel, double seconds,
                             bool (*visit)(void *user, const atn_kernel_row *row), void *user);

#endif
