/* Running a description step by step: names shared between steps, derived sizes, kernels, the oracle. */
#include "kernel/sequence.h"

#include "base/memory.h"
#include "base/size.h"
#include "device/facts.h"

#include <string.h>

typedef struct step {
    const atn_graph *graph;
    const atn_graph *code; /* what is built: the same except for names, so that equal steps share one source */
    int32_t *object;       /* per object of the graph: which shared one; -1: a constant table */
    atn_view *views;       /* per object of the graph */
    atn_slot *slots;
    double (*params)[2]; /* per parameter */
    atn_choice choice;
    atn_built *kernel;    /* NULL: interpreted */
    atn_variant asked;    /* what was chosen for it, before anything had to be passed over */
    bool as_asked;        /* and is what it was built as */
    atn_built *inherited; /* built before, as `asked`; taken where that is chosen again */
    atn_choice before;    /* how that was chosen; without a context: nothing was */
} step;

struct atn_runner {
    const atn_ctx *ctx;
    const atn_sequence *sequence;
    atn_device *device; /* once built */
    bool interprets;    /* what cannot be compiled */
    step *steps;
    atn_shared_object *objects;
    int32_t n_objects;
};

/* ---- making ---- */

static int32_t find_shared(const atn_runner *r, const char *name) {
    for (int32_t k = 0; k < r->n_objects; ++k)
        if (strcmp(r->objects[k].name, name) == 0) return k;
    return -1;
}

static void share(atn_runner *r, step *s) {
    for (int32_t k = 0; k < s->graph->n_objects; ++k) {
        const atn_object *object = &s->graph->objects[k];
        s->object[k] = -1;
        if (object->table) continue;
        int32_t n = find_shared(r, object->name);
        if (n < 0) {
            n = r->n_objects++;
            r->objects[n] =
                (atn_shared_object){.name = object->name, .slot.view = atn_view_unsized(object->type, object->rank)};
        }
        atn_shared_object *shared = &r->objects[n];
        if (object->read && !shared->written) shared->read_first = true;
        s->object[k] = n;
    }
    for (int32_t k = 0; k < s->graph->n_objects; ++k)
        if (s->object[k] >= 0 && s->graph->objects[k].written) r->objects[s->object[k]].written = true;
}

static atn_status make_step(atn_runner *r, const atn_graph *graph, step *s) {
    size_t objects = (size_t)graph->n_objects + 1, params = (size_t)graph->n_parameters + 1;
    s->graph = s->code = graph;
    s->object = atn_zalloc(r->ctx, objects * sizeof *s->object);
    s->views = atn_zalloc(r->ctx, objects * sizeof *s->views);
    s->slots = atn_zalloc(r->ctx, objects * sizeof *s->slots);
    s->params = atn_zalloc(r->ctx, params * sizeof *s->params);
    if (!s->object || !s->views || !s->slots || !s->params) return ATN_ERR_MEMORY;
    share(r, s);
    return ATN_OK;
}

atn_status atn_runner_create(const atn_ctx *ctx, const atn_sequence *sequence, atn_runner **out) {
    *out = NULL;
    atn_runner *r = atn_zalloc(ctx, sizeof *r);
    if (!r) return ATN_ERR_MEMORY;
    r->ctx = ctx;
    r->sequence = sequence;
    size_t most = 1;
    for (int32_t k = 0; k < sequence->count; ++k) most += (size_t)sequence->step[k]->n_objects;
    r->steps = atn_zalloc(ctx, ((size_t)sequence->count + 1) * sizeof *r->steps);
    r->objects = atn_zalloc(ctx, most * sizeof *r->objects);
    atn_status status = r->steps && r->objects ? ATN_OK : ATN_ERR_MEMORY;
    for (int32_t k = 0; k < sequence->count && status == ATN_OK; ++k) {
        status = make_step(r, sequence->step[k], &r->steps[k]);
        if (sequence->like && sequence->like[k]) r->steps[k].code = sequence->like[k];
    }
    if (status == ATN_OK)
        *out = r;
    else
        atn_runner_free(r);
    return status;
}

void atn_runner_free(atn_runner *r) {
    if (!r) return;
    for (int32_t k = 0; k < r->sequence->count && r->steps; ++k) {
        step *s = &r->steps[k];
        atn_built_free(s->kernel);
        atn_built_free(s->inherited);
        atn_choice_free(&s->choice);
        atn_choice_free(&s->before);
        atn_free(r->ctx, s->object);
        atn_free(r->ctx, s->views);
        atn_free(r->ctx, s->slots);
        atn_free(r->ctx, s->params);
    }
    for (int32_t k = 0; k < r->n_objects; ++k) {
        atn_buffer_free(r->objects[k].owned);
        atn_free(r->ctx, r->objects[k].memory);
    }
    atn_free(r->ctx, r->steps);
    atn_free(r->ctx, r->objects);
    atn_free(r->ctx, r);
}

/* ---- what it runs on ---- */

int32_t atn_runner_steps(const atn_runner *r) { return r->sequence->count; }
const atn_graph *atn_runner_graph(const atn_runner *r, int32_t number) { return r->steps[number].graph; }
int32_t atn_runner_count(const atn_runner *r) { return r->n_objects; }
const atn_shared_object *atn_runner_object(const atn_runner *r, int32_t object) { return &r->objects[object]; }

static const char *name_of(const atn_runner *r) {
    return *r->sequence->name ? r->sequence->name : r->sequence->step[0]->name;
}

int32_t atn_runner_find(const atn_runner *r, const char *name) {
    int32_t found = find_shared(r, name);
    if (found >= 0) return found;
    atn_text names = {.ctx = r->ctx};
    for (int32_t k = 0; k < r->n_objects; ++k) atn_text_printf(&names, "%s%s", k ? ", " : "", r->objects[k].name);
    (void)atn_fail(r->ctx, ATN_ERR_INPUT, "%s: no DataObject '%s'; there is %s", name_of(r), name,
                   atn_text_str(&names));
    atn_text_free(&names);
    return -1;
}

void atn_runner_bind(atn_runner *r, int32_t object, const atn_slot *slot) {
    r->objects[object].slot = *slot;
    r->objects[object].is_bound =
        slot->buffer || slot->view.data || (slot->view.size[0] >= 0 && atn_view_elements(&slot->view) == 0);
}

void atn_runner_size(atn_runner *r, int32_t object, const int64_t size[ATN_MAX_RANK]) {
    atn_view *view = &r->objects[object].slot.view;
    memcpy(view->size, size, sizeof view->size);
    view->pitch = size[0];
}

static void refresh(const atn_runner *r, step *s) {
    for (int32_t k = 0; k < s->graph->n_objects; ++k)
        if (s->object[k] >= 0) {
            s->slots[k] = r->objects[s->object[k]].slot;
            s->views[k] = s->slots[k].view;
        }
}

atn_status atn_runner_give(atn_runner *r, const atn_param_value *given, size_t n_given) {
    atn_param_value *some = atn_zalloc(r->ctx, (n_given + 1) * sizeof *some);
    bool *used = atn_zalloc(r->ctx, n_given + 1);
    atn_status status = some && used ? ATN_OK : ATN_ERR_MEMORY;
    for (int32_t k = 0; k < r->sequence->count && status == ATN_OK; ++k) {
        step *s = &r->steps[k];
        size_t n = 0;
        for (size_t g = 0; g < n_given; ++g) {
            bool has = r->sequence->count == 1; /* then an unknown name is refused below, with all that there are */
            for (int32_t p = 0; p < s->graph->n_parameters && !has; ++p)
                has = strcmp(s->graph->parameters[p].name, given[g].name) == 0;
            if (has) some[n++] = given[g];
            used[g] = used[g] || has;
        }
        status = atn_eval_bind(r->ctx, s->graph, NULL, 0, some, n, s->views, s->params);
        if (status == ATN_OK) refresh(r, s); /* sizes that are known stay: what is interpreted reads them */
    }
    for (size_t g = 0; g < n_given && status == ATN_OK; ++g)
        if (!used[g])
            status = atn_fail(r->ctx, ATN_ERR_INPUT, "%s: no step has a Parameter '%s'", name_of(r), given[g].name);
    atn_free(r->ctx, some);
    atn_free(r->ctx, used);
    return status;
}

/* ---- planning ---- */

static atn_bindings frame_of(const step *s) {
    return (atn_bindings){.views = s->views, .params = (const double(*)[2])s->params};
}

/* One output may take its size from another, so: as long as any is found. */
static atn_status reach_outputs(atn_runner *r, step *s) {
    atn_status status = ATN_OK;
    for (bool again = true; again;) {
        again = false;
        status = ATN_OK;
        for (int32_t k = 0; k < s->graph->n_objects; ++k) {
            if (s->object[k] < 0 || !s->graph->objects[k].written || s->views[k].size[0] >= 0) continue;
            int64_t size[ATN_MAX_RANK];
            atn_bindings frame = frame_of(s);
            atn_status one = atn_eval_reach(r->ctx, s->graph, &frame, k, size);
            if (one == ATN_ERR_MEMORY) return one;
            if (one != ATN_OK) {
                status = one;
                continue;
            }
            atn_runner_size(r, s->object[k], size);
            s->views[k] = r->objects[s->object[k]].slot.view;
            again = true;
        }
    }
    return status;
}

static atn_status check_inputs(const atn_runner *r, const step *s) {
    for (int32_t k = 0; k < s->graph->n_objects; ++k) {
        const atn_view *view = &s->views[k];
        const atn_object *object = &s->graph->objects[k];
        if (s->object[k] < 0 || object->written || view->size[0] >= 0) continue;
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: nothing is bound to '%s', a %s of %s", s->graph->name, object->name,
                        atn_rank_name(object->rank), atn_type_name(object->type));
    }
    return ATN_OK;
}

atn_status atn_runner_plan(atn_runner *r) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < r->sequence->count && status == ATN_OK; ++k) {
        step *s = &r->steps[k];
        refresh(r, s);
        atn_bindings frame = frame_of(s);
        status = check_inputs(r, s);
        if (status == ATN_OK) status = reach_outputs(r, s);
        if (status == ATN_OK) status = atn_eval_check(r->ctx, s->graph, &frame);
    }
    return status;
}

static atn_status bytes_of(const atn_runner *r, const atn_shared_object *object, size_t *bytes) {
    const atn_view *view = &object->slot.view;
    int64_t elements = view->rank > 1 ? view->pitch : view->size[0], total;
    bool fits = true;
    for (int32_t axis = 1; axis < view->rank; ++axis) fits = fits && atn_i64_mul(elements, view->size[axis], &elements);
    if (!fits || !atn_i64_mul(elements, (int64_t)atn_type_bytes(view->type), &total))
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: '%s' is larger than any memory", name_of(r), object->name);
    *bytes = (size_t)total;
    return ATN_OK;
}

/* ---- on a device ---- */

static atn_status own_buffers(atn_runner *r) {
    for (int32_t k = 0; k < r->n_objects; ++k) {
        atn_shared_object *object = &r->objects[k];
        size_t bytes = 0;
        if (object->slot.buffer) continue;
        atn_status status = bytes_of(r, object, &bytes);
        if (status == ATN_OK) status = atn_buffer_create(r->device, bytes, &object->owned);
        if (status == ATN_OK) status = atn_buffer_fill(NULL, object->owned, 0, 0, bytes);
        if (status != ATN_OK) return status;
        object->slot.buffer = object->owned;
        object->slot.offset = 0;
    }
    return ATN_OK;
}

static atn_choose_options options_of(const atn_runner *r, const atn_choose_options *options) {
    atn_choose_options out = options ? *options : (atn_choose_options){0};
    for (int32_t k = 0; k < r->n_objects; ++k)
        if (r->objects[k].slot.offset > out.offset) out.offset = r->objects[k].slot.offset;
    return out;
}

/* Building what was chosen, unless it is there: what is built serves all sizes. */
static atn_status build_choice(const atn_runner *r, step *s, const atn_bindings *frame,
                               const atn_choose_options *options) {
    atn_variant chosen = s->choice.variant;
    if (s->inherited && memcmp(&chosen, &s->asked, sizeof chosen) == 0) {
        s->kernel = s->inherited;
        s->inherited = NULL;
        return ATN_OK;
    }
    bool compiled_in = s->choice.origin == ATN_ORIGIN_COMPILED_IN;
    atn_status status = atn_choice_build(r->device, s->code, frame, options, &s->choice, &s->kernel);
    s->asked = chosen;
    s->as_asked = status == ATN_OK && memcmp(&chosen, &s->choice.variant, sizeof chosen) == 0 &&
                  atn_built_is_compiled_in(s->kernel) == compiled_in;
    return status;
}

static atn_status choose(const atn_runner *r, step *s, const atn_bindings *frame, const atn_choose_options *options) {
    const atn_device_info *info = atn_device_get_info(r->device);
    return s->before.ctx ? atn_choose_again(r->ctx, s->graph, info, frame, options, &s->before, &s->choice)
                         : atn_choose(r->ctx, s->graph, info, frame, options, &s->choice);
}

static atn_status build_step(const atn_runner *r, step *s, const atn_variant *variant,
                             const atn_choose_options *options) {
    atn_bindings frame = frame_of(s);
    atn_built_free(s->kernel);
    s->kernel = NULL;
    atn_choice_free(&s->choice);
    atn_status status = ATN_OK;
    if (variant) {
        s->choice = (atn_choice){.ctx = r->ctx, .variant = *variant, .origin = ATN_ORIGIN_GIVEN};
        if (options->indices == ATN_INDICES_UNKNOWN) s->choice.variant.guard = 1; /* no variant brings its proof */
        status = atn_built_make(r->device, s->code, &s->choice.variant, &s->kernel);
    } else {
        status = choose(r, s, &frame, options);
        if (status == ATN_OK) status = build_choice(r, s, &frame, options);
    }
    atn_built_free(s->inherited);
    s->inherited = NULL;
    bool no_compiler = atn_device_cannot_compile(atn_device_get_info(r->device));
    if (status != ATN_OK && status != ATN_ERR_MEMORY && r->interprets && no_compiler) return ATN_OK;
    return status == ATN_OK ? atn_built_ready(s->kernel, s->slots, (const double(*)[2])s->params) : status;
}

atn_status atn_runner_inherit(atn_runner *r, const atn_runner *from) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < r->sequence->count && from->sequence == r->sequence && status == ATN_OK; ++k) {
        step *s = &r->steps[k];
        const step *old = &from->steps[k];
        if (!old->kernel || !old->as_asked) continue;
        status = atn_built_share(old->kernel, &s->inherited);
        s->asked = old->asked;
        s->as_asked = true;
        bool owns = old->choice.hit.kind != ATN_HIT_NONE || old->choice.why || old->choice.failed;
        if (!owns) s->before = old->choice;
    }
    return status;
}

bool atn_runner_is_current(const atn_runner *r) {
    bool current = true;
    for (int32_t k = 0; k < r->sequence->count; ++k)
        current = current && r->steps[k].choice.changes == atn_wisdom_changes();
    return current;
}

void atn_runner_interpret(atn_runner *r) { r->interprets = true; }
bool atn_runner_interprets(const atn_runner *r, int32_t number) { return !r->steps[number].kernel; }

atn_status atn_runner_build(atn_runner *r, atn_device *device, const atn_variant *variant,
                            const atn_choose_options *options) {
    r->device = device;
    atn_status status = own_buffers(r);
    atn_choose_options all = options_of(r, options);
    for (int32_t k = 0; k < r->sequence->count && status == ATN_OK; ++k) {
        refresh(r, &r->steps[k]);
        status = build_step(r, &r->steps[k], variant, &all);
    }
    return status;
}

const atn_choice *atn_runner_choice(const atn_runner *r, int32_t number) { return &r->steps[number].choice; }

atn_bindings atn_runner_frame(const atn_runner *r, int32_t number) { return frame_of(&r->steps[number]); }

atn_status atn_runner_choose(const atn_runner *r, int32_t number, const atn_device_info *info,
                             const atn_choose_options *options, atn_choice *out) {
    atn_bindings frame = frame_of(&r->steps[number]);
    atn_choose_options all = options_of(r, options);
    return atn_choose(r->ctx, r->steps[number].graph, info, &frame, &all, out);
}

void atn_runner_rebind(atn_runner *r, int32_t object, const atn_slot *slot) {
    r->objects[object].slot = *slot;
    for (int32_t k = 0; k < r->sequence->count; ++k) {
        step *s = &r->steps[k];
        for (int32_t n = 0; n < s->graph->n_objects; ++n) {
            if (s->object[n] != object) continue;
            s->slots[n] = *slot;
            s->views[n] = slot->view;
        }
    }
}

/* The host without a compiler: its buffers are available. */
static atn_status interpret(const atn_runner *r, step *s) {
    int64_t bad = 0;
    refresh(r, s);
    for (int32_t k = 0; k < s->graph->n_objects; ++k)
        if (s->object[k] >= 0)
            s->views[k].data = (char *)atn_buffer_host(s->slots[k].buffer) +
                               (size_t)s->slots[k].offset * atn_type_bytes(s->views[k].type);
    atn_bindings frame = frame_of(s);
    atn_status status = atn_eval(r->ctx, s->graph, &frame, &bad);
    if (status == ATN_OK && bad)
        status = atn_fail(r->ctx, ATN_ERR_INPUT, "%s: %lld computed accesses were out of range", s->graph->name,
                          (long long)bad);
    return status;
}

atn_status atn_runner_run_step(atn_runner *r, int32_t number, atn_queue *queue) {
    step *s = &r->steps[number];
    if (!s->kernel) return interpret(r, s);
    return atn_built_run(s->kernel, queue, s->slots, (const double(*)[2])s->params);
}

atn_status atn_runner_launch_step(atn_runner *r, int32_t number) {
    step *s = &r->steps[number];
    return s->kernel ? atn_built_launch(s->kernel, s->slots, (const double(*)[2])s->params) : interpret(r, s);
}

atn_status atn_runner_run(atn_runner *r) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < r->sequence->count && status == ATN_OK; ++k) status = atn_runner_launch_step(r, k);
    return status;
}

/* ---- by the oracle ---- */

static atn_status own_memory(atn_runner *r) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < r->n_objects && status == ATN_OK; ++k) {
        atn_shared_object *object = &r->objects[k];
        size_t bytes = 0;
        if (object->slot.view.data || object->memory) continue;
        status = bytes_of(r, object, &bytes);
        if (status == ATN_OK && !(object->memory = atn_zalloc(r->ctx, bytes))) status = ATN_ERR_MEMORY;
        object->slot.view.data = object->memory;
    }
    return status;
}

atn_status atn_runner_eval_step(atn_runner *r, int32_t number, int64_t *bad_accesses) {
    step *s = &r->steps[number];
    int64_t bad = 0;
    refresh(r, s);
    atn_bindings frame = frame_of(s);
    atn_status status = atn_eval(r->ctx, s->graph, &frame, &bad);
    *bad_accesses += bad;
    return status;
}

atn_status atn_runner_eval(atn_runner *r, int64_t *bad_accesses) {
    *bad_accesses = 0;
    atn_status status = own_memory(r);
    for (int32_t k = 0; k < r->sequence->count && status == ATN_OK; ++k)
        status = atn_runner_eval_step(r, k, bad_accesses);
    return status;
}
