/* Base64 of RFC 4648, with padding. */
#include "plot/base64.h"

void atn_base64_add(atn_text *page, const unsigned char *bytes, size_t length) {
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char out[1024];
    size_t n = 0;
    for (size_t k = 0; k < length; k += 3) {
        size_t left = length - k;
        unsigned word =
            (unsigned)bytes[k] << 16 | (left > 1 ? (unsigned)bytes[k + 1] << 8 : 0) | (left > 2 ? bytes[k + 2] : 0);
        for (size_t d = 0; d < 4; ++d) out[n++] = d > left ? '=' : LETTERS[word >> (18 - 6 * d) & 63];
        if (n == sizeof out) {
            atn_text_add_bytes(page, out, n);
            n = 0;
        }
    }
    atn_text_add_bytes(page, out, n);
}
