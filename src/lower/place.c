/* Places, and the record of what was computed at them: hash chains on a stack, so that scopes end in reverse order. */
#include "lower/lowering.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

int64_t lower_offset(const lowering *l, int32_t dim, place at) {
    const dim_state *s = &l->dim[dim];
    return at.r[dim] / s->pack * s->row + (int64_t)(at.r[dim] % s->pack) * s->vec;
}

place lower_normal(const lowering *l, uint32_t dims, place at) {
    for (int32_t d = 0; d < l->g->n_dims; ++d)
        if (!(dims >> d & 1) || !l->dim[d].bound)
            at.r[d] = 0;
        else if (l->apart >> d & 1)
            at.r[d] = l->apart_at.r[d];
    if (l->vec_dim < 0 || !(dims >> l->vec_dim & 1))
        at.lane = -1;
    else if (l->apart >> l->vec_dim & 1)
        at.lane = l->apart_at.lane;
    return at;
}

bool lower_next_place(const lowering *l, uint32_t dims, place *at) {
    for (int32_t d = 0; d < l->g->n_dims; ++d) {
        if (!(dims >> d & 1) || !l->dim[d].bound) continue;
        if (++at->r[d] < l->dim[d].regs) return true;
        at->r[d] = 0;
    }
    return false;
}

static uint32_t chain_of(int32_t what, int32_t part, place at) {
    uint32_t hash = (uint32_t)what * 2 + (uint32_t)part;
    for (int32_t d = 0; d < ATN_MAX_DIMS; ++d) hash = hash * 31 + (uint8_t)at.r[d];
    return (hash * 31 + (uint8_t)at.lane) * 2654435761u / (UINT32_MAX / MEMO_CHAINS + 1);
}

size_t lower_mark(const lowering *l) { return l->n_memos; }

void lower_forget(lowering *l, size_t mark) {
    while (l->n_memos > mark) {
        const memo *m = &l->memos[--l->n_memos];
        l->memo_chain[chain_of(m->what, m->part, m->at)] = m->older;
    }
}

bool lower_memo_find(const lowering *l, int32_t what, int32_t part, place at, ir_ref *ref) {
    for (int32_t k = l->memo_chain[chain_of(what, part, at)]; k >= 0; k = l->memos[k].older) {
        const memo *m = &l->memos[k];
        if (m->what != what || m->part != part || memcmp(&m->at, &at, sizeof at) != 0) continue;
        *ref = m->ref;
        return true;
    }
    return false;
}

void lower_memo_keep(lowering *l, int32_t what, int32_t part, place at, ir_ref ref) {
    if (atn_grow(l->ctx, (void **)&l->memos, &l->memos_capacity, l->n_memos, sizeof *l->memos) != ATN_OK) {
        l->p->failed = true;
        return;
    }
    int32_t *chain = &l->memo_chain[chain_of(what, part, at)];
    l->memos[l->n_memos] = (memo){what, part, at, ref, *chain};
    *chain = (int32_t)l->n_memos++;
}

ir_ref lower_dimension(lowering *l, int32_t dim, place at) {
    const dim_state *s = &l->dim[dim];
    at = lower_normal(l, 1u << dim, at);
    ir_ref ref;
    if (lower_memo_find(l, -1 - dim, 0, at, &ref)) return ref;
    int64_t offset = lower_offset(l, dim, at) + (at.lane > 0 ? at.lane : 0);
    ref = ir_add_integer(l->p, s->base, offset);
    if (s->limit >= 0) ref = ir_operation(l->p, ATN_OP_MIN, IR_ADDRESS, ref, ir_add_integer(l->p, s->limit, -1), -1);
    if (offset || s->limit >= 0) {
        char name[32];
        const atn_dim *d = &l->g->dims[dim];
        snprintf(name, sizeof name, "%.20s_i%d", l->g->blocks[d->block].name, d->axis);
        ref = ir_declare(l->p, l->block, name, ref);
    }
    lower_memo_keep(l, -1 - dim, 0, at, ref);
    return ref;
}

int32_t lower_type(const lowering *l, atn_type type) { return (int32_t)atn_variant_type(&l->v, type); }

bool lower_ready(const lowering *l, atn_value value) {
    return lower_needs_met(l->g, &l->needs, value, l->bound, l->done);
}
