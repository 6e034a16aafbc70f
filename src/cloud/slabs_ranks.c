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

/* Edges of the groups, of all ranks. */
static atn_status join_edges(atn_slabs *s, atn_status status) {
    enum { NUMBERS = sizeof(slabs_edges) / sizeof(double) };
    double *edge = atn_alloc(s->ctx, (NUMBERS * s->groups + 1) * sizeof *edge);
    if (status == ATN_OK && !edge) status = ATN_ERR_MEMORY;
    for (size_t k = 0; k < 2 * s->groups && status == ATN_OK; ++k) {
        edge[2 * k] = s->group[k / 2].edges.low[k % 2];
        edge[2 * k + 1] = -s->group[k / 2].edges.high[k % 2];
    }
    status = atn_ranks_least(s->ranks, status, edge, NUMBERS * s->groups);
    for (size_t k = 0; k < 2 * s->groups && status == ATN_OK && edge; ++k) {
        s->group[k / 2].edges.low[k % 2] = edge[2 * k];
        s->group[k / 2].edges.high[k % 2] = -edge[2 * k + 1];
    }
    atn_free(s->ctx, edge);
    return status;
}

/* ---- the part of a rank ---- */

static uint64_t start_of(const atn_slabs *s, int32_t rank, size_t group) {
    return s->part.start[(size_t)rank * (s->groups + 1) + group];
}

/* Where the atoms of each group begin, on this rank and on all others. */
static atn_status join_starts(atn_slabs *s, const size_t *sizes) {
    atn_status status = ATN_OK;
    size_t ranks = (size_t)s->ranks->count, row = s->groups + 1;
    uint64_t *own = atn_zalloc(s->ctx, row * sizeof *own);
    s->part.start = atn_alloc(s->ctx, ranks * row * sizeof *s->part.start);
    s->part.place = atn_alloc(s->ctx, ranks * s->groups * sizeof *s->part.place);
    s->part.piece = atn_alloc(s->ctx, ranks * s->groups * sizeof *s->part.piece);
    if (!(own && s->part.start && s->part.place && s->part.piece)) status = ATN_ERR_MEMORY;
    for (size_t g = 0; g < s->groups && own; ++g) own[g + 1] = own[g] + sizes[g];
    status = atn_ranks_allgather(s->ranks, status, own, row * sizeof *own, s->part.start);
    atn_free(s->ctx, own);
    return status;
}

/* Before the atoms: how many slabs were taken, on the first rank. */
enum { TAKEN = 0, ATOMS = sizeof(int64_t) };

atn_status slabs_share(atn_slabs *s, const size_t *sizes, void **out) {
    atn_status status = join_starts(s, sizes);
    if (status != ATN_OK) return status;
    size_t own = start_of(s, s->ranks->rank, s->groups) * s->bytes;
    status = atn_ranks_share(s->ranks, ATN_OK, ATOMS + own, ATOMS, &s->part.atoms);
    *out = status == ATN_OK ? (char *)s->part.atoms.memory + ATOMS : NULL;
    return status;
}

atn_status slabs_publish(atn_slabs *s, atn_status status) {
    status = join_edges(s, status);
    spill_free(s->spill);
    s->spill = NULL;
    return status;
}

void slabs_part_free(atn_slabs *s) {
    atn_ranks_unshare(s->ranks, &s->part.results);
    atn_ranks_unshare(s->ranks, &s->part.atoms);
    atn_free(s->ctx, s->part.start);
    atn_free(s->ctx, s->part.got);
    atn_free(s->ctx, s->part.place);
    atn_free(s->ctx, s->part.piece);
    atn_free(s->ctx, s->part.at);
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

static size_t count_of(const atn_slabs *s, int32_t rank, size_t group) {
    return (size_t)(start_of(s, rank, group + 1) - start_of(s, rank, group));
}

/* What is to be read of a rank, of all groups within reach, to `at` in `got`: those of groups side by side at once. */
static void list_groups(atn_slabs *s, int32_t rank, const slabs_edges *around, size_t *at, size_t *pieces) {
    size_t *place = s->part.place + (size_t)rank * s->groups;
    for (size_t g = 0, end; g < s->groups; g = end) {
        size_t from = *at;
        for (end = g; end < s->groups && slabs_reaches(&s->group[end], around); ++end) {
            place[end] = *at;
            *at += count_of(s, rank, end);
        }
        if (*at > from)
            s->part.piece[(*pieces)++] = (atn_ranks_piece){rank, ATOMS + start_of(s, rank, g) * s->bytes,
                                                           (*at - from) * s->bytes, s->part.got + from * s->bytes};
        end += end == g;
    }
}

/* Atoms of a group, those of `around` where that is not NULL, in the order of the file. */
static void add_group(atn_slabs *s, size_t group, const slabs_edges *around, size_t *count) {
    for (int32_t r = 0; r < s->ranks->count; ++r) {
        const char *got = s->part.got + s->part.place[(size_t)r * s->groups + group] * s->bytes;
        *count += slabs_show_some(s, got, count_of(s, r, group), around, *count);
    }
}

/* From this rank on, so that not all ask the same one. */
atn_status slabs_pull(atn_slabs *s, const slabs_slab *b, size_t *own, size_t *count) {
    slabs_edges around = slabs_around(s, b);
    size_t at = 0, pieces = 0;
    if (!s->part.got) s->part.got = atn_alloc(s->ctx, (s->most + 1) * s->bytes);
    atn_status status = s->part.got ? ATN_OK : ATN_ERR_MEMORY;
    for (int32_t k = 0; k < s->ranks->count && status == ATN_OK; ++k)
        list_groups(s, (s->ranks->rank + k) % s->ranks->count, &around, &at, &pieces);
    if (status == ATN_OK) status = atn_ranks_move(s->ranks, &s->part.atoms, s->part.piece, pieces, false);
    if (status != ATN_OK) return status;
    for (size_t g = b->first; g <= b->last; ++g)
        if (s->group[g].count) add_group(s, g, NULL, count);
    *own = *count;
    for (size_t g = 0; g < s->groups; ++g)
        if ((g < b->first || g > b->last) && slabs_reaches(&s->group[g], &around)) add_group(s, g, &around, count);
    return ATN_OK;
}

/* ---- results ---- */

atn_status slabs_hold(atn_slabs *s, size_t bytes) {
    slabs_part *p = &s->part;
    size_t count = start_of(s, s->ranks->rank, s->groups), end;
    frame_part(s->frame, &p->first, &end);
    p->bytes = bytes;
    p->at = atn_alloc(s->ctx, (end - p->first + 1) * sizeof *p->at);
    const char *own = (const char *)p->atoms.memory + ATOMS;
    for (size_t k = 0; k < count && p->at; ++k) {
        const void *atom = own + k * s->bytes;
        uint64_t index =
            s->bytes == sizeof(slabs_ion) ? ((const slabs_ion *)atom)->index : ((const slabs_record *)atom)->index;
        p->at[index - p->first] = k;
    }
    return atn_ranks_share(s->ranks, p->at ? ATN_OK : ATN_ERR_MEMORY, count * bytes, 0, &p->results);
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
        s->part.piece[k] = (atn_ranks_piece){r, place * bytes, count * bytes, sorted + s->part.place[r] * bytes};
    }
    if (status == ATN_OK)
        status = atn_ranks_move(s->ranks, &s->part.results, s->part.piece, (size_t)s->ranks->count, true);
    atn_free(s->ctx, sorted);
    return status;
}

const void *slabs_held(const atn_slabs *s, uint64_t index) {
    return (const char *)s->part.results.memory + s->part.at[index - s->part.first] * s->part.bytes;
}
