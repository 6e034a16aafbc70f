/* The parts of a plan: arrays, scalars and nodes, and queries on them by the passes. */
#include "plan/plan.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

atn_status atn_plan_no_memory(const atn_plan *plan) { return atn_fail_memory(plan->ctx, 0, "a plan"); }

static bool grow(atn_plan *plan, void **array, int32_t *room, int32_t count, size_t size) {
    if (count < *room) return true;
    int32_t more = *room ? 2 * *room : 32;
    void *grown = atn_arena_alloc(&plan->arena, (size_t)more * size);
    if (!grown) return false;
    if (count) memcpy(grown, *array, (size_t)count * size);
    *array = grown;
    *room = more;
    return true;
}

/* ---- names: by hash, as a long program has thousands that are asked for again and again ---- */

static atn_plan_name *row_of(atn_plan_name *rows, int32_t room, const char *name) {
    uint32_t mask = (uint32_t)room - 1, at = 2166136261u;
    for (const char *c = name; *c; ++c) at = (at ^ (unsigned char)*c) * 16777619u;
    for (at &= mask; rows[at].name && strcmp(rows[at].name, name) != 0;) at = (at + 1) & mask;
    return &rows[at];
}

static atn_plan_name *find_name(const atn_plan *plan, const char *name) {
    atn_plan_name *row = plan->names_room ? row_of(plan->names, plan->names_room, name) : NULL;
    return row && row->name ? row : NULL;
}

static const char *take_name(atn_plan *plan, const char *name, int32_t array) {
    if (2 * plan->n_names >= plan->names_room) {
        int32_t room = plan->names_room ? 2 * plan->names_room : 64;
        atn_plan_name *rows = atn_arena_alloc(&plan->arena, (size_t)room * sizeof *rows);
        if (!rows) return NULL;
        for (int32_t k = 0; k < plan->names_room; ++k)
            if (plan->names[k].name) *row_of(rows, room, plan->names[k].name) = plan->names[k];
        plan->names = rows;
        plan->names_room = room;
    }
    const char *kept = atn_arena_strdup(&plan->arena, name);
    if (!kept) return NULL;
    *row_of(plan->names, plan->names_room, kept) = (atn_plan_name){kept, array, 1};
    ++plan->n_names;
    return kept;
}

int32_t atn_plan_array_find(const atn_plan *plan, const char *name) {
    const atn_plan_name *row = find_name(plan, name);
    return row ? row->array : -1;
}

int32_t atn_plan_array_of(const atn_plan *plan, const atn_graph *graph, int32_t object) {
    return graph->objects[object].table ? -1 : atn_plan_array_find(plan, graph->objects[object].name);
}

int32_t atn_plan_root(const atn_plan *plan, int32_t array) {
    while (array >= 0 && plan->arrays[array].same >= 0) array = plan->arrays[array].same;
    return array;
}

static const char *unique(atn_plan *plan, const char *like, int32_t array) {
    atn_plan_name *row = find_name(plan, like);
    if (!row) return take_name(plan, like, array);
    char name[128];
    int32_t number = row->next;
    do snprintf(name, sizeof name, "%.100s_%d", like, number++);
    while (find_name(plan, name));
    row->next = number;
    return take_name(plan, name, array);
}

int32_t atn_plan_add_array(atn_plan *plan, const char *like, atn_type type, int32_t rank,
                           const int64_t size[ATN_MAX_RANK]) {
    const char *name = unique(plan, like, plan->n_arrays);
    if (!name || !grow(plan, (void **)&plan->arrays, &plan->arrays_room, plan->n_arrays, sizeof *plan->arrays))
        return -1;
    plan->arrays[plan->n_arrays] =
        (atn_plan_array){.name = name, .type = type, .rank = rank, .head = -1, .same = -1, .piece = -1};
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis)
        plan->arrays[plan->n_arrays].size[axis] = axis < rank ? size[axis] : 1;
    return plan->n_arrays++;
}

int32_t atn_plan_add_scalar(atn_plan *plan, const char *like, atn_plan_scalar scalar) {
    scalar.name = unique(plan, like, -1);
    if (!scalar.name || !grow(plan, (void **)&plan->scalars, &plan->scalars_room, plan->n_scalars, sizeof scalar))
        return -1;
    plan->scalars[plan->n_scalars] = scalar;
    return plan->n_scalars++;
}

atn_plan_node *atn_plan_add_node(atn_plan *plan, atn_node_kind kind) {
    if (!grow(plan, (void **)&plan->nodes, &plan->nodes_room, plan->n_nodes, sizeof *plan->nodes)) return NULL;
    atn_plan_node *node = &plan->nodes[plan->n_nodes++];
    *node = (atn_plan_node){.kind = kind, .from = -1, .to = -1, .match = -1, .step = -1};
    return node;
}

void atn_plan_frame_of(const atn_plan *plan, const atn_graph *graph, atn_view *views, double (*params)[2]) {
    for (int32_t k = 0; k < graph->n_objects; ++k) {
        int32_t array = atn_plan_array_of(plan, graph, k);
        if (array < 0) continue;
        const atn_plan_array *a = &plan->arrays[array];
        views[k] = (atn_view){.type = a->type, .rank = a->rank, .pitch = a->size[0]};
        memcpy(views[k].size, a->size, sizeof a->size);
    }
    for (int32_t k = 0; k < graph->n_parameters; ++k)
        for (int32_t s = 0; s < plan->n_scalars; ++s)
            if (!strcmp(plan->scalars[s].name, graph->parameters[k].name))
                memcpy(params[k], plan->scalars[s].value, sizeof *params);
}

void atn_plan_describe(const atn_plan *plan, const atn_graph *graph, atn_plan_part *p) {
    for (int32_t k = 0; k < graph->n_objects; ++k) {
        int32_t array = atn_plan_array_of(plan, graph, k);
        p->names[k] = graph->objects[k].name;
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis)
            p->sizes[k][axis] = array < 0 ? -1 : plan->arrays[array].size[axis];
    }
    for (int32_t k = 0; k < graph->n_parameters; ++k) p->parameters[k] = graph->parameters[k].name;
    p->part = (atn_part){.graph = graph,
                         .reads = p->names,
                         .writes = p->names,
                         .parameters = p->parameters,
                         .sizes = (const int64_t(*)[ATN_MAX_RANK])p->sizes};
}

bool atn_plan_reads(const atn_plan_node *node, const char *array) {
    for (int32_t k = 0; node->kind == ATN_NODE_STEP && k < node->graph->n_objects; ++k)
        if (node->graph->objects[k].read && !strcmp(node->graph->objects[k].name, array)) return true;
    return false;
}

bool atn_plan_writes(const atn_plan_node *node, const char *array) {
    for (int32_t k = 0; node->kind == ATN_NODE_STEP && k < node->graph->n_objects; ++k)
        if (node->graph->objects[k].written && !strcmp(node->graph->objects[k].name, array)) return true;
    return false;
}

atn_status atn_plan_covers(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, int32_t object,
                           bool *covers) {
    const atn_write *only = NULL;
    *covers = false;
    for (int32_t w = 0; w < graph->n_writes; ++w) {
        if (graph->writes[w].object != object) continue;
        if (only) return ATN_OK;
        only = &graph->writes[w];
    }
    if (!only || only->combine != ATN_WRITE_ONCE || only->enable >= 0 || only->block > 0) return ATN_OK;
    bool used[ATN_MAX_DIMS] = {false};
    for (int axis = 0; axis < graph->objects[object].rank; ++axis) {
        const atn_node *node = &graph->values[only->select[axis]];
        int64_t size = frame->views[object].size[axis], begin, end;
        if (node->op == ATN_OP_CONST && node->integer == 0 && size == 1) continue;
        if (node->op != ATN_OP_DIM || only->block != 0 || used[node->index]) return ATN_OK;
        used[node->index] = true;
        atn_status status = atn_eval_index(ctx, graph, frame, graph->dims[node->index].begin, &begin);
        if (status == ATN_OK) status = atn_eval_index(ctx, graph, frame, graph->dims[node->index].end, &end);
        if (status != ATN_OK) return status == ATN_ERR_MEMORY ? status : ATN_OK;
        if (begin != 0 || end != size) return ATN_OK;
    }
    *covers = true;
    return ATN_OK;
}

void atn_plan_free(atn_plan *plan) {
    if (!plan) return;
    const atn_ctx *ctx = plan->ctx;
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        atn_graph_free(ctx, plan->nodes[k].graph);
        atn_graph_free(ctx, plan->nodes[k].own);
    }
    atn_arena_free(&plan->arena);
    atn_free(ctx, plan);
}
