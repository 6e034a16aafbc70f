/* TIFF of float32, written without libtiff: header, one strip, a description with the unit of its values and the
 * spacing of its pixels, resolutions, one directory, little-endian. */
#include "image/formats.h"

#include "base/number.h"
#include "base/size.h"
#include "cloud/binary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADER = 8, ASCII = 2, SHORT = 3, LONG = 4, RATIONAL = 5, NOTE = 96, CENTIMETRE = 3 };

/* "unit=m", and "spacing=5e-06,5e-06" in a second line where it is known. */
static size_t describe(const char *unit, const double *spacing_m, char note[NOTE]) {
    char x[ATN_NUMBER_TEXT], y[ATN_NUMBER_TEXT];
    if (!*unit && !spacing_m) return 0;
    size_t length = (size_t)snprintf(note, NOTE, "unit=%.8s", unit);
    if (spacing_m) {
        atn_number_print(spacing_m[0], x);
        atn_number_print(spacing_m[1], y);
        length += (size_t)snprintf(note + length, NOTE - length, "\nspacing=%s,%s", x, y);
    }
    return length + 1;
}

/* Pixels in a centimetre, as a fraction. */
static void add_resolution(atn_text *out, double spacing_m) {
    double each = 0.01 / spacing_m, below = each < 4e6 ? 1000 : each < 4e9 ? 1 : 0;
    number_add(out, NUMBER_U32, below > 0 ? round(each * below) : 1, false);
    number_add(out, NUMBER_U32, below > 0 ? below : 1, false);
}

atn_status image_tiff_add(const atn_ctx *ctx, const char *path, size_t width, size_t height, const float *pixels,
                          const char *unit, const double *spacing_m, atn_text *out) {
    char note[NOTE] = {0};
    const double *spacing = spacing_m && spacing_m[0] > 0 && spacing_m[1] > 0 ? spacing_m : NULL;
    size_t count, bytes, length = describe(unit, spacing, note), noted = (length + 7) & ~(size_t)7;
    if (!atn_size_mul(width, height, &count) || !atn_size_mul(count, 4, &bytes) || bytes > INT32_MAX)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: %zu x %zu pixels are too many for a TIFF; write npy", path, width,
                        height);
    size_t behind = HEADER + bytes, directory = behind + noted + (spacing ? 16 : 0);
    const struct {
        int tag, type;
        size_t count, value;
    } entries[] = {
        {256, LONG, 1, width},
        {257, LONG, 1, height},
        {258, SHORT, 1, 32}, /* width, height, bits */
        {259, SHORT, 1, 1},
        {262, SHORT, 1, 1},           /* not packed, grey */
        {270, ASCII, length, behind}, /* where the description is */
        {273, LONG, 1, HEADER},       /* and the strip */
        {277, SHORT, 1, 1},
        {278, LONG, 1, height},
        {279, LONG, 1, bytes}, /* channels, rows and bytes of the strip */
        {282, RATIONAL, spacing ? 1 : 0, behind + noted},
        {283, RATIONAL, spacing ? 1 : 0, behind + noted + 8},
        {296, SHORT, spacing ? 1 : 0, CENTIMETRE},
        {339, SHORT, 1, 3}, /* floats */
    };
    size_t n = 0;
    for (size_t k = 0; k < sizeof entries / sizeof *entries; ++k) n += entries[k].count > 0;
    atn_text_add_bytes(out, "II*", 4);
    number_add(out, NUMBER_U32, (double)directory, false);
    for (size_t k = 0; k < count; ++k) number_add(out, NUMBER_F32, (double)pixels[k], false);
    atn_text_add_bytes(out, note, noted);
    for (int k = 0; k < 2 && spacing; ++k) add_resolution(out, spacing[k]);
    number_add(out, NUMBER_U16, (double)n, false);
    for (size_t k = 0; k < sizeof entries / sizeof *entries; ++k) {
        if (!entries[k].count) continue;
        number_add(out, NUMBER_U16, entries[k].tag, false);
        number_add(out, NUMBER_U16, entries[k].type, false);
        number_add(out, NUMBER_U32, (double)entries[k].count, false);
        /* a description of up to four bytes would be in the entry itself: "unit=" alone has six */
        number_add(out, NUMBER_U32, (double)entries[k].value, false); /* a short is in its first half */
    }
    number_add(out, NUMBER_U32, 0, false); /* no other directory */
    return atn_text_status(out);
}
