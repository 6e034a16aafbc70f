/* Reading a part of a file, and sampling all parts. Points are numbered in the order of the file, without those that
 * were dropped: whether one is in the sample depends on its number alone. */
#include "cloud/part.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/sized.h"
#include "cloud/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* What ranks tell each other of their parts. */
typedef struct part_head {
    uint64_t points, nan, inf, runs;
    atn_hash extras;
    uint64_t faces;
} part_head;

static atn_hash hash_of(const cloud_extras *extras) {
    atn_hash hash = {0};
    for (size_t k = 0; k < extras->count; ++k) {
        const int64_t kind[2] = {extras->field[k].type, (int64_t)extras->field[k].values};
        hash = atn_hash_add(atn_hash_add_text(hash, extras->field[k].name), kind, sizeof kind);
    }
    return hash;
}

static void leave_extras_out(atn_cloud *cloud) {
    for (size_t k = 0; k < cloud->extra.count; ++k) cloud_leave_out(cloud, cloud->extra.field[k].name);
    cloud_extras_free(cloud->ctx, &cloud->extra);
}

static atn_status read_own(atn_ctx *ctx, const char *path, const atn_cloud_settings *settings, cloud_part *part) {
    source s;
    atn_status status = source_open(ctx, path, &s);
    s.tells = !part->ranks->rank;
    if (status == ATN_OK)
        status = cloud_read_part(&s, settings, cloud_kept(settings) & ~(unsigned)KEEP_FACES, (size_t)part->ranks->rank,
                                 (size_t)part->ranks->count, &part->cloud);
    source_close(&s);
    return status;
}

static atn_status join_heads(cloud_part *part, atn_status status) {
    const atn_cloud *cloud = part->cloud;
    size_t count = (size_t)part->ranks->count;
    part_head own = {0}, *all = atn_alloc(part->ranks->ctx, count * sizeof *all);
    bool several = cloud && cloud->part.of > 1 && !cloud->part.straight;
    part->runs = several ? cloud->part.runs : 1;
    if (cloud)
        own = (part_head){cloud->count, cloud->nan, cloud->inf, part->runs, hash_of(&cloud->extra), cloud->part.faces};
    if (status == ATN_OK && !all) status = ATN_ERR_MEMORY;
    status = atn_ranks_allgather(part->ranks, status, &own, sizeof own, all);
    bool same = true;
    for (size_t k = 0; k < count && status == ATN_OK && all; ++k) {
        part->total += all[k].points;
        part->nan += all[k].nan;
        part->inf += all[k].inf;
        part->faces |= all[k].faces != 0;
        part->most = all[k].runs > part->most ? all[k].runs : part->most;
        same = same && memcmp(&all[k].extras, &all[0].extras, sizeof all->extras) == 0;
    }
    if (status == ATN_OK && cloud && !same) leave_extras_out(part->cloud);
    if (status == ATN_OK && cloud && part->faces) cloud_leave_out(part->cloud, "faces");
    atn_free(part->ranks->ctx, all);
    return status;
}

static size_t points_of(const cloud_part *part, size_t run) {
    return run < part->runs ? part->start[run + 1] - part->start[run] : 0;
}

/* Numbers of points, from how many each run of each rank has: run k of a rank comes before run k of the next one. */
static void number_runs(cloud_part *part, const uint64_t *all) {
    size_t before = 0, count = (size_t)part->ranks->count;
    for (size_t run = 0; run < part->most; ++run)
        for (size_t k = 0; k < count; ++k) {
            if (k == (size_t)part->ranks->rank && run < part->runs) part->first[run] = before;
            before += all[k * part->most + run];
        }
}

static atn_status join_runs(cloud_part *part) {
    const atn_ctx *ctx = part->ranks->ctx;
    size_t most = part->most;
    part->start = atn_zalloc(ctx, (part->runs + 1) * sizeof *part->start);
    part->first = atn_zalloc(ctx, (part->runs + 1) * sizeof *part->first);
    uint64_t *own = atn_zalloc(ctx, (most + 1) * sizeof *own);
    uint64_t *all = atn_alloc(ctx, (most * (size_t)part->ranks->count + 1) * sizeof *all);
    atn_status status = part->start && part->first && own && all ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t run = 1; run < part->runs && status == ATN_OK; ++run) part->start[run] = part->cloud->part.start[run];
    if (status == ATN_OK) part->start[part->runs] = part->cloud->count;
    for (size_t run = 0; run < part->runs && status == ATN_OK; ++run) own[run] = points_of(part, run);
    status = atn_ranks_allgather(part->ranks, status, own, most * sizeof *own, all);
    if (status == ATN_OK && part->first && all) number_runs(part, all);
    atn_free(ctx, own);
    atn_free(ctx, all);
    return status;
}

atn_status cloud_part_read(atn_ctx *ctx, const char *path, const atn_cloud_settings *given, atn_ranks *ranks,
                           cloud_part *out) {
    atn_cloud_settings settings;
    *out = (cloud_part){.ranks = ranks};
    atn_status status = ATN_TAKE(ctx, atn_cloud_settings, given, &settings);
    if (status == ATN_OK) status = read_own(ctx, path, &settings, out);
    status = join_heads(out, status);
    if (status == ATN_OK) status = join_runs(out);
    if (status != ATN_OK) cloud_part_free(out);
    return status;
}

atn_status cloud_part_check_weights(const cloud_part *part) {
    const float *weight = atn_cloud_weights(part->cloud);
    for (size_t run = 0; run < part->runs && weight; ++run)
        for (size_t k = part->start[run]; k < part->start[run + 1]; ++k)
            if (!(weight[k] >= 0) || !isfinite(weight[k]))
                return atn_fail(part->ranks->ctx, ATN_ERR_INPUT,
                                "point %zu has the weight %g; weights are finite and not negative",
                                part->first[run] + (k - part->start[run]), (double)weight[k]);
    return ATN_OK;
}

void cloud_part_free(cloud_part *part) {
    if (!part->ranks) return;
    atn_cloud_free(part->cloud);
    atn_free(part->ranks->ctx, part->start);
    atn_free(part->ranks->ctx, part->first);
    *part = (cloud_part){0};
}

/* ---- a sample ---- */

typedef struct sampled {
    uint64_t number;
    double position[3];
    double weight;
} sampled;

/* Every bit depends on every bit (splitmix64). */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static bool is_chosen(uint64_t number, double share) { return (double)(mix(number) >> 11) * 0x1p-53 < share; }

/* to NULL: they are counted. */
static size_t choose(const cloud_part *part, double share, sampled *to) {
    const atn_cloud *cloud = part->cloud;
    const float *weight = atn_cloud_weights(cloud);
    size_t n = 0;
    for (size_t run = 0; run < part->runs; ++run)
        for (size_t k = part->start[run]; k < part->start[run + 1]; ++k) {
            uint64_t number = part->first[run] + (k - part->start[run]);
            if (!is_chosen(number, share)) continue;
            if (to) to[n] = (sampled){.number = number, .weight = weight ? (double)weight[k] : 1};
            for (int d = 0; d < 3 && to; ++d) to[n].position[d] = atn_cloud_positions(cloud, d)[k];
            ++n;
        }
    return n;
}

static int by_number(const void *left, const void *right) {
    uint64_t a = ((const sampled *)left)->number, b = ((const sampled *)right)->number;
    return (a > b) - (a < b);
}

static atn_status cloud_from(const cloud_part *part, sampled *list, size_t count, atn_cloud **out) {
    unsigned weights = part->cloud->roles & ROLE_BIT(ROLE_WEIGHT);
    atn_status status = cloud_make(part->ranks->ctx, NULL, out);
    if (status != ATN_OK) return status;
    qsort(list, count, sizeof *list, by_number);
    status = cloud_begin(*out, NULL, ROLE_POSITION | weights, count);
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        double value[ROLE_COUNT] = {0};
        memcpy(value, list[k].position, sizeof list[k].position);
        value[ROLE_WEIGHT] = list[k].weight;
        status = cloud_add(*out, NULL, value);
    }
    if (status == ATN_OK) return ATN_OK;
    atn_cloud_free(*out);
    *out = NULL;
    return status;
}

atn_status cloud_part_sample(const cloud_part *part, size_t most, atn_cloud **out) {
    const atn_ctx *ctx = part->ranks->ctx;
    double share = part->total > most ? (double)most / (double)part->total : 2;
    size_t count = choose(part, share, NULL), bytes;
    sampled *own = atn_alloc(ctx, (count + 1) * sizeof *own);
    void *all;
    *out = NULL;
    if (own) (void)choose(part, share, own);
    atn_status status =
        atn_ranks_gather(part->ranks, own ? ATN_OK : ATN_ERR_MEMORY, own, count * sizeof *own, &all, &bytes);
    atn_free(ctx, own);
    if (status == ATN_OK) status = cloud_from(part, all, bytes / sizeof *own, out);
    atn_free(ctx, all);
    return atn_ranks_agree(part->ranks, status);
}
