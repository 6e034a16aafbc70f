// CUDA C: sums that wrap, conversions, halves, wide loads, the last group, shuffles and atomics.
// int_add: sums and differences of 32 bits are hidden from NVIDIA's compiler: in loops it takes the wide value of x for
// that of x + 18, less 18, as if the sum could not wrap.
// atn_last: one item fences for its group; its fence covers what the others wrote before the barrier.
// atn_shuffle: the mask names the items that shuffle with each other, and no others: those may be elsewhere.
// atn_after_launch: 0, as soon as earlier launches are complete and what they wrote is visible (sm_90: a launch may
// begin while the one before it ends). All addresses depend on it, so that no compiler moves a load before it.
INLINE idx atn_after_launch() {
    idx zero = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;\n\tmov.u64 %0, 0;" : "=l"(zero) :: "memory");
#endif
    return zero;
}
#define int_add(a, b) atn_opaque_int(int_add(a, b))
#define int_sub(a, b) atn_opaque_int(int_sub(a, b))
INLINE float atn_min_float(float a, float b) { return fminf(a, b); }
INLINE float atn_max_float(float a, float b) { return fmaxf(a, b); }
INLINE double atn_min_double(double a, double b) { return fmin(a, b); }
INLINE double atn_max_double(double a, double b) { return fmax(a, b); }
INLINE int atn_bits_of_float(float x) { return x != x ? 0x7fc00000 : __float_as_int(x); }
INLINE idx atn_bits_of_double(double x) { return x != x ? 0x7ff8000000000000 : __double_as_longlong(x); }
INLINE int atn_to_int(float x) { return __float2int_rz(x); }
INLINE int atn_to_int(double x) { return x != x ? 0 : __double2int_rz(x); }
INLINE idx atn_to_idx(float x) { return x != x ? 0 : __float2ll_rz(x); }
INLINE idx atn_to_idx(double x) { return x != x ? 0 : __double2ll_rz(x); }
template <class X> INLINE uchar atn_to_u8(X x) { int i = atn_to_int(x); return (uchar)(i < 0 ? 0 : i > 255 ? 255 : i); }
template <class X> INLINE ushort atn_to_u16(X x) { int i = atn_to_int(x); return (ushort)(i < 0 ? 0 : i > 65535 ? 65535 : i); }
INLINE float atn_load_half(const atn_half *from, adr at) {
    float x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(from[at].bits)); return x;
}
INLINE void atn_store_half(atn_half *to, float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to->bits) : "f"(x)); }
template <class V, class T> INLINE V atn_load_aligned(const T *from) { return __ldg((const V *)from); }
template <class T> INLINE int atn_aligned(const T *at, adr pitch) {
    return ((size_t)at & 15) == 0 && (size_t)pitch * sizeof(T) % 16 == 0;
}
template <class V, class T> INLINE V atn_load_wide(const T *from) { /* in one piece where it is aligned */
    if (((size_t)from & (sizeof(V) - 1)) == 0) return __ldg((const V *)from);
    V r; T *to = (T *)&r;
    _Pragma("unroll") for (int k = 0; k < (int)(sizeof(V) / sizeof(T)); ++k) to[k] = from[k];
    return r;
}
#define STORE(T, V) INLINE void atn_store_local_##V(T *to, V v) { *(V *)to = v; }
STORE(float, float2) STORE(float, float4) STORE(int, int2) STORE(int, int4) STORE(double, double2)
INLINE void atn_report(int *report, int read) { atomicAdd(report, 1); report[1] = read; }
INLINE bool atn_last(idx *scratch, int *, adr total) {
    __syncthreads();
    int last = 0;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd((int *)scratch, 1) == (int)total - 1;
        if (last) *(volatile int *)scratch = 0;
        __threadfence();
    }
    return __syncthreads_or(last);
}
template <int W, class T> INLINE T atn_shuffle(T value, int distance) {
    unsigned mask = W == 32 ? 0xffffffffu : ((1u << W % 32) - 1) << (threadIdx.x % 32 / W * W);
    return __shfl_xor_sync(mask, value, distance);
}
template <int W, class T> INLINE T atn_shuffle_up(T value, int distance) {
    unsigned mask = W == 32 ? 0xffffffffu : ((1u << W % 32) - 1) << (threadIdx.x % 32 / W * W);
    return __shfl_up_sync(mask, value, distance, W);
}
template <int W, class T> INLINE T atn_shuffle_from(T value, int from) {
    unsigned mask = W == 32 ? 0xffffffffu : ((1u << W % 32) - 1) << (threadIdx.x % 32 / W * W);
    return __shfl_sync(mask, value, from, W);
}
#define EXTREME(name, find, better) \
    template <int W> INLINE int atn_shuffle_##name(int x) { /* of a whole warp */ \
        x = ATN_REDUX(find, x); \
        _Pragma("unroll") for (int d = ATN_LEFT; d > 0; d /= 2) { int y = atn_shuffle<W>(x, d); x = y better x ? y : x; } \
        return x; \
    } \
    template <int W> INLINE float atn_shuffle_##name(float x) { \
        return __int_as_float(atn_ordered(atn_shuffle_##name<W>(atn_ordered(__float_as_int(x))))); \
    }
#if __CUDA_ARCH__ >= 800
#define ATN_REDUX(find, x) (W == 32 ? __reduce_##find##_sync(0xffffffffu, x) : x)
#define ATN_LEFT (W == 32 ? 0 : W / 2)
#else
#define ATN_REDUX(find, x) x
#define ATN_LEFT (W / 2)
#endif
INLINE int atn_ordered(int bits) { return bits < 0 ? bits ^ 0x7fffffff : bits; } /* as singles are; and back */
EXTREME(least, min, <) EXTREME(most, max, >)
#define ATOMIC(T, B, name, join, to_bits, from_bits) \
    INLINE void atn_atomic_##name##_##T(T *to, T value) { \
        B seen = *(volatile B *)to, expected; \
        do { T a = from_bits(seen), b = value; expected = seen; seen = atomicCAS((B *)to, expected, to_bits(join)); } while (seen != expected); \
    }
#define U64(x) ((unsigned long long)__double_as_longlong(x))
#define D64(x) __longlong_as_double((long long)(x))
ATOMIC(float, int, min, a < b || b != b ? a : b, __float_as_int, __int_as_float)
ATOMIC(float, int, max, a > b || b != b ? a : b, __float_as_int, __int_as_float)
ATOMIC(double, unsigned long long, min, a < b || b != b ? a : b, U64, D64)
ATOMIC(double, unsigned long long, max, a > b || b != b ? a : b, U64, D64)
INLINE void atn_atomic_add_float(float *to, float value) { atomicAdd(to, value); }
INLINE void atn_atomic_add_double(double *to, double value) { atomicAdd(to, value); }
INLINE void atn_atomic_add_int(int *to, int value) { atomicAdd(to, value); }
INLINE void atn_atomic_min_int(int *to, int value) { atomicMin(to, value); }
INLINE void atn_atomic_max_int(int *to, int value) { atomicMax(to, value); }
INLINE void atn_atomic_or_int(int *to, int value) { atomicOr(to, value); }
INLINE void atn_atomic_or_uchar(uchar *to, int value) { if (value) *to = 1; }
