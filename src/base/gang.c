/* Each thread has a slot for its task. A thread that waits there, for work or for its completion, first polls for a
 * moment and then sleeps. It polls only while its gang is at work, and only if allowed: loops follow each other
 * closely, and waking a sleeping thread takes longer than most of them last. */
#include "base/gang.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { MOST_GANGS = 8, MOST_HANDS = 8 };
enum { LOOKS = 10000 }; /* some hundred microseconds */

typedef enum duty { IDLE, GIVEN, DISMISSED } duty;

typedef struct hand {
    atn_gang *gang;
    int32_t number;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_int duty, asleep; /* its task; how many threads sleep until that changes */
    atn_gang_part *work;
    void *user;
} hand;

struct atn_gang {
    bool taken;
    atomic_int looks; /* polls of its threads before they sleep */
    int32_t hands;
    hand hand[MOST_HANDS];
};

/* Those of a context. */
typedef struct stock {
    const atn_ctx *ctx;
    pid_t process; /* after a fork, the child has none of the threads */
    int32_t count;
    atn_gang *gang[MOST_GANGS];
} stock;

/* ---- one thread ---- */

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Until it is idle, or until it is not. */
static duty await(hand *h, bool idle) {
    for (int k = 0; k < atomic_load_explicit(&h->gang->looks, memory_order_relaxed); ++k) {
        duty now = (duty)atomic_load(&h->duty);
        if ((now == IDLE) == idle) return now;
        relax();
    }
    duty now;
    pthread_mutex_lock(&h->lock);
    atomic_fetch_add(&h->asleep, 1); /* before it looks: a thread that changes it later sees that someone sleeps */
    while (((now = (duty)atomic_load(&h->duty)) == IDLE) != idle) pthread_cond_wait(&h->changed, &h->lock);
    atomic_fetch_sub(&h->asleep, 1);
    pthread_mutex_unlock(&h->lock);
    return now;
}

static void change(hand *h, duty to) {
    atomic_store(&h->duty, to);
    if (!atomic_load(&h->asleep)) return;
    pthread_mutex_lock(&h->lock);
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

static void give(hand *h, atn_gang_part *work, void *user) {
    h->work = work;
    h->user = user;
    change(h, GIVEN);
}

static _Thread_local atn_gang *own; /* of the first of its threads */

atn_gang *atn_gang_own(void) { return own; }

static void *live(void *argument) {
    hand *h = argument;
    if (h->number == 0) own = h->gang;
    while (await(h, false) == GIVEN) {
        h->work(h->user, h->number);
        change(h, IDLE);
    }
    return NULL;
}

static bool hire(atn_gang *gang) {
    hand *h = &gang->hand[gang->hands];
    *h = (hand){.gang = gang, .number = gang->hands};
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    bool hired = pthread_create(&h->thread, NULL, live, h) == 0;
    if (hired) {
        ++gang->hands;
        return true;
    }
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->changed);
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
        for (int32_t k = 0; k < s->gang[g]->hands && here; ++k) {
            hand *h = &s->gang[g]->hand[k];
            change(h, DISMISSED);
            pthread_join(h->thread, NULL);
            pthread_mutex_destroy(&h->lock);
            pthread_cond_destroy(&h->changed);
        }
        atn_free(s->ctx, s->gang[g]);
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

/* An unused one, with as many threads as can be created. */
static atn_gang *take(stock *s, int32_t threads) {
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
    while (found && found->hands < threads && found->hands < MOST_HANDS && hire(found)) {}
    if (!found || found->hands) return found;
    leave(found);
    return NULL;
}

atn_gang *atn_gang_begin(const atn_ctx *ctx, int32_t threads, bool busily, atn_gang_part *work, void *user) {
    stock *s = stock_of(ctx);
    atn_gang *gang = s ? take(s, threads < 1 ? 1 : threads) : NULL;
    if (!gang) return NULL;
    atomic_store(&gang->looks, busily ? LOOKS : 0);
    give(&gang->hand[0], work, user);
    return gang;
}

void atn_gang_end(atn_gang *gang) {
    (void)await(&gang->hand[0], true);
    atomic_store(&gang->looks, 0);
    leave(gang);
}

void atn_gang_share(atn_gang *gang, int32_t count, atn_gang_part *part, void *user) {
    int32_t others = count < gang->hands ? count - 1 : gang->hands - 1;
    for (int32_t k = 1; k <= others; ++k) give(&gang->hand[k], part, user);
    part(user, 0);
    for (int32_t k = others + 1; k < count; ++k) part(user, k);
    for (int32_t k = 1; k <= others; ++k) (void)await(&gang->hand[k], true);
}
