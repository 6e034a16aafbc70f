/* Hoare's selection. */
#include "apps/register/nth.h"

double reg_nth(double *a, size_t n, size_t k) {
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
