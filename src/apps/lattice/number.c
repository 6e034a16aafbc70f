/* The probability of n neighbours of a known structure: site j of m_j is inside the cut-off with the chance q_j that
 * noise gives it and is detected with p, so that n is a sum of coins of p q_j, and of a Poisson number of background
 * atoms. It varies less than a Poisson number: with two thirds of the atoms detected, by a third of the variance. */
#include "apps/lattice/lattice.h"

#include <math.h>
#include <string.h>

enum { MOST = ATN_LATTICE_MOST_NEIGHBOURS };

static double below(double x) { return 0.5 * erfc(-x / 1.4142135623730951); }

/* Chance that a point with noise s around a place at distance r is nearer than R: of the noncentral chi distribution
 * with three degrees of freedom. */
static double inside(double r, double s, double cutoff) {
    double low = (cutoff - r) / s, high = (cutoff + r) / s;
    double tail = s / (r * 2.5066282746310002) * (exp(-0.5 * low * low) - exp(-0.5 * high * high));
    return fmin(fmax(below(low) - below(-high) - tail, 0), 1);
}

/* Adds weight times the chances at one efficiency. */
static void add(const lattice_points *points, const lattice_number *a, double efficiency, double weight, double *out) {
    double chance[MOST + 1] = {1}, alone[MOST + 1], sum = 0;
    int32_t most = 0;
    for (size_t k = 0; k < points->count; ++k) {
        double r = 0;
        for (int axis = 0; axis < 3; ++axis) r += points->axis[axis][k] * points->axis[axis][k];
        double p = efficiency * inside(sqrt(r), a->noise, a->cutoff);
        if (p < 1e-6) continue;
        most = most < MOST ? most + 1 : MOST;
        for (int32_t n = most; n > 0; --n) chance[n] = (n < most ? chance[n] * (1 - p) : 0) + chance[n - 1] * p;
        chance[0] *= 1 - p;
    }
    for (int32_t n = 0; n <= MOST; ++n)
        alone[n] = exp(n * log(fmax(a->background, 1e-9)) - a->background - lgamma(n + 1.0));
    for (int32_t n = 0; n <= MOST; ++n) {
        sum = 0;
        for (int32_t k = 0; k <= n && k <= most; ++k) sum += chance[k] * alone[n - k];
        out[n] += weight * sum;
    }
}

void lattice_number_make(const lattice_points *points, const lattice_number *a, double *out) {
    static const double AT[5] = {-2.8569700138728, -1.3556261799742, 0, 1.3556261799742, 2.8569700138728};
    static const double WEIGHT[5] = {0.0112574113277, 0.2220759220056, 0.5333333333333, 0.2220759220056,
                                     0.0112574113277};
    memset(out, 0, (MOST + 1) * sizeof *out);
    for (int k = 0; k < 5; ++k) /* a normal distribution of the same deviation */
        add(points, a, fmin(fmax(a->efficiency * (1 + AT[k] / sqrt(a->shape)), 0.01), 0.999), WEIGHT[k], out);
    for (int32_t n = 0; n <= MOST; ++n) out[n] = log(fmax(out[n], 1e-12));
}
