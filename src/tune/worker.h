/* The worker: a process that tries variants for a tuner, which reads what it says and kills it when it must. */
#ifndef ATN_TUNE_WORKER_H
#define ATN_TUNE_WORKER_H

#include "base/context.h"

#include <stdio.h>

/* Says hello on `out`, {"hello": ..., "protocol": version}, then obeys the lines of `in` until it ends. The first one
 * opens the workload. Each answer is {"done": ..., "job": number}, {"failed": status, "message": ...}, or
 * {"stage": what, "limit": seconds} before work that may never come back. */
atn_status atn_worker_run(atn_ctx *ctx, FILE *in, FILE *out);

/* What a process does first that is to be a worker: no core files, none of more than 1 GiB, an end with its parent's.
 * Later come limits of memory, where the device is the CPU, and of CPU time, stage by stage. */
void atn_worker_prepare(void);
/* From now on as much CPU time as all cores take in that time, and a little more. Limits count from the start of the
 * process, so that each piece of its work needs a limit of its own. */
void atn_worker_limit_cpu(double wall_s);

#endif
