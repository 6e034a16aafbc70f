/* Selection: medians and trimming without a sort. */
#ifndef ATN_GEOM_NTH_H
#define ATN_GEOM_NTH_H

#include <stddef.h>

/* The k-th smallest of n > k numbers, from 0; reorders. */
double geom_nth(double *numbers, size_t n, size_t k);

/* A number and how much it counts. */
typedef struct geom_weighed {
    double number, weight;
} geom_weighed;

/* Of the weight that half of all lies in or below: what weighs less belongs to nothing. */
#define GEOM_SPARSE 0.1

/* The number up to which half of the weight lies; 0 of none. Reorders. */
double geom_weighed_median(geom_weighed *list, size_t n);

#endif
