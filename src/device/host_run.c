/* A launch on the host: all threads run the entry point, and each is assigned ranges of the tiles until none is left.
 * The caller is the first; the others join when it has asked for a range, so that a launch of one tile disturbs nobody.
 */
#include "device/host.h"

#include "base/pool.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { SPREAD, ONE_BY_ONE, SHRINKING }; /* as atn_schedule */
enum { RANGES = 8 };                    /* of the share of a thread, so that others can take some */

/* Tiles next ... end - 1 of a launch; those of one thread, or all. */
typedef struct tile_share {
    alignas(64) atomic_llong next;
    int64_t end;
} tile_share;

typedef struct launching {
    host_entry *entry;
    struct atn_call call;
    int32_t threads, shares, begun;
    int schedule;
    int64_t step;
    tile_share share[ATN_POOL_MOST];
} launching;

/* What `next` finds behind the call of a thread. */
typedef struct member {
    struct atn_call call;
    launching *launch;
    int32_t at, tried; /* share it takes from; shares it found empty */
    bool asked;
} member;

static int take(tile_share *s, int64_t step, int64_t range[2]) {
    int64_t from = atomic_load_explicit(&s->next, memory_order_relaxed);
    if (from < s->end) from = atomic_fetch_add_explicit(&s->next, step, memory_order_relaxed);
    range[0] = from;
    range[1] = s->end - from > step ? from + step : s->end;
    return from < s->end;
}

/* Half of what would be an equal share of the rest. */
static int take_of_rest(tile_share *s, int64_t parts, int64_t step, int64_t range[2]) {
    long long from = atomic_load_explicit(&s->next, memory_order_relaxed);
    int64_t some;
    do {
        some = (s->end - from) / (2 * parts);
        if (some < step) some = step;
        if (some > s->end - from) some = s->end - from;
    } while (from < s->end && !atomic_compare_exchange_weak_explicit(&s->next, &from, from + some, memory_order_relaxed,
                                                                     memory_order_relaxed));
    range[0] = from;
    range[1] = from + some;
    return from < s->end;
}

static int next_of(member *m, int64_t range[2]) {
    launching *l = m->launch;
    if (l->schedule == SHRINKING) return take_of_rest(&l->share[0], l->threads, l->step, range);
    for (; m->tried < l->shares; ++m->tried, m->at = m->at + 1 < l->shares ? m->at + 1 : 0)
        if (take(&l->share[m->at], l->step, range)) return 1;
    return 0;
}

static int next(const struct atn_call *call, int64_t count, int schedule, int64_t step, int64_t range[2]);

static void join(void *user, int32_t home) {
    launching *l = user;
    member m = {.call = l->call, .launch = l, .at = l->shares > 1 ? home : 0, .asked = true};
    l->entry(&m.call);
}

/* The first question of the caller: now the work is known. */
static int divide(launching *l, int64_t count, int schedule, int64_t step, int64_t range[2]) {
    range[0] = 0;
    range[1] = count;
    if (l->threads > count) l->threads = (int32_t)count;
    if (l->threads < 2) return count > 0; /* the caller's */
    l->schedule = schedule;
    l->shares = schedule == SPREAD ? l->threads : 1;
    int64_t most = count / l->shares / RANGES;
    l->step = step > 0 ? step : schedule == SPREAD && most > 1 ? most : 1;
    for (int32_t k = 0; k < l->shares; ++k) {
        atomic_init(&l->share[k].next, count / l->shares * k + count % l->shares * k / l->shares);
        if (k) l->share[k - 1].end = atomic_load_explicit(&l->share[k].next, memory_order_relaxed);
    }
    l->share[l->shares - 1].end = count;
    l->begun = atn_pool_begin(l->threads, join, l);
    return -1;
}

static int next(const struct atn_call *call, int64_t count, int schedule, int64_t step, int64_t range[2]) {
    member *m = (member *)(uintptr_t)call; /* each thread has its own */
    if (!m->asked) {
        m->asked = true;
        int alone = divide(m->launch, count, schedule, step, range);
        if (alone >= 0) return alone;
    }
    return next_of(m, range);
}

void atn_host_run(host_entry *entry, const int64_t groups[3], int32_t threads, void *const *args) {
    launching l;
    l.entry = entry;
    l.call =
        (struct atn_call){.groups = {groups[0], groups[1], groups[2]}, .threads = threads, .args = args, .next = next};
    l.threads = threads < ATN_POOL_MOST ? threads : ATN_POOL_MOST;
    l.shares = 0;
    l.schedule = SPREAD;
    l.begun = -1;
    member m = {.call = l.call, .launch = &l};
    entry(&m.call);
    atn_pool_end(l.begun);
}
