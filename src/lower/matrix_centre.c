/* The centre of the points of a group, to which differences are relative. */
#include "lower/matrix_state.h"

/* A value at a point of the group, another one for each lane, the same for all warps: evenly over the group. */
static ir_ref sample(matrix *x, atn_value value) {
    lowering *l = x->l;
    dim_state kept = l->dim[x->point];
    size_t mark = lower_mark(l);
    ir_ref at = ir_multiply_integer(l->p, x->lane, (int64_t)l->cuts.span[0] / MATRIX_LANES);
    l->dim[x->point] = (dim_state){.bound = true,
                                   .base = ir_add(l->p, l->start[0], at),
                                   .local = at,
                                   .regs = 1,
                                   .pack = 1,
                                   .vec = 1,
                                   .row = 1,
                                   .limit = kept.limit};
    ir_ref taken = ir_declare(l->p, l->block, "sample", matrix_uncentred(l, value, PLACE_ORIGIN));
    lower_forget(l, mark);
    l->dim[x->point] = kept;
    return taken;
}

ir_ref matrix_extreme(lowering *l, ir_ref value, ir_shuffle which) {
    ir_node node = {.kind = IR_SHUFFLE,
                    .type = ATN_SP,
                    .width = 1,
                    .arg = {value, -1, -1},
                    .id = MATRIX_LANES,
                    .list = (int32_t)which};
    return ir_declare(l->p, l->block, which == IR_SHUFFLE_MOST ? "most" : "least", ir_make(l->p, node));
}

/* The middle between the least and the largest, as the reference value of a difference: the farthest points are closer
 * to it than to the mean. */
static ir_ref middle(matrix *x, atn_value value) {
    lowering *l = x->l;
    ir_ref one = sample(x, value), least = matrix_extreme(l, one, IR_SHUFFLE_LEAST),
           most = matrix_extreme(l, one, IR_SHUFFLE_MOST);
    return ir_declare(l->p, l->block, "centre", OP(ATN_OP_MUL, OP(ATN_OP_ADD, least, most), matrix_number(l, 0.5)));
}

void matrix_find_centres(matrix *x) {
    const atn_bilinear *f = &x->m.form;
    for (int32_t a = 0; a < f->n_atoms; ++a) {
        x->centre[a] = -1;
        if (f->atom[a].centre < 0) continue;
        for (int32_t b = 0; b < a && x->centre[a] < 0; ++b)
            if (f->atom[b].centre == f->atom[a].centre) x->centre[a] = x->centre[b];
        if (x->centre[a] < 0) x->centre[a] = middle(x, f->atom[a].centre);
    }
}

/* What a point of the group may be away from the centre. The error of a sum of c (x - y)^2 is bounded by the sum of all
 * c y^2, y from the centre, so that this is what is limited: to what all coordinates may contribute if each is limited,
 * less a little for the products of x and y. */
static ir_ref is_close(const matrix *x, place at) {
    static const double REST = 0.96;
    lowering *l = x->l;
    const atn_bilinear *f = &x->m.form;
    double spread = lower_matrix_spread(&l->v), factor[ATN_FORM_ATOMS], all = 0;
    bool distance = atn_bilinear_distance(f, factor);
    ir_ref sum = -1, close = -1;
    for (int32_t a = 0; a < f->n_atoms; ++a) {
        if (f->atom[a].side != ATN_FORM_POINT || x->centre[a] < 0) continue;
        ir_ref from = OP(ATN_OP_SUB, matrix_uncentred(l, f->atom[a].value, at), x->centre[a]);
        if (!distance) {
            ir_ref size = OP(ATN_OP_ABS, from, -1);
            close =
                ir_and(l->p, close, ir_operation(l->p, ATN_OP_LE, ATN_B, size, ir_number(l->p, ATN_SP, spread), -1));
            continue;
        }
        from = ir_declare(l->p, l->block, "from", from);
        ir_ref square = OP(ATN_OP_MUL, OP(ATN_OP_MUL, matrix_number(l, factor[a]), from), from);
        sum = sum < 0 ? square : OP(ATN_OP_ADD, sum, square);
        all += factor[a];
    }
    if (sum < 0) return close;
    return ir_operation(l->p, ATN_OP_LE, ATN_B, sum, matrix_number(l, REST * all * spread * spread), -1);
}

ir_ref matrix_lies_together(const matrix *x) {
    lowering *l = x->l;
    ir_ref all = -1;
    place at = PLACE_ORIGIN;
    do {
        ir_ref close = is_close(x, at);
        if (close >= 0) all = ir_and(l->p, all, close);
    } while (lower_next_place(l, 1u << x->point, &at));
    return all < 0 ? -1 : ir_declare(l->p, l->block, "together", matrix_call(l, IR_CALL_ALL, ATN_B, all, -1));
}

static ir_ref farther(const matrix *x, ir_ref spread, int32_t atom, ir_ref value) {
    const lowering *l = x->l;
    return OP(ATN_OP_MAX, spread, OP(ATN_OP_ABS, OP(ATN_OP_SUB, value, x->centre[atom]), -1));
}

void matrix_find_scale(matrix *x, ir_ref from, ir_ref to) {
    lowering *l = x->l;
    atn_lowered *p = l->p;
    const atn_bilinear *f = &x->m.form;
    static const double WANTED = 8, LEAST = 1e-30; /* squares, and their remainders, fit into halves */
    ir_ref spread = matrix_number(l, 0);
    for (int32_t a = 0; a < f->n_atoms; ++a)
        if (f->atom[a].side == ATN_FORM_POINT) spread = farther(x, spread, a, sample(x, f->atom[a].value));
    spread = matrix_extreme(l, spread, IR_SHUFFLE_MOST);
    int32_t variable = ir_declare_mutable(p, l->block, "spread", spread);
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &body;
    matrix_bind_step(x, from);
    for (int32_t a = 0; a < f->n_atoms; ++a) {
        if (f->atom[a].side != ATN_FORM_STEP) continue;
        ir_ref first = matrix_uncentred(l, f->atom[a].value, PLACE_ORIGIN);
        ir_assign(p, l->block, variable, farther(x, ir_variable_ref(p, variable), a, first));
    }
    matrix_unbind_step(x);
    lower_forget(l, mark);
    l->block = outer;
    ir_if(p, outer, ir_less(p, from, to), body, IR_EMPTY);
    ir_ref wide = ir_variable_ref(p, variable), apart = ir_less(p, matrix_number(l, LEAST), wide);
    ir_ref scale = OP(ATN_OP_DIV, matrix_number(l, WANTED), wide);
    x->scale = ir_declare(p, outer, "scale", ir_operation(p, ATN_OP_SELECT, ATN_SP, apart, scale, matrix_number(l, 1)));
}
