/* attune bench needle: the whole chain, and four rounds of the shifting algorithm at the published sizes. */
#include "bench/needle.h"
#include "cli/bench.h"

static atn_status measure(atn_cli_call *call, atn_device *device, const void *options) {
    return atn_bench_needle(call->ctx, device, options);
}

atn_status atn_cli_bench_needle(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    if (call->n_operands != 1) return atn_cli_misuse(call, "needle takes no files; its clouds are synthetic");
    atn_bench_needle_options options = {.quick = atn_cli_has(call, "quick"), .to = atn_cli_bench_listener(bench)};
    atn_cli_bench_expect(bench, atn_bench_needle_steps(&options));
    return atn_cli_bench_on_device(bench, measure, &options);
}
