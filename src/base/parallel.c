/* A loop over all cores. */
#include "base/parallel.h"

#include "base/environment.h"
#include "base/gang.h"
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct piece {
    atn_parallel_part *part;
    void *user;
    int64_t from, to;
    int32_t worker;
} piece;

/* Is this thread executing a part? A loop inside it has only this thread: the others are busy. */
static _Thread_local int inside;
static _Thread_local int32_t worker; /* of that part */

/* Threads reserved for this one; 0: it shares those of all. */
static _Thread_local int32_t limit;

/* Concurrent work of this thread, to which its loops leave the other cores. */
static _Thread_local int32_t beside;

/* Cores left to such work, so that loops need not stay on one. */
static _Thread_local int32_t left;

bool atn_parallel_inside(void) { return inside > 0; }

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

int32_t atn_parallel_workers(void) {
    if (inside || beside > 0) return 1;
    int32_t count = atn_parallel_cores() - left;
    if (count < 1) count = 1;
    return limit && count > limit ? limit : count;
}

int32_t atn_parallel_left(void) { return left; }

void atn_parallel_leave(int32_t cores) {
    const void *runtime = atn_threads_runtime();
    left = cores > 0 ? cores : 0;
    int32_t workers = atn_parallel_workers();
    if (left && atn_threads_kept(runtime) > workers) (void)atn_threads_ready(runtime, workers); /* the others end */
}

static void *run(void *argument) {
    const piece *p = argument;
    int32_t before = worker; /* of the loop around this one */
    ++inside;
    worker = p->worker;
    p->part(p->user, p->from, p->to);
    worker = before;
    --inside;
    return NULL;
}

static void run_one(void *user, int32_t k) { run((piece *)user + k); }

/* Those of its gang, or threads created for the loop, which end with it. */
static void run_apart(piece *pieces, int32_t workers) {
    atn_gang *gang = atn_gang_own();
    if (gang) {
        atn_gang_share(gang, workers, run_one, pieces);
        return;
    }
    pthread_t thread[ATN_PARALLEL_MOST];
    int32_t started = 1;
    while (started < workers && pthread_create(&thread[started], NULL, run, &pieces[started]) == 0) ++started;
    run(&pieces[0]);
    for (int32_t k = started; k < workers; ++k) run(&pieces[k]);
    for (int32_t k = 1; k < started; ++k) pthread_join(thread[k], NULL);
}

#ifdef _OPENMP
/* The threads of OpenMP if there are any: those of kernels, which would otherwise wait busily next to ours. All threads
 * it keeps are in the team, including those without a piece: threads that a smaller team ends are created again for the
 * next larger one, which takes longer than most loops. */
static void run_all(piece *pieces, int32_t workers) {
    if (limit) {
        run_apart(pieces, workers);
        return;
    }
    int32_t kept = atn_threads_kept(atn_threads_runtime());
    /* NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): the pragma reads it */
    int32_t team = kept > workers ? kept : workers;
#pragma omp parallel for schedule(static, 1) num_threads(team)
    for (int32_t k = 0; k < workers; ++k) run(&pieces[k]);
}
#else
static void run_all(piece *pieces, int32_t workers) { run_apart(pieces, workers); }
#endif

void atn_parallel(int64_t count, int64_t least, atn_parallel_part *part, void *user) {
    piece pieces[ATN_PARALLEL_MOST];
    int32_t workers = atn_parallel_workers();
    if (count <= 0) return;
    if (least < 1) least = 1;
    if (workers > count / least) workers = count / least > 1 ? (int32_t)(count / least) : 1;
    if (!limit && workers > atn_threads_kept(atn_threads_runtime()))
        workers = atn_threads_ready(atn_threads_runtime(), workers);
    if (workers < 1) workers = 1;
    for (int32_t k = 0; k < workers; ++k)
        pieces[k] = (piece){part, user, count * k / workers, count * (k + 1) / workers, k};
    if (workers == 1)
        run(&pieces[0]);
    else
        run_all(pieces, workers);
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
