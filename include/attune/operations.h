/* Array operations, built from the shipped kernels. Each is compiled for the device on first use and kept. All take SP
 * and DP; add, scale, dot, gemm, gemv and transpose also SP2 and DP2. All arrays of a call have the same type and
 * device; results must not overlap inputs. Invalid shapes fail before anything is launched. Asynchronous on a GPU:
 * mapping a result waits for it. */
#ifndef ATTUNE_OPERATIONS_H
#define ATTUNE_OPERATIONS_H

#include <attune/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_operations atn_operations; /* kernels compiled for one device */

ATN_API atn_status atn_operations_create(atn_device *device, atn_operations **out);
ATN_API void atn_operations_free(atn_operations *operations); /* NULL is allowed */

/* Element-wise; vectors or matrices. */
ATN_API atn_status atn_array_add(atn_operations *operations, atn_array *a, atn_array *b, atn_array *sum);
ATN_API atn_status atn_array_scale(atn_operations *operations, double real, double imaginary, atn_array *a,
                                   atn_array *scaled); /* imaginary is 0 for real types */
/* Matrices; borders are replicated. */
ATN_API atn_status atn_array_laplace2d(atn_operations *operations, atn_array *a, atn_array *laplacian);
ATN_API atn_status atn_array_transpose(atn_operations *operations, atn_array *a, atn_array *transposed);

/* Reductions of a vector, or of a matrix without gaps; results are vectors of one element. */
ATN_API atn_status atn_array_l2norm(atn_operations *operations, atn_array *x, atn_array *norm);
ATN_API atn_status atn_array_dot(atn_operations *operations, atn_array *x, atn_array *y, atn_array *product);
/* The maximum and its first index (INT32). NaN is ignored; for an empty array: minus infinity and -1. */
ATN_API atn_status atn_array_max(atn_operations *operations, atn_array *x, atn_array *value, atn_array *index);

ATN_API atn_status atn_array_gemm(atn_operations *operations, atn_array *a, atn_array *b, atn_array *product);
ATN_API atn_status atn_array_gemv(atn_operations *operations, atn_array *a, atn_array *x, atn_array *product);
ATN_API atn_status atn_csr_spmv(atn_operations *operations, const atn_csr *a, atn_array *x, atn_array *product);

#ifdef __cplusplus
}
#endif
#endif
