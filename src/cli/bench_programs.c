/* attune bench programs: fused sweeps, sorts, scans and compactions against others. */
#include "bench/programs.h"
#include "cli/bench.h"

static atn_status measure(atn_cli_call *call, atn_device *device, const void *options) {
    return atn_bench_programs(call->ctx, device, options);
}

atn_status atn_cli_bench_programs(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    double per, seconds;
    if (call->n_operands != 1) return atn_cli_misuse(call, "programs takes no files; its arrays are synthetic");
    atn_status status = atn_cli_read_whole(call, "per", 1, 0, &per);
    if (!status) status = atn_cli_read_number(call, "seconds", 1e-3, 1e6, 0, &seconds);
    if (status) return status;
    atn_bench_programs_options options = {.quick = atn_cli_has(call, "quick"),
                                          .only = atn_cli_value(call, "kernel"),
                                          .seconds = seconds,
                                          .per = per,
                                          .to = atn_cli_bench_listener(bench)};
    atn_cli_bench_expect(bench, atn_bench_programs_steps(&options));
    return atn_cli_bench_on_device(bench, measure, &options);
}
