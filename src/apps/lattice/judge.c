/* The judgement over an atom: P(class) ~ share * likelihood averaged over rotations, against a gas of the same density
 * as `other`. The number of neighbours n has its own term: efficiency differs from place to place (poles, surfaces), so
 * n is negative binomial around what a class expects: Poisson with a rate of gamma distribution. Likelihoods of many
 * neighbours claim more than they know (constants and noise are estimates, the best rotation may not have been found,
 * what is beyond a boundary is no gas), so they are tempered by a power, a smaller one at boundaries, that made
 * confidences come true on synthetic frames. */
#include "apps/lattice/lattice.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
static const double PART = 0.12; /* the power for neighbourhoods of which a part belongs elsewhere */
static const double EVEN = 0.75; /* how much less shares of the whole frame count there */
static const double FIRST = 0.3; /* until that is known */

/* log P(n | expected), less log n!. */
static double count_term(double n, double expected, double shape) {
    return lgamma(n + shape) - lgamma(shape) + shape * log(shape / (shape + expected)) +
           n * log(expected / (shape + expected));
}

/* claim: logarithm of the sum over classes of share times likelihood to the power FIRST, the same for all atoms. */
static double class_terms(const atn_lattice *l, const lattice_found *found, double n, double term[], double *claim) {
    double r = l->info.cutoff, volume = 4.0 / 3 * PI * r * r * r, mean = 0, most = -INFINITY, part = 0;
    for (int32_t m = 0; m < l->info.models; ++m) {
        double expected = l->slot[m].expected;
        mean += expected / l->info.models;
        term[m + 1] = (double)found[m].evidence - n * log(expected) + count_term(n, expected, l->shape);
        if (term[m + 1] > most) most = term[m + 1], part = (double)found[m].part;
    }
    double gas = count_term(n, mean, l->shape) - n * log(volume);
    double high = fmax(most, gas), sum = l->info.share[0] * exp(FIRST * (gas - high));
    for (int32_t m = 1; m <= l->info.models; ++m) sum += l->info.share[m] * exp(FIRST * (term[m] - high));
    *claim = FIRST * high + log(sum);
    double temper = l->temper, even = part > 0 && l->temper < 1 ? EVEN * part : 0;
    if (l->temper < 1) temper = part < 0 ? FIRST : part * PART + (1 - part) * l->temper;
    term[0] = log(l->info.share[0]) + temper * most + l->temper * (gas - most); /* a boundary is no reason for a gas */
    most = term[0];
    for (int32_t m = 1; m <= l->info.models; ++m) {
        double share = log(l->info.share[m]); /* what is frequent elsewhere says little at a boundary */
        term[m] = share * (1 - even) + even * log((1 - l->info.share[0]) / l->info.models) + temper * term[m];
        most = fmax(most, term[m]);
    }
    return most;
}

double lattice_judge(const atn_lattice *l, size_t i, atn_lattice_atom *out, double *chance) {
    const lattice_found *found = &l->found[i * (size_t)l->info.models];
    double term[ATN_LATTICE_MOST_MODELS + 1], sum = 0, n = l->near.start[i + 1] - l->near.start[i];
    double claim, most = class_terms(l, found, n, term, &claim);
    int32_t best = 0;
    for (int32_t m = 0; m <= l->info.models; ++m) {
        term[m] = exp(term[m] - most);
        sum += term[m];
        if (term[m] > term[best] && n > 0) best = m;
    }
    for (int32_t m = 0; m <= l->info.models && chance; ++m) chance[m] = term[m] / sum;
    *out = (atn_lattice_atom){.structure = best, .confidence = (float)(term[best] / sum), .quaternion = {1, 0, 0, 0}};
    if (best == 0) return claim;
    const lattice_found *f = &found[best - 1];
    out->quaternion[0] = f->quaternion[0]; /* found is into the crystal: back */
    for (int k = 1; k < 4; ++k) out->quaternion[k] = -f->quaternion[k];
    out->matched = n > 0 ? (float)((double)f->weight / n) : 0;
    out->rmsd = f->weight > 0 ? sqrtf(f->spread / f->weight) : 0;
    out->value = f->spread;
    return claim;
}
