/* Thread creation is tested by creating as many threads as a library would, all at once. */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 1024 };

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

static bool start(int32_t k) {
    atomic_store(&made[k].id, 0);
    return pthread_create(&made[k].thread, NULL, wait_at_gate, &made[k].id) == 0;
}

/* Joined does not mean gone: for a moment the kernel still counts it. */
static void wait_until_gone(int32_t k) {
    pthread_join(made[k].thread, NULL);
    while (syscall(SYS_tgkill, (long)getpid(), atomic_load(&made[k].id), 0L) == 0) sched_yield();
}

int32_t atn_threads_possible(int32_t wanted) {
    int32_t n = 0;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&gate);
    while (n < wanted - 1 && n < MOST && start(n)) ++n;
    pthread_mutex_unlock(&gate);
    for (int32_t k = 0; k < n; ++k) wait_until_gone(k);
    pthread_mutex_unlock(&lock);
    return n < MOST ? n + 1 : wanted; /* a system that allows this many allows the rest */
}
