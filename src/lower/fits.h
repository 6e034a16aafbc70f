/* Rules of knobs: one for each row of knobs.h, in the file of the pass that implements the knob, or in fits_knobs.c. A
 * rule stores its reason in *why_not and returns false (REFUSE of graph/refuse.h). */
#ifndef ATN_LOWER_FITS_H
#define ATN_LOWER_FITS_H

#include "lower/lower.h"

/* A graph, a variant and a device, after its tiling was found to fit. */
typedef struct lower_asked {
    const atn_graph *g;
    const atn_variant *v;
    const atn_target *t;
    int32_t points; /* number of dimensions of the points */
    int32_t block;  /* the outermost reduction, -1: none; and its dimensions */
    int32_t rank;
    int32_t lanes_q; /* items along all of them */
} lower_asked;

typedef bool lower_rule(const lower_asked *asked, const char **why_not);
lower_rule lower_fits_all; /* no rule */

#define ATN_KNOB_RULE(name, plain, least, most, names, power, rule, meaning) lower_rule rule;
ATN_KNOBS(ATN_KNOB_RULE)
#undef ATN_KNOB_RULE

#endif
