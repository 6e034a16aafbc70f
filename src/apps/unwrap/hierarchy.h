/* Grids from fine to coarse, n -> ceil(n / 2) a side: how far they go, and what the finest one needs besides the phase.
 * The programs (programs/unwrap_*.atn) walk down by the same rules. */
#ifndef ATN_APPS_UNWRAP_HIERARCHY_H
#define ATN_APPS_UNWRAP_HIERARCHY_H

#include <attune/array.h>

enum { UNWRAP_SIDE = 64 /* most cells along a side of the coarsest grid */ };

typedef struct unwrap_coarsest {
    int64_t width, height;
    int32_t levels;          /* grids there are, this one and the finest too */
    double share_x, share_y; /* of the last column and row: how much of them lies inside the image */
} unwrap_coarsest;

/* Without weights a grid's equation is A u = hy(j) (2 u - left - right) + hx(i) (2 u - below - above): hx and hy are
 * the shares of the last cells that lie inside, 1 for all others. Grids go down to `most` cells, or two along a side.
 */
unwrap_coarsest unwrap_coarsest_plain(int64_t width, int64_t height, int64_t most);
/* With weights thin grids go on getting shorter. */
unwrap_coarsest unwrap_coarsest_weighted(int64_t width, int64_t height, int64_t most);
/* Does its inverse fit (unwrap_direct)? */
bool unwrap_coarsest_fits(const unwrap_coarsest *coarsest);

/* What kernels without weights want of the finest grid. */
typedef struct unwrap_grid {
    atn_array *x, *y;  /* the coefficients X and Y of kernels/unwrap_sweep.atn */
    atn_array *framed; /* the answer: cells with a frame around even sides */
    atn_array *answer; /* the cells of it */
    atn_array *memory;
} unwrap_grid;

atn_status unwrap_grid_open(atn_device *device, atn_type type, int64_t width, int64_t height, unwrap_grid *grid);
void unwrap_grid_close(unwrap_grid *grid);

#endif
