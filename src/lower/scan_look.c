/* A scan in one launch. Groups take tiles in the order in which they begin, so that the groups before a given one have
 * started and will finish. Each publishes the total of its tile T_t. Tiles form windows of n; W_w is everything before
 * window w: W_(w+1) = W_w T_(wn) ... T_(wn+n-1), published by the last tile of window w. A tile t of that window begins
 * with W_w T_(wn) ... T_(t-1), combined by the items of its group. That order depends on the sizes alone: results are
 * reproducible. Each word of 4 bytes is stored together with the number of the launch, in one store: nothing is ever
 * reset or fenced. */
#include "lower/scan.h"

static int32_t words_of_all(const scan *s) {
    int32_t words = 0;
    SCAN_EACH(s->b, k, part) words += lower_acc_words(s->l, &s->b->acc[k]);
    return words;
}

/* Words of the row-th tile, or of the initial value of a window, which are stored after the tiles. */
static ir_ref first_word(scan *s, ir_ref row) { return ir_multiply_integer(s->l->p, row, words_of_all(s)); }

static ir_ref window_row(scan *s, ir_ref window) {
    return ir_add(s->l->p, ir_special(s->l->p, IR_GROUPS, IR_ADDRESS), window);
}

static void await(scan *s, ir_ref row, scan_accs out) {
    lowering *l = s->l;
    int32_t word = 0;
    SCAN_EACH(s->b, k, part) {
        ir_ref at = ir_add_integer(l->p, first_word(s, row), word);
        word += lower_acc_words(s->l, &s->b->acc[k]);
        ir_ref value = ir_make(
            l->p,
            (ir_node){.kind = IR_AWAIT, .type = acc_type(l, &s->b->acc[k]), .width = 1, .arg = {at, l->launch, -1}});
        out[k][part] = ir_declare(l->p, l->block, "left", value);
    }
}

static void leave(scan *s, ir_block *block, ir_ref row, scan_accs value) {
    int32_t word = 0;
    SCAN_EACH(s->b, k, part) {
        ir_append(s->l->p, block,
                  (ir_statement){.kind = IR_LEAVE,
                                 .index = ir_add_integer(s->l->p, first_word(s, row), word),
                                 .value = value[k][part],
                                 .limit = s->l->launch,
                                 .body = -1,
                                 .other = -1});
        word += lower_acc_words(s->l, &s->b->acc[k]);
    }
}

static ir_ref is_first_item(scan *s) {
    return ir_operation(s->l->p, ATN_OP_EQ, ATN_B, s->lane, ir_address(s->l->p, 0), -1);
}

/* mine = mine combined with what is published at `row`, if `there`. */
static void join_awaited(scan *s, ir_ref there, ir_ref row, scan_accs mine) {
    lowering *l = s->l;
    scan_accs other, next;
    ir_block body = IR_EMPTY, *outer = l->block;
    l->block = &body;
    await(s, row, other);
    scan_join(s, "joined", mine, other, next);
    if (!l->p->failed) scan_assign(s, mine, next);
    l->block = outer;
    ir_if(l->p, outer, there, body, IR_EMPTY);
}

/* The first item waits for the value before the window, combines it with `earlier`, the tiles of the window before this
 * one, and, in the last tile of a window, publishes it for the next window immediately: windows wait for each other in
 * a chain. */
static void before_tile(scan *s, ir_ref window, ir_ref last, scan_accs earlier, scan_accs tile, scan_accs out) {
    lowering *l = s->l;
    atn_lowered *p = l->p;
    scan_accs before, all, next;
    ir_block first = IR_EMPTY, end = IR_EMPTY, *outer = l->block;
    l->block = &first;
    scan_variables(s, "before", s->neutral, before);
    join_awaited(s, ir_less(p, ir_address(p, 0), window), window_row(s, window), before);
    scan_join(s, "all", before, earlier, all);
    l->block = &end;
    scan_join(s, "next", all, tile, next);
    leave(s, &end, window_row(s, ir_add_integer(p, window, 1)), next);
    ir_if(p, &first, last, end, IR_EMPTY);
    l->block = outer;
    scan_hand_out(s, first, all, out);
}

/* out = first combined with all tiles before that of this group, whose total is `tile`; it is published for other
 * groups. */
static void look_back(scan *s, scan_accs first, scan_accs tile, scan_accs out) {
    lowering *l = s->l;
    atn_lowered *p = l->p;
    int32_t n = l->cuts.splits, each = (n + s->lanes - 1) / s->lanes;
    scan_accs mine, value[1], earlier[1], below, total, before;
    ir_block own = IR_EMPTY;
    leave(s, &own, l->split, tile);
    ir_if(p, l->block, is_first_item(s), own, IR_EMPTY);
    ir_ref window = ir_operation(p, ATN_OP_DIV, IR_ADDRESS, l->split, ir_address(p, n), -1);
    window = ir_declare(p, l->block, "window", window);
    ir_ref base = ir_declare(p, l->block, "window_from", ir_multiply_integer(p, window, n));
    scan_variables(s, "mine", s->neutral, mine);
    for (int32_t k = 0; k < each && !p->failed; ++k) { /* those of an item are consecutive */
        ir_ref row = ir_add_integer(p, ir_add(p, base, ir_multiply_integer(p, s->lane, each)), k);
        row = ir_declare(p, l->block, "row", row);
        join_awaited(s, ir_less(p, row, l->split), row, mine);
    }
    SCAN_EACH(s->b, k, part) value[0][k][part] = mine[k][part];
    scan_warps(s, 1, (n + each - 1) / each, value, earlier, below, total);
    if (p->failed) return;
    ir_ref last = ir_operation(p, ATN_OP_EQ, ATN_B, ir_add_integer(p, base, n - 1), l->split, -1);
    before_tile(s, window, last, total, tile, before);
    if (!p->failed) scan_join(s, "begun", first, before, out);
}

/* ---- tiles ---- */

/* Binds the range to a row of this item: the rows of a warp are consecutive. */
static void bind_row(scan *s, ir_ref from, int32_t row, ir_ref limit) {
    lowering *l = s->l;
    int32_t pack = l->v.q[0].pack, segment = s->lanes < l->warp ? s->lanes : l->warp;
    ir_ref width = ir_address(l->p, segment);
    ir_ref warp = ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, s->lane, width, -1);
    ir_ref lane = ir_operation(l->p, ATN_OP_MOD, IR_ADDRESS, s->lane, width, -1);
    ir_ref base = ir_add(l->p, from, ir_multiply_integer(l->p, warp, (int64_t)segment * s->regs));
    base = ir_add(l->p, base, ir_multiply_integer(l->p, lane, pack));
    base = ir_declare(l->p, l->block, "q0", ir_add_integer(l->p, base, (int64_t)row * segment * pack));
    l->dim[s->b->dim[0]] = (dim_state){
        .bound = true, .base = base, .local = base, .regs = pack, .pack = pack, .vec = 1, .row = pack, .limit = limit};
    l->bound |= 1u << s->b->dim[0];
    l->kept.first = row * pack;
}

static place place_of(const scan *s, int32_t r) {
    place at = PLACE_ORIGIN;
    at.r[s->b->dim[0]] = (int8_t)r;
    return at;
}

static void contribution(scan *s, int32_t r, ir_ref limit, scan_accs out) {
    lowering *l = s->l;
    int32_t q0 = s->b->dim[0];
    ir_ref valid = -1;
    if (limit >= 0) {
        valid = ir_less(l->p, ir_add_integer(l->p, l->dim[q0].base, lower_offset(l, q0, place_of(s, r))), limit);
        valid = ir_declare(l->p, l->block, "valid", valid);
    }
    scan_contribution(s, place_of(s, r), valid, out);
}

/* The total of the steps of a row that belong to this item. */
static void row_total(scan *s, ir_ref limit, scan_accs out) {
    scan_accs step, joined;
    lower_children(s->l, s->block);
    for (int32_t r = 0; r < s->l->v.q[0].pack && !s->l->p->failed; ++r) {
        contribution(s, r, limit, step);
        if (s->l->p->failed) return;
        if (r > 0) scan_join(s, "upto", out, step, joined);
        SCAN_EACH(s->b, k, part) out[k][part] = r > 0 ? joined[k][part] : step[k][part];
    }
}

/* The values before and after each of them, where `begin` precedes the first; and the writes. */
static void row_values(scan *s, ir_ref limit, scan_accs begin) {
    lowering *l = s->l;
    scan_accs step, upto, here;
    lower_children(l, s->block);
    for (int32_t r = 0; r < l->v.q[0].pack && !l->p->failed; ++r) {
        if (s->before && r > 0) scan_join(s, "before", begin, upto, here);
        if (s->before) scan_keep_running(s, ATN_OP_BEFORE, place_of(s, r), r > 0 ? here : begin);
        contribution(s, r, limit, step);
        if (l->p->failed) return;
        if (r > 0) scan_join(s, "upto", upto, step, here);
        SCAN_EACH(s->b, k, part) upto[k][part] = r > 0 ? here[k][part] : step[k][part];
        if (!s->after) continue;
        scan_join(s, "after", begin, upto, here);
        scan_keep_running(s, ATN_OP_AFTER, place_of(s, r), here);
    }
    lower_writes(l, s->block, l->cuts.points | l->bound, -1);
}

/* Everything that is done for a tile: totals of its rows, the value before it, and then its rows once more. In between,
 * registers hold one value per row; the elements themselves are in local memory (stage=1), or are read again. */
static void tile(scan *s, scan_accs carry, ir_ref from, ir_ref limit) {
    lowering *l = s->l;
    int32_t rows = s->regs / l->v.q[0].pack;
    size_t mark = lower_mark(l);
    uint32_t bound = l->bound, done = l->done;
    scan_accs value[SCAN_MOST_REGS], earlier[SCAN_MOST_REGS], below, total, begun, begin, next;
    l->kept.count = 0;
    for (int32_t j = 0; j < rows && l->v.stage > 0 && limit < 0; ++j) {
        bind_row(s, from, j, limit);
        lower_keep_reads(l);
        lower_forget(l, mark);
    }
    if (l->kept.count > 0)
        ir_append(l->p, l->block,
                  (ir_statement){.kind = IR_FETCHED, .index = -1, .value = -1, .limit = -1, .body = -1, .other = -1});
    for (int32_t j = 0; j < rows && !l->p->failed; ++j) {
        bind_row(s, from, j, limit);
        row_total(s, limit, value[j]);
        l->done = done;
        lower_forget(l, mark);
    }
    if (l->p->failed) return;
    scan_warps(s, rows, s->lanes, value, earlier, below, total);
    if (l->p->failed) return;
    look_back(s, carry, total, begun);
    scan_join(s, "warp", begun, below, begin);
    for (int32_t j = 0; j < rows && !l->p->failed; ++j) {
        scan_accs until;
        scan_join(s, "until", begin, earlier[j], until);
        bind_row(s, from, j, limit);
        row_values(s, limit, until);
        l->done = done;
        lower_forget(l, mark);
    }
    if (!l->p->failed) scan_join(s, "joined", begun, total, next);
    if (!l->p->failed) scan_assign(s, carry, next);
    l->kept.count = 0;
    l->bound = bound;
    l->dim[s->b->dim[0]].bound = false;
}

void scan_look(scan *s, scan_accs carry) {
    lowering *l = s->l;
    atn_lowered *p = l->p;
    int32_t steps = s->lanes * s->regs;
    const atn_dim *d = &l->g->dims[s->b->dim[0]];
    ir_ref from = ir_declare(p, l->block, "from", lower_end(l, d->begin));
    ir_ref to = ir_declare(p, l->block, "to", lower_end(l, d->end));
    from = ir_declare(p, l->block, "tile_from", ir_add(p, from, ir_multiply_integer(p, l->split, steps)));
    ir_block full = IR_EMPTY, shorter = IR_EMPTY, some = IR_EMPTY, *outer = l->block;
    l->block = &full;
    tile(s, carry, from, -1);
    l->block = &some; /* the last one, unless the range is empty */
    if (!p->failed) tile(s, carry, from, to);
    l->block = outer;
    ir_if(p, &shorter, ir_less(p, from, to), some, IR_EMPTY);
    ir_if(p, outer, ir_operation(p, ATN_OP_LE, ATN_B, ir_add_integer(p, from, steps), to, -1), full, shorter);
    p->stage[l->stage].over_steps = steps;
    p->scratch_slots = words_of_all(s);
}
