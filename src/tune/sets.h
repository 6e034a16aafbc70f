/* The benchmark sets: at which shapes the shipped kernels are tuned by default. */
#ifndef ATN_TUNE_SETS_H
#define ATN_TUNE_SETS_H

#include "tune/tune.h"

typedef struct atn_set {
    const char *kernel;
    const char *where;     /* "cpu" or "gpu"; NULL: everywhere */
    const char *type;      /* HP, SP or DP, what USED_FLOAT is here; NULL: SP unless the user says */
    const char *sizes[12]; /* the last is NULL */
    double range_length;   /* of ranges from data */
} atn_set;

extern const atn_set ATN_SETS[]; /* made by the build from `tuned at` in kernels/; a row of zeros ends it */

typedef struct atn_against {
    const char *kernel, *against;
} atn_against;
extern const atn_against ATN_AGAINST[]; /* the same, of `measured against` */

/* Values of parameters that tests try a kernel with, where its defaults leave its branches untried. */
typedef struct atn_tried {
    const char *kernel, *parameter;
    double value;
} atn_tried;
extern const atn_tried ATN_TRIED[]; /* the same, of `try with` */

const char *atn_set_against(const char *kernel); /* what it is measured against: blas, csr, pairs, or copy */

const char *const *atn_set_defines(const atn_set *set); /* USED_FLOAT of its type, or SP */

/* The next shape of a kernel for a device, of a table as ATN_SETS: start with `after` NULL; NULL behind the last. */
const atn_set *atn_set_next(const atn_set *sets, const char *kernel, const atn_device_info *info, const atn_set *after);

#endif
