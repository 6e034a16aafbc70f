/* A 128-bit content hash (xxHash's XXH3), for cache names and wisdom keys. Not for secrets. */
#ifndef ATN_BASE_HASH_H
#define ATN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct atn_hash {
    uint64_t high, low;
} atn_hash;

enum { ATN_HASH_TEXT = 33 }; /* 32 hexadecimal digits and the zero */

/* The hash of `bytes` chained onto `before`; start with (atn_hash){0}. Chaining keeps pieces apart:
 * ("ab","c") and ("a","bc") differ. */
atn_hash atn_hash_add(atn_hash before, const void *bytes, size_t length);
atn_hash atn_hash_add_text(atn_hash before, const char *text); /* NULL counts as "" */
void atn_hash_print(atn_hash hash, char text[ATN_HASH_TEXT]);

#endif
