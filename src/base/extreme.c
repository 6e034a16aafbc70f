/* The least and the largest of many numbers, in lanes. */
#include "base/extreme.h"

#include "base/lanes.h"

#include <math.h>

/* Clang 14 cannot call clones that other files see. */
ATN_IN_LANES static void extremes(const double *restrict list, size_t count, double *least, double *most) {
    double low = INFINITY, high = -INFINITY;
    ATN_LANES(reduction(min : low) reduction(max : high))
    for (size_t k = 0; k < count; ++k) {
        low = atn_lesser(low, list[k]);
        high = atn_larger(high, list[k]);
    }
    *least = low, *most = high;
}

void atn_extremes(const double *list, size_t count, double *least, double *most) { extremes(list, count, least, most); }
