#include "lower/cut.h"

const atn_cut LOWER_PLAIN = {.lanes = 1, .vec = 1, .regs = 1, .pack = 1, .seq = 1, .tile = 0, .unroll = 1, .split = 1};

lower_cuts lower_cut(const atn_graph *g, const atn_variant *v) {
    lower_cuts cuts = {.items = atn_variant_items(v), .lanes_q = 1, .splits = atn_variant_splits(v)};
    for (int d = 0; d < ATN_MAX_RANK; ++d) {
        cuts.point[d] = -1;
        cuts.span[d] = 1;
        cuts.lanes_q *= v->q[d].lanes;
    }
    for (int32_t k = 0; k < g->blocks[0].rank && g->blocks[0].n_accs == 0; ++k) {
        const atn_cut *c = &v->p[k];
        cuts.span[k] = c->lanes * c->vec * c->regs * c->seq;
        cuts.point[cuts.n_points++] = g->blocks[0].dim[k];
        cuts.points |= 1u << g->blocks[0].dim[k];
    }
    return cuts;
}

void lower_print_cuts(const atn_graph *g, const lower_cuts *cuts, atn_text *out) {
    for (int32_t d = 0; d < cuts->n_points; ++d)
        atn_text_printf(out, "points along %s.i(%d): %d in a group\n", g->blocks[0].name, g->dims[cuts->point[d]].axis,
                        cuts->span[d]);
    if (cuts->n_points == 0) atn_text_add(out, "one result\n");
    atn_text_printf(out, "items in a group: %d", cuts->items);
    if (cuts->lanes_q > 1) atn_text_printf(out, ", %d along the range", cuts->lanes_q);
    if (cuts->splits > 1) atn_text_printf(out, "\nparts of the range: %d", cuts->splits);
    atn_text_add(out, "\n");
}

atn_variant lower_cut_edge(const atn_variant *v) {
    atn_variant edge = *v;
    for (int d = 0; d < ATN_MAX_RANK; ++d) {
        edge.p[d] = edge.q[d] = LOWER_PLAIN;
        edge.q[d].split = v->q[d].split;
    }
    edge.stage = 0;
    return edge;
}

atn_variant lower_cut_edge_items(const atn_variant *v) {
    atn_variant edge = *v;
    for (int d = 0; d < ATN_MAX_RANK; ++d) {
        atn_cut *c = &edge.p[d];
        c->seq *= c->regs * c->vec;
        c->regs = c->pack = c->vec = 1;
    }
    edge.stage = 0;
    return edge;
}

atn_variant lower_cut_end(const atn_variant *v, bool points, int32_t items) {
    atn_variant end = *v;
    for (int d = 0; d < ATN_MAX_RANK; ++d) {
        end.p[d] = LOWER_PLAIN;
        end.q[d].lanes = end.q[d].vec = end.q[d].regs = 1;
    }
    end.reduce = ATN_REDUCE_TREE;
    *(points ? &end.p[0].lanes : &end.q[0].lanes) = items;
    return end;
}
