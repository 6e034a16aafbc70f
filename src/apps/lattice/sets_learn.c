/* Settings of neighbourhoods that come one by one, from all of them together: with noise s, efficiency p, background
 * atoms e and a scale of the constants a set of n neighbours at distances r_k has the likelihood
 *   sum_m w_m P_m(n) prod_k h_m(r_k),
 * P_m the chance of n (number.c), h_m the distribution of distances, w_m the shares of the models, by EM. They are
 * searched coordinate by coordinate. Constants stay those of the alloy that people measure against unless another scale
 * makes a neighbour much likelier: distances of few neighbours hardly tell structures and sizes apart. */
#include "apps/lattice/parts.h"

#include "base/memory.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { BINS = LATTICE_PAIR_BINS, MOST_SETS = 800, LEAST_SETS = 40, ROUNDS = 12 };
static const double PI = 3.14159265358979323846;
static const atn_lattice_settings USUAL = {.cutoff = 4.5, .noise = 0.27, .efficiency = 0.55, .background = 0.03};
static const double USUAL_SHAPE = 8;
static const double MOST_BACKGROUND = 0.1; /* more cannot be distinguished from noise */
static const double STEPS = 0.1;           /* Angstrom that rotations tried in steps are off, for neighbours of a few */
static const double MUCH = 0.15;           /* nats a neighbour */
static const double CLEAR = 15;            /* nats of all sets */

typedef struct values {
    double scale, noise, efficiency, background, shape; /* noise of pairs */
    double likelihood;
} values;

typedef struct learning {
    atn_lattice *l;
    size_t sets;
    uint16_t *bins; /* sets x BINS */
    int32_t *number;
    double mean, cutoff;
    double *fit; /* sets x models */
    bool even;   /* models are as likely as each other */
} learning;

/* ---- the likelihood ---- */

/* Points of a model times a scale, as a view of its own; freed by the caller. */
static atn_status scaled(const learning *x, int32_t m, double scale, double reach, lattice_points *out) {
    const atn_lattice_model *model = &x->l->settings.model[m];
    double constant = model->constant > 0 ? model->constant : lattice_kind_default(model->name) * scale;
    return lattice_points_make(x->l->ctx, model, constant, reach, out);
}

static void distances_of(const learning *x, const lattice_points *p, const values *v, double out[BINS]) {
    double step = x->cutoff / BINS, sum = 0, volume = 4.0 / 3 * PI * pow(x->cutoff, 3);
    double density = fmax(v->background * x->mean, 0.02) / volume;
    for (int b = 0; b < BINS; ++b) out[b] = density * 4 * PI * pow((b + 0.5) * step, 2);
    for (size_t k = 0; k < p->count;) {
        double rs = 0, times = 0, r = 0;
        for (; k < p->count; ++k, ++times) { /* shells */
            r = sqrt(pow(p->axis[0][k], 2) + pow(p->axis[1][k], 2) + pow(p->axis[2][k], 2));
            if (times > 0 && fabs(r - rs) > 1e-6) break;
            rs = r;
        }
        for (int b = 0; b < BINS; ++b) {
            double at = (b + 0.5) * step, low = (at - rs) / v->noise, high = (at + rs) / v->noise;
            if (fabs(low) < 5)
                out[b] += times * v->efficiency * at / (rs * v->noise * sqrt(2 * PI)) *
                          (exp(-0.5 * low * low) - exp(-0.5 * high * high));
        }
    }
    for (int b = 0; b < BINS; ++b) sum += out[b];
    for (int b = 0; b < BINS; ++b) out[b] = log(out[b] / sum);
}

static atn_status fill(learning *x, const values *v) {
    int32_t models = x->l->info.models;
    double number[ATN_LATTICE_MOST_NEIGHBOURS + 1], table[BINS];
    for (int32_t m = 0; m < models; ++m) {
        lattice_points p;
        atn_status status = scaled(x, m, v->scale, x->cutoff + 3.5 * v->noise, &p);
        if (status != ATN_OK) return status;
        lattice_number about = {x->cutoff, v->noise, v->efficiency, v->shape, fmax(v->background * x->mean, 0.02)};
        lattice_number_make(&p, &about, number);
        distances_of(x, &p, v, table);
        lattice_points_free(x->l->ctx, &p);
        for (size_t s = 0; s < x->sets; ++s) {
            const uint16_t *bin = x->bins + s * BINS;
            double sum = number[x->number[s]];
            for (int b = 0; b < BINS; ++b)
                if (bin[b]) sum += bin[b] * table[b];
            x->fit[s * (size_t)models + (size_t)m] = sum;
        }
    }
    return ATN_OK;
}

static double mixture(const learning *x) {
    int32_t models = x->l->info.models;
    double weight[ATN_LATTICE_MOST_MODELS], likelihood = 0;
    for (int32_t m = 0; m < models; ++m) weight[m] = 1.0 / models;
    for (int round = 0; round < (x->even ? 1 : ROUNDS); ++round) {
        double next[ATN_LATTICE_MOST_MODELS] = {0};
        likelihood = 0;
        for (size_t s = 0; s < x->sets; ++s) {
            const double *fit = x->fit + s * (size_t)models;
            double high = -INFINITY, sum = 0;
            for (int32_t m = 0; m < models; ++m) high = fmax(high, fit[m]);
            for (int32_t m = 0; m < models; ++m) sum += weight[m] * exp(fit[m] - high);
            for (int32_t m = 0; m < models; ++m) next[m] += weight[m] * exp(fit[m] - high) / sum;
            likelihood += high + log(sum);
        }
        for (int32_t m = 0; m < models; ++m) weight[m] = fmax(next[m] / (double)x->sets, 1e-6);
    }
    return likelihood;
}

static atn_status attempt(learning *x, values v, values *best) {
    atn_status status = atn_check_cancel(x->l->ctx);
    if (status == ATN_OK) status = fill(x, &v);
    if (status != ATN_OK) return status;
    v.likelihood = mixture(x);
    if (v.likelihood > best->likelihood) *best = v;
    return ATN_OK;
}

/* ---- the search ---- */

/* One coordinate, times factors; where it was not given. */
static atn_status along(learning *x, size_t offset, const double *factor, size_t count, double most, values *best) {
    values from = *best;
    atn_status status = ATN_OK;
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        values v = from;
        double *at = (double *)((char *)&v + offset);
        *at = fmin(*at * factor[k], most);
        status = attempt(x, v, best);
    }
    return status;
}

static atn_status polish(learning *x, int rounds, values *best) {
    static const double COARSE[] = {0.6, 0.77, 1.3, 1.7}, FINE[] = {0.85, 0.93, 1.08, 1.17}, SHARES[] = {0.3, 1.7, 3.4},
                        FINEST[] = {0.95, 0.975, 1.025, 1.05}, SHAPES[] = {0.3, 3};
    const atn_lattice_settings *s = &x->l->settings;
    atn_status status = ATN_OK;
    for (int round = 0; round < rounds && status == ATN_OK; ++round) {
        const double *factor = round < 2 ? COARSE : round < 4 ? FINE : FINEST;
        if (!(s->noise > 0)) status = along(x, offsetof(values, noise), factor, 4, 0.6 * x->cutoff, best);
        if (status == ATN_OK && !(s->efficiency > 0))
            status = along(x, offsetof(values, efficiency), factor, 4, 0.99, best);
        if (status == ATN_OK && !lattice_background_given(s))
            status = along(x, offsetof(values, background), SHARES, 3, MOST_BACKGROUND, best);
        if (status == ATN_OK && round > 0) status = along(x, offsetof(values, shape), SHAPES, 2, 2000, best);
    }
    return status;
}

static atn_status search(learning *x, values *best) {
    static const double NOISES[] = {0.4, 1, 2, 3.2}, TIMES[] = {0.6, 1, 1.6};
    values start = *best, other;
    double neighbours = fmax(x->mean * (double)x->sets, 1);
    atn_status status = ATN_OK;
    for (int n = 0; n < 4 && status == ATN_OK; ++n)
        for (int k = 0; k < 3 && status == ATN_OK; ++k) {
            values v = start;
            if (!(x->l->settings.noise > 0)) v.noise *= NOISES[n];
            if (!(x->l->settings.efficiency > 0)) v.efficiency = fmin(v.efficiency * TIMES[k], 0.99);
            status = attempt(x, v, best);
        }
    if (status == ATN_OK) status = polish(x, 6, best);
    other = *best;
    for (double scale = 0.7; scale < 1.45 && status == ATN_OK; scale *= 1.04)
        for (double efficiency = 0.3; efficiency < 1 && status == ATN_OK; efficiency += 0.3)
            for (double noise = 0.15; noise < 1 && status == ATN_OK; noise *= 2.2) {
                values v = *best;
                v.scale = scale;
                if (!(x->l->settings.efficiency > 0)) v.efficiency = efficiency;
                if (!(x->l->settings.noise > 0)) v.noise = noise;
                status = attempt(x, v, &other);
            }
    if (status != ATN_OK || other.likelihood < best->likelihood + MUCH * neighbours) return status;
    static const double SCALES[] = {0.97, 0.985, 1.015, 1.03};
    *best = other;
    for (int round = 0; round < 3 && status == ATN_OK; ++round) {
        status = polish(x, round + 1, best);
        if (status == ATN_OK) status = along(x, offsetof(values, scale), SCALES, 4, 10, best);
    }
    return status;
}

/* With equally likely models, and with any shares: at large noise, shares and efficiency can hardly be distinguished,
 * so other shares must make the sets clearly likelier. */
static atn_status search_both(learning *x, values *best) {
    values any = *best;
    x->even = true;
    atn_status status = search(x, best);
    x->even = false;
    if (status == ATN_OK) status = search(x, &any);
    if (status == ATN_OK && any.likelihood > best->likelihood + CLEAR) *best = any;
    return status;
}

/* ---- what there is ---- */

/* As far as neighbours reach. */
static double farthest(const lattice_sets *sets) {
    double most = 0;
    for (size_t s = 0; s < sets->count; ++s)
        for (size_t k = sets->start[s]; k < sets->start[s + 1]; ++k) {
            double square = 0;
            for (int axis = 0; axis < 3; ++axis)
                square += pow(sets->position[axis][k] - sets->position[axis][sets->start[s]], 2);
            most = fmax(most, square);
        }
    return sqrt(most) * sets->angstrom;
}

static void sample(learning *x, const lattice_sets *sets, float *room) {
    enum { MOST = ATN_LATTICE_MOST_NEIGHBOURS };
    size_t step = sets->count / MOST_SETS + 1;
    for (size_t s = 0; s < sets->count && x->sets < MOST_SETS; s += step) {
        uint16_t *bin = x->bins + x->sets * BINS;
        int32_t n = lattice_set_near(sets, s, x->cutoff, room, room + MOST, room + 2 * MOST);
        memset(bin, 0, BINS * sizeof *bin);
        for (int32_t k = 0; k < n; ++k) {
            float r =
                sqrtf(room[k] * room[k] + room[MOST + k] * room[MOST + k] + room[2 * MOST + k] * room[2 * MOST + k]);
            int at = (int)((double)r / x->cutoff * BINS);
            ++bin[at < BINS ? at : BINS - 1];
        }
        x->mean += n;
        x->number[x->sets++] = n;
    }
    x->mean /= fmax((double)x->sets, 1);
}

static bool all_known(const atn_lattice *l) {
    for (int32_t m = 0; m < l->info.models; ++m)
        if (l->settings.model[m].points) return false;
    return true;
}

static atn_status find(atn_lattice *l, const lattice_sets *sets, learning *x, values *v) {
    size_t models = (size_t)l->info.models;
    x->bins = atn_alloc(l->ctx, (size_t)MOST_SETS * BINS * sizeof *x->bins);
    x->number = atn_alloc(l->ctx, MOST_SETS * sizeof *x->number);
    x->fit = atn_alloc(l->ctx, MOST_SETS * models * sizeof *x->fit);
    float *room = atn_alloc(l->ctx, 3 * ATN_LATTICE_MOST_NEIGHBOURS * sizeof *room);
    atn_status status = x->bins && x->number && x->fit && room ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) sample(x, sets, room);
    if (status == ATN_OK && x->sets >= LEAST_SETS && x->mean > 0.5 && all_known(l)) status = search_both(x, v);
    atn_free(l->ctx, x->bins);
    atn_free(l->ctx, x->number);
    atn_free(l->ctx, x->fit);
    atn_free(l->ctx, room);
    return status;
}

atn_status lattice_sets_learn(atn_lattice *l, const lattice_sets *sets, double *noise) {
    const atn_lattice_settings *s = &l->settings;
    double far = s->cutoff > 0 || sets->count < LEAST_SETS ? 0 : farthest(sets);
    learning x = {.l = l, .cutoff = s->cutoff > 0 ? s->cutoff : far > 1 && far < 20 ? far * 1.0001 : USUAL.cutoff};
    lattice_take_noise(l, USUAL.noise);
    values v = {.scale = 1, .noise = l->info.shift_noise, .shape = USUAL_SHAPE, .likelihood = -INFINITY};
    v.efficiency = s->efficiency > 0 ? s->efficiency : USUAL.efficiency;
    v.background = lattice_background_given(s) ? s->background : USUAL.background;
    atn_status status = find(l, sets, &x, &v);
    l->info.cutoff = x.cutoff;
    l->info.efficiency = v.efficiency;
    l->info.background_neighbours = v.background;
    l->shape = v.shape;
    *noise = v.noise / sqrt(2);
    for (int32_t m = 0; m < l->info.models; ++m)
        l->info.constant[m] = s->model[m].constant > 0 ? s->model[m].constant
                              : s->model[m].points     ? 1
                                                       : lattice_kind_default(s->model[m].name) * v.scale;
    lattice_take_noise(l, sqrt(0.5 * v.noise * v.noise + (v.likelihood > -INFINITY ? STEPS * STEPS : 0)));
    lattice_take_density(l, x.mean > 0 ? x.mean : 8);
    lattice_null_make(l, (const double[LATTICE_RADIAL_BINS]){0});
    return status;
}
