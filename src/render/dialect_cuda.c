/* CUDA C, as NVRTC takes it: no headers. */
#include "render/dialect.h"

static const char PRELUDE[] =
    "#pragma nv_diag_suppress 177 /* not every kernel uses every helper and size */\n"
    "typedef unsigned char uchar;\n"
    "typedef unsigned short ushort;\n"
    "typedef unsigned int uint;\n"
    "typedef long long idx;\n"
    "typedef unsigned long long uidx;\n"
    "#if ATN_ADDRESS_BITS == 32\n"
    "typedef int adr;\n"
    "typedef uint uadr;\n"
    "#else\n"
    "typedef long long adr;\n"
    "typedef uidx uadr;\n"
    "#endif\n"
    "struct atn_half { unsigned short bits; };\n"
    "#define INLINE static __device__ __forceinline__\n"
    "INLINE int atn_opaque(int x) { asm(\"\" : \"+r\"(x)); return x; }\n"
    "INLINE idx atn_opaque(idx x) { asm(\"\" : \"+l\"(x)); return x; }\n"
    "#define atn_opaque_int atn_opaque\n"
    "#define atn_opaque_idx atn_opaque\n"
    "#define atn_opaque_adr atn_opaque\n" ATN_PRELUDE_WHOLE ATN_PRELUDE_WRAPS
    "INLINE float atn_min_float(float a, float b) { return fminf(a, b); }\n"
    "INLINE float atn_max_float(float a, float b) { return fmaxf(a, b); }\n"
    "INLINE double atn_min_double(double a, double b) { return fmin(a, b); }\n"
    "INLINE double atn_max_double(double a, double b) { return fmax(a, b); }\n"
    "INLINE int atn_bits_of_float(float x) { return x != x ? 0x7fc00000 : __float_as_int(x); }\n"
    "INLINE idx atn_bits_of_double(double x) { return x != x ? 0x7ff8000000000000 : __double_as_longlong(x); }\n"
    "INLINE int atn_to_int(float x) { return __float2int_rz(x); }\n"
    "INLINE int atn_to_int(double x) { return x != x ? 0 : __double2int_rz(x); }\n"
    "INLINE idx atn_to_idx(float x) { return x != x ? 0 : __float2ll_rz(x); }\n"
    "INLINE idx atn_to_idx(double x) { return x != x ? 0 : __double2ll_rz(x); }\n"
    "template <class X> INLINE uchar atn_to_u8(X x) { int i = atn_to_int(x); return (uchar)(i < 0 ? 0 : i > 255 ? 255 "
    ": i); }\n"
    "template <class X> INLINE ushort atn_to_u16(X x) { int i = atn_to_int(x); return (ushort)(i < 0 ? 0 : i > 65535 ? "
    "65535 : i); }\n"
    "INLINE float atn_load_half(const atn_half *from, adr at) {\n"
    "    float x; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(from[at].bits)); return x;\n"
    "}\n"
    "INLINE void atn_store_half(atn_half *to, float x) { asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(to->bits) : "
    "\"f\"(x)); }\n"
    "template <class V, class T> INLINE V atn_load_wide(const T *from) { /* in one piece where it is aligned */\n"
    "    if (((size_t)from & (sizeof(V) - 1)) == 0) return __ldg((const V *)from);\n"
    "    V r; T *to = (T *)&r;\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < (int)(sizeof(V) / sizeof(T)); ++k) to[k] = from[k];\n"
    "    return r;\n"
    "}\n"
    "#define STORE(T, V) INLINE void atn_store_local_##V(T *to, V v) { *(V *)to = v; }\n"
    "STORE(float, float2) STORE(float, float4) STORE(int, int2) STORE(int, int4) STORE(double, double2)\n"
    "INLINE void atn_report(int *report, int read) { atomicAdd(report, 1); report[1] = read; }\n"
    /* One item fences for its group: what the others wrote before the barrier is covered by its fence. */
    "INLINE bool atn_last(idx *scratch, int *, adr total) {\n"
    "    __syncthreads();\n"
    "    int last = 0;\n"
    "    if (threadIdx.x == 0) {\n"
    "        __threadfence();\n"
    "        last = atomicAdd((int *)scratch, 1) == (int)total - 1;\n"
    "        if (last) *(volatile int *)scratch = 0;\n"
    "        __threadfence();\n"
    "    }\n"
    "    return __syncthreads_or(last);\n"
    "}\n"
    /* The mask names the items that shuffle with each other, and no others: those may be elsewhere. */
    "template <int W, class T> INLINE T atn_shuffle(T value, int distance) {\n"
    "    unsigned mask = W == 32 ? 0xffffffffu : ((1u << W % 32) - 1) << (threadIdx.x % 32 / W * W);\n"
    "    return __shfl_xor_sync(mask, value, distance);\n"
    "}\n"
    "template <int W, class T> INLINE T atn_shuffle_up(T value, int distance) {\n"
    "    unsigned mask = W == 32 ? 0xffffffffu : ((1u << W % 32) - 1) << (threadIdx.x % 32 / W * W);\n"
    "    return __shfl_up_sync(mask, value, distance, W);\n"
    "}\n"
    "template <int W, class T> INLINE T atn_shuffle_from(T value, int from) {\n"
    "    unsigned mask = W == 32 ? 0xffffffffu : ((1u << W % 32) - 1) << (threadIdx.x % 32 / W * W);\n"
    "    return __shfl_sync(mask, value, from, W);\n"
    "}\n"
    "#define ATOMIC(T, B, name, join, to_bits, from_bits) \\\n"
    "    INLINE void atn_atomic_##name##_##T(T *to, T value) { \\\n"
    "        B seen = *(volatile B *)to, expected; \\\n"
    "        do { T a = from_bits(seen), b = value; expected = seen; seen = atomicCAS((B *)to, expected, "
    "to_bits(join)); } while (seen != expected); \\\n"
    "    }\n"
    "#define U64(x) ((unsigned long long)__double_as_longlong(x))\n"
    "#define D64(x) __longlong_as_double((long long)(x))\n"
    "ATOMIC(float, int, min, a < b || b != b ? a : b, __float_as_int, __int_as_float)\n"
    "ATOMIC(float, int, max, a > b || b != b ? a : b, __float_as_int, __int_as_float)\n"
    "ATOMIC(double, unsigned long long, min, a < b || b != b ? a : b, U64, D64)\n"
    "ATOMIC(double, unsigned long long, max, a > b || b != b ? a : b, U64, D64)\n"
    "INLINE void atn_atomic_add_float(float *to, float value) { atomicAdd(to, value); }\n"
    "INLINE void atn_atomic_add_double(double *to, double value) { atomicAdd(to, value); }\n"
    "INLINE void atn_atomic_add_int(int *to, int value) { atomicAdd(to, value); }\n"
    "INLINE void atn_atomic_min_int(int *to, int value) { atomicMin(to, value); }\n"
    "INLINE void atn_atomic_max_int(int *to, int value) { atomicMax(to, value); }\n"
    "INLINE void atn_atomic_or_int(int *to, int value) { atomicOr(to, value); }\n"
    "INLINE void atn_atomic_or_uchar(uchar *to, int value) { if (value) *to = 1; }\n";

static const char WIDE_PRELUDE[] =
    "#define STORE_WIDE(T, V) INLINE void atn_store_##V(T *to, V v) { /* in one piece where it is aligned */ \\\n"
    "        if (((size_t)to & (sizeof(V) - 1)) == 0) { *(V *)to = v; return; } \\\n"
    "        const T *from = (const T *)&v; \\\n"
    "        _Pragma(\"unroll\") for (int k = 0; k < (int)(sizeof(V) / sizeof(T)); ++k) to[k] = from[k]; \\\n"
    "    }\n"
    "STORE_WIDE(float, float2) STORE_WIDE(float, float4) STORE_WIDE(int, int2) STORE_WIDE(int, int4)\n"
    "STORE_WIDE(double, double2)\n"
    "template <class V, class T> INLINE void atn_fetch(T *to, const T *from) {\n"
    "    if (((size_t)from & (sizeof(V) - 1)) == 0) {\n"
    "#if __CUDA_ARCH__ >= 800\n"
    "        if (sizeof(V) == 16)\n"
    "            asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" ::\n"
    "                         \"r\"((uint)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");\n"
    "        else\n"
    "#endif\n"
    "            *(V *)to = *(const V *)from;\n"
    "        return;\n"
    "    }\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < (int)(sizeof(V) / sizeof(T)); ++k) to[k] = from[k];\n"
    "}\n"
    "INLINE void atn_fetched() {\n"
    "#if __CUDA_ARCH__ >= 800\n"
    "    asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n"
    "#endif\n"
    "}\n";

/* The first word of the scratch: how many groups of a launch have begun, and from bit 32 on how many launches there
 * were. The group that begins last leaves it for the next launch. Words that are left have the launch above them, from
 * 1 on; after 2^32 - 1 launches numbers begin anew. */
static const char LOOK_PRELUDE[] =
    "INLINE idx atn_draw(idx *scratch) {\n"
    "    __shared__ idx drawn;\n"
    "    if (threadIdx.x == 0) {\n"
    "        uidx mine = atomicAdd((uidx *)scratch, (uidx)1), launch = (mine >> 32) + 1;\n"
    "        if ((uint)mine == gridDim.x - 1) *(volatile uidx *)scratch = (launch == 0xffffffff ? 0 : launch) << 32;\n"
    "        drawn = (idx)(launch << 32 | (uint)mine);\n"
    "    }\n"
    "    __syncthreads();\n"
    "    return drawn;\n"
    "}\n"
    "#if __CUDA_ARCH__ >= 700 /* what is volatile is of the whole system, and slower */\n"
    "INLINE void atn_leave_word(idx *to, uidx word) {\n"
    "    asm volatile(\"st.relaxed.gpu.global.u64 [%0], %1;\" :: \"l\"(to), \"l\"(word) : \"memory\");\n"
    "}\n"
    "INLINE uidx atn_seen_word(const idx *from) {\n"
    "    uidx word;\n"
    "    asm volatile(\"ld.relaxed.gpu.global.u64 %0, [%1];\" : \"=l\"(word) : \"l\"(from) : \"memory\");\n"
    "    return word;\n"
    "}\n"
    "#else\n"
    "INLINE void atn_leave_word(idx *to, uidx word) { *(volatile uidx *)to = word; }\n"
    "INLINE uidx atn_seen_word(const idx *from) { return *(const volatile uidx *)from; }\n"
    "#endif\n"
    "template <class T> INLINE void atn_leave(idx *to, int launch, T value) {\n"
    "    union { T value; uint word[2]; } u;\n"
    "    u.word[0] = u.word[1] = 0;\n"
    "    u.value = value;\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k)\n"
    "        atn_leave_word(to + k, (uidx)(uint)launch << 32 | u.word[k]);\n"
    "}\n"
    "template <class T> INLINE T atn_await(const idx *from, int launch) {\n"
    "    union { T value; uint word[2]; } u;\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k) {\n"
    "        uidx seen;\n"
    "        do seen = atn_seen_word(from + k); while ((int)(seen >> 32) != launch);\n"
    "        u.word[k] = (uint)seen;\n"
    "    }\n"
    "    return u.value;\n"
    "}\n";

/* Halves in the lower and the upper bits of a word, and products of matrices that a warp holds together: of 8 x 8
 * halves lane l has those of row l / 4, columns 2 (l mod 4) and the next. */
static const char MATRIX_PRELUDE[] =
    "INLINE int atn_pack_halves(float low, float high) {\n"
    "    int r; asm(\"cvt.rn.f16x2.f32 %0, %1, %2;\" : \"=r\"(r) : \"f\"(high), \"f\"(low)); return r;\n"
    "}\n"
    "INLINE float atn_low_half(int word) {\n"
    "    float r; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(r) : \"h\"((ushort)word)); return r;\n"
    "}\n"
    "INLINE float atn_high_half(int word) {\n"
    "    float r; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(r) : \"h\"((ushort)((uint)word >> 16))); return r;\n"
    "}\n"
    "INLINE float atn_as_half(float x) {\n"
    "    ushort h; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(x));\n"
    "    float r; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(r) : \"h\"(h)); return r;\n"
    "}\n"
    "INLINE int atn_all(int x) { return __syncthreads_and(x); }\n"
    "INLINE void atn_load_matrices(int &a, int &b, int &c, int &d, const int *row) {\n"
    "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
    "                 : \"=r\"(a), \"=r\"(b), \"=r\"(c), \"=r\"(d) : \"r\"((uint)__cvta_generic_to_shared(row)) : "
    "\"memory\");\n"
    "}\n"
    "INLINE void atn_load_matrices_turned(int &a, int &b, const int *row) {\n"
    "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\"\n"
    "                 : \"=r\"(a), \"=r\"(b) : \"r\"((uint)__cvta_generic_to_shared(row)) : \"memory\");\n"
    "}\n"
    "INLINE void atn_multiply_halves(float &s0, float &s1, float &s2, float &s3, int a0, int a1, int a2, int a3, int "
    "b0,\n"
    "                                int b1) {\n"
    "    asm(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
    "%1, \"\n"
    "        \"%2, %3};\" : \"+f\"(s0), \"+f\"(s1), \"+f\"(s2), \"+f\"(s3) : \"r\"(a0), \"r\"(a1), \"r\"(a2), "
    "\"r\"(a3), \"r\"(b0), \"r\"(b1));\n"
    "}\n";

const atn_dialect ATN_DIALECT_CUDA = {
    .name = "cuda",
    .entry = "extern \"C\" __global__ void ",
    .bounds = {"__launch_bounds__(%d) ", "__launch_bounds__(%d, %d) "},
    .global = "",
    .restricted = "__restrict__",
    .local = "__shared__ __align__(16) ",
    .local_align = "",
    .constant = "static __constant__ ",
    .group = "(adr)blockIdx.x",
    .groups = "(adr)gridDim.x",
    .item = "(adr)threadIdx.x",
    .barrier = "__syncthreads()",
    .unroll = "#pragma unroll %d",
    .long_suffix = "LL",
    .infinity = {"__int_as_float(0x7f800000)", "__longlong_as_double(0x7ff0000000000000LL)"},
    .nan = {"__int_as_float(0x7fffffff)", "__longlong_as_double(0x7fffffffffffffffLL)"},
    .typed_functions = true,
    .join = {"make_%s%d(", ")"},
    .lane = {".x", ".y", ".z", ".w"},
    .tile_store = "local_",
    .native_exp = {"__expf(", "__expf("},
    .exp = ATN_EXP_IN_CUDA,
    .both_sides = true,
    .nan_converts = true,
    .prelude = PRELUDE,
    .wide_prelude = WIDE_PRELUDE,
    .look_prelude = LOOK_PRELUDE,
    .matrix_prelude = MATRIX_PRELUDE,
};
