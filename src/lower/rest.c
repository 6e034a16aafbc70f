/* Accumulators at rest: on the host, the sequence of a group runs inside its tiles, so that one packed panel serves all
 * of it; between tiles, the accumulators are stored in a tile of their own. */
#include "lower/parts.h"

typedef struct resting {
    loops *o;
    ir_ref from, start, to; /* start: the tile; -1: the range is empty, and there is none */
    void (*after)(lowering *l);
    const lower_parts *parts; /* elements are split, and a step is one product; NULL: they are not */
} resting;

/* Element of the resting tile for a place of the current step. */
static ir_ref rest_element(loops *o, int32_t place_index, int32_t width) {
    lowering *l = o->l;
    ir_ref step_index = ir_address(l->p, 0);
    for (int32_t d = l->cuts.n_points; d-- > 0;) {
        const atn_cut *c = &l->v.p[d];
        int64_t each = (int64_t)c->lanes * c->vec * c->regs;
        ir_ref local = l->dim[l->cuts.point[d]].local;
        ir_ref s = c->seq == 1 ? ir_address(l->p, 0)
                               : ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, local, ir_address(l->p, each), -1);
        step_index = ir_add(l->p, ir_multiply_integer(l->p, step_index, c->seq), s);
    }
    return ir_multiply_integer(
        l->p, ir_add_integer(l->p, ir_multiply_integer(l->p, step_index, o->places), place_index), width);
}

/* Calls `each` for every accumulator of every place. */
static void each_accumulator(loops *o, void (*each)(loops *o, int32_t place_index, int32_t k, int32_t part)) {
    for (int32_t n = 0; n < o->places && !o->l->p->failed; ++n)
        for (int32_t k = 0; k < o->b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&o->b->acc[k]); ++part) each(o, n, k, part);
}

static void declare_neutral(loops *o, int32_t n, int32_t k, int32_t part) {
    lowering *l = o->l;
    ir_ref start = ir_splat(l->p, acc_neutral(l, o->b, k, part), loops_acc_width(o, 0));
    *loops_slot(o, n, 0, k, part) = ir_declare_mutable(l->p, l->block, "acc", start);
}

static void take_up(loops *o, int32_t n, int32_t k, int32_t part) {
    lowering *l = o->l;
    int32_t width = loops_acc_width(o, 0);
    ir_assign(l->p, l->block, *loops_slot(o, n, 0, k, part),
              ir_make(l->p, (ir_node){.kind = IR_TILE,
                                      .type = acc_type(l, &o->b->acc[k]),
                                      .width = width,
                                      .arg = {rest_element(o, n, width), -1, -1},
                                      .id = o->rest[k][part]}));
}

static void lay_down(loops *o, int32_t n, int32_t k, int32_t part) {
    lowering *l = o->l;
    ir_append(l->p, l->block,
              (ir_statement){.kind = IR_TILE_STORE,
                             .id = o->rest[k][part],
                             .index = rest_element(o, n, loops_acc_width(o, 0)),
                             .value = ir_variable_ref(l->p, *loops_slot(o, n, 0, k, part)),
                             .limit = -1,
                             .body = -1,
                             .other = -1});
}

/* After the last tile: results, and what is computed from them. Those reads do not use tiles. */
static void finish(resting *r) {
    lowering *l = r->o->l;
    int32_t tiles = l->staged.count;
    l->staged.count = 0;
    loops_conclude(r->o);
    l->done |= 1u << r->o->block;
    r->after(l);
    l->done &= ~(1u << r->o->block);
    l->staged.count = tiles;
}

/* Products are added to the accumulators where they rest. */
static void multiply_step(lowering *l, resting *r) {
    loops *o = r->o;
    ir_block last = IR_EMPTY, *outer = l->block;
    parts_multiply(l, r->parts, r->from, r->start, r->to, o->rest[0][0], rest_element(o, 0, loops_acc_width(o, 0)));
    size_t mark = lower_mark(l);
    l->block = &last;
    each_accumulator(o, declare_neutral);
    each_accumulator(o, take_up);
    finish(r);
    lower_forget(l, mark);
    l->block = outer;
    ir_ref end = ir_operation(l->p, ATN_OP_LE, ATN_B, r->to, ir_add_integer(l->p, r->start, o->r.q[0].tile), -1);
    ir_if(l->p, outer, end, last, IR_EMPTY);
}

/* One step of the sequence in one tile: the first initialises, the last produces results. */
static void rest_step(lowering *l, void *data) {
    resting *r = data;
    loops *o = r->o;
    if (r->parts && r->start >= 0) {
        multiply_step(l, r);
        return;
    }
    if (r->start >= 0) loops_hoist(l, o->b);
    each_accumulator(o, declare_neutral);
    if (r->start < 0) {
        finish(r);
        return;
    }
    ir_block earlier = IR_EMPTY, more = IR_EMPTY, last = IR_EMPTY, *outer = l->block;
    l->block = &earlier;
    each_accumulator(o, take_up);
    ir_if(l->p, outer, ir_less(l->p, r->from, r->start), earlier, IR_EMPTY);
    l->block = outer;
    loops_one_tile(o, r->start, r->to);
    l->block = &more;
    each_accumulator(o, lay_down);
    size_t mark = lower_mark(l);
    l->block = &last;
    finish(r);
    lower_forget(l, mark);
    l->block = outer;
    ir_if(l->p, outer, ir_less(l->p, ir_add_integer(l->p, r->start, o->r.q[0].tile), r->to), more, last);
}

static void rest_tile(loops *o, ir_ref start, ir_ref to) {
    resting *r = o->l->resting;
    r->start = start;
    r->to = to;
    if (r->parts) parts_fill(o->l, r->parts, start, to);
    lower_each_step(o->l, rest_step, r);
}

/* A tile that was moved back begins with points of the previous group: whole steps of them are skipped. */
static void skip_steps(lowering *l) {
    atn_lowered *p = l->p;
    l->skips = l->own != NULL;
    for (int32_t d = 0; d < l->cuts.n_points && l->skips; ++d) {
        const atn_cut *c = &l->v.p[d];
        ir_ref back = ir_subtract(p, l->own[d], l->start[d]),
               each = ir_address(p, (int64_t)c->lanes * c->vec * c->regs);
        back = ir_operation(p, ATN_OP_MAX, IR_ADDRESS, back, ir_address(p, 0), -1);
        l->first_step[d] = lower_declare(l, "first", d, ir_operation(p, ATN_OP_DIV, IR_ADDRESS, back, each, -1));
    }
}

void lower_block_rested(lowering *l, int32_t block, void (*after)(lowering *l)) {
    lower_bind_points(l, NULL); /* so that places are known */
    loops o = loops_open(l, block);
    ir_stage *stage = &l->p->stage[l->stage];
    lower_parts parts;
    bool splits = atn_variant_parts(&l->v) > 0;
    if (splits)
        parts_open(l, &parts);
    else
        lower_stage_open(l, block);
    int64_t steps = 1;
    for (int32_t d = 0; d < l->cuts.n_points; ++d) steps *= l->v.p[d].seq;
    for (int32_t k = 0; k < o.b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&o.b->acc[k]); ++part) {
            if (stage->n_tiles == (int32_t)(sizeof stage->tile / sizeof *stage->tile)) {
                lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: too many accumulators for the local buffers of a group",
                           l->g->name);
                return;
            }
            o.rest[k][part] = stage->n_tiles;
            stage->tile[stage->n_tiles++] = (ir_tile){.name = "rest",
                                                      .type = (atn_type)acc_type(l, &o.b->acc[k]),
                                                      .elements = steps * o.places * loops_acc_width(&o, 0)};
        }
    resting r = {.o = &o, .start = -1, .after = after, .parts = splits ? &parts : NULL};
    skip_steps(l);
    loops_bounds(&o, 0, &r.from, &r.to);
    ir_block some = IR_EMPTY, none = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->resting = &r;
    l->block = &some;
    if (splits) parts_set(l, &parts, false);
    loops_tiles(&o, r.from, r.to, rest_tile);
    if (splits) parts_set(l, &parts, true);
    lower_forget(l, mark);
    l->resting = NULL;
    l->staged.count = 0;
    r.start = -1;
    l->block = &none;
    lower_each_step(l, rest_step, &r);
    lower_forget(l, mark);
    l->skips = false;
    l->block = outer;
    ir_if(l->p, outer, ir_less(l->p, r.from, r.to), some, none);
}
