/* The worker: a process that tries variants for a tuner, which reads what it says and kills it when it must. */
#ifndef ATN_TUNE_WORKER_H
#define ATN_TUNE_WORKER_H

#include "base/context.h"

#include <stdio.h>

/* Obeys the lines of `in` until it ends; answers on `out`. The first line opens the workload. Each answer is
 * {"done": ...}, {"failed": status, "message": ...}, or {"stage": what, "limit": seconds} before work that may never
 * come back. */
atn_status atn_worker_run(atn_ctx *ctx, FILE *in, FILE *out);

/* What a process does first that is to be a worker: no core files, an end with its parent's. */
void atn_worker_prepare(void);

#endif
