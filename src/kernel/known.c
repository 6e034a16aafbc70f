/* The wisdom of a context: one handle, attached to it. Its users may be on several threads, so access is serialised.
 * Where nothing is known of a kernel at one size, nothing is at any other, and it is not asked again and again. */
#include "kernel/known.h"

#include "base/clock.h"
#include "base/memory.h"

#include <pthread.h>

enum { MISSES = 32 };
static const double FOR = 1; /* second: another process may have measured it meanwhile */

/* A key of which nothing is known, whatever its sizes. */
typedef struct miss {
    atn_hash key;
    uint64_t changes; /* of wisdom, by this process */
    double at;        /* atn_clock_seconds; 0: no miss */
} miss;

typedef struct known {
    const atn_ctx *ctx;
    pthread_mutex_t lock;
    atn_wisdom *wisdom; /* NULL: there is none yet */
    bool broken;        /* it cannot be used, and that was said */
    miss miss[MISSES];
    size_t misses; /* so far: the next one takes the place of the oldest */
} known;

static const char TAG;
static pthread_mutex_t attaching = PTHREAD_MUTEX_INITIALIZER;

static void release(void *object) {
    known *s = object;
    atn_wisdom_close(s->wisdom);
    pthread_mutex_destroy(&s->lock);
    atn_free(s->ctx, s);
}

static known *make(const atn_ctx *ctx) {
    known *s = atn_zalloc(ctx, sizeof *s);
    if (!s) return NULL;
    s->ctx = ctx;
    pthread_mutex_init(&s->lock, NULL);
    if (atn_ctx_attach(ctx, &TAG, s, release) == ATN_OK) return s;
    release(s);
    return NULL;
}

static known *known_of(const atn_ctx *ctx) {
    pthread_mutex_lock(&attaching);
    known *s = atn_ctx_attached(ctx, &TAG);
    if (!s) s = make(ctx);
    pthread_mutex_unlock(&attaching);
    return s;
}

/* Memory and a wish to stop are the caller's; whatever else is wrong with wisdom must not keep a kernel from running.
 */
static atn_status excuse(known *s, atn_status status) {
    if (status == ATN_OK || status == ATN_ERR_MEMORY || status == ATN_ERR_CANCELLED) return status;
    if (!s->broken) atn_log(s->ctx, ATN_LOG_WARNING, "wisdom is not used: %s", atn_ctx_message(s->ctx));
    s->broken = true;
    atn_wisdom_close(s->wisdom);
    s->wisdom = NULL;
    return ATN_OK;
}

/* All of a key but for its sizes, and what says how near they are. */
static atn_hash hash_of(const atn_wisdom_key *k) {
    const char *const text[] = {k->generator, k->backend,  k->arch,    k->device,
                                k->driver,    k->compiler, k->threads, k->tolerance};
    const int32_t number[] = {k->n_shape, k->reproducible};
    atn_hash hash = atn_hash_add(k->graph, number, sizeof number);
    for (size_t n = 0; n < sizeof text / sizeof *text; ++n) hash = atn_hash_add_text(hash, text[n]);
    return hash;
}

static bool is_missed(const known *s, atn_hash key, uint64_t changes, double now) {
    for (size_t n = 0; n < MISSES; ++n) {
        const miss *m = &s->miss[n];
        if (m->at > 0 && now - m->at < FOR && m->changes == changes && m->key.high == key.high && m->key.low == key.low)
            return true;
    }
    return false;
}

atn_status atn_known_find(const atn_ctx *ctx, const atn_wisdom_key *key, atn_hit *out) {
    *out = (atn_hit){.ctx = ctx};
    known *s = known_of(ctx);
    if (!s) return ATN_ERR_MEMORY;
    pthread_mutex_lock(&s->lock);
    atn_status status = ATN_OK;
    const miss here = {hash_of(key), atn_wisdom_changes(), atn_clock_seconds()};
    if (is_missed(s, here.key, here.changes, here.at)) {
        pthread_mutex_unlock(&s->lock);
        return ATN_OK;
    }
    if (!s->wisdom && !s->broken) /* where there was none, another process may have made one */
        status = excuse(s, atn_wisdom_open(ctx, NULL, true, &s->wisdom));
    if (status == ATN_OK) status = atn_wisdom_find(ctx, s->wisdom, key, out);
    if (status != ATN_OK) {
        atn_hit_free(out);
        *out = (atn_hit){.ctx = ctx};
        bool own = s->wisdom;
        status = excuse(s, status);
        if (status == ATN_OK && own) status = excuse(s, atn_wisdom_find(ctx, NULL, key, out)); /* what is shipped */
    }
    if (status == ATN_OK && out->kind == ATN_HIT_NONE) s->miss[s->misses++ % MISSES] = here;
    pthread_mutex_unlock(&s->lock);
    return status;
}
