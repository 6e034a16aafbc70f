// OpenCL C 1.1 and later: types, and values that are hidden from the compiler.
#define INLINE inline __attribute__((always_inline))
typedef long idx;
typedef ulong uidx;
#if ATN_ADDRESS_BITS == 32
typedef int adr;
typedef uint uadr;
#else
typedef long adr;
typedef ulong uadr;
#endif
typedef half atn_half;
#ifdef __NV_CL_C_VERSION
INLINE int atn_opaque_int(int x) { __asm__("" : "+r"(x)); return x; }
INLINE idx atn_opaque_idx(idx x) { __asm__("" : "+l"(x)); return x; }
#if ATN_ADDRESS_BITS == 32
#define atn_opaque_adr atn_opaque_int
#else
#define atn_opaque_adr atn_opaque_idx
#endif
#define OPAQUE2(T, v) v.s0 = atn_opaque_##T(v.s0); v.s1 = atn_opaque_##T(v.s1);
#else
#define atn_opaque_int(x) (x)
#define atn_opaque_idx(x) (x)
#define atn_opaque_adr(x) (x)
#define OPAQUE2(T, v)
#endif
#define atn_opaque_long atn_opaque_idx
#define OPAQUE4(T, v) OPAQUE2(T, v.lo) OPAQUE2(T, v.hi)
#define OPAQUE8(T, v) OPAQUE4(T, v.lo) OPAQUE4(T, v.hi)
#define OPAQUE16(T, v) OPAQUE8(T, v.lo) OPAQUE8(T, v.hi)
