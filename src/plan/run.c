/* Preparing a plan to run: its steps, arrays and memory. */
#include "plan/planned.h"

#include "base/memory.h"
#include "base/size.h"

#include <assert.h>
#include <string.h>

/* ---- making ---- */

static atn_status number_steps(atn_planned *p) {
    atn_plan *plan = p->plan;
    p->sequence = (atn_sequence){.ctx = p->ctx, .name = (char *)(uintptr_t)plan->main.routine->name};
    p->sequence.step = atn_arena_alloc(&plan->arena, ((size_t)plan->n_nodes + 1) * sizeof *p->sequence.step);
    p->sequence.like = atn_arena_alloc(&plan->arena, ((size_t)plan->n_nodes + 1) * sizeof *p->sequence.like);
    if (!p->sequence.step || !p->sequence.like) return atn_plan_no_memory(plan);
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        if (plan->nodes[k].kind != ATN_NODE_STEP) continue;
        plan->nodes[k].step = p->sequence.count;
        p->sequence.like[p->sequence.count] = plan->nodes[k].like;
        p->sequence.step[p->sequence.count++] = plan->nodes[k].graph;
    }
    return ATN_OK;
}

static void describe_slots(atn_planned *p) {
    for (int32_t k = 0; k < p->plan->n_arrays; ++k) {
        const atn_plan_array *a = &p->plan->arrays[k];
        p->slots[k].view = (atn_view){.type = a->type, .rank = a->rank, .pitch = a->size[0]};
        memcpy(p->slots[k].view.size, a->size, sizeof a->size);
        p->object[k] = -1;
        for (int32_t o = 0; o < atn_runner_count(p->runner); ++o)
            if (!strcmp(atn_runner_object(p->runner, o)->name, a->name)) p->object[k] = o;
        if (p->object[k] >= 0) atn_runner_size(p->runner, p->object[k], p->slots[k].view.size);
    }
}

atn_status atn_planned_create(const atn_ctx *ctx, atn_plan *plan, atn_planned **out) {
    *out = NULL;
    atn_planned *p = atn_zalloc(ctx, sizeof *p);
    if (!p) {
        atn_plan_free(plan);
        return ATN_ERR_MEMORY;
    }
    p->ctx = ctx;
    p->plan = plan;
    size_t arrays = (size_t)plan->n_arrays + 1;
    p->object = atn_arena_alloc(&plan->arena, arrays * sizeof *p->object);
    p->slots = atn_arena_alloc(&plan->arena, arrays * sizeof *p->slots);
    p->bound = atn_arena_alloc(&plan->arena, arrays * sizeof *p->bound);
    p->number = atn_arena_alloc(&plan->arena, arrays * sizeof *p->number);
    p->results = atn_arena_alloc(&plan->arena, arrays * sizeof(void *));
    p->memory = atn_arena_alloc(&plan->arena, arrays * sizeof *p->memory);
    size_t nodes = (size_t)plan->n_nodes + 1;
    p->rounds = atn_arena_alloc(&plan->arena, nodes * sizeof *p->rounds);
    p->loops = atn_arena_alloc(&plan->arena, nodes * sizeof *p->loops);
    p->units = atn_arena_alloc(&plan->arena, 2 * nodes * sizeof *p->units);
    p->unit_of = atn_arena_alloc(&plan->arena, nodes * sizeof *p->unit_of);
    atn_status status = p->object && p->slots && p->bound && p->number && p->results && p->memory && p->rounds &&
                                p->loops && p->units && p->unit_of
                            ? number_steps(p)
                            : atn_plan_no_memory(plan);
    if (status == ATN_OK) status = atn_runner_create(ctx, &p->sequence, &p->runner);
    if (status == ATN_OK) {
        assert(p->object && p->slots);
        describe_slots(p);
        *out = p;
    } else {
        atn_planned_free(p);
    }
    return status;
}

void atn_planned_free(atn_planned *p) {
    if (!p) return;
    atn_capture_forget(p);
    atn_runner_free(p->runner);
    atn_buffer_free(p->arena);
    atn_buffer_free(p->state);
    for (int32_t k = 0; k < p->n_results; ++k) atn_buffer_free(p->results[k]);
    for (int32_t k = 0; k < p->n_memory; ++k) atn_free(p->ctx, p->memory[k]);
    atn_plan_free(p->plan);
    atn_free(p->ctx, p);
}

atn_plan *atn_planned_plan(const atn_planned *p) { return p->plan; }
atn_runner *atn_planned_runner(const atn_planned *p) { return p->runner; }

/* ---- arrays ---- */

/* All that lies in `array`, by other names too. */
static void spread_slot(atn_planned *p, int32_t array, void (*bind)(atn_runner *, int32_t, const atn_slot *)) {
    for (int32_t k = 0; k < p->plan->n_arrays; ++k) {
        if (atn_plan_root(p->plan, k) != array) continue;
        if (k != array) p->slots[k] = p->slots[array];
        if (p->object[k] >= 0) bind(p->runner, p->object[k], &p->slots[k]);
    }
}

/* Is it what the array is bound to already? */
static bool is_same(const atn_planned *p, int32_t array, const atn_slot *slot) {
    const atn_slot *had = &p->slots[array];
    return p->bound[array] && slot->buffer && p->number[array] == atn_buffer_number(slot->buffer) &&
           had->offset == slot->offset && had->view.pitch == slot->view.pitch &&
           !memcmp(had->view.size, slot->view.size, sizeof slot->view.size);
}

void atn_planned_bind(atn_planned *p, int32_t head, const atn_slot *slot) {
    int32_t array = p->plan->main.array[head];
    if (array < 0 || is_same(p, array, slot)) return; /* launches that are kept stay so */
    p->slots[array] = *slot;
    p->bound[array] = true;
    p->number[array] = slot->buffer ? atn_buffer_number(slot->buffer) : 0;
    spread_slot(p, array, p->device ? atn_runner_rebind : atn_runner_bind);
    atn_capture_forget(p);
}

atn_slot atn_planned_slot(const atn_planned *p, int32_t head) {
    int32_t array = p->plan->main.array[head];
    return array < 0 ? (atn_slot){0} : p->slots[array];
}

static atn_status own_arena(atn_planned *p) {
    const atn_plan *plan = p->plan;
    int64_t free_bytes = atn_device_free_bytes(p->device);
    size_t largest = 0;
    const char *which = "";
    for (int32_t k = 0; k < plan->n_arrays; ++k) {
        const atn_plan_array *a = &plan->arrays[k];
        size_t bytes = (size_t)(a->size[0] * a->size[1] * a->size[2]) * atn_type_bytes(a->type);
        if (a->piece >= 0 && bytes > largest) largest = bytes, which = a->name;
    }
    if (free_bytes > 0 && plan->bytes > (size_t)free_bytes)
        return atn_fail(p->ctx, ATN_ERR_MEMORY,
                        "%s: its temporaries take %zu bytes of which %lld are free; the largest is '%s' with %zu",
                        plan->main.routine->name, plan->bytes, (long long)free_bytes, which, largest);
    atn_status status = atn_buffer_create(p->device, plan->bytes, &p->arena);
    if (status == ATN_OK && plan->bytes) status = atn_buffer_fill(NULL, p->arena, 0, 0, plan->bytes);
    for (int32_t k = 0; k < plan->n_arrays && status == ATN_OK; ++k) {
        const atn_plan_array *a = &plan->arrays[k];
        if (a->piece < 0) continue;
        p->slots[k].buffer = p->arena;
        p->slots[k].view.pitch = a->pitch;
        p->slots[k].offset = (int64_t)(plan->piece_at[a->piece] / atn_type_bytes(a->type));
        spread_slot(p, k, atn_runner_bind);
    }
    return status;
}

static atn_status give(atn_planned *p) {
    const atn_plan *plan = p->plan;
    atn_param_value *given = atn_zalloc(p->ctx, ((size_t)plan->n_scalars + 1) * sizeof *given);
    size_t n = 0;
    if (!given) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < plan->n_scalars; ++k) {
        bool used = false;
        for (int32_t s = 0; s < p->sequence.count && !used; ++s)
            for (int32_t q = 0; q < p->sequence.step[s]->n_parameters && !used; ++q)
                used = !strcmp(p->sequence.step[s]->parameters[q].name, plan->scalars[k].name);
        if (!used) continue;
        given[n].name = plan->scalars[k].name;
        memcpy(given[n++].value, plan->scalars[k].value, sizeof given->value);
    }
    atn_status status = atn_runner_give(p->runner, given, n);
    atn_free(p->ctx, given);
    return status;
}

atn_status atn_planned_give(atn_planned *p, const double (*value)[2]) {
    atn_status status = atn_plan_give(p->plan, value);
    if (status == ATN_OK) status = give(p);
    atn_capture_forget(p);
    return status;
}

/* Unbound results, including those that no step writes itself: the counter of a loop, or an array under another name.
 * */
static atn_status own_results(atn_planned *p) {
    const atn_plan *plan = p->plan;
    for (int32_t k = 0; k < plan->n_arrays; ++k) {
        const atn_plan_array *a = &plan->arrays[k];
        if (a->head < 0 || a->same >= 0 || p->bound[k]) continue;
        size_t bytes;
        if (!atn_size_mul((size_t)a->size[0], (size_t)a->size[1], &bytes) ||
            !atn_size_mul(bytes, (size_t)a->size[2], &bytes) || !atn_size_mul(bytes, atn_type_bytes(a->type), &bytes))
            return atn_fail(p->ctx, ATN_ERR_INPUT, "%s: '%s' is larger than any memory", plan->main.routine->name,
                            a->name);
        atn_buffer **buffer = &p->results[p->n_results];
        atn_status status = atn_buffer_create(p->device, bytes, buffer);
        if (status != ATN_OK) return status;
        ++p->n_results;
        if (bytes) status = atn_buffer_fill(NULL, *buffer, 0, 0, bytes);
        if (status != ATN_OK) return status;
        p->slots[k].buffer = *buffer;
        spread_slot(p, k, atn_runner_bind);
    }
    return ATN_OK;
}

/* The values that loops on a tape test are stored next to their round counters. */
static atn_status own_state(atn_planned *p) {
    atn_status status = ATN_OK;
    if (!p->n_loops) return ATN_OK;
    status = atn_buffer_create(p->device, (size_t)p->n_loops * sizeof(int32_t[2]), &p->state);
    for (int32_t k = 0; k < p->n_loops && status == ATN_OK; ++k) {
        const atn_plan_loop *loop = &p->loops[k];
        status = atn_buffer_put(NULL, p->state, (size_t)k * sizeof(int32_t[2]), (const int32_t[2]){1, 0},
                                sizeof(int32_t[2]));
        if (loop->until < 0) continue;
        int32_t flag = atn_plan_root(p->plan, p->plan->nodes[loop->until].from);
        p->slots[flag].buffer = p->state;
        p->slots[flag].offset = 2 * k;
        spread_slot(p, flag, atn_runner_bind);
    }
    return status;
}

atn_status atn_planned_ready(atn_planned *p) {
    atn_status status = give(p);
    return status == ATN_OK ? atn_runner_plan(p->runner) : status;
}

void atn_planned_interpret(atn_planned *p) { atn_runner_interpret(p->runner); }

atn_status atn_planned_build(atn_planned *p, atn_device *device, const atn_variant *variant,
                             const atn_choose_options *options) {
    p->device = device;
    atn_status status = own_arena(p);
    if (status == ATN_OK) status = own_results(p);
    if (status == ATN_OK) status = atn_capture_find(p);
    if (status == ATN_OK) status = own_state(p);
    if (status == ATN_OK) status = atn_planned_ready(p);
    return status == ATN_OK ? atn_runner_build(p->runner, device, variant, options) : status;
}
