/* attune devices: the available devices and their measured performance. A device that cannot be measured reports the
 * reason in its row and does not affect the others. */
#include "cli/kernel.h"

#include "base/memory.h"
#include "device/peaks.h"

#include <string.h>

typedef struct row {
    const atn_device_info *info;
    atn_peaks peaks;               /* zero where not measured */
    bool busy;                     /* the machine was, when they were measured */
    atn_status status;             /* of opening and measuring */
    char error[ATN_MESSAGE_BYTES]; /* why it could not be measured, or "" */
} row;

/* How many devices are done of how many, the peaks of the one at work included. */
typedef struct watching {
    atn_cli_call *call;
    size_t done, count;
} watching;

static bool watch(void *user, const atn_progress *now) {
    const watching *w = user;
    double part = now->count > 0 ? (double)now->done / (double)now->count : 0;
    atn_cli_show_share(w->call, "measuring devices", ((double)w->done + part) / (double)w->count);
    return true;
}

static void measure(const atn_cli_call *call, const atn_devices *devices, int32_t index, row *out) {
    out->info = atn_devices_info(devices, index);
    atn_device *device;
    out->status = atn_check_cancel(call->ctx);
    if (!out->status) out->status = atn_device_open(devices, index, &device);
    if (!out->status) {
        atn_peaks_kept kept;
        out->status = atn_device_peaks_kept(device, &kept);
        out->peaks = kept.peaks;
        out->busy = kept.busy != 0;
        atn_device_close(device);
    }
    if (out->status) {
        out->peaks = (atn_peaks){0};
        const char *sentence = atn_ctx_message(call->ctx);
        snprintf(out->error, sizeof out->error, "%s", *sentence ? sentence : atn_status_name(out->status));
    }
}

/* ---- as JSON ---- */

static json_t *peak_json(const row *from) {
    const atn_peaks *peaks = &from->peaks;
    json_t *object = json_object();
    return atn_cli_json_if(json_object_set_new(object, "fp16", atn_cli_json_rate(peaks->fp16)) == 0 &&
                               json_object_set_new(object, "fp32", atn_cli_json_rate(peaks->fp32)) == 0 &&
                               json_object_set_new(object, "fp64", atn_cli_json_rate(peaks->fp64)) == 0 &&
                               json_object_set_new(object, "bandwidth", atn_cli_json_rate(peaks->bandwidth)) == 0 &&
                               json_object_set_new(object, "busy", json_boolean(from->busy)) == 0,
                           object);
}

static json_t *row_json(const atn_ctx *ctx, const row *from) {
    const atn_device_info *info = from->info;
    json_t *object = json_object();
    return atn_cli_json_if(
        json_object_set_new(object, "index", json_integer(info->index)) == 0 &&
            json_object_set_new(object, "backend", atn_cli_json_text(ctx, info->backend)) == 0 &&
            json_object_set_new(object, "name", atn_cli_json_text(ctx, info->name)) == 0 &&
            json_object_set_new(object, "driver", atn_cli_json_text(ctx, info->driver)) == 0 &&
            json_object_set_new(object, "cores", json_integer(info->cores)) == 0 &&
            json_object_set_new(object, "memory_bytes", json_integer(info->memory_bytes)) == 0 &&
            json_object_set_new(object, "local_bytes", json_integer(info->local_bytes)) == 0 &&
            json_object_set_new(object, "simd", json_integer(info->simd)) == 0 &&
            json_object_set_new(object, "peak", peak_json(from)) == 0 &&
            (!from->status || json_object_set_new(object, "error", atn_cli_json_text(ctx, from->error)) == 0),
        object);
}

static json_t *all_json(const atn_ctx *ctx, const atn_devices *devices, const row *rows, size_t count) {
    json_t *root = json_object(), *list = json_array(), *notes = json_array();
    bool whole = true;
    for (size_t k = 0; k < count && whole; ++k) whole = json_array_append_new(list, row_json(ctx, &rows[k])) == 0;
    for (int32_t k = 0; k < atn_devices_note_count(devices) && whole; ++k)
        whole = json_array_append_new(notes, atn_cli_json_text(ctx, atn_devices_note(devices, k))) == 0;
    whole = json_object_set_new(root, "devices", list) == 0 && whole;
    whole = json_object_set_new(root, "notes", notes) == 0 && whole;
    return atn_cli_json_if(whole, root);
}

/* ---- for people ---- */

static void add_scaled(atn_text *table, double value, const char *unit) {
    char cell[48] = "-";
    if (value > 0) snprintf(cell, sizeof cell, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit);
    atn_cli_add_cell(table, cell);
}

static void add_flops(atn_text *table, double rate) {
    bool tera = rate >= 1e12;
    add_scaled(table, rate / (tera ? 1e12 : 1e9), tera ? "TFLOP/s" : "GFLOP/s");
}

static void add_row(atn_text *table, const row *from) {
    const atn_device_info *info = from->info;
    char number[16];
    snprintf(number, sizeof number, "%d", (int)info->index);
    atn_cli_add_cell(table, number);
    atn_cli_add_cell(table, info->backend);
    atn_cli_add_cell(table, info->name);
    snprintf(number, sizeof number, "%d", (int)info->cores);
    atn_cli_add_cell(table, number);
    add_scaled(table, (double)info->memory_bytes / (1024.0 * 1024.0 * 1024.0), "GiB");
    add_flops(table, from->peaks.fp16);
    add_flops(table, from->peaks.fp32);
    add_flops(table, from->peaks.fp64);
    add_scaled(table, from->peaks.bandwidth / 1e9, "GB/s");
    atn_text_add(table, "\n");
}

static atn_status print_table(atn_cli_call *call, const atn_devices *devices, const row *rows, size_t count) {
    atn_text table = {.ctx = call->ctx}, page = {.ctx = call->ctx};
    atn_text_add(&table, "#\tbackend\tname\tcores\tmemory\tFP16\tFP32\tFP64\tcopy\t\n");
    for (size_t k = 0; k < count; ++k) add_row(&table, &rows[k]);
    atn_cli_add_table(&page, atn_text_str(&table), "rllrrrrrr");
    for (size_t k = 0; k < count; ++k)
        if (rows[k].status)
            atn_text_printf(&page, "\n%d could not be measured: %s\n", (int)rows[k].info->index, rows[k].error);
    for (size_t k = 0; k < count; ++k)
        if (rows[k].busy)
            atn_text_printf(&page,
                            "\n%d was measured on a busy machine: its peaks are measured again when next asked for\n",
                            (int)rows[k].info->index);
    for (int32_t k = 0; k < atn_devices_note_count(devices); ++k)
        atn_text_printf(&page, "%sNot available: %s\n", k ? "" : "\n", atn_devices_note(devices, k));
    page.failed |= table.failed;
    atn_status status = atn_cli_print_text(call, "devices", &page);
    atn_text_free(&table);
    atn_text_free(&page);
    return status;
}

/* Measures devices first..first+count-1 and prints them. */
static atn_status show(atn_cli_call *call, const atn_devices *devices, int32_t first, size_t count, row *rows) {
    const row *starved = NULL;
    watching w = {.call = call, .count = count};
    atn_ctx_on_progress(call->ctx, watch, &w);
    for (size_t k = 0; k < count; ++k) {
        w.done = k;
        atn_cli_show_share(call, "measuring devices", (double)k / (double)count);
        measure(call, devices, first + (int32_t)k, &rows[k]);
        if (rows[k].status == ATN_ERR_CANCELLED) break;
        if (rows[k].status == ATN_ERR_MEMORY && !starved) starved = &rows[k];
    }
    atn_ctx_on_progress(call->ctx, NULL, NULL);
    atn_cli_progress_end(call);
    if (w.done < count && rows[w.done].status == ATN_ERR_CANCELLED) return ATN_ERR_CANCELLED;
    atn_status status = call->json ? atn_cli_print_json(call, all_json(call->ctx, devices, rows, count))
                                   : print_table(call, devices, rows, count);
    if (status || !starved) return status;
    /* a machine that ran out of memory is no answer to "what is here": shown, but not a success */
    return atn_fail(call->ctx, ATN_ERR_MEMORY, "device %d could not be measured: %s", (int)starved->info->index,
                    starved->error);
}

static atn_status run(atn_cli_call *call) {
    atn_devices *devices;
    int32_t first, count;
    atn_status status = atn_cli_find_devices(call, &devices, &first, &count);
    row *rows = status ? NULL : atn_zalloc(call->ctx, (size_t)count * sizeof *rows);
    if (!status) status = rows ? show(call, devices, first, (size_t)count, rows) : ATN_ERR_MEMORY;
    atn_free(call->ctx, rows);
    atn_devices_free(devices);
    return status;
}

const atn_cli_verb ATN_VERB_DEVICES = {
    .name = "devices",
    .summary = "list devices: backend, name, cores, memory, measured peaks",
    .synopsis = "",
    .paragraphs =
        (const char *const[]){
            "Lists the CPU and every OpenCL and CUDA device, with measured arithmetic rate and memory bandwidth, and "
            "the backends that are missing. The first call measures, about a second per device; later ones use the "
            "cache. Peaks of a CPU that was busy with other processes are marked and measured again by the first call "
            "at least a minute later; so are peaks that a tuned kernel exceeds.",
            "Rates count a multiply-add as two operations; the copy counts bytes read and bytes written. '-': type not "
            "supported.",
            "JSON: devices (index, backend, name, driver, cores, memory_bytes, local_bytes, simd, peak: fp16, fp32 and "
            "fp64 in FLOP/s, bandwidth in B/s; null if not supported; busy: the machine was busy; error if it could "
            "not be measured) and notes.",
            NULL},
    .examples = (const atn_cli_pair[]){{"attune devices", "the table"},
                                       {"attune devices --device cuda --json", "the first CUDA device, for a program"},
                                       {0}},
    .run = run,
};
