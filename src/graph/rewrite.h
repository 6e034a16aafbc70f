/* A description in another form: how the reader is asked to print what it has parsed. */
#ifndef ATN_GRAPH_REWRITE_H
#define ATN_GRAPH_REWRITE_H

#include "graph/sketch.h"

/* parse.c: one file, by a reader that was made for it. */
atn_status atn_reader_parse(atn_reader *reader, atn_diagnostics *diagnostics, atn_sequence **out);

/* algorithm.c: one algorithm, of XML or of the notation. The graph exists even when complaints were made, NULL only
 * without memory. */
struct atn_file_text;
struct atn_kernel_text;
atn_graph *atn_reader_algorithm(atn_reader *reader, atn_element *element, const struct atn_file_text *file,
                                const struct atn_kernel_text *kernel);

/* print_flat.c: a kernel that is arithmetic only, in the notation, one line per value; false: it is something else. */
bool atn_graph_print_flat(const atn_graph *graph, atn_text *out);

#endif
