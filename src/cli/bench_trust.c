/* attune bench trust: verdicts of registration compared with the truth. */
#include "bench/trust.h"
#include "cli/bench.h"

#include <string.h>

enum { PAIRS = 400, QUICK_PAIRS = 20 };

static atn_status measure(atn_cli_call *call, atn_device *device, const void *options) {
    return atn_bench_trust(call->ctx, device, options);
}

atn_status atn_cli_bench_trust(atn_cli_bench *bench) {
    static const char *const METHODS[] = {"em-icp", "icp", "icp-plane", "softassign", "cpd", "gicp"};
    atn_cli_call *call = atn_cli_bench_call(bench);
    const char *method = atn_cli_value(call, "method");
    double pairs, seed;
    size_t number = 0;
    while (method && number < sizeof METHODS / sizeof *METHODS && strcmp(method, METHODS[number]) != 0) ++number;
    if (number == sizeof METHODS / sizeof *METHODS)
        return atn_cli_misuse(
            call, "there is no method '%s'; there are em-icp, icp, icp-plane, softassign, cpd and gicp", method);
    if (call->n_operands != 1) return atn_cli_misuse(call, "trust takes no files; its pairs are synthetic");
    atn_status status = atn_cli_read_whole(call, "pairs", 1, atn_cli_has(call, "quick") ? QUICK_PAIRS : PAIRS, &pairs);
    if (!status) status = atn_cli_read_whole(call, "seed", 0, 1, &seed);
    if (status) return status;
    atn_bench_trust_options options = {.pairs = (size_t)pairs,
                                       .seed = (uint64_t)seed,
                                       .method = (atn_register_method)number,
                                       .cases = atn_cli_has(call, "cases"),
                                       .to = atn_cli_bench_listener(bench)};
    atn_cli_bench_expect(bench, options.pairs);
    return atn_cli_bench_on_device(bench, measure, &options);
}
