/* Least squares unwrapping by multigrid, written plainly: what the solver is measured against. Loops over rows on
 * all cores, nothing fused, no tiles; the method is the usual one and a good one: cell-centred grids, full multigrid
 * start, V-cycles with two red-black Gauss-Seidel sweeps before and after, bilinear interpolation. */
#ifndef ATN_BENCH_REFERENCE_MULTIGRID_H
#define ATN_BENCH_REFERENCE_MULTIGRID_H

#include <stddef.h>
#include <stdint.h>

#define MULTIGRID_NAME "plain multigrid, all cores"
enum { MULTIGRID_LEVELS = 16 };

/* A square image; its side is a power of two, 4 or more. All elements are floats, or doubles where `wide`. */
typedef struct multigrid_reference {
    int side, wide, cycles;    /* cycles after the full multigrid start */
    const void *psi;           /* wrapped phase, radians */
    void *u[MULTIGRID_LEVELS]; /* per level; u[0] is the answer */
    void *f[MULTIGRID_LEVELS];
    void *r[MULTIGRID_LEVELS];
    int64_t residues; /* counted, as ours are */
} multigrid_reference;

/* Elements of u, f and r on a level; 0: there is none. */
size_t multigrid_reference_cells(int side, int level);
void multigrid_reference_run(multigrid_reference *m);

#endif
