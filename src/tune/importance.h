/* Which knobs matter: the share of the variance of log times that a knob explains by itself, corrected for how many
 * values it has (adjusted R^2 of a one-way analysis of variance). */
#ifndef ATN_TUNE_IMPORTANCE_H
#define ATN_TUNE_IMPORTANCE_H

#include "base/context.h"

typedef struct atn_importance {
    char knob[32];
    double share;   /* 0 to 1 */
    int32_t values; /* that it had */
} atn_importance;

enum { ATN_IMPORTANCE_MOST = 48 };

/* n variants ("a=1,b=x") and their times or ratios, > 0; others are ignored. Knobs with one value are omitted. The most
 * important first; returns their number. */
int32_t atn_importance_of(const atn_ctx *ctx, const char *const *variants, const double *ratios, int32_t n,
                          atn_importance out[ATN_IMPORTANCE_MOST]);

#endif
