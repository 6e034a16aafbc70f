/* Workloads, trials and finals as JSON and back. */
#include "tune/wire.h"

#include "base/memory.h"
#include "tune/key.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* JSON knows no infinities. */
static json_t *number(double value) {
    return json_real(isfinite(value) ? value : value > 0 ? 1e300 : value < 0 ? -1e300 : 0);
}

/* ---- fields: each is there, of its type and within its range, or the whole object is worth nothing ---- */

static bool take_number(const json_t *from, const char *name, double least, double *out) {
    const json_t *field = json_object_get(from, name);
    *out = json_number_value(field);
    bool good = json_is_number(field) && *out >= least;
    if (*out >= 1e300) *out = INFINITY;
    return good;
}

static bool take_whole(const json_t *from, const char *name, int64_t least, int64_t most, int64_t *out) {
    const json_t *field = json_object_get(from, name);
    *out = (int64_t)json_integer_value(field);
    return json_is_integer(field) && *out >= least && *out <= most;
}

static bool take_int(const json_t *from, const char *name, int32_t least, int32_t most, int32_t *out) {
    int64_t whole;
    bool good = take_whole(from, name, least, most, &whole);
    *out = good ? (int32_t)whole : 0;
    return good;
}

static bool take_flag(const json_t *from, const char *name, bool *out) {
    const json_t *field = json_object_get(from, name);
    *out = json_is_true(field);
    return json_is_boolean(field);
}

/* Cut to its room; what could steer a terminal becomes '?'. */
static bool take_text(const json_t *from, const char *name, char *out, size_t room) {
    const char *text = json_string_value(json_object_get(from, name));
    snprintf(out, room, "%s", text ? text : "");
    for (char *c = out; *c; ++c)
        if (*c < ' ' || *c > '~') *c = '?';
    return text != NULL;
}

static json_t *texts(const char *const *list) {
    json_t *array = json_array();
    for (; list && *list; ++list) json_array_append_new(array, json_string(*list));
    return array;
}

json_t *atn_wire_open(const atn_device_info *device, const atn_workload *w, const atn_trial_setup *setup) {
    json_t *defines = texts(w->defines), *sizes = texts(w->sizes), *params = texts(w->params);
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:i, s:s, s:s, s:o, s:o, s:o, s:i, s:b, s:f, s:f, s:b, s:b, s:b, s:I}",
                     "op", "open", "protocol", ATN_WIRE_VERSION, "generator", ATN_GENERATOR_VERSION, "backend",
                     device->backend, "device", device->name, "ordinal", (int)device->ordinal, "name", w->name, "xml",
                     w->xml, "defines", defines, "sizes", sizes, "params", params, "step", (int)w->step, "packed",
                     (int)w->packed, "range_length", w->range_length, "tolerance", setup->tolerance, "reproducible",
                     (int)setup->reproducible, "cold", (int)setup->cold, "build_only", (int)setup->build_only, "seed",
                     (json_int_t)setup->seed);
}

static atn_status read_texts(const atn_ctx *ctx, const json_t *from, const char *const **out) {
    size_t n = json_array_size(from);
    const char **list = atn_zalloc(ctx, (n + 1) * sizeof *list);
    if (!list) return ATN_ERR_MEMORY;
    bool good = json_is_array(from);
    for (size_t k = 0; k < n; ++k) {
        list[k] = json_string_value(json_array_get(from, k));
        good = good && list[k];
    }
    *out = list;
    return good ? ATN_OK : atn_fail(ctx, ATN_ERR_INPUT, "a worker was given a malformed list");
}

atn_status atn_wire_read_open(const atn_ctx *ctx, const json_t *from, atn_device_info *device, atn_workload *w,
                              atn_trial_setup *setup) {
    const char *name = json_string_value(json_object_get(from, "name"));
    const char *xml = json_string_value(json_object_get(from, "xml"));
    int64_t version = 0, seed;
    *w = (atn_workload){.name = name, .xml = xml};
    *device = (atn_device_info){.ordinal = 0};
    *setup = (atn_trial_setup){.tolerance = 0};
    if (!take_whole(from, "protocol", ATN_WIRE_VERSION, ATN_WIRE_VERSION, &version))
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED,
                        "the worker speaks protocol %d, the tuner %lld; both must be of one version of attune",
                        ATN_WIRE_VERSION, (long long)version);
    char generator[32];
    if (!take_text(from, "generator", generator, sizeof generator) || strcmp(generator, ATN_GENERATOR_VERSION) != 0)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED,
                        "the worker's generator is %s, the tuner's %s; both must be of one build of attune",
                        ATN_GENERATOR_VERSION, generator);
    if (!name || !xml || !take_text(from, "backend", device->backend, sizeof device->backend) ||
        !take_text(from, "device", device->name, sizeof device->name) ||
        !take_int(from, "ordinal", INT32_MIN, INT32_MAX, &device->ordinal) ||
        !take_int(from, "step", INT32_MIN, INT32_MAX, &w->step) || !take_flag(from, "packed", &w->packed) ||
        !take_number(from, "range_length", -INFINITY, &w->range_length) ||
        !take_number(from, "tolerance", -INFINITY, &setup->tolerance) ||
        !take_flag(from, "reproducible", &setup->reproducible) || !take_flag(from, "cold", &setup->cold) ||
        !take_flag(from, "build_only", &setup->build_only) || !take_whole(from, "seed", INT64_MIN, INT64_MAX, &seed))
        return atn_fail(ctx, ATN_ERR_INPUT, "a worker was given no workload");
    setup->seed = (uint64_t)seed;
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

static bool take_middle(const json_t *from, atn_middle *out) {
    return take_number(from, "median", 0, &out->median) && take_number(from, "low", 0, &out->low) &&
           take_number(from, "high", 0, &out->high) && take_int(from, "count", 0, ATN_MOST_SAMPLES, &out->count);
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

bool atn_wire_read_trial(const json_t *from, atn_trial *t) {
    const char *name = json_string_value(json_object_get(from, "outcome"));
    *t = (atn_trial){.outcome = ATN_OUTCOME_STARTED};
    for (int k = 0; name && k < ATN_OUTCOME_STARTED; ++k)
        if (strcmp(atn_outcome_name((atn_outcome)k), name) == 0) t->outcome = (atn_outcome)k;
    return t->outcome != ATN_OUTCOME_STARTED && take_text(from, "detail", t->detail, sizeof t->detail) &&
           take_number(from, "seconds", 0, &t->seconds) && take_number(from, "low", 0, &t->low) &&
           take_number(from, "high", 0, &t->high) && take_number(from, "error", 0, &t->error) &&
           take_int(from, "samples", 0, ATN_MOST_SAMPLES, &t->samples) && take_flag(from, "usable", &t->usable) &&
           take_flag(from, "dropped", &t->dropped) && take_middle(json_object_get(from, "ratio"), &t->ratio) &&
           take_whole(from, "registers", -1, INT32_MAX, &t->registers) &&
           take_whole(from, "local_memory", -1, INT64_MAX, &t->local_memory) &&
           take_whole(from, "occupancy", -1, INT32_MAX, &t->occupancy) &&
           take_whole(from, "code_bytes", 0, INT64_MAX, &t->code_bytes) &&
           (t->outcome != ATN_OUTCOME_RIGHT || (isfinite(t->seconds) && isfinite(t->low) && isfinite(t->high)));
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

bool atn_wire_read_final(const json_t *from, int32_t n, atn_final *f) {
    const json_t *seconds = json_object_get(from, "seconds"), *counts = json_object_get(from, "counts");
    *f = (atn_final){.winner = -1, .runner_up = -1};
    if (n < 1 || n > ATN_MOST_RACERS || !take_int(from, "n", n, n, &f->n) ||
        !take_int(from, "winner", 0, n - 1, &f->winner) || !take_int(from, "runner_up", -1, n - 1, &f->runner_up) ||
        f->runner_up == f->winner || (f->runner_up < 0) != (n == 1) || !take_flag(from, "tie", &f->tie) ||
        !take_middle(json_object_get(from, "ratio"), &f->ratio) || json_array_size(seconds) != (size_t)n ||
        json_array_size(counts) != (size_t)n)
        return false;
    for (int32_t k = 0; k < n; ++k) {
        const json_t *count = json_array_get(counts, (size_t)k);
        json_int_t rounds = json_integer_value(count);
        if (!json_is_integer(count) || rounds < 1 || rounds > ATN_MOST_SAMPLES) return false;
        f->count[k] = (int32_t)rounds;
        if (!take_middle(json_array_get(seconds, (size_t)k), &f->seconds[k]) || !isfinite(f->seconds[k].median))
            return false;
    }
    return true;
}

bool atn_wire_read_seconds(const json_t *from, double *seconds) {
    return take_number(from, "seconds", 0, seconds) && isfinite(*seconds);
}

/* ---- lines of a worker ---- */

json_t *atn_wire_hello(void) {
    return json_pack("{s:s, s:i, s:s, s:s}", "hello", "attune worker", "protocol", ATN_WIRE_VERSION, "version",
                     atn_version(), "generator", ATN_GENERATOR_VERSION);
}

static bool hear_stage(const json_t *said, atn_said *out) {
    static const char *const STAGES[] = {"build", "run", "oracle", "time"};
    bool known = false;
    if (!take_text(said, "stage", out->stage, sizeof out->stage) || !take_number(said, "limit", 0, &out->limit_s))
        return false;
    for (size_t k = 0; k < sizeof STAGES / sizeof *STAGES; ++k) known = known || strcmp(STAGES[k], out->stage) == 0;
    if (out->limit_s > ATN_WIRE_STAGE_S) out->limit_s = ATN_WIRE_STAGE_S;
    out->kind = ATN_SAID_STAGE;
    return known;
}

static bool hear_failure(const json_t *said, atn_said *out) {
    char name[32];
    if (!take_text(said, "failed", name, sizeof name) || !take_text(said, "message", out->message, sizeof out->message))
        return false;
    for (int k = ATN_OK + 1; k <= ATN_ERR_INTERNAL; ++k)
        if (strcmp(atn_status_name((atn_status)k), name) == 0) out->status = (atn_status)k;
    out->kind = ATN_SAID_FAILED;
    return out->status != ATN_OK;
}

static bool hear_done(const json_t *said, atn_said *out) {
    json_t *done = json_object_get(said, "done");
    if (!json_is_object(done) || !take_whole(said, "job", 1, INT64_MAX, &out->job)) return false;
    out->kind = ATN_SAID_DONE;
    out->done = json_incref(done);
    return true;
}

bool atn_wire_hear(const char *line, atn_said *out) {
    json_t *said = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    *out = (atn_said){.kind = ATN_SAID_HELLO};
    bool good = false;
    if (json_object_get(said, "hello")) {
        good = take_whole(said, "protocol", 1, INT32_MAX, &out->version);
        take_text(said, "version", out->attune, sizeof out->attune);
        take_text(said, "generator", out->generator, sizeof out->generator);
    } else if (json_object_get(said, "stage"))
        good = hear_stage(said, out);
    else if (json_object_get(said, "failed"))
        good = hear_failure(said, out);
    else
        good = hear_done(said, out);
    json_decref(said);
    return good;
}
