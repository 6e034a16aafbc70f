/* The pairs of a batch on several devices: distributed in pieces (base/pieces.h), with one thread per device; the
 * threads share the cores of the host. */
#include "apps/register/helpers.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/pieces.h"
#include "base/sized.h"
#include "device/backend.h"

#include <attune/register.h>

#include <pthread.h>

typedef struct several {
    atn_device *const *devices;
    int32_t cores;       /* of the host's, for each of them */
    size_t count, bytes; /* pairs, and from one to the next */
    atn_register_pair *pairs;
    atn_register_settings settings;
    pthread_mutex_t lock;
    unsigned char *done; /* of each pair; owned */
    size_t told;         /* pairs so far, in order */
} several;

/* A piece at work. */
typedef struct piece {
    several *all;
    size_t first;
} piece;

static atn_register_pair *pair_at(const several *s, size_t k) {
    return (atn_register_pair *)((char *)s->pairs + k * s->bytes);
}

/* In order, whoever was ready first. What was not finished is left to others, or told by nobody. */
static void pair_done(void *user, size_t k) {
    const piece *p = user;
    several *s = p->all;
    atn_status status = pair_at(s, p->first + k)->status;
    if (status == ATN_ERR_LOST || status == ATN_ERR_CANCELLED) return;
    pthread_mutex_lock(&s->lock);
    s->done[p->first + k] = 1;
    for (; s->told < s->count && s->done[s->told]; ++s->told)
        if (s->settings.done) s->settings.done(s->settings.done_user, s->told);
    pthread_mutex_unlock(&s->lock);
}

static bool watch(void *user, const atn_register_step *step) {
    const piece *p = user;
    pthread_mutex_lock(&p->all->lock);
    bool go_on = p->all->settings.watch(p->all->settings.watch_user, step);
    pthread_mutex_unlock(&p->all->lock);
    return go_on;
}

/* What another device has done of the piece before it was lost stays. */
static atn_status work(void *user, int32_t worker, int64_t from, int64_t to) {
    several *s = user;
    atn_status status = atn_device_check(s->devices[worker]);
    while (from < to && s->done[from]) ++from;
    if (status != ATN_OK || from == to) return status;
    piece p = {.all = s, .first = (size_t)from};
    atn_register_settings own = s->settings;
    own.done = pair_done;
    own.done_user = &p;
    own.watch = s->settings.watch ? watch : NULL;
    own.watch_user = &p;
    int32_t before = atn_parallel_limit(s->cores);
    status = atn_register_batch(s->devices[worker], (size_t)(to - from), pair_at(s, p.first), &own);
    (void)atn_parallel_limit(before);
    return status;
}

atn_status atn_register_batch_several(atn_device *const *devices, int32_t n, size_t count, atn_register_pair *pairs,
                                      const atn_register_settings *given) {
    const atn_ctx *ctx = n > 0 ? atn_device_ctx(devices[0]) : NULL;
    several s = {.devices = devices, .count = count, .pairs = pairs};
    if (n < 1) return atn_fail(NULL, ATN_ERR_INPUT, "register: a batch needs a device");
    if (n == 1 || count == 0) return atn_register_batch(devices[0], count, pairs, given);
    atn_status status = atn_devices_check(devices, n, "register");
    if (status == ATN_OK) status = ATN_TAKE(ctx, atn_register_settings, given, &s.settings);
    if (status != ATN_OK) return status;
    if (s.settings.reproducible)
        return atn_register_batch(devices[0], count, pairs, given); /* others round differently */
    s.bytes = pairs->size ? pairs->size : sizeof *pairs;
    for (size_t k = 1; k < count; ++k)
        if (pair_at(&s, k)->size != pairs->size)
            return atn_register_batch(devices[0], count, pairs, given); /* says so */
    uint64_t reserve = atn_devices_reserve(devices, n);
    int32_t at_work = n;
    for (int32_t k = 0; k < n; ++k) at_work -= (int32_t)(reserve >> k & 1);
    s.cores = atn_parallel_cores() > at_work ? atn_parallel_cores() / at_work : 1;
    s.done = atn_zalloc(ctx, count);
    if (!s.done) return ATN_ERR_MEMORY;
    pthread_mutex_init(&s.lock, NULL);
    status = atn_pieces_run(ctx, "register", (int64_t)count, n, reserve, 0, work, &s);
    pthread_mutex_destroy(&s.lock);
    atn_free(ctx, s.done);
    return status;
}
