// CUDA C: stores of several elements at once, and asynchronous copies into shared memory.
#define STORE_WIDE(T, V) INLINE void atn_store_##V(T *to, V v) { /* in one piece where it is aligned */ \
        if (((size_t)to & (sizeof(V) - 1)) == 0) { *(V *)to = v; return; } \
        const T *from = (const T *)&v; \
        _Pragma("unroll") for (int k = 0; k < (int)(sizeof(V) / sizeof(T)); ++k) to[k] = from[k]; \
    }
STORE_WIDE(float, float2) STORE_WIDE(float, float4) STORE_WIDE(int, int2) STORE_WIDE(int, int4)
STORE_WIDE(double, double2)
#if ATN_HALVES
INLINE void atn_store_half2(atn_half *to, float2 v) {
#if __CUDA_ARCH__ >= 800
    if (((size_t)to & 3) == 0) {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(*(int *)to) : "f"(v.y), "f"(v.x));
        return;
    }
#endif
    atn_store_half(to, v.x);
    atn_store_half(to + 1, v.y);
}
#endif
template <class V, class T> INLINE void atn_fetch(T *to, const T *from) {
    if (((size_t)from & (sizeof(V) - 1)) == 0) {
#if __CUDA_ARCH__ >= 800
        if (sizeof(V) == 16)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::
                         "r"((uint)__cvta_generic_to_shared(to)), "l"(from) : "memory");
        else
#endif
            *(V *)to = *(const V *)from;
        return;
    }
    _Pragma("unroll") for (int k = 0; k < (int)(sizeof(V) / sizeof(T)); ++k) to[k] = from[k];
}
INLINE void atn_fetched() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
