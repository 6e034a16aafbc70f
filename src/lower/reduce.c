/* Reductions: the loops over a block's dimensions, its accumulators in registers (or at rest in a tile), the tail that
 * does not fill a step, and the end, where registers, lanes, items and groups are joined. */
#include "lower/lowering.h"

#include <stdio.h>
#include <string.h>

/* A block while its loops are being made. */
typedef struct loops {
    lowering *l;
    int32_t block;
    const atn_block *b;
    atn_cut q0, q1;        /* plain for nested blocks */
    uint32_t dims;         /* of the accumulators: the bound dimensions they differ by */
    int32_t places;        /* register instances over dims */
    int32_t sets;          /* accumulators per place: registers along q, and one more for the tail */
    bool tail;             /* the tail has accumulators of its own */
    int32_t *variable;     /* [place][set][accumulator][part] */
    ir_ref lane0, lane1;   /* this item along q0, q1 */
    int32_t rest[ATN_MAX_ACCS][2]; /* tiles where accumulators rest; see lower_block_rested */
} loops;

static int32_t *slot(const loops *o, int32_t place_index, int32_t set, int32_t k, int32_t part) {
    return &o->variable[((place_index * o->sets + set) * ATN_MAX_ACCS + k) * 2 + part];
}

static bool is_outermost(const lowering *l, int32_t block) {
    return block == 0 || (l->g->blocks[block].parent == 0 && l->g->blocks[0].n_accs == 0);
}

static bool keeps_order(const atn_block *b) { return b->n_accs > 0 && b->acc[0].join == ATN_JOIN_ORDERED; }

static uint32_t own_dims(const atn_block *b) {
    uint32_t mask = 0;
    for (int32_t k = 0; k < b->rank; ++k) mask |= 1u << b->dim[k];
    return mask;
}

/* The dimensions that the results of a block differ by. */
static uint32_t result_dims(const lowering *l, const atn_block *b) {
    uint32_t mask = 0;
    for (int32_t k = 0; k < b->n_accs; ++k) {
        const atn_acc *a = &b->acc[k];
        const atn_value parts[] = {a->init, a->term, a->update};
        for (size_t n = 0; n < 3; ++n)
            if (parts[n] >= 0) mask |= l->g->values[parts[n]].dims;
    }
    for (int32_t k = 0; k < b->rank; ++k)
        mask |= l->g->values[l->g->dims[b->dim[k]].begin].dims | l->g->values[l->g->dims[b->dim[k]].end].dims;
    return mask & ~own_dims(b) & l->bound;
}

static const atn_cut PLAIN = {.lanes = 1, .vec = 1, .regs = 1, .pack = 1, .seq = 1, .tile = 0, .unroll = 1, .split = 1};

static loops open_loops(lowering *l, int32_t block) {
    loops o = {.l = l, .block = block, .b = &l->g->blocks[block], .q0 = PLAIN, .q1 = PLAIN, .places = 1, .lane0 = -1, .lane1 = -1};
    if (is_outermost(l, block) && !keeps_order(o.b)) {
        o.q0 = l->v.q[0];
        o.q0.pack = 1;
        if (o.b->rank > 1) o.q1 = l->v.q[1];
    }
    o.dims = result_dims(l, o.b);
    for (int32_t d = 0; d < l->g->n_dims; ++d)
        if (o.dims >> d & 1) o.places *= l->dim[d].regs;
    o.tail = o.q0.vec > 1 || o.q0.regs > 1;
    o.sets = o.q0.regs + o.tail;
    o.variable = atn_arena_alloc(&l->p->arena, (size_t)(o.places * o.sets) * ATN_MAX_ACCS * 2 * sizeof *o.variable);
    if (!o.variable) l->p->failed = true;
    if (l->lane_q >= 0 && is_outermost(l, block)) {
        o.lane0 = o.q1.lanes > 1 ? ir_operation(l->p, ATN_OP_MOD, IR_ADDRESS, l->lane_q, ir_address(l->p, o.q0.lanes), -1) : l->lane_q;
        o.lane1 = o.q1.lanes > 1 ? ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, l->lane_q, ir_address(l->p, o.q0.lanes), -1) : -1;
        o.lane0 = ir_declare(l->p, l->block, "lane_q0", o.lane0);
        if (o.lane1 >= 0) o.lane1 = ir_declare(l->p, l->block, "lane_q1", o.lane1);
    }
    return o;
}

/* Lanes of the vector that an accumulator is: along a point's dimension always, along q in the main loop only. */
static int32_t acc_width(const loops *o, int32_t set) {
    const lowering *l = o->l;
    if (l->vec_dim >= 0 && (o->dims >> l->vec_dim & 1)) return l->dim[l->vec_dim].vec;
    return set < o->q0.regs ? o->q0.vec : 1;
}

static void declare_accumulators(loops *o) {
    lowering *l = o->l;
    for (int32_t n = 0; n < o->places && !l->p->failed; ++n)
        for (int32_t set = 0; set < o->sets; ++set)
            for (int32_t k = 0; k < o->b->n_accs; ++k)
                for (int32_t part = 0; part < acc_parts(&o->b->acc[k]); ++part) {
                    char name[64];
                    snprintf(name, sizeof name, "%.30s_acc%d", o->b->name, k);
                    ir_ref start = ir_splat(l->p, acc_neutral(l, o->b, k, part), acc_width(o, set));
                    *slot(o, n, set, k, part) = ir_declare_mutable(l->p, l->block, name, start);
                }
}

/* ---- one step ---- */

static void bind_q(loops *o, int32_t dim, ir_ref base, ir_ref local, int32_t regs, int32_t vec, int64_t row) {
    o->l->dim[dim] = (dim_state){.bound = true, .base = base, .local = local, .regs = regs, .pack = 1, .vec = vec, .row = row, .limit = -1};
    o->l->bound |= 1u << dim;
}

/* acc = acc joined with what this step contributes, at one place. */
static void accumulate(loops *o, int32_t place_index, int32_t set, place at) {
    lowering *l = o->l;
    const atn_block *b = o->b;
    ir_ref left[ATN_MAX_ACCS][2], right[ATN_MAX_ACCS][2], result[ATN_MAX_ACCS][2];
    bool by_update = b->acc[0].join == ATN_JOIN_CUSTOM || b->acc[0].join == ATN_JOIN_ORDERED;
    int32_t width = acc_width(o, set);
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
            int32_t variable = *slot(o, place_index, set, k, part);
            l->acc_variable[k][part] = variable;
            left[k][part] = ir_variable_ref(l->p, variable);
        }
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
            atn_value from = by_update ? b->acc[k].update : b->acc[k].term;
            ir_ref value = ir_cast(l->p, acc_type(l, &b->acc[k]), lower_value(l, from, at, part));
            right[k][part] = ir_splat(l->p, value, width);
            if (by_update && b->n_accs + acc_parts(&b->acc[k]) > 2) right[k][part] = ir_declare(l->p, l->block, "updated", right[k][part]);
        }
    if (!by_update) lower_join(l, b, left, right, result, true);
    for (int32_t k = 0; k < b->n_accs && !l->p->failed; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
            ir_assign(l->p, l->block, *slot(o, place_index, set, k, part), by_update ? right[k][part] : result[k][part]);
}

/* Everything that happens at one step of the loop: nested blocks, accumulation, writes. */
static void step(loops *o, bool in_tail) {
    lowering *l = o->l;
    int32_t q0 = o->b->dim[0];
    uint32_t before = l->done;
    for (int32_t k = 1; k < l->g->n_blocks; ++k)
        if (l->g->blocks[k].parent == o->block && !(o->block == 0 && l->g->blocks[0].n_accs == 0)) lower_block(l, k);
    if (o->b->n_accs > 0) {
        for (int32_t r = 0; r < (in_tail ? 1 : o->q0.regs); ++r) {
            place at = PLACE_ORIGIN;
            int32_t n = 0;
            do {
                place here = at;
                here.r[q0] = (int8_t)r;
                accumulate(o, n++, in_tail ? o->sets - 1 : r, here);
            } while (lower_next_place(l, o->dims, &at));
        }
    }
    uint32_t points = 0;
    for (int32_t k = 0; k < l->n_points; ++k) points |= 1u << l->point[k];
    lower_writes(l, o->block == 0 ? 0 : o->block, points | (l->bound & ~points), -1);
    l->done = before;
}

/* A loop over q0 from `from` to `to` whose body is one step. */
static void loop_q0(loops *o, ir_ref from, ir_ref to, ir_ref tile_start, bool in_tail, int32_t unroll) {
    lowering *l = o->l;
    int32_t q0 = o->b->dim[0], vec = in_tail ? 1 : o->q0.vec, regs = in_tail ? 1 : o->q0.regs, lanes = o->q0.lanes;
    bool by_item = vec == 1 && regs == 1 && o->lane0 >= 0; /* each item starts at its own place */
    char name[64];
    snprintf(name, sizeof name, "%.30s_q0", o->b->name);
    int32_t variable = ir_new_variable(l->p, name, IR_ADDRESS, 1, true);
    ir_ref index = ir_variable_ref(l->p, variable), base = index;
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    int32_t vec_dim = l->vec_dim;
    uint32_t bound = l->bound;
    l->block = &body;
    if (o->lane0 >= 0 && !by_item) base = ir_declare(l->p, l->block, "q0", ir_add(l->p, index, ir_multiply_integer(l->p, o->lane0, vec)));
    ir_ref local = tile_start >= 0 ? ir_subtract(l->p, base, tile_start) : base;
    if (tile_start >= 0 && ir_is_integer(l->p, from, &(int64_t){0})) { /* counted from the tile's start */
        local = base;
        base = ir_add(l->p, tile_start, base);
    }
    bind_q(o, q0, base, local, regs, vec, (int64_t)lanes * vec);
    if (vec > 1) l->vec_dim = q0;
    step(o, in_tail);
    l->vec_dim = vec_dim;
    l->bound = bound;
    l->dim[q0].bound = false;
    lower_forget(l, mark);
    l->block = outer;
    if (by_item) from = ir_add(l->p, from, o->lane0);
    ir_for(l->p, outer, variable, from, to, (int64_t)lanes * vec * regs, unroll, body);
}

/* The range [from, to) of q0: full steps, then what is left. */
static void range_q0(loops *o, ir_ref from, ir_ref to, ir_ref tile_start) {
    lowering *l = o->l;
    if (!o->tail) {
        loop_q0(o, from, to, tile_start, false, o->q0.unroll);
        return;
    }
    int64_t stride = (int64_t)o->q0.lanes * o->q0.vec * o->q0.regs;
    ir_ref length = ir_subtract(l->p, to, from);
    ir_ref full = ir_multiply_integer(l->p, ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, length, ir_address(l->p, stride), -1), stride);
    ir_ref middle = ir_declare(l->p, l->block, "full", ir_add(l->p, from, full));
    loop_q0(o, from, middle, tile_start, false, o->q0.unroll);
    loop_q0(o, middle, to, tile_start, true, 1);
}

/* One staged tile: with its length known where it is full, so that the loop can be unrolled well. */
static void tile_q0(loops *o, ir_ref start, ir_ref to) {
    lowering *l = o->l;
    int64_t stride = (int64_t)o->q0.lanes * o->q0.vec * o->q0.regs;
    if (o->q0.tile % stride != 0) {
        range_q0(o, start, ir_declare(l->p, l->block, "tile_end",
                                      ir_operation(l->p, ATN_OP_MIN, IR_ADDRESS, ir_add_integer(l->p, start, o->q0.tile), to, -1)), start);
        return;
    }
    ir_block full = IR_EMPTY, part = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &full;
    loop_q0(o, ir_address(l->p, 0), ir_address(l->p, o->q0.tile), start, false, o->q0.unroll);
    lower_forget(l, mark);
    l->block = &part;
    range_q0(o, start, to, start);
    lower_forget(l, mark);
    l->block = outer;
    ir_ref fits = ir_operation(l->p, ATN_OP_LE, ATN_B, ir_add_integer(l->p, start, o->q0.tile), to, -1);
    ir_if(l->p, outer, fits, full, part);
}

/* Tiles, each staged (or not) and then worked through by `each`. */
static void tiles_q0(loops *o, ir_ref from, ir_ref to, void (*each)(loops *o, ir_ref start, ir_ref to)) {
    lowering *l = o->l;
    bool doubled = l->n_staged > 0 && l->v.stage == 2 && !l->host;
    ir_ref fetched[MAX_PREFETCH], half[MAX_STAGED];
    int32_t half_variable[MAX_STAGED];
    if (doubled) {
        lower_stage_prefetch(l, from, fetched);
        for (int32_t n = 0; n < l->n_staged; ++n) {
            half_variable[n] = ir_declare_mutable(l->p, l->block, "half", ir_address(l->p, 0));
            int64_t size = l->p->stage[l->stage].tile[l->staged[n].tile].elements / 2; /* a product: its alignment can be seen */
            half[n] = ir_multiply_integer(l->p, ir_variable_ref(l->p, half_variable[n]), size);
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
        lower_stage_prefetch(l, ir_add_integer(l->p, start, o->q0.tile), fetched);
        for (int32_t n = 0; n < l->n_staged; ++n) l->staged[n].half = half[n];
        each(o, start, to);
        ir_ref one = ir_address(l->p, 1);
        for (int32_t n = 0; n < l->n_staged; ++n)
            ir_assign(l->p, l->block, half_variable[n], ir_subtract(l->p, one, ir_variable_ref(l->p, half_variable[n])));
        lower_stage_commit(l, fetched, half);
        ir_barrier(l->p, l->block);
    } else {
        if (l->n_staged > 0) lower_stage_fill(l, start);
        if (l->n_staged > 0 && !l->host) ir_barrier(l->p, l->block);
        each(o, start, to);
        if (l->n_staged > 0 && !l->host) ir_barrier(l->p, l->block);
    }
    lower_forget(l, mark);
    l->block = outer;
    ir_for(l->p, outer, variable, from, to, o->q0.tile, 1, body);
}

/* ---- the ranges ---- */

/* This group's part of a range that is split: whole tiles or steps, the last one shorter. */
static void split_range(loops *o, int32_t splits, int64_t grain, ir_ref *from, ir_ref *to) {
    atn_program *p = o->l->p;
    ir_ref length = ir_subtract(p, *to, *from);
    int64_t unit = splits * grain;
    ir_ref chunk = ir_operation(p, ATN_OP_DIV, IR_ADDRESS, ir_add_integer(p, length, unit - 1), ir_address(p, unit), -1);
    chunk = ir_declare(p, o->l->block, "chunk", ir_multiply_integer(p, chunk, grain));
    ir_ref begin = ir_declare(p, o->l->block, "split_from", ir_add(p, *from, ir_multiply(p, o->l->split, chunk)));
    *to = ir_declare(p, o->l->block, "split_to", ir_operation(p, ATN_OP_MIN, IR_ADDRESS, *to, ir_add(p, begin, chunk), -1));
    *from = begin;
}

static void bounds(loops *o, int32_t axis, ir_ref *from, ir_ref *to) {
    lowering *l = o->l;
    const atn_dim *d = &l->g->dims[o->b->dim[axis]];
    *from = ir_declare(l->p, l->block, "from", lower_address(l, d->begin, PLACE_ORIGIN));
    *to = ir_declare(l->p, l->block, "to", lower_address(l, d->end, PLACE_ORIGIN));
    int32_t splits = l->v.q[0].split > l->v.q[1].split ? l->v.q[0].split : l->v.q[1].split;
    if (l->split < 0 || !is_outermost(l, o->block) || axis != o->b->rank - 1) return;
    int64_t stride = (int64_t)o->q0.lanes * o->q0.vec * o->q0.regs;
    split_range(o, splits, axis == 1 ? o->q1.lanes : o->q0.tile > 0 ? o->q0.tile : stride, from, to);
}

static void rows_q0(loops *o, void (*each)(loops *o, ir_ref start, ir_ref to)) {
    ir_ref from, to;
    bounds(o, 0, &from, &to);
    if (o->q0.tile > 0 && o->l->n_staged > 0 && is_outermost(o->l, o->block))
        tiles_q0(o, from, to, each);
    else
        range_q0(o, from, to, -1);
}

/* All loops of the block, the outer dimension first. */
static void all_loops(loops *o, void (*each)(loops *o, ir_ref start, ir_ref to)) {
    lowering *l = o->l;
    if (o->b->rank < 2) {
        rows_q0(o, each);
        return;
    }
    ir_ref from, to;
    bounds(o, 1, &from, &to);
    if (o->lane1 >= 0) from = ir_add(l->p, from, o->lane1);
    char name[64];
    snprintf(name, sizeof name, "%.30s_q1", o->b->name);
    int32_t variable = ir_new_variable(l->p, name, IR_ADDRESS, 1, true), q1 = o->b->dim[1];
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    uint32_t bound = l->bound;
    l->block = &body;
    ir_ref index = ir_variable_ref(l->p, variable);
    bind_q(o, q1, index, ir_address(l->p, 0), 1, 1, 1);
    for (int32_t k = 0; k < o->b->n_accs; ++k) {
        if (o->b->acc[k].term >= 0) lower_hoist(l, o->b->acc[k].term);
        if (o->b->acc[k].update >= 0) lower_hoist(l, o->b->acc[k].update);
    }
    rows_q0(o, each);
    l->bound = bound;
    l->dim[q1].bound = false;
    lower_forget(l, mark);
    l->block = outer;
    ir_for(l->p, outer, variable, from, to, o->q1.lanes, 1, body);
}

/* ---- the end ---- */

/* Makes RESULT nodes of the block known at a place. */
static void keep_results(lowering *l, int32_t block, place at, ir_ref value[][2]) {
    const atn_block *b = &l->g->blocks[block];
    for (atn_value v = 0; v < l->g->n_values; ++v) {
        const atn_node *n = &l->g->values[v];
        if (n->op != ATN_OP_RESULT || n->index != block) continue;
        for (int32_t part = 0; part < acc_parts(&b->acc[n->axis]); ++part) {
            ir_ref ref = ir_declare(l->p, l->block, n->label ? n->label : b->name, ir_cast(l->p, lower_type(n->type), value[n->axis][part]));
            lower_memo_keep(l, v, part, lower_normal(l, n->dims, at), ref);
        }
    }
}

/* init, applied once: init joined with all the rest. */
static void apply_init(lowering *l, int32_t block, place at, ir_ref value[][2]) {
    const atn_block *b = &l->g->blocks[block];
    if (b->acc[0].join == ATN_JOIN_CUSTOM || b->acc[0].join == ATN_JOIN_ORDERED) return; /* they started from it */
    ir_ref init[ATN_MAX_ACCS][2], joined[ATN_MAX_ACCS][2];
    bool plain = true; /* sums from 0 and the like need no join */
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
            const atn_acc *a = &b->acc[k];
            init[k][part] = a->init >= 0 ? ir_cast(l->p, acc_type(l, a), lower_value(l, a->init, at, part)) : acc_neutral(l, b, k, part);
            ir_ref neutral = acc_neutral(l, b, k, part);
            if (l->p->failed) return;
            const ir_node *x = &l->p->nodes[init[k][part]], *y = &l->p->nodes[neutral];
            plain = plain && x->kind == y->kind && (x->kind == IR_INTEGER || x->kind == IR_NUMBER) && x->integer == y->integer &&
                    x->number == y->number;
        }
    if (plain) return;
    lower_join(l, b, init, value, joined, true);
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) value[k][part] = ir_declare(l->p, l->block, "with_init", joined[k][part]);
}

/* Slot of (accumulator part n, this split, this point). */
static ir_ref scratch_slot(lowering *l, int32_t n, ir_ref split, place at) {
    atn_program *p = l->p;
    ir_ref point = ir_address(p, 0), points = ir_address(p, 1);
    for (int32_t d = l->n_points; d-- > 0;) {
        point = ir_add(p, ir_multiply(p, point, l->extent[d]), ir_subtract(p, lower_dimension(l, l->point[d], at), l->begin[d]));
        points = ir_multiply(p, points, l->extent[d]);
    }
    int32_t splits = l->v.q[0].split > l->v.q[1].split ? l->v.q[0].split : l->v.q[1].split;
    ir_ref row = ir_add(p, ir_address(p, (int64_t)n * splits), split);
    return ir_add(p, ir_multiply(p, row, points), point);
}

static int32_t number_parts(const atn_block *b) {
    int32_t n = 0;
    for (int32_t k = 0; k < b->n_accs; ++k) n += acc_parts(&b->acc[k]);
    return n;
}

/* Leaves this split's results in the scratch; done by the first lane of a point that is inside. */
static void store_partial(lowering *l, const atn_block *b, place at, ir_ref value[][2]) {
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    ir_ref enable = l->lane_q >= 0 ? ir_operation(l->p, ATN_OP_EQ, ATN_B, l->lane_q, ir_address(l->p, 0), -1) : -1;
    for (int32_t k = 0; k < l->n_points; ++k) {
        const dim_state *s = &l->dim[l->point[k]];
        if (s->limit >= 0) {
            int64_t offset = at.r[l->point[k]] / s->pack * s->row + (int64_t)(at.r[l->point[k]] % s->pack) * s->vec;
            enable = ir_and(l->p, enable, ir_less(l->p, ir_add_integer(l->p, s->base, offset), s->limit));
        }
    }
    int32_t width = l->vec_dim >= 0 && l->dim[l->vec_dim].bound ? l->dim[l->vec_dim].vec : 1;
    bool atomic = l->v.finish == ATN_FINISH_ATOMIC && l->n_points == 0;
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) value[k][part] = ir_declare(l->p, l->block, "partial", value[k][part]);
    l->block = &body;
    for (int32_t k = 0, n = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part, ++n)
            for (int32_t lane = 0; lane < width; ++lane) {
                place one = at;
                one.lane = (int8_t)(width > 1 ? lane : -1);
                ir_ref index = atomic ? ir_address(l->p, n) : scratch_slot(l, n, l->split, one);
                ir_append(l->p, l->block, (ir_statement){.kind = atomic ? IR_SCRATCH_ATOMIC : IR_SCRATCH_STORE, .index = index, .scatter = ATN_WRITE_ADD,
                                                         .value = ir_lane(l->p, value[k][part], lane), .limit = -1, .body = -1, .other = -1});
            }
    l->block = outer;
    lower_forget(l, mark);
    if (enable >= 0) {
        ir_if(l->p, outer, enable, body, IR_EMPTY);
    } else {
        ir_if(l->p, outer, ir_integer(l->p, ATN_B, 1), body, IR_EMPTY);
    }
}

/* Joins registers and the tail, lanes of the vector, items; then either the result is there or a partial is left. */
static void conclude(loops *o) {
    lowering *l = o->l;
    place at = PLACE_ORIGIN;
    int32_t n = 0;
    bool along_q = o->q0.vec > 1;
    do {
        ir_ref value[ATN_MAX_ACCS][2], other[ATN_MAX_ACCS][2], joined[ATN_MAX_ACCS][2];
        bool first = true;
        for (int32_t set = 0; set < o->sets && !l->p->failed; ++set)
            for (int32_t lane = 0; lane < (along_q && set < o->q0.regs ? o->q0.vec : 1); ++lane) {
                for (int32_t k = 0; k < o->b->n_accs; ++k)
                    for (int32_t part = 0; part < acc_parts(&o->b->acc[k]); ++part) {
                        ir_ref ref = ir_variable_ref(l->p, *slot(o, n, set, k, part));
                        other[k][part] = along_q ? ir_lane(l->p, ref, lane) : ref;
                        if (first) value[k][part] = other[k][part];
                    }
                if (!first) {
                    lower_join(l, o->b, value, other, joined, false);
                    for (int32_t k = 0; k < o->b->n_accs; ++k)
                        for (int32_t part = 0; part < acc_parts(&o->b->acc[k]); ++part)
                            value[k][part] = ir_declare(l->p, l->block, "sum", joined[k][part]);
                }
                first = false;
            }
        if (l->p->failed) return;
        if (is_outermost(l, o->block)) lower_join_lanes(l, o->b, value);
        if (is_outermost(l, o->block) && l->split >= 0) {
            store_partial(l, o->b, at, value);
        } else {
            apply_init(l, o->block, at, value);
            keep_results(l, o->block, at, value);
        }
        ++n;
    } while (lower_next_place(l, o->dims, &at));
}

static void hoist_for(lowering *l, const atn_block *b) {
    for (int32_t k = 0; k < b->n_accs; ++k) {
        const atn_value parts[] = {b->acc[k].term, b->acc[k].update};
        for (size_t n = 0; n < 2; ++n)
            if (parts[n] >= 0) lower_hoist(l, parts[n]);
    }
}

void lower_block(lowering *l, int32_t block) {
    if (l->p->failed || l->status != ATN_OK) return;
    loops o = open_loops(l, block);
    ir_comment(l->p, l->block, "%s", o.b->name);
    if (is_outermost(l, block)) lower_stage_plan(l, block);
    hoist_for(l, o.b);
    declare_accumulators(&o);
    all_loops(&o, tile_q0);
    if (o.b->n_accs > 0) conclude(&o);
    if (is_outermost(l, block)) l->n_staged = 0;
    l->done |= 1u << block;
}

/* ---- accumulators at rest: the sequence of a group inside its tiles (a packed panel serves all of it) ---- */

bool lower_block_rests(const lowering *l, int32_t block) {
    const atn_block *b = &l->g->blocks[block];
    return l->host && l->v.stage > 0 && l->v.q[0].tile > 0 && (l->v.p[0].seq > 1 || l->v.p[1].seq > 1) && b->rank == 1 && b->n_accs > 0 &&
           !keeps_order(b) && l->v.q[0].vec == 1 && l->v.q[0].regs == 1;
}

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
    for (int32_t d = l->n_points; d-- > 0;) {
        const atn_cut *c = &l->v.p[d];
        int64_t each = (int64_t)c->lanes * c->vec * c->regs;
        ir_ref local = l->dim[l->point[d]].local;
        ir_ref s = c->seq == 1 ? ir_address(l->p, 0) : ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, local, ir_address(l->p, each), -1);
        step_index = ir_add(l->p, ir_multiply_integer(l->p, step_index, c->seq), s);
    }
    return ir_multiply_integer(l->p, ir_add_integer(l->p, ir_multiply_integer(l->p, step_index, o->places), place_index), width);
}

static void rest_step(lowering *l, void *data) {
    resting *r = data;
    loops *o = r->o;
    int32_t width = acc_width(o, 0);
    if (r->phase == 1) hoist_for(l, o->b);
    for (int32_t n = 0; n < o->places && !l->p->failed; ++n)
        for (int32_t k = 0; k < o->b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&o->b->acc[k]); ++part) {
                ir_ref start = ir_splat(l->p, acc_neutral(l, o->b, k, part), width);
                if (r->phase > 0)
                    start = ir_make(l->p, (ir_node){.kind = IR_TILE, .type = acc_type(l, &o->b->acc[k]), .width = width,
                                                    .arg = {rest_element(o, n, width), -1, -1}, .id = o->rest[k][part]});
                *slot(o, n, 0, k, part) = ir_declare_mutable(l->p, l->block, "acc", start);
            }
    if (r->phase == 1) tile_q0(o, r->start, r->to);
    for (int32_t n = 0; n < o->places && r->phase < 2 && !l->p->failed; ++n)
        for (int32_t k = 0; k < o->b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&o->b->acc[k]); ++part)
                ir_append(l->p, l->block, (ir_statement){.kind = IR_TILE_STORE, .id = o->rest[k][part], .index = rest_element(o, n, width),
                                                         .value = ir_variable_ref(l->p, *slot(o, n, 0, k, part)), .limit = -1, .body = -1, .other = -1});
    if (r->phase == 2) {
        conclude(o);
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
    lower_bind_points(l, ir_address(l->p, 0), ir_address(l->p, 0)); /* so that places are known */
    loops o = open_loops(l, block);
    ir_stage *stage = &l->p->stage[l->stage];
    lower_stage_plan(l, block);
    int64_t steps = (int64_t)(l->n_points > 0 ? l->v.p[0].seq : 1) * (l->n_points > 1 ? l->v.p[1].seq : 1);
    for (int32_t k = 0; k < o.b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&o.b->acc[k]); ++part) {
            if (stage->n_tiles == (int32_t)(sizeof stage->tile / sizeof *stage->tile)) {
                lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: more accumulators than a group has tiles for", l->g->name);
                return;
            }
            o.rest[k][part] = stage->n_tiles;
            stage->tile[stage->n_tiles++] = (ir_tile){"rest", (atn_type)acc_type(l, &o.b->acc[k]), steps * o.places * acc_width(&o, 0)};
        }
    resting r = {.o = &o, .after = after, .phase = 0};
    lower_each_step(l, rest_step, &r);
    r.phase = 1;
    ir_ref from, to;
    bounds(&o, 0, &from, &to);
    l->resting = &r;
    tiles_q0(&o, from, to, rest_tile);
    l->resting = NULL;
    l->n_staged = 0;
    r.phase = 2;
    lower_each_step(l, rest_step, &r);
}

/* ---- partial results of all splits ---- */

void lower_finish(lowering *l, int32_t block) {
    const atn_block *b = &l->g->blocks[block];
    atn_program *p = l->p;
    int32_t splits = l->v.q[0].split > l->v.q[1].split ? l->v.q[0].split : l->v.q[1].split;
    bool atomic = l->v.finish == ATN_FINISH_ATOMIC && l->n_points == 0 && !l->host;
    uint32_t dims = result_dims(l, b);
    place at = PLACE_ORIGIN;
    p->scratch_slots = number_parts(b);
    do {
        ir_ref value[ATN_MAX_ACCS][2], other[ATN_MAX_ACCS][2], joined[ATN_MAX_ACCS][2];
        for (int32_t k = 0; k < b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
                value[k][part] = ir_variable_ref(p, ir_declare_mutable(p, l->block, "total", acc_neutral(l, b, k, part)));
        int32_t variable = ir_new_variable(p, "split", IR_ADDRESS, 1, true);
        ir_block body = IR_EMPTY, *outer = l->block;
        size_t mark = lower_mark(l);
        l->block = &body;
        for (int32_t k = 0, n = 0; k < b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part, ++n) {
                ir_ref where = atomic ? ir_address(p, n) : scratch_slot(l, n, ir_variable_ref(p, variable), at);
                other[k][part] = ir_declare(p, l->block, "partial", ir_make(p, (ir_node){.kind = IR_SCRATCH, .type = acc_type(l, &b->acc[k]),
                                                                                         .width = 1, .arg = {where, -1, -1}}));
            }
        lower_join(l, b, value, other, joined, false);
        for (int32_t k = 0; k < b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) joined[k][part] = ir_declare(p, l->block, "joined", joined[k][part]);
        for (int32_t k = 0; k < b->n_accs && !p->failed; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) ir_assign(p, l->block, p->nodes[value[k][part]].id, joined[k][part]);
        l->block = outer;
        lower_forget(l, mark);
        ir_ref first = l->lane_q >= 0 ? l->lane_q : ir_address(p, 0);
        ir_for(p, outer, variable, first, ir_address(p, atomic ? 1 : splits), l->lane_q >= 0 ? l->lanes_q : 1, 1, body);
        if (l->p->failed) return;
        lower_join_lanes(l, b, value);
        apply_init(l, block, at, value);
        keep_results(l, block, at, value);
    } while (lower_next_place(l, dims, &at));
    l->done |= 1u << block;
}
