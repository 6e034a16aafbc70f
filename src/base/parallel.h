/* A loop over all cores, for host work that is not a kernel. */
#ifndef ATN_BASE_PARALLEL_H
#define ATN_BASE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

enum { ATN_PARALLEL_MOST = 256, ATN_PARALLEL_MANY = 8 /* cores: enough that some may work beside a loop */ };

/* Cores that this process may use, at most ATN_PARALLEL_MOST and OMP_NUM_THREADS; 1 where that is not known. */
int32_t atn_parallel_cores(void);

/* `few` of them, or `many` where there are ATN_PARALLEL_MANY or more: threads of work beside what a GPU does soon. */
int32_t atn_parallel_some(int32_t few, int32_t many);

/* Of these, those that a loop of the calling thread has: 1 inside a part of a loop, and beside other work. */
int32_t atn_parallel_workers(void);

bool atn_parallel_inside(void); /* is the calling thread at work on a part of a loop? */

/* From now on the calling thread's loops have so many threads, those of its gang (base/gang.h) or others that are
 * made for each of them: those that others share are busy. 0: it shares these. What it was before. */
int32_t atn_parallel_limit(int32_t threads);

/* Until it is called with -1 as often as with 1, loops of the calling thread are its own alone: a core that is busy
 * with other work would keep all others waiting, which wait busily. */
void atn_parallel_keep_off(int32_t by);

/* Until it is called with 0, loops and kernels of the calling thread leave so many cores to work beside it
 * (base/aside.h), so that neither waits for the other. */
void atn_parallel_leave(int32_t cores);
int32_t atn_parallel_left(void); /* how many that are */

/* Does from ... to - 1; parts of one call run at the same time, each in another worker. */
typedef void atn_parallel_part(void *user, int64_t from, int64_t to);

int32_t atn_parallel_worker(void); /* inside a part: its worker, below atn_parallel_workers() of who began the loop */

/* 0 ... count - 1 in parts of at least `least`, one for each core; all are done when it returns. Where no thread can be
 * made the caller's does it all. What a part computes must not depend on how the range was cut. */
void atn_parallel(int64_t count, int64_t least, atn_parallel_part *part, void *user);

/* The same for work that comes in pieces of different size: whoever is free takes the next one, so that `part` gets one
 * piece at a time, in any order. */
void atn_parallel_pieces(int64_t count, atn_parallel_part *part, void *user);

#endif
