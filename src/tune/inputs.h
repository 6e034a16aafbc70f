/* Elements to verify and measure with: repeatable, tame, and such that no access goes out of range: starts of ranges
 * ascend, indices point into what they select, and numbers that selectors are computed from are small enough. */
#ifndef ATN_TUNE_INPUTS_H
#define ATN_TUNE_INPUTS_H

#include "eval/eval.h"

/* What an object's elements are for. */
typedef enum atn_input_role {
    ATN_ROLE_NUMBER,
    ATN_ROLE_START, /* begins of ranges: ascending, from 0 */
    ATN_ROLE_END,   /* their ends alone: the next one's begin */
    ATN_ROLE_COUNT, /* lengths of ranges that begin at 0 */
    ATN_ROLE_INDEX, /* points into another object */
    ATN_ROLE_WITHIN /* numbers that a selector is computed from */
} atn_input_role;

typedef struct atn_filling {
    atn_input_role role;
    int64_t below; /* INDEX, COUNT: less than this; START, END: the most they reach */
    double high;   /* WITHIN: from 0 up to this */
} atn_filling;

/* How all objects are to be filled: out[n_objects]. Of the frame, elements are not looked at. Selectors that bounds
 * cannot follow (bounds.h) are left to a check: atn_stand_prove. */
atn_status atn_fillings_of(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, double range_length,
                           atn_filling *out);

/* Has it accesses that only a run can show in range? */
bool atn_inputs_guarded(const atn_graph *graph);
/* *out: a run changes elements that decide where the next one goes. */
atn_status atn_inputs_moved(const atn_ctx *ctx, const atn_graph *graph, bool *out);

typedef struct atn_fill_options {
    uint64_t seed;
    bool special;   /* some NaN, infinities and zeros among the numbers */
    double spread;  /* lengths of ranges differ by up to this part of their mean: 0 to 1 */
    double lengths; /* their mean */
} atn_fill_options;

/* Fills the elements at view->data; what lies between rows is not touched. */
void atn_fill(const atn_view *view, atn_filling filling, const atn_fill_options *options, int32_t object);

#endif
