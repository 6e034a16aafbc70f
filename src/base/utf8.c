/* UTF-8, validated as strictly as by JSON parsers. */
#include "base/utf8.h"

size_t atn_utf8_bytes(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    size_t bytes = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
    for (size_t k = 1; k < bytes; ++k)
        if ((c[k] & 0xc0) != 0x80) return 0; /* the zero at the end stops it too */
    bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    bool outside = (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf4 && c[1] >= 0x90);
    return overlong || outside ? 0 : bytes;
}

bool atn_utf8_valid(const char *text) {
    for (size_t bytes; *text; text += bytes)
        if (!(bytes = atn_utf8_bytes(text))) return false;
    return true;
}

void atn_utf8_clean(char *text) {
    for (size_t bytes; *text; text += bytes) {
        bytes = atn_utf8_bytes(text);
        if (bytes) continue;
        *text = '?';
        bytes = 1;
    }
}
