/* TIFF of float32, written without libtiff: header, one strip, the unit of its values, one directory, little-endian. */
#include "image/formats.h"

#include "base/size.h"
#include "cloud/binary.h"

#include <stdio.h>

enum { HEADER = 8, ASCII = 2, SHORT = 3, LONG = 4, NOTE = 16 };

atn_status image_tiff_add(const atn_ctx *ctx, const char *path, size_t width, size_t height, const float *pixels,
                          const char *unit, atn_text *out) {
    char note[NOTE] = {0}; /* the description, padded */
    size_t count, bytes, length = (size_t)snprintf(note, sizeof note, "unit=%.8s", unit) + 1;
    size_t noted = *unit ? sizeof note : 0;
    if (!atn_size_mul(width, height, &count) || !atn_size_mul(count, 4, &bytes) || bytes > INT32_MAX)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: %zu x %zu pixels are too many for a TIFF; write npy", path, width,
                        height);
    const struct {
        int tag, type;
        size_t value;
    } entries[] = {
        {256, LONG, width},
        {257, LONG, height},
        {258, SHORT, 32}, /* width, height, bits */
        {259, SHORT, 1},
        {262, SHORT, 1},              /* not packed, grey */
        {270, ASCII, HEADER + bytes}, /* where the description stands */
        {273, LONG, HEADER},          /* and the strip */
        {277, SHORT, 1},
        {278, LONG, height},
        {279, LONG, bytes}, /* channels, rows and bytes of the strip */
        {339, SHORT, 3},    /* floats */
    };
    size_t n = sizeof entries / sizeof *entries;
    atn_text_add_bytes(out, "II*", 4);
    number_add(out, NUMBER_U32, (double)(HEADER + bytes + noted), false);
    for (size_t k = 0; k < count; ++k) number_add(out, NUMBER_F32, (double)pixels[k], false);
    atn_text_add_bytes(out, note, noted);
    number_add(out, NUMBER_U16, (double)(n - !*unit), false);
    for (size_t k = 0; k < n; ++k) {
        if (entries[k].type == ASCII && !*unit) continue;
        number_add(out, NUMBER_U16, entries[k].tag, false);
        number_add(out, NUMBER_U16, entries[k].type, false);
        number_add(out, NUMBER_U32, entries[k].type == ASCII ? (double)length : 1, false);
        number_add(out, NUMBER_U32, (double)entries[k].value, false); /* a short stands in its first half */
    }
    number_add(out, NUMBER_U32, 0, false); /* no other directory */
    return atn_text_status(out);
}
