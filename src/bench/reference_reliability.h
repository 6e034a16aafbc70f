/* Unwrapping by sorted reliability (Herraez and others, 2002), as image libraries have it: pixels are joined pair by
 * pair, those first whose second differences are least. */
#ifndef ATN_BENCH_REFERENCE_RELIABILITY_H
#define ATN_BENCH_REFERENCE_RELIABILITY_H

#include "base/context.h"

#define RELIABILITY_NAME "reliability sorting"

atn_status reliability_reference_run(const atn_ctx *ctx, int64_t width, int64_t height, const float *psi, float *out);

#endif
