/* Sums of weights on matrix units, as a program: rows of halves for points and steps, products, the weights between
 * them, and the transfer of the sums to the items that own the points. */
#include "lower/matrix_state.h"

static void fill_steps(matrix *x, ir_ref start, ir_ref to) {
    lowering *l = x->l;
    int32_t variable = ir_new_variable(l->p, "e", IR_ADDRESS, 1, true);
    ir_ref e = ir_variable_ref(l->p, variable);
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &body;
    matrix_step v = matrix_read_step(x, ir_add(l->p, start, e), to);
    matrix_lay_step(x, &v, e);
    lower_forget(l, mark);
    l->block = outer;
    ir_for(l->p, outer, variable, l->item, ir_address(l->p, l->v.q[0].tile), l->cuts.items, 1, body);
}

/* ---- products ---- */

/* Of four times two exponentials: are these computed by polynomial, both at once? */
static bool is_packed(const lowering *l, int32_t two) {
    return l->v.packed == 1 && (two + 1) * l->v.mix / 8 != two * l->v.mix / 8;
}

/* Of eight products of a tile of points and eight steps: are all exponentials of this one computed in halves? */
static bool is_in_halves(const lowering *l, int32_t tile, int32_t n) {
    int32_t k = (2 * tile + n) % 8;
    return l->v.packed == 2 && (k + 1) * l->v.mix / 8 != k * l->v.mix / 8;
}

/* One weight at eight pairs of a lane, from the form there, where there is one. Some of the exponentials are computed
 * by polynomial, so that both kinds of units are busy. */
static void weights_of(matrix *x, int32_t weight, const int32_t form[2], ir_ref value[8]) {
    lowering *l = x->l;
    const atn_node *node = &l->g->values[x->m.form.form];
    for (int32_t k = 0; k < 8; ++k) {
        if (form[k / 4] < 0) continue;
        if (is_packed(l, k / 2)) {
            value[k] = ir_variable_ref(l->p, form[k / 4] + k % 4);
            continue;
        }
        size_t mark = lower_mark(l);
        lower_memo_keep(l, x->m.form.form, 0, lower_normal(l, node->dims, PLACE_ORIGIN),
                        ir_variable_ref(l->p, form[k / 4] + k % 4));
        l->polynomial = !l->v.packed && (k + 1) * l->v.mix / 8 != k * l->v.mix / 8;
        value[k] = ir_declare(l->p, l->block, "weight",
                              ir_cast(l->p, ATN_SP, lower_value(l, x->m.form.weight[weight], PLACE_ORIGIN, 0)));
        l->polynomial = false;
        lower_forget(l, mark);
    }
}

/* As left operands: the lanes already hold pairs where the next product needs them. halves: what is packed already. */
static void pack_weights(const matrix *x, const ir_ref value[8], const int32_t halves[2], ir_ref words[2][4]) {
    lowering *l = x->l;
    for (int32_t k = 0; k < 4; ++k) {
        if (halves[k / 2] >= 0) {
            words[0][k] = ir_variable_ref(l->p, halves[k / 2] + k % 2);
            continue;
        }
        ir_ref both = matrix_call(l, IR_CALL_PACK, ATN_INT32, value[2 * k], value[2 * k + 1]);
        if (is_packed(l, k)) both = matrix_call(l, IR_CALL_EXP2_HALVES, ATN_INT32, both, -1);
        words[0][k] = ir_declare(l->p, l->block, "high", both);
        if (x->m.parts == 1) continue;
        ir_ref low = OP(ATN_OP_SUB, value[2 * k], matrix_call(l, IR_CALL_LOW_HALF, ATN_SP, words[0][k], -1));
        ir_ref high = OP(ATN_OP_SUB, value[2 * k + 1], matrix_call(l, IR_CALL_HIGH_HALF, ATN_SP, words[0][k], -1));
        words[1][k] = ir_declare(l->p, l->block, "low", matrix_call(l, IR_CALL_PACK, ATN_INT32, low, high));
    }
}

/* 16 steps of the tile, from row `first` (in words) on, with all points of the warp. */
static void block_of_steps(matrix *x, ir_ref first) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    int32_t depth = x->m.n_slots / MATRIX_DEPTH, products = x->m.n_columns / MATRIX_COLUMNS;
    int32_t right[MATRIX_MOST_SLOTS / MATRIX_DEPTH], column[MATRIX_MOST_COLUMNS / MATRIX_COLUMNS];
    for (int32_t k = 0; k < depth; ++k)
        right[k] = ir_load_matrices(l->p, l->block, "right", 4, x->steps,
                                    ir_add_integer(p, ir_add(p, first, x->step_at), k * 8), false);
    for (int32_t c = 0; c < products; ++c)
        column[c] = ir_load_matrices(l->p, l->block, "column", 2, x->steps,
                                     ir_add_integer(p, ir_add(p, first, x->column_at), c * 4), true);
    for (int32_t t = 0; t < x->tiles && !p->failed; ++t) {
        int32_t form[2] = {-1, -1}, halves[2] = {-1, -1};
        for (int32_t n = 0; n < 2; ++n)
            if (!is_in_halves(l, t, n)) form[n] = matrix_declare_sums(l, "form");
        for (int32_t k = 0; k < depth; ++k) {
            ir_ref left[4];
            for (int32_t n = 0; n < 4; ++n) left[n] = ir_variable_ref(p, x->left[t * depth + k] + n);
            for (int32_t n = 0; n < 2; ++n) {
                ir_ref both[2] = {ir_variable_ref(p, right[k] + 2 * n), ir_variable_ref(p, right[k] + 2 * n + 1)};
                if (form[n] >= 0)
                    matrix_multiply(l, form[n], left, both);
                else
                    halves[n] = matrix_exp2(l, left, both);
            }
        }
        ir_ref words[ATN_FORM_WEIGHTS][2][4];
        for (int32_t w = 0; w < x->m.form.n_weights; ++w) {
            ir_ref value[8];
            weights_of(x, w, form, value);
            pack_weights(x, value, halves, words[w]);
        }
        for (int32_t c = 0; c < products; ++c)
            for (int32_t part = 0; part < x->m.parts; ++part)
                matrix_multiply(l, x->acc[t * products + c], words[x->m.column_weight[c]][part],
                                (ir_ref[]){ir_variable_ref(p, column[c]), ir_variable_ref(p, column[c] + 1)});
    }
}

/* A whole tile, of the steps from `start` on; rows beyond the range are zeros. `half`: where it begins, in words. */
static void multiply_tile(matrix *x, ir_ref half, ir_ref start) {
    lowering *l = x->l;
    int32_t variable = ir_new_variable(l->p, "step", IR_ADDRESS, 1, true);
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &body;
    ir_ref first = ir_multiply_integer(l->p, ir_variable_ref(l->p, variable), x->m.step_words);
    first = ir_declare(l->p, l->block, "first", half < 0 ? first : ir_add(l->p, half, first));
    int32_t together = x->pick ? l->v.q[0].unroll : 1; /* blocks */
    if (x->pick)
        matrix_pick_from(x, first, ir_add(l->p, ir_subtract(l->p, start, x->begin), ir_variable_ref(l->p, variable)));
    else
        block_of_steps(x, first);
    lower_forget(l, mark);
    l->block = outer;
    ir_for(l->p, outer, variable, ir_address(l->p, 0), ir_address(l->p, l->v.q[0].tile),
           (int64_t)together * MATRIX_STEPS, l->v.q[0].unroll / together, body);
}

/* Fill, wait, process, wait. */
static void tiles_in_turn(matrix *x, ir_ref from, ir_ref to) {
    lowering *l = x->l;
    int32_t variable = ir_new_variable(l->p, "tile_start", IR_ADDRESS, 1, true);
    ir_block body = IR_EMPTY, *outer = l->block;
    l->block = &body;
    fill_steps(x, ir_variable_ref(l->p, variable), to);
    ir_barrier(l->p, l->block);
    multiply_tile(x, -1, ir_variable_ref(l->p, variable));
    ir_barrier(l->p, l->block);
    l->block = outer;
    ir_for(l->p, outer, variable, from, to, l->v.q[0].tile, 1, body);
}

/* The elements of the next tile are read before the current one is processed, and stored in the other buffer
 * afterwards. */
static void tiles_ahead(matrix *x, ir_ref from, ir_ref to) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    int32_t tile = l->v.q[0].tile, half = ir_declare_mutable(p, l->block, "half", ir_address(p, 0));
    ir_ref row = ir_add(p, ir_multiply_integer(p, ir_variable_ref(p, half), tile), l->item);
    int32_t variable = ir_new_variable(p, "tile_start", IR_ADDRESS, 1, true);
    ir_block first = IR_EMPTY, body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &first;
    matrix_step v = matrix_read_step(x, ir_add(p, from, l->item), to);
    matrix_lay_step(x, &v, row);
    lower_forget(l, mark);
    l->block = outer;
    ir_if(p, outer, ir_less(p, from, to), first, IR_EMPTY);
    ir_barrier(p, outer);
    l->block = &body;
    v = matrix_read_step(x, ir_add(p, ir_add_integer(p, ir_variable_ref(p, variable), tile), l->item), to);
    multiply_tile(x, ir_multiply_integer(p, ir_variable_ref(p, half), (int64_t)tile * x->m.step_words),
                  ir_variable_ref(p, variable));
    ir_assign(p, l->block, half, ir_subtract(p, ir_address(p, 1), ir_variable_ref(p, half)));
    matrix_lay_step(x, &v, row);
    ir_barrier(p, l->block);
    lower_forget(l, mark);
    l->block = outer;
    ir_for(p, outer, variable, from, to, tile, 1, body);
}

/* ---- the block ---- */

static void open_matrix(matrix *x) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    int32_t depth = x->m.n_slots / MATRIX_DEPTH, products = x->m.n_columns / MATRIX_COLUMNS;
    ir_ref warp = ir_address(p, MATRIX_LANES);
    x->tiles = l->v.p[0].regs * MATRIX_LANES / MATRIX_ROWS;
    x->left = atn_arena_alloc(&p->arena, (size_t)(x->tiles * depth) * sizeof *x->left);
    x->acc = atn_arena_alloc(&p->arena, (size_t)(x->tiles * (products + 1)) * sizeof *x->acc);
    if (!x->left || !x->acc) p->failed = true;
    enum { MUCH = 32 << 10 };
    int64_t points = (int64_t)l->cuts.span[0] * x->m.point_words,
            steps = (int64_t)l->v.q[0].tile * x->m.step_words * (l->v.stage == 2 ? 2 : 1),
            sums = (int64_t)l->cuts.span[0] * (x->m.n_columns + 1);
    bool dynamic = 4 * (points + steps + sums) > MUCH;
    x->shared = dynamic && l->v.resident > 1 && !x->m.form.picks;
    x->points = matrix_add_tile(l, "points", ATN_INT32, x->shared && sums > points ? sums : points, dynamic);
    x->steps = matrix_add_tile(l, "steps", ATN_INT32, steps, dynamic);
    if (!x->m.form.picks) x->sums = matrix_add_tile(l, "sums", ATN_SP, sums, dynamic);
    if (x->shared && l->status == ATN_OK) p->stage[l->stage].tile[x->sums].over = x->points + 1;
    x->warp = ir_declare(p, l->block, "warp", ir_operation(p, ATN_OP_DIV, IR_ADDRESS, l->item, warp, -1));
}

/* Rows of 8 steps: matrices of slots 0 to 7 and 8 to 15 of the first 8 steps, then of the others. */
static void place_lanes(matrix *x) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
#define OF(op, a, n) ir_operation(p, op, IR_ADDRESS, a, ir_address(p, n), -1)
    ir_ref row = ir_add(p, ir_multiply_integer(p, OF(ATN_OP_DIV, x->lane, 16), 8), OF(ATN_OP_MOD, x->lane, 8));
    ir_ref side = ir_multiply_integer(p, OF(ATN_OP_MOD, OF(ATN_OP_DIV, x->lane, 8), 2), 4);
    x->step_at = ir_declare(p, l->block, "step_row", ir_add(p, ir_multiply_integer(p, row, x->m.step_words), side));
    ir_ref columns = ir_multiply_integer(p, OF(ATN_OP_MOD, x->lane, 16), x->m.step_words);
    x->column_at = ir_declare(p, l->block, "column_row", ir_add_integer(p, columns, x->m.n_slots / 2));
#undef OF
}

/* Transfers sums from the lanes that hold them to the items that own the points. */
static void hand_over(matrix *x) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    int32_t products = x->m.n_columns / MATRIX_COLUMNS, pitch = x->m.n_columns + 1;
    ir_ref row = ir_add(p, ir_multiply_integer(p, x->warp, (int64_t)x->tiles * MATRIX_ROWS),
                        ir_operation(p, ATN_OP_DIV, IR_ADDRESS, x->lane, ir_address(p, 4), -1));
    ir_ref column = ir_multiply_integer(p, ir_operation(p, ATN_OP_MOD, IR_ADDRESS, x->lane, ir_address(p, 4), -1), 2);
    if (x->shared) ir_barrier(p, l->block); /* all have read their points */
    ir_ref at = ir_declare(p, l->block, "sums_at", ir_add(p, ir_multiply_integer(p, row, pitch), column));
    for (int32_t t = 0; t < x->tiles && !p->failed; ++t)
        for (int32_t c = 0; c < products; ++c)
            for (int32_t k = 0; k < 4; ++k)
                matrix_store_tile(
                    l, x->sums,
                    ir_add_integer(p, at, (int64_t)(t * MATRIX_ROWS + k / 2 * 8) * pitch + c * MATRIX_COLUMNS + k % 2),
                    ir_variable_ref(p, x->acc[t * products + c] + k));
    ir_barrier(p, l->block);
}

static void conclude(matrix *x) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    place at = PLACE_ORIGIN;
    do {
        ir_ref value[ATN_MAX_ACCS][2];
        ir_ref row =
            ir_declare(p, l->block, "sums_row", ir_multiply_integer(p, matrix_local_row(x, at), x->m.n_columns + 1));
        for (int32_t k = 0; k < x->o.b->n_accs; ++k) {
            ir_ref sum = -1;
            for (int32_t c = 0; c < x->m.n_columns; ++c) {
                if (x->m.column[c].acc != k) continue;
                ir_ref part = ir_make(p, (ir_node){.kind = IR_TILE,
                                                   .type = ATN_SP,
                                                   .width = 1,
                                                   .arg = {ir_add_integer(p, row, c), -1, -1},
                                                   .id = x->sums});
                sum = sum < 0 ? part : OP(ATN_OP_ADD, sum, part);
            }
            value[k][0] = ir_declare(p, l->block, "sum", sum);
        }
        loops_end_place(l, &x->o, at, value);
    } while (lower_next_place(l, 1u << x->point, &at));
}

/* The steps of a list, from 0 on. */
static void count_listed(matrix *x, ir_ref *from, ir_ref *to) {
    lowering *l = x->l;
    const atn_dim *range = &l->g->dims[x->range];
    ir_ref row = ir_subtract(l->p, lower_end(l, range->end), lower_end(l, range->begin));
    x->first = *from;
    x->end = *to;
    row = ir_declare(l->p, l->block, "row_steps", row);
    *to = ir_declare(l->p, l->block, "steps", ir_multiply(l->p, ir_subtract(l->p, *to, *from), row));
    ir_ref some = ir_less(l->p, ir_address(l->p, 0), row); /* it divides */
    x->row = ir_declare(l->p, l->block, "row_length",
                        ir_operation(l->p, ATN_OP_SELECT, IR_ADDRESS, some, row, ir_address(l->p, 1)));
    *from = ir_address(l->p, 0);
}

/* The steps of a group. */
static void find_steps(matrix *x, ir_ref *from, ir_ref *to) {
    loops_bounds(&x->o, 0, from, to);
    if (x->list >= 0) count_listed(x, from, to);
}

void lower_block_matrix(lowering *l, int32_t block) {
    matrix *x = l->matrix;
    bool picks = x->m.form.picks != 0;
    ir_ref from, to;
    x->o = loops_open(l, block);
    ir_comment(l->p, l->block, "%s on matrix units", x->o.b->name);
    open_matrix(x);
    if (picks) matrix_open_pick(x);
    if (l->p->failed || l->status != ATN_OK) return;
    if (picks) {
        find_steps(x, &from, &to);
        matrix_find_scale(x, from, to);
    }
    matrix_lay_points(x);
    matrix_load_points(x);
    place_lanes(x);
    for (int32_t k = 0; k < x->tiles * x->m.n_columns / MATRIX_COLUMNS; ++k) x->acc[k] = matrix_declare_sums(l, "acc");
    if (!picks) find_steps(x, &from, &to);
    x->begin = from;
    x->counts = x->list >= 0 && l->v.q[0].tile % l->cuts.items == 0;
    if (x->counts) x->filling = matrix_listed_at(x, ir_add(l->p, from, l->item));
    if (l->v.stage == 2)
        tiles_ahead(x, from, to);
    else
        tiles_in_turn(x, from, to);
    if (picks) {
        matrix_conclude_pick(x, from, to);
    } else {
        hand_over(x);
        conclude(x);
    }
    l->done |= 1u << block;
}

/* Steps that are unrolled where a group is computed without matrix units: blocks of steps are few. */
enum { PLAIN_UNROLL = 8 };

void lower_group_matrix(lowering *l) {
    matrix x = {.l = l, .point = l->cuts.point[0], .scale = -1};
    const char *why;
    if (!lower_find_matrix(l->g, &l->v, &x.m, &why)) {
        lower_fail(l, ATN_ERR_INTERNAL, "%s: %s", l->g->name, why);
        return;
    }
    x.range = l->g->blocks[x.m.form.block].dim[0];
    x.list = x.m.form.list < 0 ? -1 : l->g->blocks[x.m.form.list].dim[0];
    ir_block inside = IR_EMPTY, apart = IR_EMPTY, *outer = l->block;
    l->clamp = true;
    lower_bind_points(l, NULL);
    x.lane = ir_declare(l->p, l->block, "lane",
                        ir_operation(l->p, ATN_OP_MOD, IR_ADDRESS, l->item, ir_address(l->p, MATRIX_LANES), -1));
    matrix_find_centres(&x);
    ir_ref together = x.m.form.picks ? -1 : matrix_lies_together(&x);
    size_t mark = lower_mark(l);
    l->block = together < 0 ? outer : &inside;
    l->matrix = &x;
    lower_group(l);
    l->matrix = NULL;
    lower_forget(l, mark);
    if (together < 0) {
        if (x.shared && l->v.groups > 0) ir_barrier(l->p, outer); /* sums are read before the next points are stored */
        return;
    }
    atn_variant full = l->v, plain = full;
    plain.matrix = ATN_MATRIX_OFF;
    plain.mix = 0;
    if (plain.q[0].unroll < PLAIN_UNROLL) plain.q[0].unroll = PLAIN_UNROLL;
    if (x.list >= 0) plain.stage = plain.q[0].tile = 0; /* a tile consists of steps here, not of places of the list */
    lower_enter(l, plain);
    l->block = &apart;
    lower_group(l);
    lower_forget(l, mark);
    lower_enter(l, full);
    l->block = outer;
    ir_if(l->p, outer, together, inside, apart);
}
