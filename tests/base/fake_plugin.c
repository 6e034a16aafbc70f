/* A plugin that has the library in it, for base/pool. */
#include "base/pool.h"

#include <sched.h>
#include <stdatomic.h>

int use(void);

static void meet(void *user, int32_t home) {
    atomic_int *there = user;
    (void)home;
    atomic_fetch_add(there, 1);
    while (atomic_load(there) < 2) sched_yield();
}

int use(void) {
    atomic_int there = 0;
    atn_pool_run(2, meet, &there);
    return there;
}
