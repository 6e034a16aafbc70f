/* attune bench lattice: how often structures are told right. */
#include "bench/lattice.h"
#include "cli/bench.h"
#include "cli/kernel.h"

atn_status atn_cli_bench_lattice(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    atn_devices *devices;
    atn_device *device = NULL;
    int32_t index;
    double seed;
    if (call->n_operands != 1)
        return atn_cli_misuse(call, "lattice takes no files; its neighbourhoods are made for it");
    atn_status status = atn_cli_read_whole(call, "seed", 0, 905, &seed);
    if (!status) status = atn_cli_pick_device(call, &devices, &index);
    if (status) return status;
    status = atn_device_open(devices, index, &device);
    atn_bench_lattice_options options = {.quick = atn_cli_has(call, "quick"),
                                         .seed = (uint64_t)seed,
                                         .visit = atn_cli_bench_visit,
                                         .progress = atn_cli_bench_progress,
                                         .user = bench};
    atn_cli_bench_expect(bench, atn_bench_lattice_steps(&options));
    if (!status) status = atn_bench_lattice(call->ctx, device, &options);
    atn_cli_progress_end(call);
    atn_device_close(device);
    atn_devices_free(devices);
    return status;
}
