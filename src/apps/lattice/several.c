/* Atoms in memory on several devices: one learns, the others receive what it learned, and whichever is free takes the
 * next slab, with the atoms around it. */
#include "apps/lattice/learned.h"
#include "apps/lattice/order.h"
#include "apps/lattice/parts.h"
#include "base/memory.h"
#include "base/pieces.h"
#include "base/sized.h"
#include "device/backend.h"

#include <math.h>
#include <string.h>

enum { BINS = 1 << 14, FOR_A_DEVICE = 4, LEAST = 4096 }; /* slabs of a device; atoms of a slab */

/* A slab: own atoms whose bins are its own; they lie between low and high. */
typedef struct slab {
    size_t own, around; /* around: at most so many */
    double low, high;
} slab;

typedef struct sharing {
    const atn_ctx *ctx;
    atn_lattice *const *lattices;
    const lattice_learned *learned;
    bool ready[ATN_MOST_DEVICES]; /* it knows what was learned */
    const atn_atoms *atoms;
    double angstrom, halo;
    const double *along; /* positions along the axis that slabs lie on */
    double low, per_bin;
    uint16_t of_bin[BINS]; /* slab of each bin */
    slab slab[FOR_A_DEVICE * ATN_MOST_DEVICES];
    size_t slabs;
    atn_lattice_atom *out;
} sharing;

static size_t bin_of(const sharing *s, double x) {
    double bin = (x - s->low) * s->per_bin;
    return bin < BINS - 1 ? (size_t)fmax(bin, 0) : BINS - 1;
}

/* The longest axis of the own atoms. */
static void choose_axis(sharing *s) {
    double longest = -1;
    for (int axis = 0; axis < 3; ++axis) {
        double low, high;
        lattice_span(s->atoms->position[axis], s->atoms->own, &low, &high);
        if (high - low <= longest) continue;
        longest = high - low;
        s->along = s->atoms->position[axis];
        s->low = low;
    }
    s->per_bin = longest > 0 && isfinite(BINS / longest) ? BINS / longest : 0;
}

/* About as many atoms in each of `wanted` slabs. */
static atn_status cut(sharing *s, size_t wanted) {
    size_t *count = atn_zalloc(s->ctx, BINS * sizeof *count), before = 0;
    if (!count) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < s->atoms->own; ++k) ++count[bin_of(s, s->along[k])];
    s->slab[0] = (slab){.low = INFINITY, .high = -INFINITY};
    s->slabs = 1;
    for (size_t bin = 0; bin < BINS; ++bin) {
        slab *last = &s->slab[s->slabs - 1];
        double share = (double)s->slabs * (double)s->atoms->own / (double)wanted;
        if (last->own && s->slabs < wanted && (double)(before + count[bin] / 2) > share)
            s->slab[s->slabs++] = (slab){.low = INFINITY, .high = -INFINITY};
        s->slab[s->slabs - 1].own += count[bin];
        s->of_bin[bin] = (uint16_t)(s->slabs - 1);
        before += count[bin];
    }
    atn_free(s->ctx, count);
    for (size_t k = 0; k < s->atoms->own; ++k) {
        slab *b = &s->slab[s->of_bin[bin_of(s, s->along[k])]];
        b->low = fmin(b->low, s->along[k]);
        b->high = fmax(b->high, s->along[k]);
    }
    for (size_t k = 0; k < s->atoms->count; ++k)
        for (size_t b = 0; b < s->slabs; ++b)
            s->slab[b].around += s->along[k] >= s->slab[b].low - s->halo && s->along[k] <= s->slab[b].high + s->halo;
    return ATN_OK;
}

/* A slab's atoms, its own first; which: their places among all. One block holds them. */
typedef struct taken {
    atn_atoms atoms;
    double *block;
    size_t *which;
    int32_t *species;
    uint64_t *index;
    float *mass;
} taken;

static void add_atom(const sharing *s, size_t k, taken *t) {
    size_t at = t->atoms.count++;
    for (int axis = 0; axis < 3; ++axis) ((double *)t->atoms.position[axis])[at] = s->atoms->position[axis][k];
    if (t->species) t->species[at] = s->atoms->species[k];
    if (t->mass) t->mass[at] = s->atoms->mass[k];
    t->index[at] = s->atoms->index ? s->atoms->index[k] : k;
    t->which[at] = k;
}

static atn_status take_slab(const sharing *s, size_t number, taken *t) {
    const slab *b = &s->slab[number];
    size_t room = b->around + 1;
    *t = (taken){.block = atn_alloc(s->ctx, 3 * room * sizeof *t->block)};
    t->which = atn_alloc(s->ctx, room * sizeof *t->which);
    t->index = atn_alloc(s->ctx, room * sizeof *t->index);
    if (s->atoms->species) t->species = atn_alloc(s->ctx, room * sizeof *t->species);
    if (s->atoms->mass) t->mass = atn_alloc(s->ctx, room * sizeof *t->mass);
    if (!t->block || !t->which || !t->index || (s->atoms->species && !t->species) || (s->atoms->mass && !t->mass))
        return ATN_ERR_MEMORY;
    for (size_t axis = 0; axis < 3; ++axis) t->atoms.position[axis] = t->block + axis * room;
    t->atoms.species = t->species, t->atoms.mass = t->mass, t->atoms.index = t->index;
    for (int around = 0; around < 2; ++around) {
        for (size_t k = 0; k < s->atoms->count; ++k) {
            double x = s->along[k];
            if (!(x >= b->low - s->halo && x <= b->high + s->halo)) continue;
            bool own = k < s->atoms->own && s->of_bin[bin_of(s, x)] == number;
            if (own == !around) add_atom(s, k, t);
        }
        if (!around) t->atoms.own = t->atoms.count;
    }
    return ATN_OK;
}

static atn_status work(void *user, int32_t device, int64_t from, int64_t to) {
    sharing *s = user;
    atn_status status = s->ready[device] ? ATN_OK : lattice_learned_set(s->lattices[device], s->learned);
    s->ready[device] = status == ATN_OK;
    for (int64_t k = from; k < to && status == ATN_OK; ++k) {
        taken t;
        status = take_slab(s, (size_t)k, &t);
        atn_lattice_atom *found = status == ATN_OK ? atn_alloc(s->ctx, (t.atoms.own + 1) * sizeof *found) : NULL;
        if (status == ATN_OK && !found) status = ATN_ERR_MEMORY;
        if (status == ATN_OK) status = lattice_match_usable(s->lattices[device], &t.atoms, s->angstrom, found);
        for (size_t n = 0; status == ATN_OK && n < t.atoms.own; ++n) s->out[t.which[n]] = found[n];
        void *const owned[] = {found, t.block, t.which, t.index, t.species, t.mass};
        for (size_t n = 0; n < sizeof owned / sizeof *owned; ++n) atn_free(s->ctx, owned[n]);
    }
    return status;
}

/* By the first that is not lost, which is *who. */
static atn_status learn(atn_lattice *const *lattices, int32_t n, const atn_atoms *atoms, double angstrom,
                        int32_t *who) {
    atn_status status = ATN_OK;
    for (*who = 0; *who < n; ++*who) {
        atn_lattice *l = lattices[*who];
        status = l->known ? lattice_atoms_check(l, atoms) : atn_lattice_learn(l, atoms, angstrom);
        if (status != ATN_ERR_LOST || *who == n - 1) break;
        atn_log(l->ctx, ATN_LOG_WARNING, "lattice: %s; the others go on", atn_ctx_message(l->ctx));
    }
    return status;
}

static atn_status share(atn_lattice *const *lattices, int32_t n, int32_t who, const atn_atoms *atoms, double angstrom,
                        atn_lattice_atom *out) {
    const atn_ctx *ctx = lattices[0]->ctx;
    atn_device *device[ATN_MOST_DEVICES];
    sharing *s = atn_zalloc(ctx, sizeof *s);
    lattice_learned *learned = atn_alloc(ctx, sizeof *learned);
    atn_status status = s && learned ? lattice_learned_get(lattices[who], learned) : ATN_ERR_MEMORY;
    for (int32_t k = 0; k < n; ++k) device[k] = lattices[k]->device;
    uint64_t reserve = atn_devices_reserve(device, n);
    if (status == ATN_OK) {
        *s = (sharing){.ctx = ctx, .lattices = lattices, .learned = learned, .atoms = atoms, .angstrom = angstrom};
        s->halo = 1.001 * atn_lattice_reach(lattices[who]) / angstrom;
        s->out = out;
        s->ready[who] = true;
        choose_axis(s);
        size_t wanted = FOR_A_DEVICE * (size_t)n, most = atoms->own / LEAST + 1;
        status = cut(s, wanted < most ? wanted : most);
    }
    if (status == ATN_OK) status = atn_pieces_run(ctx, "lattice", (int64_t)s->slabs, n, reserve, 1, work, s);
    atn_free(ctx, learned);
    atn_free(ctx, s);
    return status;
}

atn_status atn_lattice_match_several(atn_lattice *const *lattices, int32_t n_lattices, const atn_atoms *given,
                                     double angstrom, atn_lattice_atom *out) {
    if (n_lattices < 1 || n_lattices > ATN_MOST_DEVICES)
        return atn_fail(n_lattices < 1 ? NULL : lattices[0]->ctx, ATN_ERR_INPUT,
                        "lattice: %d matchers; 1 to %d are supported", (int)n_lattices, ATN_MOST_DEVICES);
    atn_atoms atoms;
    int32_t who;
    atn_status status = ATN_TAKE(lattices[0]->ctx, atn_atoms, given, &atoms);
    if (status != ATN_OK || n_lattices == 1)
        return status == ATN_OK ? atn_lattice_match(lattices[0], &atoms, angstrom, out) : status;
    status = learn(lattices, n_lattices, &atoms, angstrom, &who);
    if (status == ATN_OK && atoms.own) status = share(lattices, n_lattices, who, &atoms, angstrom, out);
    return status;
}
