/* Tuning seams by measurement: whole plans compared with each other, alternating samples. */
#include "plan/tune.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "graph/pack.h"
#include "graph/type.h"
#include "plan/planned.h"
#include "plan/remember.h"
#include "tune/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WARM = 3 /* the third run is as all later ones */, MOST_RUNS = 200 };
static const double SAMPLE_S = 2e-3, WORTH = 0.98; /* of the time: what is not faster by so much is noise */

/* A plan that is ready to run. */
typedef struct contestant {
    char *seams; /* as text */
    atn_planned *planned;
    int32_t runs; /* per sample */
    double seconds;
} contestant;

typedef struct tuning {
    const atn_ctx *ctx;
    atn_device *device;
    atn_wisdom *wisdom;
    const atn_programs *programs;
    const atn_plan_given *given;
    const atn_tune_options *options;
    const atn_routine *routine;
    atn_tune_key key;
    atn_buffer **start, **now; /* per name of the head: what comes in, and what it is made of again before a run */
    void **right;              /* per name of the head: what the first plan gave */
    int32_t n_seams;
    int8_t *wanted;
    contestant best, other;
    char **tried;
    size_t n_tried, tried_room;
    double until_s;
    atn_tune_result *result;
} tuning;

/* ---- elements ---- */

static bool comes_in(const tuning *t, int32_t k) {
    return t->routine->names[k].rank > 0 && t->routine->names[k].use != ATN_USE_OUT;
}

static atn_status bytes_of(const tuning *t, const atn_plan *plan, int32_t k, size_t *bytes) {
    const atn_plan_array *a = &plan->arrays[plan->main.array[k]];
    *bytes = atn_type_bytes(a->type);
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis)
        if (__builtin_mul_overflow(*bytes, (size_t)a->size[axis], bytes))
            return atn_fail(t->ctx, ATN_ERR_MEMORY, "%s: '%s' is larger than any memory", t->routine->name, a->name);
    return ATN_OK;
}

/* Numbers between a half and one and a half; whole ones are 0, which is an index into anything. */
static atn_status make_elements(tuning *t, const atn_plan *plan, int32_t k) {
    const atn_plan_array *a = &plan->arrays[plan->main.array[k]];
    size_t bytes, each = atn_type_bytes(a->type);
    atn_random random;
    atn_random_seed(&random, t->options->seed * 2654435761u + (uint64_t)k + 1);
    atn_status status = bytes_of(t, plan, k, &bytes);
    if (status == ATN_OK) status = atn_buffer_create(t->device, bytes, &t->start[k]);
    if (status == ATN_OK) status = atn_buffer_create(t->device, bytes, &t->now[k]);
    char *data = status == ATN_OK ? atn_zalloc(t->ctx, bytes + 16) : NULL;
    if (!data) return status == ATN_OK ? ATN_ERR_MEMORY : status;
    for (size_t at = 0; at < bytes && !atn_type_is_integer(a->type); at += each) {
        atn_element_store(a->type, (double[]){0.5 + atn_random_unit(&random), 0}, 0, data + at);
    }
    if (bytes) status = atn_buffer_put(NULL, t->start[k], 0, data, bytes);
    if (status == ATN_OK && bytes) status = atn_buffer_copy(NULL, t->now[k], 0, t->start[k], 0, bytes);
    atn_free(t->ctx, data);
    return status;
}

static atn_status restore(const tuning *t) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < t->routine->n_head && status == ATN_OK; ++k)
        if (comes_in(t, k) && t->routine->names[k].use == ATN_USE_INOUT && atn_buffer_bytes(t->now[k]))
            status = atn_buffer_copy(NULL, t->now[k], 0, t->start[k], 0, atn_buffer_bytes(t->now[k]));
    return status == ATN_OK ? atn_queue_finish(atn_device_queue(t->device)) : status;
}

static bool is_near(const tuning *t, const atn_plan_array *a, const char *is, const char *right, size_t bytes) {
    size_t each = atn_type_bytes(a->type);
    bool whole = atn_type_is_integer(a->type), twice = each == (atn_type_is_complex(a->type) ? 16u : 8u);
    double largest = 0, tolerance = fmax(whole ? 0 : twice ? 1e-9 : 1e-3, t->options->tolerance);
    for (int turn = 0; turn < 2; ++turn)
        for (size_t at = 0; at < bytes; at += each) {
            double x[2], y[2];
            int64_t n, m;
            atn_element_load(a->type, is + at, x, &n);
            atn_element_load(a->type, right + at, y, &m);
            if (turn == 0 && isfinite(y[0])) largest = fmax(largest, fabs(y[0]));
            if (turn == 0) continue;
            bool same = (isnan(x[0]) && isnan(y[0])) || x[0] == y[0] || fabs(x[0] - y[0]) <= tolerance * largest;
            if (!same) return false;
        }
    return true;
}

/* The first plan says what is right, later ones agree with it. */
static atn_status compare(tuning *t, const contestant *c, bool *agrees) {
    const atn_plan *plan = c->planned->plan;
    atn_status status = ATN_OK;
    *agrees = true;
    for (int32_t k = 0; k < t->routine->n_head && status == ATN_OK; ++k) {
        const atn_datum_use *use = &t->routine->names[k];
        if (!use->rank || use->use == ATN_USE_IN || plan->main.array[k] < 0) continue;
        atn_slot slot = atn_planned_slot(c->planned, k);
        size_t bytes;
        status = bytes_of(t, plan, k, &bytes);
        if (status != ATN_OK || !bytes || !slot.buffer) continue;
        char *got = atn_alloc(t->ctx, bytes);
        status =
            got ? atn_buffer_get(NULL, slot.buffer, (size_t)slot.offset * atn_type_bytes(slot.view.type), got, bytes)
                : ATN_ERR_MEMORY;
        if (status == ATN_OK && t->right[k])
            *agrees = *agrees && is_near(t, &plan->arrays[plan->main.array[k]], got, t->right[k], bytes);
        if (t->right[k] || status != ATN_OK)
            atn_free(t->ctx, got);
        else
            t->right[k] = got;
    }
    return status;
}

/* ---- one plan ---- */

static void drop(tuning *t, contestant *c) {
    atn_planned_free(c->planned);
    atn_free(t->ctx, c->seams);
    *c = (contestant){0};
}

static atn_status run_once(const tuning *t, const contestant *c, double *seconds) {
    atn_status status = restore(t);
    double since = atn_clock_seconds();
    if (status == ATN_OK) status = atn_planned_run(c->planned);
    if (status == ATN_OK) status = atn_queue_finish(atn_device_queue(t->device));
    *seconds = atn_clock_seconds() - since;
    return status;
}

/* `wanted` NULL: the estimate's. */
static atn_status make(tuning *t, const int8_t *wanted, contestant *out) {
    const atn_choose_options choose = {.reproducible = t->options->reproducible, .tolerance = t->options->tolerance};
    const atn_plan_options options = {.info = atn_device_get_info(t->device),
                                      .wanted = wanted,
                                      .n_wanted = wanted ? t->n_seams : 0,
                                      .estimate = true};
    atn_plan *plan;
    atn_text seams = {.ctx = t->ctx};
    *out = (contestant){0};
    atn_status status = atn_plan_make(t->ctx, t->programs, t->given, &options, &plan);
    if (status != ATN_OK) return status;
    atn_plan_seams_print(plan, &seams);
    t->n_seams = plan->n_seams;
    status = atn_planned_create(t->ctx, plan, &out->planned);
    if (status == ATN_OK && !(out->seams = atn_strdup(t->ctx, atn_text_str(&seams)))) status = ATN_ERR_MEMORY;
    atn_text_free(&seams);
    for (int32_t k = 0; k < t->routine->n_head && status == ATN_OK; ++k) {
        if (!comes_in(t, k) || plan->main.array[k] < 0) continue;
        if (!t->start[k]) status = make_elements(t, plan, k);
        atn_slot slot = atn_planned_slot(out->planned, k);
        slot.buffer = t->now[k];
        if (status == ATN_OK) atn_planned_bind(out->planned, k, &slot);
    }
    if (status == ATN_OK) status = atn_planned_build(out->planned, t->device, NULL, &choose);
    if (status != ATN_OK) drop(t, out);
    return status;
}

/* The first run is looked at, the next ones are as all later ones. */
static atn_status warm_up(tuning *t, contestant *c, bool *agrees) {
    double seconds = 0;
    atn_status status = run_once(t, c, &seconds);
    if (status == ATN_OK) status = compare(t, c, agrees);
    for (int k = 1; k < WARM && status == ATN_OK; ++k) status = run_once(t, c, &seconds);
    c->runs = seconds > SAMPLE_S / MOST_RUNS ? (int32_t)(SAMPLE_S / seconds) + 1 : MOST_RUNS;
    return status;
}

static atn_status sample(void *user, int32_t which, double *seconds) {
    tuning *t = user;
    const contestant *c = which == 0 ? &t->other : &t->best;
    double least = INFINITY, took;
    atn_status status = atn_check_cancel(t->ctx);
    for (int32_t k = 0; k < c->runs && status == ATN_OK; ++k) {
        status = run_once(t, c, &took);
        least = fmin(least, took);
    }
    *seconds = least;
    return status;
}

/* ---- searching ---- */

static bool was_tried(const tuning *t, const char *seams) {
    for (size_t k = 0; k < t->n_tried; ++k)
        if (strcmp(t->tried[k], seams) == 0) return true;
    return false;
}

static bool is_over(tuning *t) {
    const atn_tune_options *o = t->options;
    atn_tune_result *r = t->result;
    if (atn_check_cancel(t->ctx) != ATN_OK) r->stopped = true;
    const atn_tune_progress now = {.tried = r->tried,
                                   .failed = r->failed[ATN_OUTCOME_WRONG],
                                   .left_s = isfinite(t->until_s) ? fmax(t->until_s - atn_clock_seconds(), 0) : -1,
                                   .best_s = t->best.seconds,
                                   .default_s = r->default_s,
                                   .best = t->best.seams,
                                   .phase = "seams"};
    if (o->progress && !o->progress(o->user, &now)) r->stopped = true;
    return r->stopped || (r->tried > 0 && atn_clock_seconds() > t->until_s) ||
           (o->evaluations && r->tried >= o->evaluations);
}

static atn_status tell(tuning *t, const contestant *c, bool right, const atn_middle *seconds) {
    const atn_wisdom_row row = {.variant = c->seams,
                                .outcome = right ? "right" : "wrong",
                                .detail = right ? "" : "other results than the estimate's plan",
                                .seconds = right ? seconds->median : 0,
                                .low = right ? seconds->low : 0,
                                .high = right ? seconds->high : 0,
                                .samples = right ? seconds->count : 0};
    return atn_wisdom_tell(t->wisdom, &t->key.key, &row);
}

/* Measures t->other against the best so far, and keeps it where it is faster. */
static atn_status challenge(tuning *t) {
    int64_t starts;
    bool right = true;
    atn_duel duel = {0};
    t->tried[t->n_tried] = atn_strdup(t->ctx, t->other.seams);
    if (!t->tried[t->n_tried++]) return ATN_ERR_MEMORY;
    ++t->result->tried;
    atn_status status = atn_wisdom_begin(t->wisdom, &t->key.key, t->other.seams, &starts);
    if (status == ATN_OK) status = warm_up(t, &t->other, &right);
    t->result->failed[ATN_OUTCOME_WRONG] += !right;
    if (status == ATN_OK && right)
        status = atn_duel_run(&(atn_race_rules){0}, &(atn_sampler){sample, t}, t->best.seconds, &duel);
    if (status == ATN_OK) status = tell(t, &t->other, right, &duel.seconds);
    if (status != ATN_OK || !right || duel.dropped) return status;
    t->other.seconds = duel.seconds.median;
    if (t->other.seconds > t->result->worst_s) t->result->worst_s = t->other.seconds;
    if (t->best.planned && duel.ratio.median > WORTH) return ATN_OK;
    contestant before = t->best;
    t->best = t->other;
    t->other = before;
    t->result->low_s = duel.seconds.low;
    t->result->high_s = duel.seconds.high;
    return ATN_OK;
}

/* *taken: it became the best. What gives a plan that was tried is left. */
static atn_status try_seams(tuning *t, const int8_t *wanted, bool *taken) {
    *taken = false;
    atn_status status = atn_grow(t->ctx, (void **)&t->tried, &t->tried_room, t->n_tried, sizeof(char *));
    if (status == ATN_OK) status = make(t, wanted, &t->other);
    if (status != ATN_OK) return status;
    if (!was_tried(t, t->other.seams)) {
        const atn_planned *before = t->best.planned;
        status = challenge(t);
        *taken = t->best.planned != before;
    }
    drop(t, &t->other);
    return status;
}

static atn_status turn_seams(tuning *t) {
    atn_status status = ATN_OK;
    bool taken = true;
    for (int8_t all = 0; all < 2 && status == ATN_OK && !is_over(t); ++all) { /* none of them, or all that can be */
        memset(t->wanted, all, (size_t)t->n_seams);
        status = try_seams(t, t->wanted, &taken);
    }
    for (int32_t k = 0, unchanged = 0; status == ATN_OK && unchanged < t->n_seams && !is_over(t);
         k = (k + 1) % t->n_seams, ++unchanged) {
        if (!atn_plan_seams_read(t->best.seams, t->wanted, t->n_seams) || t->wanted[k] < 0) continue;
        t->wanted[k] = !t->wanted[k];
        status = try_seams(t, t->wanted, &taken);
        if (taken) unchanged = 0;
    }
    return status;
}

/* The best and the estimate once more in turn: others use the machine, too. */
static atn_status confirm(tuning *t, const char *estimate) {
    bool right;
    atn_duel duel;
    if (strcmp(t->best.seams, estimate) == 0) return ATN_OK;
    atn_status status = make(t, NULL, &t->other);
    if (status == ATN_OK) status = warm_up(t, &t->other, &right);
    if (status == ATN_OK)
        status = atn_duel_run(&(atn_race_rules){0}, &(atn_sampler){sample, t}, t->best.seconds, &duel);
    if (status == ATN_OK && !duel.dropped) {
        t->other.seconds = t->result->default_s = duel.seconds.median;
        if (duel.ratio.median < 1) {
            contestant before = t->best;
            t->best = t->other;
            t->other = before;
        }
    }
    drop(t, &t->other);
    return status;
}

static atn_status crown(tuning *t) {
    atn_tune_result *r = t->result;
    const atn_wisdom_winner winner = {.variant = t->best.seams,
                                      .runner_up = "",
                                      .seconds = t->best.seconds,
                                      .low = r->low_s,
                                      .high = r->high_s,
                                      .fallback_seconds = r->default_s,
                                      .tried = r->tried};
    r->best_s = t->best.seconds;
    r->variant = atn_strdup(t->ctx, t->best.seams);
    return r->variant ? atn_wisdom_crown(t->wisdom, &t->key.key, &winner) : ATN_ERR_MEMORY;
}

static atn_status search(tuning *t) {
    bool taken;
    atn_status status = try_seams(t, NULL, &taken);
    if (status != ATN_OK) return status;
    t->result->default_s = t->best.seconds;
    t->wanted = atn_zalloc(t->ctx, (size_t)t->n_seams + 1);
    char *estimate = t->result->estimate = atn_strdup(t->ctx, t->best.seams);
    if (!t->wanted || !estimate) return ATN_ERR_MEMORY;
    status = turn_seams(t);
    if (status == ATN_OK && !t->result->stopped) status = confirm(t, estimate);
    return status == ATN_OK || status == ATN_ERR_CANCELLED ? crown(t) : status;
}

/* ---- the whole ---- */

static atn_status open_tuning(tuning *t) {
    size_t n = (size_t)t->routine->n_head + 1;
    atn_plan *plan = NULL;
    t->start = atn_zalloc(t->ctx, n * sizeof(void *));
    t->now = atn_zalloc(t->ctx, n * sizeof(void *));
    t->right = atn_zalloc(t->ctx, n * sizeof(void *));
    if (!t->start || !t->now || !t->right) return ATN_ERR_MEMORY;
    atn_status status = atn_plan_expand(t->ctx, t->programs, t->given, &plan);
    if (status == ATN_OK) atn_plan_key(plan, atn_device_get_info(t->device), &t->key);
    atn_plan_free(plan);
    return status;
}

static void close_tuning(tuning *t) {
    drop(t, &t->best);
    drop(t, &t->other);
    for (int32_t k = 0; k < t->routine->n_head; ++k) {
        if (t->start) atn_buffer_free(t->start[k]);
        if (t->now) atn_buffer_free(t->now[k]);
        if (t->right) atn_free(t->ctx, t->right[k]);
    }
    for (size_t k = 0; k < t->n_tried; ++k) atn_free(t->ctx, t->tried[k]);
    atn_free(t->ctx, t->tried);
    atn_free(t->ctx, t->wanted);
    atn_free(t->ctx, t->start);
    atn_free(t->ctx, t->now);
    atn_free(t->ctx, t->right);
}

/* What was measured before is not measured again. */
static atn_status recall(tuning *t, bool *known) {
    atn_hit hit;
    atn_status status = atn_wisdom_find(t->ctx, t->wisdom, &t->key.key, &hit);
    *known = status == ATN_OK && hit.kind == ATN_HIT_EXACT && !t->options->again;
    if (*known) {
        t->result->best_s = hit.seconds;
        t->result->tried = t->result->recalled = 1;
        if (!(t->result->variant = atn_strdup(t->ctx, hit.variant))) status = ATN_ERR_MEMORY;
    }
    atn_hit_free(&hit);
    return status;
}

atn_status atn_plan_tune(atn_device *device, atn_wisdom *wisdom, const atn_programs *programs,
                         const atn_plan_given *given, const atn_tune_options *options, atn_tune_result *out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    double began = atn_clock_seconds();
    *out = (atn_tune_result){.ctx = ctx};
    tuning *t = atn_zalloc(ctx, sizeof *t);
    if (!t) return ATN_ERR_MEMORY;
    *t = (tuning){.ctx = ctx,
                  .device = device,
                  .wisdom = wisdom,
                  .programs = programs,
                  .given = given,
                  .options = options,
                  .routine = programs->routines[programs->main],
                  .until_s = options->budget_s > 0 ? began + options->budget_s : INFINITY,
                  .result = out};
    bool known = false;
    atn_wisdom_lock_file *lock = NULL;
    atn_status status = open_tuning(t);
    if (status == ATN_OK) status = recall(t, &known);
    if (status == ATN_OK && !known)
        status = atn_wisdom_lock(ctx, wisdom, atn_device_get_info(device)->name, true, &lock);
    if (status == ATN_OK && !known) status = search(t);
    close_tuning(t);
    atn_wisdom_unlock(lock);
    atn_free(ctx, t);
    out->seconds = atn_clock_seconds() - began;
    return status;
}

/* ---- steps ---- */

static const char *size_text(const atn_plan *plan, int32_t array, atn_arena *arena) {
    const atn_plan_array *a = &plan->arrays[array];
    const atn_view view = {
        .type = a->type, .rank = a->rank, .size = {a->size[0], a->size[1], a->size[2]}, .pitch = a->size[0]};
    char size[64];
    atn_view_print_shape(&view, size, sizeof size);
    return atn_arena_printf(arena, "%s=%s", a->name, size);
}

atn_status atn_plan_workload(const atn_plan *plan, const atn_graph *step, atn_arena *arena, atn_workload *out) {
    const char **sizes = atn_arena_alloc(arena, ((size_t)step->n_objects + 1) * sizeof *sizes);
    const char **params = atn_arena_alloc(arena, ((size_t)step->n_parameters + 1) * sizeof *params);
    atn_text packed = {.ctx = plan->ctx};
    int32_t n = 0;
    bool whole = sizes && params;
    for (int32_t k = 0; k < step->n_objects && whole; ++k) {
        int32_t array = atn_plan_array_of(plan, step, k);
        if (array >= 0) whole = (sizes[n++] = size_text(plan, array, arena)) != NULL;
    }
    for (int32_t k = 0; k < step->n_parameters && whole; ++k) {
        const double *value = (const double[2]){0};
        for (int32_t s = 0; s < plan->n_scalars; ++s)
            if (!strcmp(plan->scalars[s].name, step->parameters[k].name)) value = plan->scalars[s].value;
        const char *name = step->parameters[k].name;
        params[k] = value[1] != 0 ? atn_arena_printf(arena, "%s=%.17g%+.17gi", name, value[0], value[1])
                                  : atn_arena_printf(arena, "%s=%.17g", name, value[0]);
        whole = params[k] != NULL;
    }
    atn_graph_pack(step, &packed);
    *out = (atn_workload){.name = atn_arena_strdup(arena, step->name),
                          .xml = packed.failed ? NULL : atn_arena_strdup(arena, atn_text_str(&packed)),
                          .packed = true,
                          .sizes = sizes,
                          .params = params};
    atn_text_free(&packed);
    return whole && out->name && out->xml ? ATN_OK : ATN_ERR_MEMORY;
}
