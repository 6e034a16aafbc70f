/* Sums of weights on matrix units, as a program: rows of halves for points and steps, products, the weights between
 * them, and the transfer of the sums to the items that own the points. */
#include "lower/matrix_state.h"

static const double LARGEST_HALF = 65504;

/* What an item knows about a step before its row is generated. */
typedef struct step_values {
    ir_ref atom[ATN_FORM_ATOMS], factor[ATN_MAX_ACCS];
    ir_ref inside;
} step_values;

static ir_ref number(lowering *l, double value) { return ir_number(l->p, ATN_SP, value); }

static ir_ref within(lowering *l, ir_ref a, double most) {
    return OP(ATN_OP_MAX, OP(ATN_OP_MIN, a, number(l, most)), number(l, -most));
}

/* Large local memory is requested at launch: source code may declare no more than 48 KiB, some of which is needed by
 * the tiles of a group that is computed without matrix units. */
static int32_t add_tile(lowering *l, const char *name, atn_type type, int64_t elements, bool dynamic) {
    ir_stage *stage = &l->p->stage[l->stage];
    if (stage->n_tiles == (int32_t)(sizeof stage->tile / sizeof *stage->tile)) {
        lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: too many tiles in one group", l->g->name);
        return 0;
    }
    stage->tile[stage->n_tiles] = (ir_tile){.name = name, .type = type, .elements = elements, .dynamic = dynamic};
    return stage->n_tiles++;
}

static void store_tile(lowering *l, int32_t tile, ir_ref at, ir_ref value) {
    ir_append(
        l->p, l->block,
        (ir_statement){
            .kind = IR_TILE_STORE, .id = tile, .index = at, .value = value, .limit = -1, .body = -1, .other = -1});
}

/* ---- the form's values ---- */

/* The value of a centred atom, relative to the centre of the points of the group. */
static ir_ref centred(const matrix *x, int32_t atom, ir_ref value) {
    lowering *l = x->l;
    if (x->centre[atom] < 0) return value;
    ir_ref from = ir_declare(l->p, l->block, "from_centre", OP(ATN_OP_SUB, value, x->centre[atom]));
    return ir_declare(l->p, l->block, "centred", within(l, from, MATRIX_FARTHEST));
}

/* Products of the atoms of one side, summed; `alone` terms include the coefficients. */
static ir_ref factor_of(const matrix *x, const atn_form_term *term, int32_t side, const ir_ref atom[]) {
    lowering *l = x->l;
    const atn_bilinear *f = &x->m.form;
    if (term->alone >= 0 && term->alone != side) return number(l, MATRIX_SCALE);
    bool shared = term->alone < 0 && side == ATN_FORM_POINT; /* one product; coefficients belong to the other side */
    ir_ref sum = -1;
    for (int32_t k = 0; k < (shared ? 1 : term->count); ++k) {
        const atn_form_monomial *m = &f->monomial[term->first + k];
        double coefficient = shared ? 1 : term->alone >= 0 ? m->coefficient / MATRIX_SCALE : m->coefficient;
        ir_ref product = coefficient == 1 && m->count[side] > 0 ? -1 : number(l, coefficient);
        for (int32_t n = 0; n < m->count[side]; ++n)
            product = product < 0 ? atom[m->atom[side][n]] : OP(ATN_OP_MUL, product, atom[m->atom[side][n]]);
        sum = sum < 0 ? product : OP(ATN_OP_ADD, sum, product);
    }
    return ir_declare(l->p, l->block, "factor", within(l, sum, LARGEST_HALF));
}

/* Part 0 is rounded when it is packed; part 1 is the remainder. */
static void part_in_two(lowering *l, ir_ref value, ir_ref parts[2]) {
    parts[0] = value;
    parts[1] =
        ir_declare(l->p, l->block, "rest", OP(ATN_OP_SUB, value, matrix_call(l, IR_CALL_AS_HALF, ATN_SP, value, -1)));
}

/* The slots of one side, two per word. */
static void slot_words(const matrix *x, int32_t side, const ir_ref atom[], ir_ref words[]) {
    lowering *l = x->l;
    ir_ref parts[ATN_FORM_TERMS][2];
    for (int32_t t = 0; t < x->m.form.n_terms; ++t) {
        const atn_form_term *term = &x->m.form.term[t];
        ir_ref factor = factor_of(x, term, side, atom);
        parts[t][0] = factor;
        if (term->alone < 0 || term->alone == side) part_in_two(l, factor, parts[t]);
    }
    for (int32_t k = 0; k < x->m.n_slots; k += 2) {
        ir_ref pair[2];
        for (int32_t n = 0; n < 2; ++n) {
            const matrix_slot *s = &x->m.slot[k + n];
            pair[n] = s->term < 0 ? number(l, 0) : parts[s->term][s->part[side]];
        }
        words[k / 2] = ir_declare(l->p, l->block, "word", matrix_call(l, IR_CALL_PACK, ATN_INT32, pair[0], pair[1]));
    }
}

static void store_words(lowering *l, int32_t tile, ir_ref at, const ir_ref words[], int32_t count) {
    at = ir_declare(l->p, l->block, "row", at);
    for (int32_t k = 0; k < count; k += 4)
        store_tile(l, tile, ir_add_integer(l->p, at, k), ir_join(l->p, &words[k], 4));
}

/* ---- points ---- */

static ir_ref local_row(const matrix *x, place at) {
    return ir_add_integer(x->l->p, x->l->dim[x->point].local, lower_offset(x->l, x->point, at));
}

/* Rows of halves of the points of the group, written by the items that own them. */
static void lay_points(matrix *x) {
    lowering *l = x->l;
    const atn_bilinear *f = &x->m.form;
    place at = PLACE_ORIGIN;
    do {
        ir_ref atom[ATN_FORM_ATOMS], words[MATRIX_MOST_SLOTS / 2];
        for (int32_t a = 0; a < f->n_atoms; ++a)
            if (f->atom[a].side == ATN_FORM_POINT) atom[a] = centred(x, a, matrix_uncentred(l, f->atom[a].value, at));
        slot_words(x, ATN_FORM_POINT, atom, words);
        store_words(l, x->points, ir_multiply_integer(l->p, local_row(x, at), x->m.point_words), words,
                    x->m.n_slots / 2);
    } while (lower_next_place(l, 1u << x->point, &at));
    ir_barrier(l->p, l->block);
}

/* Left operands: four matrices per 16 points of the warp and 16 slots. */
static void load_points(matrix *x) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    ir_ref row = ir_add(p, ir_multiply_integer(p, x->warp, (int64_t)x->tiles * MATRIX_ROWS),
                        ir_operation(p, ATN_OP_MOD, IR_ADDRESS, x->lane, ir_address(p, 16), -1));
    ir_ref at =
        ir_add(p, ir_multiply_integer(p, row, x->m.point_words),
               ir_multiply_integer(p, ir_operation(p, ATN_OP_DIV, IR_ADDRESS, x->lane, ir_address(p, 16), -1), 4));
    at = ir_declare(p, l->block, "left_at", at);
    int32_t depth = x->m.n_slots / MATRIX_DEPTH;
    for (int32_t t = 0; t < x->tiles; ++t)
        for (int32_t k = 0; k < depth; ++k)
            x->left[t * depth + k] =
                ir_load_matrices(l->p, l->block, "left", 4, x->points,
                                 ir_add_integer(p, at, (int64_t)t * MATRIX_ROWS * x->m.point_words + k * 8), false);
}

/* ---- steps ---- */

static void bind_to(matrix *x, int32_t dim, ir_ref at) {
    x->l->dim[dim] =
        (dim_state){.bound = true, .base = at, .local = at, .regs = 1, .pack = 1, .vec = 1, .row = 1, .limit = -1};
    x->l->bound |= 1u << dim;
}

/* Steps of a list are numbered through all of its places. */
static void bind_step(matrix *x, ir_ref at) {
    lowering *l = x->l;
    if (x->list < 0) {
        bind_to(x, x->range, at);
        return;
    }
    ir_ref behind = ir_declare(l->p, l->block, "behind", ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, at, x->row, -1));
    ir_ref in_row = ir_subtract(l->p, at, ir_multiply(l->p, behind, x->row));
    ir_ref begin = lower_end(l, l->g->dims[x->range].begin);
    bind_to(x, x->list, ir_declare(l->p, l->block, "listed", ir_add(l->p, x->first, behind)));
    bind_to(x, x->range, ir_declare(l->p, l->block, "in_row", ir_add(l->p, begin, in_row)));
}

static void unbind(matrix *x, int32_t dim) {
    if (dim < 0) return;
    x->l->dim[dim].bound = false;
    x->l->bound &= ~(1u << dim);
}

static void unbind_step(matrix *x) {
    unbind(x, x->range);
    unbind(x, x->list);
}

/* Reads the data of step `at`; a step beyond the range is like the last one, with weight zero. */
static step_values read_step(matrix *x, ir_ref at, ir_ref to) {
    lowering *l = x->l;
    const atn_bilinear *f = &x->m.form;
    step_values v;
    v.inside = ir_declare(l->p, l->block, "inside", ir_less(l->p, at, to));
    bind_step(x, ir_declare(l->p, l->block, "step_at",
                            ir_operation(l->p, ATN_OP_MIN, IR_ADDRESS, at, ir_add_integer(l->p, to, -1), -1)));
    for (int32_t a = 0; a < f->n_atoms; ++a)
        v.atom[a] = f->atom[a].side == ATN_FORM_STEP ? matrix_uncentred(l, f->atom[a].value, PLACE_ORIGIN) : -1;
    for (int32_t k = 0; k < x->o.b->n_accs; ++k)
        v.factor[k] = f->factor[k] >= 0 ? matrix_uncentred(l, f->factor[k], PLACE_ORIGIN) : -1;
    unbind_step(x);
    return v;
}

/* Stores the row of a step in the tile. */
static void lay_step(matrix *x, const step_values *v, ir_ref row) {
    lowering *l = x->l;
    const atn_bilinear *f = &x->m.form;
    ir_ref atom[ATN_FORM_ATOMS], words[(MATRIX_MOST_SLOTS + MATRIX_MOST_COLUMNS) / 2], parts[ATN_MAX_ACCS][2];
    int32_t slots = x->m.n_slots / 2, all = slots + x->m.n_columns / 2;
    ir_clear(words, sizeof words);
    for (int32_t a = 0; a < f->n_atoms; ++a) atom[a] = v->atom[a] < 0 ? -1 : centred(x, a, v->atom[a]);
    slot_words(x, ATN_FORM_STEP, atom, words);
    for (int32_t k = 0; k < x->o.b->n_accs; ++k) {
        parts[k][0] = number(l, 1);
        if (v->factor[k] >= 0)
            part_in_two(l, ir_declare(l->p, l->block, "factor", within(l, v->factor[k], LARGEST_HALF)), parts[k]);
    }
    for (int32_t c = 0; c < x->m.n_columns; c += 2) {
        ir_ref pair[2];
        for (int32_t n = 0; n < 2; ++n) {
            const matrix_column *column = &x->m.column[c + n];
            pair[n] = column->acc < 0 ? number(l, 0) : parts[column->acc][column->part];
        }
        words[slots + c / 2] =
            ir_declare(l->p, l->block, "word", matrix_call(l, IR_CALL_PACK, ATN_INT32, pair[0], pair[1]));
    }
    for (int32_t k = 0; k < all; ++k)
        words[k] = ir_declare(
            l->p, l->block, "word",
            ir_operation(l->p, ATN_OP_SELECT, ATN_INT32, v->inside, words[k], ir_integer(l->p, ATN_INT32, 0)));
    store_words(l, x->steps, ir_multiply_integer(l->p, row, x->m.step_words), words, all);
}

static void fill_steps(matrix *x, ir_ref start, ir_ref to) {
    lowering *l = x->l;
    int32_t variable = ir_new_variable(l->p, "e", IR_ADDRESS, 1, true);
    ir_ref e = ir_variable_ref(l->p, variable);
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &body;
    step_values v = read_step(x, ir_add(l->p, start, e), to);
    lay_step(x, &v, e);
    lower_forget(l, mark);
    l->block = outer;
    ir_for(l->p, outer, variable, l->item, ir_address(l->p, l->v.q[0].tile), l->cuts.items, 1, body);
}

/* ---- products ---- */

/* Adds to variables sum to sum + 3 the product of four and two words. */
static void multiply(lowering *l, int32_t sum, const ir_ref left[4], const ir_ref right[2]) {
    ir_ref all[6] = {left[0], left[1], left[2], left[3], right[0], right[1]};
    ir_append(l->p, l->block,
              (ir_statement){.kind = IR_MATRIX_MULTIPLY,
                             .id = sum,
                             .index = -1,
                             .value = ir_join(l->p, all, 6),
                             .limit = -1,
                             .body = -1,
                             .other = -1});
}

static int32_t declare_sums(lowering *l, const char *name) {
    int32_t first = -1;
    for (int32_t k = 0; k < 4; ++k) {
        int32_t variable = ir_declare_mutable(l->p, l->block, name, number(l, 0));
        if (k == 0) first = variable;
    }
    return first;
}

/* Of four times two exponentials: are these computed by polynomial, both at once? */
static bool is_packed(const lowering *l, int32_t two) {
    return l->v.packed && (two + 1) * l->v.mix / 8 != two * l->v.mix / 8;
}

/* One weight at eight pairs of a lane, from the form there. Some of the exponentials are computed by polynomial, so
 * that both kinds of units are busy. */
static void weights_of(matrix *x, int32_t weight, const int32_t form[2], ir_ref value[8]) {
    lowering *l = x->l;
    const atn_node *node = &l->g->values[x->m.form.form];
    for (int32_t k = 0; k < 8; ++k) {
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

/* As left operands: the lanes already hold pairs where the next product needs them. */
static void pack_weights(const matrix *x, const ir_ref value[8], ir_ref words[2][4]) {
    lowering *l = x->l;
    for (int32_t k = 0; k < 4; ++k) {
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
        int32_t form[2] = {declare_sums(l, "form"), declare_sums(l, "form")};
        for (int32_t k = 0; k < depth; ++k) {
            ir_ref left[4];
            for (int32_t n = 0; n < 4; ++n) left[n] = ir_variable_ref(p, x->left[t * depth + k] + n);
            for (int32_t n = 0; n < 2; ++n)
                multiply(l, form[n], left,
                         (ir_ref[]){ir_variable_ref(p, right[k] + 2 * n), ir_variable_ref(p, right[k] + 2 * n + 1)});
        }
        ir_ref words[ATN_FORM_WEIGHTS][2][4];
        for (int32_t w = 0; w < x->m.form.n_weights; ++w) {
            ir_ref value[8];
            weights_of(x, w, form, value);
            pack_weights(x, value, words[w]);
        }
        for (int32_t c = 0; c < products; ++c)
            for (int32_t part = 0; part < x->m.parts; ++part)
                multiply(l, x->acc[t * products + c], words[x->m.column_weight[c]][part],
                         (ir_ref[]){ir_variable_ref(p, column[c]), ir_variable_ref(p, column[c] + 1)});
    }
}

/* A whole tile; rows beyond the range are zeros. `half`: where it begins, in words. */
static void multiply_tile(matrix *x, ir_ref half) {
    lowering *l = x->l;
    int32_t variable = ir_new_variable(l->p, "step", IR_ADDRESS, 1, true);
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &body;
    ir_ref first = ir_multiply_integer(l->p, ir_variable_ref(l->p, variable), x->m.step_words);
    block_of_steps(x, ir_declare(l->p, l->block, "first", half < 0 ? first : ir_add(l->p, half, first)));
    lower_forget(l, mark);
    l->block = outer;
    ir_for(l->p, outer, variable, ir_address(l->p, 0), ir_address(l->p, l->v.q[0].tile), MATRIX_STEPS, l->v.q[0].unroll,
           body);
}

/* Fill, wait, process, wait. */
static void tiles_in_turn(matrix *x, ir_ref from, ir_ref to) {
    lowering *l = x->l;
    int32_t variable = ir_new_variable(l->p, "tile_start", IR_ADDRESS, 1, true);
    ir_block body = IR_EMPTY, *outer = l->block;
    l->block = &body;
    fill_steps(x, ir_variable_ref(l->p, variable), to);
    ir_barrier(l->p, l->block);
    multiply_tile(x, -1);
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
    step_values v = read_step(x, ir_add(p, from, l->item), to);
    lay_step(x, &v, row);
    lower_forget(l, mark);
    l->block = outer;
    ir_if(p, outer, ir_less(p, from, to), first, IR_EMPTY);
    ir_barrier(p, outer);
    l->block = &body;
    v = read_step(x, ir_add(p, ir_add_integer(p, ir_variable_ref(p, variable), tile), l->item), to);
    multiply_tile(x, ir_multiply_integer(p, ir_variable_ref(p, half), (int64_t)tile * x->m.step_words));
    ir_assign(p, l->block, half, ir_subtract(p, ir_address(p, 1), ir_variable_ref(p, half)));
    lay_step(x, &v, row);
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
    ir_ref warp = ir_address(p, 32);
    x->tiles = l->v.p[0].regs * 32 / MATRIX_ROWS;
    x->left = atn_arena_alloc(&p->arena, (size_t)(x->tiles * depth) * sizeof *x->left);
    x->acc = atn_arena_alloc(&p->arena, (size_t)(x->tiles * products) * sizeof *x->acc);
    if (!x->left || !x->acc) p->failed = true;
    enum { MUCH = 32 << 10 };
    int64_t points = (int64_t)l->cuts.span[0] * x->m.point_words,
            steps = (int64_t)l->v.q[0].tile * x->m.step_words * (l->v.stage == 2 ? 2 : 1),
            sums = (int64_t)l->cuts.span[0] * (x->m.n_columns + 1);
    bool dynamic = 4 * (points + steps + sums) > MUCH;
    x->points = add_tile(l, "points", ATN_INT32, points, dynamic);
    x->steps = add_tile(l, "steps", ATN_INT32, steps, dynamic);
    x->sums = add_tile(l, "sums", ATN_SP, sums, dynamic);
    x->lane = ir_declare(p, l->block, "lane", ir_operation(p, ATN_OP_MOD, IR_ADDRESS, l->item, warp, -1));
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
    ir_ref at = ir_declare(p, l->block, "sums_at", ir_add(p, ir_multiply_integer(p, row, pitch), column));
    for (int32_t t = 0; t < x->tiles && !p->failed; ++t)
        for (int32_t c = 0; c < products; ++c)
            for (int32_t k = 0; k < 4; ++k)
                store_tile(
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
        ir_ref row = ir_declare(p, l->block, "sums_row", ir_multiply_integer(p, local_row(x, at), x->m.n_columns + 1));
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
        if (l->split >= 0) {
            loops_store_partial(l, x->o.b, at, value);
        } else {
            loops_apply_init(l, x->o.block, at, value);
            loops_keep_results(l, x->o.block, at, value);
        }
    } while (lower_next_place(l, 1u << x->point, &at));
}

/* The steps of a list, from 0 on. */
static void count_listed(matrix *x, ir_ref *from, ir_ref *to) {
    lowering *l = x->l;
    const atn_dim *range = &l->g->dims[x->range];
    ir_ref row = ir_subtract(l->p, lower_end(l, range->end), lower_end(l, range->begin));
    x->first = *from;
    x->row = ir_declare(l->p, l->block, "row_steps", row);
    *to = ir_declare(l->p, l->block, "steps", ir_multiply(l->p, ir_subtract(l->p, *to, *from), x->row));
    *from = ir_address(l->p, 0);
}

void lower_block_matrix(lowering *l, int32_t block) {
    matrix *x = l->matrix;
    ir_ref from, to;
    x->o = loops_open(l, block);
    ir_comment(l->p, l->block, "%s on matrix units", x->o.b->name);
    open_matrix(x);
    if (l->p->failed || l->status != ATN_OK) return;
    lay_points(x);
    load_points(x);
    place_lanes(x);
    for (int32_t k = 0; k < x->tiles * x->m.n_columns / MATRIX_COLUMNS; ++k) x->acc[k] = declare_sums(l, "acc");
    loops_bounds(&x->o, 0, &from, &to);
    if (x->list >= 0) count_listed(x, &from, &to);
    if (l->v.stage == 2)
        tiles_ahead(x, from, to);
    else
        tiles_in_turn(x, from, to);
    hand_over(x);
    conclude(x);
    l->done |= 1u << block;
}

void lower_group_matrix(lowering *l) {
    matrix x = {.l = l, .point = l->cuts.point[0]};
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
    matrix_find_centres(&x);
    ir_ref together = matrix_lies_together(&x);
    size_t mark = lower_mark(l);
    l->block = together < 0 ? outer : &inside;
    l->matrix = &x;
    lower_group(l);
    l->matrix = NULL;
    lower_forget(l, mark);
    if (together < 0) return;
    atn_variant full = l->v, plain = full;
    plain.matrix = ATN_MATRIX_OFF;
    plain.mix = 0;
    if (x.list >= 0) plain.stage = plain.q[0].tile = 0; /* a tile consists of steps here, not of places of the list */
    lower_enter(l, plain);
    l->block = &apart;
    lower_group(l);
    lower_forget(l, mark);
    lower_enter(l, full);
    l->block = outer;
    ir_if(l->p, outer, together, inside, apart);
}
