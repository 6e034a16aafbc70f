/* attune bench lattice: how often structures are classified correctly. */
#include "bench/lattice.h"
#include "cli/bench.h"

static atn_status measure(atn_cli_call *call, atn_device *device, const void *options) {
    return atn_bench_lattice(call->ctx, device, options);
}

atn_status atn_cli_bench_lattice(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    double seed;
    if (call->n_operands != 1) return atn_cli_misuse(call, "lattice takes no files; its neighbourhoods are synthetic");
    atn_status status = atn_cli_read_whole(call, "seed", 0, 905, &seed);
    if (status) return status;
    atn_bench_lattice_options options = {
        .quick = atn_cli_has(call, "quick"), .seed = (uint64_t)seed, .to = atn_cli_bench_listener(bench)};
    atn_cli_bench_expect(bench, atn_bench_lattice_steps(&options));
    return atn_cli_bench_on_device(bench, measure, &options);
}
