/* A frame in slabs along an axis. A histogram of fine bins says where atoms lie; bins become groups of about as many
 * atoms, groups are the buckets that atoms are sorted into, and a slab is groups one after the other (slabs_cut.c). Its
 * halo comes from the groups within reach, atom by atom: |x - slab| <= halo. */
#include "cloud/slabs.h"
#include "base/attempt.h"
#include "base/extreme.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/sized.h"
#include "cloud/frame.h"
#include "cloud/spill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = SLABS_BINS, ATOMS = 1 << 20, MOST = 1 << 26, MEMORY = 1 << 28, SOME = 1024 };
enum {
    STRETCH = 1 << 11,
    SORTERS = 16,
    PART = 256
}; /* atoms for which a core is worth waking; stretches of a piece;
    * records of a core on their way out of a bucket */

static atn_status count_bins(atn_slabs *s, size_t *count) {
    atn_atoms piece = {0};
    atn_status status = atn_frame_rewind(s->frame);
    if (status == ATN_OK) status = atn_frame_next(s->frame, &piece);
    for (; status == ATN_OK && piece.count; status = atn_frame_next(s->frame, &piece))
        for (size_t k = 0; k < piece.count; ++k) ++count[slabs_bin(s, &piece, k)];
    return status;
}

/* ---- sorting ---- */

size_t frame_atom_bytes(const atn_frame *frame) {
    return frame_is_of_ions(frame) ? sizeof(slabs_ion) : sizeof(slabs_record);
}

static void put_record(const atn_slabs *s, const atn_atoms *piece, size_t k, void *to) {
    float mass = piece->mass ? piece->mass[k] : 0;
    if (s->bytes == sizeof(slabs_ion)) {
        slabs_ion *ion = to;
        for (int d = 0; d < 3; ++d) ion->position[d] = (float)piece->position[d][k];
        ion->mass = mass;
        ion->index = (uint32_t)piece->index[k];
        return;
    }
    *(slabs_record *)to =
        (slabs_record){.position = {piece->position[0][k], piece->position[1][k], piece->position[2][k]},
                       .mass = mass,
                       .species = piece->species ? piece->species[k] : 0,
                       .index = piece->index[k]};
}

/* On all cores: each has a stretch of the piece, of which it counts the atoms of each group first. */
typedef struct sorting {
    atn_slabs *s;
    const atn_atoms *piece;
    int64_t stretches;
    struct own {
        size_t count;
        slabs_edges edges;
        char *to; /* where the next one goes */
    } * own;      /* of each stretch and group */
    char *sorted; /* all of the piece, on their way to a file; NULL: they go to memory at once */
} sorting;

static size_t begin_of(const sorting *x, int64_t stretch) {
    return (size_t)((int64_t)x->piece->count * stretch / x->stretches);
}

static void count_stretch(void *user, int64_t from, int64_t to) {
    const sorting *x = user;
    const atn_slabs *s = x->s;
    int axes = s->across > 1 ? 2 : 1;
    for (int64_t n = from; n < to; ++n) {
        struct own *own = x->own + (size_t)n * s->groups;
        for (size_t g = 0; g < s->groups; ++g) own[g] = (struct own){.edges = slabs_nowhere(s)};
        for (size_t k = begin_of(x, n); k < begin_of(x, n + 1); ++k) {
            struct own *g = &own[s->group_of[slabs_bin(s, x->piece, k)]];
            ++g->count;
            for (int d = 0; d < axes; ++d) {
                double at = x->piece->position[s->axis[d]][k];
                g->edges.low[d] = atn_lesser(g->edges.low[d], at);
                g->edges.high[d] = atn_larger(g->edges.high[d], at);
            }
        }
    }
}

static void put_stretch(void *user, int64_t from, int64_t to) {
    const sorting *x = user;
    const atn_slabs *s = x->s;
    for (int64_t n = from; n < to; ++n)
        for (size_t k = begin_of(x, n); k < begin_of(x, n + 1); ++k) {
            size_t group = s->group_of[slabs_bin(s, x->piece, k)];
            char **place = &x->own[(size_t)n * s->groups + group].to;
            put_record(s, x->piece, k, *place);
            *place += s->bytes;
        }
}

static size_t count_of(const sorting *x, size_t g) {
    size_t count = 0;
    for (int64_t n = 0; n < x->stretches; ++n) count += x->own[(size_t)n * x->s->groups + g].count;
    return count;
}

static atn_status sort_piece(sorting *x) {
    atn_slabs *s = x->s;
    atn_status status = ATN_OK;
    char *next = x->sorted;
    x->stretches = (int64_t)(x->piece->count / STRETCH < SORTERS ? x->piece->count / STRETCH : SORTERS);
    if (x->stretches < 1) x->stretches = 1;
    atn_parallel(x->stretches, 1, count_stretch, x);
    for (size_t g = 0; g < s->groups && status == ATN_OK; ++g) {
        void *to = next;
        if (!x->sorted) status = spill_put_some(s->spill, g, count_of(x, g), &to);
        for (int64_t n = 0; n < x->stretches && status == ATN_OK; ++n) {
            struct own *own = &x->own[(size_t)n * s->groups + g];
            own->to = to;
            to = own->to + own->count * s->bytes;
            slabs_widen(&s->group[g].edges, &own->edges);
        }
        next = to;
    }
    if (status == ATN_OK) atn_parallel(x->stretches, 1, put_stretch, x);
    next = x->sorted;
    for (size_t g = 0; g < s->groups && x->sorted && status == ATN_OK; ++g) {
        size_t count = count_of(x, g);
        status = spill_put_all(s->spill, g, count, next);
        next += count * s->bytes;
    }
    return status;
}

static atn_status sort_atoms(atn_slabs *s) {
    atn_atoms piece = {0};
    sorting x = {.s = s, .piece = &piece};
    bool file = spill_is_file(s->spill);
    x.own = atn_alloc(s->ctx, SORTERS * s->groups * sizeof *x.own);
    x.sorted = file ? atn_alloc(s->ctx, ATN_FRAME_PIECE * s->bytes) : NULL;
    atn_status status = x.own && (x.sorted || !file) ? atn_frame_rewind(s->frame) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = atn_frame_next(s->frame, &piece);
    while (status == ATN_OK && piece.count) {
        status = sort_piece(&x);
        if (status == ATN_OK) status = atn_frame_next(s->frame, &piece);
    }
    atn_free(s->ctx, x.own);
    atn_free(s->ctx, x.sorted);
    return status == ATN_OK ? spill_end(s->spill) : status;
}

/* At most as many atoms as the groups within reach have. */
static void find_most(atn_slabs *s) {
    for (size_t k = 0; k <= s->slabs && s->slabs; ++k) {
        slabs_edges around = slabs_around(s, k < s->slabs ? &s->slab[k] : &s->sample);
        size_t count = 0;
        for (size_t g = 0; g < s->groups; ++g) count += slabs_reaches(&s->group[g], &around) ? s->group[g].count : 0;
        s->most = count > s->most ? count : s->most;
    }
}

static void free_arrays(atn_slabs *s) {
    void **const owned[] = {(void **)&s->position[0], (void **)&s->position[1], (void **)&s->position[2],
                            (void **)&s->mass,        (void **)&s->species,     (void **)&s->index,
                            (void **)&s->raw};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k) {
        atn_free(s->ctx, *owned[k]);
        *owned[k] = NULL;
    }
}

void atn_slabs_close(atn_slabs *s) {
    if (!s) return;
    free_arrays(s);
    atn_free(s->ctx, s->group_of);
    atn_free(s->ctx, s->group);
    atn_free(s->ctx, s->slab);
    atn_free(s->ctx, s->mine);
    spill_free(s->spill);
    if (s->ranks) slabs_part_free(s);
    atn_free(s->ctx, s);
}

static atn_status make_arrays(atn_slabs *s) {
    const atn_ctx *ctx = s->ctx;
    bool good = true;
    for (int d = 0; d < 3; ++d) good = (s->position[d] = atn_alloc(ctx, s->most * sizeof(double))) && good;
    s->index = atn_alloc(ctx, s->most * sizeof *s->index);
    s->raw = atn_alloc(ctx, SOME * s->bytes);
    if (s->info.masses) good = (s->mass = atn_alloc(ctx, s->most * sizeof *s->mass)) && good;
    if (s->info.species) good = (s->species = atn_alloc(ctx, s->most * sizeof *s->species)) && good;
    return good && s->index && s->raw ? ATN_OK : ATN_ERR_MEMORY;
}

/* Atoms are sorted: room for the largest slab. */
static atn_status make_ready(atn_slabs *s) {
    s->most = 0;
    find_most(s);
    if (s->most > s->options.most)
        return atn_fail(s->ctx, ATN_ERR_INPUT,
                        "%zu atoms in a slab along %c with a halo of %g; at most %zu are supported; do all coincide?",
                        s->most, "xyz"[s->axis[0]], s -> options.halo, s->options.most);
    free_arrays(s);
    atn_status status = make_arrays(s);
    return status == ATN_OK ? atn_frame_rewind(s->frame) : status;
}

/* What was counted is not needed any more once atoms are sorted. own: atoms of each bin that are sorted here. */
static atn_status plan(atn_slabs *s, const size_t *count, const size_t *own) {
    size_t sizes[SPILL_BUCKETS] = {0}, step = s->ranks ? (size_t)s->ranks->count : 1;
    atn_status status = slabs_cut(s, count);
    if (status != ATN_OK) return status;
    s->mine = atn_alloc(s->ctx, (s->slabs + 1) * sizeof *s->mine);
    if (!s->mine) return ATN_ERR_MEMORY;
    for (size_t k = s->ranks ? (size_t)s->ranks->rank : 0; k < s->slabs; k += step) s->mine[s->own++] = k;
    for (size_t bin = 0; bin < BINS; ++bin) sizes[s->group_of[bin]] += own[bin];
    void *shared = NULL;
    if (s->ranks) status = slabs_share(s, sizes, &shared);
    if (status != ATN_OK) return status;
    return spill_make(s->ctx, s->bytes, s->groups, sizes, s->options.memory, shared, &s->spill);
}

/* Of several ranks, each sorts its own atoms. */
static atn_status count_all(atn_slabs *s, size_t *count, size_t *own) {
    atn_status status = count_bins(s, own);
    memcpy(count, own, BINS * sizeof *own);
    return s->ranks ? slabs_join_bins(s, status, count) : status;
}

static atn_status open_one(atn_slabs *s) {
    s->group_of = atn_alloc(s->ctx, BINS * sizeof *s->group_of);
    s->group = atn_alloc(s->ctx, SPILL_BUCKETS * sizeof *s->group);
    s->slab = atn_alloc(s->ctx, SPILL_BUCKETS * sizeof *s->slab);
    size_t *count = atn_zalloc(s->ctx, 2 * BINS * sizeof *count);
    atn_status status = s->group_of && s->group && s->slab && count ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = count_all(s, count, count + BINS);
    if (status == ATN_OK) status = plan(s, count, count + BINS);
    atn_free(s->ctx, count);
    if (status == ATN_OK) status = sort_atoms(s);
    if (s->ranks) status = slabs_publish(s, status);
    if (status == ATN_OK) status = make_ready(s);
    return s->ranks ? atn_ranks_agree(s->ranks, status) : status;
}

void slabs_narrow(atn_slabs *s, double halo) {
    if (halo < s->options.halo) s->options.halo = halo;
    s->next = 0;
}

atn_status slabs_open(atn_frame *frame, const atn_slabs_settings *given, size_t wanted, atn_slabs **out) {
    atn_slabs_settings o;
    const atn_ctx *ctx = frame_ctx(frame);
    *out = NULL;
    atn_status status = ATN_TAKE(ctx, atn_slabs_settings, given, &o);
    if (status != ATN_OK) return status;
    if (!(o.halo >= 0 && o.halo < INFINITY) || o.axis < 0 || o.axis > 3)
        return atn_fail(ctx, ATN_ERR_INPUT, "slabs have a halo from 0 and an axis from 1 to 3, not %g and %d", o.halo,
                        (int)o.axis);
    o.atoms = o.atoms ? o.atoms : ATOMS;
    o.most = o.most ? o.most : MOST;
    o.memory = o.memory ? o.memory : MEMORY;
    *out = atn_zalloc(ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    **out = (atn_slabs){.ctx = ctx, .frame = frame, .info = atn_frame_info_of(frame), .options = o};
    (*out)->ranks = frame_ranks(frame);
    (*out)->bytes = frame_atom_bytes(frame);
    (*out)->wanted = slabs_wanted(*out, wanted);
    slabs_choose_axes(*out);
    status = open_one(*out);
    if (status == ATN_OK) return ATN_OK;
    atn_slabs_close(*out);
    *out = NULL;
    return status;
}

atn_status atn_slabs_open(atn_frame *frame, const atn_slabs_settings *given, atn_slabs **out) {
    return slabs_open(frame, given, 0, out);
}

atn_status atn_slabs_get_info(const atn_slabs *s, atn_slabs_info *out) {
    atn_slabs_info info = {
        .slabs = s->slabs, .most = s->most, .axis = s->axis[0] + 1, .temporary = s->spill && spill_is_file(s->spill)};
    return ATN_GIVE(s->ctx, atn_slabs_info, &info, out);
}

void atn_slabs_rewind(atn_slabs *s) { s->next = 0; }

size_t slabs_mine(const atn_slabs *s, const size_t **list) {
    *list = s->mine;
    return s->own;
}

/* Those of a group that are near enough. */
static atn_status add_group(atn_slabs *s, size_t g, const slabs_edges *around, size_t *count) {
    size_t held = spill_count(s->spill, g);
    for (size_t from = 0; from < held; from += SOME) {
        size_t some = held - from < SOME ? held - from : SOME;
        atn_status status = spill_get(s->spill, g, from, some, s->raw);
        if (status != ATN_OK) return status;
        *count += slabs_show_some(s, s->raw, some, around, *count);
    }
    return ATN_OK;
}

/* All atoms of a group, which are the slab's own, on all cores. */
typedef struct owning {
    atn_slabs *s;
    size_t group, at; /* at: of the first of them, in the slab */
} owning;

static atn_status own_part(void *user, int64_t from, int64_t to) {
    const owning *x = user;
    slabs_record raw[PART]; /* or as many ions */
    for (size_t k = (size_t)from; k < (size_t)to; k += PART) {
        size_t some = (size_t)to - k < PART ? (size_t)to - k : PART;
        atn_status status = spill_get(x->s->spill, x->group, k, some, raw);
        if (status != ATN_OK) return status;
        (void)slabs_show_some(x->s, raw, some, NULL, x->at + k);
    }
    return ATN_OK;
}

static atn_status add_own(atn_slabs *s, size_t g, size_t *count) {
    owning x = {.s = s, .group = g, .at = *count};
    size_t held = spill_count(s->spill, g);
    *count += held;
    return atn_attempt(s->ctx, (int64_t)held, STRETCH, own_part, &x);
}

static atn_status take_sorted(atn_slabs *s, const slabs_slab *b, size_t *own, size_t *count) {
    slabs_edges around = slabs_around(s, b);
    atn_status status = ATN_OK;
    for (size_t g = b->first; status == ATN_OK && g <= b->last; ++g) status = add_own(s, g, count);
    *own = *count;
    for (size_t g = 0; status == ATN_OK && g < s->groups; ++g)
        if ((g < b->first || g > b->last) && slabs_reaches(&s->group[g], &around))
            status = add_group(s, g, &around, count);
    return status;
}

static atn_status read_one(atn_slabs *s, const slabs_slab *slab, atn_atoms *out) {
    size_t own = 0, count = 0;
    atn_status status = atn_check_cancel(s->ctx);
    if (status == ATN_OK) status = (s->ranks ? slabs_pull : take_sorted)(s, slab, &own, &count);
    if (status != ATN_OK) return status;
    *out = (atn_atoms){.count = count,
                       .own = own,
                       .position = {s->position[0], s->position[1], s->position[2]},
                       .mass = s->mass,
                       .species = s->species,
                       .index = s->index};
    return ATN_OK;
}

atn_status slabs_read(atn_slabs *s, size_t slab, atn_atoms *out) { return read_one(s, &s->slab[slab], out); }

static int by_index(const void *a, const void *b) {
    uint64_t x = ((const slabs_record *)a)->index, y = ((const slabs_record *)b)->index;
    return (x > y) - (x < y);
}

/* The atoms that are shown, in the order of the file. */
static atn_status sort_shown(atn_slabs *s, size_t count) {
    slabs_record *all = atn_alloc(s->ctx, (count + 1) * sizeof *all);
    if (!all) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < count; ++k) {
        all[k] = (slabs_record){.index = s->index[k]};
        for (int d = 0; d < 3; ++d) all[k].position[d] = s->position[d][k];
        if (s->mass) all[k].mass = s->mass[k];
        if (s->species) all[k].species = s->species[k];
    }
    qsort(all, count, sizeof *all, by_index);
    for (size_t k = 0; k < count; ++k) slabs_show(s, &all[k], k);
    atn_free(s->ctx, all);
    return ATN_OK;
}

atn_status slabs_read_sample(atn_slabs *s, atn_atoms *out) {
    atn_status status = read_one(s, &s->sample, out);
    bool whole = s->groups > 1 && out->own == s->info.atoms && out->own <= SLABS_SAMPLE;
    return status == ATN_OK && whole ? sort_shown(s, out->own) : status;
}

atn_status atn_slabs_next(atn_slabs *s, atn_atoms *out) {
    atn_atoms atoms = {0};
    atn_status status = ATN_CHECK_OUT(s->ctx, atn_atoms, out);
    if (status != ATN_OK) return status;
    if (s->next < s->own) status = slabs_read(s, s->mine[s->next++], &atoms);
    ATN_GIVE(s->ctx, atn_atoms, &atoms, out);
    return status;
}
