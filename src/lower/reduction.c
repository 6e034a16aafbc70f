#include "lower/reduction.h"

#include <string.h>

bool lower_keeps_order(const atn_block *b) { return b->n_accs > 0 && b->acc[0].join == ATN_JOIN_ORDERED; }

int32_t lower_acc_type(const atn_variant *v, const atn_acc *acc) {
    int32_t type = (int32_t)atn_variant_type(v, acc->type);
    if (acc->join != ATN_JOIN_SUM) return type;
    if (type == ATN_HP && v->accumulate == 32) return ATN_SP;
    return (type == ATN_SP || type == ATN_HP) && v->accumulate == 64 ? ATN_DP : type;
}

uint32_t lower_result_dims(const atn_graph *g, const atn_block *b, uint32_t bound) {
    uint32_t mask = 0, own = 0;
    for (int32_t k = 0; k < b->n_accs; ++k) {
        const atn_acc *a = &b->acc[k];
        const atn_value parts[] = {a->init, a->term, a->update};
        for (size_t n = 0; n < 3; ++n)
            if (parts[n] >= 0) mask |= g->values[parts[n]].dims;
    }
    for (int32_t k = 0; k < b->rank; ++k) {
        const atn_dim *d = &g->dims[b->dim[k]];
        mask |= g->values[d->begin].dims | g->values[d->end].dims;
        own |= 1u << b->dim[k];
    }
    return mask & ~own & bound;
}

/* On the host, the sequence of a group may run inside the tiles of a range that all of its points share. */
static bool rests(const lower_scene *c, int32_t block) {
    const atn_block *b = &c->g->blocks[block];
    bool sequence = false;
    for (int32_t k = 0; k < b->rank; ++k) {
        const atn_dim *d = &c->g->dims[b->dim[k]];
        if ((c->g->values[d->begin].dims | c->g->values[d->end].dims) & c->cuts->points) return false;
    }
    for (int d = 0; d < ATN_MAX_RANK; ++d) sequence = sequence || c->v->p[d].seq > 1;
    return c->host && c->v->stage > 0 && c->v->q[0].tile > 0 && sequence && b->rank == 1 && b->n_accs > 0 &&
           !lower_keeps_order(b) && c->v->q[0].vec == 1 && c->v->q[0].regs == 1;
}

int32_t lower_split_block(const atn_graph *g) {
    for (int32_t k = g->blocks[0].n_accs > 0 ? 0 : 1; k < g->n_blocks; ++k)
        if (k == 0 || g->blocks[k].parent == 0) return k;
    return -1;
}

lower_meeting lower_find_meeting(const lower_scene *c) {
    if (c->cuts->splits <= 1) return LOWER_MEET_NOWHERE;
    if (c->host || c->v->finish == ATN_FINISH_LAUNCH) return LOWER_MEET_LAUNCH;
    if (c->v->finish == ATN_FINISH_LOOK) return LOWER_MEET_AWAIT;
    return c->v->finish == ATN_FINISH_ATOMIC && c->cuts->n_points == 0 ? LOWER_MEET_ATOMIC : LOWER_MEET_LAST;
}

lower_reduction lower_find_reduction(const lower_scene *c, int32_t block) {
    const atn_block *b = &c->g->blocks[block];
    lower_reduction r = {.block = block,
                         .outermost = atn_block_is_outermost(c->g, block),
                         .ordered = lower_keeps_order(b),
                         .dims = lower_result_dims(c->g, b, c->bound),
                         .items = 1,
                         .parts = 1,
                         .n_accs = b->n_accs};
    bool cut = r.outermost && !r.ordered;
    for (int32_t k = 0; k < ATN_MAX_RANK; ++k) r.q[k] = cut && (k == 0 || k < b->rank) ? c->v->q[k] : LOWER_PLAIN;
    for (int32_t k = b->rank > 0 ? b->rank : 1; k < ATN_MAX_RANK && cut; ++k)
        r.q[0].lanes *= c->v->q[k].lanes; /* along dimensions of other blocks that this one does not have */
    if (c->host || c->v->stage > 0 || atn_graph_has_scan(c->g)) r.q[0].pack = 1;
    r.rests = r.outermost && rests(c, block);
    r.runs = r.outermost && c->v->half == 2 && r.q[0].tile > 0; /* the remaining points have no tiles */
    r.tail = r.q[0].vec > 1 || r.q[0].regs > 1;
    r.sets = r.q[0].regs + r.tail;
    r.leaves = r.sets + (r.q[0].vec > 1 ? r.q[0].regs * (r.q[0].vec - 1) : 0);
    if (r.outermost) {
        r.items = c->cuts->lanes_q;
        r.parts = c->cuts->splits;
        r.meeting = lower_find_meeting(c);
    }
    for (int32_t k = 0; k < b->n_accs; ++k) r.type[k] = lower_acc_type(c->v, &b->acc[k]);
    return r;
}

void lower_print_reduction(const atn_graph *g, const lower_reduction *r, atn_text *out) {
    static const char *const MEETINGS[] = {"", "in a second stage", "in the last group", "by atomics",
                                           "in the group of the last part"};
    const atn_block *b = &g->blocks[r->block];
    atn_text_printf(out, "%s: %d accumulator%s", b->name, r->n_accs, r->n_accs == 1 ? "" : "s");
    for (int32_t k = 0; k < r->n_accs; ++k)
        atn_text_printf(out, "%s%s", k ? ", " : " of ", atn_type_name((atn_type)r->type[k]));
    atn_text_add(out, r->dims ? ", separate for" : ", one result");
    for (int32_t d = 0; d < g->n_dims; ++d)
        if (r->dims >> d & 1) atn_text_printf(out, " %s.i(%d)", g->blocks[g->dims[d].block].name, g->dims[d].axis);
    atn_text_printf(out, "%s\n", r->ordered ? "; in order" : "");
    for (int32_t k = b->rank; k-- > 0;) {
        const atn_cut *q = &r->q[k];
        atn_text_printf(out, "  q%d: %d items, %d registers of %d lanes", k, q->lanes, q->regs, q->vec);
        if (q->tile > 0) atn_text_printf(out, ", tiles of %d", q->tile);
        if (q->unroll > 1) atn_text_printf(out, ", unrolled by %d", q->unroll);
        atn_text_add(out, "\n");
    }
    atn_text_printf(out, "  combined: %d per place%s", r->leaves, r->tail ? ", including the tail" : "");
    if (r->items > 1) atn_text_printf(out, "; over %d items", r->items);
    if (r->parts > 1) atn_text_printf(out, "; over %d parts %s", r->parts, MEETINGS[r->meeting]);
    atn_text_add(out, r->rests  ? "; accumulators stored between tiles\n"
                      : r->runs ? "; tiles summed in halves\n"
                                : "\n");
}

/* Does the variant process the steps of a block strictly one after the other? Nested blocks always do. */
static bool is_in_order(const atn_graph *g, int32_t block, const atn_variant *v) {
    return !atn_block_is_outermost(g, block) ||
           (v->q[0].vec == 1 && v->q[0].regs == 1 && lower_cut(g, v).lanes_q == 1 && atn_variant_splits(v) == 1);
}

const atn_graph *lower_without_idle(atn_arena *arena, const atn_graph *g, const atn_variant *v) {
    atn_graph *copy = atn_arena_alloc(arena, sizeof *copy);
    atn_block *blocks = atn_arena_alloc(arena, (size_t)g->n_blocks * sizeof *blocks);
    if (!copy || !blocks) return NULL;
    *copy = *g;
    memcpy(blocks, g->blocks, (size_t)g->n_blocks * sizeof *blocks);
    copy->blocks = blocks;
    for (int32_t k = 0; k < g->n_blocks; ++k)
        while (is_in_order(g, k, v) && blocks[k].n_accs > 0 && blocks[k].acc[blocks[k].n_accs - 1].hidden)
            --blocks[k].n_accs;
    return copy;
}
