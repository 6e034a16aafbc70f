/* Which variants a graph supports: rules checked before any lowering, each with its reason. Rules for tiling and scans
 * are here, the rule of a single knob is where its row says. */
#include "lower/fits.h"

#include "graph/affine.h"
#include "graph/refuse.h"
#include "graph/type.h"
#include "lower/reduction.h"

static lower_rule *const RULES[] = {
#define RULE(name, plain, least, most, names, power, rule, meaning) rule,
    ATN_KNOBS(RULE)};

static bool plain_points(const atn_cut *c) {
    return c->lanes == 1 && c->vec == 1 && c->regs == 1 && c->pack == 1 && c->seq == 1;
}

static bool plain_range(const atn_cut *c) {
    return c->lanes == 1 && c->vec == 1 && c->regs == 1 && c->pack == 1 && c->tile == 0 && c->unroll == 1 &&
           c->split == 1;
}

/* A nested block that only reduces: its loops can run for one register and lane at a time (apart.c). */
static bool comes_apart(const atn_graph *g, int32_t block) {
    bool nested = g->blocks[block].parent != 0 || (block > 0 && g->blocks[0].n_accs > 0);
    for (int32_t k = 0; k < g->n_writes; ++k)
        if (g->writes[k].block == block) return false;
    return nested && g->blocks[block].n_accs > 0;
}

/* Ranges of blocks that depend on dimensions in `mask`; `apart`: except those that can be processed separately. */
static bool ranges_depend(const atn_graph *g, uint32_t mask, bool apart) {
    for (int32_t d = 0; d < g->n_dims; ++d) {
        if (g->dims[d].block == 0 || (apart && comes_apart(g, g->dims[d].block))) continue;
        if ((g->values[g->dims[d].begin].dims | g->values[g->dims[d].end].dims) & mask) return true;
    }
    return false;
}

bool atn_variant_fits(const atn_graph *g, const atn_variant *v, const atn_target *t, const char **why_not) {
    const char *unused;
    if (!why_not) why_not = &unused;
    bool icf = g->blocks[0].n_accs > 0;
    int32_t points = icf ? 0 : g->blocks[0].rank, blocks;
    int32_t block = atn_graph_outermost(g, &blocks), rank = block >= 0 ? g->blocks[block].rank : 0;
    int32_t vectors = 0, lanes_p = 1, lanes_q = 1;
    bool complex_values = false, ordered = false;
    uint32_t vec_mask = 0, many_mask = 0;
    for (atn_value k = 0; k < g->n_values; ++k)
        complex_values = complex_values || atn_type_is_complex(g->values[k].type);
    for (int32_t k = 0; k < g->n_blocks; ++k)
        for (int32_t a = 0; a < g->blocks[k].n_accs; ++a)
            ordered = ordered || (g->blocks[k].acc[a].join == ATN_JOIN_ORDERED && (k == 0 || g->blocks[k].parent == 0));
    for (int d = 0; d < ATN_MAX_RANK; ++d) {
        lanes_p *= v->p[d].lanes;
        lanes_q *= v->q[d].lanes;
        REFUSE(d >= points && !plain_points(&v->p[d]), "it tiles a dimension that the points do not have");
        REFUSE(d >= rank && !plain_range(&v->q[d]), "it tiles a dimension that no iterator has");
        REFUSE(v->p[d].regs % v->p[d].pack != 0, "regs is not a multiple of pack");
        vectors += (v->p[d].vec > 1) + (v->q[d].vec > 1);
        REFUSE((v->p[d].vec > 16 || v->q[d].vec > 16) && (!t->host || !v->half),
               "vectors of more than 16 lanes are for arithmetic in halves (half=1 or 2)");
        if (d < points && v->p[d].vec > 1) vec_mask |= 1u << g->blocks[0].dim[d];
        if (d < points && v->p[d].regs > 1) many_mask |= 1u << g->blocks[0].dim[d];
        if (d < rank && v->q[d].vec > 1) vec_mask |= 1u << g->blocks[block].dim[d];
        if (d < rank && v->q[d].regs > 1) many_mask |= 1u << g->blocks[block].dim[d];
    }
    for (int d = 1; d < ATN_MAX_RANK; ++d)
        REFUSE(v->q[d].vec > 1 || v->q[d].regs > 1 || v->q[d].pack > 1 || v->q[d].tile > 0 || v->q[d].unroll > 1,
               "q1 and q2 support lanes and split only");
    REFUSE(vectors > 1, "more than one dimension is vectorised");
    REFUSE(vectors > 0 && !t->vectors, "the dialect has no vector arithmetic; use pack");
    REFUSE(vectors > 0 && complex_values, "complex values are not vectorised");
    REFUSE(t->host && (lanes_p > 1 || lanes_q > 1), "the host has no lanes other than those of vectors");
    REFUSE(atn_variant_items(v) > t->max_items, "the work-group is larger than the device allows");
    REFUSE(ordered && (lanes_q > 1 || vec_mask || many_mask || atn_variant_splits(v) > 1),
           "the reduction must keep its order");
    REFUSE(ranges_depend(g, vec_mask, t->host) || ranges_depend(g, many_mask, true),
           "ranges differ between registers or vector lanes");
    REFUSE(blocks > 1 && atn_variant_splits(v) > 1, "there is more than one iterator to split");
    REFUSE(atn_variant_splits(v) > 1 && g->blocks[block].n_accs == 0,
           "an iterator without an ICF has no partial results to combine");
    for (int d = 0; d < rank - 1; ++d)
        REFUSE(v->q[d].split > 1, "of several dimensions, only the outermost one can be split");
    for (int32_t k = 0; k < g->n_blocks; ++k)
        REFUSE((lanes_q > 1 || v->q[0].regs > 1 || v->q[0].vec > 1) && atn_block_is_outermost(g, k) &&
                   !atn_block_is_scan(g, k) && !atn_block_commutes(g, k),
               "its combine is not commutative: steps are combined in order, within each part");
    if (atn_graph_has_scan(g)) {
        bool others = blocks > 1 || !atn_block_is_scan(g, block);
        for (int32_t k = 1; k < g->n_blocks; ++k) others = others || (k != block && atn_block_is_scan(g, k));
        REFUSE(others && (lanes_q > 1 || v->q[0].regs > 1 || v->q[0].vec > 1 || atn_variant_splits(v) > 1),
               "a scan inside another iterator, or next to one, must run step by step");
        REFUSE(v->p[0].vec > 1 || v->p[1].vec > 1 || v->p[0].regs > 1 || v->p[1].regs > 1,
               "a scan at every point is computed for one point at a time");
        REFUSE(lanes_q > 1 && v->p[0].lanes * v->p[1].lanes > 1, "the items of a group share one scan, not several");
        REFUSE(v->q[1].lanes > 1, "a scan has work-items along q0 only");
        REFUSE(v->q[0].regs > 1 && g->blocks[block].rank > 1, "a scan over rows takes one step at a time");
        REFUSE(atn_variant_splits(v) > 1 &&
                   (points > 0 || (v->finish != ATN_FINISH_LAUNCH && v->finish != ATN_FINISH_LOOK)),
               "only a scan over everything can be split, with finish=launch or look");
        REFUSE(v->q[0].vec > 1 && (atn_variant_splits(v) == 1 || g->blocks[block].acc[0].join == ATN_JOIN_CUSTOM),
               "vectors along a scan are for the totals of its parts only");
        REFUSE((v->stage > 0 && v->finish != ATN_FINISH_LOOK) || v->stage > 1 || v->q[0].tile > 0,
               "a scan stages nothing except the tile of a group that looks back (stage=1)");
    }
    REFUSE(v->q[0].regs > 16 && v->finish != ATN_FINISH_LOOK, "more than 16 registers along q0 require finish=look");
    REFUSE(v->q[0].pack > 1 && (lanes_q == 1 || v->q[0].regs % v->q[0].pack != 0),
           "pack_q0 requires work-items along q0 and must divide their registers");
    REFUSE(v->q[0].pack > 1 && !atn_graph_has_scan(g) && (v->stage > 0 || v->q[0].vec > 1 || v->q[0].lanes == 1),
           "adjacent steps (pack_q0) are read directly, without staging or vectors");
    const lower_asked asked = {
        .g = g, .v = v, .t = t, .points = points, .block = block, .rank = rank, .lanes_q = lanes_q};
    for (size_t k = 0; k < sizeof RULES / sizeof *RULES; ++k)
        if (!RULES[k](&asked, why_not)) return false;
    return true;
}
