/* Slabs of a frame that several ranks share. Each has read a part of the file, and keeps its atoms, sorted by groups,
 * in memory that all reach. The histogram and the bounds of groups are those of all, so that all cut the same slabs.
 * Whoever is free takes the next slab, gets its atoms from all ranks in their order, which is that of the file (a slab
 * is the same, atom by atom, as that of one process), and returns results to the ranks that have the atoms. */
#include "base/memory.h"
#include "cloud/slabs.h"

#include <math.h>
#include <string.h>

atn_status slabs_join_bins(atn_slabs *s, atn_status status, size_t *count) {
    double *sum = atn_alloc(s->ctx, SLABS_BINS * sizeof *sum);
    if (!sum) status = ATN_ERR_MEMORY;
    for (size_t k = 0; k < SLABS_BINS && status == ATN_OK; ++k) sum[k] = (double)count[k];
    status = atn_ranks_sum(s->ranks, status, sum, SLABS_BINS);
    for (size_t k = 0; k < SLABS_BINS && status == ATN_OK && sum; ++k) count[k] = (size_t)sum[k];
    atn_free(s->ctx, sum);
    return status;
}

/* Bounds of the groups, of all ranks. */
static atn_status join_edges(atn_slabs *s, atn_status status) {
    double *edge = atn_alloc(s->ctx, (2 * s->groups + 1) * sizeof *edge);
    if (status == ATN_OK && !edge) status = ATN_ERR_MEMORY;
    for (size_t g = 0; g < s->groups && status == ATN_OK; ++g) {
        edge[2 * g] = s->group[g].low;
        edge[2 * g + 1] = -s->group[g].high;
    }
    status = atn_ranks_least(s->ranks, status, edge, 2 * s->groups);
    for (size_t g = 0; g < s->groups && status == ATN_OK && edge; ++g) {
        s->group[g].low = edge[2 * g];
        s->group[g].high = -edge[2 * g + 1];
    }
    atn_free(s->ctx, edge);
    return status;
}

/* ---- the part of a rank ---- */

static uint64_t start_of(const atn_slabs *s, int32_t rank, size_t group) {
    return s->part.start[(size_t)rank * (s->groups + 1) + group];
}

/* Where the atoms of each group begin, on this rank and on all others. */
static atn_status join_starts(atn_slabs *s, atn_status status) {
    size_t ranks = (size_t)s->ranks->count, row = s->groups + 1;
    uint64_t *own = atn_zalloc(s->ctx, row * sizeof *own);
    s->part.start = atn_alloc(s->ctx, ranks * row * sizeof *s->part.start);
    s->part.place = atn_alloc(s->ctx, ranks * sizeof *s->part.place);
    if (status == ATN_OK && !(own && s->part.start && s->part.place)) status = ATN_ERR_MEMORY;
    for (size_t g = 0; g < s->groups && status == ATN_OK && own; ++g) own[g + 1] = own[g] + spill_count(s->spill, g);
    status = atn_ranks_allgather(s->ranks, status, own, row * sizeof *own, s->part.start);
    atn_free(s->ctx, own);
    return status;
}

/* Before the atoms: how many slabs were taken, on the first rank. */
enum { TAKEN = 0, ATOMS = sizeof(int64_t) };

atn_status slabs_publish(atn_slabs *s, atn_status status) {
    status = join_edges(s, status);
    if (status == ATN_OK) status = join_starts(s, status);
    if (status != ATN_OK) return status;
    size_t own = start_of(s, s->ranks->rank, s->groups) * s->bytes;
    status = atn_ranks_share(s->ranks, ATN_OK, ATOMS + own, ATOMS, &s->part.atoms);
    for (size_t g = 0; g < s->groups && status == ATN_OK; ++g)
        status = spill_get(s->spill, g, 0, spill_count(s->spill, g),
                           (char *)s->part.atoms.memory + ATOMS + start_of(s, s->ranks->rank, g) * s->bytes);
    spill_free(s->spill);
    s->spill = NULL;
    return atn_ranks_agree(s->ranks, status);
}

void slabs_part_free(atn_slabs *s) {
    atn_ranks_unshare(s->ranks, &s->part.results);
    atn_ranks_unshare(s->ranks, &s->part.atoms);
    atn_free(s->ctx, s->part.start);
    atn_free(s->ctx, s->part.got);
    atn_free(s->ctx, s->part.place);
}

/* ---- slabs ---- */

atn_status slabs_take(atn_slabs *s, size_t *slab, bool *there) {
    int64_t number = (int64_t)s->next;
    atn_status status = ATN_OK;
    if (s->ranks)
        status = atn_ranks_add(s->ranks, &s->part.atoms, 0, TAKEN, 1, &number);
    else
        ++s->next;
    *there = status == ATN_OK && (size_t)number < s->slabs;
    *slab = *there ? (size_t)number : 0;
    return status;
}

/* Atoms of groups first ... last of all ranks, into `got`; from this rank on, so that not all ask the same one. */
static atn_status get_groups(atn_slabs *s, size_t first, size_t last) {
    int32_t ranks = s->ranks->count;
    size_t at = 0;
    atn_status status = ATN_OK;
    if (!s->part.got) s->part.got = atn_alloc(s->ctx, (s->most + 1) * s->bytes);
    if (!s->part.got) return ATN_ERR_MEMORY;
    for (int32_t r = 0; r < ranks; ++r) {
        s->part.place[r] = at;
        at += start_of(s, r, last + 1) - start_of(s, r, first);
    }
    for (int32_t k = 0; k < ranks && status == ATN_OK; ++k) {
        int32_t r = (s->ranks->rank + k) % ranks;
        size_t from = start_of(s, r, first), count = start_of(s, r, last + 1) - from;
        status = atn_ranks_get(s->ranks, &s->part.atoms, r, ATOMS + from * s->bytes,
                               s->part.got + s->part.place[r] * s->bytes, count * s->bytes);
    }
    return status;
}

/* Atoms of a group that lie between low and high, in the order of the file; `first`: group that `got` begins with. */
static void add_group(atn_slabs *s, size_t group, size_t first, double low, double high, size_t *count) {
    for (int32_t r = 0; r < s->ranks->count; ++r) {
        size_t at = s->part.place[r] + start_of(s, r, group) - start_of(s, r, first);
        size_t end = s->part.place[r] + start_of(s, r, group + 1) - start_of(s, r, first);
        for (; at < end; ++at) {
            const slabs_record record = slabs_record_at(s, s->part.got, at);
            double x = record.position[s->axis];
            if (x >= low && x <= high) slabs_show(s, &record, (*count)++);
        }
    }
}

atn_status slabs_pull(atn_slabs *s, const slabs_slab *b, size_t *own, size_t *count) {
    double low, high;
    size_t first = b->first, last = b->last;
    slabs_edges(s, b, &low, &high);
    for (size_t g = 0; g < s->groups; ++g) {
        if (!slabs_reaches(s, &s->group[g], low, high)) continue;
        first = g < first ? g : first;
        last = g > last ? g : last;
    }
    atn_status status = get_groups(s, first, last);
    if (status != ATN_OK) return status;
    for (size_t g = b->first; g <= b->last; ++g) add_group(s, g, first, -INFINITY, INFINITY, count);
    *own = *count;
    low -= s->options.halo, high += s->options.halo;
    for (size_t g = first; g <= last; ++g)
        if (g < b->first || g > b->last) add_group(s, g, first, low, high, count);
    return ATN_OK;
}

/* ---- results ---- */

atn_status slabs_hold(atn_slabs *s, size_t bytes) {
    s->part.bytes = bytes;
    return atn_ranks_share(s->ranks, ATN_OK, start_of(s, s->ranks->rank, s->groups) * bytes, 0, &s->part.results);
}

/* A slab's results, group by group and there rank by rank, become those of each rank, which lie side by side there. */
atn_status slabs_give(atn_slabs *s, size_t slab, const void *results) {
    const slabs_slab *b = &s->slab[slab];
    size_t bytes = s->part.bytes, at = 0, from = 0;
    char *sorted = atn_alloc(s->ctx, (b->own + 1) * bytes);
    atn_status status = sorted ? ATN_OK : ATN_ERR_MEMORY;
    for (int32_t r = 0; r < s->ranks->count && status == ATN_OK; ++r) {
        size_t place = start_of(s, r, b->first), count = start_of(s, r, b->last + 1) - place;
        s->part.place[r] = at;
        at += count;
    }
    for (size_t g = b->first; g <= b->last && status == ATN_OK; ++g)
        for (int32_t r = 0; r < s->ranks->count; ++r) {
            size_t some = start_of(s, r, g + 1) - start_of(s, r, g);
            size_t to = s->part.place[r] + start_of(s, r, g) - start_of(s, r, b->first);
            memcpy(sorted + to * bytes, (const char *)results + from * bytes, some * bytes);
            from += some;
        }
    for (int32_t k = 0; k < s->ranks->count && status == ATN_OK; ++k) {
        int32_t r = (s->ranks->rank + k) % s->ranks->count;
        size_t place = start_of(s, r, b->first), count = start_of(s, r, b->last + 1) - place;
        status = atn_ranks_put(s->ranks, &s->part.results, r, place * bytes, sorted + s->part.place[r] * bytes,
                               count * bytes);
    }
    atn_free(s->ctx, sorted);
    return status;
}

const void *slabs_held(const atn_slabs *s, size_t k, uint64_t *index) {
    *index = slabs_record_at(s, (const char *)s->part.atoms.memory + ATOMS, k).index;
    return (const char *)s->part.results.memory + k * s->part.bytes;
}
