/* A plan on a device, or on the oracle: nodes one after the other. */
#include "plan/run.h"

#include "base/memory.h"
#include "base/size.h"

#include <stdio.h>
#include <string.h>

/* Steps in a row, kept as one launch. */
typedef struct row {
    int32_t begin, end; /* nodes */
    int32_t steps;
    bool ran, refused;
    atn_tape *tape;
} row;

struct atn_planned {
    const atn_ctx *ctx;
    atn_plan *plan;
    atn_sequence sequence; /* of the plan's own graphs */
    atn_runner *runner;
    atn_device *device;
    atn_buffer *arena;
    int32_t *object;      /* per array: of the runner; -1: no step has it */
    atn_slot *slots;      /* per array */
    bool *bound;          /* per array: by the caller */
    atn_buffer **results; /* those that nobody bound */
    int32_t n_results;
    row *rows;
    int32_t n_rows;
    void **memory; /* the oracle's, per array */
    int32_t n_memory;
    int64_t *rounds; /* per node: of a LOOP, so far */
    char note[256];
};

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

static atn_status find_rows(atn_planned *p) {
    const atn_plan *plan = p->plan;
    p->rows = atn_arena_alloc(&p->plan->arena, ((size_t)plan->n_nodes + 1) * sizeof *p->rows);
    if (!p->rows) return atn_plan_no_memory(plan);
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        atn_node_kind kind = plan->nodes[k].kind;
        bool fits = kind == ATN_NODE_STEP || kind == ATN_NODE_GONE;
        row *last = p->n_rows ? &p->rows[p->n_rows - 1] : NULL;
        if (!fits) continue;
        if (last && last->end == k)
            last->end = k + 1;
        else
            *(last = &p->rows[p->n_rows++]) = (row){.begin = k, .end = k + 1};
        last->steps += kind == ATN_NODE_STEP;
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
    p->results = atn_arena_alloc(&plan->arena, arrays * sizeof(void *));
    p->memory = atn_arena_alloc(&plan->arena, arrays * sizeof *p->memory);
    p->rounds = atn_arena_alloc(&plan->arena, ((size_t)plan->n_nodes + 1) * sizeof *p->rounds);
    atn_status status = p->object && p->slots && p->bound && p->results && p->memory && p->rounds
                            ? number_steps(p)
                            : atn_plan_no_memory(plan);
    if (status == ATN_OK) status = find_rows(p);
    if (status == ATN_OK) status = atn_runner_create(ctx, &p->sequence, &p->runner);
    if (status == ATN_OK) {
        describe_slots(p);
        *out = p;
    } else {
        atn_planned_free(p);
    }
    return status;
}

static void forget_rows(atn_planned *p) {
    for (int32_t k = 0; k < p->n_rows; ++k) {
        atn_tape_free(p->rows[k].tape);
        p->rows[k].tape = NULL;
        p->rows[k].ran = false;
    }
}

void atn_planned_free(atn_planned *p) {
    if (!p) return;
    forget_rows(p);
    atn_runner_free(p->runner);
    atn_buffer_free(p->arena);
    for (int32_t k = 0; k < p->n_results; ++k) atn_buffer_free(p->results[k]);
    for (int32_t k = 0; k < p->n_memory; ++k) atn_free(p->ctx, p->memory[k]);
    atn_plan_free(p->plan);
    atn_free(p->ctx, p);
}

atn_plan *atn_planned_plan(const atn_planned *p) { return p->plan; }
atn_runner *atn_planned_runner(const atn_planned *p) { return p->runner; }
const char *atn_planned_note(const atn_planned *p) { return *p->note ? p->note : NULL; }

/* ---- arrays ---- */

/* All that lies in `array`, by other names too. */
static void spread_slot(atn_planned *p, int32_t array, void (*bind)(atn_runner *, int32_t, const atn_slot *)) {
    for (int32_t k = 0; k < p->plan->n_arrays; ++k) {
        if (atn_plan_root(p->plan, k) != array) continue;
        if (k != array) p->slots[k] = p->slots[array];
        if (p->object[k] >= 0) bind(p->runner, p->object[k], &p->slots[k]);
    }
}

void atn_planned_bind(atn_planned *p, int32_t head, const atn_slot *slot) {
    int32_t array = p->plan->main.array[head];
    if (array < 0) return;
    p->slots[array] = *slot;
    p->bound[array] = true;
    spread_slot(p, array, p->device ? atn_runner_rebind : atn_runner_bind);
    forget_rows(p);
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
    forget_rows(p);
    return status;
}

/* Results that nobody bound, also those that no step writes itself: the counter of a loop, or what lies there by
 * another name. */
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

atn_status atn_planned_ready(atn_planned *p) {
    atn_status status = give(p);
    return status == ATN_OK ? atn_runner_plan(p->runner) : status;
}

atn_status atn_planned_build(atn_planned *p, atn_device *device, const atn_variant *variant,
                             const atn_choose_options *options) {
    p->device = device;
    atn_status status = own_arena(p);
    if (status == ATN_OK) status = own_results(p);
    if (status == ATN_OK) status = atn_planned_ready(p);
    return status == ATN_OK ? atn_runner_build(p->runner, device, variant, options) : status;
}

/* ---- running ---- */

static atn_status run_steps(const atn_planned *p, const row *r) {
    atn_status status = ATN_OK;
    for (int32_t k = r->begin; k < r->end && status == ATN_OK; ++k)
        if (p->plan->nodes[k].kind == ATN_NODE_STEP) status = atn_runner_run_step(p->runner, p->plan->nodes[k].step);
    return status;
}

/* Nothing is run. Leaves no tape where there are none on this device, or where a step waits. */
static atn_status keep(const atn_planned *p, row *r) {
    atn_queue *queue = atn_device_queue(p->device);
    atn_status status = atn_tape_begin(queue);
    if (status == ATN_OK) {
        status = run_steps(p, r);
        atn_status ended = atn_tape_end(queue, &r->tape);
        if (status == ATN_OK) status = ended;
    }
    if (status == ATN_OK) return ATN_OK;
    atn_tape_free(r->tape);
    r->tape = NULL;
    r->refused = true;
    return status == ATN_ERR_MEMORY || status == ATN_ERR_LOST ? status : ATN_OK;
}

static atn_status run_row(atn_planned *p, int32_t node, int32_t *next) {
    row *r = p->rows;
    while (r->begin != node) ++r;
    *next = r->end;
    if (r->steps > 1 && r->ran && !r->tape && !r->refused) {
        atn_status status = keep(p, r);
        if (status != ATN_OK) return status;
    }
    if (r->tape) return atn_tape_launch(atn_device_queue(p->device), r->tape);
    r->ran = true;
    return run_steps(p, r);
}

/* Steps, or the oracle's: the rest is the same for both. */
typedef struct walk {
    atn_planned *p;
    bool oracle;
    int64_t *bad;
} walk;

static atn_status look(const walk *w, int32_t array, int32_t *value) {
    const atn_slot *slot = &w->p->slots[atn_plan_root(w->p->plan, array)];
    if (w->oracle) {
        memcpy(value, slot->view.data, sizeof *value);
        return ATN_OK;
    }
    return atn_buffer_get(NULL, slot->buffer, (size_t)slot->offset * sizeof *value, value, sizeof *value);
}

static atn_status count_in(const walk *w, int32_t array, int64_t rounds) {
    const atn_slot *slot = &w->p->slots[atn_plan_root(w->p->plan, array)];
    int32_t value = (int32_t)rounds;
    if (w->oracle) {
        memcpy(slot->view.data, &value, sizeof value);
        return ATN_OK;
    }
    if (!slot->buffer) return ATN_OK; /* a result that nobody bound, and no step reads */
    return atn_buffer_put(NULL, slot->buffer, (size_t)slot->offset * sizeof value, &value, sizeof value);
}

static void move(const walk *w, const atn_plan_node *node) {
    const atn_view *from = &w->p->slots[node->from].view, *to = &w->p->slots[node->to].view;
    int64_t rows = atn_view_rows(from);
    for (int64_t y = 0; y < rows; ++y)
        memcpy(atn_view_at(to, 0, y), atn_view_at(from, 0, y), (size_t)from->size[0] * atn_type_bytes(from->type));
}

static atn_status leave(const walk *w, int32_t begin, int32_t *next) {
    const atn_plan_node *loop = &w->p->plan->nodes[begin];
    *next = loop->match + 1;
    return loop->to >= 0 ? count_in(w, loop->to, w->p->rounds[begin]) : ATN_OK;
}

static atn_status follow(const walk *w, int32_t at, int32_t *next) {
    atn_planned *p = w->p;
    const atn_plan_node *node = &p->plan->nodes[at];
    int32_t value = 0;
    atn_status status = ATN_OK;
    *next = at + 1;
    switch (node->kind) {
    case ATN_NODE_STEP:
        return w->oracle ? atn_runner_eval_step(p->runner, node->step, w->bad) : run_row(p, at, next);
    case ATN_NODE_GONE:
        return w->oracle ? ATN_OK : run_row(p, at, next);
    case ATN_NODE_MOVE:
        move(w, node);
        return ATN_OK;
    case ATN_NODE_LOOP:
        p->rounds[at] = 0;
        return node->most ? ATN_OK : leave(w, at, next);
    case ATN_NODE_UNTIL:
        status = look(w, node->from, &value);
        if (status != ATN_OK || value == 1) return status;
        if (value == 2)
            snprintf(p->note, sizeof p->note, "the loop ended after %lld rounds at a value that is no number",
                     (long long)p->rounds[node->match]);
        return leave(w, node->match, next);
    case ATN_NODE_END: {
        const atn_plan_node *loop = &p->plan->nodes[node->match];
        if (++p->rounds[node->match] < loop->most) {
            *next = node->match + 1;
            return atn_check_cancel(p->ctx);
        }
        bool open = false; /* its condition was not met */
        for (int32_t k = node->match; k < at && !open; ++k)
            open = p->plan->nodes[k].kind == ATN_NODE_UNTIL && p->plan->nodes[k].match == node->match;
        if (open)
            snprintf(p->note, sizeof p->note, "the loop was left after %lld rounds, as many as it may take",
                     (long long)loop->most);
        return leave(w, node->match, next);
    }
    case ATN_NODE_IF:
        status = look(w, node->from, &value);
        if (status == ATN_OK && value != 1) *next = node->match + 1;
        return status;
    case ATN_NODE_ELSE:
        *next = node->match + 1;
        return ATN_OK;
    case ATN_NODE_FI:
        return ATN_OK;
    }
    return ATN_OK;
}

static atn_status walk_nodes(atn_planned *p, bool oracle, int64_t *bad) {
    walk w = {.p = p, .oracle = oracle, .bad = bad};
    atn_status status = ATN_OK;
    *p->note = '\0';
    for (int32_t at = 0, next; at < p->plan->n_nodes && status == ATN_OK; at = next) status = follow(&w, at, &next);
    return status;
}

atn_status atn_planned_run(atn_planned *p) { return walk_nodes(p, false, NULL); }

atn_status atn_planned_eval(atn_planned *p, int64_t *bad_accesses) {
    const atn_plan *plan = p->plan;
    atn_status status = ATN_OK;
    *bad_accesses = 0;
    for (int32_t k = 0; k < plan->n_arrays && status == ATN_OK; ++k) {
        atn_view *view = &p->slots[k].view;
        if (!view->data) {
            size_t bytes = (size_t)atn_view_elements(view) * atn_type_bytes(view->type);
            p->memory[p->n_memory] = atn_zalloc(p->ctx, bytes + 16);
            if (!p->memory[p->n_memory]) return ATN_ERR_MEMORY;
            view->data = p->memory[p->n_memory++];
        }
        if (p->object[k] >= 0) atn_runner_bind(p->runner, p->object[k], &p->slots[k]);
    }
    status = atn_planned_ready(p);
    return status == ATN_OK ? walk_nodes(p, true, bad_accesses) : status;
}
