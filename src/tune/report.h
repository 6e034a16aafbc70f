/* The results of a tuning, as one HTML file: a table; candidates in the order in which they were tried, as ratios to
 * what was measured together with them, with the best so far, several shapes in one picture; which knobs matter; the
 * fraction of the peak per kernel; all variants over sizes; what the constraints of the space removed; the meaning of
 * the knobs. */
#ifndef ATN_TUNE_REPORT_H
#define ATN_TUNE_REPORT_H

#include "plot/page.h"
#include "space/space.h"

#include <attune/device.h>

/* One kernel at one shape. Not owned. */
typedef struct atn_report_row {
    const char *kernel;  /* rows of equal names are drawn together: "gemm SP" */
    const char *shape;   /* as people write it */
    double pairs;        /* points times range: its position on the axis of sizes */
    double flops, bytes; /* of one run; 0: not known */
    bool counts_pairs;   /* its rate is pairs per second: kernels that weigh every pair */
    double default_s, best_s, worst_s, fraction_of_peak;
    const char *variant; /* the best */
    int64_t tried, failed;
    const double *seconds;       /* of all right variants, [n] */
    const char *const *variants; /* [n] */
    int32_t n;
    const double *ratio;           /* of candidates in the order they were tried: time over the estimate's; 0: failed */
    const char *const *candidates; /* [n_ratios] */
    int32_t n_ratios;
} atn_report_row;

typedef struct atn_report {
    const atn_page_origin *origin; /* NULL: not said */
    const atn_device_info *info;
    const atn_peaks *peaks;
    const atn_report_row *rows; /* rows of one kernel follow each other */
    int32_t n_rows;
    const char *space; /* its name; NULL: no pruning is shown */
    atn_count product, allowed;
    const atn_prune *prunes;
    int32_t n_prunes;
} atn_report;

atn_status atn_report_write(const atn_ctx *ctx, const char *path, const atn_report *report);

#endif
