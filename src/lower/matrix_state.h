/* Sums on matrix units while one group is generated: shared by the files that generate them. */
#ifndef ATN_LOWER_MATRIX_STATE_H
#define ATN_LOWER_MATRIX_STATE_H

#include "lower/loops.h"
#include "lower/matrix.h"

typedef struct matrix {
    lowering *l;
    lower_matrix m;
    ir_ref centre[ATN_FORM_ATOMS]; /* per atom: its reference value; -1: 0 */
    loops o;
    int32_t point, range, list;  /* the dimensions; list: around the range, -1: none */
    ir_ref first, row;           /* of a list: its first place, and the length of the range at each place */
    int32_t points, steps, sums; /* tiles */
    int32_t *left, *acc;         /* variables: rows of points, [tile][slots / 4]; sums, [tile][columns / 2] */
    int32_t tiles;               /* tiles of 16 points per warp */
    ir_ref lane, warp;
    ir_ref step_at, column_at; /* where a lane finds its row of a block of steps, in words */
} matrix;

#define OP(op, a, b) ir_operation(l->p, op, ATN_SP, a, b, -1)

/* A helper function of the dialect, with one argument or two (-1: one). */
static inline ir_ref matrix_call(lowering *l, ir_call which, int32_t type, ir_ref a, ir_ref b) {
    return ir_make(l->p, (ir_node){.kind = IR_CALL, .type = type, .width = 1, .arg = {a, b, -1}, .id = (int32_t)which});
}

static inline ir_ref matrix_uncentred(lowering *l, atn_value value, place at) {
    return ir_cast(l->p, ATN_SP, lower_value(l, value, at, 0));
}

/* matrix_centre.c */
void matrix_find_centres(matrix *x);
/* Are all points of the group close enough to its centre? -1: nothing is relative to it. */
ir_ref matrix_lies_together(const matrix *x);

#endif
