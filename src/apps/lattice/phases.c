/* Phases of a frame from the distances of pairs, atom by atom. An atom of a lattice with shells n_s at r_s sees
 * distances of the density p sum_s n_s f(r; r_s, s) + e 4 pi r^2,   f = r / (r_s s sqrt(2 pi)) (exp(-(r - r_s)^2 / 2
 * s^2) - exp(-(r + r_s)^2 / 2 s^2)). The frame is a mixture of all models of all sizes on a grid; its weights come from
 * EM, noise and background are those with which it is most likely. Two sizes are tried where one is less likely. */
#include "apps/lattice/parts.h"
#include "apps/lattice/shared.h"

#include "base/compare.h"
#include "base/lanes.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGES = 41, ROUNDS = 60, BINS = LATTICE_PAIR_BINS, TRIALS = 4 };
static const double PI = 3.14159265358979323846, STEP = 0.015, SMALLEST = 0.75; /* edges, of the first guess */
static const double SHAPE = 30;     /* of numbers of neighbours: a gamma distribution of efficiencies */
static const double GAIN = 2;       /* nats by which two sizes are more likely than one, to be tried */
static const double LEAST = 0.05;   /* share of a phase */
static const double STRETCH = 0.05; /* sizes as near as that are one */

/* ---- shells ---- */

atn_status lattice_shells_make(const atn_ctx *ctx, const char *name, double reach, lattice_shells *out) {
    atn_lattice_model model = {.points = 0};
    lattice_points points;
    snprintf(model.name, sizeof model.name, "%s", name);
    *out = (lattice_shells){0};
    atn_status status = lattice_points_make(ctx, &model, lattice_kind_constant(name, 1), reach, &points);
    for (size_t k = 0; k < points.count && status == ATN_OK; ++k) {
        double r = 0;
        for (int axis = 0; axis < 3; ++axis) r += points.axis[axis][k] * points.axis[axis][k];
        r = sqrt(r);
        if (out->count == 0 || r > out->radius[out->count - 1] + 1e-6) {
            if (out->count == LATTICE_SHELLS) break;
            out->radius[out->count++] = r;
        }
        out->points[out->count - 1] += 1;
    }
    if (status == ATN_OK) lattice_points_free(ctx, &points);
    return status;
}

double lattice_radial(const lattice_shells *s, double edge, double noise, double r) {
    double sum = 0;
    for (int32_t k = 0; k < s->count; ++k) {
        double rs = s->radius[k] * edge, low = (r - rs) / noise, high = (r + rs) / noise;
        if (low > 5) continue;
        if (low < -5) break;
        sum += s->points[k] * r / (rs * noise * sqrt(2 * PI)) * (exp(-0.5 * low * low) - exp(-0.5 * high * high));
    }
    return sum;
}

/* ---- the mixture ---- */

typedef struct mixture {
    const lattice_pairs *pairs;
    int32_t models, parts; /* part: edge e of model m is e * models + m */
    lattice_shells shells[ATN_LATTICE_MOST_MODELS];
    double edge[EDGES][ATN_LATTICE_MOST_MODELS]; /* 0: none */
    double *rise;                                /* of an atom: log (SHAPE + n - 1)! / (SHAPE - 1)! */
} mixture;

/* The mixture with one noise, background and efficiency; several are tried side by side. */
typedef struct trial {
    double noise, background, efficiency;
    double all, one;           /* likelihood of the free mixture; of the best of one size for all models */
    double *fit;               /* atoms x parts: likelihood, the largest of an atom is 1 */
    double *turned;            /* the same, part after part */
    double *top;               /* its logarithm, for each atom */
    double *weight, *expected; /* of each part; neighbours with all sites filled */
    double *none, *each;       /* of each part: number of neighbours (fill_table) */
    double *table;             /* BINS x parts: logarithms of densities of distances */
    double *ratio;             /* of an atom: neighbours found over those of filled sites */
    double alone[EDGES];       /* likelihood of each size for all models */
} trial;

static size_t trial_room(size_t atoms, size_t parts) { return atoms * (2 * parts + 2) + (4 + BINS) * parts; }

static trial trial_make(const mixture *x, double *block) {
    size_t atoms = x->pairs->atoms, parts = (size_t)x->parts;
    trial t = {.fit = block, .turned = block + atoms * parts, .top = block + 2 * atoms * parts};
    t.ratio = t.top + atoms, t.weight = t.ratio + atoms;
    t.expected = t.weight + parts, t.none = t.expected + parts;
    t.each = t.none + parts, t.table = t.each + parts;
    return t;
}

/* Logarithms of the densities of distances of a part, into its column of the table; and of numbers: what none of them
 * says, and each. */
static void fill_table(const mixture *x, const trial *t, int32_t c) {
    double step = x->pairs->reach / BINS, table[BINS] = {0};
    double edge = x->edge[c / x->models][c % x->models], sum = 0;
    for (int b = 0; b < BINS && edge > 0; ++b)
        sum += table[b] = step * lattice_radial(&x->shells[c % x->models], edge, t->noise, (b + 0.5) * step);
    t->expected[c] = fmax(sum, 1e-3);
    for (int b = 0; b < BINS; ++b) {
        double r = (b + 0.5) / BINS, gas = 3 * r * r / BINS;
        t->table[(size_t)b * (size_t)x->parts + (size_t)c] =
            edge > 0 ? log((1 - t->background) * table[b] / t->expected[c] + t->background * gas) : 0;
    }
}

static void fill_numbers(const mixture *x, const trial *t) {
    for (int32_t c = 0; c < x->parts; ++c) {
        double number = t->efficiency * t->expected[c] / (1 - t->background);
        bool is = x->edge[c / x->models][c % x->models] > 0;
        t->none[c] = is ? SHAPE * log(SHAPE / (SHAPE + number)) : -INFINITY;
        t->each[c] = log(number / (SHAPE + number)); /* negative binomial, but for what all parts share */
    }
}

/* Logarithms of one atom's distances and number, for each part. */
ATN_IN_LANES static void fill_atom(const mixture *x, const trial *t, size_t k) {
    const lattice_pairs *d = x->pairs;
    const uint16_t *bin = d->bin + k * BINS;
    const int32_t parts = x->parts;
    const double *restrict none = t->none, *restrict each = t->each;
    const double rise = x->rise[k], number = d->number[k];
    double *restrict fit = t->fit + k * (size_t)parts;
    ATN_LANES()
    for (int32_t c = 0; c < parts; ++c) fit[c] = rise + none[c] + number * each[c];
    for (int b = 0; b < BINS; ++b) {
        const double *restrict table = t->table + (size_t)b * (size_t)parts, times = bin[b];
        if (!bin[b]) continue;
        ATN_LANES()
        for (int32_t c = 0; c < parts; ++c) fit[c] += times * table[c];
    }
}

/* A round of EM over some of the atoms: what they add to what the weights of all parts are multiplied with, and, where
 * it is wanted, to the logarithm of the sample's likelihood. */
ATN_IN_LANES static double weigh_some(const mixture *x, const trial *t, bool told, size_t from, size_t to,
                                      double *restrict next) {
    const double *restrict weight = t->weight;
    const int32_t parts = x->parts;
    double likelihood = 0, n = (double)x->pairs->atoms;
    memset(next, 0, (size_t)parts * sizeof *next);
    for (size_t k = from; k < to; ++k) {
        const double *restrict fit = t->fit + k * (size_t)parts;
        double sum = 1e-30;
        ATN_LANES(reduction(+ : sum))
        for (int32_t c = 0; c < parts; ++c) sum += weight[c] * fit[c];
        if (told) likelihood += log(sum) + t->top[k];
        double part = 1 / (sum * n);
        ATN_LANES()
        for (int32_t c = 0; c < parts; ++c) next[c] += fit[c] * part;
    }
    return likelihood;
}

/* The median of an atom's neighbours over what filled sites of its likely parts would give: surfaces lower the mean. */
static double filled(const mixture *x, const trial *t) {
    size_t n = x->pairs->atoms;
    for (size_t k = 0; k < n; ++k) {
        const double *fit = t->fit + k * (size_t)x->parts;
        double sum = 1e-30, expected = 0;
        for (int32_t c = 0; c < x->parts; ++c) {
            sum += t->weight[c] * fit[c];
            expected += t->weight[c] * fit[c] * t->expected[c];
        }
        t->ratio[k] = expected > 0 ? x->pairs->number[k] * sum / expected : 0;
    }
    qsort(t->ratio, n, sizeof *t->ratio, atn_ascending_double);
    return fmin(fmax(t->ratio[n / 2] * (1 - t->background), 0.02), 1);
}

/* ---- what is most likely ---- */

/* Trials that are made side by side, each step of them on all cores. */
typedef struct trials {
    const mixture *x;
    int32_t count;
    trial of[TRIALS];
} trials;

/* Products of what is far from all there is would be denormal, which some processors take a hundred times as long for.
 */
static double some_or_none(double x) { return x > 1e-150 ? x : 0; }

static void table_part(void *user, int64_t from, int64_t to) {
    const trials *all = user;
    for (int64_t k = from; k < to; ++k) fill_table(all->x, &all->of[k / all->x->parts], (int32_t)(k % all->x->parts));
}

static void atom_part(void *user, int64_t from, int64_t to) {
    const trials *all = user;
    int64_t atoms = (int64_t)all->x->pairs->atoms;
    for (int64_t at = from; at < to; ++at) {
        const trial *t = &all->of[at / atoms];
        size_t k = (size_t)(at % atoms);
        double *fit = t->fit + k * (size_t)all->x->parts;
        fill_atom(all->x, t, k);
        t->top[k] = -INFINITY;
        for (int32_t c = 0; c < all->x->parts; ++c) t->top[k] = fmax(t->top[k], fit[c]);
        for (int32_t c = 0; c < all->x->parts; ++c) {
            fit[c] = some_or_none(exp(fit[c] - t->top[k]));
            t->turned[c * atoms + (int64_t)k] = fit[c];
        }
    }
}

/* Sums of a round of EM are those of stretches of atoms. */
enum { STRETCHES = 8 };

/* Weights of all parts that make the sample most likely, from even ones; the logarithm of its likelihood. */
static void weigh_all(const mixture *x, trial *t) {
    size_t atoms = x->pairs->atoms;
    double next[STRETCHES][EDGES * ATN_LATTICE_MOST_MODELS];
    for (int32_t k = 0; k < x->parts; ++k) t->weight[k] = 1.0 / x->parts;
    for (int round = 0; round < ROUNDS; ++round) {
        t->all = 0;
        for (int64_t s = 0; s < STRETCHES; ++s)
            t->all += weigh_some(x, t, round == ROUNDS - 1, lattice_stretch_begin(atoms, STRETCHES, s),
                                 lattice_stretch_begin(atoms, STRETCHES, s + 1), next[s]);
        for (int32_t k = 0; k < x->parts; ++k) {
            double sum = 0;
            for (int s = 0; s < STRETCHES; ++s) sum += next[s][k];
            t->weight[k] = some_or_none(t->weight[k] * sum);
        }
    }
}

/* A trial has a core of its own: a round takes less time than cores take to wait for each other. */
static void mixture_part(void *user, int64_t from, int64_t to) {
    trials *all = user;
    for (int64_t k = from; k < to; ++k) {
        weigh_all(all->x, &all->of[k]);
        all->of[k].efficiency = filled(all->x, &all->of[k]);
    }
}

/* A round of EM like weigh_some, of few parts, many atoms at once. */
ATN_IN_LANES static double weigh_few(const mixture *x, const trial *t, int32_t first, bool told, const double *weight,
                                     double *next) {
    enum { AT_ONCE = 64 };
    double likelihood = 0, n = (double)x->pairs->atoms;
    for (int32_t c = 0; c < x->models; ++c) next[c] = 0;
    for (size_t from = 0; from < x->pairs->atoms; from += AT_ONCE) {
        int32_t some = x->pairs->atoms - from < AT_ONCE ? (int32_t)(x->pairs->atoms - from) : AT_ONCE;
        double sum[AT_ONCE];
        for (int32_t k = 0; k < some; ++k) sum[k] = 1e-30;
        for (int32_t c = 0; c < x->models; ++c) {
            const double *restrict fit = t->turned + (size_t)(first + c) * x->pairs->atoms + from, w = weight[c];
            ATN_LANES()
            for (int32_t k = 0; k < some; ++k) sum[k] += w * fit[k];
        }
        for (int32_t k = 0; k < some && told; ++k) likelihood += log(sum[k]) + t->top[from + (size_t)k];
        ATN_LANES()
        for (int32_t k = 0; k < some; ++k) sum[k] = 1 / (sum[k] * n);
        for (int32_t c = 0; c < x->models; ++c) {
            const double *restrict fit = t->turned + (size_t)(first + c) * x->pairs->atoms + from;
            double more = 0;
            ATN_LANES(reduction(+ : more))
            for (int32_t k = 0; k < some; ++k) more += fit[k] * sum[k];
            next[c] += more;
        }
    }
    return likelihood;
}

/* The logarithm of the likelihood of one size for all models. */
static double weigh_size(const mixture *x, const trial *t, int32_t edge) {
    double likelihood = 0, weight[ATN_LATTICE_MOST_MODELS], next[ATN_LATTICE_MOST_MODELS];
    for (int32_t c = 0; c < x->models; ++c) weight[c] = 1.0 / x->models;
    for (int round = 0; round < ROUNDS; ++round) {
        likelihood = weigh_few(x, t, edge * x->models, round == ROUNDS - 1, weight, next);
        for (int32_t c = 0; c < x->models; ++c) weight[c] = some_or_none(weight[c] * next[c]);
    }
    return likelihood;
}

static void size_part(void *user, int64_t from, int64_t to) {
    trials *all = user;
    for (int64_t k = from; k < to; ++k)
        all->of[k / EDGES].alone[k % EDGES] = weigh_size(all->x, &all->of[k / EDGES], (int32_t)(k % EDGES));
}

/* What was the likeliest so far. */
typedef struct likeliest {
    double noise, background, efficiency, one, all;
    double weight[EDGES * ATN_LATTICE_MOST_MODELS];
} likeliest;

static void keep(const trials *all, const trial *t, likeliest *best) {
    for (int32_t e = 0; e < EDGES; ++e) best->one = fmax(best->one, t->alone[e]);
    if (t->all <= best->all) return;
    best->noise = t->noise, best->background = t->background, best->efficiency = t->efficiency;
    best->all = t->all;
    memcpy(best->weight, t->weight, (size_t)all->x->parts * sizeof *best->weight);
}

/* weights: those of all parts; sizes: how likely each size alone is. */
static void try_all(trials *all, bool weights, bool sizes) {
    int64_t n = all->count, atoms = (int64_t)all->x->pairs->atoms;
    atn_parallel(n * all->x->parts, 4, table_part, all);
    for (int round = 0; round < 2; ++round) {
        for (int32_t k = 0; k < all->count; ++k) fill_numbers(all->x, &all->of[k]);
        atn_parallel(n * atoms, 16, atom_part, all);
        if (round == 0 || weights) atn_parallel_pieces(n, mixture_part, all);
    }
    if (sizes) atn_parallel_pieces(n * EDGES, size_part, all);
}

/* Of several ranks each makes some of the trials, where there are enough one the weights and another the sizes of a
 * trial, and all get what keep() looks at. */
static atn_status try_shared(atn_lattice *l, trials *all) {
    trials own = {.x = all->x};
    atn_status status = ATN_OK;
    int32_t apart = l->ranks->count >= 2 * all->count ? all->count : 0; /* sizes: by the rank that many behind */
    bool weights = false;
    for (int32_t k = 0; k < all->count; ++k) {
        weights = weights || lattice_shared_is_mine(l, k);
        if (lattice_shared_is_mine(l, k) || lattice_shared_is_mine(l, k + apart)) own.of[own.count++] = all->of[k];
    }
    try_all(&own, weights, !weights || !apart);
    for (int32_t k = 0, n = 0; k < all->count && status == ATN_OK; ++k) {
        trial *t = &all->of[k];
        if (lattice_shared_is_mine(l, k) || lattice_shared_is_mine(l, k + apart)) *t = own.of[n++];
        double said[2] = {t->all, t->efficiency};
        status = lattice_shared_take(l, k, said, sizeof said);
        if (status == ATN_OK) status = lattice_shared_take(l, k, t->weight, (size_t)all->x->parts * sizeof *t->weight);
        if (status == ATN_OK) status = lattice_shared_take(l, k + apart, t->alone, sizeof t->alone);
        t->all = said[0], t->efficiency = said[1];
    }
    return status;
}

/* All that were added. */
static atn_status make(atn_lattice *l, trials *all) {
    if (l->ranks) return try_shared(l, all);
    try_all(all, true, true);
    return ATN_OK;
}

/* The same, and none are left. */
static atn_status attempt(atn_lattice *l, trials *all, likeliest *best) {
    atn_status status = make(l, all);
    for (int32_t k = 0; k < all->count && status == ATN_OK; ++k) keep(all, &all->of[k], best);
    all->count = 0;
    return status;
}

static void add(trials *all, double noise, double background, double efficiency) {
    trial *t = &all->of[all->count++];
    t->noise = noise, t->background = background, t->efficiency = efficiency;
}

/* Noises (fine), or backgrounds, one after the other, each beside what is the likeliest by then. Ranks, or many cores,
 * make those that follow at the same time: they hold as long as none before them was likelier. */
static atn_status in_turn(atn_lattice *l, trials *all, const double *list, int count, bool fine, likeliest *best) {
    atn_status status = ATN_OK;
    for (int k = 0; k < count && status == ATN_OK;) {
        int ahead = l->ranks ? l->ranks->count : atn_parallel_some(1, TRIALS);
        for (int m = k; m < count && m < k + ahead; ++m)
            add(all, fine ? best->noise * list[m] : best->noise, fine ? best->background : list[m], best->efficiency);
        status = make(l, all);
        bool better = false;
        for (int32_t m = 0; m < all->count && !better && status == ATN_OK; ++m, ++k) {
            better = all->of[m].all > best->all;
            keep(all, &all->of[m], best);
        }
        all->count = 0;
    }
    return status;
}

/* From several efficiencies: half the sites of half the volume are as many, and where EM starts it may stay. */
static atn_status attempts(atn_lattice *l, trials *all, double first, likeliest *best) {
    double given = lattice_given_noise(l);
    atn_status status = ATN_OK;
    static const double BACKGROUND[] = {0.01, 0.08}, FINE[] = {0.76, 0.87, 1.15, 1.3}, EFFICIENCY[] = {0.3, 0.55, 0.8};
    for (double noise = 0.04; noise < 0.3 && status == ATN_OK; noise *= given > 0 ? 10 : 1.6) {
        double here = given > 0 ? given : noise * first, own = best->efficiency;
        add(all, here, 0.03, own);
        for (int k = 0; k < 3; ++k)
            if (fabs(EFFICIENCY[k] - own) > 0.1) add(all, here, 0.03, EFFICIENCY[k]);
        status = attempt(l, all, best);
    }
    if (status == ATN_OK && !(given > 0)) status = in_turn(l, all, FINE, 4, true, best);
    return status == ATN_OK ? in_turn(l, all, BACKGROUND, 2, false, best) : status;
}

/* The heaviest stretch of neighbouring sizes, of all models, farther than that from `not`: its weight and mean. */
static double heaviest(const mixture *x, const likeliest *t, double not, double *edge) {
    double most = 0;
    for (int32_t a = 0; a < x->parts; ++a) {
        double sum = 0, mean = 0, centre = x->edge[a / x->models][a % x->models];
        for (int32_t c = 0; c < x->parts && centre > 0; ++c) {
            double here = x->edge[c / x->models][c % x->models];
            if (fabs(here - centre) > STRETCH * centre || fabs(here - not ) <= STRETCH * not ) continue;
            sum += t->weight[c];
            mean += t->weight[c] * here;
        }
        if (sum > most) most = sum, *edge = mean / sum;
    }
    return most;
}

/* Which model has which of two sizes: distances hardly say at large noise, so both ways are told: bcc the smaller and
 * what is closely packed the larger, and the other way round. */
static int32_t sizes(const atn_lattice *l, const mixture *x, const likeliest *t, lattice_sizes out[2], bool *two) {
    double size[2] = {0};
    bool loose = false, close = false;
    heaviest(x, t, 0, &size[0]);
    *two = heaviest(x, t, size[0], &size[1]) >= LEAST && t->all >= t->one + GAIN;
    if (!*two) return 0;
    for (int way = 0; way < 2; ++way) {
        out[way] = (lattice_sizes){
            .noise = t->noise, .background = t->background, .efficiency = t->efficiency, .size = {size[0], size[1]}};
        for (int32_t m = 0; m < x->models; ++m) {
            const atn_lattice_model *model = &l->settings.model[m];
            bool is = lattice_kind_is_bcc(model->name);
            double fixed = model->constant > 0 ? cbrt(lattice_kind_volume(model->name, model->constant)) : 0;
            out[way].edge[m] = fixed > 0 ? fixed : size[is == way];
            if (!model->points) loose = loose || is, close = close || !is;
        }
    }
    return loose && close ? 2 : 0;
}

static atn_status prepare(const atn_lattice *l, mixture *x, double first) {
    atn_status status = ATN_OK;
    for (int32_t m = 0; m < x->models && status == ATN_OK; ++m) {
        const atn_lattice_model *model = &l->settings.model[m];
        double fixed = model->constant > 0 ? cbrt(lattice_kind_volume(model->name, model->constant)) : 0;
        for (int32_t e = 0; e < EDGES && !model->points; ++e)
            x->edge[e][m] = fixed > 0 ? fixed : first * (SMALLEST + STEP * e);
        if (model->points) continue;
        status =
            lattice_shells_make(l->ctx, model->name, fmin(x->pairs->reach / (SMALLEST * first) + 1, 6), &x->shells[m]);
    }
    return status;
}

atn_status lattice_phases(atn_lattice *l, const lattice_pairs *pairs, double first, double efficiency,
                          lattice_sizes out[2], int32_t *ways, bool *two) {
    size_t parts = EDGES * (size_t)l->info.models, atoms = pairs->atoms, room = trial_room(atoms, parts);
    mixture *x = atn_zalloc(l->ctx, sizeof *x);
    double *block = atn_alloc(l->ctx, (atoms + TRIALS * room) * sizeof *block);
    atn_status status = x && block ? ATN_OK : ATN_ERR_MEMORY;
    *ways = 0;
    *two = false;
    if (status == ATN_OK) {
        *x = (mixture){.pairs = pairs, .models = l->info.models, .parts = (int32_t)parts, .rise = block};
        for (size_t k = 0; k < atoms; ++k) x->rise[k] = lgamma(pairs->number[k] + SHAPE) - lgamma(SHAPE);
        status = prepare(l, x, first);
    }
    if (status == ATN_OK) {
        trials all = {.x = x};
        likeliest best = {.all = -INFINITY, .one = -INFINITY, .efficiency = efficiency};
        for (size_t k = 0; k < TRIALS; ++k) all.of[k] = trial_make(x, block + atoms + k * room);
        status = attempts(l, &all, first, &best);
        if (status == ATN_OK) *ways = sizes(l, x, &best, out, two);
    }
    atn_free(l->ctx, x);
    atn_free(l->ctx, block);
    return status;
}
