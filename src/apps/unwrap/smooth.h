/* The smoother: Jacobi sweeps with the steps of a Chebyshev polynomial over [low, 2], the upper part of the spectrum of
 * A / diag. The programs compute them by the same formula (programs/unwrap_smooth.atn). */
#ifndef ATN_APPS_UNWRAP_SMOOTH_H
#define ATN_APPS_UNWRAP_SMOOTH_H

#include <stdbool.h>
#include <stdint.h>

enum { UNWRAP_SWEEPS = 8 /* most before, or after, the coarse grid's correction */ };

/* The lower end that gives the best cycles for so many sweeps. */
double unwrap_low(bool weights, bool after, int32_t sweeps);
/* The k-th of n steps; after the correction they are the same backwards, which is symmetric. 0 beyond the last. */
double unwrap_relax(double low, bool after, int32_t k, int32_t n);

#endif
