/* A PNG of an image for people: values through a colour map, and beside it a colour bar with the values at its ends. */
#include "image/colour.h"
#include "image/formats.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/size.h"
#include "base/sized.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR = 12, GAP = 6, LABEL = 12, UNIT_HEIGHT = 400, LEAST_HEIGHT = 2 * GLYPH_HEIGHT + 3 };

typedef struct canvas {
    size_t width, height;
    int bits;
    unsigned char *bytes; /* RGB, big-endian */
} canvas;

static void put(const canvas *c, size_t x, size_t y, const uint16_t colour[3]) {
    size_t step = (size_t)c->bits / 8;
    unsigned char *to = c->bytes + (y * c->width + x) * 3 * step;
    for (size_t k = 0; k < 3; ++k) {
        *to++ = (unsigned char)(colour[k] >> 8);
        if (step == 2) *to++ = (unsigned char)(colour[k] & 255);
    }
}

static void put_block(const canvas *c, size_t x, size_t y, size_t edge, const uint16_t colour[3]) {
    for (size_t down = 0; down < edge; ++down)
        for (size_t right = 0; right < edge; ++right)
            if (x + right < c->width && y + down < c->height) put(c, x + right, y + down, colour);
}

static void put_text(const canvas *c, size_t x, size_t y, size_t zoom, const char *text) {
    static const uint16_t black[3] = {0};
    for (; *text; ++text, x += (GLYPH_WIDTH + 1) * zoom)
        for (size_t row = 0; row < GLYPH_HEIGHT; ++row)
            for (size_t column = 0; column < GLYPH_WIDTH; ++column)
                if (colour_glyph(*text, row) >> (GLYPH_WIDTH - 1 - column) & 1)
                    put_block(c, x + column * zoom, y + row * zoom, zoom, black);
}

/* Where a value stands in the map: 0 at low, 1 at high. */
static double place_of(double value, double low, double high) {
    double place = high > low ? (value - low) / (high - low) : 0.5;
    return place < 0 ? 0 : place > 1 ? 1 : place;
}

static void put_image(const canvas *c, const atn_image *image, const atn_image_info *info,
                      const atn_preview_settings *o) {
    const float *pixels = atn_image_pixels(image);
    for (size_t y = 0; y < (size_t)info->height; ++y)
        for (size_t x = 0; x < (size_t)info->width; ++x) {
            float value = pixels[y * (size_t)info->width + x];
            uint16_t colour[3] = {0xd8d8, 0xd8d8, 0xd8d8}; /* of invalid pixels */
            if (!isnan(value)) colour_of(o->map, place_of((double)value, o->low, o->high), colour);
            put(c, x, y, colour);
        }
}

static void put_bar(const canvas *c, size_t x, size_t zoom, const char *unit, const atn_preview_settings *o) {
    for (size_t y = 0; y < c->height; ++y) {
        uint16_t colour[3];
        colour_of(o->map, c->height > 1 ? 1 - (double)y / (double)(c->height - 1) : 1, colour);
        for (size_t k = 0; k < BAR * zoom; ++k) put(c, x + k, y, colour);
    }
    const double ends[] = {o->high, o->low};
    for (int k = 0; k < 2; ++k) {
        char label[2 * LABEL], number[ATN_NUMBER_TEXT];
        snprintf(number, sizeof number, "%.4g", ends[k]);
        char *comma = strchr(number, ','); /* whatever the locale */
        if (comma) *comma = '.';
        snprintf(label, sizeof label, "%s%s%s", number, *unit ? " " : "", unit);
        put_text(c, x + (BAR + GAP) * zoom, k ? c->height - (GLYPH_HEIGHT + 1) * zoom : zoom, zoom, label);
    }
}

static atn_status check(const atn_ctx *ctx, const char *path, const atn_image_info *info, atn_preview_settings *o) {
    if (!source_has_ending(path, "png")) return atn_fail(ctx, ATN_ERR_INPUT, "%s: previews are written as png", path);
    if (o->bits == 0) o->bits = 8;
    if (o->bits != 8 && o->bits != 16)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: a preview has colours of 8 or 16 bits", path);
    if (o->low == 0 && o->high == 0) {
        o->low = info->low;
        o->high = info->high;
    }
    if (!(o->low <= o->high) || isinf(o->low) || isinf(o->high))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: a colour map from %g to %g; the first must be less", path, o->low,
                        o->high);
    return ATN_OK;
}

static atn_status draw(const atn_ctx *ctx, const char *path, const atn_image *image, const atn_image_info *info,
                       const atn_preview_settings *o, canvas *c) {
    size_t bytes, zoom = (size_t)info->height / UNIT_HEIGHT + 1;
    size_t bar = o->no_bar ? 0 : zoom * (2 * GAP + BAR + LABEL * (GLYPH_WIDTH + 1));
    c->bits = o->bits;
    c->height = (size_t)info->height;
    if (!o->no_bar && c->height < LEAST_HEIGHT * zoom) c->height = LEAST_HEIGHT * zoom;
    if (!atn_size_add((size_t)info->width, bar, &c->width) || !atn_size_mul(c->width, c->height, &bytes) ||
        !atn_size_mul(bytes, 6, &bytes))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: an image of %lld x %lld is too large for a preview", path,
                        (long long)info->width, (long long)info->height);
    c->bytes = atn_alloc(ctx, bytes);
    if (!c->bytes) return ATN_ERR_MEMORY;
    memset(c->bytes, 255, bytes);
    put_image(c, image, info, o);
    if (!o->no_bar) put_bar(c, (size_t)info->width + GAP * zoom, zoom, info->unit, o);
    return ATN_OK;
}

atn_status atn_image_write_preview(const atn_image *image, const char *path, const atn_preview_settings *given) {
    const atn_ctx *ctx = image_ctx(image);
    atn_preview_settings o;
    atn_image_info info = atn_image_info_of(image);
    canvas c = {0};
    atn_text file = {.ctx = ctx};
    atn_status status = ATN_TAKE(ctx, atn_preview_settings, given, &o);
    if (status == ATN_OK) status = check(ctx, path, &info, &o);
    if (status == ATN_OK) status = draw(ctx, path, image, &info, &o, &c);
    const png_picture picture = {
        .width = c.width, .height = c.height, .bits = c.bits, .colour = 2, .rows = c.bytes}; /* RGB */
    if (status == ATN_OK) status = image_png_add(ctx, path, &picture, &file);
    if (status == ATN_OK) status = atn_file_write(ctx, path, file.data, file.length);
    atn_text_free(&file);
    atn_free(ctx, c.bytes);
    return status;
}
