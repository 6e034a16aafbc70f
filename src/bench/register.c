/* The measurements of registration, in order. */
#include "bench/register_parts.h"

static const struct {
    atn_status (*run)(bench_session *);
    size_t steps; /* calls of bench_tell */
} PARTS[] = {{bench_dense, 2},       {bench_large, 1},     {bench_whole, 1}, {bench_truncation, 1},
             {bench_precisions, 11}, {bench_two_scans, 5}, {bench_views, 1}, {bench_batch, 1}};

size_t atn_bench_register_steps(const atn_bench_register_options *options) {
    size_t steps = 0;
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; ++k) steps += PARTS[k].steps;
    return options->source ? bench_method_count() : steps;
}

atn_status atn_bench_register(atn_ctx *ctx, atn_device *device, const atn_bench_register_options *options) {
    bench_session s = {.ctx = ctx, .device = device, .options = options};
    if (options->source) return bench_methods(&s);
    atn_status status = ATN_OK;
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS && status == ATN_OK && !s.stopped; ++k)
        status = PARTS[k].run(&s);
    return status;
}
