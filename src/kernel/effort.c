/* Tuning while planning: sizes and parameters are passed to the tuner as text. */
#include "kernel/effort.h"

#include "base/arena.h"
#include "base/memory.h"
#include "tune/tune.h"

#include <stdio.h>

static atn_status add_sizes(const atn_runner *r, atn_arena *arena, const char ***out) {
    int32_t n = 0, count = atn_runner_count(r);
    const char **sizes = atn_arena_alloc(arena, ((size_t)count + 1) * sizeof *sizes);
    if (!sizes) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < count; ++k) {
        const atn_shared_object *object = atn_runner_object(r, k);
        const atn_view *view = &object->slot.view;
        char size[64];
        if (view->size[0] < 0) continue;
        atn_view_print_shape(view, size, sizeof size);
        sizes[n] = atn_arena_printf(arena, "%s=%s", object->name, size);
        if (!sizes[n++]) return ATN_ERR_MEMORY;
    }
    sizes[n] = NULL;
    *out = sizes;
    return ATN_OK;
}

static atn_status add_params(const atn_effort_options *o, atn_arena *arena, const char ***out) {
    const char **params = atn_arena_alloc(arena, (o->n_given + 1) * sizeof *params);
    if (!params) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < o->n_given; ++k) {
        const double *value = o->given[k].value;
        params[k] = value[1] != 0 ? atn_arena_printf(arena, "%s=%.17g%+.17gi", o->given[k].name, value[0], value[1])
                                  : atn_arena_printf(arena, "%s=%.17g", o->given[k].name, value[0]);
        if (!params[k]) return ATN_ERR_MEMORY;
    }
    params[o->n_given] = NULL;
    *out = params;
    return ATN_OK;
}

/* Is there anything to be found out about this step? */
static atn_status wants_tuning(const atn_runner *r, int32_t step, atn_device *device, const atn_effort_options *o,
                               bool *out) {
    atn_choice choice;
    atn_status status = atn_runner_choose(r, step, atn_device_get_info(device), &o->choose, &choice);
    if (status != ATN_OK) return status;
    /* arrays with gaps between their rows are tuned as if they had none, and found as near by no distance */
    bool known =
        choice.origin == ATN_ORIGIN_EXACT || (choice.origin == ATN_ORIGIN_NEAR_SHAPE && choice.hit.distance == 0);
    *out = choice.origin != ATN_ORIGIN_COMPILED_IN && (o->exhaustive || !known);
    atn_choice_free(&choice);
    return ATN_OK;
}

static atn_status tune_step(atn_device *device, atn_wisdom *wisdom, const atn_workload *work,
                            const atn_effort_options *o) {
    atn_tune_result result = {0};
    atn_tune_options options = {.budget_s = o->exhaustive ? 0 : o->budget_s,
                                .strategy = o->exhaustive ? "exhaustive" : NULL,
                                .tolerance = o->choose.tolerance,
                                .reproducible = o->choose.reproducible};
    atn_status status = atn_tune(device, wisdom, work, &options, &result);
    atn_tune_result_free(&result);
    return status;
}

atn_status atn_runner_tune(const atn_runner *r, atn_device *device, const atn_effort_options *o) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_arena arena = {.ctx = ctx};
    atn_wisdom *wisdom = NULL;
    const char **sizes = NULL, **params = NULL;
    atn_status status = add_sizes(r, &arena, &sizes);
    if (status == ATN_OK) status = add_params(o, &arena, &params);
    for (int32_t k = 0; k < atn_runner_steps(r) && status == ATN_OK; ++k) {
        atn_workload work = {
            .name = o->name, .xml = o->xml, .defines = o->defines, .sizes = sizes, .params = params, .step = k};
        bool wanted = false;
        status = wants_tuning(r, k, device, o, &wanted);
        if (status != ATN_OK || !wanted) continue;
        if (!wisdom) status = atn_wisdom_open(ctx, NULL, false, &wisdom);
        if (status == ATN_OK) status = tune_step(device, wisdom, &work, o);
    }
    atn_wisdom_close(wisdom);
    atn_arena_free(&arena);
    return status;
}
