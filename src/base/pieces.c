/* Pieces: the share of a worker in the remaining work follows its rate (items per second, recent pieces counting more),
 * and it takes half of that, so that the last pieces are small and all workers end at about the same time. A worker
 * without a rate is assumed to be as fast as the mean of the others, and begins with a small piece. */
#include "base/pieces.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum {
    FIRST = 64,
    FEW = 8
}; /* a first piece is this fraction of an even share; with a limit of seconds at most so many */

typedef struct range {
    int64_t from, to;
} range;

typedef struct worker {
    range at; /* its piece; empty: none */
    double rate;
    bool out;     /* it has failed */
    bool reserve; /* it waits until others have */
} worker;

struct atn_pieces {
    const atn_ctx *ctx;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t next, count, most;
    int64_t left;   /* not done */
    double seconds; /* of a piece; 0: any */
    int32_t workers;
    worker *worker; /* owned */
    range *back;    /* given back; one for each worker at most; owned */
    int32_t n_back;
    bool stopped;
};

atn_status atn_pieces_make(const atn_ctx *ctx, int64_t count, int32_t workers, int64_t most, atn_pieces **out) {
    atn_pieces *p = atn_zalloc(ctx, sizeof *p);
    *out = NULL;
    if (!p) return ATN_ERR_MEMORY;
    *p = (atn_pieces){.ctx = ctx, .count = count, .left = count, .most = most, .workers = workers};
    p->worker = atn_zalloc(ctx, (size_t)workers * sizeof *p->worker);
    p->back = atn_zalloc(ctx, (size_t)workers * sizeof *p->back);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    if (!p->worker || !p->back) {
        atn_pieces_free(p);
        return ATN_ERR_MEMORY;
    }
    *out = p;
    return ATN_OK;
}

void atn_pieces_free(atn_pieces *p) {
    if (!p) return;
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->changed);
    atn_free(p->ctx, p->worker);
    atn_free(p->ctx, p->back);
    atn_free(p->ctx, p);
}

void atn_pieces_reserve(atn_pieces *p, int32_t w) { p->worker[w].reserve = true; }

void atn_pieces_limit_seconds(atn_pieces *p, double seconds) { p->seconds = seconds; }

/* Does it get pieces now? */
static bool works(const atn_pieces *p, int32_t w) {
    bool alone = p->worker[w].reserve;
    for (int32_t k = 0; k < p->workers && alone; ++k) alone = p->worker[k].reserve || p->worker[k].out;
    return !p->worker[w].out && (alone || !p->worker[w].reserve);
}

/* How long the next piece of a worker is. */
static int64_t length_for(const atn_pieces *p, int32_t w) {
    double known = 0, sum = 0;
    int32_t n_known = 0, n = 0;
    for (int32_t k = 0; k < p->workers; ++k) {
        if (!works(p, k)) continue;
        ++n;
        if (p->worker[k].rate > 0) known += p->worker[k].rate, ++n_known;
    }
    double mean = n_known ? known / n_known : 1, own = p->worker[w].rate > 0 ? p->worker[w].rate : mean;
    sum = known + mean * (n - n_known);
    double left = (double)(p->count - p->next), share = left * own / sum;
    double length = p->worker[w].rate > 0 ? share / 2 : share / FIRST;
    if (n == 1) length = left; /* no one to wait for */
    if (p->seconds > 0) length = fmin(length, p->worker[w].rate > 0 ? p->worker[w].rate * p->seconds : FEW);
    if (p->most > 0 && length > (double)p->most) length = (double)p->most;
    return length < 1 ? 1 : (int64_t)length;
}

static atn_pieces_answer take_now(atn_pieces *p, int32_t w, range *out) {
    if (p->stopped || p->left == 0 || p->worker[w].out) return ATN_PIECES_OVER;
    if (!works(p, w)) return ATN_PIECES_LATER;
    if (p->n_back) {
        *out = p->back[--p->n_back];
    } else if (p->next < p->count) {
        int64_t length = length_for(p, w), most = p->count - p->next;
        *out = (range){p->next, p->next + (length < most ? length : most)};
        p->next = out->to;
    } else {
        return ATN_PIECES_LATER;
    }
    p->worker[w].at = *out;
    return ATN_PIECES_TAKEN;
}

atn_pieces_answer atn_pieces_take(atn_pieces *p, int32_t w, bool wait, int64_t *from, int64_t *to) {
    range taken = {0, 0};
    pthread_mutex_lock(&p->lock);
    atn_pieces_answer answer;
    while ((answer = take_now(p, w, &taken)) == ATN_PIECES_LATER && wait) pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    *from = taken.from;
    *to = taken.to;
    return answer;
}

void atn_pieces_done(atn_pieces *p, int32_t w, double seconds) {
    pthread_mutex_lock(&p->lock);
    worker *own = &p->worker[w];
    int64_t length = own->at.to - own->at.from;
    double rate = (double)length / (seconds > 1e-9 ? seconds : 1e-9);
    own->rate = own->rate > 0 ? 0.4 * own->rate + 0.6 * rate : rate;
    own->at = (range){0, 0};
    p->left -= length;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

bool atn_pieces_give_back(atn_pieces *p, int32_t w) {
    int32_t able = 0;
    pthread_mutex_lock(&p->lock);
    worker *own = &p->worker[w];
    if (own->at.to > own->at.from) p->back[p->n_back++] = own->at;
    own->at = (range){0, 0};
    own->out = true;
    for (int32_t k = 0; k < p->workers; ++k) able += !p->worker[k].out;
    bool good = able > 0 || p->left == 0;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return good;
}

void atn_pieces_stop(atn_pieces *p) {
    pthread_mutex_lock(&p->lock);
    p->stopped = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

/* ---- threads ---- */

typedef struct run {
    const atn_ctx *ctx;
    const char *name;
    atn_pieces *pieces;
    atn_pieces_work *work;
    void *user;
    pthread_mutex_t lock;
    atn_status status;               /* the first failure of all */
    char message[ATN_MESSAGE_BYTES]; /* messages are those of a thread */
} run;

typedef struct hand {
    run *all;
    int32_t worker;
    pthread_t thread;
    bool running;
} hand;

static void keep_failure(run *r, atn_status status) {
    pthread_mutex_lock(&r->lock);
    if (r->status == ATN_OK) {
        r->status = status;
        snprintf(r->message, sizeof r->message, "%s", atn_ctx_message(r->ctx));
    }
    pthread_mutex_unlock(&r->lock);
}

static void *work_on(void *user) {
    const hand *h = user;
    run *r = h->all;
    int64_t from, to;
    while (atn_pieces_take(r->pieces, h->worker, true, &from, &to) == ATN_PIECES_TAKEN) {
        double since = atn_clock_seconds();
        atn_status status = r->work(r->user, h->worker, from, to);
        if (status == ATN_OK) {
            atn_pieces_done(r->pieces, h->worker, atn_clock_seconds() - since);
            continue;
        }
        bool own = status == ATN_ERR_LOST || status == ATN_ERR_UNSUPPORTED; /* of this worker's alone */
        if (own && atn_pieces_give_back(r->pieces, h->worker)) {
            atn_log(r->ctx, ATN_LOG_WARNING, "%s: %s; the others go on", r->name, atn_ctx_message(r->ctx));
            return NULL;
        }
        keep_failure(r, status);
        atn_pieces_stop(r->pieces);
    }
    return NULL;
}

atn_status atn_pieces_run(const atn_ctx *ctx, const char *name, int64_t count, int32_t workers, uint64_t reserve,
                          int64_t most, atn_pieces_work *work, void *user) {
    run r = {.ctx = ctx, .name = name, .work = work, .user = user};
    hand *hands = atn_zalloc(ctx, (size_t)workers * sizeof *hands);
    atn_status status = hands ? atn_pieces_make(ctx, count, workers, most, &r.pieces) : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        pthread_mutex_init(&r.lock, NULL);
        for (int32_t k = 0; k < workers; ++k) {
            hands[k] = (hand){.all = &r, .worker = k};
            if (k < 64 && reserve >> k & 1) atn_pieces_reserve(r.pieces, k);
        }
        for (int32_t k = 1; k < workers; ++k) { /* if no thread can be created, the others do it */
            hands[k].running = pthread_create(&hands[k].thread, NULL, work_on, &hands[k]) == 0;
            if (!hands[k].running) (void)atn_pieces_give_back(r.pieces, k);
        }
        work_on(&hands[0]);
        for (int32_t k = 1; k < workers; ++k)
            if (hands[k].running) pthread_join(hands[k].thread, NULL);
        pthread_mutex_destroy(&r.lock);
        status = r.status;
        if (status != ATN_OK) (void)atn_fail(ctx, status, "%s", r.message);
    }
    atn_pieces_free(r.pieces);
    atn_free(ctx, hands);
    return status;
}
