/* Classification of an atom: P(class) ~ share * likelihood averaged over rotations, against the frame's own distances
 * in any direction (radial.c) and against an atom on no site of the lattice around it, which are `other`. The number of
 * neighbours n has its own term: efficiency differs from place to place (poles, surfaces), so n is negative binomial
 * around what a class expects: Poisson with a rate of gamma distribution. Likelihoods of many neighbours claim more
 * than they know (constants and noise are estimates, the best rotation may not have been found, what is beyond a
 * boundary is no gas), so they are tempered by a power, a smaller one at boundaries, that made confidences come true on
 * synthetic frames. */
#include "apps/lattice/lattice.h"

#include <assert.h>
#include <math.h>

static const double FIRST = 0.3;            /* the power until a part is looked for */
static const double RARE = 0.01, MUCH = 10; /* of the most frequent model's share; nats */

lattice_count lattice_count_make(double expected, double shape) {
    return (lattice_count){.expected = expected,
                           .log = log(expected),
                           .none = shape * log(shape / (shape + expected)),
                           .each = log(expected / (shape + expected))};
}

/* log P(n | expected), less log n!. */
static double count_term(const atn_lattice *l, double n, const lattice_count *c) {
    return l->rise[(int32_t)n] + c->none + n * c->each;
}

static double number_term(const atn_lattice *l, int32_t model, double n) {
    const lattice_slot *s = &l->slot[model];
    return s->number ? s->number[(int32_t)n] : count_term(l, n, &s->count);
}

double lattice_places(const atn_lattice *l, size_t i, double out[]) {
    double n = l->near.start[i + 1] - l->near.start[i], mean = 0;
    for (int32_t m = 0; m < l->info.models; ++m) {
        out[m] = (double)l->found[i * (size_t)l->info.models + (size_t)m].evidence - n * l->slot[m].count.log;
        mean += out[m] / l->info.models;
    }
    for (int32_t m = 0; m < l->info.models; ++m) out[m] -= mean;
    return mean;
}

/* Places count as made neighbourhoods say (sets_weigh.c), the number of neighbours as it is. */
static void weigh_places(const atn_lattice *l, size_t i, double n, double term[]) {
    double place[ATN_LATTICE_MOST_MODELS], mean = lattice_places(l, i, place);
    for (int32_t m = 0; m < l->info.models; ++m) {
        term[m + 1] = number_term(l, m, n) + mean;
        for (int32_t k = 0; k < l->info.models; ++k) term[m + 1] += l->places[m][k] * place[k];
    }
}

/* Logarithms of the likelihoods of all classes, and of the null model in front; off: of an atom on no site. Returns the
 * model that is the likeliest. */
static int32_t likelihoods(const atn_lattice *l, size_t i, double term[], double *off) {
    const lattice_found *found = &l->found[i * (size_t)l->info.models];
    double n = l->near.start[i + 1] - l->near.start[i];
    int32_t best = 1;
    assert(l->info.models > 0);
    *off = -INFINITY;
    for (int32_t m = 0; m < l->info.models; ++m) {
        double count = number_term(l, m, n) - n * l->slot[m].count.log;
        term[m + 1] = (double)found[m].evidence + count;
        *off = fmax(*off, (double)found[m].background + count);
    }
    if (l->alone) weigh_places(l, i, n, term);
    for (int32_t m = 1; m <= l->info.models; ++m)
        if (term[m] > term[best]) best = m;
    term[0] = (l->slot[0].number ? number_term(l, best - 1, n) : count_term(l, n, &l->mean)) + lattice_null(l, i);
    return best;
}

uint32_t lattice_frequent(const atn_lattice *l) {
    double most = 0;
    uint32_t out = 0;
    for (int32_t m = 1; m <= l->info.models; ++m) most = fmax(most, l->info.share[m]);
    for (int32_t m = 1; m <= l->info.models; ++m)
        if (l->info.share[m] > RARE * most) out |= 1u << (m - 1);
    return out;
}

uint32_t lattice_likely(const atn_lattice *l, size_t i, const lattice_recent *recent) {
    double term[ATN_LATTICE_MOST_MODELS + 1], off;
    int32_t best = likelihoods(l, i, term, &off);
    uint32_t out = lattice_frequent(l);
    for (int32_t m = 1; m <= l->info.models; ++m)
        if (recent->count[m - 1] || term[m] > term[best] - MUCH) out |= 1u << (m - 1);
    return out;
}

int32_t lattice_terms(const atn_lattice *l, size_t i, double term[]) {
    double off;
    return likelihoods(l, i, term, &off);
}

double lattice_gain(const atn_lattice *l, size_t i, double term[]) {
    double sum = 0;
    int32_t best = lattice_terms(l, i, term);
    for (int32_t m = 1; m <= l->info.models; ++m) sum += exp(term[m] - term[best]);
    return term[best] + log(sum / l->info.models) - term[0];
}

/* a and b: logarithms. */
static double log_sum(double a, double b) {
    double high = fmax(a, b);
    return high > -INFINITY ? high + log(exp(a - high) + exp(b - high)) : high;
}

double lattice_claim(const atn_lattice *l, size_t i) {
    double term[ATN_LATTICE_MOST_MODELS + 1], most = term[lattice_terms(l, i, term)], high = fmax(most, term[0]);
    double sum = l->info.share[0] * exp(FIRST * (term[0] - high));
    for (int32_t m = 1; m <= l->info.models; ++m) sum += l->info.share[m] * exp(FIRST * (term[m] - high));
    return FIRST * high + log(sum);
}

void lattice_note_shares(atn_lattice *l) {
    for (int32_t m = 0; m <= l->info.models + 1; ++m) {
        l->noted.of[m] = m <= l->info.models ? l->info.share[m] : l->info.background;
        l->noted.log[m] = log(l->noted.of[m]);
    }
}

/* The logarithm of a share, or, behind those, of the background, where it is not the one that was noted. */
static double log_share(const atn_lattice *l, int32_t k, double share) {
    return share > 0 && share == l->noted.of[k] ? l->noted.log[k] : log(share);
}

/* Returns the largest of them. */
static double class_terms(const atn_lattice *l, size_t i, double term[], double *background) {
    double off;
    int32_t best = likelihoods(l, i, term, &off);
    double gas = term[0], most = term[best],
           part = (double)l->found[i * (size_t)l->info.models + (size_t)best - 1].part;
    double temper = l->temper;
    if (l->temper < 1) temper = part < 0 ? FIRST : part * l->temper_part + (1 - part) * l->temper;
    /* a boundary is no reason for a gas */
    term[0] = log_share(l, 0, l->info.share[0]) + temper * most + l->temper * (gas - most);
    *background = log_share(l, l->info.models + 1, l->info.background) + temper * most + l->temper * (off - most);
    term[0] = log_sum(term[0], *background);
    most = term[0];
    for (int32_t m = 1; m <= l->info.models; ++m) {
        term[m] = log_share(l, m, l->info.share[m]) + temper * term[m];
        most = fmax(most, term[m]);
    }
    return most;
}

void lattice_judge(const atn_lattice *l, size_t i, atn_lattice_atom *out, double *chance) {
    const lattice_found *found = &l->found[i * (size_t)l->info.models];
    double term[ATN_LATTICE_MOST_MODELS + 1], sum = 0, n = l->near.start[i + 1] - l->near.start[i];
    double background, most = class_terms(l, i, term, &background);
    double structure[ATN_LATTICE_MOST_MODELS + 1] = {0};
    int32_t best = 0, phase = 0;
    for (int32_t m = 0; m <= l->info.models; ++m) {
        term[m] = exp(term[m] - most);
        sum += term[m];
        structure[m && !l->slot[m - 1].strange ? l->info.structure[m - 1] : 0] += term[m];
    }
    for (int32_t m = 1; m <= l->info.models && n > 0; ++m)
        if (structure[m] > structure[best]) best = m;
    for (int32_t m = 1; m <= l->info.models && best; ++m)
        if (l->info.structure[m - 1] == best && (!phase || term[m] > term[phase])) phase = m;
    for (int32_t m = 0; m <= l->info.models && chance; ++m) chance[m] = term[m] / sum;
    *out = (atn_lattice_atom){
        .structure = best, .phase = phase, .confidence = (float)(structure[best] / sum), .quaternion = {1, 0, 0, 0}};
    out->background = (float)(exp(background - most) / sum);
    if (best == 0) return;
    const lattice_found *f = &found[phase - 1];
    out->quaternion[0] = f->quaternion[0]; /* found is into the crystal: back */
    for (int k = 1; k < 4; ++k) out->quaternion[k] = -f->quaternion[k];
    out->matched = n > 0 ? (float)((double)f->weight / n) : 0;
    out->rmsd = f->weight > 0 ? sqrtf(f->spread / f->weight) : 0;
    out->value = f->spread;
}
