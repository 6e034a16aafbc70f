/* A graph as a line of text and back: for worker processes, which tune steps that stand in no file. Of one program of
 * one version alone: what another one wrote, or was changed, is refused. */
#ifndef ATN_GRAPH_PACK_H
#define ATN_GRAPH_PACK_H

#include "graph/graph.h"

void atn_graph_pack(const atn_graph *graph, atn_text *out);
/* A sequence of one step, owned by the caller. */
atn_status atn_graph_unpack(const atn_ctx *ctx, const char *text, atn_sequence **out);

#endif
