/* The pass that spares copies: what a name takes at the end of a loop, or of the program, is written there at once,
 * where nothing that lies there is still wanted. */
#include "plan/plan.h"

#include <string.h>

static int32_t loop_around(const atn_plan *plan, int32_t node) { /* the innermost LOOP, IF or ELSE; -1: none */
    for (int32_t k = node - 1; k >= 0; --k) {
        const atn_plan_node *n = &plan->nodes[k];
        if (n->kind == ATN_NODE_END || n->kind == ATN_NODE_FI) {
            k = n->match;
            continue;
        }
        if (n->kind == ATN_NODE_LOOP || n->kind == ATN_NODE_IF || n->kind == ATN_NODE_ELSE) return k;
    }
    return -1;
}

static bool touches(const atn_plan *plan, const atn_plan_node *node, int32_t root, bool writes) {
    int32_t from = node->kind == ATN_NODE_STEP || node->kind == ATN_NODE_GONE ? -1 : node->from, to = from;
    if (node->kind == ATN_NODE_MOVE || node->kind == ATN_NODE_LOOP) to = node->to;
    if (!writes && from >= 0 && atn_plan_root(plan, from) == root) return true;
    if (writes && node->kind != ATN_NODE_STEP && to >= 0 && node->kind <= ATN_NODE_LOOP &&
        atn_plan_root(plan, to) == root)
        return true;
    for (int32_t k = 0; node->kind == ATN_NODE_STEP && k < node->graph->n_objects; ++k) {
        const atn_object *object = &node->graph->objects[k];
        if (object->table || !(writes ? object->written : object->read)) continue;
        if (atn_plan_root(plan, atn_plan_array_find(plan, object->name)) == root) return true;
    }
    return false;
}

/* The step that writes `from` reads `to` as well, element by element: then it may work in place, as one array. */
static atn_status work_in_place(atn_plan *plan, atn_plan_node *node, const char *from, const char *to, bool *done) {
    const atn_graph *graph = node->graph;
    atn_plan_part p;
    atn_graph *one;
    *done = false;
    if (graph->n_objects > ATN_PLAN_DATA || graph->n_parameters > ATN_PLAN_DATA) return ATN_OK;
    if (graph->n_blocks > 1) return ATN_OK; /* items that share a sum all read; one of them writes */
    atn_plan_describe(plan, graph, &p);
    for (int32_t k = 0; k < graph->n_objects; ++k)
        if (!strcmp(p.names[k], from)) p.names[k] = to;
    atn_status status = atn_graph_compose(plan->ctx, graph->name, NULL, &p.part, &one);
    if (status != ATN_OK) return status == ATN_ERR_MEMORY ? status : ATN_OK; /* points read what others write */
    atn_graph_free(plan->ctx, node->graph);
    node->graph = one;
    node->like = NULL;
    *done = true;
    return ATN_OK;
}

/* By which name the step has what lies in `root`; NULL: none, or several. */
static const char *only_name(const atn_plan *plan, const atn_plan_node *node, int32_t root) {
    const char *found = NULL;
    for (int32_t k = 0; k < node->graph->n_objects; ++k) {
        const atn_object *object = &node->graph->objects[k];
        if (object->table || atn_plan_root(plan, atn_plan_array_find(plan, object->name)) != root) continue;
        if (found) return NULL;
        found = object->name;
    }
    return found;
}

/* Between the first write of `from` and the MOVE nothing touches `to`: then both may lie there. The two are of one
 * block: what is written under a condition of its own may not be there. */
static atn_status may_share(atn_plan *plan, int32_t move, bool *shared) {
    const atn_plan_node *node = &plan->nodes[move];
    const atn_plan_array *a = &plan->arrays[node->from], *b = &plan->arrays[node->to];
    int32_t from = atn_plan_root(plan, node->from), to = atn_plan_root(plan, node->to);
    *shared = from == to;
    if (*shared || plan->arrays[from].head >= 0 || memcmp(a->size, b->size, sizeof a->size) != 0) return ATN_OK;
    int32_t first = -1;
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        if (touches(plan, &plan->nodes[k], from, true) && first < 0) first = k;
        bool used = touches(plan, &plan->nodes[k], from, false);
        if (used && (first < 0 || k < first)) return ATN_OK;
        if (used && k > move) return ATN_OK; /* its old elements, after they changed */
    }
    if (first < 0 || first > move || loop_around(plan, first) != loop_around(plan, move)) return ATN_OK;
    for (int32_t k = first + 1; k < move; ++k)
        if (touches(plan, &plan->nodes[k], to, false) || touches(plan, &plan->nodes[k], to, true)) return ATN_OK;
    *shared = !touches(plan, &plan->nodes[first], to, false) && !touches(plan, &plan->nodes[first], to, true);
    if (*shared || plan->nodes[first].kind != ATN_NODE_STEP || touches(plan, &plan->nodes[first], to, true) ||
        touches(plan, &plan->nodes[first], from, false))
        return ATN_OK;
    const char *written = only_name(plan, &plan->nodes[first], from), *read = only_name(plan, &plan->nodes[first], to);
    return written && read ? work_in_place(plan, &plan->nodes[first], written, read, shared) : ATN_OK;
}

static atn_status copy_step(atn_plan *plan, atn_plan_node *node) {
    const atn_plan_array *from = &plan->arrays[node->from], *to = &plan->arrays[node->to];
    static const char *const INDICES[] = {"", "x__", "y__, x__", "z__, y__, x__"};
    const char *kind = atn_rank_name(from->rank), *at = INDICES[from->rank];
    char *text = atn_arena_printf(&plan->arena, "kernel copy(%s: %s %s) -> %s: %s %s\n    %s[%s] = %s[%s]\n",
                                  from->name, kind, atn_type_name(from->type), to->name, kind, atn_type_name(to->type),
                                  to->name, at, from->name, at);
    if (!text) return atn_plan_no_memory(plan);
    atn_sequence *sequence;
    atn_status status = atn_sequence_parse(plan->ctx, "copy", text, strlen(text), NULL, NULL, &sequence);
    if (status != ATN_OK) return status;
    node->graph = sequence->step[0];
    sequence->step[0] = NULL;
    atn_sequence_free(sequence);
    node->kind = ATN_NODE_STEP;
    node->from = node->to = -1;
    return ATN_OK;
}

atn_status atn_plan_settle(atn_plan *plan) {
    atn_status status = ATN_OK;
    for (int32_t k = plan->n_nodes - 1; k >= 0 && status == ATN_OK; --k) {
        atn_plan_node *node = &plan->nodes[k];
        if (node->kind != ATN_NODE_MOVE) continue;
        bool shared;
        status = may_share(plan, k, &shared);
        if (status != ATN_OK) break;
        if (shared) {
            int32_t from = atn_plan_root(plan, node->from), to = atn_plan_root(plan, node->to);
            if (from != to) plan->arrays[from].same = to;
            node->kind = ATN_NODE_GONE;
        } else {
            status = copy_step(plan, node);
        }
    }
    return status;
}
