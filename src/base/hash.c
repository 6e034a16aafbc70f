/* The content hash: each piece is hashed with the chain so far as its seed. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

atn_hash atn_hash_add(atn_hash before, const void *bytes, size_t length) {
    XXH128_hash_t piece = XXH3_128bits_withSeed(bytes, length, before.low);
    uint64_t pair[5] = {before.high, before.low, piece.high64, piece.low64, (uint64_t)length};
    XXH128_hash_t joined = XXH3_128bits(pair, sizeof pair);
    return (atn_hash){.high = joined.high64, .low = joined.low64};
}

atn_hash atn_hash_add_text(atn_hash before, const char *text) {
    return atn_hash_add(before, text ? text : "", text ? strlen(text) : 0);
}

void atn_hash_print(atn_hash hash, char text[ATN_HASH_TEXT]) {
    snprintf(text, ATN_HASH_TEXT, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
}
