/* Graphs composed of graphs: what the plan of a program needs to fuse one step into the next. The values of the parts
 * are rebuilt in one store, so that equal ones are computed once. */
#ifndef ATN_GRAPH_COMPOSE_H
#define ATN_GRAPH_COMPOSE_H

#include "graph/graph.h"

/* A graph as a part of another: what its objects and parameters are called there. Equal names are one. */
typedef struct atn_part {
    const atn_graph *graph;
    const char *const *reads;      /* per object: the array that it reads */
    const char *const *writes;     /* per object: the array that it writes; often the same */
    const char *const *parameters; /* per parameter */
    const char *const *held;       /* per parameter: a vector whose element 0 is its value, or NULL; may be NULL */
    const int64_t (*sizes)[ATN_MAX_RANK]; /* per object */
    bool symbolic;                        /* sizes are marks that are equal where sizes are, not numbers */
    const bool *kept; /* per object, of a first part: what it writes is wanted by others too; may be NULL */
} atn_part;

/* One graph that does what `first` and then `second` do. Where the second reads what the first writes, the first's
 * value is computed on the spot. `first` may be NULL: the second alone, by its new names. *out is owned by the caller
 * (atn_graph_free). UNSUPPORTED, with a sentence, where it cannot be done: the first reduces or scatters, its elements
 * are read beyond an edge, or one point would read what another one writes. */
atn_status atn_graph_compose(const atn_ctx *ctx, const char *name, const atn_part *first, const atn_part *second,
                             atn_graph **out);
/* The same where each point of the first writes a cell of 2 x 2 (or 2) elements: the second does cells of its points,
 * as many as the first has points. */
atn_status atn_graph_compose_cells(const atn_ctx *ctx, const char *name, const atn_part *first, const atn_part *second,
                                   atn_graph **out);

/* The same work by fewer points: each does cell[0] x cell[1] (columns, rows) of them, and values that they have in
 * common are computed once. The caller knows that ranges are multiples. */
atn_status atn_graph_cells(const atn_ctx *ctx, const atn_graph *graph, const int32_t cell[2], atn_graph **out);

void atn_graph_free(const atn_ctx *ctx, atn_graph *graph); /* NULL is fine; not one of a sequence */

#endif
