/* Phases of a frame from the distances of pairs, atom by atom. An atom of a lattice with shells n_s at r_s sees
 * distances of the density p sum_s n_s f(r; r_s, s) + e 4 pi r^2,   f = r / (r_s s sqrt(2 pi)) (exp(-(r - r_s)^2 / 2
 * s^2) - exp(-(r + r_s)^2 / 2 s^2)). The frame is a mixture of all models of all sizes on a grid; its weights come from
 * EM, noise and background are those with which it is most likely. Two sizes are tried where one is less likely. */
#include "apps/lattice/parts.h"
#include "apps/lattice/shared.h"

#include "base/compare.h"
#include "base/lane_math.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGES = 41, ROUNDS = 60, FEW_ROUNDS = 20, BINS = LATTICE_PAIR_BINS };
enum { TRIALS = 4, MOST_TRIALS = 5 }; /* efficiencies of a noise; noises that are tried at once */
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

/* What a shell adds to densities in the middles of some bins. */
ATN_IN_LANES static void add_shell(double times, double rs, double per_noise, double step, int from, int to,
                                   double *restrict out) {
    ATN_LANES()
    for (int b = from; b < to; ++b) {
        double r = (b + 0.5) * step, low = (r - rs) * per_noise, high = (r + rs) * per_noise;
        out[b] += times * r * (atn_lane_exp(-0.5 * low * low) - atn_lane_exp(-0.5 * high * high));
    }
}

void lattice_radial_bins(const lattice_shells *s, double edge, double noise, double step, double *out) {
    memset(out, 0, BINS * sizeof *out);
    for (int32_t k = 0; k < s->count; ++k) {
        const double rs = s->radius[k] * edge, most = 5 * noise;
        if (rs - most > step * BINS) break;
        int from = (int)fmax(0, ceil((rs - most) / step - 0.5)), to = (int)fmin(BINS, floor((rs + most) / step + 0.5));
        add_shell(s->points[k] / (rs * noise * sqrt(2 * PI)), rs, 1 / noise, step, from, to, out);
    }
}

/* ---- the mixture ---- */

enum { LANES = 16, WIDE = (EDGES + LANES - 1) / LANES * LANES, MOST_PARTS = WIDE * ATN_LATTICE_MOST_MODELS };

typedef struct mixture {
    const lattice_pairs *pairs;
    int32_t models, parts; /* part: edge e of model m is m * WIDE + e; those from EDGES on are none */
    lattice_shells shells[ATN_LATTICE_MOST_MODELS];
    double edge[MOST_PARTS]; /* 0: none */
    double *rise;            /* of an atom: log (SHAPE + n - 1)! / (SHAPE - 1)! */
} mixture;

/* What was the likeliest: of the free mixture, and of one size for all models. */
typedef struct likeliest {
    double noise, background, efficiency, one, all;
    float weight[MOST_PARTS];
} likeliest;

/* Mixtures of one noise and background, which differ in the efficiency: what distances say is the same for all of them.
 */
typedef struct trial {
    const mixture *x;
    double noise, background, efficiency[TRIALS];
    int32_t count, from, to; /* efficiencies; those that are tried here, from `from` to `to` - 1 */
    likeliest *found;        /* what came of each */
    double *table;           /* BINS x parts: logarithms of densities of distances */
    double *base;            /* atoms x parts: logarithms of an atom's distances */
    double *top;             /* of each atom: the logarithm of its largest likelihood */
    double *ratio;           /* of an atom: neighbours found over those of filled sites */
    double *expected;        /* of each part: neighbours with all sites filled */
    double *none, *each;     /* of each part: number of neighbours (fill_numbers) */
    float *fit;              /* atoms x parts: likelihood, the largest of an atom is 1 */
} trial;

static size_t trial_room(size_t atoms, size_t parts) {
    return atoms * (parts + 2) + (3 + BINS) * parts + (atoms * parts + 1) / 2;
}

static void trial_place(trial *t, double *block) {
    size_t atoms = t->x->pairs->atoms, parts = (size_t)t->x->parts;
    t->table = block, t->base = t->table + BINS * parts, t->top = t->base + atoms * parts;
    t->ratio = t->top + atoms, t->expected = t->ratio + atoms, t->none = t->expected + parts;
    t->each = t->none + parts, t->fit = (float *)(t->each + parts);
}

ATN_IN_LANES static void fill_logs(const double *restrict rate, const double *restrict gas, double times,
                                   double *restrict out) {
    ATN_LANES()
    for (int b = 0; b < BINS; ++b) out[b] = atn_lane_log(times * rate[b] + gas[b]);
}

/* Logarithms of the densities of distances of each part, into its column of the table. */
static void fill_table(const trial *t) {
    const mixture *x = t->x;
    double step = x->pairs->reach / BINS, gas[BINS], rate[BINS], column[BINS];
    for (int b = 0; b < BINS; ++b) gas[b] = t->background * 3 * (b + 0.5) / BINS * (b + 0.5) / BINS / BINS;
    for (int32_t c = 0; c < x->parts; ++c) {
        double sum = 0;
        memset(column, 0, sizeof column);
        if (x->edge[c] > 0) {
            lattice_radial_bins(&x->shells[c / WIDE], x->edge[c], t->noise, step, rate);
            for (int b = 0; b < BINS; ++b) sum += step * rate[b];
            fill_logs(rate, gas, (1 - t->background) * step / fmax(sum, 1e-3), column);
        }
        t->expected[c] = fmax(sum, 1e-3);
        for (int b = 0; b < BINS; ++b) t->table[(size_t)b * (size_t)x->parts + (size_t)c] = column[b];
    }
}

/* What no neighbours say of each part, and what each of them does. */
static void fill_numbers(const trial *t, double efficiency) {
    for (int32_t c = 0; c < t->x->parts; ++c) {
        double number = efficiency * t->expected[c] / (1 - t->background);
        t->none[c] = t->x->edge[c] > 0 ? SHAPE * log(SHAPE / (SHAPE + number)) : -INFINITY;
        t->each[c] = log(number / (SHAPE + number)); /* negative binomial, but for what all parts share */
    }
}

/* Logarithms of one atom's distances, for each part. */
ATN_IN_LANES static void fill_base(const trial *t, size_t k) {
    const uint16_t *bin = t->x->pairs->bin + k * BINS;
    const int32_t parts = t->x->parts;
    double *restrict base = t->base + k * (size_t)parts;
    memset(base, 0, (size_t)parts * sizeof *base);
    for (int b = 0; b < BINS; ++b) {
        const double *restrict table = t->table + (size_t)b * (size_t)parts, times = bin[b];
        if (!bin[b]) continue;
        ATN_LANES()
        for (int32_t c = 0; c < parts; ++c) base[c] += times * table[c];
    }
}

/* Products of what is far from all there is would be denormal, which some processors take a hundred times as long for.
 */
static const float LEAST_FIT = 1e-30F, LEAST_WEIGHT = 1e-7F, NOTHING = 1e-30F;

/* Likelihoods of one atom, from its distances and number. */
ATN_IN_LANES static void fill_atom(const trial *t, size_t k) {
    const int32_t parts = t->x->parts;
    const double *restrict none = t->none, *restrict each = t->each, *restrict base = t->base + k * (size_t)parts;
    const double rise = t->x->rise[k], number = t->x->pairs->number[k];
    double top = -INFINITY;
    float *restrict fit = t->fit + k * (size_t)parts;
    ATN_LANES(reduction(max : top))
    for (int32_t c = 0; c < parts; ++c) {
        double here = base[c] + none[c] + number * each[c];
        top = here > top ? here : top;
    }
    ATN_LANES()
    for (int32_t c = 0; c < parts; ++c) {
        float here = (float)atn_lane_exp(base[c] + none[c] + number * each[c] - top);
        fit[c] = here > LEAST_FIT ? here : 0;
    }
    t->top[k] = top + rise;
}

/* A round of EM over some of the atoms: what they add to what the weights of all parts are multiplied with; returns the
 * logarithm of their likelihood where it is wanted. */
ATN_IN_LANES static double weigh_some(const trial *t, bool told, const float *restrict weight, size_t from, size_t to,
                                      float *restrict next) {
    const int32_t parts = t->x->parts;
    double likelihood = 0;
    memset(next, 0, (size_t)parts * sizeof *next);
    for (size_t k = from; k < to; ++k) {
        const float *restrict fit = t->fit + k * (size_t)parts;
        float sum = NOTHING;
        ATN_LANES(reduction(+ : sum))
        for (int32_t c = 0; c < parts; ++c) sum += weight[c] * fit[c];
        if (told) likelihood += log((double)sum) + t->top[k];
        const float part = 1 / sum;
        ATN_LANES()
        for (int32_t c = 0; c < parts; ++c) next[c] += fit[c] * part;
    }
    return likelihood;
}

/* Sums of a round of EM are those of stretches of atoms. */
enum { STRETCHES = 8 };

static void multiply(const float (*next)[MOST_PARTS], int32_t parts, double per, float *weight) {
    for (int32_t c = 0; c < parts; ++c) {
        double sum = 0;
        for (int s = 0; s < STRETCHES; ++s) sum += (double)next[s][c];
        float here = (float)((double)weight[c] * sum * per);
        weight[c] = here > LEAST_WEIGHT ? here : 0;
    }
}

/* Weights of all parts that make the sample most likely, from even ones; the logarithm of its likelihood. */
static double weigh_all(const trial *t, int rounds, float weight[MOST_PARTS]) {
    size_t atoms = t->x->pairs->atoms;
    float next[STRETCHES][MOST_PARTS];
    double likelihood = 0;
    for (int32_t c = 0; c < t->x->parts; ++c) weight[c] = c % WIDE < EDGES ? (float)(1.0 / (EDGES * t->x->models)) : 0;
    for (int round = 0; round < rounds; ++round) {
        likelihood = 0;
        for (int64_t s = 0; s < STRETCHES; ++s)
            likelihood += weigh_some(t, round == rounds - 1, weight, lattice_stretch_begin(atoms, STRETCHES, s),
                                     lattice_stretch_begin(atoms, STRETCHES, s + 1), next[s]);
        multiply((const float(*)[MOST_PARTS])next, t->x->parts, 1 / (double)atoms, weight);
    }
    return likelihood;
}

/* The same of each size by itself, of which all models are: logarithms of likelihoods where they are wanted. */
ATN_IN_LANES static void weigh_sizes(const trial *t, double *restrict told, const float *restrict weight, size_t from,
                                     size_t to, float *restrict next) {
    const int32_t models = t->x->models;
    memset(next, 0, (size_t)t->x->parts * sizeof *next);
    for (size_t k = from; k < to; ++k) {
        float sum[WIDE];
        for (int e = 0; e < WIDE; ++e) sum[e] = NOTHING;
        for (int32_t m = 0; m < models; ++m) {
            const float *restrict fit = t->fit + (k * (size_t)models + (size_t)m) * WIDE, *restrict w =
                                                                                              weight + m * WIDE;
            ATN_LANES()
            for (int e = 0; e < WIDE; ++e) sum[e] += w[e] * fit[e];
        }
        const double top = t->top[k];
        if (told) {
            ATN_LANES()
            for (int e = 0; e < WIDE; ++e) told[e] += atn_lane_log((double)sum[e]) + top;
        }
        ATN_LANES()
        for (int e = 0; e < WIDE; ++e) sum[e] = 1 / sum[e];
        for (int32_t m = 0; m < models; ++m) {
            const float *restrict fit = t->fit + (k * (size_t)models + (size_t)m) * WIDE;
            float *restrict to_add = next + m * WIDE;
            ATN_LANES()
            for (int e = 0; e < WIDE; ++e) to_add[e] += fit[e] * sum[e];
        }
    }
}

/* The logarithm of the likelihood of the best size. */
static double weigh_one(const trial *t) {
    size_t atoms = t->x->pairs->atoms;
    float next[STRETCHES][MOST_PARTS], weight[MOST_PARTS];
    double told[WIDE] = {0}, most = -INFINITY;
    for (int32_t c = 0; c < t->x->parts; ++c) weight[c] = (float)(1.0 / t->x->models);
    for (int round = 0; round < ROUNDS; ++round) {
        for (int64_t s = 0; s < STRETCHES; ++s)
            weigh_sizes(t, round == ROUNDS - 1 ? told : NULL, weight, lattice_stretch_begin(atoms, STRETCHES, s),
                        lattice_stretch_begin(atoms, STRETCHES, s + 1), next[s]);
        multiply((const float(*)[MOST_PARTS])next, t->x->parts, 1 / (double)atoms, weight);
    }
    for (int e = 0; e < EDGES; ++e) most = fmax(most, told[e]);
    return most;
}

/* The median of an atom's neighbours over what filled sites of its likely parts would give: surfaces lower the mean. */
static double filled(const trial *t, const float *weight) {
    size_t n = t->x->pairs->atoms;
    for (size_t k = 0; k < n; ++k) {
        const float *fit = t->fit + k * (size_t)t->x->parts;
        double sum = (double)NOTHING, expected = 0;
        for (int32_t c = 0; c < t->x->parts; ++c) {
            double here = (double)weight[c] * (double)fit[c];
            sum += here;
            expected += here * t->expected[c];
        }
        t->ratio[k] = expected > 0 ? t->x->pairs->number[k] * sum / expected : 0;
    }
    qsort(t->ratio, n, sizeof *t->ratio, atn_ascending_double);
    return fmin(fmax(t->ratio[n / 2] * (1 - t->background), 0.02), 1);
}

/* ---- what is most likely ---- */

/* One efficiency to begin with: that which comes of it after few rounds is tried. */
static void try_efficiency(const trial *t, double efficiency, likeliest *out) {
    out->noise = t->noise, out->background = t->background, out->efficiency = efficiency;
    for (int round = 0; round < 2; ++round) {
        fill_numbers(t, out->efficiency);
        for (size_t k = 0; k < t->x->pairs->atoms; ++k) fill_atom(t, k);
        out->all = weigh_all(t, round ? ROUNDS : FEW_ROUNDS, out->weight);
        out->efficiency = filled(t, out->weight);
    }
    out->one = weigh_one(t);
}

static void trial_part(void *user, int64_t from, int64_t to) {
    trial *all = user;
    for (const trial *t = all + from; t < all + to; ++t) {
        if (t->from >= t->to) continue;
        fill_table(t);
        for (size_t k = 0; k < t->x->pairs->atoms; ++k) fill_base(t, k);
        for (int32_t k = t->from; k < t->to; ++k) try_efficiency(t, t->efficiency[k], &t->found[k]);
    }
}

/* Some trials, side by side on all cores of all ranks. */
typedef struct trials {
    int32_t count;
    trial of[MOST_TRIALS];
    likeliest found[MOST_TRIALS * TRIALS]; /* of each efficiency, trial by trial */
} trials;

/* All that were added, of which none are left; the first of the likeliest is taken. */
static atn_status attempt(atn_lattice *l, trials *all, likeliest *best) {
    size_t from, to, count = 0;
    for (trial *t = all->of; t < all->of + all->count; ++t) {
        t->found = all->found + count;
        count += (size_t)t->count;
    }
    lattice_shared_cut(l, count, &from, &to);
    for (trial *t = all->of; t < all->of + all->count; ++t) {
        int32_t first = (int32_t)(t->found - all->found), low = (int32_t)from - first, high = (int32_t)to - first;
        t->from = low > 0 ? low : 0;
        t->to = high < t->count ? high : t->count;
    }
    atn_parallel_pieces(all->count, trial_part, all->of);
    atn_status status = lattice_shared_join(l, ATN_OK, all->found, count, sizeof *all->found);
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        const likeliest *found = &all->found[k];
        double one = fmax(best->one, found->one);
        if (found->all > best->all) *best = *found;
        best->one = one;
    }
    all->count = 0;
    return status;
}

static trial *add(trials *all, double noise, double background, double efficiency) {
    trial *t = &all->of[all->count++];
    t->noise = noise, t->background = background;
    t->count = 1, t->efficiency[0] = efficiency;
    return t;
}

/* From several efficiencies: half the sites of half the volume are as many, and where EM starts it may stay. Then
 * noises, and backgrounds, beside what is the likeliest by then. */
static atn_status attempts(atn_lattice *l, trials *all, double first, likeliest *best) {
    static const double BACKGROUND[] = {0.01, 0.08}, FINE[] = {0.76, 0.87, 1.15, 1.3}, EFFICIENCY[] = {0.3, 0.55, 0.8};
    double given = lattice_given_noise(l), own = best->efficiency;
    const double next = given > 0 ? 10 : 1.6;
    for (double noise = 0.04; noise < 0.3; noise *= next) {
        trial *t = add(all, given > 0 ? given : noise * first, 0.03, own);
        for (int k = 0; k < 3; ++k)
            if (fabs(EFFICIENCY[k] - own) > 0.1) t->efficiency[t->count++] = EFFICIENCY[k];
    }
    atn_status status = attempt(l, all, best);
    for (int k = 0; k < 4 && !(given > 0); ++k) add(all, best->noise * FINE[k], best->background, best->efficiency);
    if (status == ATN_OK) status = attempt(l, all, best);
    for (int k = 0; k < 2; ++k) add(all, best->noise, BACKGROUND[k], best->efficiency);
    return status == ATN_OK ? attempt(l, all, best) : status;
}

/* The heaviest stretch of neighbouring sizes, of all models, farther than that from `not`: its weight and mean. */
static double heaviest(const mixture *x, const likeliest *t, double not, double *edge) {
    double most = 0;
    for (int32_t a = 0; a < x->parts; ++a) {
        double sum = 0, mean = 0, centre = x->edge[a];
        for (int32_t c = 0; c < x->parts && centre > 0; ++c) {
            double here = x->edge[c], weight = (double)t->weight[c];
            if (fabs(here - centre) > STRETCH * centre || fabs(here - not ) <= STRETCH * not ) continue;
            sum += weight;
            mean += weight * here;
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
            x->edge[m * WIDE + e] = fixed > 0 ? fixed : first * (SMALLEST + STEP * e);
        if (model->points) continue;
        status =
            lattice_shells_make(l->ctx, model->name, fmin(x->pairs->reach / (SMALLEST * first) + 1, 6), &x->shells[m]);
    }
    return status;
}

atn_status lattice_phases(atn_lattice *l, const lattice_pairs *pairs, double first, double efficiency,
                          lattice_sizes out[2], int32_t *ways, bool *two) {
    size_t parts = WIDE * (size_t)l->info.models, atoms = pairs->atoms, room = trial_room(atoms, parts);
    mixture *x = atn_zalloc(l->ctx, sizeof *x);
    trials *all = atn_zalloc(l->ctx, sizeof *all);
    double *block = atn_alloc(l->ctx, (atoms + MOST_TRIALS * room) * sizeof *block);
    atn_status status = x && all && block ? ATN_OK : ATN_ERR_MEMORY;
    *ways = 0;
    *two = false;
    if (status == ATN_OK) {
        *x = (mixture){.pairs = pairs, .models = l->info.models, .parts = (int32_t)parts, .rise = block};
        for (size_t k = 0; k < atoms; ++k) x->rise[k] = lgamma(pairs->number[k] + SHAPE) - lgamma(SHAPE);
        status = prepare(l, x, first);
    }
    if (status == ATN_OK) {
        likeliest best = {.all = -INFINITY, .one = -INFINITY, .efficiency = efficiency};
        for (size_t k = 0; k < MOST_TRIALS; ++k) {
            all->of[k].x = x;
            trial_place(&all->of[k], block + atoms + k * room);
        }
        status = attempts(l, all, first, &best);
        if (status == ATN_OK) *ways = sizes(l, x, &best, out, two);
    }
    atn_free(l->ctx, x);
    atn_free(l->ctx, all);
    atn_free(l->ctx, block);
    return status;
}
