/* Sums on matrix units while one group is generated: shared by the files that generate them. */
#ifndef ATN_LOWER_MATRIX_STATE_H
#define ATN_LOWER_MATRIX_STATE_H

#include "lower/loops.h"
#include "lower/matrix.h"

/* A step of a list: its place, and its number in the row there (variables). */
typedef struct matrix_listed {
    int32_t place, in_row;
} matrix_listed;

typedef struct matrix {
    lowering *l;
    lower_matrix m;
    ir_ref centre[ATN_FORM_ATOMS]; /* per atom: its reference value; -1: 0 */
    loops o;
    int32_t point, range, list;  /* the dimensions; list: around the range, -1: none */
    ir_ref end;                  /* of a list */
    ir_ref first, row;           /* of a list: its first place, and the length of the range at each place */
    int32_t points, steps, sums; /* tiles */
    int32_t *left, *acc;         /* variables: rows of points, [tile][slots / 4]; sums, [tile][columns / 2] */
    bool shared;                 /* sums use the memory of the points: several groups are to fit into a core */
    int32_t tiles;               /* tiles of 16 points per warp */
    ir_ref lane, warp;
    ir_ref begin;              /* first step of the group */
    ir_ref step_at, column_at; /* where a lane finds its row of a block of steps, in words */
    matrix_listed filling;     /* the step of a list that this item reads next, */
    bool counts;               /* where it is known from the one before */
    ir_ref scale;              /* what differences are multiplied by; -1: nothing */
    int32_t most;              /* variable: the largest sum of squares of a step, where one is picked */
    struct matrix_pick *pick;  /* see matrix_pick.c; NULL: sums */
} matrix;

/* What an item knows about a step before its row is generated. */
typedef struct matrix_step {
    ir_ref atom[ATN_FORM_ATOMS], factor[ATN_MAX_ACCS];
    ir_ref inside;
} matrix_step;

#define MATRIX_LARGEST 65504.0 /* of halves */

#define OP(op, a, b) ir_operation(l->p, op, ATN_SP, a, b, -1)

/* A helper function of the dialect, with one argument or two (-1: one). */
static inline ir_ref matrix_call(lowering *l, ir_call which, int32_t type, ir_ref a, ir_ref b) {
    return ir_make(l->p, (ir_node){.kind = IR_CALL, .type = type, .width = 1, .arg = {a, b, -1}, .id = (int32_t)which});
}

static inline ir_ref matrix_number(lowering *l, double value) { return ir_number(l->p, ATN_SP, value); }

static inline ir_ref matrix_uncentred(lowering *l, atn_value value, place at) {
    return ir_cast(l->p, ATN_SP, lower_value(l, value, at, 0));
}

/* matrix_rows.c */
int32_t matrix_add_tile(lowering *l, const char *name, atn_type type, int64_t elements, bool dynamic);
void matrix_store_tile(lowering *l, int32_t tile, ir_ref at, ir_ref value);
/* The value of a centred atom, counted from the middle of the group's points. */
ir_ref matrix_centred(const matrix *x, int32_t atom, ir_ref value);
ir_ref matrix_factor_of(const matrix *x, const atn_form_term *term, int32_t side, const ir_ref atom[]);
ir_ref matrix_local_row(const matrix *x, place at); /* of a point of this item's, among the group's */
void matrix_lay_points(matrix *x);
void matrix_load_points(matrix *x);
void matrix_bind_to(matrix *x, int32_t dim, ir_ref at);
void matrix_bind_step(matrix *x, ir_ref at); /* steps of a list are numbered through all of its places */
matrix_listed matrix_listed_at(matrix *x, ir_ref step);
void matrix_bind_listed(matrix *x, const matrix_listed *at); /* beyond the list: its last place */
void matrix_go_on(matrix *x, const matrix_listed *at,
                  int32_t steps); /* divides only where rows are shorter than that */
void matrix_unbind_step(matrix *x);
matrix_step matrix_read_step(matrix *x, ir_ref at, ir_ref to);
void matrix_lay_step(matrix *x, const matrix_step *v, ir_ref row);
/* Adds to variables sum to sum + 3 the product of four and two words. */
void matrix_multiply(lowering *l, int32_t sum, const ir_ref left[4], const ir_ref right[2]);
/* 2^x of such a product, in halves: the first of two variables, as the left operand of the next product has them. */
int32_t matrix_exp2(lowering *l, const ir_ref left[4], const ir_ref right[2]);
int32_t matrix_declare_sums(lowering *l, const char *name); /* the first of four variables, all 0 */

/* matrix_pick.c: the least or the largest instead of sums */
void matrix_open_pick(matrix *x);
void matrix_pick_from(matrix *x, ir_ref first, ir_ref step); /* steps from a row of the tile on; step: their number */
void matrix_conclude_pick(matrix *x, ir_ref from, ir_ref to);

/* matrix_centre.c */
ir_ref matrix_extreme(lowering *l, ir_ref value,
                      ir_shuffle which); /* of a warp: the least or the most, for all lanes */
void matrix_find_centres(matrix *x);
/* Are all points of the group close enough to its centre? -1: nothing is relative to it. */
ir_ref matrix_lies_together(const matrix *x);
/* What makes differences of the group's points, and of the range's first step, about as large as halves hold best. */
void matrix_find_scale(matrix *x, ir_ref from, ir_ref to);

#endif
