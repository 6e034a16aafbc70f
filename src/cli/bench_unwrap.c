/* attune bench unwrap: whole frames, at four sizes. */
#include "bench/unwrap.h"
#include "cli/bench.h"
#include "cli/kernel.h"

atn_status atn_cli_bench_unwrap(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    atn_devices *devices;
    atn_device *device = NULL;
    int32_t index;
    if (call->n_operands != 1) return atn_cli_misuse(call, "unwrap takes no files; its surfaces are made for it");
    atn_status status = atn_cli_pick_device(call, &devices, &index);
    if (status) return status;
    status = atn_device_open(devices, index, &device);
    atn_bench_unwrap_options options = {.quick = atn_cli_has(call, "quick"),
                                        .visit = atn_cli_bench_visit,
                                        .progress = atn_cli_bench_progress,
                                        .user = bench};
    if (!status) status = atn_bench_unwrap(call->ctx, device, &options);
    atn_cli_progress_end(call);
    atn_device_close(device);
    atn_devices_free(devices);
    return status;
}
