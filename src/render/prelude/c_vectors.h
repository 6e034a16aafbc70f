// Vectors of the gcc and clang extension: ATN_VECTORS(W) defines the types of a width and the functions on them.
// atn_stream: stores past the caches need an address aligned to the vector; else a plain store does.
// VECTOR: loads and stores through a type of the scalar's alignment; memcpy would be split into scalars.
// ATN_ORDER: gcc reorders loads on aarch64, and prefetching loses the rows.
// ATN_EVEN: every other element, nothing read beyond the last. ATN_STORE2 on AVX-512: every element twice, every other stored.
// ATN_WORDS: bytes are gathered as the aligned words that hold them, which lie on no page of their own.
// ATN_INT_OF_FLOAT: fcvtzs of aarch64 saturates, NaN becomes 0 (undefined with clang); on SSE2 what does not fit becomes
// the least one.
#if ATN_STREAM && defined(__x86_64__)
#include <immintrin.h>
#endif
INLINE void atn_stream(void *to, const void *from, int bytes) {
#if !ATN_STREAM
#elif defined(__AVX512F__)
    if (((uintptr_t)to & 63) == 0 && bytes % 64 == 0) {
        for (int k = 0; k < bytes; k += 64) _mm512_stream_si512((void *)((char *)to + k), _mm512_loadu_si512((const char *)from + k));
        return;
    }
#elif defined(__AVX__)
    if (((uintptr_t)to & 31) == 0 && bytes % 32 == 0) {
        for (int k = 0; k < bytes; k += 32) _mm256_stream_si256((__m256i *)((char *)to + k), _mm256_loadu_si256((const __m256i *)((const char *)from + k)));
        return;
    }
#elif defined(__SSE2__)
    if (((uintptr_t)to & 15) == 0 && bytes % 16 == 0) {
        for (int k = 0; k < bytes; k += 16) _mm_stream_si128((__m128i *)((char *)to + k), _mm_loadu_si128((const __m128i *)((const char *)from + k)));
        return;
    }
#endif
    memcpy(to, from, (size_t)bytes);
}
#define VECTOR(T, S, M, W) \
    INLINE T##W atn_splat_##T##W(S x) { return x - (T##W){0}; } \
    INLINE T##W atn_select_##T##W(M##W m, T##W a, T##W b) { return (T##W)((m & (M##W)a) | (~m & (M##W)b)); } \
    typedef T##W T##W##_at __attribute__((aligned(sizeof(S)), may_alias)); \
    INLINE T##W atn_load_##T##W(const S *from) { return *(const T##W##_at *)from; } \
    INLINE void atn_store_##T##W(S *to, T##W v) { *(T##W##_at *)to = v; } \
    INLINE void atn_stream_##T##W(S *to, T##W v) { atn_stream(to, &v, (int)sizeof v); }
#if defined(__aarch64__)
#define ATN_ORDER(v) __asm__ volatile("" : : "w"((v)[0]))
#else
#define ATN_ORDER(v) (void)0
#endif
#if defined(__clang__)
#define ATN_TURN(M, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define ATN_TURN(M, a, b, ...) __builtin_shuffle(a, b, (M){__VA_ARGS__})
#endif
#if defined(__has_builtin) && !defined(ATN_NO_SHUFFLE)
#if __has_builtin(__builtin_shufflevector)
#define ATN_EVEN2(a, b) __builtin_shufflevector(a, b, 0, 3)
#define ATN_EVEN4(a, b) __builtin_shufflevector(a, b, 0, 2, 5, 7)
#define ATN_EVEN8(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 9, 11, 13, 15)
#define ATN_EVEN32(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, \
    33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63)
#define ATN_EVEN16(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31)
#endif
#endif
#ifdef ATN_EVEN2
#define ATN_LOAD2(T, W, from) ATN_EVEN##W(atn_load_##T##W(from), atn_load_##T##W((from) + W - 1))
#else
#define ATN_LOAD2(T, W, from) ({ T##W r_; for (int l_ = 0; l_ < W; ++l_) r_[l_] = (from)[2 * l_]; r_; })
#endif
#define ATN_STORE2(T, W, to, v) for (int l_ = 0; l_ < W; ++l_) (to)[2 * l_] = v[l_]
#define ATN_STORE2_float2 ATN_STORE2
#define ATN_STORE2_float4 ATN_STORE2
#define ATN_STORE2_float8 ATN_STORE2
#define ATN_STORE2_double2 ATN_STORE2
#define ATN_STORE2_double4 ATN_STORE2
#define ATN_STORE2_double16 ATN_STORE2
#define ATN_STORE2_float32 ATN_STORE2
#define ATN_STORE2_double32 ATN_STORE2
#if defined(__AVX512F__) && !defined(__clang__)
#define ATN_STORE2_float16(T, W, to, v) do { \
    __builtin_ia32_storeups512_mask(to, __builtin_shuffle(v, (int16){0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}), 0x5555); \
    __builtin_ia32_storeups512_mask((to) + 16, __builtin_shuffle(v, (int16){8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15}), 0x5555); } while (0)
#define ATN_STORE2_double8(T, W, to, v) do { \
    __builtin_ia32_storeupd512_mask(to, __builtin_shuffle(v, (long8){0, 0, 1, 1, 2, 2, 3, 3}), 0x55); \
    __builtin_ia32_storeupd512_mask((to) + 8, __builtin_shuffle(v, (long8){4, 4, 5, 5, 6, 6, 7, 7}), 0x55); } while (0)
#else
#define ATN_STORE2_float16 ATN_STORE2
#define ATN_STORE2_double8 ATN_STORE2
#endif
#define PAIRS(T, W) \
    INLINE T##W atn_load2_##T##W(const T *from) { return ATN_LOAD2(T, W, from); } \
    INLINE void atn_store2_##T##W(T *to, T##W v) { ATN_STORE2_##T##W(T, W, to, v); }
#define FLOATING(T, M, W) \
    INLINE T##W atn_min_##T##W(T##W a, T##W b) { return atn_select_##T##W((a < b) | (b != b), a, b); } \
    INLINE T##W atn_max_##T##W(T##W a, T##W b) { return atn_select_##T##W((a > b) | (b != b), a, b); }
#if defined(__clang__) && defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_fma)
#define ATN_FMA_FLOAT(W, a, b, c) __builtin_elementwise_fma(a, b, c)
#define ATN_FMA_DOUBLE(W, a, b, c) __builtin_elementwise_fma(a, b, c)
#endif
#endif
#if !defined(ATN_FMA_FLOAT) && defined(__FMA__)
#define ATN_FMA_FLOAT4(a, b, c) __builtin_ia32_vfmaddps(a, b, c)
#define ATN_FMA_FLOAT8(a, b, c) __builtin_ia32_vfmaddps256(a, b, c)
#define ATN_FMA_DOUBLE2(a, b, c) __builtin_ia32_vfmaddpd(a, b, c)
#define ATN_FMA_DOUBLE4(a, b, c) __builtin_ia32_vfmaddpd256(a, b, c)
#if defined(__AVX512F__)
#define ATN_FMA_FLOAT16(a, b, c) __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4)
#define ATN_FMA_DOUBLE8(a, b, c) __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4)
#endif
#endif
#ifndef ATN_FMA_FLOAT
#define ATN_FMA_FLOAT(W, a, b, c) ATN_FMA_FLOAT##W(a, b, c)
#define ATN_FMA_DOUBLE(W, a, b, c) ATN_FMA_DOUBLE##W(a, b, c)
#endif
#ifndef ATN_FMA_FLOAT2
#define ATN_FMA_FLOAT2(a, b, c) atn_map3(float2, 2, fmaf, a, b, c)
#endif
#ifndef ATN_FMA_FLOAT4
#define ATN_FMA_FLOAT4(a, b, c) atn_map3(float4, 4, fmaf, a, b, c)
#endif
#ifndef ATN_FMA_FLOAT8
#define ATN_FMA_FLOAT8(a, b, c) atn_map3(float8, 8, fmaf, a, b, c)
#endif
#ifndef ATN_FMA_FLOAT16
#define ATN_FMA_FLOAT16(a, b, c) atn_map3(float16, 16, fmaf, a, b, c)
#endif
#ifndef ATN_FMA_DOUBLE2
#define ATN_FMA_DOUBLE2(a, b, c) atn_map3(double2, 2, fma, a, b, c)
#endif
#ifndef ATN_FMA_DOUBLE4
#define ATN_FMA_DOUBLE4(a, b, c) atn_map3(double4, 4, fma, a, b, c)
#endif
#ifndef ATN_FMA_DOUBLE8
#define ATN_FMA_DOUBLE8(a, b, c) atn_map3(double8, 8, fma, a, b, c)
#endif
#ifndef ATN_FMA_DOUBLE16
#define ATN_FMA_DOUBLE16(a, b, c) atn_map3(double16, 16, fma, a, b, c)
#endif
#define ATN_FMA_FLOAT32(a, b, c) atn_map3(float32, 32, fmaf, a, b, c)
#define ATN_FMA_DOUBLE32(a, b, c) atn_map3(double32, 32, fma, a, b, c)
#define ATN_ROUND_FLOAT32(f, how, a) atn_map1(float32, 32, f, a)
#define ATN_ROUND_DOUBLE32(f, how, a) atn_map1(double32, 32, f, a)
#if defined(__AVX512F__) && !defined(__clang__)
#define ATN_ROUND_FLOAT16(f, how, a) __builtin_ia32_rndscaleps_mask(a, how, a, -1, 4)
#define ATN_ROUND_DOUBLE8(f, how, a) __builtin_ia32_rndscalepd_mask(a, how, a, -1, 4)
#endif
#if defined(__AVX__)
#define ATN_ROUND_FLOAT4(f, how, a) __builtin_ia32_roundps(a, how)
#define ATN_ROUND_FLOAT8(f, how, a) __builtin_ia32_roundps256(a, how)
#define ATN_ROUND_DOUBLE2(f, how, a) __builtin_ia32_roundpd(a, how)
#define ATN_ROUND_DOUBLE4(f, how, a) __builtin_ia32_roundpd256(a, how)
#endif
#ifndef ATN_ROUND_FLOAT2
#define ATN_ROUND_FLOAT2(f, how, a) atn_map1(float2, 2, f, a)
#endif
#ifndef ATN_ROUND_FLOAT4
#define ATN_ROUND_FLOAT4(f, how, a) atn_map1(float4, 4, f, a)
#endif
#ifndef ATN_ROUND_FLOAT8
#define ATN_ROUND_FLOAT8(f, how, a) atn_map1(float8, 8, f, a)
#endif
#ifndef ATN_ROUND_FLOAT16
#define ATN_ROUND_FLOAT16(f, how, a) atn_map1(float16, 16, f, a)
#endif
#ifndef ATN_ROUND_DOUBLE2
#define ATN_ROUND_DOUBLE2(f, how, a) atn_map1(double2, 2, f, a)
#endif
#ifndef ATN_ROUND_DOUBLE4
#define ATN_ROUND_DOUBLE4(f, how, a) atn_map1(double4, 4, f, a)
#endif
#ifndef ATN_ROUND_DOUBLE8
#define ATN_ROUND_DOUBLE8(f, how, a) atn_map1(double8, 8, f, a)
#endif
#ifndef ATN_ROUND_DOUBLE16
#define ATN_ROUND_DOUBLE16(f, how, a) atn_map1(double16, 16, f, a)
#endif
#define ROUNDED(W) \
    INLINE float##W atn_rint_float##W(float##W a) { return ATN_ROUND_FLOAT##W(rintf, 4, a); } \
    INLINE double##W atn_rint_double##W(double##W a) { return ATN_ROUND_DOUBLE##W(rint, 4, a); } \
    INLINE float##W atn_floor_float##W(float##W a) { return ATN_ROUND_FLOAT##W(floorf, 9, a); } \
    INLINE double##W atn_floor_double##W(double##W a) { return ATN_ROUND_DOUBLE##W(floor, 9, a); }
#define SIGNED(T, M, bits, W) \
    INLINE T##W atn_fabs_##T##W(T##W a) { return (T##W)((M##W)a & bits); } \
    INLINE T##W atn_copysign_##T##W(T##W a, T##W b) { return (T##W)(((M##W)a & bits) | ((M##W)b & ~bits)); }
#if defined(__AVX2__) && defined(__clang__)
#define ATN_WORDS4(from, at) __builtin_ia32_gatherd_d(at, from, at, at == at, 4)
#define ATN_WORDS8(from, at) __builtin_ia32_gatherd_d256(at, from, at, at == at, 4)
#elif defined(__AVX2__)
#define ATN_WORDS4(from, at) __builtin_ia32_gathersiv4si(at, from, at, at == at, 4)
#define ATN_WORDS8(from, at) __builtin_ia32_gathersiv8si(at, from, at, at == at, 4)
#endif
#define ATN_LANES(T, W, from, at) T##W r; for (int l = 0; l < W; ++l) r[l] = from[at[l]]; return r;
#if defined(__AVX512F__)
#define ATN_WORDS16(from, at) __builtin_ia32_gathersiv16si(at, from, at, -1, 4)
#elif defined(ATN_WORDS8)
#define ATN_WORDS16(from, at) ({ typedef int half_ __attribute__((vector_size(32))); \
    half_ h_[2]; int16 r_; memcpy(h_, &at, sizeof h_); \
    h_[0] = ATN_WORDS8(from, h_[0]); h_[1] = ATN_WORDS8(from, h_[1]); memcpy(&r_, h_, sizeof h_); r_; })
#endif
#ifdef ATN_WORDS16
#ifndef ATN_WORDS2
#define ATN_WORDS2(from, at) ATN_SINGLE(int2, 2, from, at)
#endif
#ifndef ATN_WORDS4
#define ATN_WORDS4(from, at) ATN_SINGLE(int4, 4, from, at)
#endif
#ifndef ATN_WORDS8
#define ATN_WORDS8(from, at) ATN_SINGLE(int8, 8, from, at)
#endif
#ifndef ATN_WORDS16
#define ATN_WORDS16(from, at) ATN_SINGLE(int16, 16, from, at)
#endif
#define ATN_WORDS32(from, at) ATN_SINGLE(int32, 32, from, at)
#define ATN_SINGLE(T, W, from, at) ({ T r_; for (int l_ = 0; l_ < W; ++l_) r_[l_] = from[at[l_]]; r_; })
#define GATHERS(W) \
    INLINE int##W atn_gather_int##W(const int *from, int##W at) { return ATN_WORDS##W(from, at); } \
    INLINE float##W atn_gather_float##W(const float *start, int##W at) { \
        const int *from = (const int *)start; return (float##W)ATN_WORDS##W(from, at); } \
    INLINE int##W atn_gather_bytes##W(const uchar *start, int##W place) { \
        const int *from = (const int *)((uintptr_t)start & ~(uintptr_t)3); \
        int##W all = place + (int)((uintptr_t)start & 3), at = all >> 2; \
        return (ATN_WORDS##W(from, at) >> ((all & 3) << 3)) & 255; } \
    INLINE uchar##W atn_gather_uchar##W(const uchar *from, int##W at) { \
        return __builtin_convertvector(atn_gather_bytes##W(from, at), uchar##W); } \
    INLINE double##W atn_gather_double##W(const double *from, int##W at) { ATN_LANES(double, W, from, at) }
#else
#define GATHER(T, W) INLINE T##W atn_gather_##T##W(const T *from, int##W at) { ATN_LANES(T, W, from, at) }
#define GATHERS(W) GATHER(int, W) GATHER(float, W) GATHER(uchar, W) GATHER(double, W) \
    INLINE int##W atn_gather_bytes##W(const uchar *from, int##W at) { ATN_LANES(int, W, from, at) }
#endif
#define FUSED(W) \
    INLINE float##W atn_fma_float##W(float##W a, float##W b, float##W c) { return ATN_FMA_FLOAT(W, a, b, c); } \
    INLINE double##W atn_fma_double##W(double##W a, double##W b, double##W c) { return ATN_FMA_DOUBLE(W, a, b, c); }
#define WHOLES(T, S, W) \
    INLINE T##W atn_min_##T##W(T##W a, T##W b) { return atn_select_##T##W(a < b, a, b); } \
    INLINE T##W atn_max_##T##W(T##W a, T##W b) { return atn_select_##T##W(a > b, a, b); } \
    INLINE T##W atn_add_##T##W(T##W a, T##W b) { return (T##W)((u##T##W)a + (u##T##W)b); } \
    INLINE T##W atn_sub_##T##W(T##W a, T##W b) { return (T##W)((u##T##W)a - (u##T##W)b); } \
    INLINE T##W atn_mul_##T##W(T##W a, T##W b) { return (T##W)((u##T##W)a * (u##T##W)b); } \
    INLINE T##W atn_neg_##T##W(T##W a) { return (T##W)(-(u##T##W)a); } \
    INLINE T##W atn_shl_##T##W(T##W a, T##W b) { return (T##W)((u##T##W)a << (u##T##W)(b & (8 * (int)sizeof(S) - 1))); } \
    INLINE T##W atn_abs_##T##W(T##W a) { return atn_select_##T##W(a < 0, atn_neg_##T##W(a), a); } \
    INLINE T##W atn_div_##T##W(T##W a, T##W b) { return atn_map2(T##W, W, S##_div, a, b); } \
    INLINE T##W atn_mod_##T##W(T##W a, T##W b) { return atn_map2(T##W, W, S##_mod, a, b); } \
    INLINE T##W atn_floormod_##T##W(T##W a, T##W b) { return atn_map2(T##W, W, S##_floormod, a, b); }
#if defined(__aarch64__) && !defined(__clang__)
#define ATN_INT_OF_FLOAT(W, x) __builtin_convertvector(x, int##W)
#define ATN_INT_OF_DOUBLE(W, x) ({ long##W y_ = __builtin_convertvector(x, long##W); \
    y_ = atn_min_long##W(atn_max_long##W(y_, atn_splat_long##W(INT32_MIN)), atn_splat_long##W(INT32_MAX)); \
    __builtin_convertvector(y_, int##W); })
#elif defined(__SSE2__) && !defined(__clang__)
#define ATN_INT_OF_FLOAT(W, x) \
    ((__builtin_convertvector(x, int##W) ^ (int##W)(x >= 2147483648.0f)) & (int##W)(x == x))
#else
#define ATN_INT_OF_FLOAT(W, x) ({ \
    float##W most = atn_splat_float##W(2147483520.0f), least = atn_splat_float##W(-2147483648.0f); \
    float##W y = atn_select_float##W(x == x, x, (float##W){0}); \
    y = atn_select_float##W(y > most, most, atn_select_float##W(y < least, least, y)); \
    atn_select_int##W(x > most, atn_splat_int##W(2147483647), __builtin_convertvector(y, int##W)); })
#endif
#ifndef ATN_INT_OF_DOUBLE
#define ATN_INT_OF_DOUBLE(W, x) atn_map1(int##W, W, atn_to_int, x)
#endif
#define TO_INT(W) \
    INLINE int##W atn_int_of_double##W(double##W x) { return ATN_INT_OF_DOUBLE(W, x); } \
    INLINE int##W atn_int_of_float##W(float##W x) { return ATN_INT_OF_FLOAT(W, x); }
#define BITS(T, M, nan, W) INLINE M##W atn_bits_of_##T##W(T##W x) { \
    return atn_select_##M##W(x == x, (M##W)x, atn_splat_##M##W(nan)); }
#if ATN_HALVES == 2
#define HALVES(W) typedef atn_half half##W __attribute__((vector_size(2 * W))); \
    VECTOR(half, atn_half, short, W) FLOATING(half, short, W)
#define ATN_MOST_HALF(W, a, b) atn_max_half##W(a, b)
#if defined(__aarch64__)
#define ATN_MOST_HALF8(a, b) ({ half8 r_; \
    __asm__("fmaxnm %0.8h, %1.8h, %2.8h" : "=w"(r_) : "w"(a), "w"(b)); r_; })
#elif defined(__AVX512FP16__)
#define ATN_VMAXPH(T, a, b) ({ T r_; __asm__("vmaxph %2, %1, %0" : "=v"(r_) : "v"(a), "v"(b)); r_; })
#define ATN_MOST_HALF8(a, b) ATN_VMAXPH(half8, a, b)
#define ATN_MOST_HALF16(a, b) ATN_VMAXPH(half16, a, b)
#define ATN_MOST_HALF32(a, b) ATN_VMAXPH(half32, a, b)
#else
#define ATN_MOST_HALF8(a, b) ATN_MOST_HALF(8, a, b)
#endif
#define ATN_MOST_HALF2(a, b) ATN_MOST_HALF(2, a, b)
#define ATN_MOST_HALF4(a, b) ATN_MOST_HALF(4, a, b)
#ifndef ATN_MOST_HALF16
#define ATN_MOST_HALF16(a, b) ATN_MOST_HALF(16, a, b)
#define ATN_MOST_HALF32(a, b) ATN_MOST_HALF(32, a, b)
#endif
#elif ATN_HALVES && (defined(__aarch64__) || defined(__AVX512FP16__))
#define HALVES(W) \
    typedef atn_half half##W __attribute__((vector_size(2 * W))); \
    typedef half##W half##W##_at __attribute__((aligned(2), may_alias)); \
    INLINE float##W atn_load_half##W(const atn_half *from) { \
        return __builtin_convertvector(*(const half##W##_at *)from, float##W); } \
    INLINE void atn_store_half##W(atn_half *to, float##W v) { \
        *(half##W##_at *)to = __builtin_convertvector(v, half##W); }
#elif ATN_HALVES
#define HALVES(W) \
    INLINE float##W atn_load_half##W(const atn_half *from) { float##W r; for (int l = 0; l < W; ++l) r[l] = (float)from[l]; return r; } \
    INLINE void atn_store_half##W(atn_half *to, float##W v) { for (int l = 0; l < W; ++l) to[l] = (atn_half)v[l]; }
#else
#define HALVES(W)
#endif
#define ATN_VECTORS(W) \
    typedef signed char char##W __attribute__((vector_size(W))); \
    typedef uchar uchar##W __attribute__((vector_size(W))); \
    typedef short short##W __attribute__((vector_size(2 * W))); \
    typedef ushort ushort##W __attribute__((vector_size(2 * W))); \
    typedef int int##W __attribute__((vector_size(4 * W))); \
    typedef uint uint##W __attribute__((vector_size(4 * W))); \
    typedef float float##W __attribute__((vector_size(4 * W))); \
    typedef int64_t long##W __attribute__((vector_size(8 * W))); \
    typedef uint64_t ulong##W __attribute__((vector_size(8 * W))); \
    typedef double double##W __attribute__((vector_size(8 * W))); \
    VECTOR(uchar, uchar, char, W) VECTOR(ushort, ushort, short, W) VECTOR(int, int, int, W) VECTOR(float, float, int, W) \
    VECTOR(long, idx, long, W) VECTOR(double, double, long, W) \
    FLOATING(float, int, W) FLOATING(double, long, W) PAIRS(float, W) PAIRS(double, W) ROUNDED(W) FUSED(W) SIGNED(float, int, 0x7fffffff, W) SIGNED(double, long, INT64_MAX, W) GATHERS(W) WHOLES(int, int, W) WHOLES(long, idx, W) TO_INT(W) BITS(float, int, 0x7fc00000, W) BITS(double, long, 0x7ff8000000000000, W) \
    INLINE char##W atn_load_bool##W(const uchar *from) { return (char##W)(atn_load_uchar##W(from) != 0); } \
    INLINE void atn_store_bool##W(uchar *to, int##W v) { for (int l = 0; l < W; ++l) to[l] = v[l] != 0; } \
    HALVES(W)
