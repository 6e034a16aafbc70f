/* Programs and the primitives they are made of, against what others reach on the same device: sweeps fused by the
 * planner against the same unfused and fused by hand; sorts against qsort or CUB; scans and compactions against a
 * copy. */
#ifndef ATN_BENCH_PROGRAMS_H
#define ATN_BENCH_PROGRAMS_H

#include "bench/bench.h"

#include <attune/device.h>

typedef struct atn_bench_programs_options {
    bool quick;       /* few elements, to see that it works */
    const char *only; /* jacobi, sort, sort64, scan, ...; NULL: all */
    double seconds;   /* for each row; 0: 2 */
    double per;       /* keys in a block of a sort; 0: as the program has it */
    atn_bench_listener to;
} atn_bench_programs_options;

size_t atn_bench_programs_steps(const atn_bench_programs_options *options); /* calls of progress */
atn_status atn_bench_programs(atn_ctx *ctx, atn_device *device, const atn_bench_programs_options *options);

#endif
