/* Named operations on arrays, made from the kernels that attune ships. Each is built for the device when it is first
 * asked for and kept. Real ones take SP and DP; add, scale, dot, gemm, gemv and transpose take SP2 and DP2 as well. All
 * arrays of a call have the same type and are on the operations' device; a result shares no elements with what is read.
 * Wrong shapes are refused with a sentence before anything is launched. On a GPU the calls return before the work is
 * done; whoever maps a result waits for it. */
#ifndef ATTUNE_OPERATIONS_H
#define ATTUNE_OPERATIONS_H

#include <attune/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_operations atn_operations; /* what was built for one device */

ATN_API atn_status atn_operations_create(atn_device *device, atn_operations **out);
ATN_API void atn_operations_free(atn_operations *operations); /* NULL is fine */

/* Element by element; vectors or matrices. */
ATN_API atn_status atn_array_add(atn_operations *operations, atn_array *a, atn_array *b, atn_array *sum);
ATN_API atn_status atn_array_scale(atn_operations *operations, double real, double imaginary, atn_array *a,
                                   atn_array *scaled); /* imaginary is 0 for real types */
/* Matrices; beyond the border the border's value is taken. */
ATN_API atn_status atn_array_laplace2d(atn_operations *operations, atn_array *a, atn_array *laplacian);
ATN_API atn_status atn_array_transpose(atn_operations *operations, atn_array *a, atn_array *transposed);

/* Of a vector, or of a matrix without gaps; results are vectors of one element. */
ATN_API atn_status atn_array_l2norm(atn_operations *operations, atn_array *x, atn_array *norm);
ATN_API atn_status atn_array_dot(atn_operations *operations, atn_array *x, atn_array *y, atn_array *product);
/* The largest and where it first is (INT32). NaN is passed over; without elements: minus infinity, and -1. */
ATN_API atn_status atn_array_max(atn_operations *operations, atn_array *x, atn_array *value, atn_array *index);

ATN_API atn_status atn_array_gemm(atn_operations *operations, atn_array *a, atn_array *b, atn_array *product);
ATN_API atn_status atn_array_gemv(atn_operations *operations, atn_array *a, atn_array *x, atn_array *product);
ATN_API atn_status atn_csr_spmv(atn_operations *operations, const atn_csr *a, atn_array *x, atn_array *product);

#ifdef __cplusplus
}
#endif
#endif
