/* Steps of many pairs in one launch: a request waits until the thread that has the device takes it, with all others of
 * its kind that wait by then. While these are made the next ones gather. */
#include "apps/register/gather.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/backend.h"
#include "kernel/give.h"
#include "kernel/kernel.h"
#include "num/array.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* What kernels have besides `item` and `place`: the points of a slot; what comes out; and, from one kernel of a chain
 * to the next, weights and partners of points, q of each, and the scale of these. */
enum { DATA = 1, SUM = 2, WEIGHTS = 4, Q = 8, SCALE = 16 };
typedef struct chained {
    const char *kernel;
    int has;
} chained;
enum { CHAIN = 3 };

static const struct {
    chained chain[CHAIN]; /* one behind the other in a request; the last names the kind */
    size_t stays;         /* numbers of a slot */
    size_t item, sums;
    size_t most;       /* items of a request */
    reg_gathered data; /* the kind whose data it reads, if `stays` is 0 */
} KINDS[REG_GATHERS] = {
    [REG_GATHER_SPACING] = {.chain = {{"spacing_nearest", DATA | SUM}},
                            .stays = (size_t)3 * REG_FIT_POINTS,
                            .item = 1,
                            .sums = REG_FIT_POINTS,
                            .most = 1},
    [REG_GATHER_TURNS] = {.chain = {{"search_turns_step", DATA | SUM}},
                          .stays = (size_t)REG_TURNS_SETS * 3 * REG_TURNS_POINTS,
                          .item = REG_TURNS_ITEM,
                          .sums = REG_TURNS_SUMS,
                          .most = 64},
    [REG_GATHER_NORMALS] = {.chain = {{"search_normals", DATA | SUM}},
                            .stays = (size_t)2 * REG_LIES_POINTS * 3,
                            .item = 1,
                            .sums = (size_t)REG_LIES_POINTS * 3,
                            .most = 2},
    [REG_GATHER_LIES] = {.chain = {{"search_lies_step", DATA | SUM}},
                         .stays = (size_t)2 * REG_LIES_POINTS * REG_LIES_POINT,
                         .item = REG_LIES_ITEM,
                         .sums = REG_LIES_SUMS,
                         .most = REG_LIES_MOST},
    [REG_GATHER_LOOKS] = {.chain = {{"fitness_look_step", DATA | SUM}},
                          .stays = (size_t)2 * REG_LOOKS_POINTS * (REG_LOOKS_PLANE + 1),
                          .item = REG_LOOKS_ITEM,
                          .sums = REG_LOOKS_SUMS,
                          .most = REG_LOOKS_MOST},
    [REG_GATHER_NEAREST] = {.chain = {{"fitness_nearest", DATA | SUM}},
                            .item = REG_LOOKS_ITEM,
                            .sums = REG_LOOKS_SAMPLES,
                            .most = REG_LOOKS_MOST,
                            .data = REG_GATHER_LOOKS},
    [REG_GATHER_PLANES] = {.chain = {{"fitness_planes", DATA | SUM}},
                           .stays = (size_t)2 * REG_FIT_POINTS * 3,
                           .item = 2,
                           .sums = (size_t)REG_FIT_POINTS * REG_PLANES_POINT,
                           .most = 2},
    [REG_GATHER_EXPECT] = {.chain = {{"fit_expect", DATA | SUM}},
                           .stays = (size_t)2 * REG_FIT_POINTS * REG_EXPECT_POINT,
                           .item = REG_EXPECT_ITEM,
                           .sums = REG_EXPECT_SUMS,
                           .most = 1},
    [REG_GATHER_MEASURE] = {.chain = {{"fit_measure", DATA | SUM}},
                            .item = REG_EXPECT_ITEM,
                            .sums = REG_MEASURE_SUMS,
                            .most = 1,
                            .data = REG_GATHER_EXPECT},
    [REG_GATHER_SHAPES] = {.chain = {{"fit_shapes", DATA | SUM}},
                           .stays = (size_t)REG_FIT_POINTS * REG_SHAPES_POINT,
                           .item = 2,
                           .sums = (size_t)REG_FIT_POINTS * REG_SHAPES_SUMS,
                           .most = 1},
    [REG_GATHER_FIT] = {.chain = {{"fit_pairs", DATA | WEIGHTS | Q},
                                  {"fit_scale", Q | SCALE},
                                  {"fit_sums", DATA | WEIGHTS | Q | SCALE | SUM}},
                        .stays = (size_t)2 * REG_FIT_POINTS * REG_FIT_POINT,
                        .item = REG_FIT_ITEM,
                        .sums = REG_FIT_SUMS,
                        .most = REG_FIT_MOST},
    [REG_GATHER_TERMS] = {.chain = {{"fit_pairs", DATA | WEIGHTS | Q}, {"fit_terms", DATA | WEIGHTS | Q | SUM}},
                          .item = REG_FIT_ITEM,
                          .sums = (size_t)REG_FIT_POINTS * REG_TERMS_POINT,
                          .most = 1,
                          .data = REG_GATHER_FIT},
};

/* What a client waits for. */
typedef struct request {
    reg_gathered which;
    size_t items, first; /* how many, and where they stand in the launch */
    const float *item;
    const int32_t *place;
    size_t wide; /* numbers of a row that are wanted */
    float *out;
} request;

struct reg_client {
    reg_gather *gather;
    int32_t slot;
    size_t changed[REG_GATHERS]; /* numbers in its slot, since the last request */
    request request;
    bool waiting;         /* for somebody to take it; under the gather's lock */
    reg_client *next;     /* whose request is in the same launch */
    pthread_mutex_t lock; /* of what follows: whoever is answered waits for nobody else */
    pthread_cond_t answered;
    enum { NOTHING, DONE, FAILED } answer;
};

/* The first rows of the arrays of a kind, and the kernel over them: rows that nobody asked for take time, too. */
enum { TIERS = 4, TIER = 4, FEWEST_ROWS = 4 }; /* each with so many times fewer rows than the one before */
typedef struct tier {
    atn_kernel *kernel[CHAIN]; /* those of the first tier are the others' elders */
    atn_array *item, *place, *sum;
    size_t rows;
} tier;

/* The arrays of a kind. */
typedef struct kind {
    tier tier[TIERS];
    atn_array *all, *data, *item, *place, *sum; /* data: all of it, as a vector */
    float *room;                                /* the host's copies: of data, */
    float *items, *sums;                        /* item, sum, */
    int32_t *places;                            /* and place */
    size_t rows;                                /* of these three */
    reg_client *taken;                          /* the first whose request is in the launch */
    size_t written;                             /* rows of `place` that may say something */
    size_t launches, requests, made;            /* so far; rows of these */
    double seconds;                             /* that were waited for launches */
} kind;

/* Of each source point, at each pose of a request: W, the partner and q (programs/fit_pairs.atn); and of all of them
 * the scale (fit_scale.atn). */
enum { PARTNER = 6, PAIR = 9 };
static const struct {
    const char *name;
    int has;
    size_t columns;
} PAIRS[PAIR] = {{"w0", WEIGHTS, REG_FIT_POINTS},      {"w1", WEIGHTS, REG_FIT_POINTS}, {"w2", WEIGHTS, REG_FIT_POINTS},
                 {"w3", WEIGHTS, REG_FIT_POINTS},      {"w4", WEIGHTS, REG_FIT_POINTS}, {"w5", WEIGHTS, REG_FIT_POINTS},
                 {"partner", WEIGHTS, REG_FIT_POINTS}, {"q", Q, REG_FIT_POINTS},        {"scale", SCALE, 1}};

struct reg_gather {
    atn_left left_over; /* with the device, from one batch to the next: first, so that it is found again */
    atn_device *device;
    const atn_ctx *ctx;
    kind kind[REG_GATHERS];
    atn_array *pair[PAIR];
    int32_t clients, left; /* how many there are, and have left */
    atomic_bool broken;    /* nothing more can be asked of the device */
    pthread_mutex_t lock;
    pthread_cond_t asked;
    reg_client client[]; /* so many */
};

/* The kind whose data it reads. */
static reg_gathered reads(reg_gathered which) { return KINDS[which].stays ? which : KINDS[which].data; }

static size_t numbers_of(int32_t clients, reg_gathered which) {
    size_t rows = (size_t)clients * KINDS[which].most;
    return (size_t)clients * KINDS[which].stays + rows * (KINDS[which].item + REG_GATHER_PLACE + KINDS[which].sums);
}

size_t reg_gather_bytes(int32_t clients) {
    size_t numbers = 0;
    for (int k = 0; k < REG_GATHERS; ++k) numbers += numbers_of(clients, (reg_gathered)k);
    for (int k = 0; k < PAIR; ++k) numbers += (size_t)clients * REG_FIT_MOST * PAIRS[k].columns;
    return numbers * sizeof(float);
}

/* An array of which the host and the device have copies from now on. */
static atn_status make_array(atn_device *device, atn_type type, size_t rows, size_t columns, atn_array **array,
                             void **host) {
    atn_status status = atn_array_create_matrix(device, type, (int64_t)rows, (int64_t)columns, 0, array);
    if (status != ATN_OK) return status;
    atn_array_pin(*array);
    status = atn_array_map_write(*array, host);
    return status == ATN_OK ? atn_array_ready_device(*array, false) : status;
}

static atn_status make_arrays(atn_device *device, int32_t clients, reg_gathered which, kind *out) {
    void *room = NULL, *item = NULL, *place = NULL, *sum = NULL;
    size_t stays = (size_t)clients * KINDS[which].stays;
    out->rows = (size_t)clients * KINDS[which].most;
    atn_status status = make_array(device, ATN_SP, out->rows, KINDS[which].item, &out->item, &item);
    if (status == ATN_OK) status = make_array(device, ATN_INT32, out->rows, REG_GATHER_PLACE, &out->place, &place);
    if (status == ATN_OK) status = make_array(device, ATN_SP, out->rows, KINDS[which].sums, &out->sum, &sum);
    if (status == ATN_OK && stays) status = make_array(device, ATN_SP, 1, stays, &out->all, &room);
    if (status == ATN_OK && stays) status = atn_array_view_row(out->all, 0, &out->data);
    out->room = room;
    out->items = item;
    out->places = place;
    out->sums = sum;
    return status;
}

static atn_status open_kernel(reg_gather *g, reg_gathered which, int link, const tier *of, atn_kernel **out) {
    const chained *own = &KINDS[which].chain[link];
    const atn_kernel *elder = g->kind[which].tier[0].kernel[link];
    atn_array *data = g->kind[reads(which)].data;
    atn_status status =
        elder ? atn_kernel_twin(elder, out) : atn_kernel_make(g->device, own->kernel, ATN_SP, ATN_TRUSTED, out);
    if (status == ATN_OK)
        status = atn_kernel_give(*out, ATN_ARRAYS({"item", of->item}, {"place", of->place}), ATN_NOTHING);
    if (status == ATN_OK && own->has & DATA) status = atn_kernel_give(*out, ATN_ARRAYS({"data", data}), ATN_NOTHING);
    if (status == ATN_OK && own->has & SUM) status = atn_kernel_give(*out, ATN_ARRAYS({"sum", of->sum}), ATN_NOTHING);
    for (int k = 0; k < PAIR && status == ATN_OK; ++k)
        if (own->has & PAIRS[k].has)
            status = atn_kernel_give(*out, ATN_ARRAYS({PAIRS[k].name, g->pair[k]}), ATN_NOTHING);
    return status == ATN_OK ? atn_kernel_plan(*out) : status;
}

static atn_status open_tier(reg_gather *g, reg_gathered which, size_t rows, tier *out) {
    const kind *of = &g->kind[which];
    out->rows = rows;
    atn_status status = atn_array_view_block(of->item, 0, 0, (int64_t)rows, (int64_t)KINDS[which].item, &out->item);
    if (status == ATN_OK) status = atn_array_view_block(of->place, 0, 0, (int64_t)rows, REG_GATHER_PLACE, &out->place);
    if (status == ATN_OK)
        status = atn_array_view_block(of->sum, 0, 0, (int64_t)rows, (int64_t)KINDS[which].sums, &out->sum);
    for (int k = 0; k < CHAIN && KINDS[which].chain[k].kernel && status == ATN_OK; ++k)
        status = open_kernel(g, which, k, out, &out->kernel[k]);
    return status;
}

static atn_status open_kind(reg_gather *g, reg_gathered which) {
    kind *out = &g->kind[which];
    atn_status status = make_arrays(g->device, g->clients, which, out);
    size_t rows = out->rows;
    for (int k = 0; k < TIERS && status == ATN_OK && (k == 0 || rows >= FEWEST_ROWS); ++k, rows /= TIER)
        status = open_tier(g, which, rows, &out->tier[k]);
    return status;
}

static void free_kind(kind *own) {
    for (int k = TIERS - 1; k >= 0; --k) { /* elders last */
        for (int link = 0; link < CHAIN; ++link) atn_kernel_free(own->tier[k].kernel[link]);
        atn_array_free(own->tier[k].item);
        atn_array_free(own->tier[k].place);
        atn_array_free(own->tier[k].sum);
    }
    atn_array_free(own->data);
    atn_array_free(own->all);
    atn_array_free(own->item);
    atn_array_free(own->place);
    atn_array_free(own->sum);
}

static const char OWNER;

static void drop(atn_left *left) {
    reg_gather *g = (reg_gather *)left;
    for (int k = 0; k < REG_GATHERS; ++k) free_kind(&g->kind[k]);
    for (int k = 0; k < PAIR; ++k) atn_array_free(g->pair[k]);
    for (int32_t k = 0; k < g->clients; ++k) {
        pthread_cond_destroy(&g->client[k].answered);
        pthread_mutex_destroy(&g->client[k].lock);
    }
    pthread_cond_destroy(&g->asked);
    pthread_mutex_destroy(&g->lock);
    atn_free(g->ctx, g);
}

static atn_status make(atn_device *device, int32_t clients, reg_gather **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    reg_gather *g = atn_zalloc(ctx, sizeof *g + (size_t)clients * sizeof *g->client);
    *out = NULL;
    if (!g) return ATN_ERR_MEMORY;
    g->left_over = (atn_left){.owner = &OWNER, .drop = drop};
    g->device = device;
    g->ctx = ctx;
    g->clients = clients;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->asked, NULL);
    for (int32_t k = 0; k < clients; ++k) {
        g->client[k].gather = g;
        g->client[k].slot = k;
        pthread_cond_init(&g->client[k].answered, NULL);
        pthread_mutex_init(&g->client[k].lock, NULL);
    }
    atn_status status = ATN_OK;
    for (int k = 0; k < PAIR && status == ATN_OK; ++k)
        status = atn_array_create_matrix(device, k == PARTNER ? ATN_INT32 : ATN_SP, (int64_t)clients * REG_FIT_MOST,
                                         (int64_t)PAIRS[k].columns, 0, &g->pair[k]);
    for (int k = 0; k < REG_GATHERS && status == ATN_OK; ++k) status = open_kind(g, (reg_gathered)k);
    if (status == ATN_OK)
        *out = g;
    else
        drop(&g->left_over);
    return status;
}

atn_status reg_gather_open(atn_device *device, int32_t clients, reg_gather **out) {
    reg_gather *g = (reg_gather *)atn_device_take(device, &OWNER);
    if (g && g->clients != clients) {
        drop(&g->left_over);
        g = NULL;
    }
    *out = g;
    if (!g) return make(device, clients, out);
    g->left = 0;
    for (int k = 0; k < REG_GATHERS; ++k) {
        g->kind[k].launches = g->kind[k].requests = g->kind[k].made = 0;
        g->kind[k].seconds = 0;
    }
    return ATN_OK;
}

void reg_gather_close(reg_gather *g) {
    if (!g) return;
    if (!g->broken) {
        atn_device_leave(g->device, &g->left_over);
        return;
    }
    (void)atn_queue_finish(atn_device_queue(g->device)); /* what was begun before it broke copies from its memory */
    drop(&g->left_over);
}

reg_client *reg_gather_client(reg_gather *g, int32_t k) { return &g->client[k]; }

/* ---- a client ---- */

float *reg_gather_room(reg_client *c, reg_gathered which, size_t count, int32_t *base) {
    if (!c || c->gather->broken || count > KINDS[which].stays) return NULL;
    size_t first = (size_t)c->slot * KINDS[which].stays;
    c->changed[which] = count;
    *base = (int32_t)first;
    return c->gather->kind[which].room + first;
}

int32_t reg_gather_row(const reg_client *c, int32_t k) { return c->slot * REG_FIT_MOST + k; }

bool reg_gather_run(reg_client *c, reg_gathered which, size_t items, const float *item, const int32_t *place,
                    size_t wide, float *out) {
    reg_gather *g = c->gather;
    if (items == 0) return true;
    c->answer = NOTHING;
    pthread_mutex_lock(&g->lock);
    c->request = (request){which, items, 0, item, place, wide, out};
    c->waiting = !g->broken;
    bool waits = c->waiting;
    pthread_mutex_unlock(&g->lock);
    if (waits) pthread_cond_signal(&g->asked); /* whoever is woken finds the lock free */
    pthread_mutex_lock(&c->lock);
    while (waits && c->answer == NOTHING) pthread_cond_wait(&c->answered, &c->lock);
    bool done = c->answer == DONE;
    pthread_mutex_unlock(&c->lock);
    return done;
}

void reg_gather_leave(reg_client *c) {
    reg_gather *g = c->gather;
    pthread_mutex_lock(&g->lock);
    ++g->left;
    pthread_cond_signal(&g->asked);
    pthread_mutex_unlock(&g->lock);
}

/* ---- the thread that has the device ---- */

/* All that wait for it: there is a row for each item that clients may ask for. */
static size_t take(reg_gather *g, reg_gathered which) {
    kind *own = &g->kind[which];
    size_t rows = 0;
    own->taken = NULL;
    for (int32_t k = 0; k < g->clients; ++k) {
        reg_client *c = &g->client[k];
        if (!c->waiting || c->request.which != which) continue;
        c->waiting = false;
        c->request.first = rows;
        rows += c->request.items;
        c->next = own->taken;
        own->taken = c;
        ++own->requests;
    }
    return rows;
}

/* Rows that nobody asked for say nothing: no point is looked at. */
static atn_status fill(reg_gather *g, reg_gathered which, size_t rows) {
    kind *own = &g->kind[which];
    reg_gathered read = reads(which);
    size_t wide = KINDS[which].item, more = own->written > rows ? own->written - rows : 0;
    atn_status status = ATN_OK;
    for (reg_client *c = own->taken; c && status == ATN_OK; c = c->next) {
        const request *r = &c->request;
        memcpy(own->items + r->first * wide, r->item, r->items * wide * sizeof *own->items);
        memcpy(own->places + r->first * REG_GATHER_PLACE, r->place, r->items * REG_GATHER_PLACE * sizeof *own->places);
        if (c->changed[read])
            status = atn_array_refresh(g->kind[read].data, (int64_t)((size_t)c->slot * KINDS[read].stays),
                                       (int64_t)c->changed[read]);
        c->changed[read] = 0;
    }
    memset(own->places + rows * REG_GATHER_PLACE, 0, more * REG_GATHER_PLACE * sizeof *own->places);
    if (status == ATN_OK) status = atn_array_refresh(own->item, 0, (int64_t)(rows * wide));
    if (status == ATN_OK) status = atn_array_refresh(own->place, 0, (int64_t)((rows + more) * REG_GATHER_PLACE));
    own->written = rows;
    return status;
}

/* Begins with it; what comes out is on its way behind it. */
static atn_status launch(reg_gather *g, reg_gathered which, size_t rows) {
    kind *own = &g->kind[which];
    int last = 0;
    while (last + 1 < TIERS && own->tier[last + 1].rows >= rows) ++last;
    atn_status status = fill(g, which, rows);
    for (int k = 0; k < CHAIN && own->tier[last].kernel[k] && status == ATN_OK; ++k)
        status = atn_kernel_run(own->tier[last].kernel[k]);
    if (status == ATN_OK) status = atn_array_recall(own->sum, 0, (int64_t)(rows * KINDS[which].sums));
    ++own->launches;
    own->made += rows;
    return status;
}

static atn_status await(kind *own) {
    double since = atn_clock_seconds();
    atn_status status = atn_storage_settle(own->sum->storage);
    own->seconds += atn_clock_seconds() - since;
    return status;
}

static void end(reg_client *c, bool done) {
    pthread_mutex_lock(&c->lock);
    c->answer = done ? DONE : FAILED;
    pthread_mutex_unlock(&c->lock);
    pthread_cond_signal(&c->answered);
}

static void answer(reg_gather *g, reg_gathered which) {
    const kind *own = &g->kind[which];
    size_t wide = KINDS[which].sums;
    for (reg_client *c = own->taken, *next; c; c = next) {
        const request *r = &c->request;
        next = c->next;
        for (size_t k = 0; k < r->items && !g->broken; ++k)
            memcpy(r->out + k * r->wide, own->sums + (r->first + k) * wide, r->wide * sizeof *own->sums);
        end(c, !g->broken);
    }
}

/* Nobody waits for it any more. */
static void give_up(reg_gather *g) {
    if (!g->broken)
        atn_log(g->ctx, ATN_LOG_WARNING, "register: steps of many pairs failed, the host continues: %s",
                atn_ctx_message(g->ctx));
    pthread_mutex_lock(&g->lock);
    g->broken = true;
    for (int32_t k = 0; k < g->clients; ++k) {
        if (g->client[k].waiting) end(&g->client[k], false);
        g->client[k].waiting = false;
    }
    pthread_mutex_unlock(&g->lock);
}

/* All kinds that are asked for, one behind the other: the host fills the rows of the next one meanwhile. False: nobody
 * asked. The lock is held. */
static bool serve_all(reg_gather *g) {
    size_t rows[REG_GATHERS], any = 0;
    atn_status status = ATN_OK;
    for (int k = 0; k < REG_GATHERS; ++k) any += rows[k] = take(g, (reg_gathered)k);
    if (!any) return false;
    pthread_mutex_unlock(&g->lock); /* what is taken is nobody else's */
    for (int k = 0; k < REG_GATHERS && status == ATN_OK; ++k)
        if (rows[k]) status = launch(g, (reg_gathered)k, rows[k]);
    for (int k = 0; k < REG_GATHERS; ++k) {
        if (!rows[k]) continue;
        if (status == ATN_OK) status = await(&g->kind[k]);
        if (status != ATN_OK) give_up(g);
        answer(g, (reg_gathered)k);
    }
    pthread_mutex_lock(&g->lock);
    return true;
}

void reg_gather_serve(reg_gather *g) {
    pthread_mutex_lock(&g->lock);
    while (g->left < g->clients) {
        if (!serve_all(g)) pthread_cond_wait(&g->asked, &g->lock);
    }
    pthread_mutex_unlock(&g->lock);
    for (int k = 0; k < REG_GATHERS; ++k) {
        const kind *own = &g->kind[k];
        int last = CHAIN - 1;
        while (!KINDS[k].chain[last].kernel) --last;
        atn_log(g->ctx, ATN_LOG_INFO, "register: %s: %zu requests of %zu items in %zu launches, %.3g s",
                KINDS[k].chain[last].kernel, own->requests, own->made, own->launches, own->seconds);
    }
}
