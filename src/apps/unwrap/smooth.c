/* The step lengths of the Chebyshev polynomial. */
#include "apps/unwrap/smooth.h"

#include <math.h>

static const double HIGH = 2;

double unwrap_low(bool weights, bool after, int32_t sweeps) {
    /* found by trying */
    static const double LOW[2][UNWRAP_SWEEPS] = {{0.5, 0.7, 0.85, 0.35, 0.35, 0.35, 0.3, 0.3},
                                                 {0.5, 0.5, 0.4, 0.25, 0.2, 0.2, 0.2, 0.2}};
    /* Without weights a single sweep before and one after share the steps of two: both alike would leave too much. */
    static const double SINGLE[2] = {1.2, 0.55};
    return sweeps == 1 && !weights ? 2 / SINGLE[after] - HIGH : LOW[weights][sweeps - 1];
}

double unwrap_relax(double low, bool after, int32_t k, int32_t n) {
    double middle = (HIGH + low) / 2, half = (HIGH - low) / 2, angle = acos(-1.0) * (2 * k + 1) / (2.0 * n);
    return k < n ? 1 / (middle + (after ? -half : half) * cos(angle)) : 0;
}
