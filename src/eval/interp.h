/* The interpreter's state: values cached while the dimensions they depend on are unchanged. */
#ifndef ATN_EVAL_INTERP_H
#define ATN_EVAL_INTERP_H

#include "eval/number.h"

/* An accumulator under way: result = init joined with every term, in order. */
typedef struct fold {
    num value;
    double error; /* sum of the terms' errors */
    double scale; /* sum of |terms|; CUSTOM: of |changes| */
    double up,
        down; /* PRODUCT: of the factors above and below 1; the largest and smallest partial product there can be */
    int64_t count;  /* terms so far */
    bool ambiguous; /* ARGMIN, ARGMAX: errors leave open who won */
} fold;

typedef struct interp {
    const atn_ctx *ctx;
    const atn_graph *graph;
    const atn_bindings *frame;
    num_rules rules;
    atn_eval_result *result;         /* what is written, and accesses gone wrong; NULL: nothing is written */
    num *values;                     /* per value */
    uint64_t *stamps;                /* per value: when it was made, 0: never */
    uint64_t *results_at;            /* per block: when its results were made */
    fold (*folds)[ATN_MAX_ACCS];     /* per block: accumulators; results once done */
    num (*running)[2][ATN_MAX_ACCS]; /* per block: before and after the current step */
    bool *scans;                     /* per block: it has running values */
    atn_value *stack;                /* values whose arguments are being made */
    int32_t depth;
    int64_t dim[ATN_MAX_DIMS];    /* the current index of each dimension */
    uint64_t moved[ATN_MAX_DIMS]; /* when it was put there */
    uint64_t clock;
    struct interp_products *products; /* see products.h; NULL: everything is computed as described */
    atn_status status;                /* the first failure; everything after returns quickly */
} interp;

/* Memory is given back by interp_end, also after a failure. */
atn_status interp_begin(interp *in, const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame,
                        const atn_eval_options *options);
void interp_end(interp *in);

num interp_value(interp *in, atn_value value);
void interp_move(interp *in, int32_t dim, int64_t to);
atn_view interp_view(const interp *in, int32_t object); /* a table's too */

/* Where an access lies: column, and row counted through all planes; false: out of range (counted). *doubt: a selector
 * is uncertain. */
bool interp_place(interp *in, int32_t object, const atn_value select[ATN_MAX_RANK], int64_t at[2], bool *doubt);

/* All steps of a block at the current outer indices, in order: axis 0 inside. `visit` NULL folds. */
typedef void (*interp_visit)(interp *in, void *user);
void interp_walk(interp *in, int32_t block, bool *doubt, interp_visit visit, void *user);

/* Accumulators of a block: begin, one step at the current point, end (fold.c). */
void interp_begin_folds(interp *in, int32_t block);
void interp_step_folds(interp *in, int32_t block);
void fold_end(interp *in, int32_t block);

/* For interp.c: with the values of all accumulators, their initial ones and those of a step. */
void fold_begin(interp *in, int32_t block, const num *init);
void fold_step(interp *in, int32_t block, const num *terms);
static inline bool interp_is_updated(const atn_acc *acc) { /* a step gives the new value, not a term */
    return acc->join == ATN_JOIN_CUSTOM || acc->join == ATN_JOIN_ORDERED;
}

/* Running values of a block (running.c): the accumulators walk along with its writes. A block without any is left
 * alone. */
void running_begin(interp *in, int32_t block);
void running_step(interp *in, int32_t block);
void running_end(interp *in, int32_t block);

/* What is written, by place. */
atn_eval_result *cells_make(const atn_ctx *ctx, const atn_graph *graph);
atn_eval_cell *cells_touch(atn_eval_result *result, int32_t object, const int64_t at[2],
                           bool *fresh); /* NULL: no memory */

#endif
