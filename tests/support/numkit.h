/* What the tests of arrays share: every device, arrays from doubles and back. */
#ifndef ATN_NUMKIT_H
#define ATN_NUMKIT_H

#include "testkit.h"

#include "num/array.h"

#include <attune/operations.h>

#include <complex.h>

/* Calls `test` on every device that is here and wanted. */
void num_each_device(atn_ctx *ctx, void (*test)(atn_ctx *ctx, atn_device *device));
atn_device *num_device(atn_ctx *ctx, const char *backend); /* NULL: none here */

/* An array with random elements in [-1, 1): a vector when rows is -1. The pitch is `gap` more than the columns. */
atn_array *num_random(atn_device *device, atn_type type, int64_t columns, int64_t rows, int64_t gap, uint64_t *seed);
atn_array *num_empty(atn_device *device, atn_type type, int64_t columns, int64_t rows, int64_t gap);

/* All elements, row by row without gaps; owned by the caller (free). */
double complex *num_values(atn_array *array);

#endif
