/* OpenCL C 1.2 (and 1.1: nothing newer is used). */
#include "render/dialect.h"

static const char PRELUDE[] =
    "#define INLINE inline __attribute__((always_inline))\n"
    "typedef long idx;\n"
    "typedef ulong uidx;\n"
    "#if ATN_ADDRESS_BITS == 32\n"
    "typedef int adr;\n"
    "typedef uint uadr;\n"
    "#else\n"
    "typedef long adr;\n"
    "typedef ulong uadr;\n"
    "#endif\n"
    "typedef half atn_half;\n"
    "#ifdef __NV_CL_C_VERSION\n"
    "INLINE int atn_opaque_int(int x) { __asm__(\"\" : \"+r\"(x)); return x; }\n"
    "INLINE idx atn_opaque_idx(idx x) { __asm__(\"\" : \"+l\"(x)); return x; }\n"
    "#if ATN_ADDRESS_BITS == 32\n"
    "#define atn_opaque_adr atn_opaque_int\n"
    "#else\n"
    "#define atn_opaque_adr atn_opaque_idx\n"
    "#endif\n"
    "#define OPAQUE2(T, v) v.s0 = atn_opaque_##T(v.s0); v.s1 = atn_opaque_##T(v.s1);\n"
    "#else\n"
    "#define atn_opaque_int(x) (x)\n"
    "#define atn_opaque_idx(x) (x)\n"
    "#define atn_opaque_adr(x) (x)\n"
    "#define OPAQUE2(T, v)\n"
    "#endif\n"
    "#define atn_opaque_long atn_opaque_idx\n"
    "#define OPAQUE4(T, v) OPAQUE2(T, v.lo) OPAQUE2(T, v.hi)\n"
    "#define OPAQUE8(T, v) OPAQUE4(T, v.lo) OPAQUE4(T, v.hi)\n"
    "#define OPAQUE16(T, v) OPAQUE8(T, v.lo) OPAQUE8(T, v.hi)\n" ATN_PRELUDE_WHOLE
    "#ifdef __NV_CL_C_VERSION\n" ATN_PRELUDE_WRAPS "#endif\n"
    "#define atn_min_float fmin\n"
    "#define atn_max_float fmax\n"
    "#define atn_min_double fmin\n"
    "#define atn_max_double fmax\n"
    "INLINE float atn_known_float(float x) { return isnan(x) ? 0.0f : x; }\n"
    "INLINE int atn_bits_of_float(float x) { return isnan(x) ? 0x7fc00000 : as_int(x); }\n"
    "#if ATN_DOUBLES\n"
    "INLINE idx atn_bits_of_double(double x) { return isnan(x) ? 0x7ff8000000000000L : as_long(x); }\n"
    "INLINE double atn_known_double(double x) { return isnan(x) ? 0.0 : x; }\n"
    "#endif\n"
    "#define atn_to_int(x) convert_int_sat_rtz(x)\n"
    "#define atn_to_u8(x) convert_uchar_sat_rtz(x)\n"
    "#define atn_to_u16(x) convert_ushort_sat_rtz(x)\n"
    "#define atn_to_idx(x) convert_long_sat_rtz(x)\n"
    "#define atn_aligned(at, pitch) 1 /* vload asks for no more than elements do */\n"
    "#define atn_load_half(from, at) vload_half(at, from)\n"
    "#define atn_store_half(to, value) vstore_half_rte(value, 0, to)\n"
    "INLINE void atn_report(__global int *report, int read) { atomic_inc(report); atomic_xchg(report + 1, read); }\n"
    "INLINE int atn_last(__global idx *scratch, __local int *flag, adr total) {\n"
    "    mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "    if (get_local_id(0) == 0) {\n"
    "        flag[0] = atomic_inc((volatile __global int *)scratch) == (int)total - 1;\n"
    "        if (flag[0]) atomic_xchg((volatile __global int *)scratch, 0);\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "    int last = flag[0];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    return last;\n"
    "}\n"
    "#define PARTIAL(T, bits, value) \\\n"
    "    INLINE void atn_put_##T(__global idx *slot, T v) { atomic_xchg((volatile __global int *)slot, bits); } \\\n"
    "    INLINE T atn_get_##T(__global idx *slot) { int b = atomic_or((volatile __global int *)slot, 0); return value; "
    "}\n"
    "#define PARTIAL_WIDE(T, bits, value) \\\n"
    "    INLINE void atn_put_##T(__global idx *slot, T v) { \\\n"
    "        int2 b = bits; \\\n"
    "        atomic_xchg((volatile __global int *)slot, b.x); atomic_xchg((volatile __global int *)slot + 1, b.y); \\\n"
    "    } \\\n"
    "    INLINE T atn_get_##T(__global idx *slot) { \\\n"
    "        int2 b = (int2)(atomic_or((volatile __global int *)slot, 0), atomic_or((volatile __global int *)slot + 1, "
    "0)); \\\n"
    "        return value; \\\n"
    "    }\n"
    "PARTIAL(int, v, b)\n"
    "PARTIAL(uchar, (int)v, (uchar)b)\n"
    "PARTIAL(ushort, (int)v, (ushort)b)\n"
    "PARTIAL(float, as_int(v), as_float(b))\n"
    "PARTIAL_WIDE(idx, as_int2(v), as_long(b))\n"
    "#if ATN_DOUBLES\n"
    "PARTIAL_WIDE(double, as_int2(v), as_double(b))\n"
    "#endif\n"
    "#define ATOMIC(T, B, swap, name, join) \\\n"
    "    INLINE void atn_atomic_##name##_##T(volatile __global T *to, T value) { \\\n"
    "        union { B bits; T value; } seen, next; \\\n"
    "        B expected; \\\n"
    "        seen.bits = 0; /* a guess: a plain read would be a race */ \\\n"
    "        do { T a = seen.value, b = value; next.value = join; expected = seen.bits; \\\n"
    "             seen.bits = swap((volatile __global B *)to, expected, next.bits); } while (seen.bits != expected); "
    "\\\n"
    "    }\n"
    "#define ATOMICS(T, B, swap) ATOMIC(T, B, swap, add, a + b) ATOMIC(T, B, swap, min, a < b || b != b ? a : b) \\\n"
    "    ATOMIC(T, B, swap, max, a > b || b != b ? a : b)\n"
    "ATOMICS(float, int, atomic_cmpxchg)\n"
    "#if ATN_DOUBLES && defined(cl_khr_int64_base_atomics)\n"
    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
    "ATOMICS(double, long, atom_cmpxchg)\n"
    "#endif\n"
    "#define atn_atomic_add_int(to, value) atomic_add(to, value)\n"
    "#define atn_atomic_min_int(to, value) atomic_min(to, value)\n"
    "#define atn_atomic_max_int(to, value) atomic_max(to, value)\n"
    "#define atn_atomic_or_int(to, value) atomic_or(to, value)\n"
    "INLINE void atn_atomic_or_uchar(__global uchar *to, int value) { if (value) *to = 1; }\n";

static const char VECTORS[] =
    "#define STORE(T, W) \\\n"
    "    INLINE void atn_store_##T##W(__global T *to, T##W v) { vstore##W(v, 0, to); } \\\n"
    "    INLINE void atn_store_local_##T##W(__local T *to, T##W v) { vstore##W(v, 0, to); }\n"
    "#define WHOLES(T, W) \\\n"
    "    INLINE T##W atn_add_##T##W(T##W a, T##W b) { return as_##T##W(as_u##T##W(a) + as_u##T##W(b)); } \\\n"
    "    INLINE T##W atn_sub_##T##W(T##W a, T##W b) { return as_##T##W(as_u##T##W(a) - as_u##T##W(b)); } \\\n"
    "    INLINE T##W atn_mul_##T##W(T##W a, T##W b) { return as_##T##W(as_u##T##W(a) * as_u##T##W(b)); } \\\n"
    "    INLINE T##W atn_neg_##T##W(T##W a) { return as_##T##W(-as_u##T##W(a)); } \\\n"
    "    INLINE T##W atn_shl_##T##W(T##W a, T##W b) { return as_##T##W(as_u##T##W(a) << as_u##T##W(b)); } \\\n"
    "    INLINE T##W atn_div_##T##W(T##W a, T##W b) { \\\n"
    "        T##W safe = select(b, (T##W)(1), (b == 0) | (b == -1)); \\\n"
    "        return select(select(a / safe, atn_neg_##T##W(a), b == -1), (T##W)(0), b == 0); } \\\n"
    "    INLINE T##W atn_mod_##T##W(T##W a, T##W b) { \\\n"
    "        T##W safe = select(b, (T##W)(1), (b == 0) | (b == -1)); \\\n"
    "        return a % safe; } \\\n"
    "    INLINE T##W atn_floormod_##T##W(T##W a, T##W b) { T##W r = atn_mod_##T##W(a, b); return select(r, r + b, (r "
    "!= 0) & ((r < 0) ^ (b < 0))); } \\\n"
    "    INLINE T##W atn_abs_##T##W(T##W a) { T##W n = atn_neg_##T##W(a); OPAQUE##W(T, n) return select(a, n, a < 0); "
    "}\n"
    "#define BITS(T, M, nan, W) INLINE M##W atn_bits_of_##T##W(T##W x) { \\\n"
    "    return select(as_##M##W(x), (M##W)(nan), isnan(x)); }\n"
    "#define KNOWN(T, W) INLINE T##W atn_known_##T##W(T##W x) { return select(x, (T##W)(0), isnan(x)); }\n"
    "#if ATN_DOUBLES\n"
    "#define DOUBLES(W) STORE(double, W) KNOWN(double, W) BITS(double, long, 0x7ff8000000000000L, W)\n"
    "#else\n"
    "#define DOUBLES(W)\n"
    "#endif\n"
    "#define ATN_VECTORS(W) \\\n"
    "    STORE(float, W) STORE(int, W) STORE(uchar, W) STORE(ushort, W) DOUBLES(W) KNOWN(float, W) WHOLES(int, W) "
    "BITS(float, int, 0x7fc00000, W) "
    "WHOLES(long, W) \\\n"
    "    INLINE void atn_store_bool##W(__global uchar *to, int##W v) { vstore##W(convert_uchar##W(v & 1), 0, to); } "
    "\\\n"
    "    INLINE void atn_store_half##W(__global half *to, float##W v) { vstore_half##W##_rte(v, 0, to); }\n";

const atn_dialect ATN_DIALECT_OPENCL = {
    .name = "opencl",
    .entry = "__kernel void ",
    .bounds = {"__attribute__((reqd_work_group_size(%d, 1, 1))) ", "__attribute__((reqd_work_group_size(%d, 1, 1))) "},
    .global = "__global ",
    .restricted = "restrict",
    .local = "__local ",
    .local_align = " __attribute__((aligned(16)))",
    .constant = "__constant ",
    .group = "(adr)get_group_id(0)",
    .groups = "(adr)get_num_groups(0)",
    .item = "(adr)get_local_id(0)",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE)",
    .unroll = "#pragma unroll %d",
    .long_suffix = "L",
    .infinity = {"INFINITY", "(double)INFINITY"},
    .nan = {"NAN", "(double)NAN"},
    .vectors = ATN_VECTORS_BUILTIN,
    .splat = "(%s%d)(",
    .join = {"(%s%d)(", ")"},
    .convert = {"convert_%s%d(", ")"},
    .lane = {".s0", ".s1", ".s2", ".s3", ".s4", ".s5", ".s6", ".s7", ".s8", ".s9", ".sa", ".sb", ".sc", ".sd", ".se",
             ".sf"},
    .tile_store = "local_",
    .native_exp = {"native_exp(", "native_exp2("},
    .exp = ATN_EXP_IN_OPENCL,
    .both_sides = true,
    .atomic_partials = true,
    .prelude = PRELUDE,
    .vector_prelude = VECTORS,
    .double_prelude = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
};
