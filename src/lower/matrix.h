/* Pass: sums of weights, or the minimum of a form, on matrix units. A bilinear form (graph/bilinear.h) of 16 points and
 * 8 steps is one product of 16 x 16 and 16 x 8 halves, accumulated in single precision; every factor is split into two
 * halves, 22 bits. The weights computed from it are already laid out as the left operand of the next product: 16 points
 * and 16 steps, times columns of factors.
 *
 * A step is a row of halves in a staged tile: the factors of its side of the form, then the columns. Differences are
 * relative to the centre of the points of a group; a group with points farther from it than `spread`, so that
 * cancellation would cost too much accuracy, is computed without matrix units. */
#ifndef ATN_LOWER_MATRIX_H
#define ATN_LOWER_MATRIX_H

#include "graph/bilinear.h"
#include "lower/cut.h"

enum {
    MATRIX_LANES = 32, /* of a warp; the centre of a group is in the middle of as many of its points */
    MATRIX_ROWS = 16,  /* points of a product */
    MATRIX_STEPS = 16,
    MATRIX_COLUMNS = 8,
    MATRIX_DEPTH = 16, /* products of halves that one instruction accumulates */
    MATRIX_MOST_SLOTS = 32,
    MATRIX_MOST_COLUMNS = 32,
    MATRIX_MOST_PICKED = 32, /* rows of points per lane whose best steps are tracked */
    MATRIX_MOST_TOGETHER = 4 /* blocks of steps per comparison with them */
};

/* Half of a factor: 0 the high part, 1 the remainder. */
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
    int32_t step_words, point_words; /* row pitch of a tile, in 4-byte words: 8 rows are in different banks */
    int32_t parts;                   /* of a weight */
} lower_matrix;

/* False, with the reason, if the graph has no such form or the variant does not fit it. */
bool lower_find_matrix(const atn_graph *g, const atn_variant *v, lower_matrix *out, const char **why_not);
/* Is every weight 2 to the power of the form, and nothing else? */
bool lower_matrix_is_plain(const atn_graph *g, const atn_bilinear *form);
double lower_matrix_spread(const atn_variant *v); /* see above */
void lower_print_matrix(const atn_graph *g, const lower_matrix *m, atn_text *out);

/* The scale by which a factor that belongs to one side only is divided, so that squares fit into halves, and multiplied
 * again; and the largest distance from the centre of the group. */
#define MATRIX_FORM_UNIT 0x1p-21 /* error of a form, relative to 1 and the sizes of all its products */
#define MATRIX_SCALE     16.0
#define MATRIX_FARTHEST  512.0

#endif
