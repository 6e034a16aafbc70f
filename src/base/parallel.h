/* A loop over all cores, for host work that is not a kernel. */
#ifndef ATN_BASE_PARALLEL_H
#define ATN_BASE_PARALLEL_H

#include "base/pool.h"

#include <stdint.h>

enum { ATN_PARALLEL_MOST = ATN_POOL_MOST, ATN_PARALLEL_MANY = 8 /* cores: enough that some may do concurrent work */ };

/* Cores that this process may use, at most ATN_PARALLEL_MOST and OMP_NUM_THREADS; 1 if unknown. */
int32_t atn_parallel_cores(void);

/* `few` of them, or `many` if there are ATN_PARALLEL_MANY or more: threads for concurrent work next to quick work of a
 * GPU. */
int32_t atn_parallel_some(int32_t few, int32_t many);

/* Of these, those that a loop of the calling thread uses: 1 inside a part of a loop, and while other work runs
 * concurrently. */
int32_t atn_parallel_workers(void);

/* Of `cores`, those that a kernel of the calling thread uses: without those it leaves, within its limit, and 1 inside a
 * part of a loop. */
int32_t atn_parallel_most(int32_t cores);

/* From now on, loops and kernels of the calling thread have at most that many threads, including its own, because
 * others are busy. 0: no limit. Returns the previous value. */
int32_t atn_parallel_limit(int32_t threads);

/* Until it has been called with -1 as often as with 1, loops of the calling thread run on that thread alone: the other
 * cores are busy with other work. */
void atn_parallel_keep_off(int32_t by);

/* Until it is called with 0, loops and kernels of the calling thread leave that many cores to concurrent work
 * (base/aside.h), so that neither waits for the other. */
void atn_parallel_leave(int32_t cores);
int32_t atn_parallel_left(void); /* how many that are */

/* Processes from ... to - 1; parts of one call run concurrently, each in another worker. */
typedef void atn_parallel_part(void *user, int64_t from, int64_t to);

int32_t atn_parallel_worker(void); /* inside a part: its worker, below atn_parallel_workers() of the thread that started
                                    * the loop */

/* 0 ... count - 1 in parts of at least `least`, one per core; all are complete when it returns. Whichever thread is
 * free takes the next part, and if there is none, the caller does all of them: parts must not wait for each other. The
 * results of a part must not depend on how the range was divided. */
void atn_parallel(int64_t count, int64_t least, atn_parallel_part *part, void *user);

/* The same for work in pieces of different size: whichever worker is free takes the next one, so that `part` gets one
 * piece at a time. Pieces are started in order and finish in any order: a piece may wait for those before it. */
void atn_parallel_pieces(int64_t count, atn_parallel_part *part, void *user);

#endif
