/* Selection by parts below, at and above one of the numbers; parts are made without a branch on what is compared, which
 * processors cannot guess. */
#include "geom/nth.h"

#include <stdlib.h>

static void swap(double *a, size_t i, size_t j) {
    double kept = a[i];
    a[i] = a[j];
    a[j] = kept;
}

/* Of low ... high those below `pivot` first, or those that are not above it; where the others begin. */
static size_t part_below(double *a, size_t low, size_t high, double pivot) {
    size_t end = low;
    for (size_t i = low; i <= high; ++i) {
        double x = a[i];
        a[i] = a[end];
        a[end] = x;
        end += x < pivot;
    }
    return end;
}

static size_t part_up_to(double *a, size_t low, size_t high, double pivot) {
    size_t end = low;
    for (size_t i = low; i <= high; ++i) {
        double x = a[i];
        a[i] = a[end];
        a[end] = x;
        end += x <= pivot;
    }
    return end;
}

static double median3(double a, double b, double c) {
    double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* One that is near the k-th of low ... high in the mean: the middle of three, or of three such. */
static double pivot_of(const double *a, size_t low, size_t high) {
    enum { MANY = 128 };
    size_t n = high - low, step = n / 8;
    double middle = median3(a[low], a[low + n / 2], a[high]);
    if (n < MANY) return middle;
    return median3(middle, median3(a[low + step], a[low + 2 * step], a[low + 3 * step]),
                   median3(a[low + 5 * step], a[low + 6 * step], a[low + 7 * step]));
}

double geom_nth(double *a, size_t n, size_t k) {
    size_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = pivot_of(a, low, high);
        size_t end = part_below(a, low, high, pivot);
        if (k < end) {
            high = end - 1;
            continue;
        }
        low = end;
        end = part_up_to(a, low, high, pivot);
        if (k < end) return pivot;
        if (end == low) { /* what is no number is above all others */
            for (size_t i = low; i <= high; ++i)
                if (a[i] <= a[i]) swap(a, i, end++);
            if (k >= end) return a[k];
            high = end - 1;
        } else
            low = end;
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
