// CUDA C as NVRTC takes it, without headers: types, and what is inlined.
#pragma nv_diag_suppress 177 /* not every kernel uses every helper and size */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef long long idx;
typedef unsigned long long uidx;
#if ATN_ADDRESS_BITS == 32
typedef int adr;
typedef uint uadr;
#else
typedef long long adr;
typedef uidx uadr;
#endif
struct atn_half { unsigned short bits; };
#define INLINE static __device__ __forceinline__
INLINE int atn_opaque(int x) { asm("" : "+r"(x)); return x; }
INLINE idx atn_opaque(idx x) { asm("" : "+l"(x)); return x; }
#define atn_opaque_int atn_opaque
#define atn_opaque_idx atn_opaque
#define atn_opaque_adr atn_opaque
