/* Canonical names for what is built. The source of a kernel contains the names of its arrays: steps that differ only in
 * these would be compiled separately. */
#include "plan/plan.h"

static bool is_same(const atn_graph *a, const atn_graph *b) {
    return a->n_objects == b->n_objects && a->n_parameters == b->n_parameters && a->hash.low == b->hash.low &&
           a->hash.high == b->hash.high;
}

static atn_status name_step(atn_plan *plan, atn_plan_node *node) {
    const atn_graph *graph = node->graph;
    atn_plan_part p;
    if (node->kernel && is_same(graph, node->kernel)) return node->like = node->kernel, ATN_OK;
    if (graph->n_objects > ATN_PLAN_DATA || graph->n_parameters > ATN_PLAN_DATA) return ATN_OK;
    atn_plan_describe(plan, graph, &p);
    for (int32_t k = 0; k < graph->n_objects; ++k)
        if (!graph->objects[k].table && !(p.names[k] = atn_arena_printf(&plan->arena, "a%d", k)))
            return atn_plan_no_memory(plan);
    for (int32_t k = 0; k < graph->n_parameters; ++k)
        if (!(p.parameters[k] = atn_arena_printf(&plan->arena, "s%d", k))) return atn_plan_no_memory(plan);
    atn_status status = atn_graph_compose(plan->ctx, graph->name, NULL, &p.part, &node->own);
    if (status != ATN_OK) return status == ATN_ERR_MEMORY ? status : ATN_OK; /* it is built by the names that it has */
    if (is_same(node->own, graph)) node->like = node->own;
    return ATN_OK;
}

atn_status atn_plan_rename(atn_plan *plan) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < plan->n_nodes && status == ATN_OK; ++k)
        if (plan->nodes[k].kind == ATN_NODE_STEP && !plan->nodes[k].like) status = name_step(plan, &plan->nodes[k]);
    return status;
}
