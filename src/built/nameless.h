/* Graphs without the names of their arrays, for steps of plans. */
#ifndef ATN_BUILT_NAMELESS_H
#define ATN_BUILT_NAMELESS_H

#include "graph/compose.h"

/* Owned by the caller (atn_graph_free); not longer than `graph`, of which it has its tables. */
atn_status atn_graph_without_names(const atn_ctx *ctx, const atn_graph *graph, atn_graph **out);

#endif
