// OpenCL C: ATN_VECTORS(W) defines the functions on vectors of a width.
#define STORE(T, W) \
    INLINE void atn_store_##T##W(__global T *to, T##W v) { vstore##W(v, 0, to); } \
    INLINE void atn_store_local_##T##W(__local T *to, T##W v) { vstore##W(v, 0, to); }
#define WHOLES(T, W) \
    INLINE T##W atn_add_##T##W(T##W a, T##W b) { return as_##T##W(as_u##T##W(a) + as_u##T##W(b)); } \
    INLINE T##W atn_sub_##T##W(T##W a, T##W b) { return as_##T##W(as_u##T##W(a) - as_u##T##W(b)); } \
    INLINE T##W atn_mul_##T##W(T##W a, T##W b) { return as_##T##W(as_u##T##W(a) * as_u##T##W(b)); } \
    INLINE T##W atn_neg_##T##W(T##W a) { a = ~a; OPAQUE##W(T, a) return as_##T##W(as_u##T##W(a) + 1); } \
    INLINE T##W atn_shl_##T##W(T##W a, T##W b) { return as_##T##W(as_u##T##W(a) << as_u##T##W(b)); } \
    INLINE T##W atn_div_##T##W(T##W a, T##W b) { \
        T##W safe = select(b, (T##W)(1), (b == 0) | (b == -1)); \
        return select(select(a / safe, atn_neg_##T##W(a), b == -1), (T##W)(0), b == 0); } \
    INLINE T##W atn_mod_##T##W(T##W a, T##W b) { \
        T##W safe = select(b, (T##W)(1), (b == 0) | (b == -1)); \
        return a % safe; } \
    INLINE T##W atn_floormod_##T##W(T##W a, T##W b) { T##W r = atn_mod_##T##W(a, b); return select(r, r + b, (r != 0) & ((r < 0) ^ (b < 0))); } \
    INLINE T##W atn_abs_##T##W(T##W a) { return select(a, atn_neg_##T##W(a), a < 0); }
#define BITS(T, M, nan, W) INLINE M##W atn_bits_of_##T##W(T##W x) { \
    return select(as_##M##W(x), (M##W)(nan), isnan(x)); }
#define KNOWN(T, W) INLINE T##W atn_known_##T##W(T##W x) { return select(x, (T##W)(0), isnan(x)); }
#if ATN_DOUBLES
#define DOUBLES(W) STORE(double, W) KNOWN(double, W) BITS(double, long, 0x7ff8000000000000L, W)
#else
#define DOUBLES(W)
#endif
#define ATN_VECTORS(W) \
    STORE(float, W) STORE(int, W) STORE(uchar, W) STORE(ushort, W) DOUBLES(W) KNOWN(float, W) WHOLES(int, W) BITS(float, int, 0x7fc00000, W) WHOLES(long, W) \
    INLINE void atn_store_bool##W(__global uchar *to, int##W v) { vstore##W(convert_uchar##W(v & 1), 0, to); } \
    INLINE void atn_store_half##W(__global half *to, float##W v) { vstore_half##W##_rte(v, 0, to); }
