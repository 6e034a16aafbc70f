/* NPY files: every type, order and byte order, and every way in which a file is wrong. */
#include "support/numkit.h"

#include "base/memory.h"
#include "num/npy.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct bytes {
    size_t length;
    unsigned char data[1024];
} bytes;

/* A file of this version; `header` as Python prints it, `data` behind. */
static bytes make(int version, const char *header, const void *data, size_t length) {
    bytes b = {0};
    size_t n = strlen(header), fixed = version == 1 ? 10 : 12;
    assert_true(fixed + n + length <= sizeof b.data);
    memcpy(b.data, "\x93NUMPY", 6);
    b.data[6] = (unsigned char)version;
    b.data[8] = (unsigned char)(n & 255);
    b.data[9] = (unsigned char)(n >> 8);
    memcpy(b.data + fixed, header, n);
    if (length) memcpy(b.data + fixed + n, data, length);
    b.length = fixed + n + length;
    return b;
}

static atn_status take(atn_ctx *ctx, const bytes *b, atn_npy *out) {
    char *copy = atn_alloc(ctx, b->length);
    memcpy(copy, b->data, b->length);
    return atn_npy_take(ctx, "x.npy", copy, b->length, out);
}

KIT_TEST(reads_what_is_right) {
    static const unsigned char small[] = {0, 0, 128, 63, 0, 0, 0,   64, 0, 0, 64,  64,
                                          0, 0, 128, 64, 0, 0, 160, 64, 0, 0, 192, 64}; /* 1 to 6 */
    static const unsigned char big[] = {63, 128, 0, 0, 64, 0, 0, 0};
    static const struct {
        int version;
        const char *header;
        const void *data;
        size_t bytes;
        atn_type type;
        int32_t rank;
        int64_t columns, rows;
        double second; /* element 1, row by row */
    } cases[] = {
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }     \n", small, 24, ATN_SP, 2, 3, 2, 2},
        {2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", small, 24, ATN_SP, 2, 3, 2, 2},
        {3, "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}", small, 24, ATN_SP, 2, 3, 2, 2},
        {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", small, 24, ATN_SP, 2, 3, 2, 3},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }", small, 24, ATN_SP, 3, 3, 2, 2},
        {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 1, 2), }", small, 24, ATN_SP, 3, 2, 1, 4},
        {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2, 3), }", small, 24, ATN_SP, 3, 3, 2, 3},
        {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }", small, 24, ATN_SP, 1, 6, 1, 2},
        {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (6, 1), }", small, 24, ATN_SP, 2, 1, 6, 2},
        {1, "{'descr': '=f4', 'fortran_order': False, 'shape': (2L,), }", small, 8, ATN_SP, 1, 2, 1, 2},
        {1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", big, 8, ATN_SP, 1, 2, 1, 2},
        {1, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }", big, 8, ATN_SP2, 1, 1, 1, 0},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", small, 4, ATN_SP, 1, 1, 1, 0},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }", NULL, 0, ATN_SP, 1, 0, 1, 0},
        {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 5), }", NULL, 0, ATN_SP, 2, 5, 0, 0},
        {1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "\x07\x09", 2, ATN_U8, 1, 2, 1, 9},
        {1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\x00\x05", 2, ATN_B, 1, 2, 1, 1},
        {1, "{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }", "\x00\x01\x01\x00", 4, ATN_U16, 1, 2, 1, 256},
        {1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", "\x00\x00\x00\x00\xff\xff\xff\xff", 8,
         ATN_INT32, 1, 2, 1, -1},
        {1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", "\x00\x00\x00\x3c", 4, ATN_HP, 1, 2, 1, 1},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", small, 24, ATN_SP, 1, 2, 1,
         2}, /* more may follow */
    };
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        bytes b = make(cases[k].version, cases[k].header, cases[k].data, cases[k].bytes);
        atn_npy npy;
        kit_ok(ctx, take(ctx, &b, &npy));
        atn_view view = atn_npy_view(&npy);
        assert_int_equal(view.type, cases[k].type);
        assert_int_equal(view.rank, cases[k].rank);
        assert_int_equal(view.size[0], cases[k].columns);
        assert_int_equal(view.size[1], cases[k].rows);
        if (view.size[0] * view.size[1] > 1) {
            double number[2];
            int64_t whole;
            atn_element_load(view.type, (char *)view.data + atn_type_bytes(view.type), number, &whole);
            if (number[0] != cases[k].second) fail_msg("case %zu: %g, %g is right", k, number[0], cases[k].second);
        }
        atn_npy_free(&npy);
    }
    kit_free(ctx);
}

KIT_TEST(refuses_what_is_wrong) {
    static const struct {
        int version;
        const char *header;
        size_t bytes;
        const char *sentence;
    } cases[] = {
        {4, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4,
         "byte 6: version 4 of NPY; 1 to 3 are read"},
        {0, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4, "version 0"},
        {1, "", 4, "byte 10: the header is not a dictionary"},
        {1, "[]", 4, "the header is not a dictionary"},
        {1, "{'descr': '<f4'", 4, "dictionary does not end"},
        {1, "{'descr': '<f4", 4, "descr is not a simple type"},
        {1, "{'descr", 4, "not a dictionary of names and values"},
        {1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4, "structured arrays are not read"},
        {1, "{'descr': '<f4', 'fortran_order': 1, 'shape': (1,), }", 4, "fortran_order is True or False"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': 1, }", 4, "a shape is a tuple"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1", 4, "the shape does not end"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (", 4, "the shape does not end"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4, "numbers that are not negative"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,), }", 4, "the shape does not end"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1), }", 4,
         "more than three dimensions; vectors, matrices and volumes are read"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2), }", 4,
         "a shape of 4294967296 x 4294967296 x 2 is larger than any memory"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 4,
         "larger than any memory"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 4,
         "larger than any memory"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }", 4,
         "bytes of elements are missing"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7,
         "1 bytes of elements are missing, the shape needs 8"},
        {1, "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", 8,
         "64-bit integers are not read, save them as int32"},
        {1, "{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", 20, "elements are '<U5'; f2, f4, f8"},
        {1, "{'descr': '', 'fortran_order': False, 'shape': (1,), }", 20, "elements are ''"},
        {1, "{'descr': 'f4', 'fortran_order': False, 'shape': (1,), }", 20, "elements are 'f4'"},
        {1, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4, "'descr' twice"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", 4, "the header has 'more'"},
        {1, "{'descr': '<f4', 'shape': (1,), }", 4, "the header lacks 'fortran_order'"},
        {1, "{'fortran_order': False, 'shape': (1,), }", 4, "the header lacks 'descr'"},
        {1, "{'descr': '<f4', 'fortran_order': False}", 4, "the header lacks 'shape'"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x", 4, "unexpected text after"},
    };
    static const char zeros[32];
    atn_ctx *ctx = kit_ctx();
    atn_npy npy;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        bytes b = make(cases[k].version, cases[k].header, zeros, cases[k].bytes);
        kit_fails(ctx, ATN_ERR_INPUT, cases[k].sentence, take(ctx, &b, &npy));
        kit_contains(atn_ctx_message(ctx), "x.npy: ");
        assert_null(npy.data);
    }
    bytes good = make(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", zeros, 4);
    for (size_t cut = 0; cut < good.length; ++cut) { /* cut short anywhere */
        bytes b = good;
        b.length = cut;
        kit_fails(ctx, ATN_ERR_INPUT, "x.npy: ", take(ctx, &b, &npy));
    }
    good.data[11] = 0xff; /* a header of 4 GB */
    kit_fails(ctx, ATN_ERR_INPUT, "byte 8: a header of 4278190137 bytes in a file of 73", take(ctx, &good, &npy));
    bytes marked = {.length = 20, .data = "\xef\xbb\xbf\x93NUMPY"};
    kit_fails(ctx, ATN_ERR_INPUT, "begins with a byte-order mark", take(ctx, &marked, &npy));
    bytes text = {.length = 20, .data = "1,2,3"};
    kit_fails(ctx, ATN_ERR_INPUT, "no NPY file", take(ctx, &text, &npy));
    kit_free(ctx);
}

/* Behind the dictionary NumPy reads over a comment; ours has the unit of the elements. */
KIT_TEST(units_stand_in_a_comment) {
    static const struct {
        const char *header, *unit;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } # unit=m   \n", "m"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }# unit=rad", "rad"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } # unit=lightyears", ""},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } # whatever", ""},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } #", ""},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", ""},
    };
    atn_ctx *ctx = kit_ctx();
    atn_npy npy;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        bytes b = make(1, cases[k].header, (const char[4]){0}, 4);
        kit_ok(ctx, take(ctx, &b, &npy));
        assert_string_equal(npy.unit, cases[k].unit);
        atn_npy_free(&npy);
    }
    bytes b = make(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } # a\nb", (const char[4]){0}, 4);
    kit_fails(ctx, ATN_ERR_INPUT, "unexpected text after the header's dictionary", take(ctx, &b, &npy));
    char *dir = kit_tempdir(), path[512];
    float value = 2;
    const atn_view view = {.type = ATN_SP, .rank = 1, .size = {1, 1, 1}, .pitch = 1, .data = &value};
    snprintf(path, sizeof path, "%s/a.npy", dir);
    kit_ok(ctx, atn_npy_write_unit(ctx, path, &view, "m"));
    kit_ok(ctx, atn_npy_read(ctx, path, &npy));
    assert_string_equal(npy.unit, "m");
    assert_true(*(const float *)npy.data == 2);
    atn_npy_free(&npy);
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(refuses_what_is_no_file) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    atn_npy npy;
    kit_fails(ctx, ATN_ERR_INPUT, "is a directory", atn_npy_read(ctx, dir, &npy));
    snprintf(path, sizeof path, "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    kit_fails(ctx, ATN_ERR_INPUT, "is not a regular file", atn_npy_read(ctx, path, &npy));
    snprintf(path, sizeof path, "%s/none.npy", dir);
    kit_fails(ctx, ATN_ERR_IO, "No such file", atn_npy_read(ctx, path, &npy));
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    close(fd);
    kit_fails(ctx, ATN_ERR_INPUT, "the file is empty", atn_npy_read(ctx, path, &npy));
    kit_remove(dir);
    kit_free(ctx);
}

static void round_trip_on(atn_ctx *ctx, atn_device *device) {
    static const atn_type types[] = {ATN_B, ATN_U8, ATN_U16, ATN_INT32, ATN_HP, ATN_SP, ATN_DP, ATN_SP2, ATN_DP2};
    static const int64_t sizes[][2] = {{7, 5}, {1, 1}, {0, 3}, {3, 0}, {13, -1}, {0, -1}};
    char *dir = kit_tempdir(), path[512];
    uint64_t seed = 1;
    snprintf(path, sizeof path, "%s/a.npy", dir);
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
            atn_array *a = num_random(device, types[t], sizes[k][0], sizes[k][1], 3, &seed), *b;
            kit_ok(ctx, atn_array_save(a, path));
            kit_ok(ctx, atn_array_load(device, path, &b));
            atn_array_info was = atn_array_info_of(a), is = atn_array_info_of(b);
            assert_int_equal(is.type, was.type);
            assert_int_equal(is.rank, was.rank);
            assert_memory_equal(is.shape, was.shape, sizeof is.shape);
            double complex *va = num_values(a), *vb = num_values(b);
            assert_memory_equal(va, vb, (size_t)(was.shape[0] * was.shape[1]) * sizeof *va);
            free(va), free(vb);
            atn_array_free(a), atn_array_free(b);
        }
    FILE *file = fopen(path, "rb"); /* the elements begin at a multiple of 64 */
    fseek(file, 0, SEEK_END);
    assert_int_equal(ftell(file) % 64, 0);
    fclose(file);
    kit_remove(dir);
}

KIT_TEST(round_trip) {
    const char *before = setlocale(LC_ALL, "de_DE.UTF-8"); /* a comma, where that is installed */
    if (!before) print_message("    no locale with a comma here\n");
    atn_ctx *ctx = kit_ctx();
    atn_device *device = num_device(ctx, "host");
    round_trip_on(ctx, device);
    atn_array *a = num_empty(device, ATN_SP, 2, -1, 0);
    kit_fails(ctx, ATN_ERR_IO, "cannot be written", atn_array_save(a, "/nonexistent/a.npy"));
    atn_array_free(a);
    atn_device_close(device);
    kit_free(ctx);
    setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_right),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(units_stand_in_a_comment),
        cmocka_unit_test(refuses_what_is_no_file),
        cmocka_unit_test(round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
