/* Checked size arithmetic: true and the result, or false and nothing on overflow. */
#ifndef ATN_BASE_SIZE_H
#define ATN_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool atn_size_add(size_t a, size_t b, size_t *sum) { return !__builtin_add_overflow(a, b, sum); }

static inline bool atn_size_mul(size_t a, size_t b, size_t *product) { return !__builtin_mul_overflow(a, b, product); }

/* offset + bytes <= total, without overflow: does a piece lie inside a whole? */
static inline bool atn_size_within(size_t offset, size_t bytes, size_t total) {
    return offset <= total && bytes <= total - offset;
}

static inline bool atn_i64_mul(int64_t a, int64_t b, int64_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}

static inline bool atn_i64_add(int64_t a, int64_t b, int64_t *sum) { return !__builtin_add_overflow(a, b, sum); }

/* value rounded up to a multiple of step (> 0); the caller knows that it does not overflow. */
static inline size_t atn_size_round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

#endif
