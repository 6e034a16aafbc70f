/* attune bench trust: verdicts of registration against what is right. */
#include "bench/trust.h"
#include "cli/bench.h"
#include "cli/kernel.h"

#include <string.h>

enum { PAIRS = 400, QUICK_PAIRS = 20 };

atn_status atn_cli_bench_trust(atn_cli_bench *bench) {
    static const char *const METHODS[] = {"em-icp", "icp", "icp-plane", "softassign", "cpd", "gicp"};
    atn_cli_call *call = atn_cli_bench_call(bench);
    const char *method = atn_cli_value(call, "method");
    atn_devices *devices;
    atn_device *device = NULL;
    double pairs, seed;
    int32_t index;
    size_t number = 0;
    while (method && number < sizeof METHODS / sizeof *METHODS && strcmp(method, METHODS[number]) != 0) ++number;
    if (number == sizeof METHODS / sizeof *METHODS)
        return atn_cli_misuse(
            call, "there is no method '%s'; there are em-icp, icp, icp-plane, softassign, cpd and gicp", method);
    if (call->n_operands != 1) return atn_cli_misuse(call, "trust takes no files; its pairs are made for it");
    atn_status status = atn_cli_read_whole(call, "pairs", 1, atn_cli_has(call, "quick") ? QUICK_PAIRS : PAIRS, &pairs);
    if (!status) status = atn_cli_read_whole(call, "seed", 0, 1, &seed);
    if (!status) status = atn_cli_pick_device(call, &devices, &index);
    if (status) return status;
    status = atn_device_open(devices, index, &device);
    atn_bench_trust_options options = {.pairs = (size_t)pairs,
                                       .seed = (uint64_t)seed,
                                       .method = (atn_register_method)number,
                                       .cases = atn_cli_has(call, "cases"),
                                       .visit = atn_cli_bench_visit,
                                       .progress = atn_cli_bench_progress,
                                       .user = bench};
    atn_cli_bench_expect(bench, options.pairs);
    if (!status) status = atn_bench_trust(call->ctx, device, &options);
    atn_cli_progress_end(call);
    atn_device_close(device);
    atn_devices_free(devices);
    return status;
}
