/* A message authentication code: BLAKE2b with a key (RFC 7693), 32 bytes. Who does not know the key can neither make
 * one nor change what it stands for, which an unkeyed hash, xxHash least of all, does not promise. BLAKE2b because it
 * is a MAC by itself, without the two passes of HMAC, takes 64 bits at a time (0.1 ms for a shared object of 70 KB),
 * and is short; no library that attune needs anyway has one. */
#ifndef ATN_BASE_MAC_H
#define ATN_BASE_MAC_H

#include "base/hash.h"

#include <stdbool.h>

enum { ATN_MAC_KEY = 32, ATN_MAC_BYTES = 32, ATN_MAC_BLOCK = 128 };

typedef struct atn_mac {
    uint64_t h[8];
    uint64_t length;                    /* bytes so far that went into h */
    unsigned char block[ATN_MAC_BLOCK]; /* those that did not yet */
    size_t used;                        /* of it */
} atn_mac;

/* `key` NULL: a plain digest. */
void atn_mac_begin(atn_mac *mac, const unsigned char key[ATN_MAC_KEY]);
void atn_mac_add(atn_mac *mac, const void *bytes, size_t length);
void atn_mac_end(atn_mac *mac, unsigned char out[ATN_MAC_BYTES]);

bool atn_mac_equal(const unsigned char *a, const unsigned char *b); /* in the same time, wherever they differ */

/* 128 bits of the plain digest chained onto `before`: for names of what strangers may choose, where xxHash would let
 * them find two texts with one name. NULL counts as "". */
atn_hash atn_digest_add_text(atn_hash before, const char *text);

#endif
