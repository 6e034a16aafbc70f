/* Many pairs. Large ones go one after the other, each by all that the device has. Of small ones a core is faster with
 * a pair of its own than all cores with one: they go side by side, each worker with an engine for the host, and one
 * thread for all that a pair asks for. Beside a GPU there are more workers than cores, and the long steps of all of
 * them are made there together (gather.h). Results are handed over in order, by the thread that called. */
#include "apps/register/gather.h"
#include "apps/register/problem.h"
#include "apps/register/workplace.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "cloud/points.h"
#include "device/backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SMALL = 20000, FEWEST = 3 }; /* points of the largest cloud of pairs that go side by side, and how many pairs */

typedef struct batch {
    atn_device *device;
    const atn_ctx *ctx;
    const atn_register_settings *settings;
    atn_register_pair *pairs;
    size_t bytes, count;  /* pairs lie as far from each other as the caller's header has it */
    size_t most;          /* points of the largest cloud */
    size_t told;          /* pairs that were handed over */
    atn_status status;    /* what ends all of it: cancelled, or the device lost and no host */
    pthread_mutex_t turn; /* of workers that are watched, and of the caller's `done` */
} batch;

/* Who is asked whether a pair goes on: nobody; the caller, by the thread that called; or by one worker at a time. */
typedef enum watched { UNWATCHED, WATCHED, IN_TURN } watched;

static atn_register_pair *pair_at(const batch *b, size_t k) {
    return (atn_register_pair *)((char *)b->pairs + k * b->bytes);
}

static atn_status check(const batch *b) {
    atn_status status = ATN_CHECK_OUT(b->ctx, atn_register_pair, b->pairs);
    if (status == ATN_OK && b->bytes < offsetof(atn_register_pair, result) + sizeof(size_t))
        return atn_fail(b->ctx, ATN_ERR_INPUT, "atn_register_pair: %zu bytes have no room for a result", b->bytes);
    for (size_t k = 1; k < b->count && status == ATN_OK; ++k)
        if (pair_at(b, k)->size != b->pairs->size)
            return atn_fail(b->ctx, ATN_ERR_INPUT,
                            "atn_register_pair: number %zu has a size of %zu bytes, the first %zu", k,
                            pair_at(b, k)->size, b->pairs->size);
    return status;
}

static size_t most_points(const batch *b) {
    size_t most = 0;
    for (size_t k = 0; k < b->count; ++k) {
        size_t source = cloud_count(pair_at(b, k)->source), target = cloud_count(pair_at(b, k)->target);
        most = source > most ? source : most;
        most = target > most ? target : most;
    }
    return most;
}

/* A worker does not wait for others, or until rows are told, to be asked: its next step will do. */
static bool watch_in_turn(void *user, const atn_register_step *step) {
    batch *b = user;
    if (pthread_mutex_trylock(&b->turn) != 0) return true;
    bool go_on = b->settings->watch(b->settings->watch_user, step);
    pthread_mutex_unlock(&b->turn);
    return go_on;
}

static void register_pair(batch *b, reg_workplace *here, size_t k, watched how) {
    atn_register_pair *pair = pair_at(b, k);
    atn_register_result result = {0};
    atn_register_settings own = *b->settings;
    if (how == UNWATCHED) own.watch = NULL;
    if (how == IN_TURN && own.watch) {
        own.watch = watch_in_turn;
        own.watch_user = b;
    }
    if (pair->init != ATN_START_DEFAULT) own.init = pair->init;
    if (pair->start) {
        own.init = ATN_START_GIVEN;
        memcpy(own.start, pair->start, sizeof own.start);
    }
    pair->message[0] = '\0';
    pair->status = reg_check(b->ctx, &own);
    if (pair->status == ATN_OK) pair->status = reg_workplace_register(here, pair->source, pair->target, &own, &result);
    result.size = b->bytes - offsetof(atn_register_pair, result);
    memcpy(&pair->result, &result, result.size);
    if (pair->status != ATN_OK) snprintf(pair->message, sizeof pair->message, "%s", atn_ctx_message(b->ctx));
}

/* A failure that ends all of it has its message in this thread, whichever had the pair. */
static void tell(batch *b) {
    size_t k = b->told++;
    atn_status status = pair_at(b, k)->status;
    if (b->settings->done) b->settings->done(b->settings->done_user, k);
    if (status == ATN_ERR_CANCELLED || status == ATN_ERR_LOST)
        b->status = atn_fail(b->ctx, status, "%s", pair_at(b, k)->message);
}

/* Up to pair `end`, one after the other. */
static atn_status register_until(batch *b, size_t end) {
    reg_workplace here;
    atn_status status = reg_workplace_enter(b->device, b->settings, b->most, &here);
    while (status == ATN_OK && b->told < end && b->status == ATN_OK) {
        register_pair(b, &here, b->told, WATCHED);
        tell(b);
    }
    reg_workplace_leave(&here);
    return status;
}

/* ---- side by side ---- */

/* Hosts of the workers, kept with the device from one batch to the next: opening them takes longer than a small pair.
 */
typedef struct pool {
    atn_left left;
    const atn_ctx *ctx;
    atn_device *host[ATN_PARALLEL_MOST]; /* NULL: not opened yet */
    atn_device *lane[REG_GATHER_LANES];  /* handles of the device but the caller's; likewise */
} pool;

static const char OWNER;

static void drop(atn_left *left) {
    pool *c = (pool *)left;
    for (int32_t k = 0; k < ATN_PARALLEL_MOST; ++k) atn_device_close(c->host[k]);
    for (int32_t k = 0; k < REG_GATHER_LANES; ++k) atn_device_close(c->lane[k]);
    atn_free(c->ctx, c);
}

static pool *take_pool(atn_device *device) {
    pool *c = (pool *)atn_device_take(device, &OWNER);
    if (c || !(c = atn_zalloc(atn_device_ctx(device), sizeof *c))) return c;
    c->left = (atn_left){.owner = &OWNER, .drop = drop};
    c->ctx = atn_device_ctx(device);
    return c;
}

typedef struct side_by_side {
    batch *batch;
    pool *pool;
    atomic_size_t next;   /* pair that nobody has taken, */
    size_t end;           /* and up to which they are taken */
    atomic_bool stopped;  /* none is begun any more */
    atomic_bool *done;    /* by pair */
    pthread_mutex_t lock; /* with a device: of the two that follow, */
    pthread_cond_t news;  /* which change then */
    size_t ended;         /* pairs that are done */
    int32_t open;         /* lanes that are at work */
} side_by_side;

/* By the thread that called. */
static void tell_those_that_are_done(side_by_side *t) {
    batch *b = t->batch;
    while (b->told < b->count && b->status == ATN_OK && atomic_load(&t->done[b->told])) tell(b);
    if (b->status != ATN_OK) atomic_store(&t->stopped, true);
}

/* What the thread that called waits for. */
static void note(side_by_side *t, size_t ended, int32_t closed) {
    pthread_mutex_lock(&t->lock);
    t->ended += ended;
    t->open -= closed;
    pthread_mutex_unlock(&t->lock);
    pthread_cond_signal(&t->news);
}

static void work_as(side_by_side *t, int32_t worker, reg_client *client) {
    batch *b = t->batch;
    bool calling = worker == 0 && !client;
    atn_device **host = &t->pool->host[worker];
    reg_workplace here = {.own = NULL};
    atn_status status = *host ? ATN_OK : atn_device_open_host(atn_device_ctx(b->device), host);
    if (status == ATN_OK) status = reg_workplace_enter(*host, b->settings, b->most, &here);
    here.engine.client = client;
    atn_ctx_watch_thread(true);
    while (status == ATN_OK && !atomic_load(&t->stopped)) {
        size_t k = atomic_fetch_add(&t->next, 1);
        if (k >= t->end) break;
        register_pair(b, &here, k, calling ? WATCHED : client ? IN_TURN : UNWATCHED);
        if (pair_at(b, k)->status == ATN_ERR_CANCELLED) atomic_store(&t->stopped, true);
        atomic_store(&t->done[k], true);
        if (calling) tell_those_that_are_done(t);
        if (client) note(t, 1, 0);
    }
    atn_ctx_watch_thread(false);
    reg_workplace_leave(&here);
}

static void work(void *user, int64_t from, int64_t to) {
    (void)from, (void)to;
    work_as(user, atn_parallel_worker(), NULL);
}

/* As many workers as there are cores, pairs, and memory for. */
static int32_t workers_for(const batch *b) {
    const atn_device_info *info = atn_device_get_info(b->device);
    const atn_register_settings *s = b->settings;
    int32_t workers = atn_parallel_workers();
    bool on_host = !reg_is_remote(b->device) || reg_sooner_side_by_side(info, s, b->most, workers);
    if (!on_host || b->most > SMALL || b->count < FEWEST || s->profile) return 1;
    if ((size_t)workers > b->count) workers = (int32_t)b->count;
    size_t each = atn_register_bytes(NULL, s, b->most, b->most);
    if (s->most_bytes && each && s->most_bytes / each < (size_t)workers) workers = (int32_t)(s->most_bytes / each);
    return workers < 1 ? 1 : workers;
}

static void work_until(side_by_side *t, size_t end, int32_t workers) {
    t->end = end;
    atomic_store(&t->next, t->batch->told);
    atn_parallel(workers, 1, work, t);
    tell_those_that_are_done(t);
}

/* ---- with a device ---- */

enum { GATHERED_MOST = 4000, GATHERED_FEWEST = 256, WORKERS_A_CORE = 12, CORES_A_LANE = 4 };

/* A worker that asks the device through its lanes. */
typedef struct asking {
    side_by_side *t;
    reg_client *client;
    int32_t worker;
    pthread_t thread;
} asking;

static void *ask(void *user) {
    asking *a = user;
    (void)atn_parallel_limit(1);
    work_as(a->t, a->worker, a->client);
    reg_gather_leave(a->client);
    return NULL;
}

/* By the thread that called, until all lanes are closed: no worker waits for what telling takes. Whoever watches is
 * told of nothing else meanwhile. */
static void tell_meanwhile(side_by_side *t) {
    bool open = true;
    for (size_t told = 0; open;) {
        pthread_mutex_lock(&t->lock);
        while (t->ended == told && t->open) pthread_cond_wait(&t->news, &t->lock);
        told = t->ended;
        open = t->open > 0;
        pthread_mutex_unlock(&t->lock);
        pthread_mutex_lock(&t->batch->turn);
        tell_those_that_are_done(t);
        pthread_mutex_unlock(&t->batch->turn);
    }
}

/* How many workers ask a device for steps; 0: it is not worth it, or would not be reproducible: what is added up in one
 * order there is in another one here. */
static int32_t clients_for(const batch *b, bool always) {
    const atn_register_settings *s = b->settings;
    const atn_device_info *info = atn_device_get_info(b->device);
    bool pays = reg_is_remote(b->device) && !info->cpu && b->count >= GATHERED_FEWEST;
    if ((!pays && !always) || b->most > GATHERED_MOST || s->reproducible || s->profile || s->precision == 64) return 0;
    size_t most = (size_t)atn_parallel_workers() * WORKERS_A_CORE;
    if (most > b->count) most = b->count;
    if (most > ATN_PARALLEL_MOST) most = ATN_PARALLEL_MOST;
    size_t there = reg_gather_bytes(1), each = atn_register_bytes(NULL, s, b->most, b->most) + there;
    if (s->most_bytes && s->most_bytes / each < most) most = s->most_bytes / each;
    size_t free = (size_t)atn_device_free_bytes(b->device) / 2; /* others may be there, too */
    return (int32_t)(free / there < most ? free / there : most);
}

static int32_t lanes_for(int32_t clients, bool always) {
    int32_t lanes = always ? 2 : atn_parallel_workers() / CORES_A_LANE;
    if (lanes > REG_GATHER_LANES) lanes = REG_GATHER_LANES;
    return lanes < 1 || clients < 2 * lanes ? 1 : lanes;
}

/* A thread that makes some kinds of steps, in a queue of its own: long ones do not hold up others. */
typedef struct lane {
    side_by_side *t;
    atn_device *device; /* the caller's, or another handle of the same */
    reg_gather *gather;
    int32_t number, lanes, clients;
    pthread_t thread;
    bool begun;
    atn_status status;
} lane;

static void *open_lane(void *user) {
    lane *l = user;
    const batch *b = l->t->batch;
    atn_device **device = &l->t->pool->lane[l->number];
    l->status = ATN_OK;
    if (l->number && !*device)
        l->status = atn_device_open_info(atn_device_ctx(b->device), atn_device_get_info(b->device), device);
    l->device = l->number ? *device : b->device;
    if (l->status == ATN_OK) l->status = reg_gather_open(l->device, l->clients, l->number, l->lanes, &l->gather);
    return NULL;
}

static void *serve_lane(void *user) {
    lane *l = user;
    reg_gather_serve(l->gather);
    note(l->t, 0, 1);
    return NULL;
}

/* Each lane in a thread; false: one could not be begun. */
static bool begin_lanes(lane *all, int32_t lanes, void *(*run)(void *)) {
    bool all_begun = true;
    for (int32_t k = 0; k < lanes; ++k) {
        all[k].begun = pthread_create(&all[k].thread, NULL, run, &all[k]) == 0;
        all_begun = all_begun && all[k].begun;
    }
    return all_begun;
}

static void end_lanes(lane *all, int32_t lanes) {
    for (int32_t k = 0; k < lanes; ++k)
        if (all[k].begun) pthread_join(all[k].thread, NULL);
}

/* Each builds its kernels. */
static atn_status open_lanes(lane *all, int32_t lanes) {
    atn_status status = begin_lanes(all, lanes, open_lane) ? ATN_OK : ATN_ERR_MEMORY;
    end_lanes(all, lanes);
    for (int32_t k = 0; k < lanes && status == ATN_OK; ++k) status = all[k].status;
    return status;
}

/* Workers that could not be started leave their pairs to the others, and all do where a lane could not. */
static void serve(side_by_side *t, reg_clients *clients, lane *all, int32_t lanes, asking *workers, int32_t count) {
    int32_t started = 0;
    t->open = lanes;
    bool served = begin_lanes(all, lanes, serve_lane);
    for (; served && started < count; ++started) {
        workers[started] = (asking){t, reg_clients_at(clients, started), started, .thread = 0};
        if (pthread_create(&workers[started].thread, NULL, ask, &workers[started]) != 0) break;
    }
    for (int32_t k = started; k < count; ++k) reg_gather_leave(reg_clients_at(clients, k));
    for (int32_t k = 0; k < lanes; ++k)
        if (!all[k].begun) note(t, 0, 1);
    tell_meanwhile(t);
    end_lanes(all, lanes);
    for (int32_t k = 0; k < started; ++k) pthread_join(workers[k].thread, NULL);
}

static atn_status ask_until(side_by_side *t, size_t end, int32_t count, int32_t lanes) {
    batch *b = t->batch;
    lane all[REG_GATHER_LANES];
    reg_gather *gather[REG_GATHER_LANES];
    reg_clients *clients = NULL;
    asking *workers = atn_zalloc(b->ctx, (size_t)count * sizeof *workers);
    for (int32_t k = 0; k < lanes; ++k) all[k] = (lane){.t = t, .number = k, .lanes = lanes, .clients = count};
    atn_status status = workers ? open_lanes(all, lanes) : ATN_ERR_MEMORY;
    for (int32_t k = 0; k < lanes; ++k) gather[k] = all[k].gather;
    if (status == ATN_OK) status = reg_clients_make(b->ctx, count, gather, lanes, &clients);
    if (status == ATN_OK) {
        t->end = end;
        atomic_store(&t->next, b->told);
        pthread_mutex_init(&b->turn, NULL);
        pthread_mutex_init(&t->lock, NULL);
        pthread_cond_init(&t->news, NULL);
        serve(t, clients, all, lanes, workers, count);
        pthread_cond_destroy(&t->news);
        pthread_mutex_destroy(&t->lock);
        pthread_mutex_destroy(&b->turn);
    }
    reg_clients_free(clients);
    for (int32_t k = 0; k < lanes; ++k) reg_gather_close(gather[k]);
    atn_free(b->ctx, workers);
    return status;
}

/* What nearly all pairs take, in a first run: by all cores. */
static atn_status build_kernels(const batch *b) {
    reg_workplace here;
    atn_status status = reg_workplace_enter(b->device, b->settings, b->most, &here);
    if (status == ATN_OK) status = reg_engine_build_ahead(&here.engine, false);
    reg_workplace_leave(&here);
    return status;
}

/* The first pair builds the rest, before others ask for the same. Those that could not be begun are not told. */
static atn_status register_side_by_side(batch *b, int32_t workers, int32_t clients, int32_t lanes) {
    const atn_ctx *ctx = b->ctx;
    side_by_side t = {.batch = b, .pool = take_pool(b->device)};
    t.done = t.pool ? atn_zalloc(ctx, b->count * sizeof *t.done) : NULL;
    atn_status status = t.done ? build_kernels(b) : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        work_until(&t, 1, 1);
        bool asked = clients > 1 && ask_until(&t, b->count, clients, lanes) == ATN_OK;
        if (!asked && workers > 1) work_until(&t, b->count, workers);
    }
    if (t.pool) atn_device_leave(b->device, &t.pool->left);
    atn_free(ctx, t.done);
    return status;
}

/* What no worker could be had for is done as large pairs are. */
static atn_status register_all(batch *b, bool gathered) {
    int32_t workers = workers_for(b), clients = clients_for(b, gathered), lanes = lanes_for(clients, gathered);
    atn_status status = workers > 1 || clients > 1 ? register_side_by_side(b, workers, clients, lanes) : ATN_OK;
    if (status == ATN_OK && b->status == ATN_OK && (b->told < b->count || !b->count))
        status = register_until(b, b->count);
    return status == ATN_OK ? b->status : status;
}

atn_status reg_batch(atn_device *device, size_t count, atn_register_pair *pairs, const atn_register_settings *given,
                     bool gathered) {
    atn_register_settings settings;
    batch b = {.device = device,
               .ctx = atn_device_ctx(device),
               .settings = &settings,
               .pairs = pairs,
               .bytes = count && pairs->size ? pairs->size : sizeof *pairs,
               .count = count};
    atn_status status = ATN_TAKE(b.ctx, atn_register_settings, given, &settings);
    if (status == ATN_OK && count) status = check(&b);
    if (status != ATN_OK) return status;
    b.most = most_points(&b);
    return register_all(&b, gathered);
}

atn_status atn_register_batch(atn_device *device, size_t count, atn_register_pair *pairs,
                              const atn_register_settings *given) {
    return reg_batch(device, count, pairs, given, false);
}
