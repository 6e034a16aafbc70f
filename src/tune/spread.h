/* Candidates of a tuning that ranks with equal devices, or equal devices of this process, try, each with a worker pool
 * of its own; the first one asks, decides and remembers, the others serve it. */
#ifndef ATN_TUNE_SPREAD_H
#define ATN_TUNE_SPREAD_H

#include "device/device.h"
#include "ranks/ranks.h"
#include "tune/worker_pool.h"

typedef struct atn_spread atn_spread;

/* On all ranks: which ranks have a device like that of the first. The others take no part. Owned by the caller. */
atn_status atn_spread_open(atn_ranks *ranks, atn_device *device, atn_spread **out);
/* Those of several devices that are like the first one, a worker for each; others are left out, with a warning.
 * `program` as in atn_worker_pool_create. *out is NULL where the first one is alone. */
atn_status atn_spread_open_devices(atn_device *const *devices, int32_t n, const char *program, atn_spread **out);
void atn_spread_free(atn_spread *spread);             /* NULL is fine */
int32_t atn_spread_count(const atn_spread *spread);   /* ranks or devices that take part; 1 for NULL */
bool atn_spread_takes_part(const atn_spread *spread); /* this rank does */

/* The first rank's: n variants (ATN_SPREAD_MOST at most), each by one rank or device, as atn_worker_pool_try does it.
 * `pool`: its own, for the same workload and setup. */
enum { ATN_SPREAD_MOST = 64 };
atn_status atn_spread_try(atn_spread *spread, const atn_workload *workload, const atn_trial_setup *setup,
                          atn_worker_pool *pool, const char *const *variants, int32_t n, const char *incumbent,
                          double best_s, atn_trial *out);
atn_status atn_spread_end(atn_spread *spread); /* the others are done */

/* The others': until the first rank has ended. */
atn_status atn_spread_serve(atn_spread *spread, const char *program);

#endif
