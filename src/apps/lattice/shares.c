/* What a sample of a frame tells once it is matched, by EM: the shares of the classes, the share of atoms on no site,
 * the constants; and whether the models are there at all. They are if the sample is likelier with them than with the
 * null model, by GAIN nats an atom: a lattice that is there has tens of them, a gas or a random packing less than one.
 * And a model is if its sites are taken as it says: nats a neighbour, of which wrong lattices have more than MISFIT. */
#include "apps/lattice/parts.h"
#include "apps/lattice/shared.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 60, LEAST = 8 };
static const double MOST_OTHER = 0.3;
static const double ENOUGH = 0.015; /* the cut-off draws constants in by about one per cent: pairs know better */
static const double GAIN = 1.5, MISFIT = 0.1;
static const double POWER = 0.5; /* of likelihoods, for shares */
static const double CLEAR = 5;   /* nats of the sample by which it must be likelier with a model than without */

/* Sums over the atoms of a sample that take a model and are sure of it. */
typedef struct taken {
    double stretch[2];
    double square, weight; /* of distances from sites; neighbours that have one */
    size_t atoms;
    double seen[2 * LATTICE_RADIAL_BINS]; /* sites that their neighbours take */
} taken;

typedef struct learned {
    taken model[ATN_LATTICE_MOST_MODELS];
    double *term;       /* sample x classes: logarithms of likelihoods */
    double *gain;       /* of each atom */
    double *alone;      /* share of the neighbours on no site, of each that is sure */
    size_t count, sure; /* of these */
    double likelihood;
} learned;

/* ---- shares ---- */

/* The share of `other` that makes the sample most likely, and by how much an atom that is likelier than without models.
 */
static double other_share(const learned *x, double *gain) {
    double share = 0.5;
    for (int round = 0; round < 4 * ROUNDS; ++round) {
        double sum = 0;
        *gain = 0;
        for (size_t k = 0; k < x->count; ++k) {
            double models = (1 - share) * exp(fmin(x->gain[k], 700)), all = share + models;
            sum += share / all;
            *gain += log(all) / (double)x->count;
        }
        share = fmin(fmax(sum / (double)x->count, 1e-9), 1 - 1e-9);
    }
    return share;
}

/* Shares with which the sample is as likely as can be, likelihoods taken to a power, by EM; those that start at 0 stay
 * there. What cannot be told is not for that `other`, which has `most` at most. Returns the logarithm of the
 * likelihood.
 */
static double share_out(const learned *x, size_t classes, double most, double share[]) {
    double likelihood = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        double sum[ATN_LATTICE_MOST_MODELS + 1] = {0}, there = 0;
        likelihood = 0;
        for (size_t k = 0; k < x->count; ++k) {
            const double *term = x->term + k * classes;
            double high = -INFINITY, part[ATN_LATTICE_MOST_MODELS + 1], all = 0;
            for (size_t c = 0; c < classes; ++c) high = fmax(high, term[c]);
            for (size_t c = 0; c < classes; ++c) all += part[c] = share[c] * exp(POWER * (term[c] - high));
            for (size_t c = 0; c < classes; ++c) sum[c] += part[c] / fmax(all, 1e-300);
            likelihood += POWER * high + log(fmax(all, 1e-300));
        }
        for (size_t c = 0; c < classes; ++c) share[c] = sum[c] / (double)x->count, there += c > 0 && sum[c] > 0;
        double over = share[0] - most;
        if (over <= 0 || there == 0) continue;
        share[0] = most;
        for (size_t c = 1; c < classes; ++c) share[c] += sum[c] > 0 ? over / there : 0;
    }
    return likelihood;
}

/* A model that makes the sample hardly likelier is not there: at large noise some atoms of one structure are more like
 * another. */
static void take_shares(atn_lattice *l, const learned *x) {
    size_t classes = (size_t)l->info.models + 1;
    double share[ATN_LATTICE_MOST_MODELS + 1], most = fmax(MOST_OTHER, other_share(x, &l->info.gain));
    for (size_t c = 0; c < classes; ++c) share[c] = l->info.share[c];
    double with = share_out(x, classes, most, share);
    for (size_t c = 1; c < classes; ++c) {
        double without[ATN_LATTICE_MOST_MODELS + 1];
        if (share[c] * (double)x->count < 0.5) continue;
        memcpy(without, share, sizeof without);
        without[c] = 0;
        double here = share_out(x, classes, most, without);
        if (here < with - CLEAR) continue;
        with = here;
        memcpy(share, without, sizeof share);
    }
    for (size_t c = 0; c < classes; ++c)
        l->info.share[c] = (share[c] * (double)x->count + 0.5) / ((double)x->count + 0.5 * (double)classes);
}

/* Logarithm of the chance of a share of n: binomial, or all shares alike. */
static double chance_of(double share, double n, double of) {
    double k = share * n;
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(of) + (n - k) * log1p(-of);
}

/* The logarithm of the likelihood of all shares; the part of the atoms that are at no boundary by EM. */
static double background_fit(const double *alone, size_t count, double n, double of) {
    double inside = 0.5, likelihood = 0;
    for (int round = 0; round < 12; ++round) {
        double sum = 0;
        likelihood = 0;
        for (size_t k = 0; k < count; ++k) {
            double own = inside * exp(chance_of(alone[k], n, of)), all = own + (1 - inside) / (n + 1);
            sum += own / all;
            likelihood += log(all);
        }
        inside = fmin(fmax(sum / (double)count, 0.05), 0.99);
    }
    return likelihood;
}

double lattice_background(const double *alone, size_t count, double neighbours) {
    double best = LATTICE_FEWEST, most = -INFINITY;
    for (double of = LATTICE_FEWEST; of < 0.5; of *= 1.1) {
        double here = background_fit(alone, count, fmax(neighbours, 1), of);
        if (here > most) most = here, best = of;
    }
    return best;
}

static void take_background(atn_lattice *l, const learned *x) {
    l->info.background = fmax(l->info.background_neighbours, LATTICE_FEWEST);
    if (lattice_background_given(&l->settings) || x->sure < LEAST) return;
    l->info.background = lattice_background(x->alone, x->sure, l->info.neighbours);
}

/* ---- the sample ---- */

/* An atom that is sure: what its neighbours do. */
static void count_sure(const atn_lattice *l, size_t i, int32_t model, learned *x) {
    const lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)model];
    double n = l->near.start[i + 1] - l->near.start[i];
    taken *t = &x->model[model];
    ++t->atoms;
    lattice_stretch(l, model, i, t->stretch);
    t->square += (double)f->spread, t->weight += (double)f->weight;
    lattice_sites_add(l, model, i, t->seen);
    x->alone[x->sure++] = fmax(0, 1 - (double)f->weight / n);
}

/* Likelihoods of atom i of the batch, with a part of its neighbours elsewhere where it is not sure. */
static void weigh(const atn_lattice *l, size_t i, learned *x) {
    atn_lattice_atom a;
    double *term = x->term + x->count * ((size_t)l->info.models + 1);
    double here = lattice_judge(l, i, &a, NULL);
    x->gain[x->count++] = lattice_gain(l, i, term);
    x->likelihood += here;
    bool sure = a.structure && a.confidence > 0.9F;
    if (sure) count_sure(l, i, a.phase - 1, x);
    if (a.structure && a.confidence >= LATTICE_SURE) return;
    lattice_halving h;
    lattice_mixed(l, i, NULL, LATTICE_ALL, NULL, &h); /* as it is judged when it is told */
    lattice_gain(l, i, term);
    if (!sure) x->likelihood += lattice_judge(l, i, &a, NULL) - here;
}

/* The batch: those that are not sure are looked at again from the turns of those that are, as when they are told. */
static void weigh_batch(const atn_lattice *l, learned *x) {
    lattice_recent recent = {.near = false};
    atn_lattice_atom a;
    for (size_t i = 0; i < l->near.atoms; ++i) {
        if (lattice_is_uneven(l)) lattice_look_closer(l, i, LATTICE_ALL);
        lattice_judge(l, i, &a, NULL);
        if (!a.structure || a.confidence < LATTICE_SURE) continue;
        const float *q = a.quaternion;
        const double turn[4] = {(double)q[0], -(double)q[1], -(double)q[2], -(double)q[3]};
        lattice_remember(l, a.phase - 1, turn, &recent);
    }
    for (size_t i = 0; i < l->near.atoms; ++i) {
        lattice_judge(l, i, &a, NULL);
        if (!a.structure || a.confidence < LATTICE_SURE) lattice_look(l, i, &recent, LATTICE_ALL, NULL);
        weigh(l, i, x);
    }
}

/* The null model of the sample's own distances. */
static void take_null(atn_lattice *l, const lattice_cells *cells, const lattice_sample *s) {
    double seen[LATTICE_RADIAL_BINS] = {0};
    for (size_t k = 0; k < s->count; ++k) {
        if (lattice_batch_is_full(l)) l->near.atoms = 0;
        lattice_add_atom(l, cells, s->which[k]);
        lattice_distances_add(l, l->near.atoms - 1, seen);
    }
    l->near.atoms = 0;
    lattice_null_make(l, seen);
}

static atn_status match_sample(atn_lattice *l, const lattice_sample *s, learned *x) {
    lattice_cells cells = {0};
    atn_status status = lattice_cells_make(l->ctx, s->atoms, s->angstrom, l->info.cutoff, &cells);
    if (status == ATN_OK) take_null(l, &cells, s);
    for (size_t k = 0; k < s->count && status == ATN_OK; ++k) {
        lattice_add_atom(l, &cells, s->which[k]);
        if (!lattice_batch_is_full(l) && k + 1 < s->count) continue;
        status = lattice_engine_run(l);
        if (status == ATN_OK) weigh_batch(l, x);
        l->near.atoms = 0;
    }
    l->near.atoms = 0;
    lattice_cells_free(&cells);
    return status;
}

/* Constants that the sample's atoms say, where none was given. Did any change? */
static bool take_constants(atn_lattice *l, const learned *x) {
    bool changed = false;
    for (int32_t m = 0; m < l->info.models; ++m) {
        const taken *t = &x->model[m];
        double times = t->atoms >= LEAST && t->stretch[1] > 0 ? t->stretch[0] / t->stretch[1] : 1;
        if (l->settings.model[m].constant > 0 || l->settings.model[m].points || fabs(times - 1) < ENOUGH) continue;
        l->info.constant[m] *= fmin(fmax(times, 0.95), 1.05);
        changed = true;
    }
    return changed;
}

/* What came of a round is the first rank's. */
static atn_status same_shares(atn_lattice *l, double *likelihood, bool *again) {
    struct {
        double likelihood, misfit[ATN_LATTICE_MOST_MODELS];
        lattice_fit seen[ATN_LATTICE_MOST_MODELS];
        bool again;
    } said = {.likelihood = *likelihood, .again = *again};
    for (int32_t m = 0; m < l->info.models; ++m) said.misfit[m] = l->slot[m].misfit, said.seen[m] = l->slot[m].seen;
    atn_status status = lattice_shared_same(l, &said, sizeof said);
    if (status == ATN_OK) status = lattice_shared_same(l, &l->info, sizeof l->info);
    *likelihood = said.likelihood, *again = said.again;
    for (int32_t m = 0; m < l->info.models; ++m) l->slot[m].misfit = said.misfit[m], l->slot[m].seen = said.seen[m];
    return status;
}

atn_status lattice_learn_sample(atn_lattice *l, const lattice_sample *s, int rounds, double *likelihood) {
    size_t classes = (size_t)l->info.models + 1;
    learned *x = atn_alloc(l->ctx, sizeof *x);
    double *block = atn_alloc(l->ctx, (s->count + 1) * (classes + 2) * sizeof *block);
    bool again = true;
    atn_status status = x && block ? ATN_OK : ATN_ERR_MEMORY;
    for (int round = 0; round < rounds && again && status == ATN_OK; ++round) {
        *x = (learned){.term = block, .gain = block + s->count * classes};
        x->alone = x->gain + s->count;
        lattice_even_shares(l, 0.1);
        l->info.background = fmax(l->info.background_neighbours, LATTICE_FEWEST);
        status = atn_tell_progress(l->ctx, "learning from a sample", round, rounds);
        if (status == ATN_OK) status = lattice_engine_open(l);
        if (status == ATN_OK) status = match_sample(l, s, x);
        if (status != ATN_OK) break;
        take_shares(l, x);
        take_background(l, x);
        *likelihood = x->likelihood;
        for (int32_t m = 0; m < l->info.models; ++m) {
            const taken *t = &x->model[m];
            l->slot[m].misfit = t->atoms >= LEAST ? lattice_misfit(l, m, t->seen) : 0;
            l->slot[m].seen = (lattice_fit){.atoms = t->atoms, .stretch = t->stretch[0] / fmax(t->stretch[1], 1e-9)};
            l->slot[m].seen.square = t->square / fmax(t->weight, 1e-9);
        }
        again = round + 1 < rounds && take_constants(l, x);
        status = same_shares(l, likelihood, &again);
    }
    atn_free(l->ctx, x);
    atn_free(l->ctx, block);
    return status;
}

bool lattice_accept(atn_lattice *l) {
    bool none = l->info.gain < GAIN;
    for (int32_t m = 0; m < l->info.models; ++m) {
        l->info.mismatched[m] = !none && l->slot[m].misfit > MISFIT;
        l->slot[m].strange = none || l->info.mismatched[m];
    }
    return !none;
}
