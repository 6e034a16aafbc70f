/* The inverse of the coarsest grid, for kernels/unwrap_direct.atn. */
#ifndef ATN_APPS_UNWRAP_DIRECT_H
#define ATN_APPS_UNWRAP_DIRECT_H

#include "apps/unwrap/hierarchy.h"
#include "base/context.h"

/* Of the edges between cells: x from a cell to the one on its right, y to the one above, row by row. */
typedef struct unwrap_edge_weights {
    const void *x, *y;       /* or NULL: 1, and */
    double share_x, share_y; /* along the last row's edges share_y, along the last column's share_x */
    atn_type type;
} unwrap_edge_weights;

/* *out: a volume of height planes, width rows; made where it is NULL. At most UNWRAP_SIDE cells a side. */
atn_status unwrap_inverse(atn_device *device, int64_t width, int64_t height, const unwrap_edge_weights *weights,
                          atn_array **out);

#endif
