/* A running minimum or maximum: low = atn_lesser(low, x). A NaN in x is ignored, as by fmin and fmax.
 *
 * Why not fmin and fmax: gcc 12 for aarch64 dies (vect_transform_reduction, "internal compiler error") at -O3 on a loop
 * that reduces doubles with them when the terms are converted from a narrower type, float or int32_t, in the same loop.
 * Write such reductions with these; where nothing is converted, fmin and fmax compile. */
#ifndef ATN_BASE_EXTREME_H
#define ATN_BASE_EXTREME_H

#include <stddef.h>

static inline double atn_lesser(double low, double x) { return x < low ? x : low; }

static inline double atn_larger(double high, double x) { return x > high ? x : high; }

/* Of a list; of none: infinity and -infinity. */
void atn_extremes(const double *list, size_t count, double *least, double *most);

#endif
