/* Rows of halves for matrix units: what a point and a step are multiplied by, by the items that own them; and their
 * product. */
#include "lower/matrix_state.h"

static ir_ref within(lowering *l, ir_ref a, double most) {
    return OP(ATN_OP_MAX, OP(ATN_OP_MIN, a, matrix_number(l, most)), matrix_number(l, -most));
}

/* Large local memory is requested at launch: source code may declare no more than 48 KiB, some of which is needed by
 * the tiles of a group that is computed without matrix units. */
int32_t matrix_add_tile(lowering *l, const char *name, atn_type type, int64_t elements, bool dynamic) {
    ir_stage *stage = &l->p->stage[l->stage];
    if (stage->n_tiles == (int32_t)(sizeof stage->tile / sizeof *stage->tile)) {
        lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: too many tiles in one group", l->g->name);
        return 0;
    }
    stage->tile[stage->n_tiles] = (ir_tile){.name = name, .type = type, .elements = elements, .dynamic = dynamic};
    return stage->n_tiles++;
}

void matrix_store_tile(lowering *l, int32_t tile, ir_ref at, ir_ref value) {
    ir_append(
        l->p, l->block,
        (ir_statement){
            .kind = IR_TILE_STORE, .id = tile, .index = at, .value = value, .limit = -1, .body = -1, .other = -1});
}

/* ---- the form's values ---- */

/* The value of a centred atom, relative to the centre of the points of the group. */
ir_ref matrix_centred(const matrix *x, int32_t atom, ir_ref value) {
    lowering *l = x->l;
    if (x->centre[atom] < 0) return value;
    ir_ref from = ir_declare(l->p, l->block, "from_centre", OP(ATN_OP_SUB, value, x->centre[atom]));
    if (x->scale >= 0) return ir_declare(l->p, l->block, "scaled", OP(ATN_OP_MUL, from, x->scale));
    return ir_declare(l->p, l->block, "centred", within(l, from, MATRIX_FARTHEST));
}

/* Products of the atoms of one side, summed; `alone` terms include the coefficients. */
ir_ref matrix_factor_of(const matrix *x, const atn_form_term *term, int32_t side, const ir_ref atom[]) {
    lowering *l = x->l;
    const atn_bilinear *f = &x->m.form;
    if (term->alone >= 0 && term->alone != side) return matrix_number(l, MATRIX_SCALE);
    bool shared = term->alone < 0 && side == ATN_FORM_POINT; /* one product; coefficients belong to the other side */
    ir_ref sum = -1;
    for (int32_t k = 0; k < (shared ? 1 : term->count); ++k) {
        const atn_form_monomial *m = &f->monomial[term->first + k];
        double coefficient = shared ? 1 : term->alone >= 0 ? m->coefficient / MATRIX_SCALE : m->coefficient;
        ir_ref product = coefficient == 1 && m->count[side] > 0 ? -1 : matrix_number(l, coefficient);
        for (int32_t n = 0; n < m->count[side]; ++n)
            product = product < 0 ? atom[m->atom[side][n]] : OP(ATN_OP_MUL, product, atom[m->atom[side][n]]);
        sum = sum < 0 ? product : OP(ATN_OP_ADD, sum, product);
    }
    return ir_declare(l->p, l->block, "factor", x->pick ? sum : within(l, sum, MATRIX_LARGEST));
}

/* Part 0 is rounded when it is packed; part 1 is the remainder. */
static void part_in_two(lowering *l, ir_ref value, ir_ref parts[2]) {
    parts[0] = value;
    parts[1] =
        ir_declare(l->p, l->block, "rest", OP(ATN_OP_SUB, value, matrix_call(l, IR_CALL_AS_HALF, ATN_SP, value, -1)));
}

/* The largest step, by size. */
static void see_step(const matrix *x, ir_ref factor) {
    const lowering *l = x->l;
    ir_ref so_far = ir_variable_ref(l->p, x->most);
    ir_assign(l->p, l->block, x->most, OP(ATN_OP_MAX, so_far, OP(ATN_OP_ABS, factor, -1)));
}

/* The slots of one side, two per word. */
static void slot_words(const matrix *x, int32_t side, const ir_ref atom[], ir_ref words[]) {
    lowering *l = x->l;
    ir_ref parts[ATN_FORM_TERMS][2];
    for (int32_t t = 0; t < x->m.form.n_terms; ++t) {
        const atn_form_term *term = &x->m.form.term[t];
        ir_ref factor = matrix_factor_of(x, term, side, atom);
        if (x->pick && side == ATN_FORM_STEP && term->alone == side) see_step(x, factor);
        parts[t][0] = factor;
        if (term->alone < 0 || term->alone == side) part_in_two(l, factor, parts[t]);
    }
    for (int32_t k = 0; k < x->m.n_slots; k += 2) {
        ir_ref pair[2];
        for (int32_t n = 0; n < 2; ++n) {
            const matrix_slot *s = &x->m.slot[k + n];
            pair[n] = s->term < 0 ? matrix_number(l, 0) : parts[s->term][s->part[side]];
        }
        words[k / 2] = ir_declare(l->p, l->block, "word", matrix_call(l, IR_CALL_PACK, ATN_INT32, pair[0], pair[1]));
    }
}

static void store_words(lowering *l, int32_t tile, ir_ref at, const ir_ref words[], int32_t count) {
    at = ir_declare(l->p, l->block, "row", at);
    for (int32_t k = 0; k < count; k += 4)
        matrix_store_tile(l, tile, ir_add_integer(l->p, at, k), ir_join(l->p, &words[k], 4));
}

/* ---- points ---- */

ir_ref matrix_local_row(const matrix *x, place at) {
    return ir_add_integer(x->l->p, x->l->dim[x->point].local, lower_offset(x->l, x->point, at));
}

/* Rows of halves of the points of the group, written by the items that own them. */
void matrix_lay_points(matrix *x) {
    lowering *l = x->l;
    const atn_bilinear *f = &x->m.form;
    place at = PLACE_ORIGIN;
    do {
        ir_ref atom[ATN_FORM_ATOMS], words[MATRIX_MOST_SLOTS / 2];
        for (int32_t a = 0; a < f->n_atoms; ++a)
            if (f->atom[a].side == ATN_FORM_POINT)
                atom[a] = matrix_centred(x, a, matrix_uncentred(l, f->atom[a].value, at));
        ir_ref row = matrix_local_row(x, at);
        slot_words(x, ATN_FORM_POINT, atom, words);
        store_words(l, x->points, ir_multiply_integer(l->p, row, x->m.point_words), words, x->m.n_slots / 2);
    } while (lower_next_place(l, 1u << x->point, &at));
    ir_barrier(l->p, l->block);
}

/* Left operands: four matrices per 16 points of the warp and 16 slots. */
void matrix_load_points(matrix *x) {
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

void matrix_bind_to(matrix *x, int32_t dim, ir_ref at) {
    x->l->dim[dim] =
        (dim_state){.bound = true, .base = at, .local = at, .regs = 1, .pack = 1, .vec = 1, .row = 1, .limit = -1};
    x->l->bound |= 1u << dim;
}

matrix_listed matrix_listed_at(matrix *x, ir_ref step) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    ir_ref behind = ir_declare(p, l->block, "behind", ir_operation(p, ATN_OP_DIV, IR_ADDRESS, step, x->row, -1));
    return (matrix_listed){
        .place = ir_declare_mutable(p, l->block, "listed", ir_add(p, x->first, behind)),
        .in_row = ir_declare_mutable(p, l->block, "in_row", ir_subtract(p, step, ir_multiply(p, behind, x->row)))};
}

void matrix_go_on(matrix *x, const matrix_listed *at, int32_t steps) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    ir_block wraps = IR_EMPTY;
    ir_ref in_row = ir_variable_ref(p, at->in_row), listed = ir_variable_ref(p, at->place);
    ir_ref next = ir_declare(p, l->block, "next", ir_add_integer(p, in_row, steps));
    ir_ref ends = ir_declare(p, l->block, "ends", ir_operation(p, ATN_OP_LE, ATN_B, x->row, next, -1));
    ir_assign(p, l->block, at->in_row,
              ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, ends, ir_subtract(p, next, x->row), next));
    ir_assign(p, l->block, at->place,
              ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, ends, ir_add_integer(p, listed, 1), listed));
    ir_ref rows = ir_declare(p, &wraps, "rows", ir_operation(p, ATN_OP_DIV, IR_ADDRESS, in_row, x->row, -1));
    ir_assign(p, &wraps, at->place, ir_add(p, listed, rows));
    ir_assign(p, &wraps, at->in_row, ir_subtract(p, in_row, ir_multiply(p, rows, x->row)));
    ir_if(p, l->block, ir_operation(p, ATN_OP_LE, ATN_B, x->row, in_row, -1), wraps, IR_EMPTY);
}

void matrix_bind_listed(matrix *x, const matrix_listed *at) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    ir_ref begin = lower_end(l, l->g->dims[x->range].begin), last = ir_add_integer(p, x->end, -1);
    ir_ref inside = ir_operation(p, ATN_OP_MIN, IR_ADDRESS, ir_variable_ref(p, at->place), last, -1);
    matrix_bind_to(x, x->list, ir_declare(p, l->block, "place", inside));
    matrix_bind_to(x, x->range, ir_add(p, begin, ir_variable_ref(p, at->in_row)));
}

void matrix_bind_step(matrix *x, ir_ref at) {
    if (x->list < 0) {
        matrix_bind_to(x, x->range, at);
        return;
    }
    matrix_listed first = matrix_listed_at(x, at);
    matrix_bind_listed(x, &first);
}

static void unbind(matrix *x, int32_t dim) {
    if (dim < 0) return;
    x->l->dim[dim].bound = false;
    x->l->bound &= ~(1u << dim);
}

void matrix_unbind_step(matrix *x) {
    unbind(x, x->range);
    unbind(x, x->list);
}

/* Reads the data of step `at`; a step beyond the range is like the last one, with weight zero. */
matrix_step matrix_read_step(matrix *x, ir_ref at, ir_ref to) {
    lowering *l = x->l;
    const atn_bilinear *f = &x->m.form;
    matrix_step v;
    v.inside = ir_declare(l->p, l->block, "inside", ir_less(l->p, at, to));
    if (x->counts)
        matrix_bind_listed(x, &x->filling);
    else
        matrix_bind_step(x,
                         ir_declare(l->p, l->block, "step_at",
                                    ir_operation(l->p, ATN_OP_MIN, IR_ADDRESS, at, ir_add_integer(l->p, to, -1), -1)));
    for (int32_t a = 0; a < f->n_atoms; ++a)
        v.atom[a] = f->atom[a].side == ATN_FORM_STEP ? matrix_uncentred(l, f->atom[a].value, PLACE_ORIGIN) : -1;
    for (int32_t k = 0; k < x->o.b->n_accs; ++k)
        v.factor[k] = f->factor[k] >= 0 ? matrix_uncentred(l, f->factor[k], PLACE_ORIGIN) : -1;
    matrix_unbind_step(x);
    if (x->counts) matrix_go_on(x, &x->filling, l->cuts.items); /* the next one that this item reads */
    return v;
}

/* Where one step is picked: the word that makes a step beyond the range the last that would be. */
static bool is_last(const matrix *x, int32_t word) {
    int32_t term = 2 * word < x->m.n_slots ? x->m.slot[2 * word].term : -1;
    return x->pick && term >= 0 && x->m.form.term[term].alone == ATN_FORM_STEP;
}

static ir_ref word_beyond(const matrix *x, int32_t word) {
    enum { INFINITE_HALF = 0x7c00, NEGATIVE = 0x8000 };
    int32_t infinite = x->m.form.picks < 0 ? INFINITE_HALF : INFINITE_HALF | NEGATIVE;
    return ir_integer(x->l->p, ATN_INT32, is_last(x, word) ? infinite : 0);
}

/* Stores the row of a step in the tile. */
void matrix_lay_step(matrix *x, const matrix_step *v, ir_ref row) {
    lowering *l = x->l;
    const atn_bilinear *f = &x->m.form;
    ir_ref atom[ATN_FORM_ATOMS], words[(MATRIX_MOST_SLOTS + MATRIX_MOST_COLUMNS) / 2], parts[ATN_MAX_ACCS][2];
    int32_t slots = x->m.n_slots / 2, all = slots + x->m.n_columns / 2;
    ir_clear(words, sizeof words);
    for (int32_t a = 0; a < f->n_atoms; ++a) atom[a] = v->atom[a] < 0 ? -1 : matrix_centred(x, a, v->atom[a]);
    slot_words(x, ATN_FORM_STEP, atom, words);
    for (int32_t k = 0; k < x->o.b->n_accs; ++k) {
        parts[k][0] = matrix_number(l, 1);
        if (v->factor[k] >= 0)
            part_in_two(l, ir_declare(l->p, l->block, "factor", within(l, v->factor[k], MATRIX_LARGEST)), parts[k]);
    }
    for (int32_t c = 0; c < x->m.n_columns; c += 2) {
        ir_ref pair[2];
        for (int32_t n = 0; n < 2; ++n) {
            const matrix_column *column = &x->m.column[c + n];
            pair[n] = column->acc < 0 ? matrix_number(l, 0) : parts[column->acc][column->part];
        }
        words[slots + c / 2] =
            ir_declare(l->p, l->block, "word", matrix_call(l, IR_CALL_PACK, ATN_INT32, pair[0], pair[1]));
    }
    for (int32_t k = 0; k < all; ++k)
        if (!x->pick || is_last(x, k))
            words[k] = ir_declare(l->p, l->block, "word",
                                  ir_operation(l->p, ATN_OP_SELECT, ATN_INT32, v->inside, words[k], word_beyond(x, k)));
    store_words(l, x->steps, ir_multiply_integer(l->p, row, x->m.step_words), words, all);
}

/* ---- products ---- */

static void append_product(lowering *l, ir_statement_kind kind, int32_t variable, const ir_ref left[4],
                           const ir_ref right[2]) {
    ir_ref all[6] = {left[0], left[1], left[2], left[3], right[0], right[1]};
    ir_append(l->p, l->block,
              (ir_statement){.kind = kind,
                             .id = variable,
                             .index = -1,
                             .value = ir_join(l->p, all, 6),
                             .limit = -1,
                             .body = -1,
                             .other = -1});
}

void matrix_multiply(lowering *l, int32_t sum, const ir_ref left[4], const ir_ref right[2]) {
    append_product(l, IR_MATRIX_MULTIPLY, sum, left, right);
}

int32_t matrix_exp2(lowering *l, const ir_ref left[4], const ir_ref right[2]) {
    int32_t first = ir_new_variable(l->p, "high", ATN_INT32, 1, true);
    ir_new_variable(l->p, "high", ATN_INT32, 1, true);
    append_product(l, IR_MATRIX_EXP2, first, left, right);
    return first;
}

int32_t matrix_declare_sums(lowering *l, const char *name) {
    int32_t first = -1;
    for (int32_t k = 0; k < 4; ++k) {
        int32_t variable = ir_declare_mutable(l->p, l->block, name, matrix_number(l, 0));
        if (k == 0) first = variable;
    }
    return first;
}
