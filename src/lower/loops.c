/* The loops of a reduction: full steps and the tail, tiles (staged, double buffered), the part of a range that belongs
 * to one group of a split, and the outer dimension around it. */
#include "lower/loops.h"

#include <stdio.h>

static void bind_q(loops *o, int32_t dim, ir_ref base, ir_ref local, int32_t regs, int32_t pack, int32_t vec,
                   int64_t row) {
    o->l->dim[dim] = (dim_state){
        .bound = true, .base = base, .local = local, .regs = regs, .pack = pack, .vec = vec, .row = row, .limit = -1};
    o->l->bound |= 1u << dim;
}

/* A loop over q0 from `from` to `to` whose body is one step. */
static void loop_q0(loops *o, ir_ref from, ir_ref to, ir_ref tile_start, bool in_tail, int32_t unroll) {
    lowering *l = o->l;
    int32_t q0 = o->b->dim[0], vec = in_tail ? 1 : o->r.q[0].vec, regs = in_tail ? 1 : o->r.q[0].regs,
            lanes = o->r.q[0].lanes, pack = in_tail ? 1 : o->r.q[0].pack;
    bool by_item = vec == 1 && regs == 1 && o->lane[0] >= 0; /* each item starts at its own place */
    char name[64];
    snprintf(name, sizeof name, "%.30s_q0", o->b->name);
    int32_t variable = ir_new_variable(l->p, name, IR_ADDRESS, 1, true);
    ir_ref index = ir_variable_ref(l->p, variable), base = index;
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    int32_t vec_dim = l->vec_dim;
    uint32_t bound = l->bound;
    l->block = &body;
    if (o->lane[0] >= 0 && !by_item)
        base = ir_declare(l->p, l->block, "q0", ir_add(l->p, index, ir_multiply_integer(l->p, o->lane[0], vec * pack)));
    ir_ref local = tile_start >= 0 ? ir_subtract(l->p, base, tile_start) : base;
    if (tile_start >= 0 && ir_is_integer(l->p, from, &(int64_t){0})) { /* counted from the start of the tile */
        local = base;
        base = ir_add(l->p, tile_start, base);
    }
    bind_q(o, q0, base, local, regs, pack, vec, (int64_t)lanes * vec * pack);
    if (vec > 1) l->vec_dim = q0;
    loops_step(o, in_tail);
    l->vec_dim = vec_dim;
    l->bound = bound;
    l->dim[q0].bound = false;
    lower_forget(l, mark);
    l->block = outer;
    if (by_item) from = ir_add(l->p, from, o->lane[0]);
    ir_for(l->p, outer, variable, from, to, (int64_t)lanes * vec * regs, unroll, body);
}

/* Contiguous steps are read at once if the first of them is aligned, because then all are; otherwise one by one. */
static void loop_in_pieces(loops *o, ir_ref from, ir_ref to) {
    lowering *l = o->l;
    ir_block ways[2] = {IR_EMPTY, IR_EMPTY}, *outer = l->block;
    int32_t q0 = o->b->dim[0];
    uint32_t bound = l->bound;
    for (int32_t apart = 0; apart < 2; ++apart) {
        l->block = &ways[apart];
        l->pieces = apart ? PIECES_APART : PIECES_ALIGNED;
        l->pieces_of = apart ? l->pieces_of : 0;
        loop_q0(o, from, to, -1, false, o->r.q[0].unroll);
    }
    l->pieces = PIECES_ANYWHERE;
    l->block = outer;
    size_t mark = lower_mark(l);
    bind_q(o, q0, from, from, 1, 1, 1, 1);
    ir_ref aligned = lower_pieces_aligned(l, l->pieces_of);
    l->bound = bound;
    l->dim[q0].bound = false;
    lower_forget(l, mark);
    ir_if(l->p, outer, aligned >= 0 ? aligned : ir_integer(l->p, ATN_B, 1), ways[0], ways[1]);
}

/* The range [from, to) of q0: full steps, then the remainder. */
static void range_q0(loops *o, ir_ref from, ir_ref to, ir_ref tile_start) {
    lowering *l = o->l;
    if (!o->r.tail) {
        loop_q0(o, from, to, tile_start, false, o->r.q[0].unroll);
        return;
    }
    int64_t stride = (int64_t)o->r.q[0].lanes * o->r.q[0].vec * o->r.q[0].regs;
    ir_ref length = ir_subtract(l->p, to, from);
    ir_ref full = ir_multiply_integer(
        l->p, ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, length, ir_address(l->p, stride), -1), stride);
    ir_ref middle = ir_declare(l->p, l->block, "full", ir_add(l->p, from, full));
    if (o->r.q[0].pack > 1)
        loop_in_pieces(o, from, middle);
    else
        loop_q0(o, from, middle, tile_start, false, o->r.q[0].unroll);
    loop_q0(o, middle, to, tile_start, true, 1);
}

/* One staged tile: with a constant length if it is full, so that the loop can be unrolled well. */
void loops_one_tile(loops *o, ir_ref start, ir_ref to) {
    lowering *l = o->l;
    int64_t stride = (int64_t)o->r.q[0].lanes * o->r.q[0].vec * o->r.q[0].regs;
    if (o->r.q[0].tile % stride != 0) {
        range_q0(
            o, start,
            ir_declare(l->p, l->block, "tile_end",
                       ir_operation(l->p, ATN_OP_MIN, IR_ADDRESS, ir_add_integer(l->p, start, o->r.q[0].tile), to, -1)),
            start);
        return;
    }
    ir_block full = IR_EMPTY, part = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &full;
    loop_q0(o, ir_address(l->p, 0), ir_address(l->p, o->r.q[0].tile), start, false, o->r.q[0].unroll);
    lower_forget(l, mark);
    l->block = &part;
    range_q0(o, start, to, start);
    lower_forget(l, mark);
    l->block = outer;
    ir_ref fits = ir_operation(l->p, ATN_OP_LE, ATN_B, ir_add_integer(l->p, start, o->r.q[0].tile), to, -1);
    ir_if(l->p, outer, fits, full, part);
}

/* Tiles, each staged (or not) and then processed by `each`. */
void loops_tiles(loops *o, ir_ref from, ir_ref to, loops_tile *each) {
    lowering *l = o->l;
    bool doubled = l->staged.count > 0 && l->v.stage == 2 && !l->host;
    ir_ref fetched[MAX_PREFETCH], half[MAX_STAGED];
    int32_t half_variable[MAX_STAGED];
    ir_clear(half_variable, sizeof half_variable);
    if (doubled) {
        lower_stage_prefetch(l, from, fetched);
        for (int32_t n = 0; n < l->staged.count; ++n) {
            half_variable[n] = ir_declare_mutable(l->p, l->block, "half", ir_address(l->p, 0));
            half[n] = ir_multiply_integer(l->p, ir_variable_ref(l->p, half_variable[n]),
                                          l->staged.of[n].elements); /* its alignment is visible to the compiler */
        }
        lower_stage_commit(l, fetched, half);
        ir_barrier(l->p, l->block);
    }
    int32_t variable = ir_new_variable(l->p, "tile_start", IR_ADDRESS, 1, true);
    ir_ref start = ir_variable_ref(l->p, variable);
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &body;
    if (doubled) {
        lower_stage_prefetch(l, ir_add_integer(l->p, start, o->r.q[0].tile), fetched);
        for (int32_t n = 0; n < l->staged.count; ++n) l->staged.of[n].half = half[n];
        each(o, start, to);
        ir_ref one = ir_address(l->p, 1);
        for (int32_t n = 0; n < l->staged.count; ++n)
            ir_assign(l->p, l->block, half_variable[n],
                      ir_subtract(l->p, one, ir_variable_ref(l->p, half_variable[n])));
        lower_stage_commit(l, fetched, half);
        ir_barrier(l->p, l->block);
    } else {
        if (l->staged.count > 0) lower_stage_fill(l, start);
        if (l->staged.count > 0 && !l->host) ir_barrier(l->p, l->block);
        each(o, start, to);
        if (o->r.runs) loops_end_run(o);
        if (l->staged.count > 0 && !l->host) ir_barrier(l->p, l->block);
    }
    lower_forget(l, mark);
    l->block = outer;
    ir_for(l->p, outer, variable, from, to, o->r.q[0].tile, 1, body);
}

/* ---- the ranges ---- */

/* The part of a split range that belongs to this group: whole tiles or steps, the last one shorter. */
static void split_range(loops *o, int32_t splits, int64_t grain, ir_ref *from, ir_ref *to) {
    atn_lowered *p = o->l->p;
    ir_ref length = ir_subtract(p, *to, *from);
    int64_t unit = splits * grain;
    ir_ref chunk =
        ir_operation(p, ATN_OP_DIV, IR_ADDRESS, ir_add_integer(p, length, unit - 1), ir_address(p, unit), -1);
    chunk = ir_declare(p, o->l->block, "chunk", ir_multiply_integer(p, chunk, grain));
    ir_ref begin = ir_declare(p, o->l->block, "split_from", ir_add(p, *from, ir_multiply(p, o->l->split, chunk)));
    *to = ir_declare(p, o->l->block, "split_to",
                     ir_operation(p, ATN_OP_MIN, IR_ADDRESS, *to, ir_add(p, begin, chunk), -1));
    *from = begin;
}

void loops_bounds(loops *o, int32_t axis, ir_ref *from, ir_ref *to) {
    lowering *l = o->l;
    const atn_dim *d = &l->g->dims[o->b->dim[axis]];
    *from = ir_declare(l->p, l->block, "from", lower_end(l, d->begin));
    *to = ir_declare(l->p, l->block, "to", lower_end(l, d->end));
    int32_t splits = l->cuts.splits;
    if (l->split < 0 || !o->r.outermost || axis != o->b->rank - 1) return;
    int64_t stride = (int64_t)o->r.q[0].lanes * o->r.q[0].vec * o->r.q[0].regs;
    split_range(o, splits, axis > 0 ? o->r.q[axis].lanes : o->r.q[0].tile > 0 ? o->r.q[0].tile : stride, from, to);
}

static void rows_q0(loops *o, loops_tile *each) {
    ir_ref from, to;
    loops_bounds(o, 0, &from, &to);
    if (o->r.q[0].tile > 0 && (o->l->staged.count > 0 || o->r.runs) && o->r.outermost)
        loops_tiles(o, from, to, each);
    else
        range_q0(o, from, to, -1);
}

/* The loops from `axis` inwards. */
static void loops_from(loops *o, int32_t axis, loops_tile *each) {
    lowering *l = o->l;
    if (axis <= 0) {
        rows_q0(o, each);
        return;
    }
    ir_ref from, to;
    loops_bounds(o, axis, &from, &to);
    if (o->lane[axis] >= 0) from = ir_add(l->p, from, o->lane[axis]);
    char name[64];
    snprintf(name, sizeof name, "%.30s_q%d", o->b->name, axis);
    int32_t variable = ir_new_variable(l->p, name, IR_ADDRESS, 1, true), q = o->b->dim[axis];
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    uint32_t bound = l->bound;
    l->block = &body;
    ir_ref index = ir_variable_ref(l->p, variable);
    bind_q(o, q, index, ir_address(l->p, 0), 1, 1, 1, 1);
    loops_hoist(l, o->b);
    loops_from(o, axis - 1, each);
    l->bound = bound;
    l->dim[q].bound = false;
    lower_forget(l, mark);
    l->block = outer;
    ir_for(l->p, outer, variable, from, to, o->r.q[axis].lanes, 1, body);
}

/* All loops of the block, the outermost dimension first. */
void loops_all(loops *o, loops_tile *each) { loops_from(o, o->b->rank - 1, each); }
