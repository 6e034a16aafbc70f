/* Partial results: kept per point and split in scratch memory, combined in a fixed order at the end; and init, applied
 * once. */
#include "lower/loops.h"

/* Makes RESULT nodes of the block available at a place. */
void loops_keep_results(lowering *l, int32_t block, place at, ir_ref value[][2]) {
    const atn_block *b = &l->g->blocks[block];
    for (atn_value v = 0; v < l->g->n_values; ++v) {
        const atn_node *n = &l->g->values[v];
        if (n->op != ATN_OP_RESULT || n->index != block) continue;
        for (int32_t part = 0; part < acc_parts(&b->acc[n->axis]); ++part) {
            ir_ref ref = ir_declare(l->p, l->block, n->label ? n->label : b->name,
                                    ir_cast(l->p, lower_type(l, n->type), value[n->axis][part]));
            lower_memo_keep(l, v, part, lower_normal(l, n->dims, at), ref);
        }
    }
}

/* init, applied once: init combined with the accumulated result. */
void loops_apply_init(lowering *l, int32_t block, place at, ir_ref value[][2]) {
    const atn_block *b = &l->g->blocks[block];
    if (b->acc[0].join == ATN_JOIN_CUSTOM || b->acc[0].join == ATN_JOIN_ORDERED) return; /* they started from it */
    ir_ref init[ATN_MAX_ACCS][2], joined[ATN_MAX_ACCS][2];
    bool plain = true; /* sums from 0 and the like need no join */
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
            const atn_acc *a = &b->acc[k];
            init[k][part] = a->init >= 0 ? ir_cast(l->p, acc_type(l, a), lower_value(l, a->init, at, part))
                                         : acc_neutral(l, b, k, part);
            ir_ref neutral = acc_neutral(l, b, k, part);
            if (l->p->failed) return;
            const ir_node *x = &l->p->nodes[init[k][part]], *y = &l->p->nodes[neutral];
            plain = plain && x->kind == y->kind && (x->kind == IR_INTEGER || x->kind == IR_NUMBER) &&
                    x->integer == y->integer && x->number == y->number;
        }
    if (plain) return;
    lower_join(l, b, init, value, joined, true);
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
            value[k][part] = ir_declare(l->p, l->block, "with_init", joined[k][part]);
}

/* Slot of (accumulator part n, this split, this point). */
static ir_ref scratch_slot(lowering *l, int32_t n, ir_ref split, place at) {
    atn_lowered *p = l->p;
    ir_ref point = ir_address(p, 0), points = ir_address(p, 1);
    for (int32_t d = l->cuts.n_points; d-- > 0;) {
        point = ir_add(p, ir_multiply(p, point, l->extent[d]),
                       ir_subtract(p, lower_dimension(l, l->cuts.point[d], at), l->begin[d]));
        points = ir_multiply(p, points, l->extent[d]);
    }
    int32_t splits = l->cuts.splits;
    ir_ref row = ir_add(p, ir_address(p, (int64_t)n * splits), split);
    return ir_add(p, ir_multiply(p, row, points), point);
}

static int32_t number_parts(const atn_block *b) {
    int32_t n = 0;
    for (int32_t k = 0; k < b->n_accs; ++k) n += acc_parts(&b->acc[k]);
    return n;
}

/* Layout of words that are waited for: those of one part of the range are contiguous. */
int32_t lower_acc_words(const lowering *l, const atn_acc *acc) {
    return ((int32_t)atn_type_bytes((atn_type)acc_type(l, acc)) + 3) / 4;
}

static int32_t number_words(const lowering *l, const atn_block *b) {
    int32_t n = 0;
    for (int32_t k = 0; k < b->n_accs; ++k) n += acc_parts(&b->acc[k]) * lower_acc_words(l, &b->acc[k]);
    return n;
}

static ir_ref first_word(lowering *l, const atn_block *b, int32_t acc, int32_t part, ir_ref split) {
    int32_t before = part * lower_acc_words(l, &b->acc[acc]);
    for (int32_t k = 0; k < acc; ++k) before += acc_parts(&b->acc[k]) * lower_acc_words(l, &b->acc[k]);
    return ir_add_integer(l->p, ir_multiply_integer(l->p, split, number_words(l, b)), before);
}

enum { EMPTY = 0, LEFT = 1 }; /* the state of a word that is waited for; the reader empties it */

static void leave(lowering *l, ir_ref at, int32_t state, ir_ref value) {
    ir_append(l->p, l->block,
              (ir_statement){.kind = IR_LEAVE,
                             .index = at,
                             .value = value,
                             .limit = ir_integer(l->p, ATN_INT32, state),
                             .body = -1,
                             .other = -1});
}

/* Everything a group published, and its slot emptied again. Of several words, all are polled before the first is waited
 * for. */
static void await(lowering *l, const atn_block *b, ir_ref split, ir_ref out[][2]) {
    ir_ref at[ATN_MAX_ACCS][2], seen[ATN_MAX_ACCS][2];
    ir_clear(at, sizeof at);
    ir_clear(seen, sizeof seen);
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
            at[k][part] = ir_declare(l->p, l->block, "word", first_word(l, b, k, part, split));
            ir_node peek = {.kind = IR_PEEK, .type = ATN_INDEX, .width = 1, .arg = {at[k][part], -1, -1}};
            seen[k][part] = number_parts(b) > 1 ? ir_declare(l->p, l->block, "seen", ir_make(l->p, peek)) : -1;
        }
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
            ir_node awaited = {.kind = IR_AWAIT,
                               .type = acc_type(l, &b->acc[k]),
                               .width = 1,
                               .arg = {at[k][part], ir_integer(l->p, ATN_INT32, LEFT), seen[k][part]}};
            out[k][part] = ir_declare(l->p, l->block, "partial", ir_make(l->p, awaited));
            leave(l, at[k][part], EMPTY, acc_neutral(l, b, k, part));
        }
}

/* Stores the results of this split in scratch memory; done by the first lane of a point that is inside. */
static void store_at(lowering *l, const atn_block *b, place at, ir_ref value[][2]) {
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    ir_ref enable = l->lane_q >= 0 ? ir_operation(l->p, ATN_OP_EQ, ATN_B, l->lane_q, ir_address(l->p, 0), -1) : -1;
    for (int32_t k = 0; k < l->cuts.n_points; ++k) {
        const dim_state *s = &l->dim[l->cuts.point[k]];
        if (s->limit >= 0) {
            int64_t offset = lower_offset(l, l->cuts.point[k], at);
            enable = ir_and(l->p, enable, ir_less(l->p, ir_add_integer(l->p, s->base, offset), s->limit));
        }
    }
    int32_t width = l->vec_dim >= 0 && l->dim[l->vec_dim].bound ? l->dim[l->vec_dim].vec : 1;
    lower_scene scene = lower_scene_of(l);
    lower_meeting meeting = lower_find_meeting(&scene);
    bool atomic = meeting == LOWER_MEET_ATOMIC;
    l->block = &body;
    for (int32_t k = 0, n = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part, ++n)
            for (int32_t lane = 0; lane < width; ++lane) {
                place one = at;
                one.lane = (int8_t)(width > 1 ? lane : -1);
                if (meeting == LOWER_MEET_AWAIT) {
                    leave(l, first_word(l, b, k, part, l->split), LEFT, value[k][part]);
                    continue;
                }
                ir_ref index = atomic ? ir_address(l->p, n) : scratch_slot(l, n, l->split, one);
                ir_append(l->p, l->block,
                          (ir_statement){.kind = atomic ? IR_SCRATCH_ATOMIC : IR_SCRATCH_STORE,
                                         .index = index,
                                         .scatter = ATN_WRITE_ADD,
                                         .value = ir_lane(l->p, value[k][part], lane),
                                         .limit = -1,
                                         .body = -1,
                                         .other = -1});
            }
    l->block = outer;
    lower_forget(l, mark);
    if (enable >= 0) {
        ir_if(l->p, outer, enable, body, IR_EMPTY);
    } else {
        ir_if(l->p, outer, ir_integer(l->p, ATN_B, 1), body, IR_EMPTY);
    }
}

/* Results that do not depend on all dimensions of the points are nevertheless stored for every register of them. */
void loops_store_partial(lowering *l, const atn_block *b, place at, ir_ref value[][2]) {
    uint32_t others = l->cuts.points & ~loops_result_dims(l, b);
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
            value[k][part] = ir_declare(l->p, l->block, "partial", value[k][part]);
    do store_at(l, b, at, value);
    while (lower_next_place(l, others, &at));
}

void loops_end_place(lowering *l, const loops *o, place at, ir_ref value[][2]) {
    if (l->split >= 0) {
        loops_store_partial(l, o->b, at, value);
        return;
    }
    loops_apply_init(l, o->block, at, value);
    loops_keep_results(l, o->block, at, value);
}

void lower_finish(lowering *l, int32_t block) {
    const atn_block *b = &l->g->blocks[block];
    atn_lowered *p = l->p;
    int32_t splits = l->cuts.splits;
    lower_scene scene = lower_scene_of(l);
    lower_meeting meeting = lower_find_meeting(&scene);
    bool atomic = meeting == LOWER_MEET_ATOMIC, awaited = meeting == LOWER_MEET_AWAIT;
    uint32_t dims = loops_result_dims(l, b);
    place at = PLACE_ORIGIN;
    p->scratch_slots = awaited ? number_words(l, b) : number_parts(b);
    do {
        ir_ref value[ATN_MAX_ACCS][2], other[ATN_MAX_ACCS][2], joined[ATN_MAX_ACCS][2];
        for (int32_t k = 0; k < b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
                value[k][part] =
                    ir_variable_ref(p, ir_declare_mutable(p, l->block, "total", acc_neutral(l, b, k, part)));
        int32_t variable = ir_new_variable(p, "split", IR_ADDRESS, 1, true);
        ir_block body = IR_EMPTY, *outer = l->block;
        size_t mark = lower_mark(l);
        l->block = &body;
        if (awaited) await(l, b, ir_variable_ref(p, variable), other);
        for (int32_t k = 0, n = 0; k < b->n_accs && !awaited; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part, ++n) {
                ir_ref where = atomic ? ir_address(p, n) : scratch_slot(l, n, ir_variable_ref(p, variable), at);
                other[k][part] = ir_declare(p, l->block, "partial",
                                            ir_make(p, (ir_node){.kind = IR_SCRATCH,
                                                                 .type = acc_type(l, &b->acc[k]),
                                                                 .width = 1,
                                                                 .arg = {where, -1, -1}}));
            }
        lower_join(l, b, value, other, joined, false);
        for (int32_t k = 0; k < b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
                joined[k][part] = ir_declare(p, l->block, "joined", joined[k][part]);
        for (int32_t k = 0; k < b->n_accs && !p->failed; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
                ir_assign(p, l->block, p->nodes[value[k][part]].id, joined[k][part]);
        l->block = outer;
        lower_forget(l, mark);
        ir_ref first = l->lane_q >= 0 ? l->lane_q : ir_address(p, 0);
        ir_for(p, outer, variable, first, ir_address(p, atomic ? 1 : splits), l->lane_q >= 0 ? l->cuts.lanes_q : 1, 1,
               body);
        if (l->p->failed) return;
        lower_join_lanes(l, b, value);
        loops_apply_init(l, block, at, value);
        loops_keep_results(l, block, at, value);
    } while (lower_next_place(l, dims, &at));
    l->done |= 1u << block;
}
