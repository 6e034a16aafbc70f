/* attune bench kernels: the shipped kernels against what others reach on the same device, and how long a first call in
 * a new process takes. */
#include "cli/bench.h"

#include "base/memory.h"
#include "base/number.h"
#include "bench/cold.h"
#include "bench/kernels.h"
#include "cli/kernel.h"
#include "tune/worker_pool.h"

#include <stdio.h>

enum { COLD_ROUNDS = 3 };
static const double CPU_ROW_S = 1.5, GPU_ROW_S = 0.2; /* who counts by events is not disturbed by other processes */

typedef struct kernels {
    atn_cli_bench *bench;
    const atn_device_info *info;
} kernels;

static json_t *extra_of(const atn_ctx *ctx, const atn_kernel_row *row, const char *variant) {
    json_t *extra = json_object();
    return atn_cli_json_if(json_object_set_new(extra, "hit", atn_cli_json_text(ctx, row->hit)) == 0 &&
                               json_object_set_new(extra, "variant", atn_cli_json_text(ctx, variant)) == 0 &&
                               json_object_set_new(extra, "estimate_ratio", atn_cli_json_rate(row->estimate_ratio)) ==
                                   0 &&
                               json_object_set_new(extra, "mean_error", atn_cli_json_rate(row->mean_error)) == 0 &&
                               json_object_set_new(extra, "worst_error", atn_cli_json_rate(row->worst_error)) == 0,
                           extra);
}

static bool add_kernel(void *user, const atn_kernel_row *row) {
    kernels *k = user;
    const atn_ctx *ctx = atn_cli_bench_call(k->bench)->ctx;
    char note[640];
    const char *variant = *row->variant ? row->variant : "plain";
    json_t *extra = *row->error ? NULL : extra_of(ctx, row, variant);
    if (!*row->error && !extra) return false;
    if (row->mean_error > 0)
        snprintf(note, sizeof note, "sums off by %.2g in the mean, %.2g at most: %s", row->mean_error, row->worst_error,
                 variant);
    else
        snprintf(note, sizeof note, "%s: %s", row->hit, variant);
    bool going = atn_cli_bench_add(k->bench, &(atn_cli_bench_row){.name = row->name,
                                                                  .device = k->info->name,
                                                                  .shape = row->shape,
                                                                  .ours = row->ours,
                                                                  .reference = row->reference,
                                                                  .reference_name = row->reference_name,
                                                                  .unit = row->unit,
                                                                  .ratio = row->ratio,
                                                                  .seconds = row->seconds,
                                                                  .note = note,
                                                                  .error = *row->error ? row->error : NULL,
                                                                  .extra = extra});
    if (going) atn_cli_bench_progress(k->bench, "kernels");
    return going;
}

static atn_status add_cold(kernels *k, const char *program) {
    atn_cli_call *call = atn_cli_bench_call(k->bench);
    atn_cold_row rows[ATN_COLD_ROWS];
    char device[16];
    snprintf(device, sizeof device, "%d", k->info->index);
    atn_cli_progress(call, "cold starts ...");
    atn_status status = atn_bench_cold(call->ctx, program, device, COLD_ROUNDS, rows);
    atn_cli_progress_end(call);
    for (int32_t n = 0; n < ATN_COLD_ROWS && !status; ++n)
        if (rows[n].seconds > 0)
            atn_cli_bench_add(k->bench, &(atn_cli_bench_row){.name = rows[n].name,
                                                             .device = k->info->name,
                                                             .shape = "gemm 256x256",
                                                             .ours = rows[n].seconds,
                                                             .reference_name = "",
                                                             .unit = "s",
                                                             .seconds = rows[n].seconds,
                                                             .note = rows[n].meaning});
    return status;
}

atn_status atn_cli_bench_kernels(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    const char *kernel = atn_cli_value(call, "kernel"), *text = atn_cli_value(call, "seconds");
    atn_devices *devices;
    int32_t index;
    char *end, *program = NULL;
    double seconds = text ? atn_number_read(text, &end) : 0;
    if (text && (end == text || *end || !(seconds > 0)))
        return atn_cli_misuse(call, "--seconds cannot be '%s'; it takes a time above 0", text);
    atn_status status = atn_cli_pick_device(call, &devices, &index);
    if (status) return status;
    kernels k = {bench, atn_devices_info(devices, index)};
    if (!text) seconds = k.info->cpu ? CPU_ROW_S : GPU_ROW_S;
    status = atn_worker_pool_program(call->ctx, NULL, &program);
    atn_cli_bench_expect(bench, atn_bench_kernel_rows(k.info, kernel));
    atn_cli_bench_progress(bench, "kernels");
    if (!status) status = atn_bench_kernels(call->ctx, program, k.info, kernel, seconds, add_kernel, &k);
    atn_cli_progress_end(call);
    if (!status && !kernel) status = add_cold(&k, program);
    atn_free(call->ctx, program);
    atn_devices_free(devices);
    return status;
}
