/* The centre of the points of a group, to which differences are relative. */
#include "lower/matrix_state.h"

/* The mean of some points of the group, as the reference value of a difference. */
static ir_ref middle(matrix *x, atn_value value) {
    lowering *l = x->l;
    dim_state kept = l->dim[x->point];
    ir_ref sum = -1;
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
        ir_ref one = matrix_uncentred(l, value, PLACE_ORIGIN);
        sum = sum < 0 ? one : OP(ATN_OP_ADD, sum, one);
        lower_forget(l, mark);
    }
    l->dim[x->point] = kept;
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
