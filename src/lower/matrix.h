/* Pass: sums of weights on matrix units. A bilinear form (graph/bilinear.h) of 16 points and 8 steps is one product of
 * 16 x 16 and 16 x 8 halves, added up in single precision; every factor is split into two halves, 22 bits. The weights
 * made of it lie where the next product wants its left operand: 16 points and 16 steps, times columns of factors.
 *
 * A step is a row of halves in a staged tile: what its side of the form is multiplied by, then the columns. Differences
 * are counted from the middle of a group's points; a group whose points lie farther from it than `spread`, so that
 * cancellation would cost too much, is done without matrix units. */
#ifndef ATN_LOWER_MATRIX_H
#define ATN_LOWER_MATRIX_H

#include "graph/bilinear.h"
#include "lower/cut.h"

enum {
    MATRIX_ROWS = 16, /* points of a product */
    MATRIX_STEPS = 16,
    MATRIX_COLUMNS = 8,
    MATRIX_DEPTH = 16, /* products of halves that one instruction adds up */
    MATRIX_MOST_SLOTS = 32,
    MATRIX_MOST_COLUMNS = 32,
    MATRIX_SAMPLES = 8 /* points whose mean is the middle of a group */
};

/* Half of a factor: 0 the higher one, 1 what it leaves. */
typedef struct matrix_slot {
    int32_t term;
    int32_t part[ATN_FORM_SIDES];
} matrix_slot;

typedef struct matrix_column {
    int32_t acc, part; /* of its factor; -1: nothing, zeros */
} matrix_column;

typedef struct lower_matrix {
    atn_bilinear form;
    int32_t n_slots, n_columns; /* multiples of the depth, and of the columns of a product */
    matrix_slot slot[MATRIX_MOST_SLOTS];
    matrix_column column[MATRIX_MOST_COLUMNS];
    int32_t column_weight[MATRIX_MOST_COLUMNS / MATRIX_COLUMNS]; /* per product: the weight that it multiplies */
    int32_t step_words, point_words; /* of 4 bytes, from row to row of a tile: rows of 8 do not meet in its banks */
    int32_t parts;                   /* of a weight */
} lower_matrix;

/* False, with the reason, where the graph has no such form or the variant does not fit it. */
bool lower_find_matrix(const atn_graph *g, const atn_variant *v, lower_matrix *out, const char **why_not);
/* Is every weight 2 to the form, and nothing else? */
bool lower_matrix_is_plain(const atn_graph *g, const atn_bilinear *form);
double lower_matrix_spread(const atn_variant *v); /* see above */
void lower_print_matrix(const atn_graph *g, const lower_matrix *m, atn_text *out);

/* What a factor of one side alone is divided by, so that squares fit into halves, and multiplied by again; how far from
 * the middle of its group a value counts. */
#define MATRIX_SCALE    16.0
#define MATRIX_FARTHEST 512.0

#endif
