/* What is measured of registration, in order. */
#include "bench/register_parts.h"

atn_status atn_bench_register(atn_ctx *ctx, atn_device *device, const atn_bench_register_options *options) {
    static atn_status (*const PARTS[])(bench_session *) = {bench_dense, bench_large, bench_whole, bench_truncation,
                                                           bench_precisions};
    bench_session s = {.ctx = ctx, .device = device, .options = options};
    if (options->source) return bench_methods(&s);
    atn_status status = ATN_OK;
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS && status == ATN_OK && !s.stopped; ++k) status = PARTS[k](&s);
    return status;
}
