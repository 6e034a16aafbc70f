/* attune bench estimate: kernels as they run untuned against what a short tuning finds. */
#include "cli/bench.h"

#include "base/number.h"
#include "bench/estimate.h"
#include "cli/kernel.h"

#include <math.h>
#include <stdio.h>

static const double BUDGET_S = 10, SECONDS = 1, WANTED = 2 /* times the tuned variant's time, at most */;

typedef struct estimates {
    atn_cli_bench *bench;
    const atn_device_info *info;
    int32_t rows, within;
    double logarithms; /* of slowdowns, their sum */
} estimates;

static json_t *extra_of(const atn_ctx *ctx, const atn_estimate_row *row) {
    json_t *extra = json_object();
    return atn_cli_json_if(json_object_set_new(extra, "estimate", atn_cli_json_text(ctx, row->estimated)) == 0 &&
                               json_object_set_new(extra, "tuned", atn_cli_json_text(ctx, row->tuned)) == 0 &&
                               json_object_set_new(extra, "slowdown", json_real(row->slowdown)) == 0,
                           extra);
}

static bool add_row(void *user, const atn_estimate_row *row) {
    estimates *e = user;
    bool failed = *row->error;
    char note[1100];
    json_t *extra = failed ? NULL : extra_of(atn_cli_bench_call(e->bench)->ctx, row);
    if (!failed && !extra) return false;
    if (!failed) {
        e->rows += 1;
        e->within += row->slowdown <= WANTED;
        e->logarithms += log(row->slowdown);
    }
    snprintf(note, sizeof note, "%.2fx: %s; tuned %s", row->slowdown, row->estimated, row->tuned);
    return atn_cli_bench_add(e->bench, &(atn_cli_bench_row){.name = row->name,
                                                            .device = e->info->name,
                                                            .shape = row->shape,
                                                            .ours = row->estimated_s,
                                                            .reference = row->tuned_s,
                                                            .reference_name = "tuned",
                                                            .unit = "s",
                                                            .ratio = failed ? 0 : 1 / row->slowdown,
                                                            .seconds = row->estimated_s,
                                                            .note = note,
                                                            .error = failed ? row->error : NULL,
                                                            .extra = extra});
}

static void show_progress(void *user, const char *kernel, const char *shape) {
    const estimates *e = user;
    char what[160];
    snprintf(what, sizeof what, "%s %s", kernel, shape);
    atn_cli_bench_progress(e->bench, what);
}

atn_status atn_cli_bench_estimate(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    const char *budget = atn_cli_value(call, "budget"), *seconds = atn_cli_value(call, "seconds");
    atn_estimate_options options = {.kernel = atn_cli_value(call, "kernel"),
                                    .seconds = SECONDS,
                                    .tuning = {.budget_s = BUDGET_S},
                                    .progress = show_progress,
                                    .visit = add_row};
    atn_devices *devices;
    atn_device *device = NULL;
    atn_wisdom *wisdom = NULL;
    int32_t index;
    char *end;
    if (call->n_operands > 1) return atn_cli_misuse(call, "estimate takes no files");
    if (budget && !atn_cli_read_duration(budget, &options.tuning.budget_s))
        return atn_cli_misuse(call, "--budget cannot be '%s'; it takes a time, 10s or 1m", budget);
    if (seconds) options.seconds = atn_number_read(seconds, &end);
    if (seconds && (end == seconds || *end || !(options.seconds > 0)))
        return atn_cli_misuse(call, "--seconds cannot be '%s'; it takes a time above 0", seconds);
    atn_status status = atn_cli_pick_device(call, &devices, &index);
    if (status) return status;
    estimates e = {.bench = bench, .info = atn_devices_info(devices, index)};
    options.user = &e;
    status = atn_device_open(devices, index, &device);
    if (!status) status = atn_wisdom_open(call->ctx, NULL, false, &wisdom);
    atn_cli_bench_expect(bench, atn_bench_estimate_rows(e.info, options.kernel));
    if (!status) status = atn_bench_estimate(device, wisdom, &options);
    atn_cli_progress_end(call);
    if (!status && !call->json)
        fprintf(call->out, "%d of %d estimates are within %g times the tuned variant; the geometric mean is %.2f.\n",
                e.within, e.rows, WANTED, exp(e.logarithms / e.rows));
    atn_wisdom_close(wisdom);
    atn_device_close(device);
    atn_devices_free(devices);
    return status;
}
