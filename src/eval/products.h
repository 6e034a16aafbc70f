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
    /* Additional error of the current form over a plain evaluation, */
    double (*error)(interp *in);
    double (*term_error)(interp *in, int32_t acc, num term); /* and the term of an accumulator */
};

/* Of an interpreter that was begun: where options ask for it and the graph has such a form; NULL else. Owned by the
 * interpreter. */
atn_status products_begin(interp *in, const atn_eval_options *options);

#endif
