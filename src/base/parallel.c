/* A loop over all cores. */
#include "base/parallel.h"

#include "base/environment.h"
#include "base/pool.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* Is this thread executing a part? A loop inside it has only this thread: the others are busy. */
static _Thread_local int inside;
static _Thread_local int32_t worker; /* of that part */

/* Threads of its loops at most; 0: as many as there are cores. */
static _Thread_local int32_t limit;

/* Concurrent work of this thread, to which its loops leave the other cores. */
static _Thread_local int32_t beside;

/* Cores left to such work, so that loops need not stay on one. */
static _Thread_local int32_t left;

int32_t atn_parallel_worker(void) { return worker; }

void atn_parallel_keep_off(int32_t by) { beside += by; }

int32_t atn_parallel_limit(int32_t threads) {
    int32_t before = limit;
    limit = threads < 0 ? 1 : threads;
    return before;
}

int32_t atn_parallel_cores(void) {
    cpu_set_t set;
    long count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    const char *text = atn_environment(ATN_ENV_OMP_NUM_THREADS);
    long asked = text ? strtol(text, NULL, 10) : 0; /* of several, by level, the first */
    if (asked > 0 && asked < count) count = asked;
    return count < 1 ? 1 : count > ATN_PARALLEL_MOST ? ATN_PARALLEL_MOST : (int32_t)count;
}

int32_t atn_parallel_some(int32_t few, int32_t many) { return atn_parallel_cores() < ATN_PARALLEL_MANY ? few : many; }

int32_t atn_parallel_most(int32_t cores) {
    if (inside) return 1; /* the other cores are at work on other parts */
    cores = cores > left ? cores - left : 1;
    return limit && cores > limit ? limit : cores;
}

int32_t atn_parallel_workers(void) { return inside || beside > 0 ? 1 : atn_parallel_most(atn_parallel_cores()); }

int32_t atn_parallel_left(void) { return left; }

void atn_parallel_leave(int32_t cores) { left = cores > 0 ? cores : 0; }

/* A loop: its parts are claimed by whichever thread is there, its own first. */
typedef struct loop {
    atn_parallel_part *part;
    void *user;
    int64_t count;
    int32_t parts;
    atomic_bool claimed[ATN_PARALLEL_MOST];
} loop;

static void run_part(const loop *l, int32_t k) {
    int32_t before = worker; /* of the loop around this one */
    ++inside;
    worker = k;
    l->part(l->user, l->count * k / l->parts, l->count * (k + 1) / l->parts);
    worker = before;
    --inside;
}

static void run_parts(void *user, int32_t home) {
    loop *l = user;
    for (int32_t i = 0, k = home; i < l->parts; ++i, k = k + 1 < l->parts ? k + 1 : 0)
        if (!atomic_load(&l->claimed[k]) && !atomic_exchange(&l->claimed[k], true)) run_part(l, k);
}

void atn_parallel(int64_t count, int64_t least, atn_parallel_part *part, void *user) {
    if (count <= 0) return;
    int32_t workers = atn_parallel_workers();
    if (least < 1) least = 1;
    if (workers > count / least) workers = count / least > 1 ? (int32_t)(count / least) : 1;
    loop l;
    l.part = part;
    l.user = user;
    l.count = count;
    l.parts = workers;
    for (int32_t k = 0; k < workers; ++k) atomic_init(&l.claimed[k], false);
    atn_pool_run(workers, run_parts, &l);
}

typedef struct queue {
    atn_parallel_part *part;
    void *user;
    int64_t count;
    atomic_llong next;
} queue;

static void take_pieces(void *user, int64_t from, int64_t to) {
    queue *q = user;
    (void)from, (void)to;
    for (int64_t k; (k = atomic_fetch_add(&q->next, 1)) < q->count;) q->part(q->user, k, k + 1);
}

void atn_parallel_pieces(int64_t count, atn_parallel_part *part, void *user) {
    queue q = {.part = part, .user = user, .count = count};
    int64_t workers = atn_parallel_workers();
    atn_parallel(count < workers ? count : workers, 1, take_pieces, &q);
}
