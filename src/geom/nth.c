/* Hoare's selection. */
#include "geom/nth.h"

#include <stdlib.h>

double geom_nth(double *a, size_t n, size_t k) {
    size_t low = 0, high = n - 1;
    while (low < high) {
        double middle = a[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) { /* Hoare: no element of low … j is above one of j + 1 … high */
            while (a[i] < middle) ++i;
            while (a[j] > middle) --j;
            if (i >= j) break;
            double kept = a[i];
            a[i++] = a[j];
            a[j--] = kept;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return a[k];
}

static int by_number(const void *a, const void *b) {
    double x = ((const geom_weighed *)a)->number, y = ((const geom_weighed *)b)->number;
    return x < y ? -1 : x > y;
}

double geom_weighed_median(geom_weighed *list, size_t n) {
    double all = 0, seen = 0;
    size_t k = 0;
    if (n) qsort(list, n, sizeof *list, by_number);
    for (size_t i = 0; i < n; ++i) all += list[i].weight;
    while (k + 1 < n && 2 * (seen += list[k].weight) < all) ++k;
    return n ? list[k].number : 0;
}
