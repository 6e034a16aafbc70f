/* Threads that a context keeps for concurrent work: created on first use and asleep in between, so that neither they
 * nor the memory they have touched are created again each time. */
#ifndef ATN_BASE_GANG_H
#define ATN_BASE_GANG_H

#include "base/context.h"

#include <stdbool.h>

typedef struct atn_gang atn_gang;
typedef void atn_gang_work(void *user);

/* Starts work(user) on a thread of its own, whose loops have those of the pool (base/pool.h). NULL: no thread can be
 * created. Ended by atn_gang_end, which polls for a moment if there are cores for it. */
atn_gang *atn_gang_begin(const atn_ctx *ctx, bool busily, atn_gang_work *work, void *user);
void atn_gang_end(atn_gang *gang); /* waits until it is done */

#endif
