/* Small files of every format, and clouds held against each other. */
#include "cloudkit.h"

#include <string.h>

/* Zeros, and parts of an APT file: the header of two ions, and a section's up to its name and behind it. */
#define Z8                 "\0\0\0\0\0\0\0\0"
#define Z64                Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8
#define APT_HEADER         "APT\0\034\2\0\0\2\0\0\0" Z64 Z64 Z64 Z64 Z64 Z64 Z64 Z64 Z8 "\2\0\0\0\0\0\0\0"
#define APT_SECTION        "SEC\0\224\0\0\0\2\0\0\0"
#define APT_RECORDS(bytes) "\0\0\0\0\1\0\0\0\1\0\0\0\3\0\0\0 \0\0\0" bytes "\0\0\0" Z8 Z8 Z8 Z8 "\2\0\0\0\0\0\0\0"

#define PLY_HEADER(form)                                                                                               \
    "ply\n"                                                                                                            \
    "format " form " 1.0\n"                                                                                            \
    "comment of a test\n"                                                                                              \
    "element camera 1\n"                                                                                               \
    "property uchar id\n"                                                                                              \
    "element vertex 2\n"                                                                                               \
    "property uchar red\n"                                                                                             \
    "property short z2\n"                                                                                              \
    "property double y\n"                                                                                              \
    "property float x\n"                                                                                               \
    "property list uchar int near\n"                                                                                   \
    "property float z\n"                                                                                               \
    "element face 1\n"                                                                                                 \
    "property list uchar int vertex_indices\n"                                                                         \
    "end_header\n"

const kit_file KIT_FILES[] = {
    KIT_FILE("ascii.ply", PLY_HEADER("ascii") "7\n"
                                              "255 -1 2 1 0 3\n"
                                              "0 9 5 4 2 8 9 6.5\n"
                                              "3 0 1 1\n"),
    KIT_FILE("little.ply",
             PLY_HEADER("binary_little_endian") "\007\377\377\377\000\000\000\000\000\000\000@"
                                                "\000\000\200\077\000\000\000@@\377\377\377"
                                                "\000\000\000\000\000\000\024@\000\000\200@"
                                                "\002\010\000\000\000\011\000\000\000\000\000"
                                                "\320@\003\000\000\000\000\001\000\000\000\001\000\000\000"),
    KIT_FILE("big.ply",
             PLY_HEADER("binary_big_endian") "\007\377\377\377@\000\000\000\000\000\000\000\077\200\000\000\000@@"
                                             "\000\000\377\377\377"
                                             "@\024\000\000\000\000\000\000@"
                                             "\200\000\000\002\000\000\000\010\000\000\000\011@\320\000"
                                             "\000\003\000\000\000\000\000\000\000\001\000\000\000\001"),
    KIT_FILE("ascii.pcd", "# .PCD v0.7\n"
                          "VERSION 0.7\n"
                          "FIELDS x _ y z rgb\n"
                          "SIZE 4 1 8 4 4\n"
                          "TYPE F U F F U\n"
                          "COUNT 1 3 1 1 1\n"
                          "WIDTH 2\n"
                          "HEIGHT 1\n"
                          "VIEWPOINT 0 0 0 1 0 0 0\n"
                          "POINTS 2\n"
                          "DATA ascii\n"
                          "1 0 0 0 2 3 99\n"
                          "4 0 0 0 5 6.5 99\n"),
    KIT_FILE("binary.pcd", "# .PCD v0.7\n"
                           "VERSION 0.7\n"
                           "FIELDS x _ y z rgb\n"
                           "SIZE 4 1 8 4 4\n"
                           "TYPE F U F F U\n"
                           "COUNT 1 3 1 1 1\n"
                           "WIDTH 2\n"
                           "HEIGHT 1\n"
                           "VIEWPOINT 0 0 0 1 0 0 0\n"
                           "POINTS 2\n"
                           "DATA binary\n"
                           "\000\000\200\077\000\000\000\000\000\000\000\000\000\000@\000\000@@c\000\000\000\000\000"
                           "\200@\000\000\000\000\000\000\000\000\000\024@\000\000\320@c\000\000\000"),
    KIT_FILE("plain.xyz", "1 2 3\n"
                          "4 5 6.5\n"),
    KIT_FILE("table.csv", "\357\273\277\"x\",\"y\",\"z\",intensity\015\n"
                          "1,2,3,0.5\015\n"
                          "4, 5 ,6.5,1\015\n"),
    KIT_FILE("semicolon.txt", "# of a test\n"
                              "\n"
                              "1;2;3\n"
                              "4;5;6.5\n"),
    KIT_FILE("cloudcompare.asc", "//Z Y X\n"
                                 "3\0112\0111\n"
                                 "6.5\0115\0114\n"),
    KIT_FILE("frames.xyz", "1\n"
                           "first\n"
                           "Al 1 2 3\n"
                           "1\n"
                           "second\n"
                           "Ni 4 5 6.5\n"),
    KIT_FILE("extended.xyz", "2\n"
                             "Lattice=\"1 0 0 0 1 0 0 0 1\" Properties=species:S:1:id:I:1:pos:R:3 Time=0\n"
                             "Al 7 1 2 3\n"
                             "Xx 8 4 5 6.5\n"),
    KIT_FILE("mesh.obj", "# of a test\n"
                         "mtllib a.mtl\n"
                         "v 1 2 3\n"
                         "v 4 5 6.5 0.1 0.2 0.3\n"
                         "vn 0 0 1\n"
                         "f 1 \\\n"
                         " 2 1\n"),
    KIT_FILE("pos.pos", "\077\200\000\000@\000\000\000@@\000\000A\330\000\000@\200\000\000@\240\000\000@\320\000"
                        "\000A\330\000\000"),
    KIT_FILE("e.epos", "\077\200\000\000@\000\000\000@@\000\000A\330\000\000\000\000\000\000\000\000\000\000\000"
                       "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\001\000\000\000\002@\200\000"
                       "\000@\240\000\000@\320\000\000A\330\000\000\000\000\000\000\000\000\000\000\000\000\000"
                       "\000\000\000\000\000\000\000\000\000\000\000\000\001\000\000\000\002"),
    KIT_FILE("ions.apt", APT_HEADER APT_SECTION "M\0a\0s\0s\0" Z8 Z8 Z8 Z8 Z8 Z8 Z8 APT_RECORDS(
                             "\4") "\010\0\0\0\0\0\0\0"
                                   "\0\0\330A\0\0\330A" APT_SECTION "P\0o\0s\0i\0t\0i\0o\0n\0" Z8 Z8 Z8 Z8 Z8 Z8
                                       APT_RECORDS("\14") "\030\0\0\0\0\0\0\0"
                                                          "\0\0\200\077\0\0\0@\0\0@@\0\0\200@\0\0\240@\0\0\320@"),
    KIT_FILE("fortran.npy", "\223NUMPY\001\000;\000{'descr': '<f8', 'fortran_order': True, 'shape': (2, 4), }\n"
                            "\000\000\000\000\000\000\360\077\000\000\000\000\000\000\020@\000\000\000\000\000\000"
                            "\000@\000\000\000\000\000\000\024@\000\000\000\000\000\000\010@\000\000\000\000\000\000"
                            "\032@\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"),
    KIT_FILE("binary.stl", "solid but binary                                                                \002\000"
                           "\000\000\000\000\000\000\000\000\000\000\000\000\200\077\000\000\200\077\000\000\000@"
                           "\000\000@@\000\000\200@\000\000\240@\000\000\320@\000\000\200\277\000\000\000\000\000"
                           "\000\000\077\000\000\000\000\000\000\000\000\000\000\000\000\200\077\000\000\200\277\000"
                           "\000\000\000\000\000\000\077\000\000\200@\000\000\240@\000\000\320@\000\000\200\077\000"
                           "\000\000@\000\000@@\000\000"),
    KIT_FILE("text.stl", "solid a\n"
                         "facet normal 0 0 1\n"
                         " outer loop\n"
                         "  vertex 1 2 3\n"
                         "  vertex 4 5 6.5\n"
                         "  vertex -1 0 0.5\n"
                         " endloop\n"
                         "endfacet\n"
                         "facet normal 0 0 1\n"
                         " outer loop\n"
                         "  vertex -1 0 0.5\n"
                         "  vertex 4 5 6.5\n"
                         "  vertex 1 2 3\n"
                         " endloop\n"
                         "endfacet\n"
                         "endsolid a\n"),
#ifdef ATN_HAVE_LZF
    KIT_FILE("compressed.pcd", /* nothing but literals */
             "# .PCD v0.7\n"
             "VERSION 0.7\n"
             "FIELDS x _ y z rgb\n"
             "SIZE 4 1 8 4 4\n"
             "TYPE F U F F U\n"
             "COUNT 1 3 1 1 1\n"
             "WIDTH 2\n"
             "HEIGHT 1\n"
             "VIEWPOINT 0 0 0 1 0 0 0\n"
             "POINTS 2\n"
             "DATA binary_compressed\n"
             "0\000\000\000.\000\000\000\037\000\000\200\077\000\000\200@\000\000\000\000\000\000\000"
             "\000\000\000\000\000\000@\000\000\000\000\000\000\024@\000\000\015@@\000\000\320@\011"
             "\000\000\000\011\000\000\000"),
#endif
    KIT_FILE("colours.las",
             "LASF\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
             "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\343"
             "\0\343\0\0\0\0\0\0\0\2\32\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\340\77"
             "\0\0\0\0\0\0\340\77\0\0\0\0\0\0\340\77\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
             "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0"
             "\0\4\0\0\0\6\0\0\0\7\0\11\2\373\1M\0\1\0\2\0\3\0\10\0\0\0\12\0\0\0\15\0\0\0\11\0\11!\373\1M\0"
             "\377\377\0\0\4\0"),
    {0},
};

atn_cloud *cloud_of(atn_ctx *ctx, const kit_file *file, atn_cloud_invalid invalid) {
    atn_cloud *cloud;
    atn_cloud_settings options = {.invalid = invalid};
    atn_status status = atn_cloud_read_bytes(ctx, file->name, file->bytes, file->length, &options, &cloud);
    if (status != ATN_OK) fail_msg("%s: %s", file->name, atn_ctx_message(ctx));
    return cloud;
}

void cloud_same(const atn_cloud *a, const atn_cloud *b, unsigned roles) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->roles & roles, b->roles & roles);
    for (cloud_role k = 0; k < ROLE_COUNT; ++k)
        for (size_t at = 0; a->roles & roles & ROLE_BIT(k) && at < a->count; ++at)
            if (cloud_get(a, k, at) != cloud_get(b, k, at))
                fail_msg("role %d of point %zu: %.17g and %.17g", (int)k, at, cloud_get(a, k, at), cloud_get(b, k, at));
}

void cloud_walk(atn_status (*work)(atn_ctx *ctx, const void *given), const void *given) {
    atn_status status = ATN_ERR_MEMORY;
    for (long n = 1; status != ATN_OK; ++n) {
        kit_faults faults = {.fail_at = n};
        atn_ctx_settings options = kit_fault_options(&faults);
        atn_ctx *ctx;
        if (atn_ctx_create(&options, &ctx) != ATN_OK) continue; /* it was one of the context's own */
        status = work(ctx, given);
        if (status != ATN_OK && status != ATN_ERR_MEMORY) fail_msg("allocation %ld: %s", n, atn_ctx_message(ctx));
        atn_ctx_free(ctx);
        if (faults.live) fail_msg("allocation %ld: %ld blocks were not freed", n, (long)faults.live);
    }
}
