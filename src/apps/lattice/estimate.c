/* Settings found from a frame. Distances of pairs tell the volume of an atom, the noise and the background: around an
 * atom of a lattice with shells n_s at r_s, distances have the density p sum_s n_s f(r; r_s, s) + e 4 pi r^2,   f = r /
 * (r_s s sqrt(2 pi)) (exp(-(r - r_s)^2 / 2 s^2) - exp(-(r + r_s)^2 / 2 s^2)), which is made as likely as can be over
 * all three and the models. p follows from density and volume. The rest comes from a sample that is matched (shares.c).
 */
#include "apps/lattice/narrow.h"
#include "apps/lattice/order.h"
#include "apps/lattice/parts.h"
#include "apps/lattice/shared.h"
#include "base/compare.h"
#include "base/lane_math.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/sized.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = LATTICE_PAIR_BINS, SAMPLE = 400, WANTED = 42, CORRECTIONS = 2 };
static const double PI = 3.14159265358979323846, MOST_REACH = 2.7;
static const double CLEAR = 5;    /* nats of the sample by which phases of two sizes must be the likelier */
static const double LEAST = 0.02; /* share of a second phase of a structure */

static double ball(double r) { return 4.0 / 3 * PI * r * r * r; }

/* ---- distances ---- */

typedef struct distances {
    double reach;     /* of the histogram */
    double bin[BINS]; /* pairs, from 0 to reach */
    double median;    /* of the number of neighbours */
    double sparse;    /* one atom in twelve has fewer: a phase that is less dense may be there */
    double centres;   /* atoms that count */
    bool crowded;     /* more neighbours than are looked at */
} distances;

/* One atom's neighbours: their distances into bins. Is it inside? At a surface their mean is off the centre, by 3/8 of
 * the reach where that is a plane; by chance it is off by sqrt(3 / 5 n). */
static bool add_centre(const lattice_cells *cells, size_t atom, double reach, float *list, double *number,
                       uint16_t *bins) {
    enum { MOST = ATN_LATTICE_MOST_NEIGHBOURS };
    double mean[3] = {0};
    int32_t inner, n = lattice_cells_near(cells, atom, 0, reach, NULL, list, list + MOST, list + 2 * MOST, &inner);
    memset(bins, 0, BINS * sizeof *bins);
    *number = n;
    for (int32_t i = 0; i < n; ++i) {
        double square = 0;
        for (int axis = 0; axis < 3; ++axis) {
            double x = (double)list[axis * MOST + i];
            square += x * x;
            mean[axis] += x / n;
        }
        int at = (int)(sqrt(square) / reach * BINS);
        ++bins[at < BINS ? at : BINS - 1];
    }
    double off = sqrt(mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
    return n > 0 && off < reach * (0.1 + sqrt(0.6 / n));
}

/* Sums of the atoms that are inside, which come to the front; of all where few are. */
static void gather(size_t count, double *number, uint16_t *bins, const bool *inside, double *sorted, distances *out) {
    size_t kept = 0, in = 0;
    for (size_t k = 0; k < count; ++k) in += inside[k];
    for (size_t k = 0; k < count; ++k) {
        if (!inside[k] && in >= count / 5 + 20) continue;
        sorted[kept] = number[kept] = number[k];
        memmove(bins + kept * BINS, bins + k * BINS, BINS * sizeof *bins);
        for (int b = 0; b < BINS; ++b) out->bin[b] += bins[kept * BINS + (size_t)b];
        ++kept;
    }
    qsort(sorted, kept, sizeof *sorted, atn_ascending_double);
    out->median = kept ? sorted[kept / 2] : 0;
    out->sparse = kept ? sorted[kept / 12] : 0;
    out->centres = (double)kept;
}

/* number: of neighbours of each that counts; bins: of each, their distances. Cells are made of the atoms near the
 * sample alone, which are left in `few`. low, high: of all. */
static atn_status measure(const atn_lattice *l, const atn_atoms *atoms, double angstrom, const size_t *which,
                          size_t count, const double low[3], const double high[3], double *number, uint16_t *bins,
                          distances *out, lattice_narrowed *few) {
    lattice_cells cells = {0};
    *out = (distances){.reach = out->reach};
    float *list = atn_alloc(l->ctx, 3 * ATN_LATTICE_MOST_NEIGHBOURS * sizeof *list);
    double *sorted = atn_alloc(l->ctx, (count + 1) * sizeof *sorted);
    bool *inside = atn_alloc(l->ctx, count + 1);
    lattice_narrowed_free(l->ctx, few);
    atn_status status = lattice_narrow(l->ctx, atoms, out->reach / angstrom, which, count, few);
    if (few->place) atoms = &few->atoms, which = few->which;
    if (!list || !sorted || !inside) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) status = lattice_cells_make_in(l->ctx, atoms, angstrom, out->reach, low, high, &cells);
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        inside[k] = add_centre(&cells, which[k], out->reach, list, &number[k], bins + k * BINS);
        out->crowded = out->crowded || number[k] == ATN_LATTICE_MOST_NEIGHBOURS;
    }
    if (status == ATN_OK) gather(count, number, bins, inside, sorted, out);
    lattice_cells_free(&cells);
    atn_free(l->ctx, list);
    atn_free(l->ctx, sorted);
    atn_free(l->ctx, inside);
    return status;
}

/* Distances as far as about 60 neighbours reach. */
static atn_status measure_near(const atn_lattice *l, const atn_atoms *atoms, double angstrom, const size_t *which,
                               size_t count, double *number, uint16_t *bins, distances *out, lattice_narrowed *few) {
    double volume = 1, low[3], high[3];
    lattice_bounds(atoms, angstrom, low, high);
    for (int axis = 0; axis < 3; ++axis) volume *= fmax(high[axis] - low[axis], 1e-3);
    out->reach = fmin(fmax(cbrt(60 * volume / (double)atoms->count / ball(1)), 0.5), 30);
    atn_status status = ATN_OK;
    for (int round = 0; round < 6 && status == ATN_OK; ++round) {
        double reach = out->reach;
        status = measure(l, atoms, angstrom, which, count, low, high, number, bins, out, few);
        if (out->median > 30 && out->median < 120) break;
        double by = out->crowded ? 0.5 : cbrt(60 / fmax(out->median, 4));
        if (round < 5) out->reach = fmin(fmax(reach * by, 0.05), 40);
        if (reach == out->reach) break;
    }
    return status;
}

/* ---- what makes them likely ---- */

typedef struct guess {
    double likelihood, edge, noise, background;
    double efficiency; /* 0: what density and edge say */
} guess;

/* The logarithm of the likelihood of all pairs, but for what is the same for all. */
ATN_IN_LANES static double likely(const double *restrict seen, const double *restrict rate, const double *restrict gas,
                                  double filled, double sparse) {
    double sum = 0;
    ATN_LANES(reduction(+ : sum))
    for (int k = 0; k < BINS; ++k) {
        double expected = filled * rate[k] + sparse * gas[k];
        sum += seen[k] * atn_lane_log(expected > 1e-9 ? expected : 1e-9) - expected;
    }
    return sum;
}

static void try_one(const distances *d, const lattice_shells *s, double density, double edge, double noise,
                    guess *best) {
    static const double SHARES[] = {0.01, 0.03, 0.08, 0.16, 0.3};
    double step = d->reach / BINS, rate[BINS], gas[BINS], all = d->centres * step;
    lattice_radial_bins(s, edge, noise, step, rate);
    for (int k = 0; k < BINS; ++k) gas[k] = 4 * PI * (k + 0.5) * step * (k + 0.5) * step;
    for (size_t n = 0; n < sizeof SHARES / sizeof *SHARES; ++n) {
        double share = SHARES[n], filled = density * edge * edge * edge * (1 - share);
        double sum = likely(d->bin, rate, gas, all * filled, all * density * share);
        if (sum > best->likelihood) *best = (guess){sum, edge, noise, share, 0};
    }
}

/* Where pairs are much more frequent than in a gas: near the first shell. */
static double first_peak(const distances *d) {
    double step = d->reach / BINS, best = 0, at = d->reach / 2;
    for (int k = 2; k < BINS - 2; ++k) {
        double r = (k + 0.5) * step, sum = 0;
        for (int n = -2; n <= 2; ++n) sum += d->bin[k + n];
        if (k * step < d->reach * 0.2 || sum / (r * r) <= best) continue;
        best = sum / (r * r);
        at = r;
    }
    return at;
}

/* Edges and noises of all models that are tried on all cores of all ranks; the first of a model's likeliest is taken.
 */
enum { TRIED = 512 * ATN_LATTICE_MOST_MODELS };
typedef struct tries {
    const distances *d;
    double density;
    lattice_shells shells[ATN_LATTICE_MOST_MODELS];
    size_t count;
    int64_t first; /* of this rank's */
    guess of[TRIED];
    int32_t model[TRIED];
} tries;

static void add_try(tries *t, int32_t model, double edge, double noise) {
    if (t->count == TRIED) return;
    t->model[t->count] = model;
    t->of[t->count++] = (guess){.likelihood = -INFINITY, .edge = edge, .noise = noise};
}

static void try_part(void *user, int64_t from, int64_t to) {
    tries *t = user;
    for (int64_t k = t->first + from; k < t->first + to; ++k) {
        guess best = {.likelihood = -INFINITY};
        try_one(t->d, &t->shells[t->model[k]], t->density, t->of[k].edge, t->of[k].noise, &best);
        t->of[k] = best;
    }
}

static atn_status try_all(atn_lattice *l, tries *t, guess best[ATN_LATTICE_MOST_MODELS]) {
    size_t from, to;
    lattice_shared_cut(l, t->count, &from, &to);
    t->first = (int64_t)from;
    atn_parallel_pieces((int64_t)(to - from), try_part, t);
    atn_status status = lattice_shared_join(l, ATN_OK, t->of, t->count, sizeof *t->of);
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < t->count; ++k)
        if (t->of[k].likelihood > best[t->model[k]].likelihood) best[t->model[k]] = t->of[k];
    t->count = 0;
    return status;
}

/* The edge that a constant says; 0: none is given. */
static double given_edge(const atn_lattice_model *model) {
    return model->constant > 0 ? cbrt(lattice_kind_volume(model->name, model->constant)) : 0;
}

static void add_coarse(const atn_lattice *l, int32_t m, double first, double most, tries *t) {
    double given = lattice_given_noise(l), fixed = given_edge(&l->settings.model[m]);
    for (double by = 0.8; by < 1.21; by += 0.01)
        for (double noise = 0.04; noise < 0.35; noise *= 1.35) {
            double edge = fixed > 0 ? fixed : first * by;
            if (edge <= most || fixed > 0) add_try(t, m, edge, given > 0 ? given : noise * edge);
            if (fixed > 0) by = 2;
        }
}

static void add_fine(const atn_lattice *l, int32_t m, const guess *coarse, tries *t) {
    double given = lattice_given_noise(l), fixed = given_edge(&l->settings.model[m]);
    for (double by = 0.99; by < 1.0101; by += 0.002)
        for (double times = 0.8; times < 1.26; times *= 1.08)
            add_try(t, m, fixed > 0 ? fixed : coarse->edge * by, given > 0 ? given : coarse->noise * times);
}

/* Over edges around what the first peak says, noises, background: coarse, then fine. */
static atn_status search(atn_lattice *l, const distances *d, guess *best) {
    double density = d->median / ball(d->reach), first = first_peak(d) / 1.12, most = cbrt(1.02 / density);
    guess of[ATN_LATTICE_MOST_MODELS];
    tries *t = atn_zalloc(l->ctx, sizeof *t);
    atn_status status = t ? ATN_OK : ATN_ERR_MEMORY;
    *best = (guess){.likelihood = -INFINITY};
    for (int32_t m = 0; m < ATN_LATTICE_MOST_MODELS; ++m) of[m] = (guess){.likelihood = -INFINITY};
    if (t) t->d = d, t->density = density;
    for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m) {
        const atn_lattice_model *model = &l->settings.model[m];
        if (model->points) continue;
        status = lattice_shells_make(l->ctx, model->name, fmin(d->reach / (0.7 * first) + 1, 6), &t->shells[m]);
        add_coarse(l, m, first, most, t);
    }
    if (status == ATN_OK) status = try_all(l, t, of);
    for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m)
        if (of[m].edge > 0) add_fine(l, m, &of[m], t);
    if (status == ATN_OK) status = try_all(l, t, of);
    for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m)
        if (of[m].likelihood > best->likelihood) *best = of[m];
    atn_free(l->ctx, t);
    return status;
}

/* ---- putting it together ---- */

/* Would the model need more atoms than every site has? Then its constant is not this frame's. */
static atn_status check_constants(const atn_lattice *l, double density, double sparse) {
    for (int32_t m = 0; m < l->info.models; ++m) {
        const atn_lattice_model *model = &l->settings.model[m];
        double volume = lattice_kind_volume(model->name, model->constant), filled = density * volume;
        if (model->points || model->constant == 0 || (sparse * volume < 1.25 && filled > 0.02)) continue;
        return atn_fail(l->ctx, ATN_ERR_INPUT,
                        "lattice: a constant of %g for %s cannot be right: the frame has %.4g atoms per cubic "
                        "Angstrom, which would "
                        "fill %.3g of its sites; with all sites filled it is %.3g",
                        model->constant, model->name, density, filled, lattice_kind_constant(model->name, 1 / density));
    }
    return ATN_OK;
}

/* edge: of a model's atom, where the frame has two kinds of places. */
static void take(atn_lattice *l, const distances *d, const guess *g, const double *edge) {
    const atn_lattice_settings *s = &l->settings;
    double density = d->median / ball(d->reach), volume = g->edge * g->edge * g->edge;
    for (int32_t m = 0; m < l->info.models; ++m)
        l->info.constant[m] = s->model[m].constant > 0 ? s->model[m].constant
                              : s->model[m].points     ? 1
                                                       : lattice_kind_constant(s->model[m].name, pow(edge[m], 3));
    l->info.cutoff = s->cutoff > 0 ? s->cutoff : fmin(cbrt(WANTED / density / ball(1)), MOST_REACH * 1.11 * g->edge);
    l->info.background_neighbours = lattice_background_given(s) ? s->background : g->background;
    l->info.efficiency = s->efficiency > 0 ? s->efficiency
                         : g->efficiency > 0
                             ? g->efficiency
                             : fmin(fmax(density * volume * (1 - l->info.background_neighbours), 0.02), 1);
    lattice_take_noise(l, g->noise / sqrt(2));
    lattice_take_density(l, density * ball(l->info.cutoff));
}

/* Own atoms at random, each once. */
static size_t draw(const atn_lattice *l, const atn_atoms *atoms, size_t *which) {
    size_t most = l->settings.sample > 0 ? (size_t)l->settings.sample : SAMPLE, count = 0;
    atn_random random;
    atn_random_seed(&random, 8);
    for (size_t k = 0; k < atoms->own && count < most; ++k) /* each of those left with the same chance */
        if (atn_random_unit(&random) * (double)(atoms->own - k) < (double)(most - count)) which[count++] = k;
    return count;
}

/* A sample of a frame, and what may be true of it: one size for all models first, then those of phases. */
typedef struct learning {
    const atn_atoms *atoms;
    double angstrom;
    size_t count, *which; /* the sample */
    double *number;
    uint16_t *bins;
    distances distances;
    int32_t ways;
    guess guess[5];
    double edge[5][ATN_LATTICE_MOST_MODELS];
    lattice_narrowed few;   /* near the sample */
    double low[3], high[3]; /* of the cells that are made of them, in Angstrom */
    lattice_cells cells;    /* and these, for neighbours as far as `reach` */
    double reach;
    bool two; /* sizes, which every model may have */
    guess both;
    double size[2];
} learning;

static atn_status find_phases(atn_lattice *l, learning *x) {
    const distances *d = &x->distances;
    lattice_sizes sizes[2];
    lattice_pairs pairs = {.atoms = (size_t)d->centres, .reach = d->reach, .bin = x->bins, .number = x->number};
    double density = d->median / ball(d->reach), filled = fmin(density * pow(x->guess[0].edge, 3), 1);
    int32_t more;
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_SIZES);
    atn_status status = lattice_phases(l, &pairs, first_peak(d) / 1.12, filled, sizes, &more, &x->two);
    lattice_spend_back(&l->spent, l->known, before);
    if (x->two) {
        x->both = x->guess[0];
        x->both.noise = sizes[0].noise, x->both.background = sizes[0].background;
        x->both.efficiency = sizes[0].efficiency;
        memcpy(x->size, sizes[0].size, sizeof x->size);
    }
    for (int32_t k = 0; k < 2 * more && status == ATN_OK; ++k) {
        guess *g = &x->guess[x->ways];
        double *edge = x->edge[x->ways++], by = x->guess[0].edge / sizes[0].size[0];
        const lattice_sizes *from = &sizes[k / 2];
        *g = x->guess[0];
        memcpy(edge, from->edge, sizeof *x->edge);
        if (k % 2 ==
            0) /* unchanged, or only the ratio of sizes: at large noise, size and efficiency cannot be distinguished */
            g->noise = from->noise, g->background = from->background, g->efficiency = from->efficiency;
        for (int32_t m = 0; m < l->info.models && k % 2; ++m)
            if (!(l->settings.model[m].constant > 0)) edge[m] *= by;
    }
    return status;
}

/* The farthest that a cut-off can be, where pairs say something. */
static double farthest(const atn_lattice *l, const distances *d) {
    return fmax(l->settings.cutoff, cbrt(WANTED * ball(d->reach) / d->median / ball(1)));
}

/* From here on the atoms near the sample alone, which distances were measured of where these are far enough: cells are
 * made of them again and again. */
static atn_status narrow(const atn_ctx *ctx, double reach, learning *x) {
    atn_status status = ATN_OK;
    if (reach > x->distances.reach) {
        lattice_narrowed_free(ctx, &x->few);
        status = lattice_narrow(ctx, x->atoms, reach / x->angstrom, x->which, x->count, &x->few);
    }
    if (status == ATN_OK && !x->few.which) lattice_bounds(x->atoms, x->angstrom, x->low, x->high);
    if (status != ATN_OK || !x->few.which) return status;
    for (int axis = 0; axis < 3; ++axis) {
        x->low[axis] = x->few.low[axis] * x->angstrom;
        x->high[axis] = x->few.high[axis] * x->angstrom;
    }
    memcpy(x->which, x->few.which, x->count * sizeof *x->which);
    x->atoms = &x->few.atoms;
    return ATN_OK;
}

/* What was found of pairs is the first rank's. */
static atn_status same_sizes(atn_lattice *l, learning *x, bool *told) {
    struct {
        distances distances;
        int32_t ways;
        guess guess[5], both;
        double edge[5][ATN_LATTICE_MOST_MODELS], size[2];
        bool two, told;
    } said = {.distances = x->distances, .ways = x->ways, .both = x->both, .two = x->two, .told = *told};
    memcpy(said.guess, x->guess, sizeof said.guess);
    memcpy(said.edge, x->edge, sizeof said.edge);
    memcpy(said.size, x->size, sizeof said.size);
    atn_status status = lattice_shared_same(l, &said, sizeof said);
    x->distances = said.distances, x->ways = said.ways, x->both = said.both, x->two = said.two, *told = said.told;
    memcpy(x->guess, said.guess, sizeof said.guess);
    memcpy(x->edge, said.edge, sizeof said.edge);
    memcpy(x->size, said.size, sizeof said.size);
    return status;
}

/* Everything except the shares. told: pairs contain information. */
static atn_status find_sizes(atn_lattice *l, learning *x, bool *told) {
    distances *d = &x->distances;
    guess best = {0};
    atn_status status = ATN_OK;
    if (x->count > 1)
        status = measure_near(l, x->atoms, x->angstrom, x->which, x->count, x->number, x->bins, d, &x->few);
    *told = status == ATN_OK && d->median >= 4;
    if (*told) status = check_constants(l, d->median / ball(d->reach), d->sparse / ball(d->reach));
    if (*told && status == ATN_OK) status = search(l, d, &best);
    *told = *told && best.edge > 0;
    x->ways = 1;
    x->guess[0] = best;
    if (!*told) { /* no atom has neighbours: any lattice will do */
        *d = (distances){.reach = 1, .median = 0.085 * 0.6 * ball(1)};
        x->guess[0] = (guess){.edge = 2.28, .noise = 0.3, .background = 0.05};
    }
    for (int32_t m = 0; m < l->info.models; ++m) x->edge[0][m] = x->guess[0].edge;
    if (*told && status == ATN_OK) status = find_phases(l, x);
    return status == ATN_OK ? same_sizes(l, x, told) : status;
}

/* ---- phases of one structure ---- */

/* Every model whose constant is not given has both sizes. */
static void spread_sizes(atn_lattice *l, const learning *x, double edge[ATN_LATTICE_MOST_MODELS]) {
    for (int32_t m = 0; m < l->settings.models; ++m) {
        const atn_lattice_model *model = &l->settings.model[m];
        edge[m] = x->size[0];
        if (model->points || model->constant > 0 || l->info.models == ATN_LATTICE_MOST_MODELS) continue;
        edge[l->info.models] = x->size[1];
        lattice_add_phase(l, m);
    }
}

/* Of a model's two phases the more frequent one comes first; those that few atoms have go, but one of each model stays.
 */
static void prune(atn_lattice *l) {
    int32_t kept = l->settings.models;
    for (int32_t k = kept; k < l->info.models; ++k) {
        int32_t m = l->info.structure[k] - 1;
        if (l->info.share[k + 1] > l->info.share[m + 1]) {
            double constant = l->info.constant[m], share = l->info.share[m + 1];
            l->info.constant[m] = l->info.constant[k], l->info.constant[k] = constant;
            l->info.share[m + 1] = l->info.share[k + 1], l->info.share[k + 1] = share;
        }
        if (l->info.share[k + 1] < LEAST) continue;
        l->info.constant[kept] = l->info.constant[k];
        lattice_set_phase(l, kept++, m);
    }
    l->info.models = kept;
}

/* most: the likelihood of one size each. Is the sample likelier with two phases of a structure? Then they stay. */
static atn_status find_twins(atn_lattice *l, const learning *x, const lattice_sample *sample, double most,
                             bool *found) {
    double edge[ATN_LATTICE_MOST_MODELS] = {0}, likelihood = -INFINITY;
    spread_sizes(l, x, edge);
    take(l, &x->distances, &x->both, edge);
    atn_status status = lattice_learn_sample(l, sample, 5, &likelihood);
    *found = status == ATN_OK && likelihood > most + CLEAR;
    if (*found) prune(l);
    *found = *found && l->info.models > l->settings.models;
    if (!*found) l->info.models = l->settings.models;
    return status;
}

static atn_status learn(atn_lattice *l, learning *x) {
    bool twins = false;
    double most = -INFINITY, likelihood;
    int32_t best = 0;
    bool told = false;
    l->info.models = l->settings.models;
    l->unchecked = false;
    memset(l->knots, 0, sizeof l->knots); /* those of a frame before */
    x->count = draw(l, x->atoms, x->which);
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_PAIRS);
    atn_status status = find_sizes(l, x, &told);
    if (status == ATN_OK && told) status = narrow(l->ctx, farthest(l, &x->distances), x);
    lattice_spend_back(&l->spent, l->known, before);
    const lattice_sample sample = {x->atoms, x->angstrom, x->count, x->which, x->low, x->high, &x->cells, &x->reach};
    for (int32_t k = 0; k < x->ways && x->ways > 1 && status == ATN_OK; ++k) { /* the sample, matched each way */
        take(l, &x->distances, &x->guess[k], x->edge[k]);
        status = lattice_learn_sample(l, &sample, 1, &likelihood);
        if (k == 0 || likelihood > most) most = likelihood + (k == 0 ? CLEAR : 0), best = k;
    }
    if (status == ATN_OK && x->two && x->ways == 1) { /* one model, or some of one kind */
        take(l, &x->distances, &x->guess[0], x->edge[0]);
        status = lattice_learn_sample(l, &sample, 1, &most);
    }
    if (status == ATN_OK && x->two) status = find_twins(l, x, &sample, most, &twins);
    if (status == ATN_OK && !twins) take(l, &x->distances, &x->guess[best], x->edge[best]);
    int rounds = best % 2 && !twins ? 1 : 5; /* sizes of phases as pairs had them stay */
    if (status == ATN_OK && told) status = lattice_learn_sample(l, &sample, rounds, &likelihood);
    l->info.estimated = told && status == ATN_OK && lattice_accept(l);
    for (int round = 0; round < CORRECTIONS && status == ATN_OK && l->info.estimated; ++round) {
        bool changed;
        status = lattice_correct(l, &changed);
        if (status == ATN_OK) status = lattice_shared_same(l, &changed, sizeof changed);
        if (status == ATN_OK) status = lattice_shared_same(l, &l->info, sizeof l->info);
        if (!changed || status != ATN_OK) break;
        status = lattice_learn_sample(l, &sample, 1, &likelihood);
        l->info.estimated = status == ATN_OK && lattice_accept(l);
    }
    if (!told) lattice_null_make(l, (const double[LATTICE_RADIAL_BINS]){0});
    if (status == ATN_OK && (l->settings.even || !told)) lattice_even_shares(l, 0.1);
    if (status == ATN_OK && !l->ready) status = lattice_engine_open(l);
    return status == ATN_OK && l->info.estimated ? lattice_calibrate(l) : status;
}

atn_status atn_lattice_learn(atn_lattice *l, const atn_atoms *given, double angstrom) {
    size_t most = l->settings.sample > 0 ? (size_t)l->settings.sample : SAMPLE;
    atn_atoms all, *atoms = &all;
    atn_status status = ATN_TAKE(l->ctx, atn_atoms, given, atoms);
    if (status == ATN_OK) status = lattice_atoms_check(l, atoms);
    if (status != ATN_OK) return status;
    learning *x = atn_zalloc(l->ctx, sizeof *x);
    if (!x) return ATN_ERR_MEMORY;
    *x = (learning){.atoms = atoms, .angstrom = angstrom};
    memset(l->follows, 0, sizeof l->follows); /* until lattice_rivals says so */
    x->which = atn_alloc(l->ctx, most * sizeof *x->which);
    x->number = atn_alloc(l->ctx, most * sizeof *x->number);
    x->bins = atn_alloc(l->ctx, most * BINS * sizeof *x->bins);
    l->learning = true;
    status = x->which && x->number && x->bins ? learn(l, x) : ATN_ERR_MEMORY;
    if (status == ATN_OK && atoms->species) status = lattice_order_learn(l, atoms, angstrom);
    l->learning = false;
    lattice_tables_end(l);
    if (status == ATN_OK && !l->unchecked) status = lattice_engine_widen(l);
    l->known = status == ATN_OK;
    atn_free(l->ctx, x->which);
    atn_free(l->ctx, x->number);
    atn_free(l->ctx, x->bins);
    lattice_cells_free(&x->cells);
    lattice_narrowed_free(l->ctx, &x->few);
    atn_free(l->ctx, x);
    return status;
}

atn_status lattice_learn_ranks(atn_lattice *l, atn_ranks *ranks, const atn_atoms *atoms, double angstrom) {
    double batch = lattice_batch_for(atn_device_get_info(l->device)); /* another where cores are more or fewer */
    atn_status status = ranks ? atn_ranks_least(ranks, ATN_OK, &batch, 1) : ATN_OK;
    l->ranks = ranks;
    l->ranks_batch = (int32_t)batch;
    if (status == ATN_OK) status = atn_lattice_learn(l, atoms, angstrom);
    l->ranks = NULL;
    return status;
}
