/* Kernels that stay bound to their arrays, and arrays: each created when it is first needed. */
#ifndef ATN_APPS_UNWRAP_BOUND_H
#define ATN_APPS_UNWRAP_BOUND_H

#include "kernel/give.h"

typedef struct unwrap_op {
    atn_kernel *kernel; /* NULL until it is needed */
} unwrap_op;

/* `type` is that of the phase. */
atn_status unwrap_op_make(atn_device *device, atn_type type, unwrap_op *op, const char *kernel,
                          const atn_named_array *arrays, size_t n);
void unwrap_op_free(unwrap_op *op);

/* A vector where there are no rows; nothing happens where *out is there. */
atn_status unwrap_array_make(atn_device *device, atn_type type, int64_t columns, int64_t rows, atn_array **out);

/* Of one number a row, as a kernel left them. */
double unwrap_row_sum(const void *numbers, atn_type type, int64_t rows);

#endif
