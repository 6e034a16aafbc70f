/* Threads that a context keeps for concurrent work: created on first use and asleep in between, so that neither they
 * nor the memory they have touched are created again each time. */
#ifndef ATN_BASE_GANG_H
#define ATN_BASE_GANG_H

#include "base/context.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct atn_gang atn_gang;
typedef void atn_gang_part(void *user, int32_t k);

/* Starts work(user, 0) on the first of `threads` threads (at least 1; at most 8); the others wait for what it shares
 * with them, polling for a moment if there are cores for it. NULL: no thread can be created. Ended by atn_gang_end. */
atn_gang *atn_gang_begin(const atn_ctx *ctx, int32_t threads, bool busily, atn_gang_part *work, void *user);
void atn_gang_end(atn_gang *gang); /* waits until it is done */

/* The gang that the calling thread is the first of; NULL: of none. */
atn_gang *atn_gang_own(void);
/* From within that work: part(user, 0) ... part(user, count - 1), each on a thread of its own as far as there are
 * enough, including the caller's; all are complete when it returns. */
void atn_gang_share(atn_gang *gang, int32_t count, atn_gang_part *part, void *user);

#endif
