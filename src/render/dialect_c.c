/* C17 with OpenMP and the vector extension of gcc and clang. The caller puts the definition of struct atn_call in
 * front. */
#include "render/dialect.h"

static const char PRELUDE[] =
    "#include <stdint.h>\n"
    "#include <math.h>\n"
    "#include <string.h>\n"
    "#ifdef _OPENMP\n"
    "extern int omp_get_thread_num(void);\n"
    "#else\n"
    "#define omp_get_thread_num() 0\n"
    "#endif\n"
    "typedef unsigned char uchar;\n"
    "typedef unsigned short ushort;\n"
    "typedef int64_t idx;\n"
    "#if ATN_ADDRESS_BITS == 32\n"
    "typedef int adr;\n"
    "#else\n"
    "typedef int64_t adr;\n"
    "#endif\n"
    "#define INLINE static inline __attribute__((always_inline))\n" ATN_PRELUDE_WHOLE
    "INLINE float atn_min_float(float a, float b) { return a < b || b != b ? a : b; }\n"
    "INLINE float atn_max_float(float a, float b) { return a > b || b != b ? a : b; }\n"
    "INLINE double atn_min_double(double a, double b) { return a < b || b != b ? a : b; }\n"
    "INLINE double atn_max_double(double a, double b) { return a > b || b != b ? a : b; }\n"
    "INLINE int atn_to_int(double x) { return x != x ? 0 : x <= -2147483648.0 ? -2147483647 - 1 : x >= 2147483647.0 ? "
    "2147483647 : (int)x; }\n"
    "INLINE uchar atn_to_u8(double x) { return x != x || x <= 0 ? 0 : x >= 255 ? 255 : (uchar)x; }\n"
    "INLINE ushort atn_to_u16(double x) { return x != x || x <= 0 ? 0 : x >= 65535 ? 65535 : (ushort)x; }\n"
    "INLINE idx atn_to_idx(double x) {\n"
    "    return x != x ? 0 : x <= -9223372036854775808.0 ? INT64_MIN : x >= 9223372036854775808.0 ? INT64_MAX : "
    "(idx)x;\n"
    "}\n"
    "INLINE int atn_bits(float x) { int i; memcpy(&i, &x, 4); return i; }\n"
    "INLINE float atn_float(int i) { float x; memcpy(&x, &i, 4); return x; }\n"
    "INLINE void atn_report(int *report, int read) { __atomic_fetch_add(report, 1, __ATOMIC_RELAXED); "
    "__atomic_store_n(report + 1, read, __ATOMIC_RELAXED); }\n"
    "#define ATOMIC(T, B, name, join) \\\n"
    "    INLINE void atn_atomic_##name##_##T(T *to, T value) { \\\n"
    "        B seen = __atomic_load_n((B *)to, __ATOMIC_RELAXED), next; \\\n"
    "        do { T a, b = value, r; memcpy(&a, &seen, sizeof a); r = join; memcpy(&next, &r, sizeof r); } \\\n"
    "        while (!__atomic_compare_exchange_n((B *)to, &seen, next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \\\n"
    "    }\n"
    "#define ATOMICS(T, B) ATOMIC(T, B, add, a + b) ATOMIC(T, B, min, a < b || b != b ? a : b) ATOMIC(T, B, max, a > b "
    "|| b != b ? a : b)\n"
    "ATOMICS(int, int)\n"
    "ATOMICS(float, int)\n"
    "ATOMICS(double, int64_t)\n"
    "ATOMIC(int, int, or, a | b)\n"
    "INLINE void atn_atomic_or_uchar(uchar *to, int value) { if (value) __atomic_store_n(to, 1, __ATOMIC_RELAXED); }\n"
    "#if ATN_HALVES\n"
    "#if defined(__clang__) && (defined(__x86_64__) || defined(__i386__))\n"
    "typedef __fp16 atn_half;\n"
    "#else\n"
    "typedef _Float16 atn_half;\n"
    "#endif\n"
    "INLINE float atn_load_half(const atn_half *from, adr at) { return (float)from[at]; }\n"
    "INLINE void atn_store_half(atn_half *to, float value) { *to = (atn_half)value; }\n"
    "#endif\n"
    "#define atn_map1(T, W, f, a) ({ __auto_type a_ = (a); T r_; for (int l_ = 0; l_ < W; ++l_) r_[l_] = f(a_[l_]); "
    "r_; })\n"
    "#define atn_map2(T, W, f, a, b) ({ __auto_type a_ = (a); __auto_type b_ = (b); T r_; \\\n"
    "    for (int l_ = 0; l_ < W; ++l_) r_[l_] = f(a_[l_], b_[l_]); r_; })\n"
    "#define atn_map3(T, W, f, a, b, c) ({ __auto_type a_ = (a); __auto_type b_ = (b); __auto_type c_ = (c); T r_; \\\n"
    "    for (int l_ = 0; l_ < W; ++l_) r_[l_] = f(a_[l_], b_[l_], c_[l_]); r_; })\n"
    "#define atn_map_to_int(T, W, a) atn_map1(T, W, atn_to_int, a)\n"
    "#define atn_map_to_u8(T, W, a) atn_map1(T, W, atn_to_u8, a)\n"
    "#define atn_map_to_u16(T, W, a) atn_map1(T, W, atn_to_u16, a)\n"
    "#define atn_map_to_idx(T, W, a) atn_map1(T, W, atn_to_idx, a)\n";

/* Stores that go past the caches need their address aligned to the vector; else a plain store does. */
static const char VECTORS[] =
    "#if ATN_STREAM && defined(__x86_64__)\n"
    "#include <immintrin.h>\n"
    "#endif\n"
    "INLINE void atn_stream(void *to, const void *from, int bytes) {\n"
    "#if !ATN_STREAM\n"
    "#elif defined(__AVX512F__)\n"
    "    if (((uintptr_t)to & 63) == 0 && bytes % 64 == 0) {\n"
    "        for (int k = 0; k < bytes; k += 64) _mm512_stream_si512((void *)((char *)to + k), "
    "_mm512_loadu_si512((const char *)from + k));\n"
    "        return;\n"
    "    }\n"
    "#elif defined(__AVX__)\n"
    "    if (((uintptr_t)to & 31) == 0 && bytes % 32 == 0) {\n"
    "        for (int k = 0; k < bytes; k += 32) _mm256_stream_si256((__m256i *)((char *)to + k), "
    "_mm256_loadu_si256((const __m256i *)((const char *)from + k)));\n"
    "        return;\n"
    "    }\n"
    "#elif defined(__SSE2__)\n"
    "    if (((uintptr_t)to & 15) == 0 && bytes % 16 == 0) {\n"
    "        for (int k = 0; k < bytes; k += 16) _mm_stream_si128((__m128i *)((char *)to + k), _mm_loadu_si128((const "
    "__m128i *)((const char *)from + k)));\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "    memcpy(to, from, (size_t)bytes);\n"
    "}\n"
    "#define VECTOR(T, S, M, W) \\\n"
    "    INLINE T##W atn_splat_##T##W(S x) { return x - (T##W){0}; } \\\n"
    "    INLINE T##W atn_select_##T##W(M##W m, T##W a, T##W b) { return (T##W)((m & (M##W)a) | (~m & (M##W)b)); } \\\n"
    "    INLINE T##W atn_load_##T##W(const S *from) { T##W r; memcpy(&r, from, sizeof r); return r; } \\\n"
    "    INLINE void atn_store_##T##W(S *to, T##W v) { memcpy(to, &v, sizeof v); } \\\n"
    "    INLINE void atn_stream_##T##W(S *to, T##W v) { atn_stream(to, &v, (int)sizeof v); }\n"
    "#define FLOATING(T, M, W) \\\n"
    "    INLINE T##W atn_min_##T##W(T##W a, T##W b) { return atn_select_##T##W((a < b) | (b != b), a, b); } \\\n"
    "    INLINE T##W atn_max_##T##W(T##W a, T##W b) { return atn_select_##T##W((a > b) | (b != b), a, b); }\n"
    "#define WHOLES(T, S, W) \\\n"
    "    INLINE T##W atn_min_##T##W(T##W a, T##W b) { return atn_select_##T##W(a < b, a, b); } \\\n"
    "    INLINE T##W atn_max_##T##W(T##W a, T##W b) { return atn_select_##T##W(a > b, a, b); } \\\n"
    "    INLINE T##W atn_abs_##T##W(T##W a) { return atn_select_##T##W(a < 0, -a, a); } \\\n"
    "    INLINE T##W atn_div_##T##W(T##W a, T##W b) { return atn_map2(T##W, W, S##_div, a, b); } \\\n"
    "    INLINE T##W atn_mod_##T##W(T##W a, T##W b) { return atn_map2(T##W, W, S##_mod, a, b); } \\\n"
    "    INLINE T##W atn_floormod_##T##W(T##W a, T##W b) { return atn_map2(T##W, W, S##_floormod, a, b); }\n"
    "#if ATN_HALVES\n"
    "#define HALVES(W) \\\n"
    "    INLINE float##W atn_load_half##W(const atn_half *from) { float##W r; for (int l = 0; l < W; ++l) r[l] = "
    "(float)from[l]; return r; } \\\n"
    "    INLINE void atn_store_half##W(atn_half *to, float##W v) { for (int l = 0; l < W; ++l) to[l] = (atn_half)v[l]; "
    "}\n"
    "#else\n"
    "#define HALVES(W)\n"
    "#endif\n"
    "#define ATN_VECTORS(W) \\\n"
    "    typedef char char##W __attribute__((vector_size(W))); \\\n"
    "    typedef uchar uchar##W __attribute__((vector_size(W))); \\\n"
    "    typedef short short##W __attribute__((vector_size(2 * W))); \\\n"
    "    typedef ushort ushort##W __attribute__((vector_size(2 * W))); \\\n"
    "    typedef int int##W __attribute__((vector_size(4 * W))); \\\n"
    "    typedef float float##W __attribute__((vector_size(4 * W))); \\\n"
    "    typedef int64_t long##W __attribute__((vector_size(8 * W))); \\\n"
    "    typedef double double##W __attribute__((vector_size(8 * W))); \\\n"
    "    VECTOR(uchar, uchar, char, W) VECTOR(ushort, ushort, short, W) VECTOR(int, int, int, W) VECTOR(float, float, "
    "int, W) \\\n"
    "    VECTOR(long, idx, long, W) VECTOR(double, double, long, W) \\\n"
    "    FLOATING(float, int, W) FLOATING(double, long, W) WHOLES(int, int, W) WHOLES(long, idx, W) \\\n"
    "    INLINE char##W atn_load_bool##W(const uchar *from) { return (char##W)(atn_load_uchar##W(from) != 0); } \\\n"
    "    INLINE void atn_store_bool##W(uchar *to, int##W v) { for (int l = 0; l < W; ++l) to[l] = v[l] != 0; } \\\n"
    "    HALVES(W)\n";

const atn_dialect ATN_DIALECT_C = {
    .name = "c",
    .entry = "void ",
    .global = "",
    .restricted = "restrict",
    .local = "",
    .local_align = " __attribute__((aligned(64)))",
    .constant = "static const ",
    .group = "0",
    .groups = "1",
    .item = "0",
    .barrier = "",
    .unroll = "#pragma GCC unroll %d",
    .long_suffix = "LL",
    .infinity = {"__builtin_inff()", "__builtin_inf()"},
    .nan = {"__builtin_nanf(\"\")", "__builtin_nan(\"\")"},
    .typed_functions = true,
    .vectors = true,
    .prelude = PRELUDE,
    .vector_prelude = VECTORS,
};
