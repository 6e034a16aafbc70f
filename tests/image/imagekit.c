/* Small files of every image format. */
#include "imagekit.h"

#include "cloud/binary.h"
#include "num/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ATN_HAVE_PNG
#include <png.h>
#endif
#ifdef ATN_HAVE_TIFF
#include <tiffio.h>
#include <unistd.h>
#endif

const float KIT_PIXELS[KIT_W * KIT_H] = {0, 1, 2, 10, 20, 200};

void kit_put(atn_text *out, size_t at, const char *bytes, size_t length) {
    assert_true(at + length <= out->length);
    memcpy(out->data + at, bytes, length);
}

static void zeros(atn_text *out, size_t count) {
    while (count--) atn_text_add_bytes(out, "", 1);
}

static void number(atn_text *out, size_t at, number_type type, double value, bool big) {
    atn_text one = {.ctx = out->ctx};
    number_add(&one, type, value, big);
    kit_put(out, at, one.data, one.length);
    atn_text_free(&one);
}

/* ---- BMP: of 8 bits with an upside-down palette, so that it must be looked up ---- */

void kit_bmp(atn_text *out, int32_t width, int32_t height, int bits) {
    size_t palette = bits == 8 ? 1024 : 0;
    atn_text_add_bytes(out, "BM", 2);
    zeros(out, 52);
    number(out, 10, NUMBER_U32, (double)(54 + palette), false);
    number(out, 14, NUMBER_U32, 40, false);
    number(out, 18, NUMBER_I32, width, false);
    number(out, 22, NUMBER_I32, height, false);
    number(out, 26, NUMBER_U16, 1, false);
    number(out, 28, NUMBER_U16, bits, false);
    for (int k = 0; palette && k < 256; ++k) {
        const char grey[4] = {(char)(255 - k), (char)(255 - k), (char)(255 - k), 0};
        atn_text_add_bytes(out, grey, 4);
    }
    for (int row = 0; row < KIT_H; ++row) {
        size_t start = out->length;
        int y = height < 0 ? row : KIT_H - 1 - row;
        for (int x = 0; x < KIT_W; ++x)
            for (int k = 0; k < bits / 8; ++k) {
                int value = (int)KIT_PIXELS[y * KIT_W + x];
                char byte = (char)(bits == 8 ? 255 - value : value);
                atn_text_add_bytes(out, &byte, 1);
            }
        while ((out->length - start) % 4) zeros(out, 1);
    }
}

static void bmp8(atn_text *out) { kit_bmp(out, KIT_W, KIT_H, 8); }
static void bmp24(atn_text *out) { kit_bmp(out, KIT_W, KIT_H, 24); }
static void bmp32(atn_text *out) { kit_bmp(out, KIT_W, -KIT_H, 32); }

/* ---- Zygo: S = 0.5, O = 1, lambda = 0.5, R = 4096; the phases are 4096 x KIT_PIXELS ---- */

void kit_zygo(atn_text *out, unsigned format, unsigned width, unsigned height, unsigned buckets) {
    size_t start = out->length;
    zeros(out, format < 2 ? 834 : 4096);
    number(out, start, NUMBER_U32, 0x881b036fu + format, true);
    number(out, start + 52, NUMBER_U16, KIT_W, true);
    number(out, start + 54, NUMBER_U16, KIT_H, true);
    number(out, start + 56, NUMBER_U16, buckets, true);
    number(out, start + 68, NUMBER_U16, width, true);
    number(out, start + 70, NUMBER_U16, height, true);
    number(out, start + 72, NUMBER_U32, 4.0 * width * height, true);
    number(out, start + 164, NUMBER_F32, 0.5, true);
    number(out, start + 168, NUMBER_F32, 0.5, true);
    number(out, start + 176, NUMBER_F32, 1, true);
    number(out, start + 184, NUMBER_F32, 0.125, true);
    zeros(out, (size_t)buckets * KIT_W * KIT_H * 2);
    for (size_t k = 0; k < KIT_W * KIT_H; ++k) number_add(out, NUMBER_I32, 4096 * (double)KIT_PIXELS[k], true);
}

static void zygo_short(atn_text *out) { kit_zygo(out, 0, KIT_W, KIT_H, 2); }
static void zygo_long(atn_text *out) { kit_zygo(out, 2, KIT_W, KIT_H, 0); }

/* ---- SDF, Zscale 0.25 ---- */

void kit_sdf(atn_text *out, unsigned width, unsigned height, int type) {
    static const number_type types[] = {NUMBER_I16, NUMBER_I32, NUMBER_F64};
    atn_text_add_bytes(out, "bISO-1.0ISOTC213  010120000000010120000000", 42);
    number_add(out, NUMBER_U16, width, false);
    number_add(out, NUMBER_U16, height, false);
    number_add(out, NUMBER_F64, 1e-6, false);
    number_add(out, NUMBER_F64, 2e-6, false);
    number_add(out, NUMBER_F64, 0.25, false);
    number_add(out, NUMBER_F64, 1e-9, false);
    const char last[3] = {0, (char)type, 0};
    atn_text_add_bytes(out, last, 3);
    for (size_t k = 0; k < KIT_W * KIT_H && type >= 5 && type <= 7; ++k)
        number_add(out, types[type - 5], (double)KIT_PIXELS[k], false);
}

static void sdf5(atn_text *out) { kit_sdf(out, KIT_W, KIT_H, 5); }
static void sdf6(atn_text *out) { kit_sdf(out, KIT_W, KIT_H, 6); }
static void sdf7(atn_text *out) { kit_sdf(out, KIT_W, KIT_H, 7); }
static void sdf_text(atn_text *out) {
    atn_text_add(out, "aISO-1.0\r\nManufacID = of a test\nNumPoints = 3\nNumProfiles=2\nXscale = 1E-6\nYscale = 2e-6\n"
                      "Zscale = 0.25\nZresolution = 0\nCompression = 0\nDataType = 7\nCheckType = 0\n*\n"
                      "0 1 2.0\n10\n2e1 200\n*\n< OperatorName > A Test\n*");
}

/* ---- NPY ---- */

static void npy(atn_text *out, number_type type, atn_type element) {
    atn_view view = {.type = element, .rank = 2, .size = {KIT_W, KIT_H}};
    char head[ATN_NPY_HEAD];
    atn_text_add_bytes(out, head, atn_npy_head(&view, head));
    for (size_t k = 0; k < KIT_W * KIT_H; ++k) number_add(out, type, (double)KIT_PIXELS[k], false);
}
static void npy_f4(atn_text *out) { npy(out, NUMBER_F32, ATN_SP); }
static void npy_f8(atn_text *out) { npy(out, NUMBER_F64, ATN_DP); }
static void npy_u1(atn_text *out) { npy(out, NUMBER_U8, ATN_U8); }
static void npy_u2(atn_text *out) { npy(out, NUMBER_U16, ATN_U16); }
static void npy_i4(atn_text *out) { npy(out, NUMBER_I32, ATN_INT32); }

/* ---- PNG: 16 bits are 257 times as much; a palette is upside down ---- */

void kit_png(atn_text *out, int bits, int colour) {
    unsigned char rows[256], palette[256][3];
    size_t used = 0;
    for (int k = 0; k < 256; ++k) memset(palette[k], 255 - k, 3);
    for (size_t k = 0; k < KIT_W * KIT_H; ++k)
        for (int channel = 0; channel < (colour == 2 ? 3 : 1); ++channel) {
            rows[used++] = (unsigned char)(colour == 3 ? 255 - (int)KIT_PIXELS[k] : (int)KIT_PIXELS[k]);
            if (bits == 16) rows[used] = rows[used - 1], ++used;
        }
    const png_picture picture = {.width = KIT_W,
                                 .height = KIT_H,
                                 .bits = bits,
                                 .colour = colour,
                                 .rows = rows,
                                 .palette = palette[0],
                                 .colours = colour == 3 ? 256 : 0};
    assert_int_equal(image_png_add(out->ctx, "a.png", &picture, out), ATN_OK);
}

#ifdef ATN_HAVE_PNG
static void png8(atn_text *out) { kit_png(out, 8, 0); }
static void png16(atn_text *out) { kit_png(out, 16, 0); }
static void png_rgb(atn_text *out) { kit_png(out, 8, 2); }
static void png_rgb16(atn_text *out) { kit_png(out, 16, 2); }
static void png_palette(atn_text *out) { kit_png(out, 8, 3); }

static void add(png_structp png, png_bytep bytes, size_t length) {
    atn_text_add_bytes(png_get_io_ptr(png), (const char *)bytes, length);
}

/* Interlaced, with an alpha channel that must not matter. */
static void interlaced(atn_text *out, int bits, int colour) {
    unsigned char bytes[KIT_H][KIT_W * 8], *rows[KIT_H];
    size_t samples = colour == PNG_COLOR_TYPE_RGB_ALPHA ? 4 : 2, step = (size_t)bits / 8;
    for (size_t y = 0; y < KIT_H; ++y)
        for (size_t k = 0; k < KIT_W * samples * step; ++k) {
            rows[y] = bytes[y];
            bool alpha = k / step % samples == samples - 1;
            bytes[y][k] = (unsigned char)(alpha ? 77 * k : (size_t)KIT_PIXELS[y * KIT_W + k / step / samples]);
        }
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, out, add, NULL);
    png_set_IHDR(png, info, KIT_W, KIT_H, bits, colour, PNG_INTERLACE_ADAM7, 0, 0);
    png_write_info(png, info);
    png_write_image(png, rows);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}
static void png_grey_alpha(atn_text *out) { interlaced(out, 16, PNG_COLOR_TYPE_GRAY_ALPHA); }
static void png_rgb_alpha(atn_text *out) { interlaced(out, 8, PNG_COLOR_TYPE_RGB_ALPHA); }
#endif

/* ---- TIFF ---- */

#ifdef ATN_HAVE_TIFF

static void put_sample(unsigned char *to, const kit_tiff_kind *kind, float value) {
    if (kind->photometric == PHOTOMETRIC_MINISWHITE || kind->photometric == PHOTOMETRIC_PALETTE) value = 255 - value;
    double real = (double)value;
    float single = value;
    int32_t whole = (int32_t)value;
    const void *from = kind->format != SAMPLEFORMAT_IEEEFP ? (const void *)&whole
                       : kind->bits == 32                  ? (void *)&single
                                                           : &real;
    memcpy(to, from, (size_t)kind->bits / 8);
}

static void write_page(TIFF *t, const kit_tiff_kind *kind) {
    unsigned char bytes[16 * 16 * 8] = {0};
    size_t across = kind->tile ? 16 : KIT_W, step = (size_t)kind->bits / 8 * (size_t)kind->samples;
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, KIT_W);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, KIT_H);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, kind->bits);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, kind->format);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, kind->samples);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, kind->photometric);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(t, TIFFTAG_COMPRESSION, kind->packing);
    if (kind->photometric == PHOTOMETRIC_PALETTE) {
        uint16_t map[256];
        for (int k = 0; k < 256; ++k) map[k] = (uint16_t)((255 - k) * 257);
        TIFFSetField(t, TIFFTAG_COLORMAP, map, map, map);
    }
    if (kind->tile) {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, 16);
        TIFFSetField(t, TIFFTAG_TILELENGTH, 16);
    } else
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 1);
    for (size_t y = 0; y < KIT_H; ++y)
        for (size_t x = 0; x < KIT_W; ++x)
            for (size_t k = 0; k < (size_t)kind->samples; ++k)
                put_sample(bytes + (y * across + x) * step + k * (size_t)kind->bits / 8, kind,
                           KIT_PIXELS[y * KIT_W + x]);
    if (kind->tile) assert_true(TIFFWriteEncodedTile(t, 0, bytes, (tmsize_t)(16 * 16 * step)) > 0);
    for (uint32_t y = 0; y < KIT_H && !kind->tile; ++y)
        assert_true(TIFFWriteEncodedStrip(t, y, bytes + y * across * step, (tmsize_t)(across * step)) > 0);
    assert_true(TIFFWriteDirectory(t));
}

void kit_tiff(atn_text *out, const kit_tiff_kind *kind) {
    char *dir = kit_tempdir();
    const char *path = kit_path(dir, "a.tif");
    TIFF *t = TIFFOpen(path, "w");
    assert_non_null(t);
    for (int k = 0; k < kind->pages; ++k) write_page(t, kind);
    TIFFClose(t);
    FILE *file = fopen(path, "rbe");
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;) atn_text_add_bytes(out, &(char){(char)c}, 1);
    fclose(file);
    kit_remove(dir);
}

#define TIFF_KIND(name, ...)                                                                                           \
    static void name(atn_text *out) { kit_tiff(out, &(kit_tiff_kind){__VA_ARGS__}); }
TIFF_KIND(tiff8, 8, SAMPLEFORMAT_UINT, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 0, 1)
TIFF_KIND(tiff_white, 8, SAMPLEFORMAT_UINT, 1, PHOTOMETRIC_MINISWHITE, COMPRESSION_PACKBITS, 0, 1)
TIFF_KIND(tiff16, 16, SAMPLEFORMAT_UINT, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_LZW, 0, 1)
TIFF_KIND(tiff_signed, 16, SAMPLEFORMAT_INT, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 0, 1)
TIFF_KIND(tiff_int32, 32, SAMPLEFORMAT_INT, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 0, 1)
TIFF_KIND(tiff_float, 32, SAMPLEFORMAT_IEEEFP, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_ADOBE_DEFLATE, 0, 1)
TIFF_KIND(tiff_double, 64, SAMPLEFORMAT_IEEEFP, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 0, 1)
TIFF_KIND(tiff_tiles, 16, SAMPLEFORMAT_UINT, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_ADOBE_DEFLATE, 1, 1)
TIFF_KIND(tiff_rgb, 8, SAMPLEFORMAT_UINT, 3, PHOTOMETRIC_RGB, COMPRESSION_NONE, 1, 1)
TIFF_KIND(tiff_rgb16, 16, SAMPLEFORMAT_UINT, 3, PHOTOMETRIC_RGB, COMPRESSION_NONE, 0, 1)
TIFF_KIND(tiff_palette, 8, SAMPLEFORMAT_UINT, 1, PHOTOMETRIC_PALETTE, COMPRESSION_NONE, 0, 1)
TIFF_KIND(tiff_paged, 8, SAMPLEFORMAT_UINT, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 0, 3)
static void tiff_own(atn_text *out) {
    assert_int_equal(image_tiff_add(out->ctx, "a.tif", KIT_W, KIT_H, KIT_PIXELS, "", NULL, out), ATN_OK);
}
#endif

const kit_image KIT_IMAGES[] = {
    {"8.bmp", bmp8, 1, "BMP, 8 bits, palette"},
    {"24.bmp", bmp24, 1, "BMP, 24 bits, RGB"},
    {"32.bmp", bmp32, 1, "BMP, 32 bits, RGB"},
    {"short.dat", zygo_short, 0.25, "Zygo MetroPro"},
    {"long.dat", zygo_long, 0.25, "Zygo MetroPro"},
    {"5.sdf", sdf5, 0.25, "SDF, binary, int16"},
    {"6.sdf", sdf6, 0.25, "SDF, binary, int32"},
    {"7.sdf", sdf7, 0.25, "SDF, binary, float64"},
    {"text.sdf", sdf_text, 0.25, "SDF, text, float64"},
    {"f4.npy", npy_f4, 1, "NPY, <f4"},
    {"f8.npy", npy_f8, 1, "NPY, <f8"},
    {"u1.npy", npy_u1, 1, "NPY, |u1"},
    {"u2.npy", npy_u2, 1, "NPY, <u2"},
    {"i4.npy", npy_i4, 1, "NPY, <i4"},
#ifdef ATN_HAVE_PNG
    {"8.png", png8, 1, "PNG, 8 bits, grey"},
    {"16.png", png16, 257, "PNG, 16 bits, grey"},
    {"rgb.png", png_rgb, 1, "PNG, 8 bits, RGB"},
    {"rgb16.png", png_rgb16, 257, "PNG, 16 bits, RGB"},
    {"alpha.png", png_grey_alpha, 257, "PNG, 16 bits, grey"},
    {"rgba.png", png_rgb_alpha, 1, "PNG, 8 bits, RGB"},
    {"palette.png", png_palette, 1, "PNG, 8 bits, palette"},
#endif
#ifdef ATN_HAVE_TIFF
    {"8.tif", tiff8, 1, "TIFF, 8 bits, grey"},
    {"white.tif", tiff_white, 1, "TIFF, 8 bits, grey"},
    {"16.tif", tiff16, 1, "TIFF, 16 bits, grey"},
    {"signed.tif", tiff_signed, 1, "TIFF, 16 bits, signed"},
    {"int32.tif", tiff_int32, 1, "TIFF, 32 bits, signed"},
    {"float.tif", tiff_float, 1, "TIFF, 32 bits, float"},
    {"double.tif", tiff_double, 1, "TIFF, 64 bits, float"},
    {"tiles.tif", tiff_tiles, 1, "TIFF, 16 bits, grey"},
    {"rgb.tif", tiff_rgb, 1, "TIFF, 8 bits, RGB"},
    {"rgb16.tif", tiff_rgb16, 1, "TIFF, 16 bits, RGB"},
    {"palette.tif", tiff_palette, 1, "TIFF, 8 bits, palette"},
    {"pages.tif", tiff_paged, 1, "TIFF, 8 bits, grey"},
    {"own.tif", tiff_own, 1, "TIFF, 32 bits, float"},
#endif
    {0},
};

const char *kit_path(const char *dir, const char *name) {
    static char paths[4][4096];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

void kit_save(const char *dir, const char *name, const atn_text *bytes) {
    FILE *file = fopen(kit_path(dir, name), "wbe");
    assert_non_null(file);
    assert_int_equal(fwrite(atn_text_str(bytes), 1, bytes->length, file), bytes->length);
    assert_int_equal(fclose(file), 0);
}

void kit_same_image(const atn_image *image, double factor) {
    atn_image_info info = atn_image_info_of(image);
    assert_int_equal(info.width, KIT_W);
    assert_int_equal(info.height, KIT_H);
    for (int k = 0; k < KIT_W * KIT_H; ++k) {
        double wanted = (double)KIT_PIXELS[k] * factor, got = (double)atn_image_pixels(image)[k];
        if (got != wanted) fail_msg("%s: pixel %d is %g, not %g", info.format, k, got, wanted);
    }
}

void kit_walk(atn_status (*work)(atn_ctx *ctx, const void *given), const void *given) {
    for (long n = 1;; ++n) {
        kit_faults faults = {0};
        atn_ctx_settings options = kit_fault_options(&faults);
        atn_ctx *ctx;
        assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
        faults.fail_at = atomic_load(&faults.count) + n;
        long before = atomic_load(&faults.live);
        atn_status status = work(ctx, given);
        bool reached = atomic_load(&faults.count) >= faults.fail_at;
        if (status != ATN_OK && status != ATN_ERR_MEMORY)
            fail_msg("allocation %ld: %s: %s", n, atn_status_name(status), atn_ctx_message(ctx));
        if (status == ATN_ERR_MEMORY) kit_contains(atn_ctx_message(ctx), "memory");
        assert_int_equal(atomic_load(&faults.live), before);
        atn_ctx_free(ctx);
        if (!reached) {
            assert_int_equal(status, ATN_OK);
            break;
        }
    }
}
