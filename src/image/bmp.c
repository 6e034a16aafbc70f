/* BMP: a palette of up to 256 colours, 24 and 32 bits, not packed; rows from the lower one up, or down where the height
 * is negative. */
#include "image/formats.h"

#include "base/size.h"
#include "cloud/binary.h"

#include <stdio.h>
#include <string.h>

enum { FILE_HEADER = 14, INFO_HEADER = 40, MOST_HEADER = 1 << 16, PLAIN = 0, MASKS = 3 };

typedef struct bmp {
    size_t data_at, header, width, height, colours;
    unsigned bits, compression;
    bool down;               /* the upper row comes first */
    unsigned char grey[256]; /* of a palette */
} bmp;

/* Text may begin with BM, too; the sizes after it are small, and text has no zeros there. */
bool image_bmp_begins(const char *head, size_t length) {
    return length >= 16 && memcmp(head, "BM", 2) == 0 && head[12] == 0 && head[13] == 0 && head[15] == 0;
}

/* Width and height of 32 bits with a sign; only the height may be negative. */
static atn_status read_size(const source *s, const char *at, bmp *b) {
    double width = number_load(NUMBER_I32, at, false), height = number_load(NUMBER_I32, at + 4, false);
    if (width <= 0 || height == 0) return source_wrong(s, "%.0f x %.0f: an image without pixels", width, height);
    b->down = height < 0;
    b->width = (size_t)width;
    b->height = (size_t)(b->down ? -height : height);
    return ATN_OK;
}

static atn_status read_header(source *s, bmp *b) {
    const char *at;
    atn_status status = source_take(s, FILE_HEADER + 4, &at);
    if (status != ATN_OK) return status;
    b->data_at = number_load_u32(at + 10, false);
    b->header = number_load_u32(at + FILE_HEADER, false);
    if (b->header < INFO_HEADER || b->header > MOST_HEADER)
        return source_wrong(s, "a header of %zu bytes; BMP with %d and more is read", b->header, INFO_HEADER);
    status = source_take(s, b->header - 4, &at);
    if (status == ATN_OK) status = read_size(s, at, b);
    if (status != ATN_OK) return status;
    b->bits = (unsigned)number_load(NUMBER_U16, at + 10, false);
    b->compression = number_load_u32(at + 12, false);
    b->colours = number_load_u32(at + 28, false);
    if (b->bits != 8 && b->bits != 24 && b->bits != 32)
        return source_wrong(s, "%u bits a pixel; 8, 24 and 32 are read", b->bits);
    if (b->compression != PLAIN && !(b->compression == MASKS && b->bits == 32))
        return source_wrong(s, "a packed BMP (compression %u); save it without", b->compression);
    return ATN_OK;
}

/* Colours of blue, green, red and a byte that is not used. */
static atn_status read_palette(source *s, bmp *b) {
    if (b->colours == 0) b->colours = 256;
    if (b->colours > 256) return source_wrong(s, "a palette of %zu colours; 8 bits have 256", b->colours);
    for (size_t k = 0; k < b->colours; ++k) {
        const char *at;
        atn_status status = source_take(s, 4, &at);
        if (status != ATN_OK) return status;
        const unsigned char *c = (const unsigned char *)at;
        b->grey[k] = (unsigned char)raster_luminance(c[2], c[1], c[0]);
    }
    return ATN_OK;
}

/* Masks give the positions of red, green and blue; the usual ones are read. Headers of more than 40 bytes contain them,
 * where they were skipped: programs write the same positions there. */
static atn_status read_masks(source *s) {
    const char *at;
    atn_status status = source_take(s, 12, &at);
    if (status != ATN_OK) return status;
    if (number_load_u32(at, false) != 0xff0000 || number_load_u32(at + 4, false) != 0xff00 ||
        number_load_u32(at + 8, false) != 0xff)
        return source_wrong(s, "unusual colour masks; save it as 24 bits");
    return ATN_OK;
}

static atn_status convert_row(const source *s, const bmp *b, const unsigned char *from, uint8_t *to) {
    size_t step = b->bits / 8;
    for (size_t x = 0; x < b->width; ++x, from += step) {
        if (step > 1)
            to[x] = (uint8_t)raster_luminance(from[2], from[1], from[0]);
        else if (*from < b->colours)
            to[x] = b->grey[*from];
        else
            return source_wrong(s, "colour %u of a palette of %zu", *from, b->colours);
    }
    return ATN_OK;
}

static atn_status read_rows(source *s, const bmp *b, raster *out) {
    size_t row, bytes, at = s->size - source_left(s);
    if (b->data_at < at) return source_wrong(s, "the pixels begin at byte %zu, inside the header", b->data_at);
    atn_status status = source_skip(s, b->data_at - at);
    if (status != ATN_OK) return status;
    row = atn_size_round_up(b->width * (b->bits / 8), 4); /* below 2^34 */
    if (!atn_size_mul(row, b->height, &bytes) || bytes > source_left(s))
        return source_wrong(s, "%zu x %zu pixels of %u bits, and %zu bytes are left", b->width, b->height, b->bits,
                            source_left(s));
    status = raster_make(out, s, b->width, b->height, RASTER_U8);
    for (size_t y = 0; status == ATN_OK && y < b->height; ++y) {
        const char *from;
        status = source_take(s, row, &from);
        size_t line = b->down ? y : b->height - 1 - y;
        if (status == ATN_OK)
            status = convert_row(s, b, (const unsigned char *)from, (uint8_t *)out->data + line * b->width);
    }
    return status;
}

atn_status image_bmp_read(source *s, const atn_image_settings *options, raster *out) {
    (void)options;
    bmp b = {0};
    atn_status status = read_header(s, &b);
    if (status == ATN_OK && b.bits == 8) status = read_palette(s, &b);
    if (status == ATN_OK && b.compression == MASKS && b.header == INFO_HEADER) status = read_masks(s);
    if (status == ATN_OK) status = read_rows(s, &b, out);
    out->bits = 8;
    snprintf(out->format, sizeof out->format, "BMP, %u bits, %s", b.bits, b.bits == 8 ? "palette" : "RGB");
    return status;
}
