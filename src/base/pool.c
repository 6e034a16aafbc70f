/* Loops are posted on a board that all threads watch. A free thread takes a seat at any posted loop; the caller works
 * too and at the end waits only for those who came. A thread that the system does not run delays nobody: it has not
 * come. Waiting is polling for a moment, then sleeping. How long depends on what it finds: a thread that was
 * interrupted while it polled had a core that others need. */
#include "base/pool.h"

#include "base/clock.h"
#include "base/environment.h"

#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { POSTS = 64 }; /* one bit each */
enum { LOOKS = 16 }; /* between two looks at the clock */
enum { AGAIN = 1000 /* loops after which it is tried again to create a thread */ };

static const double POLL_S = 1e-3, LEAST_POLL_S = 2e-6; /* before a thread sleeps */
static const double GAP_S = 20e-6;                      /* between two looks at the clock: it was interrupted */
static const double LONGER = 4;                         /* times as long while loops are about to follow each other */

enum { SLEEPS = 0x10000 }; /* of `inside`: the caller sleeps until they are gone */

typedef struct post {
    alignas(64) atomic_uint inside; /* threads that took a seat, or try to */
    atomic_int seats;               /* how many may still come; 0 or less: none */
    atn_pool_work *work;
    void *user;
    int32_t threads;
    cpu_set_t cores; /* of the caller */
} post;

typedef struct sleepers {
    atomic_uint bell; /* rung when something is posted while someone sleeps */
    atomic_int asleep;
} sleepers;

static struct {
    post post[POSTS];
    alignas(64) atomic_ullong taken;  /* posts in use */
    alignas(64) atomic_ullong open;   /* those with seats */
    alignas(64) sleepers sleepers[2]; /* those that always come; those that are spared while loops follow each other */
    atomic_int threads;               /* created */
    atomic_int refused;               /* loops until creating one is tried again */
    atomic_int expected;              /* who said that loops follow each other, */
    atomic_int most; /* and for how many threads: the others are spared, they would only take cores from these */
} pool;

static pthread_mutex_t creating = PTHREAD_MUTEX_INITIALIZER;

/* ---- waiting ---- */

static void sleep_while(atomic_uint *word, unsigned value) {
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(atomic_uint *word, int count) {
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* Between two looks: leaves the core to its other thread, or saves power. */
static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static _Thread_local double patience; /* seconds that this thread polls; 0: not yet known */
static _Thread_local int32_t own;     /* number of this thread of the pool; 0: it is none */

static bool are_expected(void) { return atomic_load_explicit(&pool.expected, memory_order_relaxed) > 0; }
static bool is_spared(void) { return are_expected() && own > atomic_load_explicit(&pool.most, memory_order_relaxed); }

static bool nobody_inside(void *user) { return atomic_load((atomic_uint *)user) == 0; }
static bool is_wanted(void *user) { return (void)user, atomic_load(&pool.open) != 0 && !is_spared(); }

bool atn_pool_poll(bool (*is_so)(void *user), void *user) {
    if (patience <= 0) patience = POLL_S;
    double begun = atn_clock_seconds(), last = begun;
    for (;;) {
        for (int k = 0; k < LOOKS; ++k) {
            if (is_so(user)) {
                patience *= 1.25;
                if (patience > POLL_S) patience = POLL_S;
                return true;
            }
            relax();
        }
        double now = atn_clock_seconds();
        if (now - last > GAP_S) {
            patience *= 0.1;
            if (patience < LEAST_POLL_S) patience = LEAST_POLL_S;
        }
        if (is_spared() || now - begun > (are_expected() ? LONGER : 1) * patience) return false;
        last = now;
    }
}

/* ---- the threads ---- */

static _Thread_local cpu_set_t allowed; /* cores of this thread of the pool */

static void leave(post *p) {
    if (atomic_fetch_sub(&p->inside, 1) - 1 == SLEEPS) wake(&p->inside, 1);
}

/* Takes a seat at one of the open posts; -1: none is left. It is inside before it asks for a seat: the caller, who
 * first takes the seats away and then waits until nobody is inside, misses no one. Those who take the last seat remove
 * the post from the board: its caller waits for them, so it cannot be another loop's yet. */
static int32_t sit_down(void) {
    for (unsigned long long open = atomic_load(&pool.open); open; open &= open - 1) {
        int32_t at = __builtin_ctzll(open);
        post *p = &pool.post[at];
        if (atomic_load(&p->seats) <= 0) continue; /* taken or ended between two looks */
        atomic_fetch_add(&p->inside, 1);
        int32_t seats = atomic_fetch_sub(&p->seats, 1);
        if (seats == 1) atomic_fetch_and(&pool.open, ~(1ULL << at));
        if (seats > 0) return at;
        leave(p);
    }
    return -1;
}

static void ring(sleepers *who, int count) {
    if (!atomic_load(&who->asleep)) return;
    atomic_fetch_add(&who->bell, 1);
    wake(&who->bell, count);
}

static void call(void) {
    ring(&pool.sleepers[0], 2); /* who wake others */
    if (!are_expected()) ring(&pool.sleepers[1], 2);
}

static void take_part(int32_t at, int32_t number) {
    post *p = &pool.post[at];
    if (atomic_load(&p->seats) > 0) call();
    if (!CPU_EQUAL(&allowed, &p->cores) && sched_setaffinity(0, sizeof p->cores, &p->cores) == 0) allowed = p->cores;
    p->work(p->user, number % p->threads);
    leave(p);
}

static void *live(void *argument) {
    int32_t number = own = (int32_t)(intptr_t)argument;
    (void)sched_getaffinity(0, sizeof allowed, &allowed);
    for (;;) {
        int32_t at = is_wanted(NULL) ? sit_down() : -1;
        if (at >= 0) {
            take_part(at, number);
            continue;
        }
        if (atn_pool_poll(is_wanted, NULL)) continue;
        sleepers *others = &pool.sleepers[is_spared()];
        unsigned bell = atomic_load(&others->bell);
        atomic_fetch_add(&others->asleep, 1); /* before it looks: who posts later sees that someone sleeps */
        if (!is_wanted(NULL)) sleep_while(&others->bell, bell);
        atomic_fetch_sub(&others->asleep, 1);
    }
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

/* Signals are for the threads of the program, but for those that an instruction of its own raises. */
static bool create(int32_t number) {
    static const int OWN[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t most, before;
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return false;
    size_t bytes = stack_bytes();
    if (bytes) (void)pthread_attr_setstacksize(&attributes, bytes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&most);
    for (size_t k = 0; k < sizeof OWN / sizeof *OWN; ++k) sigdelset(&most, OWN[k]);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    bool created = pthread_create(&thread, &attributes, live, (void *)(intptr_t)number) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return created;
}

/* A child of fork has none of the threads, and no loop but that of the thread that called it. */
static void before_fork(void) { pthread_mutex_lock(&creating); }
static void after_fork(void) { pthread_mutex_unlock(&creating); }
static void in_child(void) {
    memset(&pool, 0, sizeof pool);
    pthread_mutex_unlock(&creating);
}

/* The threads stay in this code: a library or plugin that it is part of must not be unloaded under them. */
static void stay_loaded(void) {
    Dl_info here;
    if (!dladdr(&pool, &here) || !here.dli_fname) return;
    void *kept = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE); /* NULL: it is the program */
    if (kept) dlclose(kept);
}

static void prepare(void) {
    (void)pthread_atfork(before_fork, after_fork, in_child);
    stay_loaded();
}

static void grow(int32_t others) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (others <= atomic_load_explicit(&pool.threads, memory_order_relaxed)) return;
    if (atomic_load_explicit(&pool.refused, memory_order_relaxed) > 0) {
        atomic_fetch_sub_explicit(&pool.refused, 1, memory_order_relaxed);
        return;
    }
    pthread_once(&once, prepare);
    pthread_mutex_lock(&creating);
    int32_t made = atomic_load(&pool.threads);
    while (made < others && create(made + 1)) ++made;
    atomic_store(&pool.threads, made);
    if (made < others) atomic_store(&pool.refused, AGAIN);
    pthread_mutex_unlock(&creating);
}

/* ---- loops ---- */

void atn_pool_expect(int32_t threads) {
    atomic_store(&pool.most, threads);
    atomic_fetch_add(&pool.expected, 1);
    grow(threads < ATN_POOL_MOST ? threads : ATN_POOL_MOST - 1);
    ring(&pool.sleepers[0], INT_MAX); /* those that are spared sleep elsewhere then */
}

void atn_pool_rest(void) { atomic_fetch_sub(&pool.expected, 1); }

int32_t atn_pool_begin(int32_t threads, atn_pool_work *work, void *user) {
    if (threads > ATN_POOL_MOST) threads = ATN_POOL_MOST;
    if (threads < 2) return -1;
    unsigned long long taken = atomic_load(&pool.taken);
    while (~taken && !atomic_compare_exchange_weak(&pool.taken, &taken, taken | (taken + 1))) {}
    if (!~taken) return -1;
    int32_t at = __builtin_ctzll(~taken);
    post *p = &pool.post[at];
    p->work = work;
    p->user = user;
    p->threads = threads;
    if (sched_getaffinity(0, sizeof p->cores, &p->cores) != 0) CPU_ZERO(&p->cores); /* which no one can be set to */
    atomic_fetch_or(&pool.open, 1ULL << at); /* before there are seats: who takes the last one removes it */
    atomic_store(&p->seats, threads - 1);
    call();
    grow(threads - 1); /* new ones look at the board at once */
    return at;
}

void atn_pool_end(int32_t begun) {
    if (begun < 0) return;
    atomic_uint *inside = &pool.post[begun].inside;
    atomic_store(&pool.post[begun].seats, 0);
    if (atomic_load(&pool.open) & 1ULL << begun) atomic_fetch_and(&pool.open, ~(1ULL << begun));
    if (!nobody_inside(inside) && !atn_pool_poll(nobody_inside, inside)) {
        unsigned now = atomic_fetch_or(inside, SLEEPS) | SLEEPS;
        for (; now != SLEEPS; now = atomic_load(inside)) sleep_while(inside, now);
        atomic_fetch_and(inside, ~(unsigned)SLEEPS);
    }
    atomic_fetch_and(&pool.taken, ~(1ULL << begun));
}

void atn_pool_run(int32_t threads, atn_pool_work *work, void *user) {
    int32_t begun = atn_pool_begin(threads, work, user);
    work(user, 0);
    atn_pool_end(begun);
}
