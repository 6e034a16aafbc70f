/* Heights in the formats of the field: what can be read again is the same, what cannot has the bytes it must have. */
#include "testkit.h"

#include "base/file.h"
#include "base/memory.h"

#include <attune/image.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { W = 5, H = 3 };

static atn_image *make(atn_ctx *ctx, bool hole) {
    float pixels[W * H];
    atn_image *image;
    for (int k = 0; k < W * H; ++k) pixels[k] = (float)((k - 7) * 1.25e-7);
    if (hole) pixels[4] = NAN;
    kit_ok(ctx, atn_image_create(ctx, W, H, pixels, &image));
    kit_ok(ctx, atn_image_set_unit(image, "m"));
    kit_ok(ctx, atn_image_set_scale(image, 5e-6, 4e-6, 632.8e-9));
    return image;
}

KIT_TEST(what_is_written_is_read) {
    static const struct {
        const char *name;
        double most, dy; /* error; rows apart */
        bool wavelength;
    } FORMATS[] = {{"a.tif", 0, 4e-6, false}, {"a.sdf", 1e-14, 4e-6, false}, {"a.dat", 2e-12, 5e-6, true}};
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    for (size_t f = 0; f < sizeof FORMATS / sizeof *FORMATS; ++f)
        for (int hole = 0; hole < 2; ++hole) {
            atn_image *image = make(ctx, hole), *again;
            snprintf(path, sizeof path, "%s/%s", dir, FORMATS[f].name);
            kit_ok(ctx, atn_image_write(image, path));
            atn_status status = atn_image_read(ctx, path, NULL, &again);
            if (status == ATN_ERR_UNSUPPORTED) { /* no libtiff */
                atn_image_free(image);
                continue;
            }
            kit_ok(ctx, status);
            atn_image_info info = atn_image_info_of(again);
            assert_true(info.width == W && info.height == H && info.invalid == (size_t)hole);
            assert_string_equal(info.unit, "m");
            assert_true(fabs(info.spacing_m[0] - 5e-6) < 1e-11 && fabs(info.spacing_m[1] - FORMATS[f].dy) < 1e-11);
            assert_true(!FORMATS[f].wavelength || fabs(info.wavelength_m - 632.8e-9) < 1e-13);
            for (int k = 0; k < W * H; ++k) {
                double a = (double)atn_image_pixels(image)[k], b = (double)atn_image_pixels(again)[k];
                assert_true(isnan(a) ? isnan(b) : fabs(a - b) <= FORMATS[f].most + 1e-7 * fabs(a));
            }
            atn_image_free(again);
            atn_image_free(image);
        }
    kit_remove(dir);
    kit_free(ctx);
}

static uint32_t u32(const char *at) {
    uint32_t v;
    memcpy(&v, at, 4);
    return v;
}

/* Where an item of Gwyddion's stands: behind its name and its letter. */
static const char *item(const char *bytes, size_t length, const char *name, char type) {
    size_t n = strlen(name) + 1;
    for (size_t k = 0; k + n < length; ++k)
        if (memcmp(bytes + k, name, n) == 0 && bytes[k + n] == type) return bytes + k + n + 1;
    fail_msg("%s is not there", name);
    return NULL;
}

KIT_TEST(gwyddion_gets_sizes_that_hold) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512], *bytes;
    size_t length;
    snprintf(path, sizeof path, "%s/a.gwy", dir);
    for (int hole = 0; hole < 2; ++hole) {
        atn_image *image = make(ctx, hole);
        kit_ok(ctx, atn_image_write(image, path));
        kit_ok(ctx, atn_file_read(ctx, path, 1 << 20, &bytes, &length));
        assert_memory_equal(bytes, "GWYPGwyContainer", 17);
        assert_int_equal(u32(bytes + 17), length - 21);
        assert_int_equal(u32(item(bytes, length, "xres", 'i')), W);
        assert_int_equal(u32(item(bytes, length, "yres", 'i')), H);
        const char *field = item(bytes, length, "/0/data", 'o');
        assert_string_equal(field, "GwyDataField");
        const char *data = item(bytes, length, "data", 'D');
        assert_int_equal(u32(data), W * H);
        assert_true(field + 13 + 4 + u32(field + 13) == data + 4 + 8 * W * H); /* the object ends with them */
        double real, last;
        memcpy(&real, item(bytes, length, "yreal", 'd'), 8);
        memcpy(&last, data + 4 + 8 * (W * H - 1), 8);
        assert_true(fabs(real - H * 4e-6) < 1e-15 && fabs(last - 7 * 1.25e-7) < 1e-13);
        double four;
        memcpy(&four, data + 4 + 8 * 4, 8);
        assert_true(isfinite(four));
        if (hole) {
            double mask[W * H];
            const char *at = item(bytes, length, "/0/mask", 'o');
            at = item(at, length - (size_t)(at - bytes), "data", 'D');
            memcpy(mask, at + 4, sizeof mask);
            for (int k = 0; k < W * H; ++k) assert_true(mask[k] == (k == 4));
        }
        atn_free(ctx, bytes);
        atn_image_free(image);
    }
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(vtk_and_refusals) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512], *bytes;
    size_t length;
    atn_image *image = make(ctx, true);
    snprintf(path, sizeof path, "%s/a.vti", dir);
    kit_ok(ctx, atn_image_write(image, path));
    kit_ok(ctx, atn_file_read(ctx, path, 1 << 20, &bytes, &length));
    kit_contains(bytes, "WholeExtent=\"0 4 0 2 0 0\"");
    kit_contains(bytes, "Spacing=\"5e-06 4e-06 1\"");
    const char *data = strstr(bytes, "format=\"binary\">\n") + 17;
    assert_int_equal(strcspn(data, "\n"), (8 + 8 * W * H + 2) / 3 * 4);
    assert_memory_equal(data, "eAAAAAAAAAA", 10); /* 120 bytes follow */
    atn_free(ctx, bytes);
    kit_fails(ctx, ATN_ERR_INPUT, "none is negative", atn_image_set_scale(image, -1, 0, 0));
    kit_fails(ctx, ATN_ERR_INPUT, "none is negative", atn_image_set_scale(image, 1, NAN, 0));
    kit_ok(ctx, atn_image_set_scale(image, 0, 0, 0));
    snprintf(path, sizeof path, "%s/a.dat", dir);
    kit_fails(ctx, ATN_ERR_INPUT, "needs the wavelength", atn_image_write(image, path));
    kit_ok(ctx, atn_image_set_unit(image, "rad"));
    kit_fails(ctx, ATN_ERR_INPUT, "holds heights in metres", atn_image_write(image, path));
    snprintf(path, sizeof path, "%s/a.jpg", dir);
    kit_fails(ctx, ATN_ERR_INPUT, "tif, npy, sdf, dat, gwy or vti", atn_image_write(image, path));
    atn_image_free(image);
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(gwyddion_gets_sizes_that_hold),
        cmocka_unit_test(vtk_and_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
