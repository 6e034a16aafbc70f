/* Internals of kernel handles: what applications know about their kernels and callers need not. */
#ifndef ATN_KERNEL_KERNEL_H
#define ATN_KERNEL_KERNEL_H

#include "lower/variant.h"

#include <attune/kernel.h>

/* For arrays that attune makes itself (lists of neighbours, lookup volumes), never for a caller's: gathers and ranges
 * of the kernel go unguarded. Before it is planned. */
void atn_kernel_trust(atn_kernel *kernel);
/* One variant for all sizes: handles of one description on arrays of many sizes share what is built, once. Before it is
 * planned. Where something was tuned, that is taken. */
void atn_kernel_any_size(atn_kernel *kernel);
/* On hosts, what came with the library serves: kernels that take too little time for a compiler's. Before it is
 * planned. */
void atn_kernel_modest(atn_kernel *kernel);
/* Likewise, unless another variant was measured: while a compiler would take longer than what it saves. */
void atn_kernel_meanwhile(atn_kernel *kernel);
/* Another handle of the same description and settings, which is not parsed again; what `elder` has built when this one
 * is first planned serves both, where the same is chosen. `elder` must be freed last. */
atn_status atn_kernel_twin(const atn_kernel *elder, atn_kernel **out);
/* Builds a kernel of any size as it will be planned, but keeps nothing of it outside the cache; see kernel/ahead.h. May
 * run concurrently with others. */
atn_status atn_kernel_build_ahead(const atn_kernel *kernel);
/* The variant that step 0 runs, once it is planned; NULL before. */
const atn_variant *atn_kernel_variant(const atn_kernel *kernel);

#endif
