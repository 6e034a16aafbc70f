/* Thread creation is tested by creating as many threads as a region would, all at once, and waiting until they are
 * completely gone. */
#include "base/threads.h"

#include "base/environment.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 1024, RUNTIMES = 4 };

/* What the libraries keep for the calling thread: a region of n threads leaves n - 1 waiting for the next one. */
static _Thread_local struct {
    const void *runtime;
    int32_t threads;
} kept[RUNTIMES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* one tries at a time */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* closed until all have started */
static struct {
    pthread_t thread;
    atomic_long id; /* the kernel's number for it */
} made[MOST];

static void *wait_at_gate(void *user) {
    atomic_store((atomic_long *)user, syscall(SYS_gettid));
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return NULL;
}

/* As OpenMP reads it: a number of kB, or with B, K, M or G behind it. 0: not given. */
static size_t stack_bytes(void) {
    const char *text = atn_environment(ATN_ENV_OMP_STACKSIZE), *units = "BKMG";
    char *end;
    if (!text) return 0;
    unsigned long long value = strtoull(text, &end, 10);
    while (*end == ' ') ++end;
    for (int k = 0; k < 4; ++k)
        if ((*end | 32) == (units[k] | 32)) return (size_t)value << 10 * k;
    return *end ? 0 : (size_t)value << 10;
}

static bool start(int32_t k, const pthread_attr_t *attributes) {
    atomic_store(&made[k].id, 0);
    return pthread_create(&made[k].thread, attributes, wait_at_gate, &made[k].id) == 0;
}

/* Joined does not mean gone: for a moment the kernel still counts it. */
static void wait_until_gone(int32_t k) {
    pthread_join(made[k].thread, NULL);
    while (syscall(SYS_tgkill, (long)getpid(), atomic_load(&made[k].id), 0L) == 0) sched_yield();
}

int32_t atn_threads_possible(int32_t wanted) {
    pthread_attr_t attributes;
    int32_t n = 0;
    if (pthread_attr_init(&attributes) != 0) return 1;
    size_t bytes = stack_bytes();
    if (bytes) (void)pthread_attr_setstacksize(&attributes, bytes);
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&gate);
    while (n < wanted - 1 && n < MOST && start(n, &attributes)) ++n;
    pthread_mutex_unlock(&gate);
    for (int32_t k = 0; k < n; ++k) wait_until_gone(k);
    pthread_mutex_unlock(&lock);
    pthread_attr_destroy(&attributes);
    return n < MOST ? n + 1 : wanted; /* a system that allows this many allows the rest */
}

/* Where the threads of a library are counted; surplus libraries share the last slot. */
static int place_of(const void *runtime) {
    int at = 0;
    while (at < RUNTIMES - 1 && kept[at].runtime != runtime && kept[at].threads) ++at;
    return at;
}

int32_t atn_threads_kept(const void *runtime) {
    int at = place_of(runtime);
    return kept[at].runtime == runtime && kept[at].threads > 1 ? kept[at].threads : 1;
}

int32_t atn_threads_ready(const void *runtime, int32_t wanted) {
    int at = place_of(runtime);
    if (wanted <= 1) return 1; /* regions of one leave the others waiting */
    if (kept[at].runtime != runtime) kept[at].threads = 0;
    kept[at].runtime = runtime;
    int32_t ready = wanted > kept[at].threads ? atn_threads_possible(wanted) : wanted;
    kept[at].threads = ready;
    return ready;
}

#ifdef _OPENMP
extern int omp_get_num_threads(void);
const void *atn_threads_runtime(void) { return (const void *)(uintptr_t)omp_get_num_threads; }
#else
const void *atn_threads_runtime(void) { return NULL; }
#endif
