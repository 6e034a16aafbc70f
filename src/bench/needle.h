/* The whole pipeline from pixels to a pose; and the shifting algorithm at the sizes it was published with: brute force
 * and lookup volume, against a plain brute force on the CPU, all in turn in one process. */
#ifndef ATN_BENCH_NEEDLE_H
#define ATN_BENCH_NEEDLE_H

#include "bench/bench.h"

#include <attune/needle.h>

typedef struct atn_bench_needle_options {
    bool quick; /* the smallest size only, and few rounds */
    atn_bench_listener to;
} atn_bench_needle_options;

size_t atn_bench_needle_steps(const atn_bench_needle_options *options); /* calls of progress */
atn_status atn_bench_needle(atn_ctx *ctx, atn_device *device, const atn_bench_needle_options *options);
/* needle_chain.c: the whole chain on a volume that is made for it. */
atn_status bench_needle_chain(atn_ctx *ctx, atn_device *device, const atn_bench_needle_options *options);

#endif
