/* attune convert: steps and formats, what it refuses; and what attune register keeps of the source's properties. */
#include "clikit.h"

#include "base/file.h"
#include "base/memory.h"

#include <attune/cloud.h>

#include <math.h>
#include <string.h>

static int begin(void **state) {
    cli_begin(state);
    cli_put("a.csv", "x,y,z,red,label\n0,0,0,255,1\n1,0,0,128,2\n0,1,0,0,3\n0,0,1,7,4\n0.25,0.25,0.25,9,5\n");
    cli_put("b.csv", "x,y,z,red\n5,5,5,1\n");
    cli_put("bad.csv", "x,y,z\n1,2,nan\n");
    cli_put("more.csv", "x,y,z\n1,2,3\n");
    cli_put("turn.txt", "0 -1 0 0\n1 0 0 0\n0 0 1 2\n0 0 0 1\n");
    cli_put("flat.txt", "1 0 0 0\n0 1 0 0\n1 1 0 0\n0 0 0 1\n");
    cli_put("mesh.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    cli_does("sample scans -o @/scans --size 1500 --turn 8 --overlap 0.95 --seed 4", "source.ply");
    return 0;
}

KIT_TEST(what_it_refuses) {
    static const cli_refusal CASES[] = {
        {"convert @/a.csv", 2, "IN... OUT"},
        {"convert @/a.csv @/x.stl", 2, "points cannot be written to"},
        {"convert @/a.csv @/x.ply --voxel 0", 2, "--voxel cannot be '0'; it takes an edge above 0, or auto"},
        {"convert @/a.csv @/x.ply --crop 1,2,3", 2, "--crop cannot be '1,2,3'; it takes six numbers"},
        {"convert @/a.csv @/x.ply --crop 1,0,0,0,1,1", 2, "the lower corner first"},
        {"convert @/a.csv @/x.ply --outliers 0.5", 2, "--outliers cannot be '0.5'"},
        {"convert @/a.csv @/x.ply --normals 2", 2, "--normals cannot be '2'"},
        {"convert @/a.csv @/x.ply --viewpoint 1,2,3", 2, "--viewpoint needs --normals"},
        {"convert @/a.csv @/x.ply --transform @/nowhere.txt", 1, "nowhere.txt"},
        {"convert @/a.csv @/x.ply --transform @/flat.txt", 1, "flat.txt: the transform is singular"},
        {"convert @/nowhere.ply @/x.ply", 1, "nowhere.ply"},
        {"convert @/bad.csv @/x.ply", 1, "z is NaN"},
        {"convert @/a.csv @/x.ply --crop 8,8,8,9,9,9", 1, "no points are left"},
        {"convert @/a.csv @/no/such/x.ply", 1, "x.ply"},
        {"register @/a.csv @/b.csv --voxel many", 2, "--voxel cannot be 'many'"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

static atn_cloud *get(const char *name) {
    char path[512];
    atn_cloud *cloud;
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_cloud_read(cli_ctx, path, NULL, &cloud));
    return cloud;
}

KIT_TEST(steps_in_their_order) {
    json_t *root = cli_object("convert @/a.csv @/out.ply --crop 0,0,0,1,1,0.5 --voxel 0.5 --normals 4 "
                              "--transform @/turn.txt --json");
    assert_int_equal(json_integer_value(json_object_get(root, "read")), 5);
    assert_int_equal(json_integer_value(json_object_get(root, "points")), 3); /* two of them share a cube */
    assert_int_equal(json_array_size(json_object_get(root, "steps")), 4);
    json_decref(root);
    atn_cloud *out = get("out.ply");
    atn_cloud_info info = atn_cloud_info_of(out);
    assert_true(info.normals && !info.weights && info.low[2] == 2 && info.low[0] == -1);
    assert_string_equal(info.properties, "red, label");
    atn_cloud_free(out);
}

KIT_TEST(several_are_merged) {
    cli_result r = cli_run("convert @/a.csv @/b.csv @/both.ply");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "both.ply: dropped, not in this format or not read: label\n"));
    cli_drop(&r);
    atn_cloud *both = get("both.ply");
    assert_int_equal(atn_cloud_info_of(both).points, 6);
    assert_string_equal(atn_cloud_info_of(both).properties, "red");
    atn_cloud_free(both);
}

KIT_TEST(meshes_and_formats) {
    cli_does("convert @/mesh.obj @/mesh.ply --transform @/turn.txt", "4 points");
    atn_cloud *mesh = get("mesh.ply");
    assert_int_equal(atn_cloud_info_of(mesh).faces, 1);
    atn_cloud_free(mesh);
    cli_result r = cli_run("convert @/mesh.ply @/mesh.npy");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "dropped, not in this format or not read: faces\n"));
    cli_drop(&r);
    cli_does("convert @/scans/source.ply @/points.vtp", "1500 points");
    cli_refuses("info @/points.vtp", 1, "VTK files are written, not read");
    char *text;
    size_t length;
    char path[512];
    snprintf(path, sizeof path, "%s/points.vtp", cli_dir);
    kit_ok(cli_ctx, atn_file_read(cli_ctx, path, 1 << 22, &text, &length));
    kit_contains(text, "NumberOfPoints=\"1500\" NumberOfVerts=\"1500\"");
    const char *points = strstr(text, "format=\"binary\">\n") + 17;
    assert_int_equal(strcspn(points, "\n"), (8 + 24 * 1500 + 2) / 3 * 4); /* a length and the doubles */
    atn_free(cli_ctx, text);
    cli_does("convert @/bad.csv @/more.csv @/good.pcd --drop-invalid", "1 of them invalid");
}

/* A point far from 400 others goes, and none of them. */
KIT_TEST(outliers_go) {
    char text[8192];
    size_t at = 0;
    for (int k = 0; k < 400; ++k) at += (size_t)snprintf(text + at, sizeof text - at, "%d %d 0\n", k % 20, k / 20);
    snprintf(text + at, sizeof text - at, "9 9 30\n");
    cli_put("flat.xyz", text);
    cli_does("convert @/flat.xyz @/clean.xyz --outliers 8,3", "outliers   400 points");
}

/* The source's columns come out of register -o, with all points though voxels were registered. */
KIT_TEST(register_keeps_properties) {
    cli_does("convert @/scans/source.ply @/s.ply --normals auto", "1500 points");
    atn_cloud *plain = get("s.ply"), *moved;
    cli_result r = cli_run("register @/s.ply @/scans/target.ply -o @/moved.xyz --voxel auto --device host --json");
    assert_int_equal(r.code, 0);
    json_t *root = json_loads(r.out, 0, NULL);
    json_t *source = json_object_get(root, "source");
    assert_int_equal(json_integer_value(json_object_get(source, "points")), 1500);
    assert_true(json_integer_value(json_object_get(source, "used")) < 1500);
    assert_true(json_real_value(json_object_get(root, "voxel")) > 0);
    double turn[9];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            turn[3 * i + j] = json_number_value(
                json_array_get(json_array_get(json_object_get(root, "transform"), (size_t)i), (size_t)j));
    json_decref(root);
    cli_drop(&r);
    moved = get("moved.xyz");
    assert_int_equal(atn_cloud_info_of(moved).points, 1500);
    for (size_t k = 0; k < 1500; k += 100)
        for (int i = 0; i < 3; ++i) {
            double wanted = 0;
            for (int j = 0; j < 3; ++j) wanted += turn[3 * i + j] * (double)atn_cloud_normals(plain, j)[k];
            assert_true(fabs(wanted - (double)atn_cloud_normals(moved, i)[k]) < 1e-5);
        }
    atn_cloud_free(plain), atn_cloud_free(moved);
}

/* One run whose n-th allocation fails: 1 and one sentence, nothing stays behind; true: there are less than n. */
static bool fails_well(const char *line, long n) {
    kit_faults faults = {.fail_at = n};
    atn_ctx_settings options = kit_fault_options(&faults);
    atn_ctx *before = cli_ctx;
    cli_result r = {.code = 1};
    cli_ctx = NULL;
    if (atn_ctx_create(&options, &cli_ctx) == ATN_OK) r = cli_run(line);
    atn_ctx_free(cli_ctx);
    cli_ctx = before;
    bool through = faults.count < n;
    if (faults.live != 0) fail_msg("%s: allocation %ld failed: %ld blocks stay behind", line, n, (long)faults.live);
    if (r.code != (through ? 0 : 1)) fail_msg("%s: allocation %ld failed: exit %d, %s", line, n, r.code, r.err);
    cli_drop(&r);
    return through;
}

/* Every allocation of conversions. */
KIT_TEST(memory_may_end) {
    static const struct {
        const char *line;
        long stride;
    } cases[] = {
        {"convert @/a.csv @/a.csv @/f.ply --crop 0,0,0,1,1,1 --voxel auto --normals 4 --transform @/turn.txt --json",
         1},
        {"convert @/mesh.obj @/f.las --outliers auto", 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        cli_result warm = cli_run(cases[k].line);
        assert_int_equal(warm.code, 0);
        cli_drop(&warm);
        for (long n = 1; !fails_well(cases[k].line, n); n += cases[k].stride) continue;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_refuses),    cmocka_unit_test(steps_in_their_order),
        cmocka_unit_test(several_are_merged), cmocka_unit_test(meshes_and_formats),
        cmocka_unit_test(outliers_go),        cmocka_unit_test(register_keeps_properties),
        cmocka_unit_test(memory_may_end),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
