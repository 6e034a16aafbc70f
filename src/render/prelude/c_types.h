// C17: types, and what is inlined.
#include <stdint.h>
#include <math.h>
#include <string.h>
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef int64_t idx;
typedef uint64_t uidx;
#if ATN_ADDRESS_BITS == 32
typedef int adr;
typedef uint uadr;
#else
typedef int64_t adr;
typedef uint64_t uadr;
#endif
#define INLINE static inline __attribute__((always_inline))
#define atn_opaque_int(x) (x)
#define atn_opaque_idx(x) (x)
#define atn_opaque_adr(x) (x)
