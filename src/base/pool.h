/* Threads that the whole process shares for its loops: created when first needed, polling for a moment after their last
 * work, then asleep. */
#ifndef ATN_BASE_POOL_H
#define ATN_BASE_POOL_H

#include <stdbool.h>
#include <stdint.h>

enum { ATN_POOL_MOST = 256 /* threads of a loop, including the caller's */ };

/* Work that claims its pieces itself: done when none is left, however many threads take part. `home` is 0 for the
 * caller and a number for each other thread, mostly the same one, below `threads`: it begins with what it had the last
 * time, which is in its caches. Two threads may have the same one. */
typedef void atn_pool_work(void *user, int32_t home);

/* Asks up to threads - 1 others to call work(user, home) while the calling thread does its own share: each comes at
 * most once, when it is free, and perhaps none does. They use the cores that the caller may use. Returns what
 * atn_pool_end needs. */
int32_t atn_pool_begin(int32_t threads, atn_pool_work *work, void *user);

/* No one joins any more; waits until those who did have returned. Called when nothing is left to be claimed. */
void atn_pool_end(int32_t begun);

/* Both, with the caller's own share in between. */
void atn_pool_run(int32_t threads, atn_pool_work *work, void *user);

/* Many short loops follow, several at a time, for which there are so many threads: they wake up now, since that takes
 * longer than such a loop, and poll for longer than usual until atn_pool_rest, which is called as often. Others that
 * there may be sleep until then: while they polled, these would wait for cores. */
void atn_pool_expect(int32_t threads);
void atn_pool_rest(void);

/* Looks again and again until it is so; false: for so long that the thread should rather sleep. */
bool atn_pool_poll(bool (*is_so)(void *user), void *user);

#endif
