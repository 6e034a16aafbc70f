/* Rows of attune bench, for any subject: printed as they are measured, kept for JSON and the report. */
#include "cli/bench.h"

#include "base/clock.h"
#include "cli/kernel.h"

#include <string.h>

#define LAYOUT "%-28s %-44s %10s %14s %14s %-22s %8s  %s\n"

atn_cli_call *atn_cli_bench_call(atn_cli_bench *bench) { return bench->call; }

static json_t *row_json(const atn_ctx *ctx, const atn_cli_bench_row *row) {
    json_t *object = row->extra ? row->extra : json_object();
    return atn_cli_json_if(
        object && json_object_set_new(object, "name", atn_cli_json_text(ctx, row->name)) == 0 &&
            json_object_set_new(object, "device", atn_cli_json_text(ctx, row->device)) == 0 &&
            json_object_set_new(object, "shape", atn_cli_json_text(ctx, row->shape)) == 0 &&
            json_object_set_new(object, "ours", row->error ? json_null() : json_real(row->ours)) == 0 &&
            (!row->error || json_object_set_new(object, "error", atn_cli_json_text(ctx, row->error)) == 0) &&
            json_object_set_new(object, "reference", atn_cli_json_rate(row->reference)) == 0 &&
            json_object_set_new(object, "reference_name", atn_cli_json_text(ctx, row->reference_name)) == 0 &&
            json_object_set_new(object, "ratio", atn_cli_json_rate(row->ratio)) == 0 &&
            json_object_set_new(object, "unit", atn_cli_json_text(ctx, row->unit)) == 0 &&
            (!(row->seconds > 0) || json_object_set_new(object, "seconds", json_real(row->seconds)) == 0),
        object);
}

void atn_cli_bench_amount(double value, const char *unit, char *text, size_t bytes) {
    static const struct {
        double from;
        const char *prefix;
    } PREFIXES[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {0, "n"}};
    size_t k = 0;
    while (value < PREFIXES[k].from) ++k;
    double scale = PREFIXES[k].from > 0 ? PREFIXES[k].from : 1e-9;
    if (!*unit) /* a plain number, or in the data's own unit */
        snprintf(text, bytes, value > 0 ? "%.4g" : "-", value);
    else if (value > 0)
        snprintf(text, bytes, "%.4g %s%s", value / scale, PREFIXES[k].prefix, unit);
    else
        snprintf(text, bytes, "-");
}

bool atn_cli_bench_add(atn_cli_bench *b, const atn_cli_bench_row *row) {
    atn_cli_call *call = b->call;
    json_t *object = row_json(call->ctx, row);
    b->failed = !object || json_array_append_new(b->rows, object) != 0;
    if (b->failed) return false;
    b->errors += row->error != NULL;
    if (!call->json) { /* at once: rows take their time */
        char ours[48], theirs[48], time[48], ratio[32] = "-";
        atn_cli_bench_amount(row->ours, row->unit, ours, sizeof ours);
        atn_cli_bench_amount(row->reference, row->unit, theirs, sizeof theirs);
        atn_cli_bench_amount(row->seconds, "s", time, sizeof time);
        if (row->ratio > 0) snprintf(ratio, sizeof ratio, "%.3f", row->ratio);
        atn_cli_progress_end(call);
        if (json_array_size(b->rows) == 1)
            fprintf(call->out, LAYOUT, "name", "shape", "time", "ours", "theirs", "theirs is", "ratio", "");
        fprintf(call->out, LAYOUT, row->name, row->shape, time, ours, theirs, row->reference_name, ratio,
                row->error  ? row->error
                : row->note ? row->note
                            : "");
        fflush(call->out);
    }
    return atn_check_cancel(call->ctx) == ATN_OK;
}

void atn_cli_bench_expect(atn_cli_bench *bench, size_t steps) { bench->steps = steps; }

void atn_cli_bench_progress(void *user, const char *what) {
    atn_cli_bench *b = user;
    char share[48];
    size_t done = b->begun++;
    if (done < b->steps) {
        atn_cli_print_share(atn_clock_seconds() - b->since_s, (double)done / (double)b->steps, share, sizeof share);
        atn_cli_progress(b->call, "measuring %s: %zu of %zu done, %s", what, done, b->steps, share);
    } else
        atn_cli_progress(b->call, "measuring %s, %zu rows so far ...", what, json_array_size(b->rows));
}

atn_cli_bench_row atn_cli_bench_row_of(const atn_bench_row *row) {
    return (atn_cli_bench_row){.name = row->name,
                               .device = row->device,
                               .shape = row->shape,
                               .ours = row->ours,
                               .reference = row->reference,
                               .reference_name = row->reference_name,
                               .unit = row->unit,
                               .ratio = row->ratio};
}

static bool visit(void *user, const atn_bench_row *row) {
    atn_cli_bench *bench = user;
    const atn_ctx *ctx = atn_cli_bench_call(bench)->ctx;
    atn_cli_bench_row shown = atn_cli_bench_row_of(row);
    shown.seconds = row->seconds, shown.note = row->note, shown.extra = json_object();
    if (json_object_set_new(shown.extra, "note", atn_cli_json_text(ctx, row->note)) != 0) {
        json_decref(shown.extra);
        return false;
    }
    return atn_cli_bench_add(bench, &shown);
}

atn_bench_listener atn_cli_bench_listener(atn_cli_bench *bench) {
    return (atn_bench_listener){visit, atn_cli_bench_progress, bench};
}

atn_status atn_cli_bench_on_device(atn_cli_bench *bench, atn_cli_bench_measure *measure, const void *options) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    atn_devices *devices;
    atn_device *device = NULL;
    int32_t index;
    atn_status status = atn_cli_pick_device(call, &devices, &index);
    if (status) return status;
    status = atn_device_open(devices, index, &device);
    if (!status) status = measure(call, device, options);
    atn_cli_progress_end(call);
    atn_device_close(device);
    atn_devices_free(devices);
    return status;
}
