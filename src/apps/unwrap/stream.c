/* A stream of frames on several devices: whichever is free takes the oldest frame that waits; frames are handed back in
 * the order in which they came. Frames lie in a ring; one thread at a time fetches, and one hands back. */
#include "base/context.h"
#include "base/memory.h"
#include "base/sized.h"
#include "device/backend.h"

#include <attune/unwrap.h>

#include <pthread.h>
#include <stdio.h>

enum { PER_DEVICE = 4, MOST_AHEAD = 64 };

typedef enum state { WAITS, RUNS, ENDED } state;

typedef struct turn {
    atn_unwrap_frame frame;
    atn_unwrap_result result;
    state state;
} turn;

struct worker;

typedef struct stream {
    const atn_ctx *ctx;
    atn_unwrap_stream_settings settings;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    turn *turns; /* owned; number n is at n modulo `ahead` */
    int64_t ahead, taken, told;
    struct worker *workers;
    int32_t count;
    bool fetching, telling; /* a thread is in `next`, in `done` */
    bool over;              /* no more frames come */
    atn_status status;      /* what ends it */
    char message[ATN_MESSAGE_BYTES];
} stream;

/* A device at work. */
typedef struct worker {
    stream *s;
    int32_t number;
    atn_device *device;
    atn_unwrap *unwrap; /* NULL: none yet */
    int64_t width, height;
    bool reserve, out; /* it waits until others have failed; it has itself */
    pthread_t thread;
} worker;

static turn *turn_at(const stream *s, int64_t n) { return &s->turns[n % s->ahead]; }

/* ---- one frame ---- */

static atn_status solve(worker *w, turn *t) {
    const atn_unwrap_frame *f = &t->frame;
    atn_status status = atn_device_check(w->device);
    if (status == ATN_OK && (!w->unwrap || w->width != f->width || w->height != f->height)) {
        atn_unwrap_free(w->unwrap);
        w->width = f->width;
        w->height = f->height;
        status = atn_unwrap_create(w->device, f->width, f->height, w->s->settings.solver, &w->unwrap);
    }
    t->result = (atn_unwrap_result){.size = sizeof t->result};
    return status == ATN_OK ? atn_unwrap_solve(w->unwrap, f->phase, f->settings, f->out, &t->result) : status;
}

static void stop(stream *s, atn_status status, const char *message) {
    s->over = true;
    if (s->status != ATN_OK || status == ATN_OK) return;
    s->status = status;
    snprintf(s->message, sizeof s->message, "%s", message);
}

static bool anyone_left(const stream *s) {
    for (int32_t k = 0; k < s->count; ++k)
        if (!s->workers[k].out) return true;
    return false;
}

/* What became of a frame. Locked. */
static void settle(worker *w, turn *t, atn_status status) {
    stream *s = w->s;
    atn_unwrap_frame *f = &t->frame;
    const char *why = status == ATN_OK ? "" : atn_ctx_message(s->ctx);
    if (status == ATN_ERR_LOST || status == ATN_ERR_UNSUPPORTED) {
        w->out = true;
        if (anyone_left(s)) {
            atn_log(s->ctx, ATN_LOG_WARNING, "unwrap: %s; the other devices continue", why);
            t->state = WAITS;
            return;
        }
        stop(s, status, why);
    }
    if (status == ATN_ERR_CANCELLED) stop(s, status, why);
    if (status != ATN_OK) t->result = (atn_unwrap_result){0};
    f->status = status;
    f->device = status == ATN_OK ? w->number : -1;
    snprintf(f->message, sizeof f->message, "%s", why);
    t->state = ENDED;
}

/* ---- in order ---- */

/* Hands back all that ended, up to the first that did not. Locked, but for the call. */
static void tell(stream *s) {
    if (s->telling) return;
    s->telling = true;
    for (turn *t; s->told < s->taken && (t = turn_at(s, s->told))->state == ENDED; ++s->told) {
        pthread_mutex_unlock(&s->lock);
        bool more = s->settings.done(s->settings.user, &t->frame);
        pthread_mutex_lock(&s->lock);
        if (!more) s->over = true;
    }
    s->telling = false;
}

/* The next frame. Locked, but for the call. */
static void fetch(stream *s) {
    turn *t = turn_at(s, s->taken);
    *t = (turn){.frame = {.device = -1, .result = &t->result}};
    s->fetching = true;
    pthread_mutex_unlock(&s->lock);
    bool any = s->settings.next(s->settings.user, &t->frame);
    pthread_mutex_lock(&s->lock);
    s->fetching = false;
    if (!any) {
        s->over = true;
        return;
    }
    t->state = t->frame.status == ATN_OK ? WAITS : ENDED;
    ++s->taken;
}

/* Frames that nobody unwraps any more. Locked. */
static void give_up_waiting(stream *s) {
    for (int64_t n = s->told; n < s->taken; ++n) {
        turn *t = turn_at(s, n);
        if (t->state != WAITS) continue;
        t->state = ENDED;
        t->result = (atn_unwrap_result){0};
        t->frame.status = s->status;
        snprintf(t->frame.message, sizeof t->frame.message, "%s", s->message);
    }
}

/* ---- threads ---- */

static turn *oldest_waiting(const stream *s) {
    for (int64_t n = s->told; n < s->taken; ++n)
        if (turn_at(s, n)->state == WAITS) return turn_at(s, n);
    return NULL;
}

static bool works(const worker *w) {
    const stream *s = w->s;
    if (!w->reserve || w->out) return !w->out;
    for (int32_t k = 0; k < s->count; ++k)
        if (!s->workers[k].reserve && !s->workers[k].out) return false;
    return true;
}

static void check_cancel(stream *s) {
    if (s->status == ATN_OK && atn_check_cancel(s->ctx) != ATN_OK) stop(s, ATN_ERR_CANCELLED, atn_ctx_message(s->ctx));
}

static bool all_told(const stream *s) { return s->over && !s->fetching && !s->telling && s->told == s->taken; }

/* One step of a worker: unwraps, hands back, or fetches. False: there is nothing to do now. Locked. */
static bool step(worker *w) {
    stream *s = w->s;
    check_cancel(s);
    if (s->status != ATN_OK) give_up_waiting(s);
    turn *t = works(w) ? oldest_waiting(s) : NULL;
    bool due = !s->telling && s->told < s->taken && turn_at(s, s->told)->state == ENDED;
    if (due) {
        tell(s);
    } else if (t) {
        t->state = RUNS;
        pthread_mutex_unlock(&s->lock);
        atn_status status = solve(w, t);
        pthread_mutex_lock(&s->lock);
        settle(w, t, status);
    } else if (!s->over && !s->fetching && works(w) && s->taken - s->told < s->ahead) {
        fetch(s);
    } else {
        return false;
    }
    return true;
}

static void *work(void *user) {
    worker *w = user;
    stream *s = w->s;
    pthread_mutex_lock(&s->lock);
    while (!all_told(s)) {
        if (step(w))
            pthread_cond_broadcast(&s->changed);
        else if (!all_told(s))
            pthread_cond_wait(&s->changed, &s->lock);
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    atn_unwrap_free(w->unwrap);
    w->unwrap = NULL;
    return NULL;
}

static void run(stream *s) {
    bool begun[ATN_MOST_DEVICES] = {true};
    pthread_mutex_lock(&s->lock);
    for (int32_t k = 1; k < s->count; ++k) { /* no thread: its frames are left to the others */
        begun[k] = pthread_create(&s->workers[k].thread, NULL, work, &s->workers[k]) == 0;
        s->workers[k].out = !begun[k];
    }
    pthread_mutex_unlock(&s->lock);
    (void)work(&s->workers[0]);
    for (int32_t k = 1; k < s->count; ++k)
        if (begun[k]) pthread_join(s->workers[k].thread, NULL);
}

/* ---- all of it ---- */

static atn_status check(const atn_ctx *ctx, atn_device *const *devices, int32_t n,
                        const atn_unwrap_stream_settings *s) {
    atn_status status = atn_devices_check(devices, n, "unwrap");
    if (status == ATN_OK && (!s->next || !s->done))
        status = atn_fail(ctx, ATN_ERR_INPUT, "unwrap: a stream needs `next` and `done`");
    if (status == ATN_OK && (s->ahead < 0 || s->ahead > MOST_AHEAD))
        status = atn_fail(ctx, ATN_ERR_INPUT, "unwrap: %d frames ahead; 1 to %d", (int)s->ahead, MOST_AHEAD);
    return status;
}

atn_status atn_unwrap_stream(atn_device *const *devices, int32_t n, const atn_unwrap_stream_settings *given) {
    worker workers[ATN_MOST_DEVICES];
    if (n < 1) return atn_fail(NULL, ATN_ERR_INPUT, "unwrap: a stream needs a device");
    stream s = {.ctx = atn_device_ctx(devices[0]), .workers = workers, .count = n};
    atn_status status = ATN_TAKE(s.ctx, atn_unwrap_stream_settings, given, &s.settings);
    if (status == ATN_OK) status = check(s.ctx, devices, n, &s.settings);
    if (status != ATN_OK) return status;
    int64_t usual = (int64_t)PER_DEVICE * n;
    s.ahead = s.settings.ahead ? s.settings.ahead : usual < MOST_AHEAD ? usual : MOST_AHEAD;
    s.turns = atn_zalloc(s.ctx, (size_t)s.ahead * sizeof *s.turns);
    if (!s.turns) return ATN_ERR_MEMORY;
    uint64_t reserve = atn_devices_reserve(devices, n);
    for (int32_t k = 0; k < n; ++k)
        workers[k] = (worker){.s = &s, .number = k, .device = devices[k], .reserve = reserve >> k & 1};
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.changed, NULL);
    run(&s);
    pthread_mutex_destroy(&s.lock);
    pthread_cond_destroy(&s.changed);
    atn_free(s.ctx, s.turns);
    return s.status == ATN_OK ? ATN_OK : atn_fail(s.ctx, s.status, "%s", s.message);
}
