/* Slabs of a frame that several ranks share. Each has read a part of the file; the histogram is that of all, so that
 * all cut the same slabs, and atoms go to the ranks whose slabs or halos they lie in. They arrive in the order of
 * ranks, which is that of the file: a slab is the same, atom by atom, as that of one process. */
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

/* The first slab of a rank: those whose middle lies in its share of the atoms are its own. */
static size_t first_slab(const atn_slabs *s, int32_t rank) {
    size_t before = 0, k = 0;
    double from = (double)rank / s->ranks->count * (double)s->info.atoms;
    for (; k < s->slabs && (double)before + (double)s->slab[k].own / 2 < from; ++k) before += s->slab[k].own;
    return rank == s->ranks->count ? s->slabs : k;
}

static void slabs_of(const atn_slabs *s, int32_t rank, size_t *begin, size_t *end) {
    *begin = s->shared ? first_slab(s, rank) : s->slabs / 2;
    *end = s->shared ? first_slab(s, rank + 1) : *begin + (rank == 0 && s->slabs > 0);
}

/* Where atoms of a rank's slabs begin and end; false: it has none. */
static bool rank_edges(const atn_slabs *s, int32_t rank, double *low, double *high) {
    size_t begin, end;
    slabs_of(s, rank, &begin, &end);
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t k = begin; k < end; ++k) {
        double from, to;
        slabs_edges(s, &s->slab[k], &from, &to);
        *low = fmin(*low, from);
        *high = fmax(*high, to);
    }
    return *low <= *high;
}

/* Calls `each` for the atoms of this rank's part of the file. */
typedef atn_status atom_do(atn_slabs *s, const atn_atoms *piece, size_t k, void *user);
static atn_status for_each(atn_slabs *s, atom_do *each, void *user) {
    atn_atoms piece = {0};
    atn_status status = atn_frame_rewind(s->frame);
    if (status == ATN_OK) status = atn_frame_next(s->frame, &piece);
    for (; status == ATN_OK && piece.count; status = atn_frame_next(s->frame, &piece))
        for (size_t k = 0; k < piece.count && status == ATN_OK; ++k) status = each(s, &piece, k, user);
    return status;
}

static atn_status widen(atn_slabs *s, const atn_atoms *piece, size_t k, void *user) {
    double x = piece->position[s->axis][k];
    slabs_group *g = &s->group[s->group_of[slabs_bin(s, x)]];
    (void)user;
    g->low = fmin(g->low, x);
    g->high = fmax(g->high, x);
    return ATN_OK;
}

/* Bounds of the groups, of all ranks. */
atn_status slabs_join_edges(atn_slabs *s) {
    double *edge = atn_alloc(s->ctx, 2 * s->groups * sizeof *edge);
    atn_status status = edge ? for_each(s, widen, NULL) : ATN_ERR_MEMORY;
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

/* ---- to whom atoms go ---- */

typedef struct sending {
    double *low, *high; /* of each rank, with the halo */
    size_t *count;      /* atoms for each */
    atn_ranks_parcel *out;
} sending;

static atn_status count_atom(atn_slabs *s, const atn_atoms *piece, size_t k, void *user) {
    const sending *x = user;
    double at = piece->position[s->axis][k];
    for (int32_t rank = 0; rank < s->ranks->count; ++rank) x->count[rank] += at >= x->low[rank] && at <= x->high[rank];
    return ATN_OK;
}

static atn_status pack_atom(atn_slabs *s, const atn_atoms *piece, size_t k, void *user) {
    const sending *x = user;
    slabs_record r = {.mass = piece->mass ? piece->mass[k] : 0,
                      .species = piece->species ? piece->species[k] : 0,
                      .index = piece->index[k]};
    for (int d = 0; d < 3; ++d) r.position[d] = piece->position[d][k];
    for (int32_t rank = 0; rank < s->ranks->count; ++rank) {
        double at = r.position[s->axis];
        if (!(at >= x->low[rank] && at <= x->high[rank])) continue;
        memcpy((char *)x->out[rank].data + x->out[rank].bytes, &r, sizeof r);
        x->out[rank].bytes += sizeof r;
    }
    return ATN_OK;
}

/* What came, by groups; in the order of ranks. */
static atn_status keep(atn_slabs *s, const atn_ranks_parcel *in) {
    size_t sizes[SPILL_BUCKETS] = {0};
    for (int32_t rank = 0; rank < s->ranks->count; ++rank)
        for (size_t k = 0; k < in[rank].bytes / sizeof(slabs_record); ++k)
            ++sizes[s->group_of[slabs_bin(s, ((const slabs_record *)in[rank].data)[k].position[s->axis])]];
    atn_status status = spill_make(s->ctx, sizeof(slabs_record), s->groups, sizes, s->options.memory, &s->spill);
    for (int32_t rank = 0; rank < s->ranks->count && status == ATN_OK; ++rank)
        for (size_t k = 0; k < in[rank].bytes / sizeof(slabs_record) && status == ATN_OK; ++k) {
            const slabs_record *from = (const slabs_record *)in[rank].data + k;
            void *to;
            status = spill_put(s->spill, s->group_of[slabs_bin(s, from->position[s->axis])], &to);
            if (status == ATN_OK) memcpy(to, from, sizeof *from);
        }
    return status == ATN_OK ? spill_end(s->spill) : status;
}

static atn_status send_atoms(atn_slabs *s, sending *x, atn_ranks_parcel *in) {
    atn_status status = for_each(s, count_atom, x);
    for (int32_t rank = 0; rank < s->ranks->count && status == ATN_OK; ++rank) {
        x->out[rank].data = atn_alloc(s->ctx, x->count[rank] * sizeof(slabs_record));
        if (!x->out[rank].data) status = ATN_ERR_MEMORY;
    }
    if (status == ATN_OK) status = for_each(s, pack_atom, x);
    status = atn_ranks_exchange(s->ranks, status, x->out, in);
    atn_ranks_free_parcels(s->ranks, x->out);
    if (status == ATN_OK) status = keep(s, in);
    return atn_ranks_agree(s->ranks, status);
}

atn_status slabs_spread(atn_slabs *s) {
    size_t ranks = (size_t)s->ranks->count;
    slabs_of(s, s->ranks->rank, &s->begin, &s->end);
    s->next = s->begin;
    spill_free(s->spill);
    s->spill = NULL;
    sending x = {.low = atn_alloc(s->ctx, ranks * sizeof *x.low), .high = atn_alloc(s->ctx, ranks * sizeof *x.high)};
    x.count = atn_zalloc(s->ctx, ranks * sizeof *x.count);
    x.out = atn_zalloc(s->ctx, ranks * sizeof *x.out);
    atn_ranks_parcel *in = atn_zalloc(s->ctx, ranks * sizeof *in);
    bool good = x.low && x.high && x.count && x.out && in;
    for (int32_t rank = 0; rank < s->ranks->count && good; ++rank) {
        bool any = rank_edges(s, rank, &x.low[rank], &x.high[rank]);
        x.low[rank] = any ? x.low[rank] - s->options.halo : INFINITY;
        x.high[rank] = any ? x.high[rank] + s->options.halo : -INFINITY;
    }
    atn_status status = good ? send_atoms(s, &x, in) : atn_ranks_agree(s->ranks, ATN_ERR_MEMORY);
    if (in) atn_ranks_free_parcels(s->ranks, in);
    void *const owned[] = {x.low, x.high, x.count, x.out, in};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k) atn_free(s->ctx, owned[k]);
    return status;
}
