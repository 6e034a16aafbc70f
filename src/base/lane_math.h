/* Exponentials and logarithms as plain arithmetic, which loops in lanes (lanes.h) compute many of at once: polynomials,
 * and the bits of floating-point numbers. */
#ifndef ATN_BASE_LANE_MATH_H
#define ATN_BASE_LANE_MATH_H

#include "base/lanes.h"

#include <stdint.h>

/* The nearest integer, |x| < 2^22. */
static ATN_INLINE float atn_lane_whole(float x) { return (x + 12582912.0F) - 12582912.0F; }

/* e^x for -43 < x <= 0: 2^k by the bits, and 2^f, |f| <= 1/2, by a polynomial; to 2e-7 (1 - x). */
static ATN_INLINE float atn_lane_power(float x) {
    float u = x * 1.44269504F, k = atn_lane_whole(u), f = u - k;
    float p = 1 + f * (0.693147181F +
                       f * (0.240226507F +
                            f * (0.0555041087F + f * (0.00961812911F + f * (0.00133335581F + f * 0.000154035304F)))));
    union {
        int32_t bits;
        float value;
    } scale = {.bits = ((int32_t)k + 127) << 23};
    return p * scale.value;
}

/* The natural logarithm of a positive number that is not subnormal; to 1e-7 of it, and absolutely near 1. */
static ATN_INLINE float atn_lane_log_single(float x) {
    const int32_t one = 127 << 23, half = 0x3f3504f3; /* the second: sqrt(1/2) */
    union {
        float value;
        int32_t bits;
    } part = {.value = x};
    int32_t k = (part.bits - half + one) >> 23; /* 127 for a number from sqrt(1/2) to sqrt(2) */
    part.bits += one - (k << 23);
    float f = part.value - 1, s = f / (2 + f), z = s * s;
    float p = 2 * z * (0.333333333F + z * (0.2F + z * (0.142857143F + z * 0.111111111F)));
    return (float)(k - 127) * 0.693147181F + (2 * s + s * p);
}

typedef union atn_lane_bits {
    double value;
    uint64_t bits;
} atn_lane_bits;

/* e^x, x from -700 on (what is less counts as that) to 700; to 1e-14. */
static ATN_INLINE double atn_lane_exp(double x) {
    const double shift = 0x1.8p52; /* whole numbers are in the last bits of what is added to it */
    double u = x > -700 ? x : -700;
    atn_lane_bits whole = {.value = u * 1.4426950408889634 + shift}, scale;
    double k = whole.value - shift, r = (u - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10,
           p = 1.0 / 39916800;
    p = p * r + 1.0 / 3628800, p = p * r + 1.0 / 362880, p = p * r + 1.0 / 40320, p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720, p = p * r + 1.0 / 120, p = p * r + 1.0 / 24, p = p * r + 1.0 / 6, p = p * r + 0.5;
    p = (p * r + 1) * r + 1;
    scale.bits = (whole.bits + 1023) << 52;
    return p * scale.value;
}

/* The natural logarithm of a positive number that is not subnormal; to 1e-15, and absolutely near 1. */
static ATN_INLINE double atn_lane_log(double x) {
    const uint64_t one = (uint64_t)1023 << 52, half = 0x3fe6a09e667f3bcd; /* the second: sqrt(1/2) */
    atn_lane_bits all = {.value = x}, power, part;
    uint64_t k = (all.bits - half + one) >> 52; /* 1023 for a number from sqrt(1/2) to sqrt(2) */
    power.bits = k | (uint64_t)0x433 << 52;     /* 2^52 + k */
    part.bits = all.bits - (k << 52) + one;
    double f = part.value - 1, s = f / (2 + f), z = s * s, p = 1.0 / 19;
    p = p * z + 1.0 / 17, p = p * z + 1.0 / 15, p = p * z + 1.0 / 13, p = p * z + 1.0 / 11, p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7, p = p * z + 1.0 / 5, p = p * z + 1.0 / 3;
    return (power.value - (0x1p52 + 1023)) * 0.69314718055994530942 + (2 * s + 2 * s * z * p);
}

#endif
