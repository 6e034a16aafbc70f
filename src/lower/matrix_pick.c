/* The least or the largest of a form on matrix units. Products of halves tell the form but for an error with a known
 * bound, so they only choose: every lane keeps the best of its blocks of steps, which block that is, and the best of
 * all other blocks. Where these two differ by more than the bound the steps of the one block are computed once more,
 * as described, else all of the range: what comes out is the same as without matrix units. */
#include "lower/matrix_state.h"

#include <math.h>

enum { HALVES = 2 }; /* rows of a tile of points that a lane has: 8 apart */

typedef struct matrix_pick {
    int32_t *best, *second, *block; /* variables, [tile][half] */
    int32_t found, where, sizes;    /* tiles: best and second of a point; its block; `most` of each warp */
} matrix_pick;

static bool is_least(const matrix *x) { return x->m.form.picks < 0; }

static ir_ref better(const matrix *x, ir_ref a, ir_ref b) {
    const lowering *l = x->l;
    return OP(is_least(x) ? ATN_OP_MIN : ATN_OP_MAX, a, b);
}

static ir_ref worse(const matrix *x, ir_ref a, ir_ref b) {
    const lowering *l = x->l;
    return OP(is_least(x) ? ATN_OP_MAX : ATN_OP_MIN, a, b);
}

static ir_ref is_better(const matrix *x, ir_ref a, ir_ref b) {
    return is_least(x) ? ir_less(x->l->p, a, b) : ir_less(x->l->p, b, a);
}

static ir_ref worst(const matrix *x) { return matrix_number(x->l, is_least(x) ? INFINITY : -INFINITY); }

static int32_t granule(const matrix *x) { return MATRIX_STEPS * x->l->v.q[0].unroll; }

void matrix_open_pick(matrix *x) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    size_t rows = (size_t)(x->tiles * HALVES);
    matrix_pick *k = x->pick = atn_arena_alloc(&p->arena, sizeof *k);
    int32_t *variables = atn_arena_alloc(&p->arena, 3 * rows * sizeof *variables);
    if (!k || !variables) {
        p->failed = true;
        return;
    }
    *k = (matrix_pick){.best = variables, .second = variables + rows, .block = variables + 2 * rows};
    for (size_t n = 0; n < rows; ++n) {
        k->best[n] = ir_declare_mutable(p, l->block, "best", worst(x));
        k->second[n] = ir_declare_mutable(p, l->block, "second", worst(x));
        k->block[n] = ir_declare_mutable(p, l->block, "block", ir_integer(p, ATN_INT32, 0));
    }
    for (int32_t t = 0; t < x->m.form.n_terms; ++t)
        x->most[t] = ir_declare_mutable(p, l->block, "most", matrix_number(l, 0));
    k->found = matrix_add_tile(l, "found", ATN_SP, (int64_t)l->cuts.span[0] * 2, false);
    k->where = matrix_add_tile(l, "where", ATN_INT32, l->cuts.span[0], false);
    k->sizes = matrix_add_tile(l, "sizes", ATN_SP, (int64_t)l->cuts.items / 32 * x->m.form.n_terms, false);
}

/* ---- blocks of steps ---- */

/* The form at 16 steps and a tile of points, joined to what is the best of either half. */
static void best_of_block(matrix *x, int32_t tile, const int32_t right[], ir_ref best[HALVES]) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    int32_t depth = x->m.n_slots / MATRIX_DEPTH;
    int32_t form[2] = {matrix_declare_sums(l, "form"), matrix_declare_sums(l, "form")};
    for (int32_t k = 0; k < depth; ++k) {
        ir_ref left[4];
        for (int32_t n = 0; n < 4; ++n) left[n] = ir_variable_ref(p, x->left[tile * depth + k] + n);
        for (int32_t n = 0; n < 2; ++n)
            matrix_multiply(l, form[n], left,
                            (ir_ref[]){ir_variable_ref(p, right[k] + 2 * n), ir_variable_ref(p, right[k] + 2 * n + 1)});
    }
    for (int32_t n = 0; n < 2; ++n)
        for (int32_t half = 0; half < HALVES; ++half) {
            int32_t first = form[n] + 2 * half;
            ir_ref both = better(x, ir_variable_ref(p, first), ir_variable_ref(p, first + 1));
            best[half] = ir_declare(p, l->block, "low", best[half] < 0 ? both : better(x, best[half], both));
        }
}

void matrix_pick_from(matrix *x, ir_ref first, ir_ref step) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    const matrix_pick *pick = x->pick;
    int32_t depth = x->m.n_slots / MATRIX_DEPTH, blocks = l->v.q[0].unroll;
    int32_t right[MATRIX_MOST_SLOTS / MATRIX_DEPTH];
    ir_ref best[MATRIX_MOST_PICKED], here = ir_declare(p, l->block, "here", ir_cast(p, ATN_INT32, step));
    ir_clear(best, sizeof best);
    for (int32_t b = 0; b < blocks; ++b) {
        for (int32_t k = 0; k < depth; ++k) {
            int64_t at = (int64_t)b * MATRIX_STEPS * x->m.step_words + k * 8;
            right[k] = ir_load_matrices(p, l->block, "right", 4, x->steps,
                                        ir_add_integer(p, ir_add(p, first, x->step_at), at), false);
        }
        for (int32_t t = 0; t < x->tiles && !p->failed; ++t) best_of_block(x, t, right, &best[t * HALVES]);
    }
    for (int32_t n = 0; n < x->tiles * HALVES && !p->failed; ++n) {
        ir_ref so_far = ir_variable_ref(p, pick->best[n]);
        ir_ref wins = ir_declare(p, l->block, "wins", is_better(x, best[n], so_far));
        ir_assign(p, l->block, pick->second[n],
                  better(x, ir_variable_ref(p, pick->second[n]), worse(x, so_far, best[n])));
        ir_assign(p, l->block, pick->block[n],
                  ir_operation(p, ATN_OP_SELECT, ATN_INT32, wins, here, ir_variable_ref(p, pick->block[n])));
        ir_assign(p, l->block, pick->best[n], better(x, so_far, best[n]));
    }
}

/* ---- to the items that own the points ---- */

static ir_ref shuffled(lowering *l, const char *name, int32_t type, ir_ref value, int32_t lanes, int32_t distance) {
    ir_node node = {
        .kind = IR_SHUFFLE, .type = type, .width = 1, .arg = {value, -1, -1}, .id = lanes, .integer = distance};
    return ir_declare(l->p, l->block, name, ir_make(l->p, node));
}

/* Four lanes have the steps of a row of points among them. */
static void join_lanes(const matrix *x, int32_t n) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    const matrix_pick *pick = x->pick;
    enum { LANES = 4 };
    for (int32_t distance = 1; distance < LANES; distance *= 2) {
        ir_ref best = ir_variable_ref(p, pick->best[n]), second = ir_variable_ref(p, pick->second[n]),
               block = ir_variable_ref(p, pick->block[n]);
        ir_ref other = shuffled(l, "other", ATN_SP, best, LANES, distance),
               other_second = shuffled(l, "other_second", ATN_SP, second, LANES, distance),
               other_block = shuffled(l, "other_block", ATN_INT32, block, LANES, distance);
        ir_ref same = ir_operation(p, ATN_OP_EQ, ATN_B, block, other_block, -1);
        ir_ref rest = ir_operation(p, ATN_OP_SELECT, ATN_SP, same, worst(x), worse(x, best, other));
        ir_ref wins = ir_declare(p, l->block, "wins", is_better(x, other, best));
        ir_assign(p, l->block, pick->second[n], better(x, better(x, second, other_second), rest));
        ir_assign(p, l->block, pick->block[n], ir_operation(p, ATN_OP_SELECT, ATN_INT32, wins, other_block, block));
        ir_assign(p, l->block, pick->best[n], better(x, best, other));
    }
}

static ir_ref lane_is_first(const matrix *x, int32_t of) {
    atn_lowered *p = x->l->p;
    ir_ref lane = ir_operation(p, ATN_OP_MOD, IR_ADDRESS, x->lane, ir_address(p, of), -1);
    return ir_operation(p, ATN_OP_EQ, ATN_B, lane, ir_address(p, 0), -1);
}

static void hand_over(matrix *x) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    const matrix_pick *pick = x->pick;
    ir_block body = IR_EMPTY, sizes = IR_EMPTY, *outer = l->block;
    int32_t terms = x->m.form.n_terms;
    ir_ref row = ir_add(p, ir_multiply_integer(p, x->warp, (int64_t)x->tiles * MATRIX_ROWS),
                        ir_operation(p, ATN_OP_DIV, IR_ADDRESS, x->lane, ir_address(p, 4), -1));
    row = ir_declare(p, l->block, "found_at", row);
    for (int32_t n = 0; n < x->tiles * HALVES; ++n) join_lanes(x, n);
    l->block = &body;
    for (int32_t n = 0; n < x->tiles * HALVES && !p->failed; ++n) {
        ir_ref at = ir_add_integer(p, row, n / HALVES * MATRIX_ROWS + n % HALVES * 8);
        matrix_store_tile(l, pick->found, ir_multiply_integer(p, at, 2), ir_variable_ref(p, pick->best[n]));
        matrix_store_tile(l, pick->found, ir_add_integer(p, ir_multiply_integer(p, at, 2), 1),
                          ir_variable_ref(p, pick->second[n]));
        matrix_store_tile(l, pick->where, at, ir_variable_ref(p, pick->block[n]));
    }
    l->block = outer;
    ir_if(p, outer, lane_is_first(x, 4), body, IR_EMPTY);
    ir_ref most[ATN_FORM_TERMS];
    for (int32_t t = 0; t < terms; ++t) {
        ir_node node = {.kind = IR_SHUFFLE,
                        .type = ATN_SP,
                        .width = 1,
                        .arg = {ir_variable_ref(p, x->most[t]), -1, -1},
                        .id = 32,
                        .list = (int32_t)IR_SHUFFLE_MOST};
        most[t] = ir_declare(p, outer, "largest", ir_make(p, node));
    }
    l->block = &sizes;
    for (int32_t t = 0; t < terms; ++t)
        matrix_store_tile(l, pick->sizes, ir_add_integer(p, ir_multiply_integer(p, x->warp, terms), t), most[t]);
    l->block = outer;
    ir_if(p, outer, lane_is_first(x, 32), sizes, IR_EMPTY);
    ir_barrier(p, outer);
}

static ir_ref tile_element(lowering *l, int32_t tile, int32_t type, ir_ref at) {
    return ir_make(l->p, (ir_node){.kind = IR_TILE, .type = type, .width = 1, .arg = {at, -1, -1}, .id = tile});
}

/* The largest factor of a step there was in the group. */
static ir_ref largest_factor(const matrix *x, int32_t term) {
    lowering *l = x->l;
    ir_ref most = -1;
    if (x->m.form.term[term].alone == ATN_FORM_POINT) return matrix_number(l, MATRIX_SCALE);
    for (int32_t warp = 0; warp < l->cuts.items / 32; ++warp) {
        ir_ref at = ir_address(l->p, (int64_t)warp * x->m.form.n_terms + term);
        ir_ref one = tile_element(l, x->pick->sizes, ATN_SP, at);
        most = most < 0 ? one : OP(ATN_OP_MAX, most, one);
    }
    return most;
}

/* Do the best and the second differ by more than both may be off? The unit is that of the oracle's bound for sums. */
static ir_ref is_decided(const matrix *x, place at, ir_ref best, ir_ref second) {
    lowering *l = x->l;
    const atn_bilinear *f = &x->m.form;
    ir_ref atom[ATN_FORM_ATOMS], size = matrix_number(l, 1), fits = -1;
    for (int32_t a = 0; a < f->n_atoms; ++a)
        if (f->atom[a].side == ATN_FORM_POINT)
            atom[a] = matrix_centred(x, a, matrix_uncentred(l, f->atom[a].value, at));
    for (int32_t t = 0; t < f->n_terms; ++t) {
        ir_ref point = OP(ATN_OP_ABS, matrix_factor_of(x, &f->term[t], ATN_FORM_POINT, atom), -1);
        ir_ref step = ir_declare(l->p, l->block, "step_size", largest_factor(x, t));
        ir_ref most = ir_declare(l->p, l->block, "most_size", OP(ATN_OP_MAX, point, step));
        fits = ir_and(l->p, fits, ir_less(l->p, most, matrix_number(l, MATRIX_LARGEST)));
        size = OP(ATN_OP_ADD, size, OP(ATN_OP_MUL, point, step));
    }
    ir_ref apart = is_least(x) ? OP(ATN_OP_SUB, second, best) : OP(ATN_OP_SUB, best, second);
    ir_ref bound = OP(ATN_OP_MUL, size, matrix_number(l, 2 * 0x1p-21));
    return ir_declare(l->p, l->block, "decided", ir_and(l->p, fits, ir_less(l->p, bound, apart)));
}

/* ---- as described ---- */

/* What the outermost block is given at the step at hand. */
static void step_terms(matrix *x, place at, ir_ref right[][2]) {
    lowering *l = x->l;
    const atn_block *inner = &l->g->blocks[x->m.form.block];
    for (int32_t k = 0; k < inner->n_accs; ++k)
        right[k][0] = ir_cast(l->p, acc_type(l, &inner->acc[k]), lower_value(l, inner->acc[k].term, at, 0));
    if (x->list < 0) return;
    loops_keep_results(l, x->m.form.block, at, right);
    for (int32_t k = 0; k < x->o.b->n_accs; ++k)
        right[k][0] = ir_cast(l->p, acc_type(l, &x->o.b->acc[k]), lower_value(l, x->o.b->acc[k].term, at, 0));
}

/* Steps from `low` to before `high`, one after the other; places of a list and of its row are counted, not divided. */
static void each_step(matrix *x, place at, ir_ref low, ir_ref high, const int32_t acc[]) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    int32_t variable = ir_new_variable(p, "again", IR_ADDRESS, 1, true), listed = -1, in_row = -1;
    ir_block body = IR_EMPTY, *outer = l->block;
    ir_ref left[ATN_MAX_ACCS][2], right[ATN_MAX_ACCS][2], joined[ATN_MAX_ACCS][2];
    ir_clear(left, sizeof left);
    ir_clear(right, sizeof right);
    ir_clear(joined, sizeof joined);
    if (x->list >= 0) {
        ir_ref behind = ir_declare(p, outer, "behind", ir_operation(p, ATN_OP_DIV, IR_ADDRESS, low, x->row, -1));
        listed = ir_declare_mutable(p, outer, "listed", ir_add(p, x->first, behind));
        in_row = ir_declare_mutable(p, outer, "in_row", ir_subtract(p, low, ir_multiply(p, behind, x->row)));
    }
    size_t mark = lower_mark(l);
    l->block = &body;
    if (x->list >= 0) {
        ir_ref begin = lower_end(l, l->g->dims[x->range].begin);
        matrix_bind_to(x, x->list, ir_variable_ref(p, listed));
        matrix_bind_to(x, x->range, ir_add(p, begin, ir_variable_ref(p, in_row)));
    } else {
        matrix_bind_to(x, x->range, ir_variable_ref(p, variable));
    }
    step_terms(x, at, right);
    for (int32_t k = 0; k < x->o.b->n_accs; ++k) left[k][0] = ir_variable_ref(p, acc[k]);
    lower_join(l, x->o.b, left, right, joined, true);
    for (int32_t k = 0; k < x->o.b->n_accs && !p->failed; ++k) ir_assign(p, l->block, acc[k], joined[k][0]);
    matrix_unbind_step(x);
    if (x->list >= 0) {
        ir_ref next = ir_declare(p, l->block, "next", ir_add_integer(p, ir_variable_ref(p, in_row), 1));
        ir_ref ends = ir_declare(p, l->block, "ends", ir_operation(p, ATN_OP_EQ, ATN_B, next, x->row, -1));
        ir_ref here = ir_variable_ref(p, listed);
        ir_assign(p, l->block, in_row, ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, ends, ir_address(p, 0), next));
        ir_assign(p, l->block, listed,
                  ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, ends, ir_add_integer(p, here, 1), here));
    }
    lower_forget(l, mark);
    l->block = outer;
    ir_for(p, outer, variable, low, high, 1, 4, body);
}

void matrix_conclude_pick(matrix *x, ir_ref from, ir_ref to) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    hand_over(x);
    place at = PLACE_ORIGIN;
    do {
        ir_ref value[ATN_MAX_ACCS][2];
        int32_t acc[ATN_MAX_ACCS];
        ir_ref row = ir_declare(p, l->block, "found_row", matrix_local_row(x, at)),
               twice = ir_multiply_integer(p, row, 2);
        ir_ref best = ir_declare(p, l->block, "best", tile_element(l, x->pick->found, ATN_SP, twice));
        ir_ref second =
            ir_declare(p, l->block, "second", tile_element(l, x->pick->found, ATN_SP, ir_add_integer(p, twice, 1)));
        ir_ref block = ir_cast(p, IR_ADDRESS, tile_element(l, x->pick->where, ATN_INT32, row));
        ir_ref decided = is_decided(x, at, best, second);
        ir_ref low = ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, decided, block, from);
        low = ir_declare(p, l->block, "low", low);
        ir_ref end = ir_operation(p, ATN_OP_MIN, IR_ADDRESS, ir_add_integer(p, low, granule(x)), to, -1);
        ir_ref high = ir_declare(p, l->block, "high", ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, decided, end, to));
        for (int32_t k = 0; k < x->o.b->n_accs; ++k)
            acc[k] = ir_declare_mutable(p, l->block, "picked", acc_neutral(l, x->o.b, k, 0));
        each_step(x, at, low, high, acc);
        for (int32_t k = 0; k < x->o.b->n_accs; ++k) value[k][0] = ir_variable_ref(p, acc[k]);
        if (l->split >= 0) {
            loops_store_partial(l, x->o.b, at, value);
        } else {
            loops_apply_init(l, x->o.block, at, value);
            loops_keep_results(l, x->o.block, at, value);
        }
    } while (lower_next_place(l, 1u << x->point, &at));
}
