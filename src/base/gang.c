/* Each thread has a slot for its task. Who waits for its completion, and the thread for the next one, first polls for a
 * moment, if allowed, and then sleeps: the rest of the work is often shorter than waking a sleeping thread takes. */
#include "base/gang.h"

#include "base/memory.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { MOST_GANGS = 8 };

typedef enum duty { IDLE, GIVEN, DISMISSED } duty;

struct atn_gang {
    bool taken, hired;
    atomic_bool busily; /* who waits for it polls */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_int duty, asleep; /* its task; how many threads sleep until that changes */
    atn_gang_work *work;
    void *user;
};

/* Those of a context. */
typedef struct stock {
    const atn_ctx *ctx;
    pid_t process; /* after a fork, the child has none of the threads */
    int32_t count;
    atn_gang *gang[MOST_GANGS];
} stock;

/* ---- one thread ---- */

static bool is_idle(void *user) { return atomic_load(&((atn_gang *)user)->duty) == IDLE; }
static bool is_busy(void *user) { return !is_idle(user); }

/* Until it is idle, or until it is not. */
static duty await(atn_gang *g, bool idle) {
    if (atomic_load_explicit(&g->busily, memory_order_relaxed) && atn_pool_poll(idle ? is_idle : is_busy, g))
        return (duty)atomic_load(&g->duty);
    duty now;
    pthread_mutex_lock(&g->lock);
    atomic_fetch_add(&g->asleep, 1); /* before it looks: a thread that changes it later sees that someone sleeps */
    while (((now = (duty)atomic_load(&g->duty)) == IDLE) != idle) pthread_cond_wait(&g->changed, &g->lock);
    atomic_fetch_sub(&g->asleep, 1);
    pthread_mutex_unlock(&g->lock);
    return now;
}

static void change(atn_gang *g, duty to) {
    atomic_store(&g->duty, to);
    if (!atomic_load(&g->asleep)) return;
    pthread_mutex_lock(&g->lock);
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static void *live(void *argument) {
    atn_gang *g = argument;
    while (await(g, false) == GIVEN) {
        g->work(g->user);
        change(g, IDLE);
    }
    return NULL;
}

static bool hire(atn_gang *g) {
    if (g->hired) return true;
    atomic_store(&g->duty, IDLE);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    g->hired = pthread_create(&g->thread, NULL, live, g) == 0;
    if (g->hired) return true;
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->changed);
    return false;
}

/* ---- those of a context ---- */

/* Which threads have which gang. Locked during a fork, so that the child never finds it locked by a thread that it does
 * not have. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_all(void) { pthread_mutex_lock(&lock); }
static void unlock_all(void) { pthread_mutex_unlock(&lock); }
static void watch_forks(void) { (void)pthread_atfork(lock_all, unlock_all, unlock_all); }

static void dismiss(void *object) {
    stock *s = object;
    bool here = s->process == getpid();
    for (int32_t g = 0; g < s->count; ++g) {
        atn_gang *gang = s->gang[g];
        if (gang->hired && here) {
            change(gang, DISMISSED);
            pthread_join(gang->thread, NULL);
            pthread_mutex_destroy(&gang->lock);
            pthread_cond_destroy(&gang->changed);
        }
        atn_free(s->ctx, gang);
    }
    atn_free(s->ctx, s);
}

static stock *stock_of(const atn_ctx *ctx) {
    static const char TAG;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    lock_all();
    stock *s = atn_ctx_attached(ctx, &TAG);
    if (!s && (s = atn_zalloc(ctx, sizeof *s))) {
        s->ctx = ctx;
        s->process = getpid();
        if (atn_ctx_attach(ctx, &TAG, s, dismiss) != ATN_OK) {
            dismiss(s);
            s = NULL;
        }
    }
    unlock_all();
    return s;
}

static void leave(atn_gang *gang) {
    lock_all();
    gang->taken = false;
    unlock_all();
}

static atn_gang *add(stock *s) {
    atn_gang *gang = s->count < MOST_GANGS ? atn_zalloc(s->ctx, sizeof *gang) : NULL;
    if (!gang) return NULL;
    s->gang[s->count++] = gang;
    return gang;
}

/* An unused one, with its thread. */
static atn_gang *take(stock *s) {
    atn_gang *found = NULL;
    lock_all();
    if (s->process != getpid()) { /* the threads remained in the parent, and their slots belong to no one */
        s->process = getpid();
        s->count = 0;
    }
    for (int32_t g = 0; g < s->count && !found; ++g)
        if (!s->gang[g]->taken) found = s->gang[g];
    if (!found) found = add(s);
    if (found) found->taken = true;
    unlock_all();
    if (!found || hire(found)) return found;
    leave(found);
    return NULL;
}

atn_gang *atn_gang_begin(const atn_ctx *ctx, bool busily, atn_gang_work *work, void *user) {
    stock *s = stock_of(ctx);
    atn_gang *gang = s ? take(s) : NULL;
    if (!gang) return NULL;
    atomic_store_explicit(&gang->busily, busily, memory_order_relaxed);
    gang->work = work;
    gang->user = user;
    change(gang, GIVEN);
    return gang;
}

void atn_gang_end(atn_gang *gang) {
    (void)await(gang, true);
    leave(gang);
}
