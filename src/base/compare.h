/* Comparators for qsort, and bitwise equality. */
#ifndef ATN_BASE_COMPARE_H
#define ATN_BASE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline int atn_ascending_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline int atn_ascending_int32(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* As bits: NaN is NaN, -0 is not 0. A struct must have no padding. */
static inline bool atn_same_bits(const void *a, const void *b, size_t size) { return memcmp(a, b, size) == 0; }

#endif
