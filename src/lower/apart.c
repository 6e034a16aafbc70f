/* A nested block whose ranges differ between registers or vector lanes: everything before it is computed for all of
 * them at once, then its loops run for one register and lane at a time, and the results are packed into a vector again.
 * */
#include "lower/loops.h"

/* The dimensions to process separately: those its results depend on, and along which its ranges differ, if they have
 * more than one place. */
static uint32_t dims_apart(const lowering *l, int32_t block) {
    const atn_block *b = &l->g->blocks[block];
    uint32_t ranges = 0;
    if (atn_block_is_outermost(l->g, block)) return 0;
    for (int32_t k = 0; k < b->rank; ++k)
        ranges |= l->g->values[l->g->dims[b->dim[k]].begin].dims | l->g->values[l->g->dims[b->dim[k]].end].dims;
    for (int32_t d = 0; d < l->g->n_dims; ++d)
        if (l->dim[d].bound && (ranges >> d & 1) && (l->dim[d].regs > 1 || d == l->vec_dim))
            return loops_result_dims(l, b);
    return 0;
}

/* The lanes of a result at a place, as a vector. */
static void join_lanes(lowering *l, int32_t block, place at) {
    const atn_block *b = &l->g->blocks[block];
    for (atn_value v = 0; v < l->g->n_values && !l->p->failed; ++v) {
        const atn_node *n = &l->g->values[v];
        if (n->op != ATN_OP_RESULT || n->index != block || !(n->dims >> l->vec_dim & 1)) continue;
        for (int32_t part = 0; part < acc_parts(&b->acc[n->axis]); ++part) {
            ir_ref lanes[ATN_MOST_LANES];
            for (int32_t k = 0; k < l->dim[l->vec_dim].vec; ++k) {
                at.lane = (int8_t)k;
                if (!lower_memo_find(l, v, part, lower_normal(l, n->dims, at), &lanes[k])) return;
            }
            at.lane = -1;
            lower_memo_keep(l, v, part, lower_normal(l, n->dims, at),
                            ir_declare(l->p, l->block, b->name, ir_join(l->p, lanes, l->dim[l->vec_dim].vec)));
        }
    }
}

/* An end of a range, for all places; not yet widened to an address, which each place does for itself. */
static void hoist_end(lowering *l, atn_value end) {
    while (l->g->values[end].op == ATN_OP_CAST) end = l->g->values[end].arg[0];
    lower_hoist(l, end);
}

void lower_block(lowering *l, int32_t block) {
    const atn_block *b = &l->g->blocks[block];
    uint32_t dims = dims_apart(l, block);
    if (!dims) {
        lower_block_whole(l, block);
        return;
    }
    loops_hoist(l, b);
    for (int32_t k = 0; k < b->rank; ++k) {
        hoist_end(l, l->g->dims[b->dim[k]].begin);
        hoist_end(l, l->g->dims[b->dim[k]].end);
    }
    bool lanes = l->vec_dim >= 0 && (dims >> l->vec_dim & 1);
    place at = PLACE_ORIGIN;
    do {
        for (int32_t k = 0; k < (lanes ? l->dim[l->vec_dim].vec : 1) && l->status == ATN_OK && !l->p->failed; ++k) {
            l->apart = dims;
            l->apart_at = at;
            l->apart_at.lane = (int8_t)(lanes ? k : -1);
            lower_block_whole(l, block);
            l->apart = 0;
        }
        if (lanes) join_lanes(l, block, at);
    } while (lower_next_place(l, dims, &at));
}
