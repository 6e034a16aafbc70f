/* Loops over all cores (base/parallel.h) whose parts may fail. */
#ifndef ATN_BASE_ATTEMPT_H
#define ATN_BASE_ATTEMPT_H

#include <attune/context.h>

#include <stdint.h>

typedef atn_status atn_attempt_part(void *user, int64_t from, int64_t to);

/* As atn_parallel with `least`; 0: as atn_parallel_pieces. Returns the failure of the part that failed first, with its
 * message, which becomes the caller's; the other parts are completed nevertheless. */
atn_status atn_attempt(const atn_ctx *ctx, int64_t count, int64_t least, atn_attempt_part *part, void *user);

#endif
