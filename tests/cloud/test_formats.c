/* What is read from every format, and what comes back from those that are written. */
#include "cloudkit.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

KIT_TEST(reads_every_format) {
    static const double wanted[][3] = {{1, 2, 3}, {4, 5, 6.5}, {-1, 0, 0.5}};
    atn_ctx *ctx = kit_ctx();
    for (const kit_file *f = KIT_FILES; f->name; ++f) {
        atn_cloud *cloud = cloud_of(ctx, f, ATN_INVALID_REFUSE);
        bool mesh = strstr(f->name, ".stl") != NULL;
        if (cloud->count != 2 + (size_t)mesh) fail_msg("%s: %zu points", f->name, cloud->count);
        for (size_t k = 0; k < cloud->count; ++k)
            for (int d = 0; d < 3; ++d)
                if (atn_cloud_positions(cloud, d)[k] != wanted[k][d])
                    fail_msg("%s: point %zu: %g", f->name, k, atn_cloud_positions(cloud, d)[k]);
        atn_cloud_info info = atn_cloud_info_of(cloud);
        assert_true(info.high[2] == 6.5 && info.low[0] == (mesh ? -1 : 1));
        atn_cloud_free(cloud);
    }
    kit_free(ctx);
}

KIT_TEST(tells_what_there_is) {
    static const struct {
        const char *name, *format, *properties, *left_out;
        size_t frames;
        bool masses, species;
    } cases[] = {
        {"ascii.ply", "PLY, text", "red, z2", "near", 1, false, false},
        {"little.ply", "PLY, binary, little-endian", "red, z2", "near", 1, false, false},
        {"big.ply", "PLY, binary, big-endian", "red, z2", "near", 1, false, false},
        {"binary.pcd", "PCD, binary", "rgb", "", 1, false, false},
        {"table.csv", "XYZ", "intensity", "", 1, false, false},
        {"frames.xyz", "XYZ, 2 frames", "", "", 2, false, true},
        {"extended.xyz", "XYZ", "id", "", 1, false, true},
        {"mesh.obj", "OBJ", "", "what follows z, vn", 1, false, false},
        {"pos.pos", "POS", "", "", 1, true, false},
        {"ions.apt", "APT", "", "", 1, true, false},
        {"e.epos", "ePOS", "", "tof, V_dc, V_pulse, det_x, det_y, pulses, ions", 1, true, false},
        {"fortran.npy", "NPY", "column4", "", 1, false, false},
        {"binary.stl", "STL, binary, 2 triangles", "", "", 1, false, false},
        {"colours.las", "LAS 1.2, point format 2",
         "intensity, classification, red, green, blue, return_bits, scan_angle_rank, user_data, point_source_id", "", 1,
         false, false},
        {"text.stl", "STL, text, 2 triangles", "", "", 1, false, false},
    };
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const kit_file *f = KIT_FILES;
        while (strcmp(f->name, cases[k].name) != 0) ++f;
        atn_cloud *cloud = cloud_of(ctx, f, ATN_INVALID_REFUSE);
        atn_cloud_info info = atn_cloud_info_of(cloud);
        assert_string_equal(info.format, cases[k].format);
        assert_string_equal(info.properties, cases[k].properties);
        assert_string_equal(info.left_out, cases[k].left_out);
        assert_int_equal(info.frames, cases[k].frames);
        assert_int_equal(info.masses, cases[k].masses);
        assert_int_equal(info.species, cases[k].species);
        if (info.masses) assert_true(atn_cloud_masses(cloud)[1] == 27);
        if (info.species) assert_int_equal(atn_cloud_species(cloud)[0], 13);
        if (info.frames == 2) assert_int_equal(atn_cloud_frame(cloud, 1), 1);
        assert_int_equal(atn_cloud_frame(cloud, 0), 0);
        assert_int_equal(atn_cloud_frame(cloud, info.frames), info.points);
        assert_null(atn_cloud_normals(cloud, 0));
        assert_null(atn_cloud_weights(cloud));
        assert_null(atn_cloud_positions(cloud, 3));
        atn_cloud_free(cloud);
    }
    kit_free(ctx);
}

KIT_TEST(drops_what_is_invalid) {
    static const kit_file files[] = {
        KIT_FILE("a.xyz", "1 2 3\nnan 1 1\n4 5 6\n1 -inf 1\n1 inf nan\n1 1e999 1\n"),
        KIT_FILE("a.ply", "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\n"
                          "property float z\nend_header\n1 2 3\nnan 1 1\n4 5 6\n1 -inf 1\n1 inf nan\n1 1e999 1\n"),
    };
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < 2; ++k) {
        atn_cloud *cloud = cloud_of(ctx, &files[k], ATN_INVALID_DROP), *none;
        atn_cloud_info info = atn_cloud_info_of(cloud);
        assert_int_equal(info.points, 2);
        assert_int_equal(info.nan, 2);
        assert_int_equal(info.inf, 2);
        assert_true(info.high[0] == 4);
        atn_cloud_free(cloud);
        kit_fails(ctx, ATN_ERR_INPUT, k ? "a.ply:9: x is NaN; a point needs" : "a.xyz:2: x is NaN; a point needs",
                  atn_cloud_read_bytes(ctx, files[k].name, files[k].bytes, files[k].length, NULL, &none));
        assert_null(none);
    }
    kit_free(ctx);
}

/* Every role, with coordinates that are, or are not, floats. */
static atn_cloud *full_cloud(atn_ctx *ctx, bool single, bool species) {
    char text[2048];
    snprintf(text, sizeof text,
             "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\nproperty double y\nproperty double z\n"
             "property float nx\nproperty float ny\nproperty float nz\nproperty float weight\nproperty float mass\n"
             "%send_header\n"
             "%s -0 1e-30 0 0 1 0.1 27.25%s\n5 6 7 nan 0 1 1 2%s\n-1e-7 2 3 0.6 0.8 0 0.3 55.9%s\n",
             species ? "property int species\n" : "", single ? "0.5" : "3512345.123456789", species ? " 13" : "",
             species ? " 0" : "", species ? " 1000" : "");
    return cloud_of(ctx, &(kit_file){"full.ply", text, strlen(text)}, ATN_INVALID_REFUSE);
}

KIT_TEST(round_trips) {
    const unsigned all = (1u << ROLE_COUNT) - 1;
    static const struct {
        const char *ending;
        unsigned kept;
        bool single; /* keeps no more than that */
    } cases[] = {{"ply", all, false},
                 {"pcd", all, false},
                 {"xyz", all, false},
                 {"txt", all, false},
                 {"csv", all, false},
                 {"npy", ROLE_POSITION, false},
                 {"pos", ROLE_POSITION | ROLE_BIT(ROLE_MASS), true}};
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) print_message("    no locale with a comma here\n");
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        for (int turn = 0; turn < 4; ++turn) {
            bool single = turn & 1;
            atn_cloud *a = full_cloud(ctx, single, turn & 2), *b;
            snprintf(path, sizeof path, "%s/cloud.%s", dir, cases[k].ending);
            kit_ok(ctx, atn_cloud_write(a, path));
            kit_ok(ctx, atn_cloud_read(ctx, path, NULL, &b));
            for (cloud_role d = 0; cases[k].single && d < 3; ++d) /* what a float keeps of it */
                for (size_t at = 0; at < a->count; ++at) {
                    double *x = (double *)a->column[d] + at;
                    *x = (double)(float)*x;
                }
            cloud_same(a, b, cases[k].kept);
            assert_int_equal(b->roles & ~cases[k].kept, 0);
            atn_cloud_free(a), atn_cloud_free(b);
        }
    kit_remove(dir);
    kit_free(ctx);
    setlocale(LC_ALL, "C");
}

KIT_TEST(frames_come_back) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    static const kit_file files[] = {
        KIT_FILE("a.xyz", "2\n\n1 2 3\n4 5 6\n0\nnothing\n\n1\nx\n7 8 9\n"),
        KIT_FILE("b.xyz",
                 "1\nProperties=pos:R:3:normals:R:3:mass:R:1\n1 2 3 0 0 1 5\n1\nproperties=\"pos:R:3:normals:R:3:"
                 "mass:R:1\"\n4 5 6 0 1 0 6\n"),
    };
    for (size_t k = 0; k < 2; ++k) {
        atn_cloud *a = cloud_of(ctx, &files[k], ATN_INVALID_REFUSE), *b;
        snprintf(path, sizeof path, "%s/frames.xyz", dir);
        kit_ok(ctx, atn_cloud_write(a, path));
        kit_ok(ctx, atn_cloud_read(ctx, path, NULL, &b));
        cloud_same(a, b, ~0u);
        assert_int_equal(a->n_frames, 3 - k);
        assert_int_equal(b->n_frames, a->n_frames);
        assert_memory_equal(a->frame, b->frame, a->n_frames * sizeof *a->frame);
        atn_cloud_free(a), atn_cloud_free(b);
    }
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(made_in_memory) {
    static const double positions[] = {1, 2, 3, 4, 5, 6};
    static const float normals[] = {0, 0, 1, NAN, 0, 1};
    const double bad[] = {1, NAN, 3};
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    atn_cloud *cloud, *none;
    kit_ok(ctx, atn_cloud_create(ctx, 2, positions, normals, &cloud));
    assert_true(atn_cloud_positions(cloud, 1)[1] == 5);
    assert_true(atn_cloud_normals(cloud, 2)[0] == 1 && atn_cloud_normals(cloud, 2)[1] == 0); /* not known */
    kit_fails(ctx, ATN_ERR_INPUT, "point 0 has a coordinate", atn_cloud_create(ctx, 1, bad, NULL, &none));
    assert_null(none);
    snprintf(path, sizeof path, "%s/cloud.obj", dir);
    kit_fails(ctx, ATN_ERR_INPUT, "this format is only read; supported for writing are ply, pcd",
              atn_cloud_write(cloud, path));
    snprintf(path, sizeof path, "%s/cloud", dir);
    kit_fails(ctx, ATN_ERR_INPUT, "unknown extension; supported for writing are ply, pcd",
              atn_cloud_write(cloud, path));
    kit_fails(ctx, ATN_ERR_IO, "cannot be written", atn_cloud_write(cloud, "/nonexistent/a.ply"));
    atn_cloud_free(cloud);
    kit_ok(ctx, atn_cloud_create(ctx, 0, NULL, NULL, &cloud)); /* none at all is a cloud, too */
    static const char *const endings[] = {"ply", "pcd", "npy", "xyz"};
    for (size_t k = 0; k < 4; ++k) {
        snprintf(path, sizeof path, "%s/none.%s", dir, endings[k]);
        kit_ok(ctx, atn_cloud_write(cloud, path));
        kit_ok(ctx, atn_cloud_read(ctx, path, NULL, &none));
        assert_int_equal(atn_cloud_info_of(none).points, 0);
        atn_cloud_free(none);
    }
    kit_fails(ctx, ATN_ERR_INPUT, "cannot be written as POS", atn_cloud_write(cloud, "/nonexistent/a.pos"));
    atn_cloud_free(cloud);
    atn_cloud_free(NULL);
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_format),    cmocka_unit_test(tells_what_there_is),
        cmocka_unit_test(drops_what_is_invalid), cmocka_unit_test(round_trips),
        cmocka_unit_test(frames_come_back),      cmocka_unit_test(made_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
