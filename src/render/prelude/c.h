// C17: conversions, bits, atomics and halves of scalars, and maps over the lanes of vectors.
INLINE float atn_min_float(float a, float b) { return a < b || b != b ? a : b; }
INLINE float atn_max_float(float a, float b) { return a > b || b != b ? a : b; }
INLINE double atn_min_double(double a, double b) { return a < b || b != b ? a : b; }
INLINE double atn_max_double(double a, double b) { return a > b || b != b ? a : b; }
#if defined(__aarch64__) && !defined(__clang__)
INLINE int atn_to_int(double x) { return (int)x; }
#else
INLINE int atn_to_int(double x) { return x != x ? 0 : x <= -2147483648.0 ? -2147483647 - 1 : x >= 2147483647.0 ? 2147483647 : (int)x; }
#endif
INLINE uchar atn_to_u8(double x) { return x != x || x <= 0 ? 0 : x >= 255 ? 255 : (uchar)x; }
INLINE ushort atn_to_u16(double x) { return x != x || x <= 0 ? 0 : x >= 65535 ? 65535 : (ushort)x; }
INLINE idx atn_to_idx(double x) {
    return x != x ? 0 : x <= -9223372036854775808.0 ? INT64_MIN : x >= 9223372036854775808.0 ? INT64_MAX : (idx)x;
}
INLINE int atn_bits(float x) { int i; memcpy(&i, &x, 4); return i; }
INLINE float atn_float(int i) { float x; memcpy(&x, &i, 4); return x; }
INLINE int atn_bits_of_float(float x) { return x != x ? 0x7fc00000 : atn_bits(x); }
INLINE idx atn_bits_of_double(double x) { idx i; memcpy(&i, &x, 8); return x != x ? 0x7ff8000000000000 : i; }
INLINE void atn_report(int *report, int read) { __atomic_fetch_add(report, 1, __ATOMIC_RELAXED); __atomic_store_n(report + 1, read, __ATOMIC_RELAXED); }
#define ATOMIC(T, B, name, join) \
    INLINE void atn_atomic_##name##_##T(T *to, T value) { \
        B seen = __atomic_load_n((B *)to, __ATOMIC_RELAXED), next; \
        do { T a, b = value, r; memcpy(&a, &seen, sizeof a); r = join; memcpy(&next, &r, sizeof r); } \
        while (!__atomic_compare_exchange_n((B *)to, &seen, next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
    }
#define SUM_int int_add(a, b)
#define SUM_float a + b
#define SUM_double a + b
#define ATOMICS(T, B) ATOMIC(T, B, add, SUM_##T) ATOMIC(T, B, min, a < b || b != b ? a : b) ATOMIC(T, B, max, a > b || b != b ? a : b)
ATOMICS(int, int)
ATOMICS(float, int)
ATOMICS(double, int64_t)
ATOMIC(int, int, or, a | b)
INLINE void atn_atomic_or_uchar(uchar *to, int value) { if (value) __atomic_store_n(to, 1, __ATOMIC_RELAXED); }
#if ATN_HALVES
#if defined(__clang__) && (defined(__x86_64__) || defined(__i386__)) && !defined(__AVX512FP16__)
typedef __fp16 atn_half;
#else
typedef _Float16 atn_half;
#endif
#if ATN_HALVES == 2
INLINE atn_half atn_load_half(const atn_half *from, adr at) { return from[at]; }
INLINE atn_half atn_min_half(atn_half a, atn_half b) { return a < b || b != b ? a : b; }
INLINE atn_half atn_max_half(atn_half a, atn_half b) { return a > b || b != b ? a : b; }
#else
INLINE float atn_load_half(const atn_half *from, adr at) { return (float)from[at]; }
#endif
INLINE void atn_store_half(atn_half *to, float value) { *to = (atn_half)value; }
#endif
#define atn_map1(T, W, f, a) ({ __auto_type a_ = (a); T r_; for (int l_ = 0; l_ < W; ++l_) r_[l_] = f(a_[l_]); r_; })
#define atn_map2(T, W, f, a, b) ({ __auto_type a_ = (a); __auto_type b_ = (b); T r_; \
    for (int l_ = 0; l_ < W; ++l_) r_[l_] = f(a_[l_], b_[l_]); r_; })
#define atn_map3(T, W, f, a, b, c) ({ __auto_type a_ = (a); __auto_type b_ = (b); __auto_type c_ = (c); T r_; \
    for (int l_ = 0; l_ < W; ++l_) r_[l_] = f(a_[l_], b_[l_], c_[l_]); r_; })
#define atn_map_to_int(T, W, a) _Generic((a), float##W: atn_int_of_float##W, double##W: atn_int_of_double##W)(a)
#define atn_map_to_u8(T, W, a) atn_map1(T, W, atn_to_u8, a)
#define atn_map_to_u16(T, W, a) atn_map1(T, W, atn_to_u16, a)
#define atn_map_to_idx(T, W, a) atn_map1(T, W, atn_to_idx, a)
