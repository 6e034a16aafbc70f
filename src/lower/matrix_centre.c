/* The centre of the points of a group, to which differences are relative. */
#include "lower/matrix_state.h"

/* A value at some points of the group, the same for all items. */
static void sample(matrix *x, atn_value value, ir_ref samples[MATRIX_SAMPLES]) {
    lowering *l = x->l;
    dim_state kept = l->dim[x->point];
    for (int32_t k = 0; k < MATRIX_SAMPLES; ++k) {
        size_t mark = lower_mark(l);
        int64_t at = (int64_t)k * l->cuts.span[0] / MATRIX_SAMPLES;
        l->dim[x->point] = (dim_state){.bound = true,
                                       .base = ir_add_integer(l->p, l->start[0], at),
                                       .local = ir_address(l->p, at),
                                       .regs = 1,
                                       .pack = 1,
                                       .vec = 1,
                                       .row = 1,
                                       .limit = kept.limit};
        samples[k] = matrix_uncentred(l, value, PLACE_ORIGIN);
        lower_forget(l, mark);
    }
    l->dim[x->point] = kept;
}

/* Their mean, as the reference value of a difference. */
static ir_ref middle(matrix *x, atn_value value) {
    lowering *l = x->l;
    ir_ref samples[MATRIX_SAMPLES];
    sample(x, value, samples);
    ir_ref sum = samples[0];
    for (int32_t k = 1; k < MATRIX_SAMPLES; ++k) sum = OP(ATN_OP_ADD, sum, samples[k]);
    return ir_declare(l->p, l->block, "centre", OP(ATN_OP_MUL, sum, ir_number(l->p, ATN_SP, 1.0 / MATRIX_SAMPLES)));
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

ir_ref matrix_lies_together(const matrix *x) {
    lowering *l = x->l;
    const atn_bilinear *f = &x->m.form;
    double spread = lower_matrix_spread(&l->v);
    ir_ref all = -1;
    place at = PLACE_ORIGIN;
    do {
        for (int32_t a = 0; a < f->n_atoms; ++a) {
            if (f->atom[a].side != ATN_FORM_POINT || x->centre[a] < 0) continue;
            ir_ref from = OP(ATN_OP_SUB, matrix_uncentred(l, f->atom[a].value, at), x->centre[a]);
            ir_ref size = OP(ATN_OP_ABS, from, -1);
            all = ir_and(l->p, all, ir_operation(l->p, ATN_OP_LE, ATN_B, size, ir_number(l->p, ATN_SP, spread), -1));
        }
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
    for (int32_t a = 0; a < f->n_atoms; ++a) {
        ir_ref samples[MATRIX_SAMPLES];
        if (f->atom[a].side != ATN_FORM_POINT) continue;
        sample(x, f->atom[a].value, samples);
        for (int32_t k = 0; k < MATRIX_SAMPLES; ++k) spread = farther(x, spread, a, samples[k]);
    }
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
