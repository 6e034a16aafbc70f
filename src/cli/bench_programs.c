/* attune bench programs: fused sweeps, sorts, scans and compactions against others. */
#include "bench/programs.h"
#include "cli/bench.h"
#include "cli/kernel.h"

atn_status atn_cli_bench_programs(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    atn_devices *devices;
    atn_device *device = NULL;
    int32_t index;
    double per, seconds;
    if (call->n_operands != 1) return atn_cli_misuse(call, "programs takes no files; its arrays are made for it");
    atn_status status = atn_cli_read_whole(call, "per", 1, 0, &per);
    if (!status) status = atn_cli_read_number(call, "seconds", 1e-3, 1e6, 0, &seconds);
    if (!status) status = atn_cli_pick_device(call, &devices, &index);
    if (status) return status;
    status = atn_device_open(devices, index, &device);
    atn_bench_programs_options options = {.quick = atn_cli_has(call, "quick"),
                                          .only = atn_cli_value(call, "kernel"),
                                          .seconds = seconds,
                                          .per = per,
                                          .visit = atn_cli_bench_visit,
                                          .progress = atn_cli_bench_progress,
                                          .user = bench};
    atn_cli_bench_expect(bench, atn_bench_programs_steps(&options));
    if (!status) status = atn_bench_programs(call->ctx, device, &options);
    atn_cli_progress_end(call);
    atn_device_close(device);
    atn_devices_free(devices);
    return status;
}
