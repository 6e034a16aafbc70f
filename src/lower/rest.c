/* Accumulators at rest: on the host the sequence of a group runs inside its tiles, so that one packed panel serves all
 * of it; between tiles the accumulators lie in a tile of their own. */
#include "lower/loops.h"

typedef struct resting {
    loops *o;
    ir_ref start, to;
    void (*after)(lowering *l);
    int32_t phase; /* 0: neutral, 1: one tile, 2: the end */
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

static void rest_step(lowering *l, void *data) {
    resting *r = data;
    loops *o = r->o;
    int32_t width = loops_acc_width(o, 0);
    if (r->phase == 1) loops_hoist(l, o->b);
    for (int32_t n = 0; n < o->places && !l->p->failed; ++n)
        for (int32_t k = 0; k < o->b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&o->b->acc[k]); ++part) {
                ir_ref start = ir_splat(l->p, acc_neutral(l, o->b, k, part), width);
                if (r->phase > 0)
                    start = ir_make(l->p, (ir_node){.kind = IR_TILE,
                                                    .type = acc_type(l, &o->b->acc[k]),
                                                    .width = width,
                                                    .arg = {rest_element(o, n, width), -1, -1},
                                                    .id = o->rest[k][part]});
                *loops_slot(o, n, 0, k, part) = ir_declare_mutable(l->p, l->block, "acc", start);
            }
    if (r->phase == 1) loops_one_tile(o, r->start, r->to);
    for (int32_t n = 0; n < o->places && r->phase < 2 && !l->p->failed; ++n)
        for (int32_t k = 0; k < o->b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&o->b->acc[k]); ++part)
                ir_append(l->p, l->block,
                          (ir_statement){.kind = IR_TILE_STORE,
                                         .id = o->rest[k][part],
                                         .index = rest_element(o, n, width),
                                         .value = ir_variable_ref(l->p, *loops_slot(o, n, 0, k, part)),
                                         .limit = -1,
                                         .body = -1,
                                         .other = -1});
    if (r->phase == 2) {
        loops_conclude(o);
        l->done |= 1u << o->block;
        r->after(l);
        l->done &= ~(1u << o->block);
    }
}

static void rest_tile(loops *o, ir_ref start, ir_ref to) {
    resting *r = o->l->resting;
    r->start = start;
    r->to = to;
    lower_each_step(o->l, rest_step, r);
}

void lower_block_rested(lowering *l, int32_t block, void (*after)(lowering *l)) {
    lower_bind_points(l, NULL); /* so that places are known */
    loops o = loops_open(l, block);
    ir_stage *stage = &l->p->stage[l->stage];
    lower_stage_open(l, block);
    int64_t steps = 1;
    for (int32_t d = 0; d < l->cuts.n_points; ++d) steps *= l->v.p[d].seq;
    for (int32_t k = 0; k < o.b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&o.b->acc[k]); ++part) {
            if (stage->n_tiles == (int32_t)(sizeof stage->tile / sizeof *stage->tile)) {
                lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: more accumulators than a group has tiles for", l->g->name);
                return;
            }
            o.rest[k][part] = stage->n_tiles;
            stage->tile[stage->n_tiles++] = (ir_tile){.name = "rest",
                                                      .type = (atn_type)acc_type(l, &o.b->acc[k]),
                                                      .elements = steps * o.places * loops_acc_width(&o, 0)};
        }
    resting r = {.o = &o, .after = after, .phase = 0};
    lower_each_step(l, rest_step, &r);
    r.phase = 1;
    ir_ref from, to;
    loops_bounds(&o, 0, &from, &to);
    l->resting = &r;
    loops_tiles(&o, from, to, rest_tile);
    l->resting = NULL;
    l->staged.count = 0;
    r.phase = 2;
    lower_each_step(l, rest_step, &r);
}
