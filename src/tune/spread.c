/* Trials on ranks, or on several devices of this process. What the first rank says is a line of JSON that all get, as
 * workers do: a workload, some variants of it, the end. Trials come back in the order of variants: variant k is tried
 * by rank k modulo those that take part. */
#include "tune/spread.h"

#include "base/memory.h"
#include "base/pieces.h"
#include "tune/wire.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct atn_spread {
    const atn_ctx *ctx;
    atn_ranks *ranks;
    const atn_device_info *info;
    int32_t *part;  /* of each rank: its number among those that take part, -1: it does not */
    int32_t count;  /* that do */
    atn_hash asked; /* the workload that the others have; zero: none */
    /* of a rank that serves: */
    json_t *open; /* what its workload's texts lie in */
    atn_workload workload;
    atn_trial_setup setup;
    atn_worker_pool *pool;
    /* of devices of this process, where `ranks` is NULL; the first one's pool is the session's: */
    const char *program;
    const atn_device_info *device[ATN_MOST_DEVICES];
    atn_worker_pool *pools[ATN_MOST_DEVICES];
};

typedef struct device_name {
    char backend[32], name[160];
    int64_t cores;
} device_name;

static device_name name_of(const atn_device_info *info) {
    device_name name;
    memset(&name, 0, sizeof name); /* so that all bytes are known */
    snprintf(name.backend, sizeof name.backend, "%s", info->backend);
    snprintf(name.name, sizeof name.name, "%s", info->name);
    name.cores = info->cores;
    return name;
}

atn_status atn_spread_open(atn_ranks *ranks, atn_device *device, atn_spread **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_spread *s = *out = atn_zalloc(ctx, sizeof *s);
    device_name own, *all = atn_alloc(ctx, (size_t)ranks->count * sizeof *all);
    if (s) *s = (atn_spread){.ctx = ctx, .ranks = ranks, .info = atn_device_get_info(device)};
    if (s) s->part = atn_alloc(ctx, (size_t)ranks->count * sizeof *s->part);
    atn_status status = s && s->part && all ? ATN_OK : ATN_ERR_MEMORY;
    own = name_of(atn_device_get_info(device));
    status = atn_ranks_allgather(ranks, status, &own, sizeof own, all);
    assert(status != ATN_OK || (s && s->part && all));
    for (int32_t k = 0; k < ranks->count && status == ATN_OK; ++k) {
        bool equal = memcmp(&all[k], &all[0], sizeof *all) == 0;
        s->part[k] = equal ? s->count++ : -1;
        if (!equal && ranks->rank == 0)
            atn_log(ctx, ATN_LOG_WARNING, "tune: rank %d has another device, %s: it tries no candidates", (int)k,
                    all[k].name);
    }
    atn_free(ctx, all);
    if (status == ATN_OK) return ATN_OK;
    atn_spread_free(s);
    *out = NULL;
    return status;
}

atn_status atn_spread_open_devices(atn_device *const *devices, int32_t n, const char *program, atn_spread **out) {
    const atn_ctx *ctx = atn_device_ctx(devices[0]);
    device_name first = name_of(atn_device_get_info(devices[0]));
    *out = NULL;
    atn_spread *s = atn_zalloc(ctx, sizeof *s);
    if (!s) return ATN_ERR_MEMORY;
    *s = (atn_spread){.ctx = ctx, .info = atn_device_get_info(devices[0]), .program = program};
    for (int32_t k = 0; k < n && k < ATN_MOST_DEVICES; ++k) {
        const atn_device_info *info = atn_device_get_info(devices[k]);
        device_name own = name_of(info);
        if (memcmp(&own, &first, sizeof own) == 0)
            s->device[s->count++] = info;
        else
            atn_log(ctx, ATN_LOG_WARNING, "tune: %s is not like %s: it tries no candidates", info->name, s->info->name);
    }
    if (s->count > 1)
        *out = s;
    else
        atn_spread_free(s);
    return ATN_OK;
}

static void drop_pools(atn_spread *s) {
    for (int32_t k = 0; k < ATN_MOST_DEVICES; ++k) {
        atn_worker_pool_free(s->pools[k]);
        s->pools[k] = NULL;
    }
}

static void drop_pool(atn_spread *s) {
    atn_worker_pool_free(s->pool);
    atn_wire_workload_free(s->ctx, &s->workload);
    json_decref(s->open);
    s->pool = NULL;
    s->open = NULL;
}

void atn_spread_free(atn_spread *s) {
    if (!s) return;
    drop_pools(s);
    drop_pool(s);
    atn_free(s->ctx, s->part);
    atn_free(s->ctx, s);
}

int32_t atn_spread_count(const atn_spread *s) { return s ? s->count : 1; }
bool atn_spread_takes_part(const atn_spread *s) { return s->part[s->ranks->rank] >= 0; }

/* ---- between ranks ---- */

/* Takes the reference. */
static atn_status say(const atn_spread *s, json_t *words) {
    char *text = words ? json_dumps(words, JSON_COMPACT) : NULL;
    uint64_t bytes = text ? strlen(text) + 1 : 0;
    json_free_t release;
    json_get_alloc_funcs(NULL, &release);
    json_decref(words);
    atn_status status = atn_ranks_broadcast(s->ranks, text ? ATN_OK : ATN_ERR_MEMORY, 0, &bytes, sizeof bytes);
    if (status == ATN_OK) status = atn_ranks_broadcast(s->ranks, status, 0, text, bytes);
    release(text);
    return status;
}

static atn_status hear(const atn_spread *s, json_t **words) {
    uint64_t bytes = 0;
    *words = NULL;
    atn_status status = atn_ranks_broadcast(s->ranks, ATN_OK, 0, &bytes, sizeof bytes);
    if (status != ATN_OK) return status;
    char *text = atn_alloc(s->ctx, bytes + 1);
    status = atn_ranks_broadcast(s->ranks, text ? ATN_OK : ATN_ERR_MEMORY, 0, text, bytes);
    if (status == ATN_OK && text && !(*words = json_loadb(text, strlen(text), 0, NULL)))
        status = atn_fail(s->ctx, ATN_ERR_INPUT, "tune: what the first rank says is not JSON");
    atn_free(s->ctx, text);
    return status;
}

/* This rank's share of the variants, then everybody's. */
static atn_status try_share(const atn_spread *s, atn_worker_pool *pool, const char *const *variants, int32_t n,
                            const char *incumbent, double best_s, atn_trial *out) {
    int32_t most = (n + s->count - 1) / s->count, part = s->part[s->ranks->rank], taken = 0;
    size_t bytes = (size_t)most * sizeof *out;
    atn_trial *mine = atn_zalloc(s->ctx, bytes + 1), *all = atn_alloc(s->ctx, bytes * (size_t)s->ranks->count + 1);
    atn_status status = mine && all ? ATN_OK : ATN_ERR_MEMORY;
    for (int32_t k = part; part >= 0 && k < n && status == ATN_OK; k += s->count) {
        status = atn_worker_pool_ready(pool);
        if (status == ATN_OK) status = atn_worker_pool_try(pool, variants[k], incumbent, best_s, &mine[taken++]);
    }
    status = atn_ranks_allgather(s->ranks, status, mine, bytes, all);
    for (int32_t rank = 0; rank < s->ranks->count && status == ATN_OK && out; ++rank)
        for (int32_t k = s->part[rank], j = 0; k >= 0 && k < n; k += s->count, ++j)
            out[k] = all[(size_t)rank * (size_t)most + (size_t)j];
    atn_free(s->ctx, mine);
    atn_free(s->ctx, all);
    return status;
}

/* ---- the first rank ---- */

/* Is it another workload than before? */
static bool is_new(atn_spread *s, const json_t *open) {
    char *text = open ? json_dumps(open, JSON_COMPACT) : NULL;
    json_free_t release;
    json_get_alloc_funcs(NULL, &release);
    atn_hash hash = atn_hash_add_text((atn_hash){0}, text);
    bool same = text && memcmp(&hash, &s->asked, sizeof hash) == 0;
    release(text);
    s->asked = hash;
    return !same;
}

static atn_status tell_workload(atn_spread *s, const atn_workload *workload, const atn_trial_setup *setup) {
    json_t *open = atn_wire_open(s->info, workload, setup);
    if (is_new(s, open)) return say(s, open);
    json_decref(open);
    return ATN_OK;
}

/* ---- several devices ---- */

typedef struct trying {
    atn_worker_pool *const *pools;
    const char *const *variants, *incumbent;
    double best_s;
    atn_trial *out;
} trying;

static atn_status try_pieces(void *user, int32_t device, int64_t from, int64_t to) {
    const trying *x = user;
    atn_status status = ATN_OK;
    for (int64_t k = from; k < to && status == ATN_OK; ++k) {
        status = atn_worker_pool_ready(x->pools[device]);
        if (status == ATN_OK)
            status = atn_worker_pool_try(x->pools[device], x->variants[k], x->incumbent, x->best_s, &x->out[k]);
    }
    return status;
}

/* Whichever device is free takes the next candidate. */
static atn_status try_devices(atn_spread *s, const atn_workload *workload, const atn_trial_setup *setup,
                              atn_worker_pool *pool, trying x, int32_t n) {
    atn_worker_pool *pools[ATN_MOST_DEVICES] = {pool};
    json_t *open = atn_wire_open(s->info, workload, setup);
    atn_status status = open ? ATN_OK : ATN_ERR_MEMORY;
    if (is_new(s, open)) drop_pools(s);
    json_decref(open);
    for (int32_t k = 1; k < s->count && status == ATN_OK; ++k) {
        if (!s->pools[k])
            status = atn_worker_pool_create(s->ctx, s->device[k], workload, setup, s->program, &s->pools[k]);
        pools[k] = s->pools[k];
    }
    x.pools = pools;
    return status == ATN_OK ? atn_pieces_run(s->ctx, "tune", n, s->count, 0, 1, try_pieces, &x) : status;
}

atn_status atn_spread_try(atn_spread *s, const atn_workload *workload, const atn_trial_setup *setup,
                          atn_worker_pool *pool, const char *const *variants, int32_t n, const char *incumbent,
                          double best_s, atn_trial *out) {
    if (!s->ranks) {
        trying x = {.variants = variants, .incumbent = incumbent, .best_s = best_s, .out = out};
        return try_devices(s, workload, setup, pool, x, n);
    }
    atn_status status = tell_workload(s, workload, setup);
    json_t *list = json_array(), *words = json_pack("{s:s, s:o, s:f}", "op", "try", "variants", list, "best_s", best_s);
    for (int32_t k = 0; k < n; ++k) json_array_append_new(list, json_string(variants[k]));
    if (incumbent && words) json_object_set_new(words, "incumbent", json_string(incumbent));
    if (status == ATN_OK)
        status = say(s, words);
    else
        json_decref(words);
    return status == ATN_OK ? try_share(s, pool, variants, n, incumbent, best_s, out) : status;
}

atn_status atn_spread_end(atn_spread *s) { return !s->ranks ? ATN_OK : say(s, json_pack("{s:s}", "op", "end")); }

/* ---- the others ---- */

/* Takes the reference: texts of the workload are in there. The device is this rank's own. */
static atn_status take_workload(atn_spread *s, json_t *words, const char *program) {
    atn_device_info device;
    drop_pool(s);
    s->open = words;
    atn_status status = atn_wire_read_open(s->ctx, words, &device, &s->workload, &s->setup);
    if (status == ATN_OK && atn_spread_takes_part(s))
        status = atn_worker_pool_create(s->ctx, s->info, &s->workload, &s->setup, program, &s->pool);
    return status;
}

static atn_status take_variants(const atn_spread *s, const json_t *words) {
    const char *variants[ATN_SPREAD_MOST];
    const json_t *list = json_object_get(words, "variants");
    int32_t n = 0;
    for (size_t k = 0; k < json_array_size(list) && n < ATN_SPREAD_MOST; ++k)
        if (!(variants[n++] = json_string_value(json_array_get(list, k))))
            return atn_fail(s->ctx, ATN_ERR_INPUT, "tune: the message of the first rank is invalid");
    return try_share(s, s->pool, variants, n, json_string_value(json_object_get(words, "incumbent")),
                     json_number_value(json_object_get(words, "best_s")), NULL);
}

atn_status atn_spread_serve(atn_spread *s, const char *program) {
    for (;;) {
        json_t *words;
        atn_status status = hear(s, &words);
        const char *op = json_string_value(json_object_get(words, "op"));
        bool over = !op || strcmp(op, "end") == 0, open = op && strcmp(op, "open") == 0;
        if (status == ATN_OK && open)
            status = take_workload(s, words, program);
        else if (status == ATN_OK && !over)
            status = take_variants(s, words);
        if (!open) json_decref(words);
        if (status != ATN_OK || over) return status;
    }
}
