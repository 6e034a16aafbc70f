/* A frame of atoms. Sites are gone through twice: to count them by height, so that as many lie below the frame's top as
 * are needed, and to pick of these exactly as many as the frame has, each equally likely: with n of m left to be picked
 * the next is with probability n/m. Row k of the sites goes to row P(k) of the frame, P a permutation of all rows. */
#include "apps/lattice/atoms.h"

#include "base/memory.h"

#include <attune/frame.h>

#include <math.h>

enum { BINS = 1 << 18, OFTEN = 1 << 17 };

struct atn_sample_atoms {
    atn_ctx *ctx;
    atn_sample_atoms_settings settings;
    crystal crystal;
    atn_random random;
    atn_atom_column *rows;
    size_t *bin;          /* sites by height; owned, while they are counted */
    size_t top;           /* the first bin above the frame */
    size_t sites;         /* below the top */
    size_t wanted, taken; /* rows that are on sites */
    size_t seen;
    uint64_t key[4]; /* of the permutation */
    int half;        /* bits of half a row's number */
    atn_sample_progress *progress;
    void *user;
};

void atn_sample_atoms_free(atn_sample_atoms *a) {
    if (!a) return;
    atn_atom_column_free(a->rows);
    atn_free(a->ctx, a->bin);
    atn_free(a->ctx, a->crystal.grain);
    atn_free(a->ctx, a);
}

const crystal *atn_sample_atoms_crystal(const atn_sample_atoms *a) { return &a->crystal; }
size_t atn_sample_atoms_sites(const atn_sample_atoms *a) { return a->sites; }

/* ---- how many ---- */

static size_t bin_of(const atn_sample_atoms *a, double z) {
    double bin = z / a->crystal.side * BINS;
    return bin >= BINS - 1 ? BINS - 1 : (size_t)bin;
}

static atn_status count_site(void *user, const double site[3], size_t grain, double boundary) {
    atn_sample_atoms *a = user;
    (void)grain;
    (void)boundary;
    ++a->bin[bin_of(a, site[2])];
    if (++a->seen % OFTEN == 0 && a->progress) a->progress(a->user, 0.3 * fmin(1, (double)a->seen / (double)a->sites));
    return ATN_OK;
}

/* The top of the frame: the lowest with `needed` sites below it. False: the cube has fewer. */
static bool find_top(atn_sample_atoms *a, size_t needed) {
    a->sites = a->top = 0;
    while (a->top < BINS && a->sites < needed) a->sites += a->bin[a->top++];
    a->crystal.height = (double)(a->top + 1) / BINS * a->crystal.side; /* one more: the bins say it exactly */
    return a->sites >= needed;
}

static atn_status size_frame(atn_sample_atoms *a) {
    const atn_sample_atoms_settings *s = &a->settings;
    double needed = fmax((double)a->wanted, floor((double)a->wanted / s->efficiency + 0.5)), density = 0;
    if (needed > 1e15) return atn_fail(a->ctx, ATN_ERR_INPUT, "%g lattice sites are too many", needed);
    for (size_t k = 0; k < s->grains; ++k)
        density += crystal_density(a->crystal.grain[k].structure, a->crystal.grain[k].a) / (double)s->grains;
    a->crystal.side = 1.01 * cbrt((needed + 1) / density);
    a->bin = atn_alloc(a->ctx, BINS * sizeof *a->bin);
    if (!a->bin) return ATN_ERR_MEMORY;
    atn_status status;
    do {
        for (size_t k = 0; k < BINS; ++k) a->bin[k] = 0;
        a->sites = (size_t)needed;
        a->seen = 0;
        a->crystal.height = a->crystal.side;
        status = crystal_sites(&a->crystal, count_site, a);
        if (status != ATN_OK || find_top(a, (size_t)needed)) break;
        a->crystal.side *= 1.05; /* grains of the thinner lattice were larger than thought */
    } while (true);
    return status;
}

/* ---- the rows ---- */

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A Feistel network over the next power of four, walked on until it falls into the rows. */
static uint64_t permuted(const atn_sample_atoms *a, uint64_t row) {
    uint64_t mask = ((uint64_t)1 << a->half) - 1;
    do {
        uint64_t left = row >> a->half, right = row & mask;
        for (int k = 0; k < 4; ++k) {
            uint64_t next = left ^ (mix(right + a->key[k]) & mask);
            left = right;
            right = next;
        }
        row = left << a->half | right;
    } while (row >= a->settings.size);
    return row;
}

static double mass_of(atn_sample_atoms *a) {
    const atn_sample_atoms_settings *s = &a->settings;
    double draw = atn_random_unit(&a->random), off;
    size_t k = 0;
    while (k + 1 < s->n_species && draw >= s->species[k].share) draw -= s->species[k++].share;
    do off = ATOMS_PEAK * atn_random_normal(&a->random);
    while (fabs(off) > 0.95 * ATOMS_RANGE); /* what the range of the species has, once rounded */
    return s->species[k].mass + off;
}

/* The k-th atom, with noise. */
static atn_status put(atn_sample_atoms *a, size_t k, const double site[3], int32_t grain, double boundary) {
    const double sigma[3] = {a->settings.lateral, a->settings.lateral, a->settings.depth};
    atn_sample_atom row = {.grain = grain, .boundary = (float)boundary, .mass = (float)mass_of(a)};
    for (int d = 0; d < 3; ++d)
        row.position[d] = (float)((site[d] + (sigma[d] > 0 ? sigma[d] * atn_random_normal(&a->random) : 0)) / 10);
    uint64_t at = permuted(a, k);
    return atn_atom_column_put(a->rows, &at, 1, &row);
}

static atn_status take_site(void *user, const double site[3], size_t grain, double boundary) {
    atn_sample_atoms *a = user;
    if (bin_of(a, site[2]) >= a->top) return ATN_OK;
    size_t left = a->sites - a->seen++, wanted = a->wanted - a->taken;
    if (a->seen % OFTEN == 0 && a->progress) a->progress(a->user, 0.3 + 0.7 * (double)a->seen / (double)a->sites);
    if (wanted == 0 || atn_random_below(&a->random, left) >= wanted) return ATN_OK;
    return put(a, a->taken++, site, (int32_t)grain, boundary);
}

static atn_status fill(atn_sample_atoms *a) {
    size_t size = a->settings.size;
    for (int k = 0; k < 4; ++k) a->key[k] = atn_random_next(&a->random);
    while ((uint64_t)1 << 2 * a->half < size) ++a->half;
    atn_status status = atn_atom_column_create(a->ctx, size, sizeof(atn_sample_atom), 0, &a->rows);
    a->seen = 0;
    if (status == ATN_OK) status = crystal_sites(&a->crystal, take_site, a);
    for (size_t k = a->wanted; status == ATN_OK && k < size; ++k) {
        double p[3] = {a->crystal.side, a->crystal.side, a->crystal.height};
        for (int d = 0; d < 3; ++d) p[d] *= atn_random_unit(&a->random);
        status = put(a, k, p, -1, 0);
    }
    return status;
}

static atn_status make(atn_sample_atoms *a) {
    const atn_sample_atoms_settings *s = &a->settings;
    a->wanted = s->size - (size_t)((double)s->size * s->background);
    a->crystal = (crystal){.ctx = a->ctx, .grains = s->grains};
    a->crystal.grain = atn_zalloc(a->ctx, s->grains * sizeof *a->crystal.grain);
    if (!a->crystal.grain) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < s->grains; ++k) {
        a->crystal.grain[k].structure = s->lattice[k % s->lattices];
        a->crystal.grain[k].a = s->constant[k % s->lattices];
    }
    atn_random_seed(&a->random, s->seed);
    crystal_scatter(&a->crystal, &a->random);
    atn_status status = size_frame(a);
    return status == ATN_OK ? fill(a) : status;
}

atn_status atn_sample_atoms_make(atn_ctx *ctx, const atn_sample_atoms_settings *settings, atn_sample_progress *progress,
                                 void *user, atn_sample_atoms **out) {
    *out = atn_zalloc(ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    **out = (atn_sample_atoms){.ctx = ctx, .settings = *settings, .progress = progress, .user = user};
    atn_status status = make(*out);
    if (status == ATN_OK) return ATN_OK;
    atn_sample_atoms_free(*out);
    *out = NULL;
    return status;
}

atn_status atn_sample_atoms_next(atn_sample_atoms *a, size_t count, atn_sample_atom *rows, size_t *got) {
    return atn_atom_column_get(a->rows, count, rows, got);
}
