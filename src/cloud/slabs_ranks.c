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

/* Slabs of a rank in `stretches` of adjacent slabs, that many for each rank: they have fewer atoms around them than
 * slabs that are dealt one by one. */
enum { STRETCHES = 3 };

static size_t stretches_of(const atn_slabs *s) {
    size_t each = s->slabs / (size_t)s->ranks->count;
    return (size_t)s->ranks->count * (each < 1 ? 1 : each < STRETCHES ? each : STRETCHES);
}

/* The first slab of a stretch: those whose middle lies in its share of the atoms are its own. */
static size_t first_slab(const atn_slabs *s, size_t stretch) {
    size_t before = 0, k = 0, all = stretches_of(s);
    double from = (double)stretch / (double)all * (double)s->info.atoms;
    for (; k < s->slabs && (double)before + (double)s->slab[k].own / 2 < from; ++k) before += s->slab[k].own;
    return stretch == all ? s->slabs : k;
}

/* The slabs of this rank; returns how many. */
static size_t slabs_of(const atn_slabs *s, size_t *list) {
    size_t count = 0, rank = (size_t)s->ranks->rank;
    if (!s->shared) { /* the first rank has the one in the middle */
        if (rank == 0 && s->slabs > 0) list[count++] = s->slabs / 2;
        return count;
    }
    for (size_t n = rank; n < stretches_of(s); n += (size_t)s->ranks->count)
        for (size_t k = first_slab(s, n); k < first_slab(s, n + 1); ++k) list[count++] = k;
    return count;
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

/* Slabs of a rank that lie side by side, with the halo. */
typedef struct stretch {
    double low, high;
    int32_t rank;
} stretch;

typedef struct sending {
    stretch *to; /* ascending, both low and high */
    size_t stretches;
    size_t *count; /* atoms for each rank */
    atn_ranks_parcel *out;
} sending;

/* Stretches that an atom lies in: from *first on; returns how many. */
static size_t stretches_at(const sending *x, double at, size_t *first) {
    size_t low = 0, high = x->stretches;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x->to[middle].high < at)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (high < x->stretches && x->to[high].low <= at) ++high;
    return high - low;
}

/* Is the rank of the k-th one that of one before? It has the atom once. */
static bool is_again(const stretch *list, size_t k) {
    for (size_t n = 0; n < k; ++n)
        if (list[n].rank == list[k].rank) return true;
    return false;
}

static atn_status count_atom(atn_slabs *s, const atn_atoms *piece, size_t k, void *user) {
    const sending *x = user;
    size_t first, count = stretches_at(x, piece->position[s->axis][k], &first);
    for (size_t n = 0; n < count; ++n) x->count[x->to[first + n].rank] += !is_again(x->to + first, n);
    return ATN_OK;
}

static atn_status pack_atom(atn_slabs *s, const atn_atoms *piece, size_t k, void *user) {
    const sending *x = user;
    size_t first, count = stretches_at(x, piece->position[s->axis][k], &first);
    slabs_record r = {.mass = piece->mass ? piece->mass[k] : 0,
                      .species = piece->species ? piece->species[k] : 0,
                      .index = piece->index[k]};
    for (int d = 0; d < 3; ++d) r.position[d] = piece->position[d][k];
    for (size_t n = 0; n < count; ++n) {
        atn_ranks_parcel *to = &x->out[x->to[first + n].rank];
        if (is_again(x->to + first, n)) continue;
        memcpy((char *)to->data + to->bytes, &r, sizeof r);
        to->bytes += sizeof r;
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

/* Slabs from `begin` to `end` - 1 are a rank's. */
static void add_stretch(const atn_slabs *s, int32_t rank, size_t begin, size_t end, sending *x) {
    stretch one = {.low = INFINITY, .high = -INFINITY, .rank = rank};
    for (size_t k = begin; k < end; ++k) {
        double low, high;
        slabs_edges(s, &s->slab[k], &low, &high);
        one.low = fmin(one.low, low - s->options.halo);
        one.high = fmax(one.high, high + s->options.halo);
    }
    if (one.low <= one.high) x->to[x->stretches++] = one;
}

static void add_stretches(const atn_slabs *s, sending *x) {
    size_t middle = s->slabs / 2;
    if (!s->shared && s->slabs > 0) add_stretch(s, 0, middle, middle + 1, x);
    for (size_t n = 0; s->shared && n < stretches_of(s); ++n)
        add_stretch(s, (int32_t)(n % (size_t)s->ranks->count), first_slab(s, n), first_slab(s, n + 1), x);
}

atn_status slabs_spread(atn_slabs *s) {
    size_t ranks = (size_t)s->ranks->count;
    s->own = slabs_of(s, s->mine);
    s->next = 0;
    spill_free(s->spill);
    s->spill = NULL;
    sending x = {.to = atn_alloc(s->ctx, (stretches_of(s) + 1) * sizeof *x.to)};
    x.count = atn_zalloc(s->ctx, ranks * sizeof *x.count);
    x.out = atn_zalloc(s->ctx, ranks * sizeof *x.out);
    atn_ranks_parcel *in = atn_zalloc(s->ctx, ranks * sizeof *in);
    bool good = x.to && x.count && x.out && in;
    if (good) add_stretches(s, &x);
    atn_status status = good ? send_atoms(s, &x, in) : atn_ranks_agree(s->ranks, ATN_ERR_MEMORY);
    if (in) atn_ranks_free_parcels(s->ranks, in);
    void *const owned[] = {x.to, x.count, x.out, in};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k) atn_free(s->ctx, owned[k]);
    return status;
}
