/* The minimum or maximum of a form on matrix units. Products of halves have an error with a known bound, so they only
 * select: every lane keeps the best of its blocks of steps, the number of that block, and the best of all other blocks.
 * If these two differ by more than the bound, the steps of the one block are computed again as described, otherwise all
 * steps of the range: the result is the same as without matrix units.
 *
 * The form is a sum of squares of differences, c (x - y)^2. The products of a step at distance D = sum c (x - y)^2 from
 * a point add up to at most 8 sum c y^2 + 2 D, since |x| <= |y| + |x - y|: a step that could be the best one has a
 * small error, however far others are. */
#include "lower/matrix_state.h"

#include <math.h>

enum {
    HALVES = 2, /* rows of a tile of points that a lane has: 8 apart */
    LANES = 4   /* that share the steps of a row of points */
};

typedef struct matrix_pick {
    int32_t *best, *second, *block; /* variables, [tile][half] */
    int32_t sizes;                  /* tile: the largest step of each warp; */
    int32_t found[ATN_MAX_ACCS];    /* tiles: accumulators of the points */
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

/* Is an accumulator needed? A hidden one decides between parts of a split range only. */
static bool is_needed(const matrix *x, int32_t k) { return !x->o.b->acc[k].hidden || x->l->split >= 0; }

static int32_t warps_of(const matrix *x) { return x->l->cuts.items / MATRIX_LANES; }

void matrix_open_pick(matrix *x) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    size_t rows = (size_t)x->tiles * HALVES;
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
    x->most = ir_declare_mutable(p, l->block, "most", matrix_number(l, 0));
    if (warps_of(x) > 1) k->sizes = matrix_add_tile(l, "sizes", ATN_SP, warps_of(x), false);
    for (int32_t a = 0; a < x->o.b->n_accs; ++a)
        if (is_needed(x, a))
            k->found[a] = matrix_add_tile(l, "found", (atn_type)acc_type(l, &x->o.b->acc[a]), l->cuts.span[0], false);
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
    ir_ref best[MATRIX_MOST_PICKED],
        here = ir_operation(p, ATN_OP_DIV, IR_ADDRESS, step, ir_address(p, granule(x)), -1);
    here = ir_declare(p, l->block, "here", ir_cast(p, ATN_INT32, here));
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

/* ---- decisions ---- */

static ir_ref shuffled(lowering *l, const char *name, int32_t type, ir_ref value, int32_t distance) {
    ir_node node = {
        .kind = IR_SHUFFLE, .type = type, .width = 1, .arg = {value, -1, -1}, .id = LANES, .integer = distance};
    return ir_declare(l->p, l->block, name, ir_make(l->p, node));
}

/* Over the lanes that have the steps of a row of points. */
static void join_blocks(const matrix *x, int32_t n) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    const matrix_pick *pick = x->pick;
    for (int32_t distance = 1; distance < LANES; distance *= 2) {
        ir_ref best = ir_variable_ref(p, pick->best[n]), second = ir_variable_ref(p, pick->second[n]),
               block = ir_variable_ref(p, pick->block[n]);
        ir_ref other = shuffled(l, "other", ATN_SP, best, distance),
               other_second = shuffled(l, "other_second", ATN_SP, second, distance),
               other_block = shuffled(l, "other_block", ATN_INT32, block, distance);
        ir_ref same = ir_operation(p, ATN_OP_EQ, ATN_B, block, other_block, -1);
        ir_ref rest = ir_operation(p, ATN_OP_SELECT, ATN_SP, same, worst(x), worse(x, best, other));
        ir_ref wins = ir_declare(p, l->block, "wins", is_better(x, other, best));
        ir_assign(p, l->block, pick->second[n], better(x, better(x, second, other_second), rest));
        ir_assign(p, l->block, pick->block[n], ir_operation(p, ATN_OP_SELECT, ATN_INT32, wins, other_block, block));
        ir_assign(p, l->block, pick->best[n], better(x, best, other));
    }
}

static ir_ref lane_of(const matrix *x, int32_t lanes) {
    return ir_operation(x->l->p, ATN_OP_MOD, IR_ADDRESS, x->lane, ir_address(x->l->p, lanes), -1);
}

static ir_ref is_zero(const matrix *x, ir_ref lane) {
    return ir_operation(x->l->p, ATN_OP_EQ, ATN_B, lane, ir_address(x->l->p, 0), -1);
}

static ir_ref tile_element(lowering *l, int32_t tile, int32_t type, ir_ref at) {
    return ir_make(l->p, (ir_node){.kind = IR_TILE, .type = type, .width = 1, .arg = {at, -1, -1}, .id = tile});
}

/* The largest step of the group, relative to its centre: halves must have represented it. */
static ir_ref steps_fit(const matrix *x) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    ir_ref most = matrix_extreme(l, ir_variable_ref(p, x->most), IR_SHUFFLE_MOST);
    if (warps_of(x) > 1) {
        ir_block body = IR_EMPTY, *outer = l->block;
        l->block = &body;
        matrix_store_tile(l, x->pick->sizes, x->warp, most);
        l->block = outer;
        ir_if(p, outer, is_zero(x, x->lane), body, IR_EMPTY);
        ir_barrier(p, outer);
        for (int32_t warp = 0; warp < warps_of(x); ++warp)
            most = OP(ATN_OP_MAX, most, tile_element(l, x->pick->sizes, ATN_SP, ir_address(p, warp)));
    }
    return ir_declare(p, l->block, "steps_fit", ir_less(p, most, matrix_number(l, MATRIX_LARGEST)));
}

/* Do the best and the second differ by more than the errors of both? The unit is that of the oracle's bound for sums.
 */
static ir_ref is_decided(const matrix *x, int32_t n, place at, ir_ref fit) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    const atn_bilinear *f = &x->m.form;
    ir_ref atom[ATN_FORM_ATOMS], size = -1, best = ir_variable_ref(p, x->pick->best[n]);
    for (int32_t a = 0; a < f->n_atoms; ++a)
        if (f->atom[a].side == ATN_FORM_POINT)
            atom[a] = matrix_centred(x, a, matrix_uncentred(l, f->atom[a].value, at));
    for (int32_t t = 0; t < f->n_terms; ++t)
        if (f->term[t].alone == ATN_FORM_POINT)
            size = OP(ATN_OP_ABS, matrix_factor_of(x, &f->term[t], ATN_FORM_POINT, atom), -1);
    size = ir_declare(p, l->block, "point_size", size); /* divided by MATRIX_SCALE */
    ir_ref apart = OP(ATN_OP_ABS, OP(ATN_OP_SUB, ir_variable_ref(p, x->pick->second[n]), best), -1);
    ir_ref products = OP(ATN_OP_ADD, OP(ATN_OP_MUL, size, matrix_number(l, 8 * MATRIX_SCALE)),
                         OP(ATN_OP_MUL, OP(ATN_OP_ABS, best, -1), matrix_number(l, 4)));
    ir_ref bound =
        OP(ATN_OP_MUL, OP(ATN_OP_ADD, products, matrix_number(l, 3)), matrix_number(l, 2 * MATRIX_FORM_UNIT));
    ir_ref fits = ir_and(p, fit, ir_less(p, size, matrix_number(l, MATRIX_LARGEST / 8)));
    return ir_declare(p, l->block, "decided", ir_and(p, fits, ir_less(p, bound, apart)));
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

/* Accumulators of a row of points, and the step that they are of. */
typedef struct picked {
    int32_t acc[ATN_MAX_ACCS], step;
} picked;

/* The type that numbers steps. */
static int32_t step_type(const matrix *x) { return x->l->v.index == 32 ? ATN_INT32 : ATN_INDEX; }

static int32_t key_of(const matrix *x) {
    const atn_acc *acc = &x->o.b->acc[0];
    return acc->join == ATN_JOIN_ARGMIN || acc->join == ATN_JOIN_ARGMAX ? acc->key : 0;
}

/* Every fourth step from `low` to before `high`, by the lane that it belongs to. */
static void each_step(matrix *x, place at, ir_ref low, ir_ref high, const picked *k) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    int32_t variable = ir_new_variable(p, "again", IR_ADDRESS, 1, true), key = key_of(x);
    matrix_listed at_list = {0};
    ir_block body = IR_EMPTY, *outer = l->block;
    ir_ref left[ATN_MAX_ACCS][2], right[ATN_MAX_ACCS][2], joined[ATN_MAX_ACCS][2];
    ir_clear(left, sizeof left);
    ir_clear(right, sizeof right);
    ir_clear(joined, sizeof joined);
    if (x->list >= 0) at_list = matrix_listed_at(x, low);
    size_t mark = lower_mark(l);
    l->block = &body;
    if (x->list >= 0)
        matrix_bind_listed(x, &at_list);
    else
        matrix_bind_step(x, ir_variable_ref(p, variable));
    step_terms(x, at, right);
    for (int32_t a = 0; a < x->o.b->n_accs; ++a) left[a][0] = ir_variable_ref(p, k->acc[a]);
    right[key][0] = ir_declare(p, l->block, "key", right[key][0]);
    ir_ref wins = ir_declare(p, l->block, "wins", is_better(x, right[key][0], left[key][0]));
    lower_join(l, x->o.b, left, right, joined, true);
    for (int32_t a = 0; a < x->o.b->n_accs && !p->failed; ++a) ir_assign(p, l->block, k->acc[a], joined[a][0]);
    ir_ref here = ir_cast(p, step_type(x), ir_variable_ref(p, variable));
    ir_assign(p, l->block, k->step,
              ir_operation(p, ATN_OP_SELECT, step_type(x), wins, here, ir_variable_ref(p, k->step)));
    matrix_unbind_step(x);
    if (x->list >= 0) matrix_go_on(x, &at_list, LANES);
    lower_forget(l, mark);
    l->block = outer;
    ir_for(p, outer, variable, low, high, LANES, 4, body);
}

/* The best of the lanes, the first of equal ones, in all of them. */
static void join_picked(const matrix *x, const picked *k) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    int32_t key = key_of(x);
    for (int32_t distance = 1; distance < LANES; distance *= 2) {
        ir_ref own = ir_variable_ref(p, k->acc[key]), step = ir_variable_ref(p, k->step);
        ir_ref other_step = shuffled(l, "other_step", step_type(x), step, distance), other[ATN_MAX_ACCS] = {0};
        for (int32_t a = 0; a < x->o.b->n_accs; ++a)
            if (is_needed(x, a))
                other[a] = shuffled(l, "other", acc_type(l, &x->o.b->acc[a]), ir_variable_ref(p, k->acc[a]), distance);
        ir_ref same = ir_operation(p, ATN_OP_EQ, ATN_B, other[key], own, -1);
        ir_ref first = ir_and(p, same, ir_less(p, other_step, step));
        ir_ref wins = ir_operation(p, ATN_OP_OR, ATN_B, is_better(x, other[key], own), first, -1);
        wins = ir_declare(p, l->block, "wins", wins);
        for (int32_t a = 0; a < x->o.b->n_accs && !p->failed; ++a)
            if (is_needed(x, a))
                ir_assign(p, l->block, k->acc[a],
                          ir_operation(p, ATN_OP_SELECT, acc_type(l, &x->o.b->acc[a]), wins, other[a],
                                       ir_variable_ref(p, k->acc[a])));
        ir_assign(p, l->block, k->step, ir_operation(p, ATN_OP_SELECT, step_type(x), wins, other_step, step));
    }
}

/* A row of points whose steps these four lanes have: the steps that decide, and the result into the tiles. */
static void conclude_row(matrix *x, int32_t n, ir_ref first_row, ir_ref fit, ir_ref from, ir_ref to) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    picked k = {0};
    dim_state kept = l->dim[x->point];
    place at = PLACE_ORIGIN;
    at.r[x->point] = (int8_t)(kept.regs + n); /* beside those of the item's own points */
    ir_ref row = ir_declare(p, l->block, "row",
                            ir_add_integer(p, first_row, n / HALVES * MATRIX_ROWS + n % HALVES * MATRIX_ROWS / 2));
    size_t mark = lower_mark(l);
    l->dim[x->point] = (dim_state){.bound = true,
                                   .base = ir_add(p, l->start[0], row),
                                   .local = row,
                                   .regs = kept.regs + n + 1,
                                   .pack = 1,
                                   .vec = 1,
                                   .limit = kept.limit};
    join_blocks(x, n);
    ir_ref decided = is_decided(x, n, at, fit), block = ir_cast(p, IR_ADDRESS, ir_variable_ref(p, x->pick->block[n]));
    block = ir_add(p, from, ir_multiply_integer(p, block, granule(x)));
    ir_ref begin = ir_declare(p, l->block, "begin", ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, decided, block, from));
    ir_ref end = ir_operation(p, ATN_OP_MIN, IR_ADDRESS, ir_add_integer(p, begin, granule(x)), to, -1);
    end = ir_declare(p, l->block, "end", ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, decided, end, to));
    for (int32_t a = 0; a < x->o.b->n_accs; ++a)
        k.acc[a] = ir_declare_mutable(p, l->block, "picked", acc_neutral(l, x->o.b, a, 0));
    k.step = ir_declare_mutable(p, l->block, "picked_step", ir_integer(p, step_type(x), INT32_MAX));
    each_step(x, at, ir_declare(p, l->block, "low", ir_add(p, begin, lane_of(x, LANES))), end, &k);
    join_picked(x, &k);
    ir_block body = IR_EMPTY, *outer = l->block;
    l->block = &body;
    for (int32_t a = 0; a < x->o.b->n_accs; ++a)
        if (is_needed(x, a)) matrix_store_tile(l, x->pick->found[a], row, ir_variable_ref(p, k.acc[a]));
    l->block = outer;
    ir_if(p, outer, is_zero(x, lane_of(x, LANES)), body, IR_EMPTY);
    l->dim[x->point] = kept;
    lower_forget(l, mark);
}

void matrix_conclude_pick(matrix *x, ir_ref from, ir_ref to) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    ir_ref fit = steps_fit(x), row = ir_multiply_integer(p, x->warp, (int64_t)x->tiles * MATRIX_ROWS);
    row = ir_add(p, row, ir_operation(p, ATN_OP_DIV, IR_ADDRESS, x->lane, ir_address(p, LANES), -1));
    row = ir_declare(p, l->block, "first_row", row);
    for (int32_t n = 0; n < x->tiles * HALVES && !p->failed; ++n) conclude_row(x, n, row, fit, from, to);
    ir_barrier(p, l->block);
    place at = PLACE_ORIGIN;
    do {
        ir_ref value[ATN_MAX_ACCS][2], own = ir_declare(p, l->block, "own_row", matrix_local_row(x, at));
        for (int32_t a = 0; a < x->o.b->n_accs; ++a)
            value[a][0] = is_needed(x, a)
                              ? ir_declare(p, l->block, "found",
                                           tile_element(l, x->pick->found[a], acc_type(l, &x->o.b->acc[a]), own))
                              : acc_neutral(l, x->o.b, a, 0);
        loops_end_place(l, &x->o, at, value);
    } while (lower_next_place(l, 1u << x->point, &at));
}
