/* Unwrapping whole frames against a plain multigrid on the CPU and scipy's solution by cosine transforms; what
 * weights cost, and frames a second of a stream; cuts against the optimum. All run in turn, in one run. */
#ifndef ATN_BENCH_UNWRAP_H
#define ATN_BENCH_UNWRAP_H

#include "bench/bench.h"

#include <attune/unwrap.h>

typedef struct atn_bench_unwrap_options {
    bool quick; /* 256 x 256 only, and few rounds */
    atn_bench_listener to;
} atn_bench_unwrap_options;

/* Calls of progress by the two that follow. */
size_t atn_bench_unwrap_steps(const atn_device *device, const atn_bench_unwrap_options *options);
size_t atn_bench_unwrap_cut_steps(const atn_bench_unwrap_options *options);
atn_status atn_bench_unwrap(atn_ctx *ctx, atn_device *device, const atn_bench_unwrap_options *options);

/* unwrap_cuts.c: how short the cuts of made scenes are, and radar scenes with layover. */
atn_status atn_bench_unwrap_cuts(atn_ctx *ctx, atn_device *device, const atn_bench_unwrap_options *options);
/* The cuts of one phase, radians, without holes. */
atn_status atn_bench_unwrap_phase(atn_ctx *ctx, atn_device *device, const atn_bench_unwrap_options *options,
                                  const char *name, int64_t width, int64_t height, const float *psi);

#endif
