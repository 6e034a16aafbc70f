/* The workers of a session: one that measures, alone, and builders that compile ahead of it on all cores. A candidate
 * that kills, hangs or starves a worker ends that worker; another takes its place. */
#ifndef ATN_TUNE_WORKER_POOL_H
#define ATN_TUNE_WORKER_POOL_H

#include "tune/trial.h"

typedef struct atn_worker_pool atn_worker_pool;

/* The attune program as an absolute path, owned by the caller: `wanted`, or found as below. */
atn_status atn_worker_pool_program(const atn_ctx *ctx, const char *wanted, char **out);

/* `program`: attune itself, of the same build; NULL: $ATTUNE_PROGRAM, this very program where it is attune, or the one
 * that came with the library. Nothing is started yet. The workload's texts must outlive the pool. */
atn_status atn_worker_pool_create(const atn_ctx *ctx, const atn_device_info *device, const atn_workload *workload,
                                  const atn_trial_setup *setup, const char *program, atn_worker_pool **out);
void atn_worker_pool_free(atn_worker_pool *pool);

int32_t atn_worker_pool_builders(const atn_worker_pool *pool); /* how many build at once */

/* Builds n variants in parallel, so that the measuring process finds them in the cache; at most as many as there are
 * builders. `begin` does not wait for them; `finish` does, and reports for each what the build found, or how it failed.
 * `look` is called often; false stops the unfinished ones (outcome STARTED, as for everything that is unknown). */
atn_status atn_worker_pool_begin(atn_worker_pool *pool, const char *const *variants, int32_t n);
atn_status atn_worker_pool_finish(atn_worker_pool *pool, bool (*look)(void *user), void *user, atn_trial *out);
/* The one who measures is there: so what fails from now on is the candidate's doing. */
atn_status atn_worker_pool_ready(atn_worker_pool *pool);
atn_status atn_worker_pool_try(atn_worker_pool *pool, const char *variant, const char *incumbent, double best_s,
                               atn_trial *out);
/* In about limit_s seconds; 0: no limit. ATN_ERR_DEVICE where a finalist ended the worker. */
atn_status atn_worker_pool_final(atn_worker_pool *pool, const char *const *variants, int32_t n, int32_t most,
                                 double limit_s, atn_final *out);
atn_status atn_worker_pool_sentinel(atn_worker_pool *pool, double *seconds);

#endif
