/* A description in another form: how the reader is asked to print what it has read. */
#ifndef ATN_GRAPH_REWRITE_H
#define ATN_GRAPH_REWRITE_H

#include "graph/sketch.h"

/* parse.c: one file, by a reader that was made for it. */
atn_status atn_reader_parse(atn_reader *reader, atn_diagnostics *diagnostics, atn_sequence **out);

/* rewrite.c: adds one algorithm to reader->print, and the types of its items to reader->item_types. */
void atn_sketch_print(const atn_sketch *sketch);

#endif
