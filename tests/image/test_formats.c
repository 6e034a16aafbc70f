/* Images of every format are read as they were written, and what is written is read again. */
#include "imagekit.h"

#include "cloud/binary.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atn_image *image_of(atn_ctx *ctx, const atn_text *bytes, const atn_image_settings *options) {
    atn_image *image;
    kit_ok(ctx, atn_image_read_bytes(ctx, "a file", bytes->data, bytes->length, options, &image));
    return image;
}

KIT_TEST(every_format_is_read) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    for (const kit_image *k = KIT_IMAGES; k->name; ++k) {
        atn_text bytes = {.ctx = ctx};
        atn_image *image, *from_file;
        k->make(&bytes);
        image = image_of(ctx, &bytes, NULL);
        kit_same_image(image, k->factor);
        atn_image_info info = atn_image_info_of(image);
        assert_string_equal(info.format, k->format);
        assert_int_equal(info.invalid, 0);
        assert_true(info.low == 0 && info.high == 200 * k->factor);
        assert_int_equal(info.pages, strcmp(k->name, "pages.tif") == 0 ? 3 : 1);
        kit_save(dir, k->name, &bytes);
        kit_ok(ctx, atn_image_read(ctx, kit_path(dir, k->name), NULL, &from_file));
        kit_same_image(from_file, k->factor);
        atn_image_free(from_file);
        atn_image_free(image);
        image = image_of(ctx, &bytes, &(atn_image_settings){.scale = -2});
        kit_same_image(image, -2 * k->factor);
        assert_string_equal(atn_image_info_of(image).unit, ""); /* no longer that of the file */
        atn_image_free(image);
        atn_text_free(&bytes);
    }
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(heights_have_units) {
    atn_ctx *ctx = kit_ctx();
    atn_text bytes = {.ctx = ctx};
    kit_zygo(&bytes, 1, KIT_W, KIT_H, 1);
    kit_put(&bytes, bytes.length - 4, "\x7f\xff\xff\xf8", 4); /* the last is invalid, the one before just not */
    kit_put(&bytes, bytes.length - 8, "\x7f\xff\xff\xf7", 4);
    atn_image *image = image_of(ctx, &bytes, NULL);
    atn_image_info info = atn_image_info_of(image);
    assert_int_equal(info.invalid, 1);
    assert_true(isnan(atn_image_pixels(image)[5]));
    assert_true(info.high == (double)(float)(2147483639.0 * 0.25 / 4096));
    assert_string_equal(info.unit, "m");
    assert_true(info.wavelength_m == 0.5 && info.spacing_m[0] == 0.125 && info.spacing_m[1] == 0.125);
    atn_image_free(image);
    kit_put(&bytes, 218, "\x00\x02", 2); /* 131072 steps of phase */
    image = image_of(ctx, &bytes, NULL);
    assert_true(atn_image_pixels(image)[1] == 0.25F / 32);
    atn_image_free(image);
    atn_text_free(&bytes);

    kit_sdf(&bytes, KIT_W, KIT_H, 5);
    kit_put(&bytes, bytes.length - 2, "\x00\x80", 2); /* the least integer stands for none */
    image = image_of(ctx, &bytes, NULL);
    info = atn_image_info_of(image);
    assert_int_equal(info.invalid, 1);
    assert_true(info.spacing_m[0] == 1e-6 && info.spacing_m[1] == 2e-6 && info.wavelength_m == 0);
    assert_string_equal(info.unit, "m");
    atn_image_free(image);
    atn_text_free(&bytes);
    kit_free(ctx);
}

KIT_TEST(raw_needs_its_shape) {
    atn_ctx *ctx = kit_ctx();
    atn_text bytes = {.ctx = ctx};
    for (int k = 0; k < KIT_W * KIT_H; ++k) number_add(&bytes, NUMBER_F32, (double)KIT_PIXELS[k], false);
    atn_image *image = image_of(ctx, &bytes, &(atn_image_settings){.shape = {KIT_H, KIT_W}});
    kit_same_image(image, 1);
    assert_string_equal(atn_image_info_of(image).format, "raw, float32");
    atn_image_free(image);
    static const int64_t wrong[][2] = {{2, 2}, {3, 3}, {-2, -3}, {6, 0}, {INT64_MAX, 2}, {INT64_MAX / 2, 8}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        atn_image_settings options = {.shape = {wrong[k][0], wrong[k][1]}};
        kit_fails(ctx, ATN_ERR_INPUT, wrong[k][0] > 0 && wrong[k][1] > 0 ? "not the 24 bytes" : "must be positive",
                  atn_image_read_bytes(ctx, "a.raw", bytes.data, bytes.length, &options, &image));
        assert_null(image);
    }
    atn_text_free(&bytes);
    kit_free(ctx);
}

KIT_TEST(what_is_written_is_read_again) {
    static const char *const names[] = {"a.npy", "a.tif", "a.TIFF"};
    float pixels[] = {0, -1.5F, NAN, 1e-30F, INFINITY, 3e38F};
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    atn_image *image, *again;
    kit_ok(ctx, atn_image_create(ctx, 2, 3, pixels, &image));
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        kit_ok(ctx, atn_image_write(image, kit_path(dir, names[k])));
#ifndef ATN_HAVE_TIFF
        if (k > 0) continue;
#endif
        kit_ok(ctx, atn_image_read(ctx, kit_path(dir, names[k]), NULL, &again));
        atn_image_info info = atn_image_info_of(again);
        assert_int_equal(info.width, 2);
        assert_int_equal(info.invalid, 2);
        assert_true(info.low == -1.5 && info.high == (double)3e38F);
        for (int p = 0; p < 6; ++p)
            assert_true(isfinite(pixels[p]) ? atn_image_pixels(again)[p] == pixels[p]
                                            : isnan(atn_image_pixels(again)[p]));
        atn_image_free(again);
    }
    kit_fails(ctx, ATN_ERR_INPUT, "tif, npy, sdf, dat, gwy or vti", atn_image_write(image, kit_path(dir, "a.png")));
    kit_fails(ctx, ATN_ERR_IO, "cannot be written", atn_image_write(image, kit_path(dir, "none/a.tif")));
    atn_image_free(image);
    kit_fails(ctx, ATN_ERR_INPUT, "must be positive", atn_image_create(ctx, 0, 5, NULL, &image));
    kit_fails(ctx, ATN_ERR_MEMORY, "", atn_image_create(ctx, INT64_MAX, INT64_MAX, NULL, &image));
    kit_ok(ctx, atn_image_create(ctx, 4, 1, NULL, &image));
    assert_true(atn_image_pixels(image)[3] == 0 && atn_image_info_of(image).invalid == 0);
    atn_image_free(image);
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(doubles_stay_doubles) {
    static const double NUMBERS[] = {1 + 1e-12, -2, NAN, 1e300};
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    atn_image *image, *again;
    kit_ok(ctx, atn_image_create_doubles(ctx, 2, 2, NUMBERS, &image));
    assert_int_equal(atn_image_info_of(image).bits, 64);
    assert_int_equal(atn_image_info_of(image).invalid, 2); /* what no float holds is valid in neither */
    kit_ok(ctx, atn_image_write(image, kit_path(dir, "a.npy")));
    kit_ok(ctx, atn_image_read(ctx, kit_path(dir, "a.npy"), NULL, &again));
    assert_null(atn_image_doubles(again));
    assert_true(atn_image_pixels(again)[0] == 1.0f);
    atn_image_free(again);
    const atn_image_settings exact = {.exact = true, .scale = 2};
    kit_ok(ctx, atn_image_read(ctx, kit_path(dir, "a.npy"), &exact, &again));
    const double *d = atn_image_doubles(again);
    assert_true(d[0] == 2 * (1 + 1e-12) && d[1] == -4 && isnan(d[2]) && isnan(d[3]));
    assert_true(atn_image_pixels(again)[1] == -4.0f);
    assert_false(atn_image_info_of(again).whole);
    kit_fails(ctx, ATN_ERR_INPUT, "too long for a unit", atn_image_set_unit(again, "lightyears"));
    kit_ok(ctx, atn_image_set_unit(again, "rad"));
    assert_string_equal(atn_image_info_of(again).unit, "rad");
    atn_image_free(again);
    atn_image_free(image);
    kit_remove(dir);
    kit_free(ctx);
}

/* Dark pixels of a preview's rows [from, to) and columns [left, right): words and rulers. */
static size_t ink(const atn_image *image, int64_t from, int64_t to, int64_t left, int64_t right) {
    size_t dark = 0;
    int64_t width = atn_image_info_of(image).width;
    for (int64_t y = from; y < to; ++y)
        for (int64_t x = left; x < right; ++x) dark += atn_image_pixels(image)[y * width + x] < 100;
    return dark;
}

/* Below an image there is a bar of round length: 500 um of 4 um a pixel are 125 pixels. */
KIT_TEST(previews_have_a_ruler) {
#ifdef ATN_HAVE_PNG
    enum { WIDE = 400, HIGH = 90, ROOM = 8, LINE = 15 };
    static float pixels[WIDE * HIGH];
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    for (int k = 0; k < WIDE * HIGH; ++k) pixels[k] = 1e-7F * (float)(k % WIDE);
    for (int known = 0; known < 2; ++known) {
        atn_image *image, *again;
        kit_ok(ctx, atn_image_create(ctx, WIDE, HIGH, pixels, &image));
        kit_ok(ctx, atn_image_set_unit(image, "m"));
        if (known) kit_ok(ctx, atn_image_set_scale(image, 4e-6, 4e-6, 0));
        kit_ok(ctx, atn_image_write_preview(image, kit_path(dir, "r.png"), NULL));
        kit_ok(ctx, atn_image_read(ctx, kit_path(dir, "r.png"), NULL, &again));
        atn_image_info info = atn_image_info_of(again);
        int64_t long_px = known ? 125 : 100; /* 500 um, 100 px */
        size_t bar = ink(again, HIGH + ROOM, HIGH + ROOM + LINE, ROOM, ROOM + long_px);
        assert_int_equal(bar, 2 * long_px);
        assert_int_equal(ink(again, HIGH, info.height, ROOM + long_px, ROOM + long_px + 6), 0);
        assert_true(ink(again, HIGH, info.height, ROOM + long_px + 6, WIDE) > 50); /* its length in words */
        assert_true(ink(again, HIGH, info.height, WIDE + ROOM, info.width) > 20);  /* the unit below the colour bar */
        assert_true(ink(again, 0, HIGH, WIDE + 26, info.width) > 50);              /* values beside it */
        atn_image_free(again);
        atn_image_free(image);
    }
    kit_remove(dir);
    kit_free(ctx);
#else
    skip();
#endif
}

KIT_TEST(previews_have_a_bar) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    enum { EDGE = 50 };
    float pixels[EDGE * EDGE];
    for (int k = 0; k < EDGE * EDGE; ++k) pixels[k] = k % 7 ? (float)(k % EDGE) / EDGE - 0.5F : NAN;
    atn_image *image, *again;
    kit_ok(ctx, atn_image_create(ctx, EDGE, EDGE, pixels, &image));
    for (int bits = 0; bits <= 16; bits += 8)
        for (int map = 0; map < 6; ++map) {
            const char *path = kit_path(dir, "a.png");
            atn_preview_settings options = {.map = (atn_colour_map)(map / 2), .bits = bits, .no_bar = map & 1};
            kit_ok(ctx, atn_image_write_preview(image, path, &options));
#ifdef ATN_HAVE_PNG
            kit_ok(ctx, atn_image_read(ctx, path, NULL, &again));
            atn_image_info info = atn_image_info_of(again);
            assert_true(map & 1 ? info.height == EDGE : info.height > EDGE + 20);
            assert_true(map & 1 ? info.width == EDGE : info.width > EDGE + 20);
            assert_string_equal(info.format, bits == 16 ? "PNG, 16 bits, RGB" : "PNG, 8 bits, RGB");
            float scale = bits == 16 ? 257 : 1, first = atn_image_pixels(again)[0];
            assert_true(first == 0xd8 * scale); /* NaN */
            if (options.map == ATN_COLOUR_GREY) {
                assert_true(atn_image_pixels(again)[info.width] == 0); /* the least value; pixel 50 is not NaN */
                assert_true(atn_image_pixels(again)[EDGE - 1] == 255 * scale || EDGE % 7 == 0 || (EDGE - 1) % 7 == 0);
            }
            atn_image_free(again);
#else
            (void)again;
#endif
        }
    kit_ok(ctx, atn_image_write_preview(image, kit_path(dir, "b.png"), NULL));
    kit_fails(ctx, ATN_ERR_INPUT, "written as png", atn_image_write_preview(image, kit_path(dir, "b.tif"), NULL));
    kit_fails(ctx, ATN_ERR_INPUT, "8 or 16",
              atn_image_write_preview(image, kit_path(dir, "b.png"), &(atn_preview_settings){.bits = 12}));
    kit_fails(ctx, ATN_ERR_INPUT, "from 2 to 1",
              atn_image_write_preview(image, kit_path(dir, "b.png"), &(atn_preview_settings){.low = 2, .high = 1}));
    kit_fails(ctx, ATN_ERR_INPUT, "from nan",
              atn_image_write_preview(image, kit_path(dir, "b.png"), &(atn_preview_settings){.low = NAN, .high = 1}));
    atn_image_free(image);
    for (int k = 0; k < 3; ++k) { /* one pixel, one row, one column; constant, or nothing but NaN */
        float value = k == 1 ? NAN : -7;
        kit_ok(ctx, atn_image_create(ctx, k == 1 ? 9 : 1, k == 2 ? 2000 : 1, NULL, &image));
        atn_image_free(image);
        kit_ok(ctx, atn_image_create(ctx, 1, 1, &value, &image));
        kit_ok(ctx, atn_image_write_preview(image, kit_path(dir, "c.png"), NULL));
        atn_image_free(image);
    }
    kit_remove(dir);
    kit_free(ctx);
}

/* Grey of few bits is as stored: 1 is 1, not 255. */
#ifdef ATN_HAVE_PNG
KIT_TEST(few_bits_are_kept) {
    atn_ctx *ctx = kit_ctx();
    for (int bits = 1; bits <= 4; bits *= 2) {
        static const unsigned char rows[] = {0x80, 0x40}; /* the first pixel of the first row */
        const png_picture picture = {.width = 2, .height = 2, .bits = bits, .rows = rows};
        atn_text bytes = {.ctx = ctx};
        kit_ok(ctx, image_png_add(ctx, "a.png", &picture, &bytes));
        atn_image *image = image_of(ctx, &bytes, NULL);
        assert_int_equal(atn_image_info_of(image).bits, bits);
        assert_true(atn_image_pixels(image)[0] == (float)(0x80 >> (8 - bits)));
        assert_true(atn_image_pixels(image)[1] == 0);
        atn_image_free(image);
        atn_text_free(&bytes);
    }
    kit_free(ctx);
}
#endif

#ifdef ATN_HAVE_TIFF
KIT_TEST(pages_are_counted) {
    atn_ctx *ctx = kit_ctx();
    atn_text bytes = {.ctx = ctx};
    kit_tiff(&bytes, &(kit_tiff_kind){32, 3, 1, 1, 1, 0, 4});
    atn_image *image = image_of(ctx, &bytes, &(atn_image_settings){.page = 3});
    kit_same_image(image, 1);
    assert_int_equal(atn_image_info_of(image).pages, 4);
    atn_image_free(image);
    kit_fails(ctx, ATN_ERR_INPUT, "page 4 of a file of 4",
              atn_image_read_bytes(ctx, "a.tif", bytes.data, bytes.length, &(atn_image_settings){.page = 4}, &image));
    kit_fails(ctx, ATN_ERR_INPUT, "counted from 0",
              atn_image_read_bytes(ctx, "a.tif", bytes.data, bytes.length, &(atn_image_settings){.page = -1}, &image));
    atn_text_free(&bytes);
    kit_bmp(&bytes, KIT_W, KIT_H, 8);
    kit_fails(ctx, ATN_ERR_INPUT, "no page 1",
              atn_image_read_bytes(ctx, "a.bmp", bytes.data, bytes.length, &(atn_image_settings){.page = 1}, &image));
    atn_text_free(&bytes);
    kit_free(ctx);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_read),  cmocka_unit_test(heights_have_units),
        cmocka_unit_test(raw_needs_its_shape),   cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(doubles_stay_doubles),  cmocka_unit_test(previews_have_a_bar),
        cmocka_unit_test(previews_have_a_ruler),
#ifdef ATN_HAVE_PNG
        cmocka_unit_test(few_bits_are_kept),
#endif
#ifdef ATN_HAVE_TIFF
        cmocka_unit_test(pages_are_counted),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
