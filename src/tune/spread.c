/* Trials on ranks. What the first rank says is a line of JSON that all get, as workers do: a workload, some variants of
 * it, the end. Trials come back in the order of variants: variant k is tried by rank k modulo those that take part. */
#include "tune/spread.h"

#include "base/memory.h"
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
};

typedef struct device_name {
    char backend[32], name[160];
    int64_t cores;
} device_name;

atn_status atn_spread_open(atn_ranks *ranks, atn_device *device, atn_spread **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_spread *s = *out = atn_zalloc(ctx, sizeof *s);
    device_name own, *all = atn_alloc(ctx, (size_t)ranks->count * sizeof *all);
    if (s) *s = (atn_spread){.ctx = ctx, .ranks = ranks, .info = atn_device_get_info(device)};
    if (s) s->part = atn_alloc(ctx, (size_t)ranks->count * sizeof *s->part);
    atn_status status = s && s->part && all ? ATN_OK : ATN_ERR_MEMORY;
    memset(&own, 0, sizeof own);
    if (status == ATN_OK) {
        snprintf(own.backend, sizeof own.backend, "%s", s->info->backend);
        snprintf(own.name, sizeof own.name, "%s", s->info->name);
        own.cores = s->info->cores;
    }
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

static void drop_pool(atn_spread *s) {
    atn_worker_pool_free(s->pool);
    atn_wire_workload_free(s->ctx, &s->workload);
    json_decref(s->open);
    s->pool = NULL;
    s->open = NULL;
}

void atn_spread_free(atn_spread *s) {
    if (!s) return;
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

static atn_status tell_workload(atn_spread *s, const atn_workload *workload, const atn_trial_setup *setup) {
    json_t *open = atn_wire_open(s->info, workload, setup);
    char *text = open ? json_dumps(open, JSON_COMPACT) : NULL;
    json_free_t release;
    json_get_alloc_funcs(NULL, &release);
    atn_hash hash = atn_hash_add_text((atn_hash){0}, text);
    bool same = text && memcmp(&hash, &s->asked, sizeof hash) == 0;
    release(text);
    s->asked = hash;
    if (!same) return say(s, open);
    json_decref(open);
    return ATN_OK;
}

atn_status atn_spread_try(atn_spread *s, const atn_workload *workload, const atn_trial_setup *setup,
                          atn_worker_pool *pool, const char *const *variants, int32_t n, const char *incumbent,
                          double best_s, atn_trial *out) {
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

atn_status atn_spread_end(atn_spread *s) { return say(s, json_pack("{s:s}", "op", "end")); }

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
