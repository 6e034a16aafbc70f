/* Scans: blocks whose running values are used. */
#include "graph/graph.h"

bool atn_block_is_scan(const atn_graph *graph, int32_t block) {
    for (atn_value v = 0; v < graph->n_values; ++v) {
        const atn_node *node = &graph->values[v];
        if ((node->op == ATN_OP_BEFORE || node->op == ATN_OP_AFTER) && node->index == block) return true;
    }
    return false;
}

bool atn_graph_has_scan(const atn_graph *graph) {
    for (atn_value v = 0; v < graph->n_values; ++v)
        if (graph->values[v].op == ATN_OP_BEFORE || graph->values[v].op == ATN_OP_AFTER) return true;
    return false;
}
