/* Program handles over arrays: planned again when the shape of a bound array changes, or a scalar that affects the
 * plan. */
#include "plan/program.h"

#include "base/compare.h"
#include "base/memory.h"
#include "base/sized.h"
#include "graph/shipped.h"
#include "kernel/description.h"
#include "num/array.h"

#include <string.h>

struct atn_program {
    atn_device *device;
    atn_description described;
    atn_programs *programs;
    const atn_routine *routine; /* the one that runs */
    atn_planned *planned;       /* NULL: not yet */
    bool stale;                 /* to be planned again */
    bool moved;                 /* arrays of the same shape were bound */
    bool given;                 /* scalars changed */
    bool trusted, any_size;
    atn_array **array;  /* per name of the head; NULL: not bound */
    atn_slot *slot;     /* per name of the head: as it was bound */
    double (*value)[2]; /* per name of the head */
    bool *has_value;
    int8_t *wanted; /* seams */
    int32_t n_wanted, queues;
    atn_text explained;
};

/* ---- making ---- */

/* Shipped programs that gather and scatter by what their own steps made, whatever keys and scalars they are given. */
static bool makes_indices(const char *text) {
    static const char *const NAMES[] = {"sort", "sort64", "sort_real", "sort_real64"};
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; ++k)
        if (!strcmp(text, atn_shipped_find(NAMES[k]))) return true;
    return false;
}

static atn_status fill(atn_program *p, const char *description, const atn_kernel_settings *options) {
    const atn_ctx *ctx = atn_device_ctx(p->device);
    atn_description *d = &p->described;
    atn_status status = atn_description_open(ctx, description, options, d);
    if (status == ATN_OK)
        status =
            atn_programs_parse(ctx, d->name, d->text, strlen(d->text),
                               &(atn_parse_options){.defines = d->pairs, .n_defines = d->n_pairs}, NULL, &p->programs);
    if (status != ATN_OK) return status;
    p->routine = p->programs->routines[p->programs->main];
    p->trusted = makes_indices(d->text);
    size_t n = (size_t)p->routine->n_head + 1;
    p->array = atn_zalloc(ctx, n * sizeof *p->array);
    p->slot = atn_zalloc(ctx, n * sizeof *p->slot);
    p->value = atn_zalloc(ctx, n * sizeof *p->value);
    p->has_value = atn_zalloc(ctx, n * sizeof *p->has_value);
    if (!p->array || !p->slot || !p->value || !p->has_value) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < p->routine->n_head; ++k) {
        memcpy(p->value[k], p->routine->names[k].default_value, sizeof *p->value);
        p->has_value[k] = p->routine->names[k].has_default;
    }
    return ATN_OK;
}

atn_status atn_program_create(atn_device *device, const char *description, const atn_kernel_settings *given,
                              atn_program **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_kernel_settings settings;
    *out = NULL;
    atn_status status = ATN_TAKE(ctx, atn_kernel_settings, given, &settings);
    if (status != ATN_OK) return status;
    atn_program *p = atn_zalloc(ctx, sizeof *p);
    if (!p) return ATN_ERR_MEMORY;
    p->device = device;
    p->explained.ctx = ctx;
    status = fill(p, description, &settings);
    if (status == ATN_OK)
        *out = p;
    else
        atn_program_free(p);
    return status;
}

void atn_program_free(atn_program *p) {
    if (!p) return;
    const atn_ctx *ctx = atn_device_ctx(p->device);
    atn_planned_free(p->planned);
    atn_programs_free(p->programs);
    atn_free(ctx, p->array);
    atn_free(ctx, p->slot);
    atn_free(ctx, p->value);
    atn_free(ctx, p->has_value);
    atn_free(ctx, p->wanted);
    atn_text_free(&p->explained);
    atn_description_close(&p->described);
    atn_free(ctx, p);
}

/* ---- binding ---- */

atn_status atn_program_bind(atn_program *p, const char *name, atn_array *array) {
    const atn_ctx *ctx = atn_device_ctx(p->device);
    int32_t k;
    atn_status status = atn_plan_find_head(ctx, p->routine, name, true, &k);
    if (status != ATN_OK) return status;
    if (!array) return atn_fail(ctx, ATN_ERR_INPUT, "'%s': there is no array to bind", name);
    if (atn_array_device(array) != p->device) return atn_fail(ctx, ATN_ERR_INPUT, "'%s' is on another device", name);
    const atn_datum_use *use = &p->routine->names[k];
    atn_slot slot = atn_array_slot(array);
    if (slot.view.rank != use->rank || slot.view.type != use->type)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is a %s of %s, not a %s of %s", p->routine->name, name,
                        atn_rank_name(use->rank), atn_type_name(use->type), atn_rank_name(slot.view.rank),
                        atn_type_name(slot.view.type));
    bool alike = false;
    if (p->array[k]) {
        atn_slot before = p->slot[k]; /* the array may be gone */
        alike = atn_view_is_alike(&slot.view, &before.view) && slot.offset <= before.offset;
    }
    p->array[k] = array;
    p->slot[k] = slot;
    p->stale |= !alike;
    p->moved = true;
    return ATN_OK;
}

atn_status atn_program_param(atn_program *p, const char *name, double real, double imaginary) {
    int32_t k;
    atn_status status = atn_plan_find_head(atn_device_ctx(p->device), p->routine, name, false, &k);
    if (status != ATN_OK) return status;
    bool changed = !p->has_value[k] || p->value[k][0] != real || p->value[k][1] != imaginary;
    p->value[k][0] = real;
    p->value[k][1] = imaginary;
    p->has_value[k] = true;
    p->given |= changed;
    return ATN_OK;
}

atn_status atn_program_seams(atn_program *p, const int8_t *wanted, int32_t count) {
    const atn_ctx *ctx = atn_device_ctx(p->device);
    int8_t *copy = atn_zalloc(ctx, (size_t)count + 1);
    if (!copy) return ATN_ERR_MEMORY;
    if (count) memcpy(copy, wanted, (size_t)count);
    atn_free(ctx, p->wanted);
    p->wanted = copy;
    p->n_wanted = count;
    p->stale = true;
    return ATN_OK;
}

void atn_program_queues(atn_program *p, int32_t most) {
    p->queues = most;
    p->stale = true;
}

void atn_program_trust(atn_program *p) { p->trusted = true; }
void atn_program_any_size(atn_program *p) { p->any_size = true; }

const atn_plan *atn_program_get_plan(const atn_program *p) { return p->planned ? atn_planned_plan(p->planned) : NULL; }

/* ---- planning ---- */

static atn_status check_apart(const atn_program *p) {
    for (int32_t j = 0; j < p->routine->n_head; ++j)
        for (int32_t k = 0; k < j; ++k) {
            const atn_datum_use *a = &p->routine->names[j], *b = &p->routine->names[k];
            if (p->array[j] && p->array[k] && (a->use != ATN_USE_IN || b->use != ATN_USE_IN) &&
                atn_array_overlaps(p->array[j], p->array[k]))
                return atn_fail(atn_device_ctx(p->device), ATN_ERR_INPUT,
                                "'%s' and '%s' share elements; a result must not overlap another array", b->name,
                                a->name);
        }
    return ATN_OK;
}

static atn_status make_plan(const atn_program *p, const int8_t *wanted, int32_t n_wanted, atn_plan **out) {
    const atn_ctx *ctx = atn_device_ctx(p->device);
    size_t n = (size_t)p->routine->n_head + 1;
    atn_plan_given given = {.size = atn_zalloc(ctx, n * sizeof *given.size), .value = p->value};
    if (!given.size) return ATN_ERR_MEMORY;
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < p->routine->n_head && status == ATN_OK; ++k) {
        given.size[k][0] = given.size[k][1] = -1;
        if (p->array[k]) memcpy(given.size[k], atn_array_slot(p->array[k]).view.size, sizeof *given.size);
        if (!p->routine->names[k].rank && !p->has_value[k])
            status = atn_fail(ctx, ATN_ERR_INPUT, "%s: the parameter '%s' has no value", p->routine->name,
                              p->routine->names[k].name);
    }
    const atn_plan_options options = {
        .info = atn_device_get_info(p->device), .wanted = wanted, .n_wanted = n_wanted, .queues = p->queues};
    if (status == ATN_OK) status = atn_plan_make(ctx, p->programs, &given, &options, out);
    atn_free(ctx, given.size);
    return status;
}

atn_status atn_program_size(atn_program *p) {
    atn_plan *plan = NULL;
    atn_planned *planned = NULL;
    atn_status status = make_plan(p, p->wanted, p->n_wanted, &plan);
    if (status == ATN_OK) status = atn_planned_create(atn_device_ctx(p->device), plan, &planned);
    for (int32_t k = 0; k < p->routine->n_head && status == ATN_OK; ++k)
        if (!p->array[k]) p->slot[k] = atn_planned_slot(planned, k);
    atn_planned_free(planned);
    return status;
}

int32_t atn_program_count(const atn_program *p) { return p->routine->n_head; }

atn_status atn_program_get_name(const atn_program *p, int32_t name, atn_program_name *given) {
    const atn_datum_use *use = &p->routine->names[name];
    const atn_view *view = &p->slot[name].view;
    atn_program_name out = {.name = use->name,
                            .type = use->type,
                            .rank = use->rank,
                            .read = use->rank && use->use != ATN_USE_OUT,
                            .written = use->rank && use->use != ATN_USE_IN,
                            .has_value = !use->rank && p->has_value[name],
                            .value = {p->value[name][0], p->value[name][1]},
                            .shape = {-1, -1, -1}};
    if (use->rank && view->rank) atn_array_turn_shape(use->rank, view->size, out.shape);
    return ATN_GIVE(atn_device_ctx(p->device), atn_program_name, &out, given);
}

static void bind_arrays(const atn_program *p) {
    for (int32_t k = 0; k < p->routine->n_head; ++k) {
        if (!p->array[k]) continue;
        atn_slot slot = atn_array_slot(p->array[k]);
        atn_planned_bind(p->planned, k, &slot);
    }
}

static atn_status prepare_as(atn_program *p, const int8_t *wanted, int32_t n_wanted, bool interpret, int32_t *seams) {
    const atn_ctx *ctx = atn_device_ctx(p->device);
    const atn_kernel_settings *o = &p->described.options;
    const atn_choose_options choose = {.indices = p->trusted ? ATN_INDICES_MADE : ATN_INDICES_UNKNOWN,
                                       .reproducible = o->reproducible,
                                       .tolerance = o->tolerance,
                                       .any_size = p->any_size};
    atn_plan *plan = NULL;
    atn_planned_free(p->planned);
    p->planned = NULL;
    atn_status status = make_plan(p, wanted, n_wanted, &plan);
    *seams = status == ATN_OK ? plan->n_seams : 0;
    if (status == ATN_OK) status = atn_planned_create(ctx, plan, &p->planned);
    if (status == ATN_OK) {
        bind_arrays(p);
        if (interpret) atn_planned_interpret(p->planned);
        status = atn_planned_build(p->planned, p->device, NULL, &choose);
    }
    if (status == ATN_OK) return ATN_OK;
    atn_planned_free(p->planned);
    p->planned = NULL;
    return status;
}

/* Where there is no compiler what is shipped runs: steps as they are, none within another; others are interpreted. */
static atn_status prepare(atn_program *p) {
    const atn_ctx *ctx = atn_device_ctx(p->device);
    int32_t seams;
    atn_status status = prepare_as(p, p->wanted, p->n_wanted, false, &seams);
    if (status != ATN_ERR_UNSUPPORTED && status != ATN_ERR_BUILD) return status;
    int8_t *none = atn_zalloc(ctx, (size_t)seams + 1);
    if (!none) return ATN_ERR_MEMORY;
    status = prepare_as(p, none, seams, true, &seams);
    atn_free(ctx, none);
    return status;
}

/* Did a scalar change that the plan depends on? */
static bool is_decided_anew(const atn_program *p) {
    const atn_plan *plan = atn_planned_plan(p->planned);
    for (int32_t k = 0; k < plan->n_scalars; ++k) {
        const atn_plan_scalar *s = &plan->scalars[k];
        if (s->head >= 0 && s->decides && !atn_same_bits(s->value, p->value[s->head], sizeof s->value)) return true;
    }
    return false;
}

atn_status atn_program_plan(atn_program *p) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < p->routine->n_head && status == ATN_OK; ++k)
        if (p->array[k]) status = atn_array_ready_device(p->array[k], false);
    if (status == ATN_OK && (p->moved || !p->planned)) status = check_apart(p);
    if (status != ATN_OK) return status;
    if (!p->planned || p->stale || (p->given && is_decided_anew(p))) {
        status = prepare(p);
    } else {
        if (p->moved) bind_arrays(p);
        if (p->given) status = atn_planned_give(p->planned, (const double(*)[2])p->value);
    }
    if (status == ATN_OK) p->stale = p->moved = p->given = false;
    return status;
}

atn_status atn_program_run(atn_program *p) {
    atn_status status = atn_program_plan(p);
    if (status != ATN_OK) return status;
    status = atn_planned_run(p->planned);
    for (int32_t k = 0; k < p->routine->n_head; ++k) {
        if (!p->array[k] || p->routine->names[k].use == ATN_USE_IN) continue;
        if (status == ATN_OK)
            atn_array_written_on_device(p->array[k]);
        else
            atn_array_spoiled_on_device(p->array[k]);
    }
    return status;
}

const char *atn_program_note(atn_program *p) { return p->planned ? atn_planned_note(p->planned) : NULL; }

const char *atn_program_explain(atn_program *p) {
    atn_text *out = &p->explained;
    atn_text_clear(out);
    if (!p->planned) {
        atn_text_printf(out, "%s is not planned: what it runs is decided once its arrays are bound.", p->routine->name);
    } else {
        const atn_runner *runner = atn_planned_runner(p->planned);
        atn_plan_print(atn_planned_plan(p->planned), out);
        for (int32_t s = 0; s < atn_runner_steps(runner); ++s) {
            atn_choice_explain(atn_runner_choice(runner, s), atn_runner_graph(runner, s),
                               atn_device_get_info(p->device), out);
            atn_text_add(out, "\n");
        }
    }
    return out->failed ? "there is no memory to explain it" : atn_text_str(out);
}
