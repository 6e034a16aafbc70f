/* Which parameters determine the accesses of a kernel: its ranges and selectors, and with them sizes and checks. The
 * others are only computed with, and may change from run to run without anything being checked again. */
#include "eval/eval.h"

#include "base/memory.h"

static void need(bool *needed, atn_value value) {
    if (value >= 0) needed[value] = true;
}

/* Values that come out of an iteration may hold anything. */
static bool is_iterated(atn_op op) {
    return op == ATN_OP_RESULT || op == ATN_OP_ACC || op == ATN_OP_LEFT || op == ATN_OP_RIGHT || op == ATN_OP_BEFORE ||
           op == ATN_OP_AFTER;
}

atn_status atn_eval_deciding(const atn_ctx *ctx, const atn_graph *graph, bool *decides) {
    bool all = false, *needed = atn_zalloc(ctx, (size_t)graph->n_values + 1);
    if (!needed) return ATN_ERR_MEMORY;
    for (int32_t d = 0; d < graph->n_dims; ++d) {
        need(needed, graph->dims[d].begin);
        need(needed, graph->dims[d].end);
    }
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis) {
        for (int32_t k = 0; k < graph->n_reads; ++k) need(needed, graph->reads[k].select[axis]);
        for (int32_t k = 0; k < graph->n_writes; ++k) need(needed, graph->writes[k].select[axis]);
    }
    for (int32_t k = 0; k < graph->n_parameters; ++k) decides[k] = false;
    for (atn_value v = graph->n_values - 1; v >= 0; --v) { /* users before their arguments */
        const atn_node *node = &graph->values[v];
        if (!needed[v]) continue;
        for (int k = 0; k < 3; ++k) need(needed, node->arg[k]);
        if (node->op == ATN_OP_PARAM) decides[node->index] = true;
        all = all || is_iterated(node->op);
    }
    for (int32_t k = 0; k < graph->n_parameters && all; ++k) decides[k] = true;
    atn_free(ctx, needed);
    return ATN_OK;
}
