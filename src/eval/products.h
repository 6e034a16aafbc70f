/* The oracle's bound where a variant computes a bilinear form as a sum of products, and weights made of it in fewer
 * bits (matrix units). */
#ifndef ATN_EVAL_PRODUCTS_H
#define ATN_EVAL_PRODUCTS_H

#include "eval/interp.h"
#include "graph/bilinear.h"

struct interp_products {
    atn_bilinear form;
    atn_eval_products how;
    double spread[ATN_FORM_ATOMS]; /* per atom that is counted from a centre: how far points lie from it at most */
};

/* Where options ask for it and the graph has such a form; NULL else. Owned by the interpreter. */
atn_status products_begin(interp *in, const atn_eval_options *options);
/* What the form at hand may be off by more than a plain evaluation. */
double products_error(interp *in);
/* The same of the term of an accumulator. */
double products_term_error(interp *in, int32_t acc, num term);

#endif
