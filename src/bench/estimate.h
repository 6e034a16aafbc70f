/* How good the estimate is: every shipped kernel, and kernels as users write them (bench/kernels), as it runs untuned
 * against what a short tuning finds, on one device. */
#ifndef ATN_BENCH_ESTIMATE_H
#define ATN_BENCH_ESTIMATE_H

#include "graph/shipped.h"
#include "tune/sets.h"

extern const atn_embedded ATN_BENCH_KERNELS[]; /* bench/kernels/NAME.atn by name; made by the build, */
extern const atn_set ATN_BENCH_SETS[];         /* from their lines `tuned at` */

typedef struct atn_estimate_row {
    char name[64], shape[96];
    char error[512];                 /* why it could not be measured; "": it was, and the rest counts */
    double estimated_s, tuned_s;     /* of one run, at the median */
    double slowdown;                 /* estimated over tuned: the median of the ratios of each round */
    char estimated[512], tuned[512]; /* variants */
} atn_estimate_row;

typedef struct atn_estimate_options {
    const char *kernel; /* only this one; NULL: all */
    double seconds;     /* of measuring a row, in turn */
    atn_tune_options tuning;
    void (*progress)(void *user, const char *kernel, const char *shape); /* before each row; or NULL */
    bool (*visit)(void *user, const atn_estimate_row *row);              /* false stops */
    void *user;
} atn_estimate_options;

/* Rows as they come. Each is tuned first, into `wisdom`, in processes of their own; what the tuner found right is then
 * measured here, in turn. Fails where no row could be measured, with the reason of the last. */
size_t atn_bench_estimate_rows(const atn_device_info *info, const char *kernel); /* kernel NULL: of all */
atn_status atn_bench_estimate(atn_device *device, atn_wisdom *wisdom, const atn_estimate_options *options);

#endif
