/* Registration against the structure it was published in, what precisions, truncation and reproducible sums cost, and
 * how methods compare on two clouds. Sides that are compared run in turn in one process. */
#ifndef ATN_BENCH_REGISTER_H
#define ATN_BENCH_REGISTER_H

#include "bench/bench.h"

#include <attune/register.h>

typedef struct atn_bench_register_options {
    bool quick;                       /* few points and rounds: that it works, not how fast it is */
    const atn_cloud *source, *target; /* the methods on these, and nothing else; NULL: all on clouds made for it */
    atn_bench_listener to;
} atn_bench_register_options;

size_t atn_bench_register_steps(const atn_bench_register_options *options); /* calls of progress */
atn_status atn_bench_register(atn_ctx *ctx, atn_device *device, const atn_bench_register_options *options);

#endif
