/* Elements to verify and measure with: repeatable, tame, and such that no access goes astray: starts of ranges ascend,
 * indices point into what they select. */
#ifndef ATN_TUNE_INPUTS_H
#define ATN_TUNE_INPUTS_H

#include "eval/eval.h"

/* What an object's elements are for. */
typedef enum atn_role {
    ATN_ROLE_NUMBER,
    ATN_ROLE_START, /* begins of ranges: ascending, from 0 */
    ATN_ROLE_END,   /* their ends alone: the next one's begin */
    ATN_ROLE_COUNT, /* lengths of ranges that begin at 0 */
    ATN_ROLE_INDEX  /* points into another object */
} atn_role;

typedef struct atn_filling {
    atn_role role;
    int64_t below; /* INDEX, COUNT: less than this; START, END: the most they reach */
} atn_filling;

/* How one object is to be filled. */
atn_filling atn_filling_of(const atn_graph *graph, const atn_view *views, int32_t object, double range_length);

typedef struct atn_fill_options {
    uint64_t seed;
    bool special;   /* some NaN, infinities and zeros among the numbers */
    double spread;  /* lengths of ranges differ by up to this part of their mean: 0 to 1 */
    double lengths; /* their mean */
} atn_fill_options;

/* Fills the elements at view->data; what lies between rows is not touched. */
void atn_fill(const atn_view *view, atn_filling filling, const atn_fill_options *options, int32_t object);

#endif
