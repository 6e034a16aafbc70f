/* The first pass: calls, recursion and counted loops unfolded into kernels over arrays of known sizes. Every assignment
 * makes a new array; at the end of a loop, and of the program, names that were there before take their elements back
 * (MOVE). */
#include "plan/plan.h"

#include "base/compare.h"
#include "base/memory.h"
#include "graph/compose.h"

#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 96, MOST_NODES = 20000, MOST_UNFOLDED = 64, MOST_DATA = 64 };

typedef struct expander {
    atn_plan *plan;
    int32_t depth;
} expander;

/* ---- one kernel ---- */

typedef struct step_names {
    const char *reads[MOST_DATA], *writes[MOST_DATA], *parameters[MOST_DATA], *held[MOST_DATA];
    int64_t sizes[MOST_DATA][ATN_MAX_RANK];
    atn_view views[MOST_DATA];
    double params[MOST_DATA][2];
} step_names;

/* A scalar of the program given by its name; -1: something else. */
static int32_t scalar_named(const atn_plan_frame *frame, const atn_syntax *tree) {
    int32_t at = tree && tree->kind == ATN_SYNTAX_NAME ? atn_routine_find(frame->routine, tree->name) : -1;
    return at < 0 ? -1 : frame->scalar[at];
}

/* The same fixed number; -1: it is new. */
static int32_t scalar_like(const atn_plan *plan, const atn_plan_scalar *fixed) {
    for (int32_t k = 0; k < plan->n_scalars; ++k) {
        const atn_plan_scalar *s = &plan->scalars[k];
        if (s->head < 0 && !s->tree && s->type == fixed->type && atn_same_bits(s->value, fixed->value, sizeof s->value))
            return k;
    }
    return -1;
}

/* The values for the scalars of the kernel. */
static atn_status bind_scalars(expander *e, const atn_callee *callee, const atn_step *step, const atn_plan_frame *frame,
                               step_names *n) {
    atn_plan *plan = e->plan;
    bool decides[MOST_DATA] = {false};
    if (atn_eval_deciding(plan->ctx, callee->graph, decides) != ATN_OK) return atn_plan_no_memory(plan);
    for (int32_t k = 0; k < callee->n; ++k) {
        const atn_datum_use *datum = &callee->data[k];
        const atn_operand *operand = &step->operand[k];
        if (datum->rank) continue;
        n->parameters[datum->index] = datum->name;
        n->held[datum->index] = NULL;
        if (operand->name >= 0) {
            if (decides[datum->index])
                return atn_fail(
                    plan->ctx, ATN_ERR_UNSUPPORTED,
                    "%s:%d:%d: '%s' of '%s' decides which elements are touched; it must be known before the "
                    "run",
                    plan->programs->file, step->at.line, step->at.column, datum->name, callee->name);
            n->held[datum->index] = plan->arrays[frame->array[operand->name]].name;
            continue;
        }
        atn_plan_scalar scalar = {.type = datum->type, .head = -1};
        int32_t known = scalar_named(frame, operand->tree);
        if (!operand->tree) {
            memcpy(scalar.value, datum->default_value, sizeof scalar.value);
            known = scalar_like(plan, &scalar);
        } else if (known < 0) {
            atn_status status = atn_plan_known(plan, frame, operand->tree, decides[datum->index], &scalar.value[0]);
            if (status != ATN_OK) return status;
            if (operand->tree->kind == ATN_SYNTAX_INTEGER || operand->tree->kind == ATN_SYNTAX_NUMBER) {
                known = scalar_like(plan, &scalar);
            } else {
                scalar.tree = operand->tree;
                scalar.frame = frame;
            }
        }
        if (known < 0) known = atn_plan_add_scalar(plan, datum->name, scalar);
        if (known < 0) return atn_plan_no_memory(plan);
        atn_status decided = decides[datum->index] ? atn_plan_decides(plan, known) : ATN_OK;
        if (decided != ATN_OK) return decided;
        if (plan->scalars[known].type != datum->type) { /* the same number in the kernel's own type */
            atn_plan_scalar other = plan->scalars[known];
            other.type = datum->type;
            int32_t converted = atn_plan_add_scalar(plan, datum->name, other);
            if (converted < 0) return atn_plan_no_memory(plan);
            known = converted;
        }
        n->parameters[datum->index] = plan->scalars[known].name;
        memcpy(n->params[datum->index], plan->scalars[known].value, sizeof *n->params);
    }
    return ATN_OK;
}

static atn_status declared_size(expander *e, const atn_plan_frame *frame, const atn_datum_use *use,
                                int64_t size[ATN_MAX_RANK]) {
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis) { /* columns come last */
        double number = 1;
        atn_status status =
            axis < use->rank ? atn_plan_known(e->plan, frame, use->size[use->rank - 1 - axis], true, &number) : ATN_OK;
        if (status != ATN_OK) return status;
        if (!(number >= 0 && number < 0x1p53))
            return atn_fail(e->plan->ctx, ATN_ERR_INPUT, "%s: '%s' would have %g elements along an axis",
                            frame->routine->name, use->name, number);
        size[axis] = (int64_t)number;
    }
    return ATN_OK;
}

/* The size of a result: declared, the caller's, that of the value before it, or what the kernel reaches. */
static atn_status result_size(expander *e, const atn_callee *callee, const atn_step *step, const atn_plan_frame *frame,
                              int32_t name, int32_t object, step_names *n) {
    atn_plan *plan = e->plan;
    const atn_datum_use *use = &frame->routine->names[name];
    if (frame->array[name] >= 0)
        memcpy(n->sizes[object], plan->arrays[frame->array[name]].size, sizeof n->sizes[object]);
    else if (frame->size[name][0] >= 0)
        memcpy(n->sizes[object], frame->size[name], sizeof n->sizes[object]);
    else if (use->size[0]) {
        atn_status status = declared_size(e, frame, use, n->sizes[object]);
        if (status != ATN_OK) return status;
    } else {
        const atn_bindings known = {.views = n->views, .params = (const double(*)[2])n->params};
        atn_status status = atn_eval_reach(plan->ctx, callee->graph, &known, object, n->sizes[object]);
        if (status != ATN_OK)
            return atn_fail_within(plan->ctx, status,
                                   "%s:%d:%d: the size of '%s' cannot be known; declare it: %s: %s %s[...]",
                                   plan->programs->file, step->at.line, step->at.column, use->name, use->name,
                                   atn_rank_name(use->rank), atn_type_name(use->type));
    }
    atn_view *view = &n->views[object];
    view->size[0] = view->pitch = n->sizes[object][0];
    memcpy(view->size, n->sizes[object], sizeof view->size);
    return ATN_OK;
}

static atn_status expand_kernel(expander *e, const atn_step *step, atn_plan_frame *frame) {
    atn_plan *plan = e->plan;
    const atn_callee *callee = &plan->programs->callees[step->callee];
    const atn_graph *graph = callee->graph;
    if (graph->n_objects > MOST_DATA || graph->n_parameters > MOST_DATA || plan->n_nodes >= MOST_NODES)
        return atn_fail(plan->ctx, ATN_ERR_UNSUPPORTED, "%s: more than %d steps, or %d arrays of one kernel",
                        plan->programs->file, (int)MOST_NODES, (int)MOST_DATA);
    step_names n = {0};
    int32_t becomes[MOST_DATA];
    atn_status status = bind_scalars(e, callee, step, frame, &n);
    for (int32_t k = 0; k < graph->n_objects; ++k) {
        n.reads[k] = n.writes[k] = graph->objects[k].name;
        n.views[k] = atn_view_unsized(graph->objects[k].type, graph->objects[k].rank);
    }
    for (int32_t k = 0; k < callee->n && status == ATN_OK; ++k) { /* what comes in */
        const atn_datum_use *datum = &callee->data[k];
        int32_t array = datum->rank ? frame->array[step->operand[k].name] : -1;
        if (!datum->rank || (array < 0 && datum->use == ATN_USE_OUT)) continue;
        if (array < 0)
            return atn_fail(plan->ctx, ATN_ERR_INPUT, "%s:%d:%d: '%s' has no value yet", plan->programs->file,
                            step->at.line, step->at.column, frame->routine->names[step->operand[k].name].name);
        const atn_plan_array *a = &plan->arrays[array];
        n.reads[datum->index] = n.writes[datum->index] = a->name;
        if (datum->use == ATN_USE_OUT) continue; /* its size is found below */
        memcpy(n.sizes[datum->index], a->size, sizeof a->size);
        n.views[datum->index] = (atn_view){.type = a->type, .rank = a->rank, .pitch = a->size[0]};
        memcpy(n.views[datum->index].size, a->size, sizeof a->size);
    }
    for (int32_t k = 0; k < callee->n && status == ATN_OK; ++k) { /* what goes out */
        const atn_datum_use *datum = &callee->data[k];
        becomes[k] = -1;
        if (!datum->rank || datum->use == ATN_USE_IN) continue;
        int32_t name = step->operand[k].name, now = frame->array[name];
        const char *called = frame->routine->names[name].name;
        if (datum->use == ATN_USE_OUT) status = result_size(e, callee, step, frame, name, datum->index, &n);
        if (status != ATN_OK) return status;
        const atn_bindings known = {.views = n.views, .params = (const double(*)[2])n.params};
        bool whole;
        status = atn_plan_covers(plan->ctx, graph, &known, datum->index, &whole);
        if (status != ATN_OK) return status;
        bool in_place = datum->use == ATN_USE_INOUT ? !whole : now >= 0 && !whole && frame->routine->by_names;
        if (in_place) continue;
        becomes[k] = atn_plan_add_array(plan, called, datum->type, datum->rank, n.sizes[datum->index]);
        if (becomes[k] < 0) return atn_plan_no_memory(plan);
        n.writes[datum->index] = plan->arrays[becomes[k]].name;
        if (datum->use == ATN_USE_OUT) n.reads[datum->index] = n.writes[datum->index];
    }
    if (status != ATN_OK) return status;
    const atn_part part = {.graph = graph,
                           .reads = n.reads,
                           .writes = n.writes,
                           .parameters = n.parameters,
                           .held = n.held,
                           .sizes = (const int64_t(*)[ATN_MAX_RANK])n.sizes};
    atn_plan_node *node = atn_plan_add_node(plan, ATN_NODE_STEP);
    if (!node) return atn_plan_no_memory(plan);
    status = atn_graph_compose(plan->ctx, callee->name, NULL, &part, &node->graph);
    if (status != ATN_OK) {
        node->kind = ATN_NODE_GONE;
        return atn_fail_within(plan->ctx, status, "%s:%d:%d: %s", plan->programs->file, step->at.line, step->at.column,
                               callee->name);
    }
    if (!memcmp(&node->graph->hash, &graph->hash, sizeof graph->hash)) node->like = graph;
    node->kernel = graph;
    node->whole = callee->whole;
    for (int32_t k = 0; k < callee->n; ++k)
        if (becomes[k] >= 0) frame->array[step->operand[k].name] = becomes[k];
    return ATN_OK;
}

/* ---- calls, loops, branches ---- */

static atn_status expand_steps(expander *e, const atn_step *steps, atn_plan_frame *frame);

static atn_plan_frame *new_frame(atn_plan *plan, const atn_routine *routine) {
    atn_plan_frame *frame = atn_arena_alloc(&plan->arena, sizeof *frame);
    if (!frame) return NULL;
    frame->routine = routine;
    frame->array = atn_arena_alloc(&plan->arena, ((size_t)routine->n + 1) * sizeof *frame->array);
    frame->scalar = atn_arena_alloc(&plan->arena, ((size_t)routine->n + 1) * sizeof *frame->scalar);
    frame->size = atn_arena_alloc(&plan->arena, ((size_t)routine->n + 1) * sizeof *frame->size);
    if (!frame->array || !frame->scalar || !frame->size) return NULL;
    for (int32_t k = 0; k < routine->n; ++k) {
        frame->array[k] = frame->scalar[k] = -1;
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis) frame->size[k][axis] = -1;
    }
    return frame;
}

/* What the callee's result is declared as, if it is. */
static atn_status result_declared(expander *e, const atn_plan_frame *frame, int32_t name, int64_t size[ATN_MAX_RANK]) {
    const atn_datum_use *use = &frame->routine->names[name];
    if (use->size[0]) return declared_size(e, frame, use, size);
    memcpy(size, frame->size[name], sizeof *frame->size);
    return ATN_OK;
}

static atn_status expand_routine(expander *e, const atn_step *step, atn_plan_frame *outer) {
    atn_plan *plan = e->plan;
    const atn_routine *routine = plan->programs->routines[step->callee];
    if (e->depth == MOST_DEPTH)
        return atn_fail(plan->ctx, ATN_ERR_INPUT,
                        "%s:%d:%d: '%s' still calls itself %d calls deep; its arrays must shrink until an 'if' ends it",
                        plan->programs->file, step->at.line, step->at.column, routine->name, (int)MOST_DEPTH);
    atn_plan_frame *frame = new_frame(plan, routine);
    if (!frame) return atn_plan_no_memory(plan);
    for (int32_t k = 0; k < routine->n_head; ++k) {
        const atn_datum_use *use = &routine->names[k];
        const atn_operand *operand = &step->operand[k];
        if (use->rank) {
            frame->array[k] = outer->array[operand->name];
            atn_status status = frame->array[k] < 0 ? result_declared(e, outer, operand->name, frame->size[k]) : ATN_OK;
            if (status != ATN_OK) return status;
            continue;
        }
        atn_plan_scalar scalar = {.type = use->type, .head = -1};
        int32_t known = operand->name < 0 ? scalar_named(outer, operand->tree) : -1;
        if (known >= 0 && plan->scalars[known].type == use->type) { /* the same number by another name */
            frame->scalar[k] = known;
            continue;
        }
        if (operand->name >= 0)
            return atn_fail(plan->ctx, ATN_ERR_UNSUPPORTED,
                            "%s:%d:%d: '%s' of the program '%s' must be known before the run; pass a vector of one "
                            "element",
                            plan->programs->file, step->at.line, step->at.column, use->name, routine->name);
        memcpy(scalar.value, use->default_value, sizeof scalar.value);
        if (operand->tree) {
            scalar.tree = operand->tree;
            scalar.frame = outer;
            atn_status status = atn_plan_known(plan, outer, operand->tree, false, &scalar.value[0]);
            if (status != ATN_OK) return status;
        }
        frame->scalar[k] = atn_plan_add_scalar(plan, use->name, scalar);
        if (frame->scalar[k] < 0) return atn_plan_no_memory(plan);
    }
    ++e->depth;
    atn_status status = expand_steps(e, routine->steps, frame);
    --e->depth;
    for (int32_t k = 0; k < routine->n_head && status == ATN_OK; ++k)
        if (routine->names[k].rank && routine->names[k].use != ATN_USE_IN)
            outer->array[step->operand[k].name] = frame->array[k];
    return status;
}

/* Names that had elements before take those of their last values. */
static atn_status move_back(expander *e, const atn_plan_frame *frame, const int32_t *before) {
    for (int32_t k = 0; k < frame->routine->n; ++k) {
        if (before[k] < 0 || frame->array[k] == before[k]) continue;
        atn_plan_node *node = atn_plan_add_node(e->plan, ATN_NODE_MOVE);
        if (!node) return atn_plan_no_memory(e->plan);
        node->from = frame->array[k];
        node->to = before[k];
        frame->array[k] = before[k];
    }
    return ATN_OK;
}

static int32_t *copy_of(atn_plan *plan, const atn_plan_frame *frame) {
    int32_t *copy = atn_arena_alloc(&plan->arena, ((size_t)frame->routine->n + 1) * sizeof *copy);
    if (copy) memcpy(copy, frame->array, (size_t)frame->routine->n * sizeof *copy);
    return copy;
}

/* Steps of a condition that nothing in the loop changes are done once, in front of it. */
static bool changes(const expander *e, const atn_step *steps, int32_t name) {
    for (const atn_step *step = steps; step; step = step->next) {
        const atn_programs *p = e->plan->programs;
        bool kernel = step->kind == ATN_STEP_KERNEL, routine = step->kind == ATN_STEP_ROUTINE;
        int32_t n = kernel ? p->callees[step->callee].n : routine ? p->routines[step->callee]->n_head : 0;
        const atn_datum_use *data = kernel    ? p->callees[step->callee].data
                                    : routine ? p->routines[step->callee]->names
                                              : NULL;
        for (int32_t k = 0; k < n; ++k)
            if (data[k].rank && data[k].use != ATN_USE_IN && step->operand[k].name == name) return true;
        if (step->counter == name || changes(e, step->before, name) || changes(e, step->child, name) ||
            changes(e, step->otherwise, name))
            return true;
    }
    return false;
}

static bool is_fixed(const expander *e, const atn_step *step, const atn_step *loop) {
    const atn_callee *callee = step->kind == ATN_STEP_KERNEL ? &e->plan->programs->callees[step->callee] : NULL;
    for (int32_t k = 0; callee && k < callee->n; ++k) {
        int32_t name = callee->data[k].rank || step->operand[k].name >= 0 ? step->operand[k].name : -1;
        if (name < 0) continue;
        if (callee->data[k].use == ATN_USE_OUT && callee->data[k].rank
                ? changes(e, loop->child, name)
                : callee->data[k].use == ATN_USE_INOUT || changes(e, loop->child, name) ||
                      changes(e, loop->before, name))
            return false;
    }
    return callee != NULL;
}

/* How often a loop is repeated, or may be at most. */
static atn_status rounds_of(expander *e, const atn_step *loop, const atn_plan_frame *frame, int64_t *rounds) {
    const atn_plan *plan = e->plan;
    double number = 0;
    atn_status status = atn_plan_known(e->plan, frame, loop->tree, true, &number);
    if (status != ATN_OK) return status;
    if (!(number >= 0 && number < 0x1p31))
        return atn_fail(plan->ctx, ATN_ERR_INPUT,
                        loop->kind == ATN_STEP_WHILE
                            ? "%s:%d:%d: at most %g rounds; it is a number from 0 to below 2^31"
                            : "%s:%d:%d: repeated %g times; it is a number from 0 to below 2^31",
                        plan->programs->file, loop->at.line, loop->at.column, number);
    *rounds = (int64_t)number;
    return ATN_OK;
}

/* The steps of a loop whose LOOP is at `begin`, and its END. */
static atn_status expand_round(expander *e, const atn_step *loop, atn_plan_frame *frame, const int32_t *before,
                               int32_t begin) {
    atn_plan *plan = e->plan;
    atn_status status = expand_steps(e, loop->child, frame);
    if (status == ATN_OK) status = move_back(e, frame, before);
    if (status != ATN_OK) return status;
    atn_plan_node *node = atn_plan_add_node(plan, ATN_NODE_END);
    if (!node) return atn_plan_no_memory(plan);
    node->match = begin;
    plan->nodes[begin].match = plan->n_nodes - 1;
    return ATN_OK;
}

static atn_status expand_while(expander *e, const atn_step *loop, atn_plan_frame *frame) {
    atn_plan *plan = e->plan;
    int64_t most = 0;
    atn_status status = rounds_of(e, loop, frame, &most);
    if (status != ATN_OK) return status;
    atn_step *again = NULL, **last = &again;
    for (const atn_step *step = loop->before; step && status == ATN_OK; step = step->next) {
        atn_step *alone = atn_arena_alloc(&plan->arena, sizeof *alone);
        if (!alone) return atn_plan_no_memory(plan);
        *alone = *step;
        alone->next = NULL;
        if (is_fixed(e, alone, loop)) {
            status = expand_steps(e, alone, frame);
        } else {
            *last = alone;
            last = &alone->next;
        }
    }
    if (status != ATN_OK) return status;
    if (loop->counter >= 0) {
        frame->array[loop->counter] = atn_plan_add_array(plan, frame->routine->names[loop->counter].name, ATN_INT32, 1,
                                                         (const int64_t[ATN_MAX_RANK]){1, 1, 1});
        if (frame->array[loop->counter] < 0) return atn_plan_no_memory(plan);
    }
    int32_t *before = copy_of(plan, frame), begin = plan->n_nodes;
    atn_plan_node *node = before ? atn_plan_add_node(plan, ATN_NODE_LOOP) : NULL;
    if (!node) return atn_plan_no_memory(plan);
    node->most = most;
    if (loop->counter >= 0) node->to = frame->array[loop->counter];
    status = expand_steps(e, again, frame);
    if (status != ATN_OK) return status;
    if (!(node = atn_plan_add_node(plan, ATN_NODE_UNTIL))) return atn_plan_no_memory(plan);
    node->from = frame->array[loop->condition];
    node->match = begin;
    return expand_round(e, loop, frame, before, begin);
}

static atn_status expand_repeat(expander *e, const atn_step *loop, atn_plan_frame *frame) {
    atn_plan *plan = e->plan;
    int64_t count = 0;
    atn_status status = rounds_of(e, loop, frame, &count);
    if (status != ATN_OK) return status;
    if (count <= MOST_UNFOLDED) {
        for (int64_t k = 0; k < count && status == ATN_OK; ++k) status = expand_steps(e, loop->child, frame);
        return status;
    }
    status = expand_steps(e, loop->child, frame); /* the first by itself: what it makes has a place then */
    int32_t *before = copy_of(plan, frame), begin = plan->n_nodes;
    if (status != ATN_OK || !before) return status != ATN_OK ? status : atn_plan_no_memory(plan);
    atn_plan_node *node = atn_plan_add_node(plan, ATN_NODE_LOOP);
    if (!node) return atn_plan_no_memory(plan);
    node->most = count - 1;
    return expand_round(e, loop, frame, before, begin);
}

static bool same_size(const atn_plan *plan, int32_t a, int32_t b) {
    return !memcmp(plan->arrays[a].size, plan->arrays[b].size, sizeof plan->arrays[a].size);
}

/* Decided on the device: either way, names end in the same arrays. */
static atn_status expand_choice(expander *e, const atn_step *step, atn_plan_frame *frame) {
    atn_plan *plan = e->plan;
    int32_t *before = copy_of(plan, frame), begin = plan->n_nodes;
    atn_plan_node *node = before ? atn_plan_add_node(plan, ATN_NODE_IF) : NULL;
    if (!node) return atn_plan_no_memory(plan);
    node->from = frame->array[step->condition];
    atn_status status = expand_steps(e, step->child, frame);
    if (status == ATN_OK) status = move_back(e, frame, before);
    int32_t *first = status == ATN_OK ? copy_of(plan, frame) : NULL, middle = plan->n_nodes;
    if (!first || !atn_plan_add_node(plan, ATN_NODE_ELSE)) return status != ATN_OK ? status : atn_plan_no_memory(plan);
    memcpy(frame->array, before, (size_t)frame->routine->n * sizeof *before);
    status = expand_steps(e, step->otherwise, frame);
    if (status == ATN_OK) status = move_back(e, frame, before);
    for (int32_t k = 0; k < frame->routine->n && status == ATN_OK; ++k) {
        if (first[k] >= 0 && frame->array[k] >= 0 && first[k] != frame->array[k] &&
            !same_size(plan, first[k], frame->array[k]))
            return atn_fail(plan->ctx, ATN_ERR_INPUT, "%s:%d:%d: '%s' has another size in the two branches",
                            plan->programs->file, step->at.line, step->at.column, frame->routine->names[k].name);
        if (first[k] >= 0 && frame->array[k] < 0) frame->array[k] = first[k];
    }
    if (status == ATN_OK) status = move_back(e, frame, first);
    if (status != ATN_OK) return status;
    if (!(node = atn_plan_add_node(plan, ATN_NODE_FI))) return atn_plan_no_memory(plan);
    node->match = begin;
    plan->nodes[begin].match = middle;
    plan->nodes[middle].match = plan->n_nodes - 1;
    return ATN_OK;
}

static atn_status expand_steps(expander *e, const atn_step *steps, atn_plan_frame *frame) {
    atn_status status = ATN_OK;
    for (const atn_step *step = steps; step && status == ATN_OK; step = step->next) {
        if ((status = atn_check_cancel(e->plan->ctx)) != ATN_OK) break;
        double known = 0;
        switch (step->kind) {
        case ATN_STEP_KERNEL:
            status = expand_kernel(e, step, frame);
            break;
        case ATN_STEP_ROUTINE:
            status = expand_routine(e, step, frame);
            break;
        case ATN_STEP_REPEAT:
            status = expand_repeat(e, step, frame);
            break;
        case ATN_STEP_WHILE:
            status = expand_while(e, step, frame);
            break;
        case ATN_STEP_IF:
            if (!step->tree) {
                status = expand_choice(e, step, frame);
                break;
            }
            status = atn_plan_known(e->plan, frame, step->tree, true, &known);
            if (status == ATN_OK) status = expand_steps(e, known != 0 ? step->child : step->otherwise, frame);
            break;
        }
    }
    return status;
}

/* ---- the whole ---- */

static atn_status begin_main(atn_plan *plan, const atn_plan_given *given) {
    const atn_routine *routine = plan->main.routine;
    for (int32_t k = 0; k < routine->n_head; ++k) {
        const atn_datum_use *use = &routine->names[k];
        if (use->rank) {
            if (given->size[k][0] < 0 && use->use == ATN_USE_OUT) continue; /* takes what is reached */
            if (given->size[k][0] < 0)
                return atn_fail(plan->ctx, ATN_ERR_INPUT, "%s: nothing is bound to '%s', a %s of %s", routine->name,
                                use->name, atn_rank_name(use->rank), atn_type_name(use->type));
            int32_t array = atn_plan_add_array(plan, use->name, use->type, use->rank, given->size[k]);
            if (array < 0) return atn_plan_no_memory(plan);
            plan->arrays[array].head = k;
            plan->main.array[k] = array;
        } else {
            plan->main.scalar[k] =
                atn_plan_add_scalar(plan, use->name, (atn_plan_scalar){.type = use->type, .head = k});
            if (plan->main.scalar[k] < 0) return atn_plan_no_memory(plan);
            memcpy(plan->scalars[plan->main.scalar[k]].value, given->value[k], sizeof *given->value);
        }
    }
    return ATN_OK;
}

/* Unbound results are arrays of the plan that the caller may request. */
static void end_main(atn_plan *plan, const atn_plan_frame *frame) {
    for (int32_t k = 0; k < frame->routine->n_head; ++k)
        if (frame->routine->names[k].rank && plan->main.array[k] < 0 && frame->array[k] >= 0) {
            plan->main.array[k] = frame->array[k];
            plan->arrays[frame->array[k]].head = k;
        }
}

atn_status atn_plan_expand(const atn_ctx *ctx, const atn_programs *programs, const atn_plan_given *given,
                           atn_plan **out) {
    *out = NULL;
    atn_plan *plan = atn_zalloc(ctx, sizeof *plan);
    if (!plan) return ATN_ERR_MEMORY;
    plan->ctx = ctx;
    plan->arena.ctx = ctx;
    plan->programs = programs;
    const atn_routine *routine = programs->routines[programs->main];
    atn_plan_frame *main = new_frame(plan, routine), *frame = main ? new_frame(plan, routine) : NULL;
    atn_status status = frame ? ATN_OK : atn_plan_no_memory(plan);
    if (status == ATN_OK) {
        plan->main = *main;
        status = begin_main(plan, given);
    }
    expander e = {.plan = plan};
    if (status == ATN_OK) {
        memcpy(frame->array, plan->main.array, (size_t)routine->n * sizeof *frame->array);
        memcpy(frame->scalar, plan->main.scalar, (size_t)routine->n * sizeof *frame->scalar);
        for (int32_t k = 0; k < routine->n_head; ++k) /* sizes are known, elements are not */
            if (routine->names[k].use == ATN_USE_OUT && routine->names[k].rank && given->size[k][0] >= 0)
                frame->array[k] = plan->main.array[k];
        status = expand_steps(&e, routine->steps, frame);
    }
    if (status == ATN_OK) {
        end_main(plan, frame);
        status = move_back(&e, frame, plan->main.array);
    }
    if (status == ATN_OK)
        *out = plan;
    else
        atn_plan_free(plan);
    return status;
}
