/* Can the verdicts of registration be trusted? Synthetic pairs: right and wrong results by verdict. */
#ifndef ATN_BENCH_TRUST_H
#define ATN_BENCH_TRUST_H

#include "bench/bench.h"

#include <attune/register.h>

typedef struct atn_bench_trust_options {
    size_t pairs;  /* > 0 */
    uint64_t seed; /* of the first pair */
    bool cases;    /* a row for each pair, too */
    atn_register_method method;
    atn_bench_listener to;
} atn_bench_trust_options;

atn_status atn_bench_trust(atn_ctx *ctx, atn_device *device, const atn_bench_trust_options *options);

#endif
