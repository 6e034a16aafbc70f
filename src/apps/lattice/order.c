/* Ordered structures, B2 and L1_2: bcc and fcc whose sublattices have species of their own. Geometry does not tell them
 * from an alloy whose species lie anywhere; the species of an atom and of its neighbours do. With the orientation that
 * was found, each neighbour has a site; if the atom in the middle is on site h of the cell, the others are on sites of
 * known sublattices, so that an ordered piece has the likelihood
 *   L = 1/n sum_h P(s_0 | sub(h)) prod_k P(s_k | sub(h, k)),
 * and a piece without order prod P(s). The tables P and the share of ordered pieces are found by EM from some of the
 * atoms that have the geometry, all over the frame. */
#include "apps/lattice/order.h"

#include "apps/lattice/parts.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { LOOKED_AT = 4096, SAMPLE = 2000, ROUNDS = 30, MOST = LATTICE_ORDER_NEAR, SUBLATTICES = 2, RANDOM = 2 };
static const double FIRST = 0.85;  /* what a species has of its own sublattice to begin with */
static const double ORDERED = 0.4; /* least difference between sublattices in the share of a species: no order below */
static const double AMISS = 0.01;  /* of the chance that any species has anywhere: antisites, background */
static const double SHELLS = 1.65; /* constants as far as neighbours are looked at */
static const double OFF = 0.3;     /* of the nearest distance: farther from every site a neighbour is on none */

/* An atom and its neighbours: species as places in the table, sublattices of each if the atom is on site h. */
typedef struct piece {
    int32_t count;
    unsigned char species[MOST], on[LATTICE_ORDER_SITES][MOST];
} piece;

typedef struct search {
    const atn_lattice *l;
    const lattice_cells *cells;
    const int32_t *species; /* of sites */
    int32_t model;
} search;

static int32_t place_of(const lattice_order *o, int32_t species) {
    int32_t k = 0;
    while (k < o->species && o->name[k] != species) ++k;
    return k < o->species ? k : LATTICE_ORDER_SPECIES - 1; /* the last are all others */
}

/* False: too few neighbours have a site. */
static bool look(const search *s, size_t atom, const atn_lattice_atom *found, piece *out) {
    const lattice_order *o = &s->l->order[s->model];
    double constant = s->l->info.constant[s->model], m[9], q[4];
    int32_t own = s->cells->site[s->cells->rank[atom]], list[ATN_LATTICE_MOST_NEIGHBOURS];
    int32_t n = lattice_cells_sites(s->cells, atom, SHELLS * constant + s->l->info.noise, list, NULL);
    for (int k = 0; k < 4; ++k) q[k] = (double)found->quaternion[k];
    geom_quaternion_matrix(q, m);
    out->count = 1;
    out->species[0] = (unsigned char)place_of(o, s->species[own]);
    for (int32_t h = 0; h < o->sites; ++h) out->on[h][0] = (unsigned char)o->on[h];
    for (int32_t k = 0; k < n && out->count < MOST; ++k) {
        double x[3], y[3] = {0};
        for (int axis = 0; axis < 3; ++axis)
            x[axis] = (double)(s->cells->axis[axis][list[k]] - s->cells->axis[axis][own]) / constant;
        for (int i = 0; i < 9; ++i) y[i % 3] += m[i] * x[i / 3];
        if (!lattice_kind_sublattices(s->l->slot[s->model].kind, y, OFF, out->on, out->count)) continue;
        out->species[out->count++] = (unsigned char)place_of(o, s->species[list[k]]);
    }
    return out->count > 3;
}

/* Logarithm of L over that without order; share: of each h in L, or NULL. */
static double weigh(const lattice_order *o, const piece *p, double share[LATTICE_ORDER_SITES]) {
    double term[LATTICE_ORDER_SITES], most = -INFINITY, sum = 0;
    for (int32_t h = 0; h < o->sites; ++h) {
        term[h] = 0;
        for (int32_t k = 0; k < p->count; ++k)
            term[h] += log(o->chance[p->on[h][k]][p->species[k]] / o->chance[RANDOM][p->species[k]]);
        most = fmax(most, term[h]);
    }
    for (int32_t h = 0; h < o->sites; ++h) sum += exp(term[h] - most);
    for (int32_t h = 0; h < o->sites && share; ++h) share[h] = exp(term[h] - most) / sum;
    return most + log(sum / o->sites);
}

static double chance_of(const lattice_order *o, double ratio) {
    if (!(o->share > 0)) return 0;
    return 1 / (1 + (1 - o->share) / o->share * exp(-fmin(fmax(ratio, -600), 600)));
}

/* ---- the tables ---- */

static void smooth(lattice_order *o, const double count[SUBLATTICES + 1][LATTICE_ORDER_SPECIES],
                   const double all[LATTICE_ORDER_SPECIES]) {
    for (int t = 0; t <= SUBLATTICES; ++t) {
        double sum = 1e-9;
        for (int k = 0; k < LATTICE_ORDER_SPECIES; ++k) sum += count[t][k];
        for (int k = 0; k < LATTICE_ORDER_SPECIES; ++k)
            o->chance[t][k] = (1 - AMISS) * count[t][k] / sum + AMISS * all[k];
    }
}

/* One step; returns the logarithm of the likelihood before it, over that of no order. */
static double improve(lattice_order *o, const piece *list, size_t count, const double all[LATTICE_ORDER_SPECIES]) {
    double seen[SUBLATTICES + 1][LATTICE_ORDER_SPECIES] = {{0}}, sum = 0, ordered = 0;
    for (size_t i = 0; i < count; ++i) {
        double share[LATTICE_ORDER_SITES], ratio = weigh(o, &list[i], share), mine = chance_of(o, ratio);
        double with = log(o->share) + ratio, without = log(1 - o->share), most = fmax(with, without);
        sum += most + log(exp(with - most) + exp(without - most));
        ordered += mine;
        for (int32_t k = 0; k < list[i].count; ++k) {
            seen[RANDOM][list[i].species[k]] += 1 - mine;
            for (int32_t h = 0; h < o->sites; ++h) seen[list[i].on[h][k]][list[i].species[k]] += mine * share[h];
        }
    }
    for (int k = 0; k < LATTICE_ORDER_SPECIES; ++k) seen[RANDOM][k] += 0.05 * (double)count * all[k];
    smooth(o, (const double(*)[LATTICE_ORDER_SPECIES])seen, all);
    o->share = fmin(fmax(ordered / (double)count, 0.001), 0.999);
    return sum;
}

/* From `on_second` having the second sublattice, and the other one of the two the first. */
static double fit(lattice_order *o, const piece *list, size_t count, const double all[LATTICE_ORDER_SPECIES],
                  int on_second, int on_first) {
    double likelihood = -INFINITY, begin[SUBLATTICES + 1][LATTICE_ORDER_SPECIES];
    for (int t = 0; t <= SUBLATTICES; ++t) {
        for (int k = 0; k < LATTICE_ORDER_SPECIES; ++k) begin[t][k] = t < RANDOM ? (1 - FIRST) * all[k] : all[k];
        if (t < RANDOM) begin[t][t ? on_second : on_first] += FIRST;
    }
    o->share = 0.5;
    smooth(o, (const double(*)[LATTICE_ORDER_SPECIES])begin, all);
    for (int round = 0; round < ROUNDS; ++round) likelihood = improve(o, list, count, all);
    return likelihood;
}

static double most_apart(const lattice_order *o) {
    double most = 0;
    for (int k = 0; k < LATTICE_ORDER_SPECIES; ++k) most = fmax(most, fabs(o->chance[1][k] - o->chance[0][k]));
    return most;
}

/* The most frequent species of the sites; all others share the last place. */
static void name_species(lattice_order *o, const int32_t *species, size_t sites) {
    struct {
        int32_t name;
        size_t count;
    } seen[64];
    int32_t kinds = 0, k;
    for (size_t i = 0; i < sites; i += sites / 65536 + 1) {
        for (k = 0; k < kinds && seen[k].name != species[i]; ++k) {}
        if (k == 64) continue;
        if (k == kinds) seen[kinds++].name = species[i], seen[k].count = 0;
        ++seen[k].count;
    }
    for (o->species = 0; o->species < LATTICE_ORDER_SPECIES - 1 && o->species < kinds; ++o->species) {
        int32_t best = 0;
        for (k = 1; k < kinds; ++k)
            if (seen[k].count > seen[best].count) best = k;
        o->name[o->species] = seen[best].name;
        seen[best].count = 0;
    }
}

/* Atoms that were looked at, and what they are without species. */
typedef struct sampled {
    size_t count, which[LOOKED_AT];
    atn_lattice_atom found[LOOKED_AT];
} sampled;

static atn_status learn(const search *s, const sampled *from, lattice_order *o) {
    size_t count = 0, wanted = 0, seen = 0;
    double all[LATTICE_ORDER_SPECIES] = {0}, sum = 0;
    piece *list = atn_alloc(s->l->ctx, SAMPLE * sizeof *list);
    if (!list) return ATN_ERR_MEMORY;
    name_species(o, s->species, (size_t)s->cells->start[s->cells->cells]);
    for (size_t k = 0; k < from->count; ++k) wanted += from->found[k].structure == o->structure;
    for (size_t k = 0; k < from->count && count < SAMPLE; ++k)
        if (from->found[k].structure == o->structure && seen++ % (wanted / SAMPLE + 1) == 0)
            count += look(s, from->which[k], &from->found[k], &list[count]);
    for (size_t i = 0; i < count; ++i)
        for (int32_t k = 0; k < list[i].count; ++k) all[list[i].species[k]] += 1, sum += 1;
    for (int k = 0; k < LATTICE_ORDER_SPECIES; ++k) all[k] = (all[k] + 1e-3) / (sum + LATTICE_ORDER_SPECIES * 1e-3);
    o->share = 0;
    if (count >= 20 && o->species > 1) {
        lattice_order other = *o;
        double one = fit(o, list, count, all, 1, 0), two = fit(&other, list, count, all, 0, 1);
        if (two > one) *o = other;
        if (most_apart(o) < ORDERED || fmax(one, two) < 0) o->share = 0;
    }
    atn_free(s->l->ctx, list);
    return ATN_OK;
}

/* What parts of a loop over the atoms of a batch need. */
typedef struct judging {
    const atn_lattice *l;
    atn_lattice_atom *out;
} judging;

static void judge_part(void *user, int64_t from, int64_t to) {
    const judging *j = user;
    for (size_t i = (size_t)from; i < (size_t)to; ++i) {
        if (lattice_is_uneven(j->l)) lattice_look_closer(j->l, i, LATTICE_ALL);
        lattice_judge(j->l, i, &j->out[i], NULL);
    }
}

/* Own atoms, evenly among all, each by itself. */
static atn_status look_at_some(atn_lattice *l, const lattice_cells *cells, size_t own, sampled *out) {
    atn_status status = ATN_OK;
    size_t done = 0;
    out->count = own < LOOKED_AT ? own : LOOKED_AT;
    for (size_t k = 0; k < out->count && status == ATN_OK; ++k) {
        out->which[k] = k * own / out->count;
        lattice_add_atom(l, cells, out->which[k]);
        if (!lattice_batch_is_full(l) && k + 1 < out->count) continue;
        status = lattice_engine_run(l);
        if (status == ATN_OK)
            atn_parallel((int64_t)l->near.atoms, LATTICE_PART, judge_part, &(judging){l, out->found + done});
        done += l->near.atoms;
        l->near.atoms = 0;
    }
    l->near.atoms = 0;
    return status;
}

/* Of each site; to be freed. */
static int32_t *species_of(const atn_lattice *l, const lattice_cells *cells, const atn_atoms *atoms) {
    int32_t *species = atn_alloc(l->ctx, ((size_t)cells->start[cells->cells] + 1) * sizeof *species);
    for (size_t k = 0; k < cells->atoms && species; ++k) species[cells->site[k]] = atoms->species[cells->order[k]];
    return species;
}

atn_status lattice_order_learn(atn_lattice *l, const atn_atoms *atoms, double angstrom) {
    lattice_cells cells = {0};
    if (!lattice_is_ordered(l)) return ATN_OK;
    sampled *some = atn_alloc(l->ctx, sizeof *some);
    if (!some) return ATN_ERR_MEMORY;
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_WEIGHED);
    atn_status status = lattice_cells_make(l->ctx, atoms, angstrom, l->info.cutoff, &cells);
    if (status == ATN_OK) status = look_at_some(l, &cells, atoms->own, some);
    int32_t *species = status == ATN_OK ? species_of(l, &cells, atoms) : NULL;
    if (status == ATN_OK && !species) status = ATN_ERR_MEMORY;
    for (int32_t m = 0; m < l->settings.models && status == ATN_OK; ++m)
        if (l->order[m].sites) status = learn(&(search){l, &cells, species, m}, some, &l->order[m]);
    atn_free(l->ctx, species);
    atn_free(l->ctx, some);
    lattice_cells_free(&cells);
    lattice_spend_back(&l->spent, l->known, before);
    return status;
}

/* ---- the answer ---- */

typedef struct telling {
    const search *s;
    const lattice_order *o;
    atn_lattice_atom *atom;
} telling;

static void tell_part(void *user, int64_t from, int64_t to) {
    const telling *t = user;
    const lattice_order *o = t->o;
    for (int64_t k = from; k < to; ++k) {
        atn_lattice_atom *a = &t->atom[k];
        piece p;
        if (a->structure != o->structure) continue;
        double ordered = look(t->s, (size_t)k, a, &p) ? chance_of(o, weigh(o, &p, NULL)) : o->share;
        bool is = ordered > 0.5;
        a->confidence *= (float)(is ? ordered : 1 - ordered);
        if (is)
            a->structure = t->s->model + 1, a->phase = t->s->model + 1;
        else if (o->plain < 0)
            *a = (atn_lattice_atom){.confidence = a->confidence, .quaternion = {1, 0, 0, 0}};
        else if (a->phase == t->s->model + 1)
            a->phase = o->plain + 1;
    }
}

bool lattice_is_ordered(const atn_lattice *l) {
    for (int32_t m = 0; m < l->settings.models; ++m)
        if (l->order[m].sites) return true;
    return false;
}

atn_status lattice_order_tell(const atn_lattice *l, const lattice_cells *cells, const atn_atoms *atoms,
                              atn_lattice_atom *out) {
    int32_t *species = species_of(l, cells, atoms);
    if (!species) return ATN_ERR_MEMORY;
    for (int32_t m = 0; m < l->settings.models; ++m) {
        search s = {l, cells, species, m};
        if (l->order[m].sites)
            atn_parallel((int64_t)atoms->own, LATTICE_PART, tell_part, &(telling){&s, &l->order[m], out});
    }
    atn_free(l->ctx, species);
    return ATN_OK;
}

atn_status lattice_order_check(const atn_lattice *l, const atn_atoms *atoms) {
    if ((atoms && atoms->species) || !lattice_is_ordered(l)) return ATN_OK;
    int32_t m = 0;
    while (!l->order[m].sites) ++m;
    return atn_fail(l->ctx, ATN_ERR_INPUT,
                    "lattice: %s is %s with species on sublattices, and these atoms have no species: an XYZ file with "
                    "elements has them, or masses with ranges",
                    l->info.name[m], l->order[m].base);
}
