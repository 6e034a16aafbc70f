/* Arrays for the shipped kernels, for tests: of sizes that give m rows of n points, and ranges of k. */
#ifndef ATN_KERNEL_SHIPPED_ARRAYS_H
#define ATN_KERNEL_SHIPPED_ARRAYS_H

#include "testkit.h"

#include "eval/eval.h"

enum { SHIPPED_OBJECTS = 20, SHIPPED_PARAMETERS = 15 };

typedef struct shipped_arrays {
    atn_view views[SHIPPED_OBJECTS]; /* filled; rows have gaps */
    double params[SHIPPED_PARAMETERS][2];
    int32_t count;
} shipped_arrays;

/* False: the kernel has no such shape. */
bool shipped_arrays_make(atn_ctx *ctx, const char *kernel, const atn_graph *graph, const int64_t mnk[3],
                         shipped_arrays *out);
void shipped_arrays_free(shipped_arrays *arrays);

#endif
