/* Workloads, trials and finals as JSON and back. */
#include "tune/wire.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* JSON knows no infinities. */
static json_t *number(double value) {
    return json_real(isfinite(value) ? value : value > 0 ? 1e300 : value < 0 ? -1e300 : 0);
}
static double number_at(const json_t *from, const char *name) {
    double value = json_number_value(json_object_get(from, name));
    return value >= 1e300 ? INFINITY : value;
}
static int64_t whole_at(const json_t *from, const char *name) {
    return (int64_t)json_integer_value(json_object_get(from, name));
}
static bool flag_at(const json_t *from, const char *name) { return json_is_true(json_object_get(from, name)); }

static json_t *texts(const char *const *list) {
    json_t *array = json_array();
    for (; list && *list; ++list) json_array_append_new(array, json_string(*list));
    return array;
}

json_t *atn_wire_open(const atn_device_info *device, const atn_workload *w, const atn_trial_setup *setup) {
    json_t *defines = texts(w->defines), *sizes = texts(w->sizes), *params = texts(w->params);
    return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:o, s:o, s:o, s:i, s:f, s:f, s:b, s:b, s:b, s:I}", "op", "open",
                     "backend", device->backend, "device", device->name, "ordinal", (int)device->ordinal, "name",
                     w->name, "xml", w->xml, "defines", defines, "sizes", sizes, "params", params, "step", (int)w->step,
                     "range_length", w->range_length, "tolerance", setup->tolerance, "reproducible",
                     (int)setup->reproducible, "cold", (int)setup->cold, "build_only", (int)setup->build_only, "seed",
                     (json_int_t)setup->seed);
}

static atn_status read_texts(const atn_ctx *ctx, const json_t *from, const char *const **out) {
    size_t n = json_array_size(from);
    const char **list = atn_zalloc(ctx, (n + 1) * sizeof *list);
    if (!list) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < n; ++k) list[k] = json_string_value(json_array_get(from, k));
    *out = list;
    return ATN_OK;
}

atn_status atn_wire_read_open(const atn_ctx *ctx, const json_t *from, atn_device_info *device, atn_workload *w,
                              atn_trial_setup *setup) {
    const char *backend = json_string_value(json_object_get(from, "backend"));
    const char *name = json_string_value(json_object_get(from, "device"));
    *w = (atn_workload){.name = json_string_value(json_object_get(from, "name")),
                        .xml = json_string_value(json_object_get(from, "xml")),
                        .step = (int32_t)whole_at(from, "step"),
                        .range_length = number_at(from, "range_length")};
    if (!backend || !name || !w->name || !w->xml) return atn_fail(ctx, ATN_ERR_INPUT, "a worker was told no workload");
    *device = (atn_device_info){.ordinal = (int32_t)whole_at(from, "ordinal")};
    snprintf(device->backend, sizeof device->backend, "%s", backend);
    snprintf(device->name, sizeof device->name, "%s", name);
    *setup = (atn_trial_setup){.tolerance = number_at(from, "tolerance"),
                               .reproducible = flag_at(from, "reproducible"),
                               .cold = flag_at(from, "cold"),
                               .build_only = flag_at(from, "build_only"),
                               .seed = (uint64_t)whole_at(from, "seed")};
    atn_status status = read_texts(ctx, json_object_get(from, "defines"), &w->defines);
    if (status == ATN_OK) status = read_texts(ctx, json_object_get(from, "sizes"), &w->sizes);
    if (status == ATN_OK) status = read_texts(ctx, json_object_get(from, "params"), &w->params);
    return status;
}

void atn_wire_workload_free(const atn_ctx *ctx, atn_workload *w) {
    atn_free(ctx, (void *)(uintptr_t)w->defines);
    atn_free(ctx, (void *)(uintptr_t)w->sizes);
    atn_free(ctx, (void *)(uintptr_t)w->params);
    *w = (atn_workload){0};
}

static json_t *middle(const atn_middle *m) {
    return json_pack("{s:o, s:o, s:o, s:i}", "median", number(m->median), "low", number(m->low), "high",
                     number(m->high), "count", (int)m->count);
}

static atn_middle read_middle(const json_t *from) {
    return (atn_middle){.median = number_at(from, "median"),
                        .low = number_at(from, "low"),
                        .high = number_at(from, "high"),
                        .count = (int32_t)whole_at(from, "count")};
}

json_t *atn_wire_text(const char *text) {
    char copy[ATN_MESSAGE_BYTES];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *c = copy; *c; ++c)
        if ((unsigned char)*c >= 0x80 || (unsigned char)*c < ' ') *c = '?';
    return json_string(copy);
}

json_t *atn_wire_trial(const atn_trial *t) {
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:b, s:b, s:o, s:I, s:I, s:I, s:I}", "outcome",
                     atn_outcome_name(t->outcome), "detail", atn_wire_text(t->detail), "seconds", number(t->seconds),
                     "low", number(t->low), "high", number(t->high), "error", number(t->error), "samples",
                     (int)t->samples, "usable", (int)t->usable, "dropped", (int)t->dropped, "ratio", middle(&t->ratio),
                     "registers", (json_int_t)t->registers, "local_memory", (json_int_t)t->local_memory, "occupancy",
                     (json_int_t)t->occupancy, "code_bytes", (json_int_t)t->code_bytes);
}

void atn_wire_read_trial(const json_t *from, atn_trial *t) {
    const char *name = json_string_value(json_object_get(from, "outcome"));
    const char *detail = json_string_value(json_object_get(from, "detail"));
    *t = (atn_trial){.outcome = ATN_OUTCOME_CRASH,
                     .seconds = number_at(from, "seconds"),
                     .low = number_at(from, "low"),
                     .high = number_at(from, "high"),
                     .error = number_at(from, "error"),
                     .samples = (int32_t)whole_at(from, "samples"),
                     .usable = flag_at(from, "usable"),
                     .dropped = flag_at(from, "dropped"),
                     .ratio = read_middle(json_object_get(from, "ratio")),
                     .registers = whole_at(from, "registers"),
                     .local_memory = whole_at(from, "local_memory"),
                     .occupancy = whole_at(from, "occupancy"),
                     .code_bytes = whole_at(from, "code_bytes")};
    snprintf(t->detail, sizeof t->detail, "%s", detail ? detail : "");
    for (int k = 0; name && k < ATN_OUTCOME_COUNT; ++k)
        if (strcmp(atn_outcome_name((atn_outcome)k), name) == 0) t->outcome = (atn_outcome)k;
}

json_t *atn_wire_final(const atn_final *f) {
    json_t *seconds = json_array(), *counts = json_array();
    for (int32_t k = 0; k < f->n; ++k) {
        json_array_append_new(seconds, middle(&f->seconds[k]));
        json_array_append_new(counts, json_integer(f->count[k]));
    }
    return json_pack("{s:i, s:i, s:i, s:b, s:o, s:o, s:o}", "n", (int)f->n, "winner", (int)f->winner, "runner_up",
                     (int)f->runner_up, "tie", (int)f->tie, "ratio", middle(&f->ratio), "seconds", seconds, "counts",
                     counts);
}

void atn_wire_read_final(const json_t *from, atn_final *f) {
    *f = (atn_final){.n = (int32_t)whole_at(from, "n"),
                     .winner = (int32_t)whole_at(from, "winner"),
                     .runner_up = (int32_t)whole_at(from, "runner_up"),
                     .tie = flag_at(from, "tie"),
                     .ratio = read_middle(json_object_get(from, "ratio"))};
    for (int32_t k = 0; k < f->n && k < ATN_MOST_RACERS; ++k) {
        f->seconds[k] = read_middle(json_array_get(json_object_get(from, "seconds"), (size_t)k));
        f->count[k] = (int32_t)json_integer_value(json_array_get(json_object_get(from, "counts"), (size_t)k));
    }
}
