/* Kernels of one's own over arrays: a runner of the described steps, planned and built anew when what is bound changes. */
#include "num/array.h"

#include "base/file.h"
#include "base/memory.h"
#include "kernel/sequence.h"

#include <attune/described.h>

#include <string.h>

enum { MOST_BOUND = 32, MOST_DEFINES = 32, MOST_BYTES = 4 << 20 };

struct atn_described {
    atn_device *device;
    atn_sequence *sequence;
    atn_runner *runner; /* names and, once ready, built kernels */
    bool ready;         /* planned and built for what is bound now */
    atn_array *array[MOST_BOUND]; /* per object of the runner; NULL: not bound */
    atn_param_value given[MOST_BOUND];
    char *given_name[MOST_BOUND]; /* owned */
    size_t n_given;
};

/* ---- making ---- */

/* "NAME=VALUE" each; the names are cut off into `names`, which the caller frees. */
static atn_status split_defines(const atn_ctx *ctx, const char *const defines[], atn_define *out, char **names, size_t *count) {
    for (*count = 0; defines && defines[*count]; ++*count) {
        const char *text = defines[*count], *equals = strchr(text, '=');
        if (*count == MOST_DEFINES || !equals || equals == text)
            return atn_fail(ctx, ATN_ERR_INPUT, "define '%s': NAME=VALUE is wanted, and at most %d of them", text, MOST_DEFINES);
        names[*count] = atn_strdup(ctx, text);
        if (!names[*count]) return ATN_ERR_MEMORY;
        names[*count][equals - text] = '\0';
        out[*count] = (atn_define){names[*count], names[*count] + (equals - text) + 1};
    }
    return ATN_OK;
}

static atn_status parse(const atn_ctx *ctx, const char *name, const char *xml, size_t length, const char *const defines[],
                        atn_sequence **out) {
    atn_define pairs[MOST_DEFINES];
    char *names[MOST_DEFINES + 1] = {NULL};
    size_t count;
    atn_status status = split_defines(ctx, defines, pairs, names, &count);
    if (status == ATN_OK)
        status = atn_sequence_parse(ctx, name, xml, length, &(atn_parse_options){.defines = pairs, .n_defines = count}, NULL, out);
    for (size_t k = 0; k <= MOST_DEFINES; ++k) atn_free(ctx, names[k]);
    return status;
}

static atn_status make(atn_device *device, const char *name, const char *xml, size_t length, const char *const defines[],
                       atn_described **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_described *d = atn_zalloc(ctx, sizeof *d);
    if (!d) return ATN_ERR_MEMORY;
    d->device = device;
    atn_status status = parse(ctx, name, xml, length, defines, &d->sequence);
    if (status == ATN_OK) status = atn_runner_create(ctx, d->sequence, &d->runner);
    if (status == ATN_OK && atn_runner_count(d->runner) > MOST_BOUND)
        status = atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: %d objects, at most %d are bound", name, atn_runner_count(d->runner), MOST_BOUND);
    if (status != ATN_OK) {
        atn_described_free(d);
        return status;
    }
    *out = d;
    return ATN_OK;
}

atn_status atn_described_parse(atn_device *device, const char *name, const char *xml, const char *const defines[],
                               atn_described **out) {
    *out = NULL;
    return make(device, name, xml, strlen(xml), defines, out);
}

atn_status atn_described_load(atn_device *device, const char *path, const char *const defines[], atn_described **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    char *xml;
    size_t length;
    *out = NULL;
    atn_status status = atn_file_read(ctx, path, MOST_BYTES, &xml, &length);
    if (status == ATN_OK) status = make(device, path, xml, length, defines, out);
    atn_free(ctx, xml);
    return status;
}

void atn_described_free(atn_described *d) {
    if (!d) return;
    const atn_ctx *ctx = atn_device_ctx(d->device);
    atn_runner_free(d->runner);
    atn_sequence_free(d->sequence);
    for (size_t k = 0; k < d->n_given; ++k) atn_free(ctx, d->given_name[k]);
    atn_free(ctx, d);
}

/* ---- binding ---- */

atn_status atn_described_bind(atn_described *d, const char *object, atn_array *array) {
    const atn_ctx *ctx = atn_device_ctx(d->device);
    int32_t k = atn_runner_find(d->runner, object);
    if (k < 0) return ATN_ERR_INPUT;
    if (atn_array_device(array) != d->device) return atn_fail(ctx, ATN_ERR_INPUT, "'%s' is on another device", object);
    d->array[k] = array;
    d->ready = false;
    return ATN_OK;
}

static bool has_parameter(const atn_sequence *sequence, const char *name) {
    for (int32_t s = 0; s < sequence->count; ++s)
        for (int32_t k = 0; k < sequence->step[s]->n_parameters; ++k)
            if (strcmp(sequence->step[s]->parameters[k].name, name) == 0) return true;
    return false;
}

atn_status atn_described_param(atn_described *d, const char *parameter, double value) {
    const atn_ctx *ctx = atn_device_ctx(d->device);
    if (!has_parameter(d->sequence, parameter))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: no parameter '%s'", d->sequence->name, parameter);
    size_t k = 0;
    while (k < d->n_given && strcmp(d->given_name[k], parameter) != 0) ++k;
    if (k == MOST_BOUND) return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: at most %d parameters are given", d->sequence->name, MOST_BOUND);
    if (k == d->n_given) {
        d->given_name[k] = atn_strdup(ctx, parameter);
        if (!d->given_name[k]) return ATN_ERR_MEMORY;
        ++d->n_given;
    }
    d->given[k] = (atn_param_value){.name = d->given_name[k], .value = {value, 0}};
    d->ready = false;
    return ATN_OK;
}

/* ---- running ---- */

/* The generated code trusts that a result has elements of its own. */
static atn_status check_apart(const atn_described *d) {
    for (int32_t k = 0; k < atn_runner_count(d->runner); ++k)
        for (int32_t n = 0; n < k; ++n) {
            const atn_shared_object *a = atn_runner_object(d->runner, k), *b = atn_runner_object(d->runner, n);
            if (d->array[k] && d->array[n] && (a->written || b->written) && atn_array_overlaps(d->array[k], d->array[n]))
                return atn_fail(atn_device_ctx(d->device), ATN_ERR_INPUT, "'%s' and '%s' share elements; a result has its own", b->name, a->name);
        }
    return ATN_OK;
}

static atn_status bring_to_device(const atn_described *d) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < atn_runner_count(d->runner) && status == ATN_OK; ++k)
        if (d->array[k]) status = atn_array_ready_device(d->array[k], false);
    return status;
}

static atn_status prepare(atn_described *d) {
    const atn_ctx *ctx = atn_device_ctx(d->device);
    atn_runner *runner;
    atn_status status = check_apart(d);
    if (status == ATN_OK) status = atn_runner_create(ctx, d->sequence, &runner);
    if (status != ATN_OK) return status;
    atn_runner_free(d->runner);
    d->runner = runner;
    for (int32_t k = 0; k < atn_runner_count(runner); ++k) {
        if (!d->array[k]) continue;
        atn_slot slot = atn_array_slot(d->array[k]);
        atn_runner_bind(runner, k, &slot);
    }
    status = atn_runner_give(runner, d->given, d->n_given);
    if (status == ATN_OK) status = atn_runner_plan(runner);
    if (status == ATN_OK) status = atn_runner_build(runner, d->device, NULL);
    d->ready = status == ATN_OK;
    return status;
}

atn_status atn_described_run(atn_described *d) {
    atn_status status = bring_to_device(d);
    if (status == ATN_OK && !d->ready) status = prepare(d);
    if (status != ATN_OK) return status;
    status = atn_runner_run(d->runner);
    for (int32_t k = 0; k < atn_runner_count(d->runner); ++k) {
        if (!d->array[k] || !atn_runner_object(d->runner, k)->written) continue;
        if (status == ATN_OK)
            atn_array_written_on_device(d->array[k]);
        else
            atn_array_spoiled_on_device(d->array[k]);
    }
    return status;
}
