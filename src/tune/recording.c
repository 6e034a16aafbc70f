/* Making a recorded space: entries come one by one, with values in any order; at the end the values of each parameter
 * get their order and every point its levels. */
#include "tune/recorded_parts.h"

#include "base/hash.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMETERS = 1024, MOST_LEVELS = 1 << 16 };
static const double NEVER = 1e20; /* seconds: longer than anything took */

typedef struct parameter {
    const char *name;
    atn_recorded_value *values; /* in the order of appearance */
    size_t room;
    int32_t n;
} parameter;

/* Where a value is: an entry of the table over the values of all parameters. */
typedef struct slot {
    int32_t parameter, level; /* level + 1; 0: free */
} slot;

struct atn_recording {
    const atn_ctx *ctx;
    const char *name; /* of the file, for messages */
    atn_arena arena;  /* names and texts */
    parameter *parameters;
    size_t parameters_room;
    int32_t n_parameters;
    slot *slots;
    size_t n_slots, n_values;
    int32_t *entry; /* levels of the one in the making; -1: not set */
    atn_points points;
    atn_recorded_result *results; /* per point */
    size_t results_room;
};

atn_status atn_recording_begin(const atn_ctx *ctx, const char *name, atn_recording **out) {
    atn_recording *r = *out = atn_zalloc(ctx, sizeof *r);
    if (!r) return ATN_ERR_MEMORY;
    r->ctx = ctx;
    r->name = name;
    r->arena.ctx = ctx;
    r->points.ctx = ctx;
    return ATN_OK;
}

void atn_recording_drop(atn_recording *recording) {
    if (!recording) return;
    const atn_ctx *ctx = recording->ctx;
    for (int32_t k = 0; k < recording->n_parameters; ++k) atn_free(ctx, recording->parameters[k].values);
    atn_free(ctx, recording->parameters);
    atn_free(ctx, recording->slots);
    atn_free(ctx, recording->entry);
    atn_free(ctx, recording->results);
    atn_points_free(&recording->points);
    atn_arena_free(&recording->arena);
    atn_free(ctx, recording);
}

int32_t atn_recording_parameters(const atn_recording *recording) { return recording->n_parameters; }
int64_t atn_recording_entries(const atn_recording *recording) { return recording->points.n; }

int32_t atn_recording_find(const atn_recording *recording, const char *name) {
    for (int32_t k = 0; k < recording->n_parameters; ++k)
        if (strcmp(recording->parameters[k].name, name) == 0) return k;
    return -1;
}

atn_status atn_recording_parameter(atn_recording *r, const char *name) {
    size_t n = (size_t)r->n_parameters;
    if (atn_recording_find(r, name) >= 0)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: parameter '%s' is named twice", r->name, name);
    if (n >= MOST_PARAMETERS)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: more than %d parameters", r->name, MOST_PARAMETERS);
    char *copy = atn_arena_strdup(&r->arena, name);
    int32_t *entry = atn_resize(r->ctx, r->entry, (n + 1) * sizeof *entry);
    if (entry) r->entry = entry;
    if (!copy || !entry || atn_grow(r->ctx, (void **)&r->parameters, &r->parameters_room, n, sizeof *r->parameters))
        return ATN_ERR_MEMORY;
    r->parameters[n] = (parameter){.name = copy};
    entry[n] = -1;
    ++r->n_parameters;
    return ATN_OK;
}

/* ---- values ---- */

static bool same(const atn_recorded_value *a, const atn_recorded_value *b) {
    return a->kind == b->kind && a->number == b->number && strcmp(a->text, b->text) == 0;
}

static size_t find_slot(const atn_recording *r, int32_t p, const atn_recorded_value *value) {
    uint64_t bits;
    double number = value->number + 0.0; /* -0 is 0 */
    memcpy(&bits, &number, sizeof bits);
    uint64_t hash = (bits ^ (uint64_t)p << 40 ^ (uint64_t)value->kind << 60) * 0xff51afd7ed558ccdu;
    if (*value->text) hash ^= atn_hash_add_text((atn_hash){0}, value->text).low;
    hash ^= hash >> 29;
    size_t at = (size_t)(hash * 0x9e3779b97f4a7c15u >> 20) & (r->n_slots - 1);
    while (r->slots[at].level &&
           (r->slots[at].parameter != p || !same(&r->parameters[p].values[r->slots[at].level - 1], value)))
        at = (at + 1) & (r->n_slots - 1);
    return at;
}

static atn_status more_slots(atn_recording *r) {
    slot *before = r->slots;
    size_t n_before = r->n_slots, n = n_before ? n_before * 2 : 256;
    slot *slots = atn_zalloc(r->ctx, n * sizeof *slots);
    if (!slots) return ATN_ERR_MEMORY;
    r->slots = slots;
    r->n_slots = n;
    for (size_t k = 0; k < n_before; ++k)
        if (before[k].level)
            slots[find_slot(r, before[k].parameter, &r->parameters[before[k].parameter].values[before[k].level - 1])] =
                before[k];
    atn_free(r->ctx, before);
    return ATN_OK;
}

static atn_status add_value(atn_recording *r, int32_t p, atn_recorded_value value, int32_t *level) {
    parameter *to = &r->parameters[p];
    if (to->n >= MOST_LEVELS)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: parameter '%s' has more than %d values", r->name, to->name,
                        MOST_LEVELS);
    if (value.text[0]) value.text = atn_arena_strdup(&r->arena, value.text);
    if (!value.text || atn_grow(r->ctx, (void **)&to->values, &to->room, (size_t)to->n, sizeof *to->values))
        return ATN_ERR_MEMORY;
    to->values[to->n] = value;
    *level = to->n++;
    ++r->n_values;
    return ATN_OK;
}

atn_status atn_recording_set(atn_recording *r, int32_t p, const atn_scalar *scalar, const char *text) {
    bool is_text = scalar->kind == ATN_SCALAR_TEXT;
    if (scalar->kind == ATN_SCALAR_NONE || (!is_text && !isfinite(scalar->number)))
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: entry %lld: the value of '%s' is not a number, text or bool",
                        r->name, (long long)r->points.n + 1, r->parameters[p].name);
    atn_recorded_value value = {.kind = scalar->kind,
                                .number = is_text ? 0 : scalar->number,
                                .whole = !is_text && scalar->number == floor(scalar->number),
                                .text = is_text ? text : ""};
    if (2 * (r->n_values + 1) > r->n_slots && more_slots(r)) return ATN_ERR_MEMORY;
    size_t at = find_slot(r, p, &value);
    if (!r->slots[at].level) {
        int32_t level = 0;
        atn_status status = add_value(r, p, value, &level);
        if (status) return status;
        r->slots[at] = (slot){.parameter = p, .level = level + 1};
    }
    r->entry[p] = r->slots[at].level - 1;
    return ATN_OK;
}

/* ---- entries ---- */

void atn_recording_cancel(atn_recording *r) {
    for (int32_t k = 0; k < r->n_parameters; ++k) r->entry[k] = -1;
}

atn_status atn_recording_add(atn_recording *r, atn_outcome outcome, double seconds) {
    if (!r->n_parameters) return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: its entries have no parameters", r->name);
    for (int32_t k = 0; k < r->n_parameters; ++k)
        if (r->entry[k] < 0)
            return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: entry %lld has no value of '%s'", r->name,
                            (long long)r->points.n + 1, r->parameters[k].name);
    if (outcome == ATN_OUTCOME_RIGHT && !(seconds > 0 && seconds < NEVER)) outcome = ATN_OUTCOME_CRASH;
    r->points.width = r->n_parameters;
    int64_t place = atn_points_find(&r->points, r->entry);
    if (place == ATN_NOWHERE) {
        if (atn_grow(r->ctx, (void **)&r->results, &r->results_room, (size_t)r->points.n, sizeof *r->results))
            return ATN_ERR_MEMORY;
        place = atn_points_add(&r->points, r->entry);
        if (place == ATN_NOWHERE) return ATN_ERR_MEMORY;
    }
    r->results[place] =
        (atn_recorded_result){.outcome = outcome, .seconds = outcome == ATN_OUTCOME_RIGHT ? seconds : (double)INFINITY};
    atn_recording_cancel(r);
    return ATN_OK;
}

/* ---- the end ---- */

static int by_number(const void *left, const void *right) {
    double a = (*(const atn_recorded_value *const *)left)->number,
           b = (*(const atn_recorded_value *const *)right)->number;
    return (a > b) - (a < b);
}

/* Which values of a parameter occur: an entry that was cut may have left some that do not. */
static void mark_used(const atn_recording *r, int32_t p, int32_t *used) {
    memset(used, 0, (size_t)r->parameters[p].n * sizeof *used);
    for (int64_t k = 0; k < r->points.n; ++k) used[atn_points_get(&r->points, k)[p]] = 1;
}

/* Gives the values of a parameter their order; `renumber` gets the new level of each old one. */
static atn_status settle(atn_recording *r, atn_recorded *to, int32_t p, int32_t *renumber) {
    const parameter *from = &r->parameters[p];
    size_t n = 0;
    const atn_recorded_value **sorted = atn_alloc(r->ctx, ((size_t)from->n + 1) * sizeof(void *));
    atn_recorded_value *values = atn_arena_alloc(&r->arena, ((size_t)from->n + 1) * sizeof *values);
    double *number = atn_arena_alloc(&r->arena, ((size_t)from->n + 1) * sizeof *number);
    if (!sorted || !values || !number) {
        atn_free(r->ctx, sorted);
        return ATN_ERR_MEMORY;
    }
    mark_used(r, p, renumber);
    bool ordered = true;
    for (int32_t k = 0; k < from->n; ++k) {
        if (!renumber[k]) continue;
        sorted[n] = &from->values[k];
        ordered = ordered && sorted[n]->kind == sorted[0]->kind && sorted[n]->kind != ATN_SCALAR_TEXT;
        ++n;
    }
    if (ordered) qsort(sorted, n, sizeof *sorted, by_number);
    for (size_t k = 0; k < n; ++k) {
        renumber[sorted[k] - from->values] = (int32_t)k;
        values[k] = *sorted[k];
        number[k] = ordered ? values[k].number : (double)k;
    }
    atn_free(r->ctx, sorted);
    to->names[p] = from->name;
    to->levels[p] = (int32_t)n;
    to->values[p] = values;
    to->number[p] = number;
    to->ordered[p] = ordered;
    return ATN_OK;
}

static atn_status fill(atn_recording *r, atn_recorded *to, int32_t *renumber) {
    size_t n = (size_t)r->n_parameters + 1;
    to->names = atn_arena_alloc(&r->arena, n * sizeof *to->names);
    to->levels = atn_arena_alloc(&r->arena, n * sizeof *to->levels);
    to->values = atn_arena_alloc(&r->arena, n * sizeof *to->values);
    to->number = atn_arena_alloc(&r->arena, n * sizeof *to->number);
    to->ordered = atn_arena_alloc(&r->arena, n * sizeof *to->ordered);
    if (!to->names || !to->levels || !to->values || !to->number || !to->ordered) return ATN_ERR_MEMORY;
    to->ctx = r->ctx;
    to->n_parameters = r->n_parameters;
    atn_status status = ATN_OK;
    for (int32_t p = 0; p < r->n_parameters && !status; ++p) {
        status = settle(r, to, p, renumber);
        for (int64_t k = 0; k < r->points.n && !status; ++k) {
            int32_t *level = &r->points.levels[(size_t)k * (size_t)r->n_parameters + (size_t)p];
            *level = renumber[*level];
        }
    }
    return status;
}

atn_status atn_recording_finish(atn_recording *r, atn_recorded **out) {
    *out = NULL;
    size_t most = 1;
    for (int32_t p = 0; p < r->n_parameters; ++p)
        if ((size_t)r->parameters[p].n > most) most = (size_t)r->parameters[p].n;
    int32_t *renumber = atn_alloc(r->ctx, most * sizeof *renumber);
    atn_recorded *to = atn_zalloc(r->ctx, sizeof *to);
    atn_status status = renumber && to ? fill(r, to, renumber) : ATN_ERR_MEMORY;
    atn_free(r->ctx, renumber);
    if (status)
        atn_free(r->ctx, to);
    else {
        atn_points_rehash(&r->points);
        to->arena = r->arena;
        to->points = r->points;
        to->results = r->results;
        r->arena = (atn_arena){.ctx = r->ctx};
        r->points = (atn_points){.ctx = r->ctx};
        r->results = NULL;
        *out = to;
    }
    atn_recording_drop(r);
    return status;
}

atn_status atn_recorded_wrong(const atn_ctx *ctx, const char *name, const atn_scan *scan) {
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: no JSON at byte %zu of its text", name, (size_t)(scan->at - scan->start));
}
