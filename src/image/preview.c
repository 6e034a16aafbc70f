/* A PNG of an image for people: values through a colour map, with a colour bar with round values and the unit, and a
 * ruler below. */
#include "image/colour.h"
#include "image/formats.h"
#include "image/glyph.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/size.h"
#include "base/sized.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR = 14, GAP = 8, TEXT = 15, UNIT_HEIGHT = 700, LEAST_RULED = 80 }; /* pixels of pictures up to UNIT_HEIGHT */

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

/* A line of text that begins at (x, y). */
typedef struct line {
    const canvas *canvas;
    size_t x, y;
} line;

static void put_ink(void *user, size_t x, size_t y, double cover) {
    const line *l = user;
    const canvas *c = l->canvas;
    size_t step = (size_t)c->bits / 8;
    if (l->x + x >= c->width || l->y + y >= c->height) return;
    unsigned char *to = c->bytes + ((l->y + y) * c->width + l->x + x) * 3 * step;
    for (size_t k = 0; k < 3 * step; ++k) to[k] = (unsigned char)(to[k] * (1 - cover) + 0.5);
}

static void put_text(const canvas *c, size_t x, size_t y, size_t size, const char *text) {
    glyph_draw(text, size, put_ink, &(line){c, x, y});
}

/* ---- numbers ---- */

/* What a value of `size` is counted in: a factor, and the unit with its prefix. Only metres have prefixes. */
static double prefix_of(double size, const char *unit, char text[16]) {
    static const struct {
        double factor;
        const char *prefix;
    } PREFIXES[] = {{1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}};
    size_t k = 0;
    bool metres = strcmp(unit, "m") == 0 && size > 0;
    while (metres && k < 4 && size < PREFIXES[k].factor * 0.9999) ++k;
    snprintf(text, 16, "%s%s", PREFIXES[k].prefix, unit);
    return PREFIXES[k].factor;
}

/* With a minus sign that is one, and a point whatever the locale. */
static void print_number(double value, char *to, size_t bytes) {
    char number[ATN_NUMBER_TEXT];
    snprintf(number, sizeof number, "%.6g", fabs(value));
    char *comma = strchr(number, ',');
    if (comma) *comma = '.';
    snprintf(to, bytes, "%s%s", value < 0 ? "\xe2\x88\x92" : "", number);
}

/* 1, 2 or 5 times a power of ten, so that at most `most` steps go into a range > 0. */
static double step_of(double range, double most) {
    double power = pow(10, floor(log10(range / most)));
    return range / power <= most         ? power
           : range / (2 * power) <= most ? 2 * power
           : range / (5 * power) <= most ? 5 * power
                                         : 10 * power;
}

/* The position of a value in the map: 0 at low, 1 at high. */
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

/* Labels of the colour bar: at round values. */
typedef struct scale {
    double factor, step; /* values are multiples of step * factor */
    double first;        /* the least multiple; there are `n` */
    int n;
    char unit[16];
} scale;

static void print_label(const scale *s, int k, char *to, size_t bytes) {
    double value = (s->first + k) * s->step;
    print_number(fabs(value) < 1e-9 * s->step ? 0 : value, to, bytes);
}

static scale scale_of(const atn_preview_settings *o, const char *unit, size_t height, size_t text) {
    scale s = {0};
    s.factor = prefix_of(fmax(fabs(o->low), fabs(o->high)), unit, s.unit);
    double low = o->low / s.factor, range = o->high / s.factor - low;
    if (!(range > 0) || !isfinite(range)) {
        s.step = low != 0 ? fabs(low) : 1;
        s.first = low != 0 ? copysign(1, low) : 0;
        s.n = 1;
        return s;
    }
    s.step = step_of(range, fmax(2, fmin(8, (double)height / (2.0 * (double)text))));
    s.first = ceil(low / s.step - 1e-9);
    s.n = (int)(floor(o->high / s.factor / s.step + 1e-9) - s.first) + 1;
    return s;
}

static void put_rectangle(const canvas *c, size_t x, size_t y, size_t w, size_t h) {
    static const uint16_t INK[3] = {0x2020, 0x2020, 0x2020};
    for (size_t j = y; j < y + h && j < c->height; ++j)
        for (size_t k = x; k < x + w && k < c->width; ++k) put(c, k, j, INK);
}

static void put_bar(const canvas *c, size_t x, size_t tall, size_t zoom, const scale *s,
                    const atn_preview_settings *o) {
    size_t text = TEXT * zoom, edge = BAR * zoom;
    for (size_t y = 0; y < tall; ++y) {
        uint16_t colour[3];
        colour_of(o->map, tall > 1 ? 1 - (double)y / (double)(tall - 1) : 1, colour);
        for (size_t k = 0; k < edge; ++k) put(c, x + k, y, colour);
    }
    for (int k = 0; k < s->n; ++k) {
        char label[48];
        double value = (s->first + k) * s->step * s->factor;
        size_t y = (size_t)lround((1 - place_of(value, o->low, o->high)) * (double)(tall - 1));
        size_t top = y > text / 2 ? y - text / 2 : 0;
        print_label(s, k, label, sizeof label);
        put_rectangle(c, x + edge, y, 3 * zoom, zoom);
        put_text(c, x + edge + GAP * zoom, top + text > c->height ? c->height - text : top, text, label);
    }
    put_text(c, x, tall + GAP * zoom / 2, text, s->unit);
}

/* Below the image: a bar of round length, about a quarter of the image. */
static void put_ruler(const canvas *c, const atn_image_info *info, size_t zoom) {
    double pixel = info->spacing_m[0] > 0 ? info->spacing_m[0] : 1, quarter = pixel * (double)info->width / 4;
    char unit[16], number[32], label[64];
    if (info->width < LEAST_RULED) return;
    double length = step_of(quarter * 2, 2), factor = prefix_of(length, info->spacing_m[0] > 0 ? "m" : "px", unit);
    size_t wide = (size_t)lround(length / pixel), top = (size_t)info->height + GAP * zoom;
    print_number(length / factor, number, sizeof number);
    snprintf(label, sizeof label, "%s %s", number, unit);
    put_rectangle(c, GAP * zoom, top + TEXT * zoom / 2, wide, 2 * zoom);
    put_text(c, wide + 2 * GAP * zoom, top, TEXT * zoom, label);
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
    size_t bytes, zoom = (size_t)info->height / UNIT_HEIGHT + 1, text = TEXT * zoom, widest = 0, tall, below;
    tall = (size_t)info->height > 3 * text || o->no_bar ? (size_t)info->height : 3 * text;
    scale s = scale_of(o, info->unit, tall, text);
    for (int k = 0; k < s.n; ++k) {
        char label[48];
        print_label(&s, k, label, sizeof label);
        size_t wide = glyph_width(label, text);
        widest = wide > widest ? wide : widest;
    }
    size_t unit = glyph_width(s.unit, text), labels = zoom * (BAR + GAP) + widest;
    size_t bar = o->no_bar ? 0 : zoom * 2 * GAP + (unit > labels ? unit : labels);
    below = o->no_bar ? 0 : text + 2 * GAP * zoom;
    c->bits = o->bits;
    if (!atn_size_add((size_t)info->width, bar, &c->width) || !atn_size_add(tall, below, &c->height) ||
        !atn_size_mul(c->width, c->height, &bytes) || !atn_size_mul(bytes, 6, &bytes))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: an image of %lld x %lld is too large for a preview", path,
                        (long long)info->width, (long long)info->height);
    c->bytes = atn_alloc(ctx, bytes);
    if (!c->bytes) return ATN_ERR_MEMORY;
    memset(c->bytes, 255, bytes);
    put_image(c, image, info, o);
    if (!o->no_bar) put_bar(c, (size_t)info->width + GAP * zoom, tall, zoom, &s, o);
    if (!o->no_bar) put_ruler(c, info, zoom);
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
