/* Scans: a block whose running values are used. A single item proceeds step by step. Several items, or several steps at
 * once, process one row of the range at a time: the contribution of every step, combined over the items (scan_group.c),
 * then over the registers, then with the value before the row. If a range is split, a first stage stores the total of
 * each part, and the second one starts each part from the totals before it; or there is one stage, whose groups look
 * back (scan_look.c). Joins are associative; the earlier side is the left one. */
#include "lower/scan.h"

#include <stdio.h>

/* init, or the neutral element. */
static void first_values(scan *s, scan_accs out) {
    lowering *l = s->l;
    SCAN_EACH(s->b, k, part) {
        const atn_acc *a = &s->b->acc[k];
        ir_ref init = a->init >= 0 ? ir_cast(l->p, acc_type(l, a), lower_value(l, a->init, PLACE_ORIGIN, part))
                                   : acc_neutral(l, s->b, k, part);
        out[k][part] = init;
    }
}

/* One step: the next value is the current one combined with its contribution. */
static void step_alone(scan *s, scan_accs carry, place at, scan_accs next) {
    lowering *l = s->l;
    scan_accs right;
    ir_clear(right, sizeof right);
    scan_keep_running(s, ATN_OP_BEFORE, at, carry);
    SCAN_EACH(s->b, k, part)
    if (!l->p->failed) l->acc_variable[k][part] = l->p->nodes[carry[k][part]].id;
    SCAN_EACH(s->b, k, part) {
        atn_value from = scan_by_update(s->b) ? s->b->acc[k].update : s->b->acc[k].term;
        right[k][part] = ir_cast(l->p, acc_type(l, &s->b->acc[k]), lower_value(l, from, at, part));
    }
    if (scan_by_update(s->b))
        SCAN_EACH(s->b, k, part) next[k][part] = ir_declare(l->p, l->block, "updated", right[k][part]);
    else
        scan_join(s, "joined", carry, right, next);
    if (l->p->failed) return;
    scan_keep_running(s, ATN_OP_AFTER, at, next);
}

static void copy(scan_accs from, scan_accs to) { memcpy(to, from, sizeof(scan_accs)); }

/* The values before and after the steps of one row: `until` precedes the row. For contiguous steps, `upto` holds those
 * of this item up to each. */
static void row_values(scan *s, int32_t first, int32_t pack, scan_accs until, scan_accs earlier, scan_accs value,
                       scan_accs *upto) {
    int32_t q0 = s->b->dim[0];
    scan_accs begin, here;
    if (pack > 1) scan_join(s, "until", until, earlier, begin);
    for (int32_t r = first; r < first + pack && !s->l->p->failed; ++r) {
        place at = PLACE_ORIGIN;
        at.r[q0] = (int8_t)r;
        if (pack > 1) {
            if (s->before && r > first) scan_join(s, "before", begin, upto[r - 1], here);
            if (s->before) scan_keep_running(s, ATN_OP_BEFORE, at, r > first ? here : begin);
            if (s->after) scan_join(s, "after", begin, upto[r], here);
        } else {
            if (s->before && s->lanes > 1) scan_join(s, "before", until, earlier, here);
            if (s->before) scan_keep_running(s, ATN_OP_BEFORE, at, s->lanes > 1 ? here : until);
            if (s->after && s->lanes > 1) scan_join(s, "after", until, value, here);
        }
        if (s->after && s->lanes > 1) scan_keep_running(s, ATN_OP_AFTER, at, here);
    }
}

/* Rows of the range: `regs` steps of every item, of which `pack` are contiguous and combined first, in order; the
 * others are a row of items apart. */
static void step_rows(scan *s, scan_accs carry, int32_t regs, int32_t pack, ir_ref limit, scan_accs next) {
    lowering *l = s->l;
    int32_t q0 = s->b->dim[0], rows = regs / pack;
    scan_accs upto[SCAN_MOST_REGS], value[SCAN_MOST_REGS], earlier[SCAN_MOST_REGS], total[SCAN_MOST_REGS], below, until,
        joined;
    for (int32_t r = 0; r < regs && !l->p->failed; ++r) {
        place at = PLACE_ORIGIN;
        at.r[q0] = (int8_t)r;
        ir_ref valid =
            limit < 0 ? -1 : ir_less(l->p, ir_add_integer(l->p, l->dim[q0].base, lower_offset(l, q0, at)), limit);
        if (valid >= 0) valid = ir_declare(l->p, l->block, "valid", valid);
        scan_contribution(s, at, valid, upto[r]);
        if (l->p->failed) return;
        if (r % pack > 0) {
            scan_join(s, "upto", upto[r - 1], upto[r], joined);
            copy(joined, upto[r]);
        }
        copy(upto[r], value[r / pack]);
    }
    bool before = s->before;
    s->before = before || pack > 1; /* where this item begins */
    scan_group(s, rows, value, earlier, total);
    s->before = before;
    if (l->p->failed) return;
    copy(carry, until);
    for (int32_t r = 0; r < rows && !l->p->failed; ++r) { /* until: the value before the row */
        row_values(s, r * pack, pack, until, earlier[r], value[r], upto);
        if (r == 0) {
            copy(total[r], below);
        } else {
            scan_join(s, "below", below, total[r], joined);
            copy(joined, below);
        }
        /* Not in a chain: each waits for one row only. */
        scan_join(s, pack > 1 ? "row" : "until", carry, below, until);
        place at = PLACE_ORIGIN;
        at.r[q0] = (int8_t)r;
        if (s->lanes == 1) scan_keep_running(s, ATN_OP_AFTER, at, until);
    }
    copy(until, next);
}

/* Binds the range to `rows` steps of each item from `index` on; returns how many of them are contiguous. */
static int32_t bind(scan *s, ir_ref index, int32_t rows, ir_ref limit) {
    lowering *l = s->l;
    int32_t q0 = s->b->dim[0], wanted = l->v.q[0].pack;
    int32_t pack = s->lanes == 1 || rows == 1 ? 1 : wanted > 1 ? wanted : s->slots > 2 ? rows : 1;
    ir_ref lane = s->lane >= 0 ? ir_multiply_integer(l->p, s->lane, pack) : -1;
    ir_ref base = lane >= 0 ? ir_declare(l->p, l->block, "q0", ir_add(l->p, index, lane)) : index;
    l->dim[q0] = (dim_state){.bound = true,
                             .base = base,
                             .local = base,
                             .regs = rows,
                             .pack = pack,
                             .vec = 1,
                             .row = (int64_t)s->lanes * pack,
                             .limit = limit};
    l->bound |= 1u << q0;
    return pack;
}

/* Everything that is done in a row, or in one step, from `index` on; carry is a variable. */
static void body_of(scan *s, scan_accs carry, ir_ref index, int32_t rows, ir_ref limit) {
    lowering *l = s->l;
    size_t mark = lower_mark(l);
    uint32_t bound = l->bound, done = l->done;
    scan_accs next;
    int32_t pack = bind(s, index, rows, limit);
    lower_children(l, s->block);
    if (s->lanes == 1 && s->regs == 1)
        step_alone(s, carry, PLACE_ORIGIN, next);
    else
        step_rows(s, carry, rows, pack, limit, next);
    if (l->scan_phase != SCAN_PARTS) lower_writes(l, s->block, l->cuts.points | l->bound, -1);
    if (!l->p->failed) scan_assign(s, carry, next); /* last: the value before a step is the variable itself */
    l->done = done;
    l->bound = bound;
    l->dim[s->b->dim[0]].bound = false;
    lower_forget(l, mark);
}

/* A loop over the range whose body is a row, or one step. */
static void loop(scan *s, scan_accs carry, ir_ref from, ir_ref to, int32_t rows, bool tail, int32_t unroll) {
    lowering *l = s->l;
    char name[64];
    snprintf(name, sizeof name, "%.30s_q0", s->b->name);
    int32_t variable = ir_new_variable(l->p, name, IR_ADDRESS, 1, true);
    ir_block body = IR_EMPTY, *outer = l->block;
    l->block = &body;
    body_of(s, carry, ir_variable_ref(l->p, variable), rows, tail && s->lanes > 1 ? to : -1);
    l->block = outer;
    ir_for(l->p, outer, variable, from, to, (int64_t)s->lanes * rows, unroll, body);
}

static void loop_row(scan *s, const loops *o, scan_accs carry, ir_ref from, ir_ref to) {
    lowering *l = s->l;
    int64_t stride = (int64_t)s->lanes * s->regs;
    if (stride == 1) {
        loop(s, carry, from, to, 1, true, o->r.q[0].unroll);
        return;
    }
    ir_ref length = ir_subtract(l->p, to, from);
    length = ir_operation(l->p, ATN_OP_MAX, IR_ADDRESS, length, ir_address(l->p, 0), -1);
    ir_ref full = ir_multiply_integer(
        l->p, ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, length, ir_address(l->p, stride), -1), stride);
    ir_ref middle = ir_declare(l->p, l->block, "full", ir_add(l->p, from, full));
    loop(s, carry, from, middle, s->regs, false, o->r.q[0].unroll);
    loop(s, carry, middle, to, 1, true, 1);
}

/* The outer axes step by step, rows within them. */
static void loop_axis(scan *s, loops *o, int32_t axis, scan_accs carry) {
    lowering *l = s->l;
    ir_ref from, to;
    loops_bounds(o, axis, &from, &to);
    if (axis == 0) {
        loop_row(s, o, carry, from, to);
        return;
    }
    char name[64];
    snprintf(name, sizeof name, "%.30s_q%d", o->b->name, axis);
    int32_t variable = ir_new_variable(l->p, name, IR_ADDRESS, 1, true), q = o->b->dim[axis];
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    uint32_t bound = l->bound;
    l->block = &body;
    l->dim[q] = (dim_state){.bound = true,
                            .base = ir_variable_ref(l->p, variable),
                            .local = ir_address(l->p, 0),
                            .regs = 1,
                            .pack = 1,
                            .vec = 1,
                            .row = 1,
                            .limit = -1};
    l->bound |= 1u << q;
    loop_axis(s, o, axis - 1, carry);
    l->bound = bound;
    l->dim[q].bound = false;
    lower_forget(l, mark);
    l->block = outer;
    ir_for(l->p, outer, variable, from, to, 1, 1, body);
}

/* ---- parts of a split range ---- */

static ir_ref partial(scan *s, int32_t k, int32_t n, ir_ref split) {
    ir_ref slot = ir_add(s->l->p, ir_address(s->l->p, (int64_t)n * s->l->cuts.splits), split);
    return ir_make(
        s->l->p,
        (ir_node){.kind = IR_SCRATCH, .type = acc_type(s->l, &s->b->acc[k]), .width = 1, .arg = {slot, -1, -1}});
}

/* All parts before that of this group, in order: each item takes some consecutive ones, then the items are combined. */
static void parts_before(scan *s, scan_accs first, scan_accs out) {
    lowering *l = s->l;
    atn_lowered *p = l->p;
    scan_accs mine, other, next;
    ir_ref from = ir_address(p, 0), to = l->split;
    if (s->lanes > 1) {
        ir_ref each = ir_operation(p, ATN_OP_DIV, IR_ADDRESS, ir_add_integer(p, l->split, s->lanes - 1),
                                   ir_address(p, s->lanes), -1);
        each = ir_declare(p, l->block, "each", each);
        from = ir_declare(p, l->block, "part_from", ir_multiply(p, s->lane, each));
        to = ir_operation(p, ATN_OP_MIN, IR_ADDRESS, ir_add(p, from, each), l->split, -1);
        to = ir_declare(p, l->block, "part_to", to);
    }
    scan_variables(s, "parts", s->lanes > 1 ? s->neutral : first, mine);
    int32_t variable = ir_new_variable(p, "part", IR_ADDRESS, 1, true), n = 0;
    ir_block body = IR_EMPTY, *outer = l->block;
    l->block = &body;
    SCAN_EACH(s->b, k, part)
    other[k][part] = ir_declare(p, l->block, "partial", partial(s, k, n++, ir_variable_ref(p, variable)));
    scan_join(s, "joined", mine, other, next);
    if (!p->failed) scan_assign(s, mine, next);
    l->block = outer;
    ir_for(p, outer, variable, from, to, 1, 1, body);
    SCAN_EACH(s->b, k, part) out[k][part] = mine[k][part];
    if (s->lanes == 1 || p->failed) return;
    scan_accs value[1], earlier[1], total[1];
    bool before = s->before;
    s->before = false;
    SCAN_EACH(s->b, k, part) value[0][k][part] = mine[k][part];
    scan_group(s, 1, value, earlier, total);
    s->before = before;
    if (!p->failed) scan_join(s, "first", first, total[0], out);
}

/* ---- the whole ---- */

static bool uses(const atn_graph *g, int32_t block, atn_op op) {
    for (atn_value v = 0; v < g->n_values; ++v)
        if (g->values[v].op == op && g->values[v].index == block) return true;
    return false;
}

static int32_t slots_of(const atn_block *b) {
    int32_t n = 0;
    SCAN_EACH(b, k, part) n += part >= 0;
    return n;
}

bool lower_scans(const lowering *l, int32_t block) {
    if (!atn_block_is_scan(l->g, block)) return false;
    /* The totals of parts are combined in whatever order suits lanes and vectors, if the join allows it. */
    return l->scan_phase != SCAN_PARTS || l->g->blocks[block].acc[0].join == ATN_JOIN_CUSTOM;
}

void lower_block_scan(lowering *l, int32_t block) {
    loops o = loops_open(l, block);
    bool outermost = atn_block_is_outermost(l->g, block) && !lower_keeps_order(o.b);
    scan s = {.l = l,
              .b = o.b,
              .block = block,
              .lanes = outermost && l->lane_q >= 0 ? l->cuts.lanes_q : 1,
              .regs = outermost ? o.r.q[0].regs : 1,
              .lane = outermost ? l->lane_q : -1,
              .slots = slots_of(o.b),
              .before = uses(l->g, block, ATN_OP_BEFORE),
              .after = uses(l->g, block, ATN_OP_AFTER)};
    bool parts = outermost && l->split >= 0, looks = parts && l->scan_phase == SCAN_LOOK;
    scan_accs first, carry, neutral;
    ir_clear(neutral, sizeof neutral);
    ir_comment(l->p, l->block, "%s", o.b->name);
    if (l->p->failed || !scan_group_open(&s)) return;
    if (parts) l->p->scratch_slots = s.slots;
    loops_hoist(l, o.b);
    SCAN_EACH(o.b, k, part) neutral[k][part] = acc_neutral(l, o.b, k, part);
    if (scan_by_update(o.b)) { /* the meaning of ACC, therefore a variable */
        scan_variables(&s, "none", neutral, s.neutral);
    } else {
        copy(neutral, s.neutral);
    }
    if (parts && l->scan_phase == SCAN_PARTS)
        SCAN_EACH(o.b, k, part) first[k][part] = s.neutral[k][part];
    else
        first_values(&s, first);
    if (l->p->failed) return;
    if (parts && l->scan_phase == SCAN_ALL) {
        scan_accs begun;
        parts_before(&s, first, begun);
        if (l->p->failed) return;
        scan_variables(&s, "carry", begun, carry);
    } else {
        scan_variables(&s, "carry", first, carry);
    }
    if (looks)
        scan_look(&s, carry);
    else
        loop_axis(&s, &o, o.b->rank - 1, carry);
    if (l->p->failed) return;
    if (parts && l->scan_phase == SCAN_PARTS)
        loops_store_partial(l, o.b, PLACE_ORIGIN, carry);
    else
        loops_keep_results(l, block, PLACE_ORIGIN, carry);
    l->done |= 1u << block;
}
