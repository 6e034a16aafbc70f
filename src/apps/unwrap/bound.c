/* Creating bound kernels and arrays. */
#include "apps/unwrap/bound.h"

#include "num/array.h"

atn_status unwrap_op_make(atn_device *device, atn_type type, unwrap_op *op, const char *kernel,
                          const atn_named_array *arrays, size_t n) {
    atn_status status = atn_kernel_make(device, kernel, type, 0, &op->kernel);
    if (status == ATN_OK) status = atn_kernel_give(op->kernel, arrays, n, ATN_NOTHING);
    if (status != ATN_OK) unwrap_op_free(op);
    return status;
}

void unwrap_op_free(unwrap_op *op) {
    atn_kernel_free(op->kernel);
    *op = (unwrap_op){0};
}

atn_status unwrap_array_make(atn_device *device, atn_type type, int64_t columns, int64_t rows, atn_array **out) {
    if (*out) return ATN_OK;
    return rows ? atn_array_create_matrix(device, type, rows, columns, 0, out)
                : atn_array_create_vector(device, type, columns, out);
}

double unwrap_row_sum(const void *numbers, atn_type type, int64_t rows) {
    double sum = 0;
    for (int64_t k = 0; k < rows; ++k)
        sum += type == ATN_DP   ? ((const double *)numbers)[k]
               : type == ATN_SP ? (double)((const float *)numbers)[k]
                                : ((const int32_t *)numbers)[k];
    return sum;
}
