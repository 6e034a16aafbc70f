/* Element types of arrays and of values inside a kernel. */
#ifndef ATTUNE_TYPE_H
#define ATTUNE_TYPE_H

#include <attune/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum atn_type {
    ATN_TYPE_NONE,
    ATN_B,  /* boolean, one byte */
    ATN_U8, /* unsigned integers, for images */
    ATN_U16,
    ATN_INT32, /* wraps */
    ATN_INDEX, /* 64-bit signed: indices, sizes, ranges; not an element type of arrays */
    ATN_HP,    /* IEEE half precision; computes in single */
    ATN_SP,
    ATN_DP,
    ATN_SP2, /* complex: two singles, two doubles */
    ATN_DP2,
    ATN_TYPE_COUNT
} atn_type;

enum { ATN_MAX_RANK = 3 }; /* largest rank of an array: a volume */

ATN_API const char *atn_type_name(atn_type type);      /* "SP", ...; never NULL */
ATN_API size_t atn_type_bytes(atn_type type);          /* of one element in memory */
ATN_API atn_type atn_type_from_name(const char *name); /* ATN_TYPE_NONE if unknown */

#ifdef __cplusplus
}
#endif
#endif
