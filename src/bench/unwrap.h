/* Unwrapping whole frames against a plain OpenMP multigrid on the CPU and scipy's solution by cosine transforms; what
 * weights cost, and frames a second of a stream. All run in turn, in one run. */
#ifndef ATN_BENCH_UNWRAP_H
#define ATN_BENCH_UNWRAP_H

#include "bench/bench.h"

#include <attune/unwrap.h>

typedef struct atn_bench_unwrap_options {
    bool quick;                                          /* 256 x 256 only, and few rounds */
    bool (*visit)(void *user, const atn_bench_row *row); /* false: stop */
    void (*progress)(void *user, const char *what);      /* before each measurement; or NULL */
    void *user;
} atn_bench_unwrap_options;

atn_status atn_bench_unwrap(atn_ctx *ctx, atn_device *device, const atn_bench_unwrap_options *options);

#endif
