/* Selection: medians and trimming without a sort. */
#ifndef ATN_APPS_REGISTER_NTH_H
#define ATN_APPS_REGISTER_NTH_H

#include <stddef.h>

/* The k-th smallest of n > k numbers, from 0; reorders. */
double reg_nth(double *numbers, size_t n, size_t k);

#endif
