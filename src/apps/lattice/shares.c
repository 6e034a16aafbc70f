/* What a matched sample of a frame determines, by EM: the shares of the classes, the share of atoms on no site, the
 * constants; and whether the models are present at all. They are if the sample is likelier with them than with the null
 * model, by GAIN nats per atom: a lattice that is present has tens of them, a gas or a random packing less than one.
 * And a model is present if its sites are occupied as it predicts: nats per neighbour, of which wrong lattices have
 * more than MISFIT. */
#include "apps/lattice/parts.h"
#include "apps/lattice/shared.h"

#include "base/lane_math.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 60, LEAST = 8 };
enum { BACKGROUNDS = 64, EM = 12 }; /* shares of the background that are tried; rounds for each */
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
    double *times;      /* of each atom: how much likelier it is with models */
    double *raised;     /* like term: likelihoods to a power, the largest of an atom is 1 */
    double *alone;      /* share of the neighbours on no site, of each that is sure */
    size_t count, sure; /* of these */
    double likelihood;
} learned;

/* ---- shares ---- */

/* Things are of a kind that `share` of them are, which makes each `other` likely, or of another, which makes it `times`
 * likely: the sum of how much they are of the first. */
ATN_IN_LANES static double share_of(const double *restrict times, size_t count, double share, double other) {
    const double rest = 1 - share, part = share * other;
    double sum = 0;
    ATN_LANES(reduction(+ : sum))
    for (size_t k = 0; k < count; ++k) sum += part / (part + rest * times[k]);
    return sum;
}

/* The share of `other` that makes the sample most likely, and by how much an atom that is likelier than without models.
 */
static double other_share(const learned *x, double *gain) {
    double share = 0.5, before = share;
    for (size_t k = 0; k < x->count; ++k) x->times[k] = exp(fmin(x->gain[k], 700));
    for (int round = 0; round < 4 * ROUNDS; ++round) {
        before = share;
        share = fmin(fmax(share_of(x->times, x->count, share, 1) / (double)x->count, 1e-9), 1 - 1e-9);
    }
    *gain = 0;
    for (size_t k = 0; k < x->count; ++k) *gain += log(before + (1 - before) * x->times[k]) / (double)x->count;
    return share;
}

/* Likelihoods to a power, over the largest of each atom. */
static void raise_all(const learned *x, size_t classes) {
    for (size_t k = 0; k < x->count; ++k) {
        const double *term = x->term + k * classes;
        double high = -INFINITY;
        for (size_t c = 0; c < classes; ++c) high = fmax(high, term[c]);
        for (size_t c = 0; c < classes; ++c) x->raised[k * classes + c] = exp(POWER * (term[c] - high));
    }
}

/* Shares that maximise the likelihood of the sample, with likelihoods raised to a power, by EM; those that start at 0
 * stay there. An atom that cannot be classified is not therefore `other`, which has at most `most`. Returns the
 * logarithm of the likelihood, relative to the largest ones. */
static double share_out(const learned *x, size_t classes, double most, double share[]) {
    double likelihood = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        double sum[ATN_LATTICE_MOST_MODELS + 1] = {0}, there = 0;
        for (size_t k = 0; k < x->count; ++k) {
            const double *raised = x->raised + k * classes;
            double part[ATN_LATTICE_MOST_MODELS + 1], all = 0;
            for (size_t c = 0; c < classes; ++c) all += part[c] = share[c] * raised[c];
            for (size_t c = 0; c < classes; ++c) sum[c] += part[c] / fmax(all, 1e-300);
            if (round == ROUNDS - 1) likelihood += log(fmax(all, 1e-300));
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
    raise_all(x, classes);
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

/* Shares of which some are binomial and the others all alike, and one value that they may be of. */
typedef struct fitting {
    const double *alone, *ways; /* of each: the logarithm of the ways to have it */
    size_t count;
    double n;
    double of[BACKGROUNDS], likelihood[BACKGROUNDS];
    double *own; /* room for `count` for each */
} fitting;

ATN_IN_LANES static void fill_own(const fitting *x, double of, double *restrict own) {
    const double *restrict ways = x->ways, *restrict alone = x->alone;
    const double n = x->n, on = log(of), off = log1p(-of);
    ATN_LANES()
    for (size_t k = 0; k < x->count; ++k) own[k] = atn_lane_exp(ways[k] + n * (alone[k] * on + (1 - alone[k]) * off));
}

/* The logarithm of the likelihood of all shares; the part of the atoms that are at no boundary by EM. */
static double background_fit(const fitting *x, double of, double *own) {
    double inside = 0.5, before = inside, other = 1 / (x->n + 1), count = (double)x->count, likelihood = 0;
    fill_own(x, of, own);
    for (int round = 0; round < EM; ++round) {
        before = inside;
        inside = fmin(fmax((count - share_of(own, x->count, 1 - inside, other)) / count, 0.05), 0.99);
    }
    for (size_t k = 0; k < x->count; ++k) likelihood += log(before * own[k] + (1 - before) * other);
    return likelihood;
}

static void fit_one(void *user, int64_t from, int64_t to) {
    fitting *x = user;
    for (int64_t k = from; k < to; ++k) x->likelihood[k] = background_fit(x, x->of[k], x->own + (size_t)k * x->count);
}

atn_status lattice_background(const atn_ctx *ctx, const double *alone, size_t count, double neighbours, double *out) {
    fitting x = {.alone = alone, .count = count, .n = fmax(neighbours, 1)};
    double *ways = atn_alloc(ctx, (count + 1) * (BACKGROUNDS + 1) * sizeof *ways), most = -INFINITY, n = x.n;
    *out = LATTICE_FEWEST;
    if (!ways) return ATN_ERR_MEMORY;
    x.ways = ways, x.own = ways + count;
    for (size_t k = 0; k < count; ++k)
        ways[k] = lgamma(n + 1) - lgamma(alone[k] * n + 1) - lgamma(n - alone[k] * n + 1);
    int64_t values = 0;
    for (double of = LATTICE_FEWEST; of < 0.5; of *= 1.1) x.of[values++] = of;
    atn_parallel(values, 1, fit_one, &x);
    for (int64_t k = 0; k < values; ++k)
        if (x.likelihood[k] > most) most = x.likelihood[k], *out = x.of[k];
    atn_free(ctx, ways);
    return ATN_OK;
}

static atn_status take_background(atn_lattice *l, const learned *x) {
    l->info.background = fmax(l->info.background_neighbours, LATTICE_FEWEST);
    if (lattice_background_given(&l->settings) || x->sure < LEAST) return ATN_OK;
    return lattice_background(l->ctx, x->alone, x->sure, l->info.neighbours, &l->info.background);
}

/* ---- the sample ---- */

/* What one atom of the sample says: atoms are weighed on all cores, each into its own, and added up in their order. */
typedef struct weighed {
    double gain, likelihood;
    int32_t model; /* that it takes and is sure of; -1: none */
    double stretch[2], square, weight, alone;
    double seen[2 * LATTICE_RADIAL_BINS];
} weighed;

/* What parts of a loop over the atoms of a batch need. */
typedef struct weighing {
    const atn_lattice *l;
    const lattice_recent *recent;
    atn_lattice_atom *atom;
    weighed *out;
    double *term;
    size_t first; /* atom that is weighed here; of several ranks each weighs some */
} weighing;

/* An atom that is sure: what its neighbours do. */
static void take_sure(const atn_lattice *l, size_t i, int32_t model, weighed *out) {
    const lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)model];
    double n = l->near.start[i + 1] - l->near.start[i];
    out->model = model;
    lattice_stretch(l, model, i, out->stretch);
    out->square = (double)f->spread, out->weight = (double)f->weight;
    lattice_sites_add(l, model, i, out->seen);
    out->alone = fmax(0, 1 - (double)f->weight / n);
}

/* Likelihoods of atom i of the batch, with a part of its neighbours elsewhere where it is not sure. */
static void weigh(const atn_lattice *l, size_t i, double *term, weighed *out) {
    atn_lattice_atom a;
    lattice_judge(l, i, &a, NULL);
    *out = (weighed){.model = -1, .likelihood = lattice_claim(l, i)};
    out->gain = lattice_gain(l, i, term);
    bool sure = a.structure && a.confidence > 0.9F;
    if (sure) take_sure(l, i, a.phase - 1, out);
    if (a.structure && a.confidence >= LATTICE_SURE) return;
    lattice_halving h;
    lattice_mixed(l, i, NULL, LATTICE_ALL, NULL, &h); /* as it is evaluated in the final classification */
    lattice_terms(l, i, term);
    if (!sure) out->likelihood = lattice_claim(l, i);
}

static void judge_one(void *user, int64_t from, int64_t to) {
    const weighing *w = user;
    for (size_t i = w->first + (size_t)from; i < w->first + (size_t)to; ++i) {
        if (lattice_is_uneven(w->l)) lattice_look_closer(w->l, i, LATTICE_ALL);
        lattice_judge(w->l, i, &w->atom[i], NULL);
    }
}

static void weigh_one(void *user, int64_t from, int64_t to) {
    const weighing *w = user;
    size_t classes = (size_t)w->l->info.models + 1;
    for (size_t i = w->first + (size_t)from; i < w->first + (size_t)to; ++i) {
        const atn_lattice_atom *a = &w->atom[i];
        if (!a->structure || a->confidence < LATTICE_SURE) lattice_look(w->l, i, w->recent, LATTICE_ALL, NULL);
        weigh(w->l, i, w->term + i * classes, &w->out[i]);
    }
}

static void add_up(const weighed *w, learned *x) {
    x->gain[x->count++] = w->gain;
    x->likelihood += w->likelihood;
    if (w->model < 0) return;
    taken *t = &x->model[w->model];
    ++t->atoms;
    for (int k = 0; k < 2; ++k) t->stretch[k] += w->stretch[k];
    t->square += w->square, t->weight += w->weight;
    for (int k = 0; k < 2 * LATTICE_RADIAL_BINS; ++k) t->seen[k] += w->seen[k];
    x->alone[x->sure++] = w->alone;
}

/* The batch: uncertain atoms are examined again from the rotations of certain ones, as in the final classification. */
static atn_status weigh_batch(atn_lattice *l, learned *x) {
    size_t n = l->near.atoms, classes = (size_t)l->info.models + 1, to;
    lattice_recent recent = {.near = false};
    weighing w = {.l = l, .recent = &recent, .term = x->term + x->count * classes};
    w.atom = atn_alloc(l->ctx, (n + 1) * sizeof *w.atom);
    w.out = atn_alloc(l->ctx, (n + 1) * sizeof *w.out);
    atn_status status = w.atom && w.out ? ATN_OK : ATN_ERR_MEMORY;
    lattice_shared_cut(l, n, &w.first, &to);
    if (status == ATN_OK) atn_parallel((int64_t)(to - w.first), 1, judge_one, &w);
    status = lattice_shared_join(l, status, w.atom, n, sizeof *w.atom);
    for (size_t i = 0; i < n && status == ATN_OK; ++i) {
        const atn_lattice_atom *a = &w.atom[i];
        if (!a->structure || a->confidence < LATTICE_SURE) continue;
        const float *q = a->quaternion;
        const double turn[4] = {(double)q[0], -(double)q[1], -(double)q[2], -(double)q[3]};
        lattice_remember(l, a->phase - 1, turn, &recent);
    }
    if (status == ATN_OK) atn_parallel_pieces((int64_t)(to - w.first), weigh_one, &w);
    if (status == ATN_OK) status = lattice_shared_join(l, status, w.out, n, sizeof *w.out);
    if (status == ATN_OK) status = lattice_shared_join(l, status, w.term, n, classes * sizeof *w.term);
    for (size_t i = 0; i < n && status == ATN_OK; ++i) add_up(&w.out[i], x);
    atn_free(l->ctx, w.atom);
    atn_free(l->ctx, w.out);
    return status;
}

/* Cells stay for as long as the cut-off does. */
static atn_status find_cells(const atn_lattice *l, const lattice_sample *s) {
    if (s->cells->ctx && *s->reach == l->info.cutoff) return ATN_OK;
    lattice_cells_free(s->cells);
    *s->reach = l->info.cutoff;
    return lattice_cells_make_in(l->ctx, s->atoms, s->angstrom, l->info.cutoff, s->low, s->high, s->cells);
}

/* The null model of the sample's own distances. Returns how many of its first atoms the batch has then: all of them, or
 * none where they are more than a batch. */
static size_t take_null(atn_lattice *l, const lattice_sample *s) {
    double seen[LATTICE_RADIAL_BINS] = {0};
    bool all = true;
    l->near.atoms = 0;
    for (size_t k = 0; k < s->count; ++k) {
        if (lattice_batch_is_full(l)) l->near.atoms = 0, all = false;
        lattice_add_atom(l, s->cells, s->which[k]);
        lattice_distances_add(l, l->near.atoms - 1, seen);
    }
    if (!all) l->near.atoms = 0;
    lattice_null_make(l, seen);
    return l->near.atoms;
}

static atn_status match_sample(atn_lattice *l, const lattice_sample *s, learned *x) {
    atn_status status = find_cells(l, s);
    size_t k = status == ATN_OK ? take_null(l, s) : 0;
    for (bool first = true; (k < s->count || first) && status == ATN_OK; first = false) {
        for (; k < s->count && !lattice_batch_is_full(l); ++k) lattice_add_atom(l, s->cells, s->which[k]);
        if (l->near.atoms) status = lattice_engine_run(l);
        if (l->near.atoms && status == ATN_OK) status = weigh_batch(l, x);
        l->near.atoms = 0;
    }
    l->near.atoms = 0;
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
    double *block = atn_alloc(l->ctx, (s->count + 1) * (2 * classes + 3) * sizeof *block);
    bool again = true;
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_WEIGHED);
    atn_status status = x && block ? ATN_OK : ATN_ERR_MEMORY;
    for (int round = 0; round < rounds && again && status == ATN_OK; ++round) {
        *x = (learned){.term = block, .gain = block + s->count * classes};
        x->alone = x->gain + s->count, x->times = x->alone + s->count, x->raised = x->times + s->count;
        lattice_even_shares(l, 0.1);
        l->info.background = fmax(l->info.background_neighbours, LATTICE_FEWEST);
        status = atn_tell_progress(l->ctx, "learning from a sample", round, rounds);
        if (status == ATN_OK) status = lattice_engine_open(l);
        if (status == ATN_OK) status = match_sample(l, s, x);
        if (status != ATN_OK) break;
        take_shares(l, x);
        status = take_background(l, x);
        *likelihood = x->likelihood;
        for (int32_t m = 0; m < l->info.models; ++m) {
            const taken *t = &x->model[m];
            l->slot[m].misfit = t->atoms >= LEAST ? lattice_misfit(l, m, t->seen) : 0;
            l->slot[m].seen = (lattice_fit){.atoms = t->atoms, .stretch = t->stretch[0] / fmax(t->stretch[1], 1e-9)};
            l->slot[m].seen.square = t->square / fmax(t->weight, 1e-9);
        }
        again = round + 1 < rounds && take_constants(l, x);
        if (status == ATN_OK) status = same_shares(l, likelihood, &again);
    }
    lattice_spend_back(&l->spent, l->known, before);
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
