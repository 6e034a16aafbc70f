/* Calibrated confidences: from those that the likelihoods give, by linear interpolation between the knots that
 * calibration has found. */
#include "apps/lattice/parts.h"

#include <math.h>

double lattice_odds(double c) { return log(fmax(c, 1e-7) / fmax(1 - c, 1e-7)); }

/* Between knots straight lines; below them the same step as at the first, above them what is true of the last. */
float lattice_confidence(const atn_lattice *l, bool other, float confidence) {
    const lattice_knots *t = &l->knots[other];
    double x = lattice_odds((double)confidence), y;
    int32_t k = 0;
    if (t->count == 0) return confidence;
    while (k < t->count && t->told[k] < x) ++k;
    if (k == 0)
        y = x + t->right[0] - t->told[0];
    else if (k == t->count)
        y = t->right[k - 1];
    else
        y = t->right[k - 1] + (t->right[k] - t->right[k - 1]) * (x - t->told[k - 1]) / (t->told[k] - t->told[k - 1]);
    return (float)(1 / (1 + exp(-y)));
}
