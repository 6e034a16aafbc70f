/* A plain multigrid, once in single and once in double precision. */
#include "bench/reference_multigrid.h"

#include "base/parallel.h"

#include <math.h>
#include <stdatomic.h>
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

/* What the rows of a loop need: from one grid to another, of n rows. */
typedef struct over {
    const void *from, *load;
    void *to;
    int n, colour;
    bool add;
    atomic_llong count;
} over;

static void rows(int count, atn_parallel_part *part, over *o) { atn_parallel(count, o->n > FEW ? 1 : count, part, o); }

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
