/* Kernel handles over arrays: a runner of the described steps, planned and built again when what is bound changes its
 * shape; other parameters, and arrays of the same shape, change nothing that is built. The last plans are kept: who
 * goes from shape to shape comes back to them. */
#include "kernel/kernel.h"

#include "base/limits.h"
#include "base/memory.h"
#include "base/sized.h"
#include "kernel/description.h"
#include "kernel/effort.h"
#include "num/array.h"

#include <string.h>

enum { KEPT = 32 }; /* as many as a registration of a million points has lists */

/* For other shapes than those that are bound now. */
typedef struct kept_plan {
    atn_runner *runner; /* NULL: none */
    int64_t offset;     /* as below */
    bool bound[ATN_MOST_BOUND];
    double given[ATN_MOST_BOUND][2];
    size_t n_given;
} kept_plan;

struct atn_kernel {
    atn_device *device;
    const atn_kernel *elder; /* whose description and sequence it has; NULL: they are its own */
    atn_description described;
    atn_sequence *sequence;
    atn_runner *runner;               /* names and, once planned, what is built */
    bool worked;                      /* it is planned, for what was bound then, */
    bool planned;                     /* for what is bound now, */
    bool trusted;                     /* its index arrays were checked */
    bool any_size;                    /* its variant does not depend on sizes */
    bool modest;                      /* on hosts, what came with the library serves, */
    bool meanwhile;                   /* unless something was measured */
    bool moved;                       /* but some arrays are others of the same shape, */
    bool renewed;                     /* and some parameters have other values */
    int64_t offset;                   /* of the array that began farthest into its buffer when it was planned */
    atn_array *array[ATN_MOST_BOUND]; /* per object of the runner; NULL: not bound */
    atn_param_value given[ATN_MOST_BOUND];
    bool decides[ATN_MOST_BOUND]; /* a parameter that shapes depend on */
    size_t n_given;
    kept_plan kept[KEPT]; /* the last one first */
    kept_plan now;        /* what the runner was planned for; without a runner */
    atn_text explained;
};

/* ---- making ---- */

static atn_status fill(atn_kernel *k, const char *description, const atn_kernel_settings *options) {
    const atn_ctx *ctx = atn_device_ctx(k->device);
    atn_description *d = &k->described;
    atn_status status = atn_description_open(ctx, description, options, d);
    if (status == ATN_OK)
        status =
            atn_sequence_parse(ctx, d->name, d->text, strlen(d->text),
                               &(atn_parse_options){.defines = d->pairs, .n_defines = d->n_pairs}, NULL, &k->sequence);
    if (status == ATN_OK) status = atn_runner_create(ctx, k->sequence, &k->runner);
    if (status == ATN_OK && atn_runner_count(k->runner) > ATN_MOST_BOUND)
        status = atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: %d objects, at most %d are bound", d->name,
                          atn_runner_count(k->runner), ATN_MOST_BOUND);
    return status;
}

atn_status atn_kernel_create(atn_device *device, const char *description, const atn_kernel_settings *given,
                             atn_kernel **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_kernel_settings settings;
    *out = NULL;
    atn_status status = ATN_TAKE(ctx, atn_kernel_settings, given, &settings);
    if (status != ATN_OK) return status;
    atn_kernel *k = atn_zalloc(ctx, sizeof *k);
    if (!k) return ATN_ERR_MEMORY;
    k->device = device;
    k->explained.ctx = ctx;
    status = fill(k, description, &settings);
    if (status == ATN_OK)
        *out = k;
    else
        atn_kernel_free(k);
    return status;
}

atn_status atn_kernel_twin(const atn_kernel *elder, atn_kernel **out) {
    const atn_ctx *ctx = atn_device_ctx(elder->device);
    atn_kernel *k = *out = atn_zalloc(ctx, sizeof *k);
    if (!k) return ATN_ERR_MEMORY;
    k->device = elder->device;
    k->elder = elder->elder ? elder->elder : elder;
    k->described = elder->described;
    k->described.arena = (atn_arena){.ctx = ctx}; /* for names that are given to this one */
    k->sequence = elder->sequence;
    k->trusted = elder->trusted, k->any_size = elder->any_size, k->modest = elder->modest,
    k->meanwhile = elder->meanwhile;
    k->explained.ctx = ctx;
    atn_status status = atn_runner_create(ctx, k->sequence, &k->runner);
    if (status == ATN_OK) return ATN_OK;
    atn_kernel_free(k);
    *out = NULL;
    return status;
}

void atn_kernel_free(atn_kernel *k) {
    if (!k) return;
    const atn_ctx *ctx = atn_device_ctx(k->device);
    atn_runner_free(k->runner);
    for (int n = 0; n < KEPT; ++n) atn_runner_free(k->kept[n].runner);
    atn_text_free(&k->explained);
    if (!k->elder) atn_sequence_free(k->sequence);
    atn_description_close(&k->described);
    atn_free(ctx, k);
}

void atn_kernel_trust(atn_kernel *k) { k->trusted = true; }

void atn_kernel_any_size(atn_kernel *k) { k->any_size = true; }
void atn_kernel_modest(atn_kernel *k) { k->modest = true; }
void atn_kernel_meanwhile(atn_kernel *k) { k->meanwhile = true; }

const atn_variant *atn_kernel_variant(const atn_kernel *k) {
    return k->planned ? &atn_runner_choice(k->runner, 0)->variant : NULL;
}

/* ---- binding ---- */

atn_status atn_kernel_bind(atn_kernel *k, const char *object, atn_array *array) {
    int32_t n = atn_runner_find(k->runner, object);
    if (n < 0) return ATN_ERR_INPUT;
    if (!array) return atn_fail(atn_device_ctx(k->device), ATN_ERR_INPUT, "'%s': there is no array to bind", object);
    if (atn_array_device(array) != k->device)
        return atn_fail(atn_device_ctx(k->device), ATN_ERR_INPUT, "'%s' is on another device", object);
    atn_slot slot = atn_array_slot(array);
    bool alike = k->array[n] && atn_view_is_alike(&slot.view, &atn_runner_object(k->runner, n)->slot.view);
    k->array[n] = array;
    k->planned = k->planned && alike && slot.offset <= k->offset;
    k->moved = true;
    return ATN_OK;
}

/* Does any step have it, and do sizes depend on it? */
static atn_status look_up(const atn_kernel *k, const char *name, bool *decides) {
    const atn_ctx *ctx = atn_device_ctx(k->device);
    bool found = false;
    *decides = false;
    for (int32_t s = 0; s < k->sequence->count; ++s) {
        const atn_graph *graph = k->sequence->step[s];
        bool *all = atn_zalloc(ctx, (size_t)graph->n_parameters + 1);
        if (!all || atn_eval_deciding(ctx, graph, all) != ATN_OK) {
            atn_free(ctx, all);
            return ATN_ERR_MEMORY;
        }
        for (int32_t p = 0; p < graph->n_parameters; ++p) {
            if (strcmp(graph->parameters[p].name, name) != 0) continue;
            found = true;
            *decides = *decides || all[p];
        }
        atn_free(ctx, all);
    }
    return found ? ATN_OK : atn_fail(ctx, ATN_ERR_INPUT, "%s: no parameter '%s'", k->sequence->name, name);
}

atn_status atn_kernel_param(atn_kernel *k, const char *parameter, double real, double imaginary) {
    size_t n = 0;
    while (n < k->n_given && strcmp(k->given[n].name, parameter) != 0) ++n;
    if (n == k->n_given) {
        bool decides;
        atn_status status = look_up(k, parameter, &decides);
        if (status != ATN_OK) return status;
        if (n == ATN_MOST_BOUND)
            return atn_fail(atn_device_ctx(k->device), ATN_ERR_UNSUPPORTED, "%s: at most %d parameters are supported",
                            k->described.name, ATN_MOST_BOUND);
        const char *name = atn_arena_strdup(&k->described.arena, parameter);
        if (!name) return ATN_ERR_MEMORY;
        k->given[n].name = name;
        k->decides[n] = decides;
        ++k->n_given;
    }
    k->given[n].value[0] = real;
    k->given[n].value[1] = imaginary;
    k->planned = k->planned && !k->decides[n];
    k->renewed = true; /* they are given together, when all are known */
    return ATN_OK;
}

/* ---- planning ---- */

/* The generated code trusts that a result has elements of its own. */
static atn_status check_apart(const atn_kernel *k) {
    for (int32_t i = 0; i < atn_runner_count(k->runner); ++i)
        for (int32_t j = 0; j < i; ++j) {
            const atn_shared_object *a = atn_runner_object(k->runner, i), *b = atn_runner_object(k->runner, j);
            if (k->array[i] && k->array[j] && (a->written || b->written) &&
                atn_array_overlaps(k->array[i], k->array[j]))
                return atn_fail(atn_device_ctx(k->device), ATN_ERR_INPUT,
                                "'%s' and '%s' share elements; a result must not overlap another array", b->name,
                                a->name);
        }
    return ATN_OK;
}

static atn_status bring_to_device(const atn_kernel *k) {
    atn_status status = ATN_OK;
    for (int32_t n = 0; n < atn_runner_count(k->runner) && status == ATN_OK; ++n)
        if (k->array[n]) status = atn_array_ready_device(k->array[n], false);
    return status;
}

static void bind_arrays(atn_kernel *k, void (*bind)(atn_runner *, int32_t, const atn_slot *)) {
    k->offset = 0;
    for (int32_t n = 0; n < atn_runner_count(k->runner); ++n) {
        if (!k->array[n]) continue;
        atn_slot slot = atn_array_slot(k->array[n]);
        bind(k->runner, n, &slot);
        if (slot.offset > k->offset) k->offset = slot.offset;
    }
}

static atn_status make_effort(const atn_kernel *k, const atn_choose_options *choose) {
    atn_effort_options how = {.name = k->described.name,
                              .xml = k->described.text,
                              .defines = k->described.options.defines,
                              .given = k->given,
                              .n_given = k->n_given,
                              .exhaustive = k->described.options.effort == ATN_EFFORT_EXHAUSTIVE,
                              .budget_s = k->described.options.budget_s,
                              .choose = *choose};
    return k->described.options.effort >= ATN_EFFORT_MEASURE ? atn_runner_tune(k->runner, k->device, &how) : ATN_OK;
}

/* WISDOM: every step has some. */
static atn_status check_wisdom(const atn_kernel *k, const atn_choose_options *choose) {
    atn_status status = ATN_OK;
    for (int32_t s = 0; s < k->sequence->count && status == ATN_OK && k->described.options.effort == ATN_EFFORT_WISDOM;
         ++s) {
        atn_choice choice;
        status = atn_runner_choose(k->runner, s, atn_device_get_info(k->device), choose, &choice);
        if (status != ATN_OK) return status;
        if (choice.origin < ATN_ORIGIN_SHIPPED)
            status = atn_fail(atn_device_ctx(k->device), ATN_ERR_UNSUPPORTED,
                              "%s: there is no wisdom for it, and nothing else is allowed (ATN_EFFORT_WISDOM); use "
                              "'attune tune' or another effort",
                              k->sequence->step[s]->name);
        atn_choice_free(&choice);
    }
    return status;
}

static atn_choose_options choice_of(const atn_kernel *k) {
    return (atn_choose_options){.indices = k->trusted ? ATN_INDICES_MADE : ATN_INDICES_UNKNOWN,
                                .reproducible = k->described.options.reproducible,
                                .tolerance = k->described.options.tolerance,
                                .any_size = k->any_size,
                                .modest = k->modest,
                                .meanwhile = k->meanwhile};
}

atn_status atn_kernel_build_ahead(const atn_kernel *k) {
    const atn_ctx *ctx = atn_device_ctx(k->device);
    atn_choose_options choose = choice_of(k);
    atn_status status = ATN_OK;
    choose.near = true;
    for (int32_t s = 0; s < k->sequence->count && k->any_size && status == ATN_OK; ++s) {
        const atn_graph *graph = k->sequence->step[s];
        atn_choice choice;
        atn_built *built = NULL;
        status = atn_choose(ctx, graph, atn_device_get_info(k->device), NULL, &choose, &choice);
        if (status == ATN_OK && choice.origin != ATN_ORIGIN_COMPILED_IN)
            status = atn_built_make(k->device, graph, &choice.variant, &built);
        atn_built_free(built);
        atn_choice_free(&choice);
    }
    return status;
}

/* ---- plans that are kept ---- */

static kept_plan plan_of(const atn_kernel *k) {
    kept_plan plan = {.offset = k->offset, .n_given = k->n_given};
    for (int32_t n = 0; n < atn_runner_count(k->runner); ++n) plan.bound[n] = k->array[n] != NULL;
    for (size_t n = 0; n < k->n_given; ++n) memcpy(plan.given[n], k->given[n].value, sizeof plan.given[n]);
    return plan;
}

/* Was it planned for arrays like those that are bound, and for the parameters that shapes depend on? */
static bool serves(const kept_plan *plan, const atn_kernel *k) {
    bool alike = plan->runner && plan->n_given == k->n_given && atn_runner_is_current(plan->runner);
    for (int32_t n = 0; alike && n < atn_runner_count(plan->runner); ++n) {
        atn_slot slot = k->array[n] ? atn_array_slot(k->array[n]) : (atn_slot){0};
        alike = plan->bound[n] == (k->array[n] != NULL);
        if (alike && k->array[n])
            alike = slot.offset <= plan->offset &&
                    atn_view_is_alike(&slot.view, &atn_runner_object(plan->runner, n)->slot.view);
    }
    for (size_t n = 0; alike && n < k->n_given; ++n)
        alike =
            !k->decides[n] || (plan->given[n][0] == k->given[n].value[0] && plan->given[n][1] == k->given[n].value[1]);
    return alike;
}

/* The runner that has worked goes to the others, those before it make room; the oldest one ends. */
static void keep(atn_kernel *k, kept_plan plan) {
    for (int n = 0; n < KEPT && plan.runner; ++n) {
        kept_plan other = k->kept[n];
        k->kept[n] = plan;
        plan = other;
    }
    atn_runner_free(plan.runner);
}

/* Takes the place of the runner, which is kept; false: there is none. */
static bool take_kept(atn_kernel *k) {
    for (int n = 0; n < KEPT; ++n) {
        if (!serves(&k->kept[n], k)) continue;
        kept_plan taken = k->kept[n];
        k->kept[n] = k->now;
        k->kept[n].runner = k->runner;
        k->runner = taken.runner;
        taken.runner = NULL;
        k->now = taken;
        k->offset = taken.offset;
        return true;
    }
    return false;
}

static atn_status prepare(atn_kernel *k) {
    const atn_ctx *ctx = atn_device_ctx(k->device);
    atn_choose_options choose = choice_of(k);
    atn_runner *runner;
    atn_status status = atn_runner_create(ctx, k->sequence, &runner);
    const atn_kernel *from = k->elder && !k->worked && k->elder->worked ? k->elder : k;
    if (status == ATN_OK) status = atn_runner_inherit(runner, from->runner);
    if (status != ATN_OK) {
        atn_runner_free(runner);
        return status;
    }
    k->now.runner = k->worked ? k->runner : NULL;
    if (!k->worked) atn_runner_free(k->runner);
    k->worked = false;
    keep(k, k->now);
    k->runner = runner;
    bind_arrays(k, atn_runner_bind);
    status = atn_runner_give(runner, k->given, k->n_given);
    if (status == ATN_OK) status = atn_runner_plan(runner);
    if (status == ATN_OK) status = make_effort(k, &choose);
    if (status == ATN_OK) status = check_wisdom(k, &choose);
    if (status == ATN_OK) status = atn_runner_build(runner, k->device, NULL, &choose);
    k->now = plan_of(k);
    k->worked = status == ATN_OK;
    return status;
}

atn_status atn_kernel_plan(atn_kernel *k) {
    atn_status status = bring_to_device(k);
    bool others = k->moved && !k->trusted; /* who makes arrays and lists keeps results apart */
    if (status == ATN_OK && (others || !k->planned)) status = check_apart(k);
    if (status != ATN_OK) return status;
    bool kept = !k->planned && k->worked && take_kept(k);
    if (!k->planned && !kept) {
        status = prepare(k);
        k->planned = status == ATN_OK;
    } else {
        int64_t before = k->offset;
        k->planned = true;
        if (k->moved || kept) bind_arrays(k, atn_runner_rebind);
        k->offset = before; /* it is built for arrays that begin as far as that */
        if (k->renewed || kept) status = atn_runner_give(k->runner, k->given, k->n_given);
    }
    if (status == ATN_OK) k->moved = k->renewed = false;
    return status;
}

atn_status atn_kernel_run(atn_kernel *k) {
    atn_status status = atn_kernel_plan(k);
    if (status != ATN_OK) return status;
    status = atn_runner_run(k->runner);
    for (int32_t n = 0; n < atn_runner_count(k->runner); ++n) {
        if (!k->array[n] || !atn_runner_object(k->runner, n)->written) continue;
        if (status == ATN_OK)
            atn_array_written_on_device(k->array[n]);
        else
            atn_array_spoiled_on_device(k->array[n]);
    }
    return status;
}

const char *atn_kernel_explain(atn_kernel *k) {
    atn_text_clear(&k->explained);
    if (!k->planned) {
        atn_text_printf(&k->explained, "%s is not planned: what it runs is decided once its arrays are bound.",
                        k->sequence->step[0]->name);
    } else {
        for (int32_t s = 0; s < k->sequence->count; ++s) {
            if (s) atn_text_add(&k->explained, "\n");
            atn_choice_explain(atn_runner_choice(k->runner, s), k->sequence->step[s], atn_device_get_info(k->device),
                               &k->explained);
        }
    }
    return k->explained.failed ? "there is no memory to explain it" : atn_text_str(&k->explained);
}
