/* Files that are wrong: each is refused with one sentence, and nothing is allocated that its bytes do not justify. */
#include "imagekit.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* A good file with some bytes spoiled. */
typedef struct spoiled {
    const char *base; /* a name of KIT_IMAGES */
    size_t at;
    const char *bytes;
    size_t length;
    const char *says;
} spoiled;
#define SPOIL(base, at, bytes, says)                                                                                   \
    { base, at, bytes, sizeof(bytes) - 1, says }

static const spoiled SPOILED[] = {
    SPOIL("24.bmp", 14, "\x0c\0\0\0", "header of 12 bytes"),
    SPOIL("24.bmp", 18, "\0\0\0\0", "without pixels"),
    SPOIL("24.bmp", 18, "\xff\xff\xff\xff", "without pixels"),
    SPOIL("24.bmp", 18, "\xff\xff\xff\x7f", "bytes are left"),
    SPOIL("24.bmp", 22, "\0\0\0\x80", "bytes are left"),
    SPOIL("24.bmp", 28, "\x04\0", "4 bits a pixel"),
    SPOIL("24.bmp", 30, "\x01\0\0\0", "packed"),
    SPOIL("24.bmp", 10, "\x0a\0\0\0", "inside the header"),
    SPOIL("24.bmp", 10, "\xff\xff\0\0", "missing"),
    SPOIL("8.bmp", 46, "\x01\x01\0\0", "palette of 257"),
    SPOIL("32.bmp", 30, "\x03\0\0\0", "unusual colour masks"),
    SPOIL("short.dat", 68, "\xff\xff\xff\xff", "four for each"),
    SPOIL("short.dat", 68, "\x75\x30\x75\x30\xd6\x93\xa4\0", "are left"),
    SPOIL("short.dat", 72, "\0\0\0\x17", "23 bytes of phase"),
    SPOIL("short.dat", 68, "\0\0\0\0\0\0\0\0", "without pixels"),
    SPOIL("short.dat", 52, "\xff\xff\xff\xff\xff\xff", "are left"),
    SPOIL("short.dat", 56, "\0\x03", "are left"),
    SPOIL("short.dat", 218, "\0\x03", "phase resolution"),
    SPOIL("short.dat", 164, "\0\0\0\0", "no height"),
    SPOIL("short.dat", 168, "\x7f\xc0\0\0", "no height"),
    SPOIL("7.sdf", 42, "\xff\xff\xff\xff", "bytes are left"),
    SPOIL("7.sdf", 42, "\0\0", "whole and positive"),
    SPOIL("7.sdf", 78, "\x01", "packed"),
    SPOIL("7.sdf", 79, "\x03", "type 3"),
    SPOIL("7.sdf", 62, "\0\0\0\0\0\0\0\0", "Zscale"),
    SPOIL("f4.npy", 6, "\x09", "version 9"),
#ifdef ATN_HAVE_PNG
    SPOIL("8.png", 16, "\x7f\xff\xff\xff", "damaged PNG"),
    SPOIL("8.png", 45, "\xff\xff", "damaged PNG"),
#endif
#ifdef ATN_HAVE_TIFF
    SPOIL("8.tif", 4, "\xff\xff\xff\x7f", "damaged TIFF"),
#endif
};

static void make(const char *name, atn_text *out) {
    for (const kit_image *k = KIT_IMAGES; k->name; ++k)
        if (strcmp(k->name, name) == 0) {
            k->make(out);
            return;
        }
    fail_msg("no image %s", name);
}

KIT_TEST(spoiled_files_are_refused) {
    for (size_t k = 0; k < sizeof SPOILED / sizeof *SPOILED; ++k) {
        const spoiled *s = &SPOILED[k];
        atn_ctx *ctx = kit_ctx();
        atn_image *image;
        atn_text bytes = {.ctx = ctx};
        make(s->base, &bytes);
        kit_put(&bytes, s->at, s->bytes, s->length);
        size_t before = atn_ctx_peak_bytes(ctx);
        kit_fails(ctx, ATN_ERR_INPUT, s->says,
                  atn_image_read_bytes(ctx, s->base, bytes.data, bytes.length, NULL, &image));
        assert_null(image);
        kit_contains(atn_ctx_message(ctx), s->base);
        assert_null(strchr(atn_ctx_message(ctx), '\n'));
        assert_true(atn_ctx_peak_bytes(ctx) < before + (1 << 20)); /* small files need little, whatever they claim */
        atn_text_free(&bytes);
        kit_free(ctx);
    }
}

/* Whole files in words. */
static const struct {
    const char *text, *says;
} TEXTS[] = {
    {"hello", "no image that is read"},
    {"\xff\xd8\xff\xe0 a picture", "JPEG is not read"},
    {"aISO-1.0\nNumPoints = 1\n", "does not end"},
    {"aISO-1.0\nhello\n*\n", "NAME = VALUE"},
    {"aISO-1.0\nNumPoints = 1\nNumPoints = 1\n*\n", "twice"},
    {"aISO-1.0\nNumPoints = one\n*\n", "NumPoints is not a number"},
    {"aISO-1.0\nNumPoints = 1\n*\n1\n*\n", "lacks NumProfiles"},
#define SDF_TEXT(points, profiles)                                                                                     \
    "aISO-1.0\nNumPoints = " points "\nNumProfiles = " profiles                                                        \
    "\nXscale = 1\nYscale = 1\nZscale = 1\nCompression = 0\nDataType = 7\n*\n"
    {SDF_TEXT("1e9", "1e9") "1\n*\n", "bytes are left"},
    {SDF_TEXT("1.5", "1") "1\n*\n", "whole and positive"},
    {SDF_TEXT("nan", "1") "1\n*\n", "whole and positive"},
    {SDF_TEXT("2", "1") "1 2\n", "do not end"},
    {SDF_TEXT("2", "1") "1\n*\n", "1 values"},
    {SDF_TEXT("2", "1") "1 2 3\n*\n", "more than 2 x 1"},
    {SDF_TEXT("2", "1") "1 two\n*\n", "'two' is not a number"},
};

KIT_TEST(wrong_texts_are_refused) {
    atn_ctx *ctx = kit_ctx();
    atn_image *image;
    for (size_t k = 0; k < sizeof TEXTS / sizeof *TEXTS; ++k) {
        atn_status status = atn_image_read_bytes(ctx, "a file", TEXTS[k].text, strlen(TEXTS[k].text), NULL, &image);
        assert_true(status == ATN_ERR_INPUT || status == ATN_ERR_UNSUPPORTED);
        assert_null(image);
        kit_contains(atn_ctx_message(ctx), TEXTS[k].says);
    }
    static const char bad[] = SDF_TEXT("2", "1") "BAD 4\n*\n";
    kit_ok(ctx, atn_image_read_bytes(ctx, "a file", bad, sizeof bad - 1, NULL, &image));
    assert_int_equal(atn_image_info_of(image).invalid, 1);
    atn_image_free(image);
    kit_free(ctx);
}

/* An IHDR of 30000 x 30000 pixels with a right check, in a file of less than 100 bytes. */
#ifdef ATN_HAVE_PNG
KIT_TEST(a_small_png_is_no_large_image) {
    atn_ctx *ctx = kit_ctx();
    atn_image *image;
    static const char file[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x75\x30\0\0\x75\x30\x08\0\0\0\0\x43\x4c\xa7\x66"
                               "\0\0\0\0IDAT\x35\xaf\x06\x1e\0\0\0\0IEND\xae\x42\x60\x82";
    size_t before = atn_ctx_peak_bytes(ctx);
    kit_fails(ctx, ATN_ERR_INPUT, "more than 57 bytes can hold",
              atn_image_read_bytes(ctx, "a.png", file, sizeof file - 1, NULL, &image));
    assert_true(atn_ctx_peak_bytes(ctx) < before + (1 << 20));
    kit_free(ctx);
}
#endif

#ifdef ATN_HAVE_TIFF
KIT_TEST(kinds_of_tiff_that_are_not_read) {
    static const struct {
        kit_tiff_kind kind;
        const char *says;
    } kinds[] = {
        {{16, 2, 3, 2, 1, 0, 1}, "colours"},          /* of integers with a sign */
        {{8, 1, 4, 5, 1, 0, 1}, "photometric"},       /* CMYK */
        {{32, 6, 1, 1, 1, 0, 1}, "values of format"}, /* complex */
    };
    atn_ctx *ctx = kit_ctx();
    atn_image *image;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        atn_text bytes = {.ctx = ctx};
        kit_tiff(&bytes, &kinds[k].kind);
        kit_fails(ctx, ATN_ERR_INPUT, kinds[k].says,
                  atn_image_read_bytes(ctx, "a.tif", bytes.data, bytes.length, NULL, &image));
        atn_text_free(&bytes);
    }
    kit_free(ctx);
}

/* libtiff's warnings go to the log, as what it says of an unknown tag. */
KIT_TEST(libtiff_speaks_through_the_log) {
    kit_log log = {0};
    atn_ctx_settings options = {.log = kit_log_line, .log_user = &log};
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    atn_image *image;
    atn_text bytes = {.ctx = ctx};
    make("own.tif", &bytes);
    kit_put(&bytes, bytes.length - 4 - 12 * 4, "\x15\xff", 2); /* SamplesPerPixel becomes a tag that nobody knows */
    (void)atn_image_read_bytes(ctx, "a.tif", bytes.data, bytes.length, NULL, &image);
    assert_int_equal(log.warnings, 0); /* information, not a warning of ours */
    atn_image_free(image);
    atn_text_free(&bytes);
    atn_ctx_free(ctx);
}
#endif

KIT_TEST(what_is_no_file_is_refused) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    atn_image *image;
    atn_text none = {.ctx = ctx};
    kit_save(dir, "empty.tif", &none);
    kit_fails(ctx, ATN_ERR_INPUT, "is empty", atn_image_read(ctx, kit_path(dir, "empty.tif"), NULL, &image));
    kit_fails(ctx, ATN_ERR_INPUT, "is a directory", atn_image_read(ctx, dir, NULL, &image));
    assert_int_equal(mkfifo(kit_path(dir, "pipe.png"), 0600), 0);
    kit_fails(ctx, ATN_ERR_INPUT, "not a regular file", atn_image_read(ctx, kit_path(dir, "pipe.png"), NULL, &image));
    kit_fails(ctx, ATN_ERR_IO, "No such file", atn_image_read(ctx, kit_path(dir, "none.png"), NULL, &image));
    kit_bmp(&none, KIT_W, KIT_H, 8);
    kit_save(dir, "good.bmp", &none);
    atn_text_free(&none);
    kit_fails(ctx, ATN_ERR_INPUT, "finite",
              atn_image_read(ctx, kit_path(dir, "good.bmp"), &(atn_image_settings){.scale = (double)INFINITY}, &image));
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spoiled_files_are_refused),       cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(what_is_no_file_is_refused),
#ifdef ATN_HAVE_PNG
        cmocka_unit_test(a_small_png_is_no_large_image),
#endif
#ifdef ATN_HAVE_TIFF
        cmocka_unit_test(kinds_of_tiff_that_are_not_read), cmocka_unit_test(libtiff_speaks_through_the_log),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
