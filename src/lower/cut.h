/* Pass: how a variant tiles the points and the outermost range of a graph: what one group covers, and with how many
 * items. Groups at the border of the points and the end of a split are tiled differently, by variants of their own. */
#ifndef ATN_LOWER_CUT_H
#define ATN_LOWER_CUT_H

#include "graph/graph.h"
#include "lower/variant.h"

typedef struct lower_cuts {
    int32_t point[ATN_MAX_RANK]; /* the dimensions of the points; -1 where there is none */
    uint32_t points;             /* the same as a mask */
    int32_t n_points;            /* 0: everything is reduced into one result */
    int32_t span[ATN_MAX_RANK];  /* points of a group along each dimension; 1 where there is none */
    int32_t items;               /* items per group; 1 on the host */
    int32_t lanes_q;             /* of these, along the reduced dimensions */
    int32_t splits;              /* parts of the outermost range, one per group; 1: it is not split */
} lower_cuts;

extern const atn_cut LOWER_PLAIN; /* a dimension that is not tiled */

lower_cuts lower_cut(const atn_graph *g, const atn_variant *v);
void lower_print_cuts(const atn_graph *g, const lower_cuts *cuts, atn_text *out);

/* The variant for points at the border: one at a time, by a separate thread, */
atn_variant lower_cut_edge(const atn_variant *v);
/* or by the items of the group, each with the same points; */
atn_variant lower_cut_edge_items(const atn_variant *v);
/* and the variant that combines the parts of a split with `items` items, over the points or, without any, over the
 * parts. */
atn_variant lower_cut_end(const atn_variant *v, bool points, int32_t items);

#endif
