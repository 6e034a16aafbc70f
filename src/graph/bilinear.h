/* Pass: bilinear forms. Of a block that adds up terms u(point, step) * g(step), where all that u knows of a point and a
 * step together is one polynomial B, B is written as a sum of products f_k(point) * g_k(step): what matrix units
 * compute for many points and steps at once. |x - y|^2 is one: x^2 - 2 x y + y^2.
 *
 * Steps may be those of two ranges, one in the other, where the outer one adds up what the inner one comes to: a list
 * of rows, and all steps of each row. Points then lie in rows as well, and one row of them has one list.
 *
 * Or a block looks for the step where B is the least (the largest), and B is a sum of squares of such differences
 * (their negative), which may be scaled.
 *
 * A difference x - y of what belongs to a step and what belongs to a point may be taken as (x - c) - (y - c) for any c:
 * with c close to y the products stay small, and little is lost where they cancel. */
#ifndef ATN_GRAPH_BILINEAR_H
#define ATN_GRAPH_BILINEAR_H

#include "graph/graph.h"

enum { ATN_FORM_ATOMS = 16, ATN_FORM_MONOMIALS = 48, ATN_FORM_TERMS = 12, ATN_FORM_DEGREE = 3, ATN_FORM_WEIGHTS = 4 };

/* Whose value: */
enum { ATN_FORM_POINT, ATN_FORM_STEP, ATN_FORM_SIDES };

typedef struct atn_form_atom {
    atn_value value;
    int32_t side;
    int32_t
        centre; /* the value of a point that both sides of a difference are counted from, at another point; -1: none */
} atn_form_atom;

/* coefficient times a product of atoms of either side. */
typedef struct atn_form_monomial {
    double coefficient;
    int32_t count[ATN_FORM_SIDES];
    int32_t atom[ATN_FORM_SIDES][ATN_FORM_DEGREE]; /* in rising order */
} atn_form_monomial;

/* f(point) * g(step): monomials first to first + count - 1. Alone: of one side only, the other factor is 1. Else all
 * have one product of the point's atoms, which is f. */
typedef struct atn_form_term {
    int32_t first, count;
    int32_t alone; /* ATN_FORM_POINT or ATN_FORM_STEP; -1: of both */
} atn_form_term;

typedef struct atn_bilinear {
    int32_t block;  /* the one that adds up */
    int32_t list;   /* the one around it, which adds up its sums; -1: none */
    atn_value form; /* B */
    int32_t n_atoms, n_monomials, n_terms, n_weights;
    atn_form_atom atom[ATN_FORM_ATOMS];
    atn_form_monomial monomial[ATN_FORM_MONOMIALS];
    atn_form_term term[ATN_FORM_TERMS];
    atn_value weight[ATN_FORM_WEIGHTS]; /* u, functions of B alone */
    int32_t weight_of[ATN_MAX_ACCS];    /* per accumulator: which of them, */
    atn_value factor[ATN_MAX_ACCS];     /* and g, of the step alone; -1: 1 */
    int32_t picks;                      /* B decides instead: -1 the least, 1 the largest of all steps; 0: sums */
} atn_bilinear;

/* False, with the reason, where the graph is not of this kind. */
bool atn_bilinear_find(const atn_graph *graph, atn_bilinear *out, const char **why_not);
void atn_bilinear_print(const atn_graph *graph, const atn_bilinear *form, atn_text *out);

/* The sign of all c, if it is a sum of c (x - y)^2 and of what has no part in a difference, of either side alone; else
 * 0. factor: |c| for each atom of a point that is in a difference, 0 for others. */
int32_t atn_bilinear_distance(const atn_bilinear *form, double factor[ATN_FORM_ATOMS]);
/* Is a value a difference of what belongs to a step and what belongs to a point? Of those, `centre` is the point's. */
bool atn_bilinear_difference(const atn_graph *graph, const atn_bilinear *form, atn_value value, atn_value *centre);
/* The dimensions of either side, as masks. */
uint32_t atn_bilinear_dims(const atn_graph *graph, const atn_bilinear *form, int32_t side);

#endif
