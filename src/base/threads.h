/* Can threads be created? OpenMP runtimes end the process if they cannot, so this is tested before they are used. */
#ifndef ATN_BASE_THREADS_H
#define ATN_BASE_THREADS_H

#include <stdint.h>

/* How many threads, including the caller's, a parallel region of the calling thread may have: `wanted`, or fewer if a
 * limit (ulimit -u, -v, a container's) leaves no room for them. `runtime` identifies the library that owns the threads,
 * since each keeps those of its last region: any address of it. Costs nothing while regions do not grow. */
int32_t atn_threads_ready(const void *runtime, int32_t wanted);

/* Threads, including the caller's, that the library keeps for the calling thread: a smaller region would end the
 * others, which the next larger one creates again. At least 1. */
int32_t atn_threads_kept(const void *runtime);

int32_t atn_threads_possible(int32_t wanted); /* tries it, whichever library is to have them */

const void *atn_threads_runtime(void); /* of the OpenMP library that attune itself is linked with; NULL: none */

#endif
