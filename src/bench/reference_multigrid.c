/* A plain multigrid, once in single and once in double precision. */
#include "bench/reference_multigrid.h"

#include <math.h>
#include <stdbool.h>

enum { COARSEST = 4, BEFORE = 2, AFTER = 2, LAST = 16, FEW = 64 /* rows that are not worth waking threads for */ };

size_t multigrid_reference_cells(int side, int level) {
    int here = side >> level;
    return here >= COARSEST ? (size_t)here * (size_t)here : 0;
}

static int levels(int side) {
    int n = 0;
    while (side >> n >= COARSEST) ++n;
    return n;
}

#define REAL    float
#define NAME(x) x##_single
#define NEAREST rintf
#include "bench/reference_multigrid_body.h"
#undef REAL
#undef NAME
#undef NEAREST

#define REAL    double
#define NAME(x) x##_double
#define NEAREST rint
#include "bench/reference_multigrid_body.h"

void multigrid_reference_run(multigrid_reference *m) {
    if (m->wide)
        run_double(m);
    else
        run_single(m);
}
