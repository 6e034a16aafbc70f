/* A graph as a line of text and back: for worker processes, which tune steps that are in no file. Only valid within one
 * version of the program: text of another version, or changed text, is refused. */
#ifndef ATN_GRAPH_PACK_H
#define ATN_GRAPH_PACK_H

#include "graph/graph.h"

void atn_graph_pack(const atn_graph *graph, atn_text *out);
/* A sequence of one step, owned by the caller. */
atn_status atn_graph_unpack(const atn_ctx *ctx, const char *text, atn_sequence **out);

#endif
