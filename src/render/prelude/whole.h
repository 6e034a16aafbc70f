// Every dialect: arithmetic of whole numbers that is defined for all of them. INLINE, uint, idx, uidx, adr and uadr are
// defined before it, and atn_opaque_T, which hides a value from the compiler.
// T_neg: a sum, not a negation, to NVIDIA's assembler, which loses the sign in max(a, max(b, -c)), and takes the absolute
// value of the least integer, which is itself, for a number that is not negative, and divides it without a sign.
#define WHOLE(T) \
    INLINE T T##_add(T a, T b) { return (T)((u##T)a + (u##T)b); } \
    INLINE T T##_sub(T a, T b) { return (T)((u##T)a - (u##T)b); } \
    INLINE T T##_mul(T a, T b) { return (T)((u##T)a * (u##T)b); } \
    INLINE T T##_neg(T a) { return (T)((u##T)atn_opaque_##T(~a) + 1); } \
    INLINE T T##_shl(T a, T b) { return (T)((u##T)a << (b & (T)(8 * sizeof(T) - 1))); } \
    INLINE T T##_div(T a, T b) { return b == 0 ? 0 : b == -1 ? T##_neg(a) : a / b; } \
    INLINE T T##_mod(T a, T b) { return b == 0 || b == -1 ? 0 : a % b; } \
    INLINE T T##_floormod(T a, T m) { T r = T##_mod(a, m); return r != 0 && (r < 0) != (m < 0) ? r + m : r; } \
    INLINE T atn_min_##T(T a, T b) { return a < b ? a : b; } \
    INLINE T atn_max_##T(T a, T b) { return a > b ? a : b; } \
    INLINE T atn_abs_##T(T a) { return a < 0 ? T##_neg(a) : a; }
WHOLE(int)
WHOLE(idx)
WHOLE(adr)
