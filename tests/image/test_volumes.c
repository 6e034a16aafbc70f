/* Volumes: folders in the order of people, pages, raw files, notes beside them, scan by scan and at once. */
#include "imagekit.h"

#include "image/volume.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

KIT_TEST(names_are_sorted_as_people_count) {
    static const char *const order[] = {"a1.png", "a2.png",   "a02.png",   "a10.png",  "a10b.png",
                                        "b.png",  "b1c2.png", "b1c10.png", "b01d.png", "b99999999999999999999999.png"};
    enum { N = sizeof order / sizeof *order };
    for (int i = 0; i < N; ++i)
        for (int k = 0; k < N; ++k) {
            int sign = volume_compare_names(order[i], order[k]);
            bool tie = (i == 1 && k == 2) || (i == 2 && k == 1); /* some order, but one */
            if (tie)
                assert_true(sign == -volume_compare_names(order[k], order[i]) && sign != 0);
            else if ((sign > 0) - (sign < 0) != (i > k) - (i < k))
                fail_msg("%s and %s: %d", order[i], order[k], sign);
        }
}

/* A scan whose every pixel is `value`. */
static void save_scan(atn_ctx *ctx, const char *dir, const char *name, int width, int height, int value) {
    atn_text bytes = {.ctx = ctx};
    unsigned char rows[64 * 64];
    memset(rows, value, sizeof rows);
    const png_picture picture = {.width = (size_t)width, .height = (size_t)height, .bits = 8, .rows = rows};
    assert_int_equal(image_png_add(ctx, name, &picture, &bytes), ATN_OK);
    kit_save(dir, name, &bytes);
    atn_text_free(&bytes);
}

static void save_text(atn_ctx *ctx, const char *dir, const char *name, const char *text) {
    atn_text bytes = {.ctx = ctx};
    atn_text_add(&bytes, text);
    kit_save(dir, name, &bytes);
    atn_text_free(&bytes);
}

static void save_bmp(atn_ctx *ctx, const char *dir, const char *name) {
    atn_text bytes = {.ctx = ctx};
    kit_bmp(&bytes, KIT_W, KIT_H, 8);
    kit_save(dir, name, &bytes);
    atn_text_free(&bytes);
}

#ifdef ATN_HAVE_PNG
KIT_TEST(folders_are_volumes) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    atn_volume *volume;
    kit_fails(ctx, ATN_ERR_INPUT, "without scans", atn_volume_read(ctx, dir, NULL, &volume));
    for (int k = 12; k > 0; --k) {
        char name[32];
        snprintf(name, sizeof name, "scan%d.png", k);
        save_scan(ctx, dir, name, 7, 5, k);
    }
    save_text(ctx, dir, "notes.txt", "not a scan");
    save_text(ctx, dir, "._scan3.png", "left by a program that copies");
    kit_ok(ctx, atn_volume_read(ctx, dir, NULL, &volume));
    atn_volume_info info = atn_volume_info_of(volume);
    assert_int_equal(info.frames, 12);
    assert_int_equal(info.width, 7);
    assert_int_equal(info.height, 5);
    assert_int_equal(info.frame_bytes, 35);
    assert_string_equal(info.format, "folder of PNG, 8 bits, grey");
    assert_true(info.spacing[0] == 0);
    for (int k = 0; k < 12; ++k) assert_int_equal(((const uint8_t *)atn_volume_frame(volume, k))[34], k + 1);
    assert_null(atn_volume_frame(volume, 12));
    assert_null(atn_volume_frame(volume, -1));
    atn_volume_free(volume);

    save_scan(ctx, dir, "scan9.png", 7, 6, 1);
    kit_fails(ctx, ATN_ERR_INPUT, "scan9.png: scan 8 has 7 x 6", atn_volume_read(ctx, dir, NULL, &volume));
    assert_null(volume);
    save_text(ctx, dir, "scan9.png", "hello");
    kit_fails(ctx, ATN_ERR_INPUT, "scan9.png: no image", atn_volume_read(ctx, dir, NULL, &volume));
    atn_volume_reader *reader;
    uint8_t frame[35];
    bool any;
    kit_ok(ctx, atn_volume_open(ctx, dir, NULL, &reader));
    for (int k = 0; k < 8; ++k) kit_ok(ctx, atn_volume_next(reader, frame, &any));
    assert_true(any && frame[0] == 8);
    kit_fails(ctx, ATN_ERR_INPUT, "no image", atn_volume_next(reader, frame, &any));
    assert_false(any);
    kit_fails(ctx, ATN_ERR_INPUT, "close it", atn_volume_next(reader, frame, &any));
    atn_volume_close(reader);
    save_scan(ctx, dir, "scan9.png", 7, 5, 9);
    for (int k = 3; k <= 12; k += 3) { /* many are bad, and cores read several at once: the first is told */
        char name[32];
        snprintf(name, sizeof name, "scan%d.png", k);
        save_text(ctx, dir, name, "hello");
    }
    for (int k = 0; k < 20; ++k)
        kit_fails(ctx, ATN_ERR_INPUT, "scan3.png: no image", atn_volume_read(ctx, dir, NULL, &volume));
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(what_is_written_is_read) {
    static const int64_t shape[3] = {3, 4, 5};
    static const double spacing[3] = {0.1, 1.0 / 3, 2};
    atn_ctx *ctx = kit_ctx();
    uint16_t values[60];
    for (int k = 0; k < 60; ++k) values[k] = (uint16_t)(k * 1009);
    for (int bits = 8; bits <= 16; bits += 8) {
        char *dir = kit_tempdir();
        atn_volume *volume, *again;
        kit_ok(ctx, atn_volume_create(ctx, shape, bits, values, spacing, &volume));
        kit_fails(ctx, ATN_ERR_INPUT, "unit", atn_volume_write(volume, dir, "m\"m"));
        kit_ok(ctx, atn_volume_write(volume, dir, "mm"));
        kit_ok(ctx, atn_volume_write(volume, dir, "mm")); /* over itself */
        kit_ok(ctx, atn_volume_read(ctx, dir, NULL, &again));
        atn_volume_info info = atn_volume_info_of(again);
        assert_int_equal(info.frames, 3);
        assert_int_equal(info.bits, bits);
        assert_string_equal(info.unit, "mm");
        assert_memory_equal(info.spacing, spacing, sizeof spacing);
        assert_memory_equal(atn_volume_frame(again, 0), values, (size_t)(60 * bits / 8));
        save_scan(ctx, dir, "0003.png", 5, 4, 1);
        kit_fails(ctx, ATN_ERR_INPUT, "0003.png: is not a scan of this volume", atn_volume_write(volume, dir, "mm"));
        kit_fails(ctx, ATN_ERR_IO, "nowhere", atn_volume_write(volume, "/nowhere", "mm"));
        atn_volume_free(again);
        atn_volume_free(volume);
        kit_remove(dir);
    }
    kit_free(ctx);
}
#endif

KIT_TEST(notes_say_the_spacing) {
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"[1, 2, 3]", "no object"},
        {"{\"spacing\": [1, 2]}", "three numbers"},
        {"{\"spacing\": 1}", "three numbers"},
        {"{\"spacing\": [1, 2, -3]}", "positive"},
        {"{\"spacing\": [1, 2, \"3\"]}", "positive"},
        {"{\"unit\": 7}", "short text"},
        {"{\"unit\": \"parsecs and furlongs\"}", "short text"},
        {"{\"shape\": [1, 2, 0.5]}", "whole"},
        {"{", "volume.json:1:"},
        {"", "volume.json"},
    };
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    atn_volume *volume;
    save_bmp(ctx, dir, "a.bmp");
    save_text(ctx, dir, "volume.json", "{\"spacing\": [0.01, 0.002, 3], \"unit\": \"mm\", \"of\": \"a test\"}");
    for (int file = 0; file < 2; ++file) {
        kit_ok(ctx, atn_volume_read(ctx, file ? kit_path(dir, "a.bmp") : dir, NULL, &volume));
        atn_volume_info info = atn_volume_info_of(volume);
        assert_int_equal(info.frames, 1);
        assert_string_equal(info.unit, "mm");
        assert_true(info.spacing[0] == 0.01 && info.spacing[1] == 0.002 && info.spacing[2] == 3);
        for (int k = 0; k < KIT_W * KIT_H; ++k)
            assert_int_equal(((const uint8_t *)atn_volume_frame(volume, 0))[k], (int)KIT_PIXELS[k]);
        atn_volume_free(volume);
    }
    atn_volume_settings given = {.spacing = {1, 2, 4}};
    kit_ok(ctx, atn_volume_read(ctx, dir, &given, &volume));
    assert_true(atn_volume_info_of(volume).spacing[2] == 4);
    atn_volume_free(volume);
    given.spacing[1] = -1;
    kit_fails(ctx, ATN_ERR_INPUT, "positive", atn_volume_read(ctx, dir, &given, &volume));
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        save_text(ctx, dir, "volume.json", wrong[k].text);
        kit_fails(ctx, ATN_ERR_INPUT, wrong[k].says, atn_volume_read(ctx, dir, NULL, &volume));
        assert_null(volume);
    }
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(raw_volumes_have_a_shape) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    atn_volume *volume;
    save_text(ctx, dir, "a.raw", "abcdefghijklmnopqrstuvwx"); /* 24 */
    const char *path = kit_path(dir, "a.raw");
    kit_ok(ctx, atn_volume_read(ctx, path, &(atn_volume_settings){.shape = {4, 3, 2}}, &volume));
    atn_volume_info info = atn_volume_info_of(volume);
    assert_int_equal(info.bits, 8);
    assert_int_equal(info.frame_bytes, 6);
    assert_memory_equal(atn_volume_frame(volume, 3), "stuvwx", 6);
    atn_volume_free(volume);
    kit_ok(ctx, atn_volume_read(ctx, path, &(atn_volume_settings){.shape = {2, 3, 2}}, &volume));
    assert_int_equal(atn_volume_info_of(volume).bits, 16);
    assert_int_equal(*(const uint16_t *)atn_volume_frame(volume, 1), 'm' + 256 * 'n');
    atn_volume_free(volume);
    static const int64_t wrong[][3] = {{5, 3, 2}, {1, 1, 1}, {-4, 3, 2}, {0, 3, 2}, {INT64_MAX, INT64_MAX, 2}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        atn_volume_settings options = {.shape = {wrong[k][0], wrong[k][1], wrong[k][2]}};
        kit_fails(ctx, ATN_ERR_INPUT, wrong[k][0] > 0 ? "not the 24 bytes" : "positive",
                  atn_volume_read(ctx, path, &options, &volume));
    }
    kit_fails(ctx, ATN_ERR_INPUT, "no volume", atn_volume_read(ctx, path, NULL, &volume));
    save_text(ctx, dir, "volume.json", "{\"shape\": [4, 3, 2]}");
    kit_ok(ctx, atn_volume_read(ctx, path, NULL, &volume));
    atn_volume_free(volume);
    kit_fails(ctx, ATN_ERR_IO, "No such file", atn_volume_read(ctx, kit_path(dir, "none"), NULL, &volume));
    kit_fails(ctx, ATN_ERR_IO, "no name", atn_volume_read(ctx, "", NULL, &volume));
    kit_remove(dir);
    kit_free(ctx);
}

#ifdef ATN_HAVE_TIFF
KIT_TEST(pages_are_scans) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    atn_volume *volume;
    atn_text bytes = {.ctx = ctx};
    kit_tiff(&bytes, &(kit_tiff_kind){16, 1, 1, 1, 5, 0, 5});
    kit_save(dir, "a.tif", &bytes);
    kit_ok(ctx, atn_volume_read(ctx, kit_path(dir, "a.tif"), NULL, &volume));
    atn_volume_info info = atn_volume_info_of(volume);
    assert_int_equal(info.frames, 5);
    assert_int_equal(info.bits, 16);
    for (int f = 0; f < 5; ++f)
        for (int k = 0; k < KIT_W * KIT_H; ++k)
            assert_int_equal(((const uint16_t *)atn_volume_frame(volume, f))[k], (int)KIT_PIXELS[k]);
    atn_volume_free(volume);
    kit_fails(ctx, ATN_ERR_INPUT, "5 pages", atn_volume_read(ctx, dir, NULL, &volume));
    for (size_t cut = 1; cut < bytes.length; ++cut) { /* never fewer pages without a word */
        atn_text part = {.ctx = ctx};
        atn_text_add_bytes(&part, bytes.data, cut);
        kit_save(dir, "cut.tif", &part);
        atn_text_free(&part);
        if (atn_volume_read(ctx, kit_path(dir, "cut.tif"), NULL, &volume) == ATN_OK)
            assert_int_equal(atn_volume_info_of(volume).frames, 5);
        atn_volume_free(volume);
    }
    atn_text_free(&bytes);
    kit_tiff(&bytes, &(kit_tiff_kind){32, 3, 1, 1, 1, 0, 2});
    kit_save(dir, "a.tif", &bytes);
    atn_text_free(&bytes);
    kit_fails(ctx, ATN_ERR_INPUT, "whole numbers", atn_volume_read(ctx, kit_path(dir, "a.tif"), NULL, &volume));
    kit_remove(dir);
    kit_free(ctx);
}
#endif

KIT_TEST(volumes_from_memory) {
    atn_ctx *ctx = kit_ctx();
    atn_volume *volume;
    static const int64_t shape[3] = {2, 1, 2}, empty[3] = {2, 0, 2}, huge[3] = {INT64_MAX, INT64_MAX, 2};
    static const uint16_t data[] = {1, 2, 3, 60000};
    static const double spacing[3] = {1, 1, 0.5}, wrong[3] = {1, 0, 1};
    kit_ok(ctx, atn_volume_create(ctx, shape, 16, data, spacing, &volume));
    assert_int_equal(((const uint16_t *)atn_volume_frame(volume, 1))[1], 60000);
    assert_true(atn_volume_info_of(volume).spacing[2] == 0.5);
    atn_volume_free(volume);
    kit_ok(ctx, atn_volume_create(ctx, shape, 8, NULL, NULL, &volume));
    assert_int_equal(*(const uint8_t *)atn_volume_frame(volume, 1), 0);
    atn_volume_free(volume);
    kit_fails(ctx, ATN_ERR_INPUT, "8 or 16", atn_volume_create(ctx, shape, 32, NULL, NULL, &volume));
    kit_fails(ctx, ATN_ERR_INPUT, "positive", atn_volume_create(ctx, empty, 8, NULL, NULL, &volume));
    kit_fails(ctx, ATN_ERR_INPUT, "spacing", atn_volume_create(ctx, shape, 8, NULL, wrong, &volume));
    kit_fails(ctx, ATN_ERR_MEMORY, "", atn_volume_create(ctx, huge, 8, NULL, NULL, &volume));
    kit_free(ctx);
}

static atn_status read_volume(atn_ctx *ctx, const void *path) {
    atn_volume *volume;
    atn_status status = atn_volume_read(ctx, path, NULL, &volume);
    atn_volume_free(volume);
    return status;
}

KIT_TEST(refused_memory_leaves_nothing) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    for (int k = 0; k < 10; ++k) {
        char name[32];
        snprintf(name, sizeof name, "scan%d.bmp", k);
        save_bmp(ctx, dir, name);
    }
    kit_walk(read_volume, dir);
    kit_walk(read_volume, kit_path(dir, "scan1.bmp"));
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_sorted_as_people_count),
        cmocka_unit_test(notes_say_the_spacing),
        cmocka_unit_test(raw_volumes_have_a_shape),
        cmocka_unit_test(volumes_from_memory),
        cmocka_unit_test(refused_memory_leaves_nothing),
#ifdef ATN_HAVE_PNG
        cmocka_unit_test(folders_are_volumes),
        cmocka_unit_test(what_is_written_is_read),
#endif
#ifdef ATN_HAVE_TIFF
        cmocka_unit_test(pages_are_scans),
#endif
    };
    (void)save_scan;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
