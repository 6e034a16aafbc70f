/* attune info for images and volumes. */
#include "clikit.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void put(const char *name, const char *bytes, size_t length) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path, bytes, length));
}
#define PUT(name, bytes) put(name, bytes, sizeof(bytes) - 1)

#define SDF                                                                                                            \
    "aISO-1.0\nNumPoints = 2\nNumProfiles = 2\nXscale = 1e-6\nYscale = 2e-6\nZscale = 1e-6\nCompression = 0\n"         \
    "DataType = 7\n*\n1 2\nBAD 4\n*\n*"

/* One pixel of 24 bits. */
#define BMP(grey)                                                                                                      \
    "BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" \
    "\0\0\0\0" grey grey grey "\0"

KIT_TEST(images_are_told) {
    PUT("a.sdf", SDF);
    cli_does("info @/a.sdf", "kind        image (SDF, text, float64)\nsize        2 x 2 (rows x columns)\n"
                             "heights     9.99999997e-07 to 3.99999999e-06 m\ninvalid     1\n"
                             "spacing     1e-06 x 2e-06 m\n");
    cli_does("info @/a.sdf --json", "\"unit\": \"m\"");
    cli_does("info @/a.sdf --json", "\"invalid\": 1");
    cli_does("info @/a.sdf --json", "\"wavelength_m\": null");
    PUT("a.bmp", BMP("\x07"));
    cli_does("info @/a.bmp",
             "kind        image (BMP, 24 bits, RGB)\nsize        1 x 1 (rows x columns)\nrange       7 to 7\n");
    cli_does("info @/a.bmp --json", "\"spacing_m\": null");
    PUT("a.raw", "\0\0\x80\x3f\0\0\xc0\x7f");
    cli_does("info @/a.raw --shape 1x2", "range       1 to 1\ninvalid     1\n");
    cli_does("info @/a.raw --shape 2x2x2",
             "scans       2\nsize        2 x 2 (rows x columns)\nbits        8\nrange       0 to 192\n");
    PUT("none.raw", "\0\0\xc0\x7f");
    cli_does("info @/none.raw --shape 1x1", "range       none\n");
    cli_does("info @/none.raw --shape 1x1 --json", "\"min\": null");
    cli_refuses("info @/a.raw --shape 2x2", 1, "2x2 values of float32 are not the 8 bytes");
    cli_refuses("info @/a.raw --shape 3x2x2", 1, "not the 8 bytes");
    static const char *const wrong[] = {"2", "x2", "2x", "2x0", "-1x2", "1x2x3x4", "2x2y", ""};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        char line[64];
        snprintf(line, sizeof line, "info @/a.raw --shape=%s", wrong[k]);
        cli_refuses(line, 2, "it takes HxW or ZxHxW");
    }
    PUT("cut.bmp", "BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0");
    cli_refuses("info @/cut.bmp", 1, "cut.bmp: byte 18: 36 bytes are missing");
}

KIT_TEST(volumes_are_told) {
    char path[512];
    snprintf(path, sizeof path, "%s/oct", cli_dir);
    mkdir(path, 0700);
    PUT("oct/scan10.bmp", BMP("\x0a"));
    PUT("oct/scan2.bmp", BMP("\x02"));
    cli_does("info @/oct",
             "kind        volume (folder of BMP, 24 bits, RGB)\nscans       2\nsize        1 x 1 (rows x columns)\n"
             "bits        8\nrange       2 to 10\nspacing     unknown; a volume.json next to it can specify it");
    cli_does("info @/oct --json", "\"spacing\": null");
    PUT("oct/volume.json", "{\"spacing\": [0.5, 0.25, 2], \"unit\": \"mm\"}");
    cli_does("info @/oct/", "spacing     0.5 x 0.25 x 2 mm\n");
    cli_does("info @/oct --json", "\"unit\": \"mm\"");
    cli_does("info @/oct --json", "\"frames\": 2");
    PUT("oct/volume.json", "{\"spacing\": [0.5, 0.25, 2], \"unit\": \"m\\u001bm\"}");
    cli_refuses("info @/oct", 1, "unit is a short text");
    PUT("oct/volume.json", "{\"spacing\": [0.5, 0.25, 2], \"unit\": \"mm\"}");
    cli_does("convert @/oct @/oct.vti", "oct.vti, 2 scans of 1 x 1 (rows x columns), 8 bits");
    char vti[1024] = "";
    snprintf(path, sizeof path, "%s/oct.vti", cli_dir);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(vti, 1, sizeof vti - 1, file) > 400);
    fclose(file);
    kit_contains(vti, "WholeExtent=\"0 0 0 0 0 1\" Origin=\"0 0 0\" Spacing=\"0.5 0.25 2\"");
    const char *data = strstr(vti, "raw\">\n_") + 7;
    assert_memory_equal(data, "\2\0\0\0\0\0\0\0\2\12\n</AppendedData>", 26);
    cli_refuses("convert @/oct @/oct.vti --voxel 1", 2, "--voxel does not apply to a volume, only to points");
    cli_refuses("convert @/oct @/oct @/oct.vti", 2, "a volume is written from one input");
    cli_refuses("convert @/none @/none.vti", 1, "none");
    PUT("oct/scan3.bmp", "hello");
    cli_refuses("info @/oct", 1, "scan3.bmp: no image that is read");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(images_are_told), cmocka_unit_test(volumes_are_told)};
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
