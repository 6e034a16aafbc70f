/* attune bench register: registration against the structure it was published in, what its modes cost, and all methods
 * on two files. */
#include "bench/register.h"
#include "cli/bench.h"
#include "cli/kernel.h"

static void show_progress(void *user, const char *what) {
    atn_cli_progress(atn_cli_bench_call(user), "measuring %s ...", what);
}

static bool add_row(void *user, const atn_bench_row *row) {
    atn_cli_bench *bench = user;
    const atn_ctx *ctx = atn_cli_bench_call(bench)->ctx;
    json_t *extra = json_object();
    if (json_object_set_new(extra, "note", atn_cli_json_text(ctx, row->note)) != 0) {
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

atn_status atn_cli_bench_register(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    atn_devices *devices;
    atn_device *device = NULL;
    atn_cloud *clouds[2] = {NULL, NULL};
    int32_t index;
    if (call->n_operands != 1 && call->n_operands != 3)
        return atn_cli_misuse(call, "register takes two files, SOURCE TARGET, or none");
    atn_status status = ATN_OK;
    for (size_t k = 0; k + 1 < call->n_operands && !status; ++k)
        status = atn_cloud_read(call->ctx, call->operands[k + 1], NULL, &clouds[k]);
    if (!status) status = atn_cli_pick_device(call, &devices, &index);
    if (!status) {
        status = atn_device_open(devices, index, &device);
        atn_bench_register_options options = {.quick = atn_cli_has(call, "quick"),
                                              .source = clouds[0],
                                              .target = clouds[1],
                                              .visit = add_row,
                                              .progress = show_progress,
                                              .user = bench};
        if (!status) status = atn_bench_register(call->ctx, device, &options);
        atn_cli_progress_end(call);
        atn_device_close(device);
        atn_devices_free(devices);
    }
    for (int k = 0; k < 2; ++k) atn_cloud_free(clouds[k]);
    return status;
}
