// What the expressions of a space call once it is compiled: arithmetic that notes in *bad what has no result.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
static inline int64_t add_(int64_t a, int64_t b, int *bad) {
    int64_t r;
    *bad |= __builtin_add_overflow(a, b, &r);
    return r;
}
static inline int64_t sub_(int64_t a, int64_t b, int *bad) {
    int64_t r;
    *bad |= __builtin_sub_overflow(a, b, &r);
    return r;
}
static inline int64_t mul_(int64_t a, int64_t b, int *bad) {
    int64_t r;
    *bad |= __builtin_mul_overflow(a, b, &r);
    return r;
}
static inline int64_t floor_(int64_t a, int64_t b, int *bad) {
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        *bad = 1;
        return 0;
    }
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
static inline int64_t mod_(int64_t a, int64_t b, int *bad) {
    if (b == 0) {
        *bad = 1;
        return 0;
    }
    if (b == -1) return 0;
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static inline int64_t pow_(int64_t a, int64_t n, int *bad) {
    int64_t r = 1;
    if (a == 0 || a == 1) return n == 0 ? 1 : a;
    if (a == -1) return n % 2 ? -1 : 1;
    for (; n > 0; --n)
        if (__builtin_mul_overflow(r, a, &r)) {
            *bad = 1;
            return 0;
        }
    return r;
}
static inline int64_t shl_(int64_t a, int64_t n, int *bad) {
    int64_t r = 0;
    *bad |= n < 0 || (a != 0 && (n > 62 || __builtin_mul_overflow(a, (int64_t)1 << n, &r)));
    return r;
}
static inline int64_t shr_(int64_t a, int64_t n, int *bad) {
    *bad |= n < 0;
    return n < 0 ? 0 : a >> (n > 63 ? 63 : n);
}
static inline double div_(double a, double b, int *bad) {
    *bad |= b == 0;
    return a / b;
}
static inline double rmod_(double a, double b, int *bad) {
    if (b == 0) {
        *bad = 1;
        return 0;
    }
    double r = fmod(a, b);
    if (r == 0) return copysign(0, b);
    return (r < 0) != (b < 0) ? r + b : r;
}
static inline double rfloor_(double a, double b, int *bad) {
    if (b == 0) {
        *bad = 1;
        return 0;
    }
    double q = (a - rmod_(a, b, bad)) / b, w = floor(q);
    return q - w > 0.5 ? w + 1 : w;
}
static inline double rpow_(double a, double b, int *bad) {
    if (a == 0 && b < 0) {
        *bad = 1;
        return 0;
    }
    double r = pow(a, b);
    *bad |= (isnan(r) && !isnan(a) && !isnan(b)) || (isinf(r) && isfinite(a) && isfinite(b));
    return r;
}
static inline double log2_(double a, int *bad) {
    *bad |= !(a > 0);
    return log2(a);
}
static inline int64_t whole_(double a, int *bad) {
    if (!(a >= -0x1p63 && a < 0x1p63)) {
        *bad = 1;
        return 0;
    }
    return (int64_t)a;
}
static inline int64_t min_(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t max_(int64_t a, int64_t b) { return b > a ? b : a; }
static inline double rmin_(double a, double b) { return b < a ? b : a; }
static inline double rmax_(double a, double b) { return b > a ? b : a; }
