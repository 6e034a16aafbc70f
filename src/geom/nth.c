/* Selection by parts below, at and above one of the numbers; parts are made without a branch on what is compared, which
 * processors cannot guess. */
#include "geom/nth.h"

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

/* Splits [low, high) into less than, equal to and more than the pivot: at `equal` the second part begins, at `more` the
 * third. The weights of the first two. */
static void split(geom_weighed *list, size_t low, size_t high, double pivot, size_t *equal, size_t *more,
                  double weight[2]) {
    size_t less = low, at = low, end = high;
    weight[0] = weight[1] = 0;
    while (at < end) {
        geom_weighed one = list[at];
        if (one.number < pivot) {
            weight[0] += one.weight;
            list[at++] = list[less];
            list[less++] = one;
        } else if (one.number > pivot) {
            list[at] = list[--end];
            list[end] = one;
        } else {
            weight[1] += one.weight;
            ++at;
        }
    }
    *equal = less;
    *more = end;
}

static double middle_of(double a, double b, double c) {
    double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

double geom_weighed_median(geom_weighed *list, size_t n) {
    double all = 0, below = 0;
    size_t low = 0, high = n;
    for (size_t i = 0; i < n; ++i) all += list[i].weight;
    while (low < high) {
        size_t equal, more;
        double weight[2],
            pivot = middle_of(list[low].number, list[low + (high - low) / 2].number, list[high - 1].number);
        split(list, low, high, pivot, &equal, &more, weight);
        if (equal > low && 2 * (below + weight[0]) >= all)
            high = equal;
        else if (more == high || 2 * (below + weight[0] + weight[1]) >= all)
            return pivot;
        else {
            below += weight[0] + weight[1];
            low = more;
        }
    }
    return 0;
}
