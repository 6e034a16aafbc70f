/* Least squares unwrapping as scipy does it: the load's cosine transform over the eigenvalues of the Laplacian, and
 * back. A process of its own that makes the same phase and times the solution, and the transforms alone. */
#ifndef ATN_BENCH_SCIPY_H
#define ATN_BENCH_SCIPY_H

#include "base/context.h"

#define SCIPY_NAME            "scipy DCT solution"
#define SCIPY_TRANSFORMS_NAME "scipy dctn, 2 workers"
enum { SCIPY_RUNS = 4 }; /* of which the least is told */

/* Of python3 along the PATH or in /usr/bin, the first that has scipy; NULL, with ATN_OK: none. Owned by the caller. */
atn_status bench_scipy_find(const atn_ctx *ctx, char **python);

/* The least times of some solutions of a phase of side x side pixels (see bench/unwrap.c): from the wrapped phase to
 * the surface, and of that the transforms and the division. */
atn_status bench_scipy_run(const atn_ctx *ctx, const char *python, int side, bool wide, double seconds[2]);

#endif
