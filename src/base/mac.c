/* BLAKE2b as in RFC 7693: F is section 3.2, the whole section 3.3. */
#include "base/mac.h"

#include <string.h>

static const uint64_t IV[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                               0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

static const unsigned char SIGMA[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
};

static uint64_t rotate(uint64_t x, int by) { return x >> by | x << (64 - by); }

static uint64_t little_endian(const unsigned char *at) {
    uint64_t x = 0;
    for (int k = 7; k >= 0; --k) x = x << 8 | at[k];
    return x;
}

/* The mixing function G, section 3.1. */
static inline void mix(uint64_t v[16], int a, int b, int c, int d, uint64_t x, uint64_t y) {
    v[a] += v[b] + x, v[d] = rotate(v[d] ^ v[a], 32);
    v[c] += v[d], v[b] = rotate(v[b] ^ v[c], 24);
    v[a] += v[b] + y, v[d] = rotate(v[d] ^ v[a], 16);
    v[c] += v[d], v[b] = rotate(v[b] ^ v[c], 63);
}

static void compress(atn_mac *mac, const unsigned char *block, bool last) {
    uint64_t v[16], m[16];
    for (int k = 0; k < 16; ++k) m[k] = little_endian(block + 8 * k);
    for (int k = 0; k < 8; ++k) v[k] = mac->h[k], v[k + 8] = IV[k];
    v[12] ^= mac->length; /* its upper half stays zero: nothing here has 2^64 bytes */
    if (last) v[14] = ~v[14];
    for (int round = 0; round < 12; ++round) {
        const unsigned char *s = SIGMA[round];
        mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (int k = 0; k < 8; ++k) mac->h[k] ^= v[k] ^ v[k + 8];
}

void atn_mac_begin(atn_mac *mac, const unsigned char key[ATN_MAC_KEY]) {
    *mac = (atn_mac){.used = 0};
    memcpy(mac->h, IV, sizeof IV);
    mac->h[0] ^= 0x01010000u ^ (key ? (uint64_t)ATN_MAC_KEY << 8 : 0) ^ ATN_MAC_BYTES;
    if (!key) return;
    memcpy(mac->block, key, ATN_MAC_KEY); /* and zeros behind it: the first block */
    mac->used = ATN_MAC_BLOCK;
}

void atn_mac_add(atn_mac *mac, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    while (length > 0) {
        if (mac->used == ATN_MAC_BLOCK) { /* only now: the last block, full or not, is told apart */
            mac->length += ATN_MAC_BLOCK;
            compress(mac, mac->block, false);
            mac->used = 0;
        }
        size_t room = ATN_MAC_BLOCK - mac->used, taken = length < room ? length : room;
        memcpy(mac->block + mac->used, at, taken);
        mac->used += taken;
        at += taken;
        length -= taken;
    }
}

void atn_mac_end(atn_mac *mac, unsigned char out[ATN_MAC_BYTES]) {
    mac->length += mac->used;
    memset(mac->block + mac->used, 0, ATN_MAC_BLOCK - mac->used);
    compress(mac, mac->block, true);
    for (size_t k = 0; k < ATN_MAC_BYTES; ++k) out[k] = (unsigned char)(mac->h[k / 8] >> 8 * (k % 8));
}

bool atn_mac_equal(const unsigned char *a, const unsigned char *b) {
    unsigned differ = 0;
    for (size_t k = 0; k < ATN_MAC_BYTES; ++k) differ |= (unsigned)(a[k] ^ b[k]);
    return differ == 0;
}

atn_hash atn_digest_add_text(atn_hash before, const char *text) {
    unsigned char digest[ATN_MAC_BYTES];
    atn_hash hash;
    atn_mac mac;
    atn_mac_begin(&mac, NULL);
    atn_mac_add(&mac, &before, sizeof before);
    if (text) atn_mac_add(&mac, text, strlen(text));
    atn_mac_end(&mac, digest);
    memcpy(&hash, digest, sizeof hash);
    return hash;
}
