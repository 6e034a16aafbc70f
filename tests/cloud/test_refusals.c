/* Every way in which a file of points is wrong, and the sentence that says so. */
#include "cloudkit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLY(elements)    "ply\nformat ascii 1.0\n" elements "end_header\n"
#define VERTEX(count)    "element vertex " count "\nproperty float x\nproperty float y\nproperty float z\n"
#define BINARY(elements) "ply\nformat binary_little_endian 1.0\n" elements "end_header\n"
#define PCD(size, type, points, data)                                                                                  \
    "VERSION 0.7\nFIELDS x y z\nSIZE " size "\nTYPE " type "\nWIDTH " points "\nHEIGHT 1\nPOINTS " points              \
    "\nDATA " data "\n"
#define TEN    "\0\0\0\0\0\0\0\0\0\0"
#define TWENTY TEN TEN

typedef struct refusal {
    kit_file file;
    const char *sentence;
} refusal;

static const refusal PLY_FILES[] = {
    {KIT_FILE("a.ply", "plyx\n"), "a.ply:1: no PLY file; those begin with \"ply\""},
    {KIT_FILE("a.ply", "1 2 3\n"), "no PLY file"},
    {KIT_FILE("a.ply", "ply\n"), "a.ply:1: the header does not end"},
    {KIT_FILE("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\n"), "a.ply:3: the header does not end"},
    {KIT_FILE("a.ply", "ply\nformat ascii 2.0\n"), "version 2.0 of PLY; 1.0 is read"},
    {KIT_FILE("a.ply", "ply\nformat ebcdic 1.0\n"), "a.ply:2: format 'ebcdic'"},
    {KIT_FILE("a.ply", "ply\nformat ascii 1.0\nformat ascii 1.0\n"), "a second format"},
    {KIT_FILE("a.ply", "ply\n" VERTEX("0") "end_header\n"), "the header has no format"},
    {KIT_FILE("a.ply", PLY("")), "there is no element vertex"},
    {KIT_FILE("a.ply", PLY("element vertex\n")), "an element has a name and a count"},
    {KIT_FILE("a.ply", PLY("element vertex -1\n")), "'-1' is not a count of elements"},
    {KIT_FILE("a.ply", PLY("element vertex 99999999999999999999\n")), "'99999999999999999999' is not a count"},
    {KIT_FILE("a.ply", PLY(VERTEX("0") VERTEX("0"))), "a second element vertex"},
    {KIT_FILE("a.ply", PLY("property float x\n")), "a property before any element"},
    {KIT_FILE("a.ply", PLY("element vertex 1\nproperty real x\n")), "'real' is not a type of PLY"},
    {KIT_FILE("a.ply", PLY("element vertex 1\nproperty float\n")), "a property without a name"},
    {KIT_FILE("a.ply", PLY("element vertex 1\nproperty list float int x\n")), "'float' is not a type to count a list"},
    {KIT_FILE("a.ply", PLY(VERTEX("1") "property float x\n")), "a second property 'x'"},
    {KIT_FILE("a.ply", PLY("element vertex 1\nproperty float x\nproperty float y\n") "1 2\n"),
     "there is no column 'z'"},
    {KIT_FILE("a.ply",
              PLY("element vertex 1\nproperty float x\nproperty float y\nproperty list uchar float z\n") "1 2 1 3\n"),
     "there is no column 'z'"},
    {KIT_FILE("a.ply", PLY(VERTEX("0") "element empty 1000000000000\n")), "element empty has no properties"},
    {KIT_FILE("a.ply", PLY("surprise\n")), "unknown keyword 'surprise' in the PLY header"},
    {KIT_FILE("a.ply", "ply\nfor\0mat"), "a.ply:2: a zero byte where text is expected"},
    {KIT_FILE("a.ply", PLY(VERTEX("1000000000000")) "1 2 3\n"),
     "1000000000000 of element vertex need at least 6 bytes each; 6 bytes are left"},
    {KIT_FILE("a.ply", BINARY(VERTEX("1000000000000")) TWENTY), "need at least 12 bytes each; 20 bytes are left"},
    {KIT_FILE("a.ply", BINARY(VERTEX("18446744073709551615")) TWENTY), "need at least 12 bytes each"},
    {KIT_FILE("a.ply", BINARY(VERTEX("2")) TWENTY), "a.ply: byte 115: 2 of element vertex"},
    {KIT_FILE("a.ply", PLY(VERTEX("2")) "1 2 3\n\n   \n  \n"), "the file ends inside element vertex"},
    {KIT_FILE("a.ply", PLY(VERTEX("1")) "1 2     \n"), "a.ply:8: a value is missing"},
    {KIT_FILE("a.ply", PLY(VERTEX("1")) "1 2 3 4\n"), "more values than element vertex has properties"},
    {KIT_FILE("a.ply", PLY(VERTEX("1")) "1 2,5 3\n"), "'2,5' is not a number"},
    {KIT_FILE("a.ply", PLY(VERTEX("0") "element face 1\nproperty list int int i\n") "5 1 2\n"), "a value is missing"},
    {KIT_FILE("a.ply", PLY(VERTEX("0") "element face 1\nproperty list int int i\n") "-5 1 2\n"), "a list of -5 values"},
    {KIT_FILE("a.ply", PLY(VERTEX("0") "element face 1\nproperty list int int i\n") "nan 1 2\n"), "a list of nan"},
    {KIT_FILE("a.ply", BINARY(VERTEX("0") "element face 1\nproperty list uint int i\n") "\377\377\377\377" TWENTY),
     "a list of 4294967295 values, 20 bytes are left"},
    {KIT_FILE("a.ply", BINARY(VERTEX("0") "element face 1\nproperty list int int i\n") "\377\377\377\377" TWENTY),
     "a list of -1 values"},
    {KIT_FILE("a.ply", BINARY(VERTEX("0") "element face 2\nproperty list uchar int i\n") "\2\0\0\0\0\0\0\0\0"),
     "1 bytes are missing"},
};

static const refusal PCD_FILES[] = {
    {KIT_FILE("a.pcd", "nothing\n"), "a.pcd:1: unknown keyword 'nothing' in the PCD header"},
    {KIT_FILE("a.pcd", "# .PCD v0.7\nVERSION 0.7\n"), "a.pcd:2: the header does not end; it ends with DATA"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nDATA ascii\n"), "the header has no FIELDS"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nSIZE 4 4 4\nDATA ascii\n"), "SIZE before FIELDS"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x y z\nSIZE 4 4\n"), "SIZE has 2 words, FIELDS has 3"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4 4\n"), "SIZE has more words than there are fields"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 -4\n"), "'-4' cannot be a SIZE"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x y z\nCOUNT 1 1 0\n"), "'0' cannot be a COUNT"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x y z\nCOUNT 1 1 99999999999\n"), "'99999999999' cannot be a COUNT"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x y x\n"), "a second field 'x'"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x\nFIELDS x\n"), "a second FIELDS"},
    {KIT_FILE("a.pcd", PCD("4 4 3", "F F F", "1", "ascii")), "field 3 has type F of 3 bytes"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F X", "1", "ascii")), "field 3 has type X of 4 bytes"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "-1", "ascii")), "WIDTH is '-1'; a whole number is needed"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "1", "morse")), "DATA 'morse'; ascii, binary and"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 2\nHEIGHT 1\nPOINTS 3\nDATA ascii\n"),
     "POINTS is 3, WIDTH times HEIGHT is 2"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 4294967296\nHEIGHT 4294967296\n"
                       "DATA ascii\n"),
     "more than any memory holds"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x y z\nSIZE 8 8 8\nTYPE F F F\nCOUNT 1 1 65536\nWIDTH 1\nHEIGHT 1\n"
                       "COUNT 1 1 1\n"),
     "a second COUNT"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x y z i j k\nSIZE 8 8 8 8 8 8\nTYPE F F F F F F\nCOUNT 1 1 1 65536 65536 "
                       "65536\nWIDTH 1\nHEIGHT 1\nDATA binary\n"),
     "a point of 1572888 bytes; at most 1048576 are read"},
    {KIT_FILE("a.pcd", "VERSION 0.7\nFIELDS x y\nSIZE 4 4\nTYPE F F\nWIDTH 1\nHEIGHT 1\nDATA ascii\n1 2\n"),
     "there is no column 'z'"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "1000000000000", "ascii") "1 2 3\n"), "6 bytes are left"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "1000000000000", "binary") TWENTY),
     "1000000000000 points need at least 12 bytes each; 20 bytes are left"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "1", "ascii") "1 2    \n"), "a value is missing; a point has 3"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "1", "ascii") "1 2 3 4\n"), "more values than a point has: 3"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "1", "ascii") "1 2 q\n"), "a.pcd:9: 'q' is not a number"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "1", "ascii") "      \n"), "ends before its last point"},
#ifdef ATN_HAVE_LZF
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "1", "binary_compressed") "\1\0\0"), "5 bytes are missing"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "1", "binary_compressed") "\1\0\0\0\15\0\0\0" TEN),
     "unpacked it has 13 bytes; 1 points of 12 bytes do not"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "1", "binary_compressed") "\13\0\0\0\14\0\0\0" TEN),
     "11 bytes of LZF, 10 bytes are left"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "1", "binary_compressed") "\12\0\0\0\14\0\0\0" TEN),
     "10 bytes of LZF do not unpack to 12"},
    {KIT_FILE("a.pcd", PCD("4 4 4", "F F F", "300000000", "binary_compressed") "\12\0\0\0\0\244\223\326" TEN),
     "10 bytes of LZF cannot unpack to 3600000000"},
#endif
};

static const refusal TEXT_FILES[] = {
    {KIT_FILE("a.xyz", "# nothing\n\n  \n"), "a.xyz: there are no points"},
    {KIT_FILE("a.xyz", "1 2\n"), "a.xyz:1: 2 columns; a point has three, x y z"},
    {KIT_FILE("a.xyz", "1 2 3\n\n4 5\n"), "a.xyz:3: 2 columns where there were 3 before"},
    {KIT_FILE("a.xyz", "1 2 3\n4 5 six\n"), "a.xyz:2: 'six' is not a number"},
    {KIT_FILE("a.xyz", "1 2 3\n4 5 6e\n"), "'6e' is not a number"},
    {KIT_FILE("a.xyz", "1 2 3\n\0"), "a zero byte where text is expected"},
    {KIT_FILE("a.csv", "east,north,up\n1,2,3\n"), "'east' is not a number, and the line does not name x, y and z"},
    {KIT_FILE("a.csv", "x,y,z\n1,,3\n"), "a.csv:2: '' is not a number"},
    {KIT_FILE("a.csv", "0,5;1,5;2,5\n"), "'0,5' is not a number (those are written with a point: 0.5)"},
    {KIT_FILE("a.csv", "x;y;z\n0,5;1,5;2,5\n"),
     "a.csv:2: '0,5' is not a number; numbers are written with a point: 0.5"},
    {KIT_FILE("a.txt", "0,5 1,5 2,5\n"), "'5 1' is not a number"},
    {KIT_FILE("a.txt", "\377\376"
                       "1\0 \0002\0"),
     "a.txt: byte 0: text in UTF-16; save it as UTF-8"},
    {KIT_FILE("a.xyz", "1000000000000\n\nAl 1 2 3\n"), "a.xyz:2: a frame of 1000000000000 atoms, 9 bytes are left"},
    {KIT_FILE("a.xyz", "2\n"), "the frame ends before its second line"},
    {KIT_FILE("a.xyz", "2\ncomment\nAl 1.000000 2.00000 3\n"), "the frame has 1 atoms, 2 are said"},
    {KIT_FILE("a.xyz", "1\ncomment\nAl 1 2   \n"), "an atom of 3 columns"},
    {KIT_FILE("a.xyz", "1\ncomment\nAl 1 2 3\nNi 4 5 6\n"), "'Ni' where a frame's count of atoms is expected"},
    {KIT_FILE("a.xyz", "1\n\nAl 1 2 3\n1\n\n1 2 3\n"), "frame 2 has other columns than the first"},
    {KIT_FILE("a.xyz", "1\nProperties=pos:R\n1 2 3\n"), "Properties is not a list of name:type:columns"},
    {KIT_FILE("a.xyz", "1\nProperties=pos:R:3:pos:R:3\n1 2 3\n"), "a second property 'pos'"},
    {KIT_FILE("a.xyz", "1\nProperties=pos:R:3:a:R:999\n1 2 3\n"), "property 'a' has 999 columns"},
    {KIT_FILE("a.xyz", "1\nProperties=pos:R:2\n1 2 3\n"), "there is no column 'x'"},
    {KIT_FILE("a.xyz", "1\nProperties=id:I:1:pos:R:3\n1 2 3\n"), "3 columns where there were 4 before"},
    {KIT_FILE("a.obj", "# nothing\nf 1 2 3\n"), "a.obj: there is no vertex"},
    {KIT_FILE("a.obj", "v 1 2\n"), "a.obj:1: a vertex of 2 numbers; three are needed"},
    {KIT_FILE("a.obj", "v 1 2 c\n"), "'c' is not a number"},
    {KIT_FILE("a.obj", "v 1 2 \\\n3\n"), "continues on the next line is not supported"},
    {KIT_FILE("a.obj", "v 1 2 3\n1 2 3\n"), "a.obj:2: unknown OBJ keyword '1'"},
    {KIT_FILE("a.stl", "solid a\n"), "the solid does not end"},
    {KIT_FILE("a.stl", "solid a\nendsolid\nendsolid\n"), "endsolid where the other one is expected"},
    {KIT_FILE("a.stl", "solid a\nendsolid\nvertex 1 2 3\n"), "a.stl:3: 'vertex' outside a solid"},
    {KIT_FILE("a.stl", "solid a\nvertex 1 2 3\nendfacet\n"), "a facet of 1 vertices; three are needed"},
    {KIT_FILE("a.stl", "solid a\nvertex 1 2\n"), "a vertex of 2 numbers"},
    {KIT_FILE("a.stl", "solid a\nvertex 1 2 q\n"), "'q' is not a number"},
    {KIT_FILE("a.stl", "solid a\nsphere\n"), "unknown STL keyword 'sphere'"},
};

#define EIGHTY "12345678901234567890123456789012345678901234567890123456789012345678901234567890"
static const refusal BINARY_FILES[] = {
    {KIT_FILE("a.stl", "abc"), "3 bytes; neither text nor a whole header of 84 bytes"},
    {KIT_FILE("a.stl", EIGHTY "\1\0\0\0" TWENTY), "1 triangles at byte 80 make a file of 134 bytes, this one has 104"},
    /* 84 + 50 * 0x51eb851f is 82 in 32 bits */
    {KIT_FILE("a.stl", EIGHTY "\037\205\353\121" TWENTY TWENTY), "1374389535 triangles at byte 80"},
    {KIT_FILE("a.pos", TEN), "a.pos: byte 0: 10 bytes after the last ion; an ion has 16"},
    {KIT_FILE("a.epos", TWENTY TWENTY TWENTY), "byte 44: 16 bytes after the last ion; an ion has 44"},
    {KIT_FILE("a.pos", "\177\300\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "a.pos: byte 0: x is NaN"},
    {KIT_FILE("a.pos", "\0\0\0\0\0\0\0\0\377\200\0\0\0\0\0\0"), "a.pos: byte 0: z is infinite"},
    {KIT_FILE("a.npy", "\223NUMPY\1\0\377\377{"), "byte 8: a header of 65535 bytes in a file of 11"},
    {KIT_FILE("a.npy", "\223NUMPY\1\0\116\0{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, "
                       "4294967296)}   "),
     "larger than any memory"},
    {KIT_FILE("a.npy", "\223NUMPY\1\0\071\0{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" TEN),
     "a vector; a cloud is"},
    {KIT_FILE("a.npy", "\223NUMPY\1\0\072\0{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1)} " TWENTY),
     "three rows: transposed"},
    {KIT_FILE("a.npy", "\223NUMPY\1\0\072\0{'descr': '|u1', 'fortran_order': False, 'shape': (3, 70)}" TWENTY TWENTY
                           TWENTY TWENTY TWENTY TWENTY TWENTY TWENTY TWENTY TWENTY TEN),
     "three rows: transposed"},
    {KIT_FILE("a.npy", "\223NUMPY\1\0\072\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)} " TWENTY),
     "a matrix of less than three columns"},
    {KIT_FILE("a.npy", "\223NUMPY\1\0\072\0{'descr': '<c8', 'fortran_order': False, 'shape': (0, 3)} "),
     "complex elements"},
    {KIT_FILE("a.npy", "\357\277\275NUMPY"), "no NPY file"},
    {KIT_FILE("a.xyz", ""), "a.xyz: the file is empty"},
    {KIT_FILE("a.pos", ""), "the file is empty"},
    {KIT_FILE("a.docx", "PK"), "a.docx: unknown file format; supported are ply, pcd"},
    {KIT_FILE("ply", "1 2 3"), "unknown file format"},
};

static void refuse_all(const refusal *list, size_t count) {
    atn_ctx *ctx = kit_ctx();
    atn_cloud *none;
    for (size_t k = 0; k < count; ++k) {
        const kit_file *f = &list[k].file;
        kit_fails(ctx, ATN_ERR_INPUT, list[k].sentence,
                  atn_cloud_read_bytes(ctx, f->name, f->bytes, f->length, NULL, &none));
        assert_null(none);
    }
    kit_free(ctx);
}

#define REFUSE(name, list)                                                                                             \
    static void name(void **state) {                                                                                   \
        (void)state;                                                                                                   \
        refuse_all(list, sizeof(list) / sizeof *(list));                                                               \
    }
REFUSE(wrong_ply, PLY_FILES)
REFUSE(wrong_pcd, PCD_FILES)
REFUSE(wrong_text, TEXT_FILES)
REFUSE(wrong_binary, BINARY_FILES)

KIT_TEST(says_what_converts) {
    static const struct {
        const char *name, *sentence;
    } cases[] = {{"a.laz", "pdal translate IN.laz OUT.las"},
                 {"a.e57", "E57 is not read; CloudCompare opens it"},
                 {"a.rrng", "ranges of masses, no points"}};
    atn_ctx *ctx = kit_ctx();
    atn_cloud *none;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        kit_fails(ctx, ATN_ERR_UNSUPPORTED, cases[k].sentence,
                  atn_cloud_read_bytes(ctx, cases[k].name, "xyz", 3, NULL, &none));
    kit_free(ctx);
}

KIT_TEST(no_file_at_all) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    atn_cloud *none;
    kit_fails(ctx, ATN_ERR_INPUT, "is a directory", atn_cloud_read(ctx, dir, NULL, &none));
    snprintf(path, sizeof path, "%s/pipe.ply", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    kit_fails(ctx, ATN_ERR_INPUT, "is not a regular file", atn_cloud_read(ctx, path, NULL, &none));
    snprintf(path, sizeof path, "%s/none.ply", dir);
    kit_fails(ctx, ATN_ERR_IO, "No such file", atn_cloud_read(ctx, path, NULL, &none));
    close(open(path, O_CREAT | O_WRONLY, 0600));
    kit_fails(ctx, ATN_ERR_INPUT, "the file is empty", atn_cloud_read(ctx, path, NULL, &none));
    kit_remove(dir);
    kit_free(ctx);
}

/* Larger than a piece: what was promised and is gone is noticed; lines may not be longer. */
KIT_TEST(shrinks_while_read) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512], *line;
    const char *bytes;
    source s;
    snprintf(path, sizeof path, "%s/a.pos", dir);
    int fd = open(path, O_CREAT | O_RDWR, 0600);
    assert_int_equal(ftruncate(fd, 3 * CLOUD_PIECE), 0);
    kit_ok(ctx, source_open(ctx, path, &s));
    kit_ok(ctx, source_take(&s, 16, &bytes));
    assert_int_equal(source_left(&s), 3 * CLOUD_PIECE - 16);
    assert_int_equal(ftruncate(fd, CLOUD_PIECE + 5), 0);
    kit_fails(ctx, ATN_ERR_IO, "it shrank while it was read", source_skip(&s, 2 * CLOUD_PIECE));
    source_close(&s);
    assert_int_equal(ftruncate(fd, 0), 0);
    char *blanks = malloc(2 * CLOUD_PIECE);
    memset(blanks, ' ', 2 * CLOUD_PIECE);
    assert_int_equal(write(fd, blanks, 2 * CLOUD_PIECE), 2 * CLOUD_PIECE);
    kit_ok(ctx, source_open(ctx, path, &s));
    kit_fails(ctx, ATN_ERR_INPUT, "a line of more than 1048576 bytes", source_line(&s, &line));
    kit_fails(ctx, ATN_ERR_INPUT, "a record of 1048577 bytes", source_take(&s, CLOUD_PIECE + 1, &bytes));
    source_close(&s);
    free(blanks);
    close(fd);
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_ply),          cmocka_unit_test(wrong_pcd),          cmocka_unit_test(wrong_text),
        cmocka_unit_test(wrong_binary),       cmocka_unit_test(says_what_converts), cmocka_unit_test(no_file_at_all),
        cmocka_unit_test(shrinks_while_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
