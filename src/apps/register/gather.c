/* Steps of many pairs in one launch: a request waits until the thread that has the device takes it, with all others of
 * its kind that wait by then. While these are made the next ones gather. */
#include "apps/register/gather_parts.h"

#include "base/clock.h"
#include "base/memory.h"

#include <string.h>

/* ---- clients ---- */

atn_status reg_clients_make(const atn_ctx *ctx, int32_t count, reg_gather *const *gather, int32_t lanes,
                            reg_clients **out) {
    reg_clients *all = atn_zalloc(ctx, sizeof *all + (size_t)count * sizeof *all->client);
    *out = all;
    if (!all) return ATN_ERR_MEMORY;
    all->ctx = ctx;
    all->count = count;
    all->lanes = lanes;
    for (int32_t k = 0; k < lanes; ++k) {
        all->gather[k] = gather[k];
        gather[k]->all = all;
    }
    for (int32_t k = 0; k < count; ++k) {
        all->client[k].all = all;
        all->client[k].slot = k;
        pthread_cond_init(&all->client[k].answered, NULL);
        pthread_mutex_init(&all->client[k].lock, NULL);
    }
    return ATN_OK;
}

void reg_clients_free(reg_clients *all) {
    if (!all) return;
    for (int32_t k = 0; k < all->count; ++k) {
        pthread_cond_destroy(&all->client[k].answered);
        pthread_mutex_destroy(&all->client[k].lock);
    }
    atn_free(all->ctx, all);
}

reg_client *reg_clients_at(reg_clients *all, int32_t k) { return &all->client[k]; }

/* Where its steps of a kind are made. */
static reg_gather *gather_of(const reg_client *c, reg_gathered which) {
    return c->all->gather[GATHER_FACTS[which].lane % c->all->lanes];
}

float *reg_gather_room(reg_client *c, reg_gathered which, size_t count, int32_t *base) {
    reg_gather *g = c ? gather_of(c, which) : NULL;
    if (!g || g->broken || count > GATHER_FACTS[which].stays) return NULL;
    size_t first = (size_t)c->slot * GATHER_FACTS[which].stays;
    c->changed[which] = count;
    c->key[which] = 0;
    *base = (int32_t)first;
    return g->kind[which].room + first;
}

void reg_gather_name(reg_client *c, reg_gathered which, uint64_t key) { c->key[which] = key; }

bool reg_gather_has(const reg_client *c, reg_gathered which, uint64_t key, int32_t *base) {
    *base = (int32_t)((size_t)c->slot * GATHER_FACTS[which].stays);
    return key && c->key[which] == key && !gather_of(c, which)->broken;
}

int32_t reg_gather_row(const reg_client *c, reg_gathered which, int32_t k) {
    return c->slot * (int32_t)GATHER_FACTS[which].most + k;
}

bool reg_gather_run(reg_client *c, reg_gathered which, size_t items, const float *item, const int32_t *place,
                    size_t wide, float *out) {
    reg_gather *g = gather_of(c, which);
    if (items == 0) return true;
    c->answer = NOTHING;
    pthread_mutex_lock(&g->lock);
    c->request = (gather_request){which, items, 0, item, place, wide, out};
    bool waits = g->waiting[c->slot] = !g->broken;
    pthread_mutex_unlock(&g->lock);
    if (waits) pthread_cond_signal(&g->asked); /* whoever is woken finds the lock free */
    pthread_mutex_lock(&c->lock);
    while (waits && c->answer == NOTHING) pthread_cond_wait(&c->answered, &c->lock);
    bool done = c->answer == DONE;
    pthread_mutex_unlock(&c->lock);
    return done;
}

void reg_gather_leave(reg_client *c) {
    for (int32_t k = 0; k < c->all->lanes; ++k) {
        reg_gather *g = c->all->gather[k];
        pthread_mutex_lock(&g->lock);
        ++g->left;
        pthread_cond_signal(&g->asked);
        pthread_mutex_unlock(&g->lock);
    }
}

/* ---- the thread that has the device ---- */

/* All that wait for it: there is a row for each item that clients may ask for. */
static size_t take(reg_gather *g, reg_gathered which) {
    gather_kind *own = &g->kind[which];
    size_t rows = 0;
    own->taken = NULL;
    for (int32_t k = 0; k < g->clients; ++k) {
        reg_client *c = &g->all->client[k];
        if (!g->waiting[k] || c->request.which != which) continue;
        g->waiting[k] = false;
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
    gather_kind *own = &g->kind[which];
    reg_gathered read = gather_reads(which);
    size_t wide = GATHER_FACTS[which].item, more = own->written > rows ? own->written - rows : 0;
    atn_status status = ATN_OK;
    for (reg_client *c = own->taken; c && status == ATN_OK; c = c->next) {
        const gather_request *r = &c->request;
        memcpy(own->items + r->first * wide, r->item, r->items * wide * sizeof *own->items);
        memcpy(own->places + r->first * REG_GATHER_PLACE, r->place, r->items * REG_GATHER_PLACE * sizeof *own->places);
        if (c->changed[read])
            status = atn_array_refresh(g->kind[read].data, (int64_t)((size_t)c->slot * GATHER_FACTS[read].stays),
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
    gather_kind *own = &g->kind[which];
    int last = 0;
    while (last + 1 < TIERS && own->tier[last + 1].rows >= rows) ++last;
    atn_status status = fill(g, which, rows);
    for (int k = 0; k < CHAIN && own->tier[last].kernel[k] && status == ATN_OK; ++k)
        status = atn_kernel_run(own->tier[last].kernel[k]);
    if (status == ATN_OK) status = atn_array_recall(own->sum, 0, (int64_t)(rows * GATHER_FACTS[which].sums));
    ++own->launches;
    own->made += rows;
    return status;
}

static atn_status await(gather_kind *own) {
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
    const gather_kind *own = &g->kind[which];
    size_t wide = GATHER_FACTS[which].sums;
    for (reg_client *c = own->taken, *next; c; c = next) {
        const gather_request *r = &c->request;
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
        if (g->waiting[k]) end(&g->all->client[k], false);
        g->waiting[k] = false;
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
        const gather_kind *own = &g->kind[k];
        if (!own->launches) continue;
        int last = CHAIN - 1;
        while (!GATHER_FACTS[k].chain[last].kernel) --last;
        atn_log(g->ctx, ATN_LOG_INFO, "register: %s: %zu requests of %zu items in %zu launches, %.3g s",
                GATHER_FACTS[k].chain[last].kernel, own->requests, own->made, own->launches, own->seconds);
    }
}
