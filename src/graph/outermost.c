/* Which reduction is the outermost one: the one that variants cut, keys measure and samples run over. */
#include "graph/graph.h"

#include <stddef.h>

bool atn_block_is_outermost(const atn_graph *g, int32_t block) {
    return block == 0 || (g->blocks[block].parent == 0 && g->blocks[0].n_accs == 0);
}

int32_t atn_graph_outermost(const atn_graph *g, int32_t *count) {
    int32_t first = g->blocks[0].n_accs > 0 ? 0 : -1, found = first == 0;
    for (int32_t k = 1; k < g->n_blocks; ++k) {
        if (!atn_block_is_outermost(g, k)) continue;
        if (first < 0) first = k;
        ++found;
    }
    if (count) *count = found;
    return first;
}
