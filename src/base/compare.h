/* Comparators for qsort. */
#ifndef ATN_BASE_COMPARE_H
#define ATN_BASE_COMPARE_H

#include <stdint.h>

static inline int atn_ascending_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline int atn_ascending_int32(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

#endif
