/* How fast the shipped kernels are on a device, as ratios to what others reach on it in the same run. What runs is what
 * a user would get now: tuned where it was tuned, estimated where not. Rows are measured in a process of their own, so
 * that each stands alone: one that crashes, hangs or loses the device is a row that says so. */
#ifndef ATN_BENCH_KERNELS_H
#define ATN_BENCH_KERNELS_H

#include "base/text.h"

#include <attune/device.h>

#include <stdio.h>

typedef struct atn_kernel_row {
    char name[64], shape[96];
    char error[512];        /* why it could not be measured; "": it was, and the rest counts */
    double seconds;         /* of one run of ours, at the median */
    double ours, reference; /* in units a second; reference 0: nobody to compare with */
    char reference_name[64], unit[16];
    double ratio;                   /* the median of the ratios of each round; above 1: ours is faster */
    double estimate_ratio;          /* the same of the untuned estimate; 0: it is what ran */
    double mean_error, worst_error; /* relative, of sums, where they were compared with exact ones; else 0 */
    char hit[24];                   /* where the variant came from */
    char variant[512];
} atn_kernel_row;

/* All rows of the device, or those of one kernel (NULL: all), as they come; about `seconds` each. They are measured by
 * `program`, attune itself, started anew after each row that fails. `visit` returns false to stop. Fails where no row
 * could be measured, with the reason of the last. */
size_t atn_bench_kernel_rows(const atn_device_info *info, const char *kernel); /* NULL: of all shipped ones */
atn_status atn_bench_kernels(const atn_ctx *ctx, const char *program, const atn_device_info *info, const char *kernel,
                             double seconds, bool (*visit)(void *user, const atn_kernel_row *row), void *user);

/* That program's part: a line "KERNEL NUMBER" of `in` is answered by a row on `out`, until `in` ends. `device`: as
 * atn_devices_pick takes it. */
atn_status atn_bench_serve(atn_ctx *ctx, const char *device, double seconds, FILE *in, FILE *out);

#endif
