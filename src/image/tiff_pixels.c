/* The pixels of a page of a TIFF: strips or tiles, one channel or colours, numbers of 8 to 64 bits. */
#include "image/tiff.h"

#ifdef IMAGE_TIFF

#include "base/memory.h"
#include "base/number.h"
#include "base/size.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

atn_status tiff_wrong(const tiff_pages *pages, const char *what) {
    if (!pages->failed) return atn_fail(pages->s->ctx, ATN_ERR_INPUT, "%s: a damaged TIFF: %s", pages->s->name, what);
    return atn_fail(pages->s->ctx, ATN_ERR_INPUT, "%s: a damaged TIFF: libtiff says: %s", pages->s->name, pages->said);
}

/* Ways of packing that are read, and how many bytes one can become. Others have no bound, or keep no values. */
static const struct {
    unsigned code;
    size_t most;
} PACKINGS[] = {
    {COMPRESSION_NONE, 1},       {COMPRESSION_PACKBITS, 64}, /* 128 of 2 */
    {COMPRESSION_LZW, 2731},                                 /* 4096 of 12 bits */
    {COMPRESSION_DEFLATE, 1032}, {COMPRESSION_ADOBE_DEFLATE, 1032},
};

typedef struct page {
    tiff_pages *pages;
    raster *out;
    uint32_t width, height;
    uint16_t bits, samples, format, photometric, planes, packing;
    size_t most;  /* bytes that one of the file can become */
    size_t pixel; /* bytes */
    bool tiled;
    uint32_t part_width, part_height; /* of a strip or tile */
    size_t part;                      /* its bytes */
    const uint16_t *map[3];           /* colours of a palette */
} page;

static atn_status refuse(const page *p, const char *what, unsigned number, const char *right) {
    return atn_fail(p->out->ctx, ATN_ERR_INPUT, "%s: a TIFF with %s %u; %s", p->pages->s->name, what, number, right);
}

static void ask(page *p) {
    TIFF *t = p->pages->tiff;
    TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &p->width);
    TIFFGetField(t, TIFFTAG_IMAGELENGTH, &p->height);
    TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &p->bits);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &p->samples);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &p->format);
    TIFFGetFieldDefaulted(t, TIFFTAG_PLANARCONFIG, &p->planes);
    TIFFGetFieldDefaulted(t, TIFFTAG_COMPRESSION, &p->packing);
    p->photometric = PHOTOMETRIC_MINISBLACK;
    TIFFGetField(t, TIFFTAG_PHOTOMETRIC, &p->photometric);
    if (p->format == SAMPLEFORMAT_VOID) p->format = SAMPLEFORMAT_UINT;
    p->tiled = TIFFIsTiled(t);
    p->part_width = p->width;
    p->part_height = p->height;
    if (p->tiled) {
        TIFFGetField(t, TIFFTAG_TILEWIDTH, &p->part_width);
        TIFFGetField(t, TIFFTAG_TILELENGTH, &p->part_height);
    } else
        TIFFGetFieldDefaulted(t, TIFFTAG_ROWSPERSTRIP, &p->part_height);
    if (!p->tiled && p->part_height > p->height) p->part_height = p->height;
}

/* Is it a kind of pixels that is read? */
static atn_status check_kind(page *p) {
    bool real = p->format == SAMPLEFORMAT_IEEEFP;
    if (real ? p->bits != 32 && p->bits != 64 : p->bits != 8 && p->bits != 16 && p->bits != 32)
        return refuse(p, real ? "floats of bits" : "integers of bits", p->bits,
                      "8, 16, 32 and floats of 32 and 64 are read");
    if (!real && p->format != SAMPLEFORMAT_UINT && p->format != SAMPLEFORMAT_INT)
        return refuse(p, "values of format", p->format, "integers and floats are read");
    bool colours = p->photometric == PHOTOMETRIC_RGB, palette = p->photometric == PHOTOMETRIC_PALETTE;
    if (!colours && !palette && p->photometric > PHOTOMETRIC_MINISBLACK)
        return refuse(p, "photometric interpretation", p->photometric, "grey, RGB and palettes are read");
    if (colours && (p->samples < 3 || p->format != SAMPLEFORMAT_UINT || p->bits > 16))
        return refuse(p, "colours of bits", p->bits, "colours are three whole numbers of 8 or 16 bits");
    if (p->samples == 0 || (p->samples > 1 && p->planes != PLANARCONFIG_CONTIG))
        return refuse(p, "channels apart from each other:", p->samples, "save it with one channel");
    if (palette && (p->bits != 8 || p->samples != 1 ||
                    !TIFFGetField(p->pages->tiff, TIFFTAG_COLORMAP, &p->map[0], &p->map[1], &p->map[2])))
        return refuse(p, "a palette for bits", p->bits, "palettes have 8 bits");
    for (size_t k = 0; k < sizeof PACKINGS / sizeof *PACKINGS; ++k)
        if (PACKINGS[k].code == p->packing) p->most = PACKINGS[k].most;
    if (!p->most) return refuse(p, "compression", p->packing, "none, LZW, deflate and PackBits are read");
    if (!TIFFIsCODECConfigured(p->packing))
        return refuse(p, "compression", p->packing, "libtiff here does not read it");
    return ATN_OK;
}

/* The sizes of the page and of a part, compared with the bytes of the file. */
static atn_status check_size(page *p) {
    size_t all, most;
    if (p->width == 0 || p->height == 0 || p->part_width == 0 || p->part_height == 0)
        return refuse(p, "pixels across:", p->width, "an image without pixels");
    p->pixel = (size_t)p->samples * (p->bits / 8);
    if (!atn_size_mul(p->pages->s->size, p->most, &most)) most = SIZE_MAX;
    if (atn_size_mul((size_t)p->width * p->height, p->pixel, &all) && all <= most &&
        atn_size_mul((size_t)p->part_width * p->part_height, p->pixel, &p->part) && p->part <= most &&
        atn_size_add(p->pages->unpacked, all, &all) && all <= most) {
        p->pages->unpacked = all;
        return ATN_OK;
    }
    return atn_fail(p->out->ctx, ATN_ERR_INPUT, "%s: %u x %u pixels of %zu bytes are more than %zu bytes can hold",
                    p->pages->s->name, p->width, p->height, p->pixel, p->pages->s->size);
}

static double sample(const page *p, const unsigned char *from) {
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        float f32;
        double f64;
    } v;
    memcpy(&v, from, p->bits / 8);
    if (p->format == SAMPLEFORMAT_IEEEFP) return p->bits == 32 ? (double)v.f32 : v.f64;
    bool sign = p->format == SAMPLEFORMAT_INT;
    if (p->bits == 8) return sign ? (int8_t)v.u8 : v.u8;
    if (p->bits == 16) return sign ? (int16_t)v.u16 : v.u16;
    return sign ? (double)(int32_t)v.u32 : (double)v.u32;
}

static unsigned whole(const page *p, const unsigned char *from) {
    unsigned top = p->bits == 8 ? UINT8_MAX : UINT16_MAX;
    if (p->map[0]) return raster_luminance(p->map[0][*from] >> 8, p->map[1][*from] >> 8, p->map[2][*from] >> 8);
    unsigned value[3] = {0};
    for (size_t k = 0; k < 3 && k < p->samples; ++k) {
        uint16_t wide = 0;
        if (p->bits == 16) memcpy(&wide, from + 2 * k, 2);
        value[k] = p->bits == 16 ? wide : from[k];
    }
    if (p->photometric == PHOTOMETRIC_RGB) return raster_luminance(value[0], value[1], value[2]);
    return p->photometric == PHOTOMETRIC_MINISWHITE ? top - value[0] : value[0];
}

/* `n` pixels of a row to where `at` counts pixels of the raster. */
static void convert(const page *p, const unsigned char *from, size_t at, size_t n) {
    raster *out = p->out;
    if (out->type == RASTER_U8 && p->pixel == 1 && !p->map[0] && p->photometric == PHOTOMETRIC_MINISBLACK)
        memcpy((uint8_t *)out->data + at, from, n);
    else
        for (size_t k = 0; k < n; ++k, from += p->pixel) {
            if (out->type == RASTER_F32)
                ((float *)out->data)[at + k] = (float)sample(p, from);
            else if (out->type == RASTER_U16)
                ((uint16_t *)out->data)[at + k] = (uint16_t)whole(p, from);
            else
                ((uint8_t *)out->data)[at + k] = (uint8_t)whole(p, from);
        }
}

/* Part by part, from the upper left. The last strip may have fewer rows; tiles are whole and stick out. */
static atn_status read_parts(const page *p, unsigned char *bytes) {
    TIFF *t = p->pages->tiff;
    uint32_t index = 0;
    for (size_t y = 0; y < p->height; y += p->part_height)
        for (size_t x = 0; x < p->width; x += p->part_width, ++index) {
            atn_status status = atn_check_cancel(p->out->ctx);
            if (status != ATN_OK) return status;
            size_t rows = p->height - y < p->part_height ? p->height - y : p->part_height;
            size_t columns = p->width - x < p->part_width ? p->width - x : p->part_width;
            size_t row = p->part_width * p->pixel, wanted = p->tiled ? p->part : rows * row;
            tmsize_t got = p->tiled ? TIFFReadEncodedTile(t, index, bytes, (tmsize_t)wanted)
                                    : TIFFReadEncodedStrip(t, index, bytes, (tmsize_t)wanted);
            if (got < 0 || (size_t)got < wanted || p->pages->failed)
                return tiff_wrong(p->pages, p->tiled ? "a tile is too short" : "a strip is too short");
            for (size_t k = 0; k < rows; ++k) convert(p, bytes + k * row, (y + k) * p->width + x, columns);
        }
    return ATN_OK;
}

/* As attune writes it. */
static const char *unit_of(TIFF *tiff) {
    const char *note = NULL;
    char unit[16] = "";
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &note) || strncmp(note, "unit=", 5) != 0) return NULL;
    size_t length = strcspn(note + 5, "\n");
    if (length >= sizeof unit) return NULL;
    memcpy(unit, note + 5, length);
    return raster_unit(unit);
}

/* The second line of it, "spacing=DX,DY" in metres. */
static void read_spacing(TIFF *tiff, double spacing_m[2]) {
    const char *note = NULL, *line;
    char *end;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &note) || strncmp(note, "unit=", 5) != 0) return;
    line = strstr(note, "\nspacing=");
    if (!line) return;
    double x = atn_number_read(line + 9, &end), y = *end == ',' ? atn_number_read(end + 1, &end) : 0;
    if (x > 0 && y > 0 && isfinite(x) && isfinite(y)) spacing_m[0] = x, spacing_m[1] = y;
}

atn_status tiff_pixels(tiff_pages *pages, raster *out) {
    page p = {.pages = pages, .out = out};
    ask(&p);
    atn_status status = check_kind(&p);
    if (status == ATN_OK) status = check_size(&p);
    if (status != ATN_OK) return status;
    tmsize_t part = p.tiled ? TIFFTileSize(pages->tiff) : TIFFStripSize(pages->tiff);
    if (part < 0 || (size_t)part != p.part) return tiff_wrong(pages, "its strips or tiles have no size");
    bool whole_numbers = p.format == SAMPLEFORMAT_UINT && p.bits <= 16;
    raster_type type = !whole_numbers ? RASTER_F32 : p.bits == 8 ? RASTER_U8 : RASTER_U16;
    status = raster_make(out, pages->s, p.width, p.height, type);
    unsigned char *bytes = status == ATN_OK ? atn_alloc(out->ctx, p.part) : NULL;
    if (status == ATN_OK) status = bytes ? read_parts(&p, bytes) : ATN_ERR_MEMORY;
    atn_free(out->ctx, bytes);
    out->bits = p.bits;
    out->unit = unit_of(pages->tiff);
    read_spacing(pages->tiff, out->spacing_m);
    snprintf(out->format, sizeof out->format, "TIFF, %u bits, %s", p.bits,
             p.format == SAMPLEFORMAT_IEEEFP        ? "float"
             : p.photometric == PHOTOMETRIC_RGB     ? "RGB"
             : p.photometric == PHOTOMETRIC_PALETTE ? "palette"
             : p.format == SAMPLEFORMAT_INT         ? "signed"
                                                    : "grey");
    return status;
}

#else
typedef int tiff_pixels_needs_libtiff; /* a file of C has something in it */
#endif
