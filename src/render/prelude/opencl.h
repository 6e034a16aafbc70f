// OpenCL C: sums that wrap (hidden from NVIDIA's compiler, see cuda.h), conversions, the last group, partial results of
// groups, and atomics.
#ifdef __NV_CL_C_VERSION
#define int_add(a, b) atn_opaque_int(int_add(a, b))
#define int_sub(a, b) atn_opaque_int(int_sub(a, b))
#endif
#define atn_min_float fmin
#define atn_max_float fmax
#define atn_min_double fmin
#define atn_max_double fmax
INLINE float atn_known_float(float x) { return isnan(x) ? 0.0f : x; }
INLINE int atn_bits_of_float(float x) { return isnan(x) ? 0x7fc00000 : as_int(x); }
#if ATN_DOUBLES
INLINE idx atn_bits_of_double(double x) { return isnan(x) ? 0x7ff8000000000000L : as_long(x); }
INLINE double atn_known_double(double x) { return isnan(x) ? 0.0 : x; }
#endif
#define atn_to_int(x) convert_int_sat_rtz(x)
#define atn_to_u8(x) convert_uchar_sat_rtz(x)
#define atn_to_u16(x) convert_ushort_sat_rtz(x)
#define atn_to_idx(x) convert_long_sat_rtz(x)
#define atn_aligned(at, pitch) 1 /* vload asks for no more than elements do */
#define atn_load_half(from, at) vload_half(at, from)
#define atn_store_half(to, value) vstore_half_rte(value, 0, to)
INLINE void atn_report(__global int *report, int read) { atomic_inc(report); atomic_xchg(report + 1, read); }
INLINE int atn_last(__global idx *scratch, __local int *flag, adr total) {
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        flag[0] = atomic_inc((volatile __global int *)scratch) == (int)total - 1;
        if (flag[0]) atomic_xchg((volatile __global int *)scratch, 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    int last = flag[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return last;
}
#define PARTIAL(T, bits, value) \
    INLINE void atn_put_##T(__global idx *slot, T v) { atomic_xchg((volatile __global int *)slot, bits); } \
    INLINE T atn_get_##T(__global idx *slot) { int b = atomic_or((volatile __global int *)slot, 0); return value; }
#define PARTIAL_WIDE(T, bits, value) \
    INLINE void atn_put_##T(__global idx *slot, T v) { \
        int2 b = bits; \
        atomic_xchg((volatile __global int *)slot, b.x); atomic_xchg((volatile __global int *)slot + 1, b.y); \
    } \
    INLINE T atn_get_##T(__global idx *slot) { \
        int2 b = (int2)(atomic_or((volatile __global int *)slot, 0), atomic_or((volatile __global int *)slot + 1, 0)); \
        return value; \
    }
PARTIAL(int, v, b)
PARTIAL(uchar, (int)v, (uchar)b)
PARTIAL(ushort, (int)v, (ushort)b)
PARTIAL(float, as_int(v), as_float(b))
PARTIAL_WIDE(idx, as_int2(v), as_long(b))
#if ATN_DOUBLES
PARTIAL_WIDE(double, as_int2(v), as_double(b))
#endif
#define ATOMIC(T, B, swap, name, join) \
    INLINE void atn_atomic_##name##_##T(volatile __global T *to, T value) { \
        union { B bits; T value; } seen, next; \
        B expected; \
        seen.bits = 0; /* a guess: a plain read would be a race */ \
        do { T a = seen.value, b = value; next.value = join; expected = seen.bits; \
             seen.bits = swap((volatile __global B *)to, expected, next.bits); } while (seen.bits != expected); \
    }
#define ATOMICS(T, B, swap) ATOMIC(T, B, swap, add, a + b) ATOMIC(T, B, swap, min, a < b || b != b ? a : b) \
    ATOMIC(T, B, swap, max, a > b || b != b ? a : b)
ATOMICS(float, int, atomic_cmpxchg)
#if ATN_DOUBLES && defined(cl_khr_int64_base_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
ATOMICS(double, long, atom_cmpxchg)
#endif
#define atn_atomic_add_int(to, value) atomic_add(to, value)
#define atn_atomic_min_int(to, value) atomic_min(to, value)
#define atn_atomic_max_int(to, value) atomic_max(to, value)
#define atn_atomic_or_int(to, value) atomic_or(to, value)
INLINE void atn_atomic_or_uchar(__global uchar *to, int value) { if (value) *to = 1; }
