/* Properties that no method uses, and faces, travel from file to file. */
#include "cloudkit.h"

#include "cloud/extras.h"
#include "cloud/faces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                                           \
    "element vertex 4\nproperty float x\nproperty uchar red\nproperty float y\nproperty float z\n"                     \
    "property float nx\nproperty float ny\nproperty float nz\nproperty short label\nproperty double time\n"
static const kit_file TEXT = KIT_FILE("a.ply", "ply\nformat ascii 1.0\n" HEAD
                                               "element face 2\nproperty list uchar int vertex_indices\nend_header\n"
                                               "0 255 0 0 0 0 1 -1 0.1\n1 0 0 0 0 0 1 2 1e300\n"
                                               "1 7 1 0 1 0 0 -300 -5\n0 8 1 0.5 0 1 0 4 0.25\n"
                                               "4 0 1 2 3\n3 3 1 0\n");

static const char *const NAMES[] = {"red", "label", "time"};
static const double VALUES[3][4] = {{255, 0, 7, 8}, {-1, 2, -300, 4}, {0.1, 1e300, -5, 0.25}};

static void has_values(const atn_cloud *cloud, const char *where) {
    if (cloud->extra.count != 3) fail_msg("%s: %zu properties: %s", where, cloud->extra.count, cloud->extra.names);
    for (size_t k = 0; k < 3; ++k) {
        assert_string_equal(cloud->extra.field[k].name, NAMES[k]);
        for (size_t p = 0; p < 4; ++p)
            if (cloud_extras_get(&cloud->extra, k, 0, p) != VALUES[k][p])
                fail_msg("%s: %s of point %zu is %g", where, NAMES[k], p, cloud_extras_get(&cloud->extra, k, 0, p));
    }
}

static void has_faces(const atn_cloud *cloud) {
    static const uint32_t corner[] = {0, 1, 2, 3, 3, 1, 0};
    assert_non_null(cloud->faces);
    assert_int_equal(cloud->faces->count, 2);
    assert_int_equal(cloud->faces->start[1], 4);
    assert_int_equal(cloud->faces->corners, 7);
    assert_memory_equal(cloud->faces->corner, corner, sizeof corner);
}

KIT_TEST(come_back) {
    static const char *const endings[] = {"ply", "pcd", "xyz", "csv"};
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512], lost[256];
    atn_cloud *a = cloud_of(ctx, &TEXT, ATN_INVALID_REFUSE), *b;
    has_values(a, "text");
    has_faces(a);
    assert_int_equal(atn_cloud_info_of(a).faces, 2);
    for (size_t k = 0; k < 4; ++k) {
        snprintf(path, sizeof path, "%s/b.%s", dir, endings[k]);
        kit_ok(ctx, atn_cloud_write(a, path));
        atn_cloud_not_written(a, path, lost, sizeof lost);
        assert_string_equal(lost, k ? "faces" : "");
        kit_ok(ctx, atn_cloud_read(ctx, path, NULL, &b));
        has_values(b, path);
        cloud_same(a, b, ROLE_POSITION | ROLE_NORMAL);
        if (k == 0) has_faces(b);
        if (k < 2) assert_int_equal(b->extra.field[1].type, NUMBER_I16);
        if (k > 1) assert_int_equal(b->extra.field[0].type, NUMBER_U8);
        atn_cloud_free(b);
    }
    atn_cloud_not_written(a, "c.npy", lost, sizeof lost);
    assert_string_equal(lost, "normals, red, label, time, faces");
    atn_cloud_free(a);
    kit_remove(dir);
    kit_free(ctx);
}

/* A quarter turn about z: normals with it, all else as it was. */
KIT_TEST(move_along) {
    static const double turn[16] = {0, -1, 0, 5, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    atn_ctx *ctx = kit_ctx();
    atn_cloud *a = cloud_of(ctx, &TEXT, ATN_INVALID_REFUSE), *b;
    kit_ok(ctx, atn_cloud_moved(a, turn, &b));
    has_values(b, "moved");
    has_faces(b);
    assert_true(cloud_get(b, ROLE_NX, 3) == -1 && cloud_get(b, ROLE_NY, 2) == 1 && cloud_get(b, ROLE_NZ, 0) == 1);
    assert_true(cloud_get(b, ROLE_X, 2) == 4 && cloud_get(b, ROLE_Y, 2) == 1);
    atn_cloud_free(a), atn_cloud_free(b);
    kit_free(ctx);
}

KIT_TEST(are_left_out_when_asked) {
    atn_ctx *ctx = kit_ctx();
    atn_cloud *a;
    atn_cloud_settings options = {.no_properties = true};
    kit_ok(ctx, atn_cloud_read_bytes(ctx, TEXT.name, TEXT.bytes, TEXT.length, &options, &a));
    assert_string_equal(atn_cloud_info_of(a).left_out, "red, label, time");
    assert_string_equal(atn_cloud_info_of(a).properties, "");
    assert_int_equal(atn_cloud_info_of(a).faces, 0);
    atn_cloud_free(a);
    kit_free(ctx);
}

/* Point 1 is dropped: its faces go, the others name the points that are left. */
KIT_TEST(faces_follow_points) {
    static const kit_file files[] = {
        KIT_FILE("a.obj", "v 0 0 0\nv nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\nf -1 -2 -4\n"),
        KIT_FILE("b.ply", "ply\nformat ascii 1.0\nelement face 3\nproperty list uchar int vertex_index\n"
                          "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
                          "3 0 1 2\n3 0 2 3\n3 3 2 0\n0 0 0\nnan 0 0\n1 0 0\n0 1 0\n"),
    };
    static const uint32_t corner[] = {0, 1, 2, 2, 1, 0};
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < 2; ++k) {
        atn_cloud *a = cloud_of(ctx, &files[k], ATN_INVALID_DROP);
        assert_int_equal(a->count, 3);
        assert_int_equal(a->faces->count, 2);
        assert_memory_equal(a->faces->corner, corner, sizeof corner);
        atn_cloud_free(a);
    }
    static const kit_file wrong = KIT_FILE("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 7\n");
    atn_cloud *a = cloud_of(ctx, &wrong, ATN_INVALID_REFUSE);
    assert_null(a->faces);
    assert_string_equal(atn_cloud_info_of(a).left_out, "faces, which name vertices that are not there");
    atn_cloud_free(a);
    kit_free(ctx);
}

KIT_TEST(text_of_words) {
    static const kit_file file = KIT_FILE("a.csv", "x,y,z,\"my label\",kind,n\n1,2,3,1.5,tree,4\n4,5,6,2,7,300\n");
    atn_ctx *ctx = kit_ctx();
    atn_cloud *a = cloud_of(ctx, &file, ATN_INVALID_REFUSE);
    assert_string_equal(atn_cloud_info_of(a).properties, "my label, n");
    assert_string_equal(atn_cloud_info_of(a).left_out, "kind");
    assert_int_equal(a->extra.field[0].type, NUMBER_F64);
    assert_int_equal(a->extra.field[1].type, NUMBER_U16);
    assert_true(cloud_extras_get(&a->extra, 1, 0, 1) == 300);
    atn_cloud_free(a);
    static const kit_file frames = KIT_FILE("a.xyz", "1\nProperties=pos:R:3:force:R:2:id:I:1\n1 2 3 0.5 0.25 9\n"
                                                     "1\nProperties=id:I:1:pos:R:3:force:R:2\n8 1 2 3 -1 -2\n");
    a = cloud_of(ctx, &frames, ATN_INVALID_REFUSE);
    assert_string_equal(atn_cloud_info_of(a).properties, "force, id");
    assert_true(cloud_extras_get(&a->extra, 0, 1, 1) == -2 && cloud_extras_get(&a->extra, 1, 0, 1) == 8);
    atn_cloud_free(a);
    kit_free(ctx);
}

/* Files of many pieces, read by all cores, against the numbers that were written; of one that is invalid the place is
 * said, or it goes. */
KIT_TEST(many_records) {
    enum { POINTS = 70000, BAD = 51234 };
    static const char *const endings[] = {"ply", "pcd", "npy"};
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    double *positions = malloc(POINTS * 3 * sizeof *positions);
    assert_non_null(positions);
    for (size_t k = 0; k < POINTS * 3; ++k) positions[k] = (double)(k * 7919 % 104729) / 1024;
    atn_cloud *a, *b;
    kit_ok(ctx, atn_cloud_create(ctx, POINTS, positions, NULL, &a));
    for (size_t k = 0; k < 3; ++k)
        for (int bad = 0; bad < 2; ++bad) {
            double *x = (double *)a->column[ROLE_X] + BAD, kept = *x;
            if (bad) *x = NAN;
            snprintf(path, sizeof path, "%s/a.%s", dir, endings[k]);
            kit_ok(ctx, atn_cloud_write(a, path));
            *x = kept;
            if (bad) {
                kit_fails(ctx, ATN_ERR_INPUT, "x is NaN; a point needs", atn_cloud_read(ctx, path, NULL, &b));
                atn_cloud_settings drop = {.invalid = ATN_INVALID_DROP};
                kit_ok(ctx, atn_cloud_read(ctx, path, &drop, &b));
                assert_int_equal(b->count, POINTS - 1);
                assert_int_equal(b->nan, 1);
                assert_true(cloud_get(b, ROLE_Z, BAD) == cloud_get(a, ROLE_Z, BAD + 1));
            } else {
                kit_ok(ctx, atn_cloud_read(ctx, path, NULL, &b));
                cloud_same(a, b, ROLE_POSITION);
            }
            atn_cloud_free(b);
        }
    atn_cloud_free(a);
    free(positions);
    kit_remove(dir);
    kit_free(ctx);
}

/* Voxels keep the properties of the point nearest to the mean. */
KIT_TEST(voxels_blend_no_labels) {
    static const kit_file file = KIT_FILE("a.csv", "x,y,z,label\n0.1,0,0,1\n0.2,0,0,5\n0.4,0,0,2\n1.5,0,0,9\n");
    atn_ctx *ctx = kit_ctx();
    atn_cloud *a = cloud_of(ctx, &file, ATN_INVALID_REFUSE), *b;
    kit_ok(ctx, atn_cloud_voxels(a, 1, &b));
    assert_int_equal(b->count, 2);
    for (size_t k = 0; k < 2; ++k)
        assert_true(cloud_extras_get(&b->extra, 0, 0, k) == (cloud_get(b, ROLE_X, k) < 1 ? 5 : 9));
    atn_cloud_free(a), atn_cloud_free(b);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(come_back),
        cmocka_unit_test(move_along),
        cmocka_unit_test(are_left_out_when_asked),
        cmocka_unit_test(faces_follow_points),
        cmocka_unit_test(text_of_words),
        cmocka_unit_test(many_records),
        cmocka_unit_test(voxels_blend_no_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
