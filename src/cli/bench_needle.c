/* attune bench needle: four rounds of the shifting algorithm at the published sizes. */
#include "bench/needle.h"
#include "cli/bench.h"
#include "cli/kernel.h"

static void show_progress(void *user, const char *what) {
    atn_cli_progress(atn_cli_bench_call(user), "measuring %s ...", what);
}

static bool add_row(void *user, const atn_bench_row *row) {
    atn_cli_bench *bench = user;
    json_t *extra = json_object();
    if (json_object_set_new(extra, "note", atn_cli_json_text(atn_cli_bench_call(bench)->ctx, row->note)) != 0) {
        json_decref(extra);
        return false;
    }
    return atn_cli_bench_add(bench, &(atn_cli_bench_row){.name = row->name,
                                                         .device = row->device,
                                                         .shape = row->shape,
                                                         .ours = row->ours,
                                                         .reference = row->reference,
                                                         .reference_name = row->reference_name,
                                                         .unit = row->unit,
                                                         .ratio = row->ratio,
                                                         .seconds = row->seconds,
                                                         .note = row->note,
                                                         .extra = extra});
}

atn_status atn_cli_bench_needle(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    atn_devices *devices;
    atn_device *device = NULL;
    int32_t index;
    if (call->n_operands != 1) return atn_cli_misuse(call, "needle takes no files; its clouds are made for it");
    atn_status status = atn_cli_pick_device(call, &devices, &index);
    if (status) return status;
    status = atn_device_open(devices, index, &device);
    atn_bench_needle_options options = {
        .quick = atn_cli_has(call, "quick"), .visit = add_row, .progress = show_progress, .user = bench};
    if (!status) status = atn_bench_needle(call->ctx, device, &options);
    atn_cli_progress_end(call);
    atn_device_close(device);
    atn_devices_free(devices);
    return status;
}
