/* Can threads be created? Libraries that end the process if they cannot are not asked for then. */
#ifndef ATN_BASE_THREADS_H
#define ATN_BASE_THREADS_H

#include <stdint.h>

/* How many threads, including the caller's, there can be: `wanted`, or fewer if a limit (ulimit -u, -v, a container's)
 * leaves no room for them. Creates as many, all at once, and waits until they are completely gone. */
int32_t atn_threads_possible(int32_t wanted);

#endif
