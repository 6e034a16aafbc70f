/* LAS: every point format read, what is written comes back, what is wrong is refused. */
#include "cloudkit.h"

#include "cloud/las.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 3, MOST = LAS_NEW_HEADER + POINTS * 70 };

/* A file of a format; point k has 100 k + 1 as intensity, 3 + k as class, colours 10 k, 10 k + 1, 10 k + 2. */
static size_t make(int minor, int format, char *to) {
    size_t header = minor == 4 ? LAS_NEW_HEADER : LAS_OLD_HEADER, bytes = LAS_BYTES[format] + 1u; /* and an extra one */
    memset(to, 0, MOST);
    static const char MAGIC[4] = {'L', 'A', 'S', 'F'};
    memcpy(to, MAGIC, sizeof MAGIC);
    to[LAS_VERSION] = 1;
    to[LAS_VERSION + 1] = (char)minor;
    number_store(NUMBER_U16, (double)header, to + LAS_HEADER_BYTES);
    number_store(NUMBER_U32, (double)header, to + LAS_POINTS_AT);
    to[LAS_FORMAT] = (char)format;
    number_store(NUMBER_U16, (double)bytes, to + LAS_POINT_BYTES);
    number_store(minor == 4 ? NUMBER_U64 : NUMBER_U32, POINTS, to + (minor == 4 ? LAS_LONG_COUNT : LAS_COUNT));
    for (size_t d = 0; d < 3; ++d) {
        number_store(NUMBER_F64, 0.001, to + LAS_SCALE + 8 * d);
        number_store(NUMBER_F64, 1000.0 * (double)d, to + LAS_OFFSET + 8 * d);
    }
    for (size_t k = 0; k < POINTS; ++k) {
        char *point = to + header + k * bytes;
        for (size_t d = 0; d < 3; ++d) number_store(NUMBER_I32, (double)(1000 * k + d) - 500, point + 4 * d);
        for (const las_field *f = LAS_FIELDS; f->name; ++f) {
            double value = strcmp(f->name, "intensity") == 0        ? 100 * (double)k + 1
                           : strcmp(f->name, "classification") == 0 ? 3 + (double)k + (format < 6 ? 64 : 0)
                           : strcmp(f->name, "red") == 0            ? 10 * (double)k
                           : strcmp(f->name, "green") == 0          ? 10 * (double)k + 1
                           : strcmp(f->name, "blue") == 0           ? 10 * (double)k + 2
                           : strcmp(f->name, "gps_time") == 0       ? 1e9 + 0.125 * (double)k
                                                                    : 0;
            if (f->at[format] >= 0) number_store(f->type, value, point + f->at[format]);
        }
    }
    return header + POINTS * bytes;
}

static double get(const atn_cloud *cloud, const char *name, size_t point) {
    for (size_t k = 0; k < cloud->extra.count; ++k)
        if (strcmp(cloud->extra.field[k].name, name) == 0) return cloud_extras_get(&cloud->extra, k, 0, point);
    return -1;
}

KIT_TEST(reads_every_format) {
    atn_ctx *ctx = kit_ctx();
    char bytes[MOST];
    for (int format = 0; format < LAS_FORMATS; ++format)
        for (int minor = format < 6 ? 2 : 4; minor <= 4; ++minor) {
            kit_file file = {"a.las", bytes, make(minor, format, bytes)};
            atn_cloud *cloud = cloud_of(ctx, &file, ATN_INVALID_REFUSE);
            bool colours = LAS_FIELDS[2].at[format] >= 0;
            assert_int_equal(cloud->count, POINTS);
            bool waves = format == 4 || format == 5 || format >= 9;
            assert_string_equal(atn_cloud_info_of(cloud).left_out, waves ? "waveforms, extra bytes" : "extra bytes");
            for (size_t k = 0; k < POINTS; ++k) {
                assert_true(fabs(cloud_get(cloud, ROLE_Y, k) - (1000 + (double)k + 0.001 - 0.5)) < 1e-9);
                assert_true(get(cloud, "intensity", k) == 100 * (double)k + 1);
                assert_true(get(cloud, "classification", k) == 3 + (double)k);
                assert_true(get(cloud, "green", k) == (colours ? 10 * (double)k + 1 : -1));
                if (LAS_FIELDS[6].at[format] >= 0) assert_true(get(cloud, "gps_time", k) == 1e9 + 0.125 * (double)k);
            }
            atn_cloud_free(cloud);
        }
    kit_free(ctx);
}

/* Whatever the coordinates, to a billionth of the extent; 1.4 where a class needs it. */
KIT_TEST(comes_back) {
    static const struct {
        const char *text, *format;
        double within;
        double red; /* of the second point */
    } cases[] = {
        {"x y z intensity classification\n1 2 3 65535 31\n2.5 -3 3 0 1\n", "LAS 1.2, point format 0", 1e-8, -1},
        {"x y z classification\n400000.123 5000000.5 3 32\n400001.5 5000001 -3 1\n", "LAS 1.4, point format 6", 1e-5,
         -1},
        {"x y z red green blue\n1e-9 0 0 255 0 0\n2e-9 0 0 128 3 4\n", "LAS 1.2, point format 2", 1e-17, 128 * 257},
        {"x y z red green blue\n-1e300 0 0 1000 0 0\n1e300 0 1 300 3 4\n", "LAS 1.2, point format 2", 1e292, 300},
        {"x y z gps_time\n7 7 7 0.5\n7 7 7 0.25\n", "LAS 1.2, point format 1", 0, -1},
    };
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    snprintf(path, sizeof path, "%s/a.las", dir);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        atn_cloud *a = cloud_of(ctx, &(kit_file){"a.xyz", cases[c].text, strlen(cases[c].text)}, ATN_INVALID_REFUSE),
                  *b;
        char lost[100];
        kit_ok(ctx, atn_cloud_write(a, path));
        atn_cloud_not_written(a, path, lost, sizeof lost);
        assert_string_equal(lost, "");
        kit_ok(ctx, atn_cloud_read(ctx, path, NULL, &b));
        assert_string_equal(atn_cloud_info_of(b).format, cases[c].format);
        for (size_t k = 0; k < 2; ++k)
            for (cloud_role d = 0; d < 3; ++d)
                if (!(fabs(cloud_get(a, d, k) - cloud_get(b, d, k)) <= cases[c].within))
                    fail_msg("case %zu: %.17g became %.17g", c, cloud_get(a, d, k), cloud_get(b, d, k));
        assert_true(get(b, "red", 1) == cases[c].red);
        assert_true(get(a, "classification", 0) < 0 || get(b, "classification", 0) == get(a, "classification", 0));
        atn_cloud_free(a), atn_cloud_free(b);
    }
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(refuses) {
    static const struct {
        size_t at;
        number_type type;
        double value;
        size_t shorter;
        const char *part;
    } cases[] = {
        {LAS_FORMAT, NUMBER_U8, 128 + 3, 0, "LAZ, which is LAS compressed, is not read; PDAL converts it"},
        {LAS_FORMAT, NUMBER_U8, 11, 0, "point format 11; 0 to 10 are read"},
        {LAS_VERSION + 1, NUMBER_U8, 5, 0, "version 1.5 of LAS"},
        {LAS_COUNT, NUMBER_U32, 4e9, 0, "4000000000 points of 35 bytes"},
        {LAS_POINT_BYTES, NUMBER_U16, 33, 0, "points of 33 bytes; format 3 needs 34"},
        {LAS_POINTS_AT, NUMBER_U32, 100, 0, "points from byte 100 on"},
        {LAS_POINTS_AT, NUMBER_U32, 1e9, 0, "points from byte 1000000000 on"},
        {LAS_SCALE, NUMBER_F64, 0, 0, "x has the scale 0"},
        {LAS_OFFSET + 8, NUMBER_F64, INFINITY, 0, "y has the scale 0.001 and the offset inf"},
        {LAS_COUNT, NUMBER_U32, POINTS, 1, "3 points of 35 bytes; only 104 bytes are left"},
        {LAS_COUNT, NUMBER_U32, POINTS, 200, "132 bytes; a header of LAS has 227"},
    };
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char bytes[MOST];
        size_t length = make(2, 3, bytes) - cases[k].shorter;
        atn_cloud *none;
        number_store(cases[k].type, cases[k].value, bytes + cases[k].at);
        atn_status status = atn_cloud_read_bytes(ctx, "a.las", bytes, length, NULL, &none);
        assert_true(status == ATN_ERR_INPUT || status == ATN_ERR_UNSUPPORTED);
        kit_contains(atn_ctx_message(ctx), cases[k].part);
    }
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_every_format), cmocka_unit_test(comes_back),
                                       cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
