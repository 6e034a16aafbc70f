/* attune needle as people call it: a model and a scan of it that is rolled and shifted, the forms, B-scans in a folder
 * and raw, what it refuses. */
#include "clikit.h"

#include "base/file.h"
#include "base/memory.h"
#include "sample/bevel.h"

#include <attune/cloud.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double ROLL_DEG = 1.4, SHIFT = 0.21;
enum { MODEL_POINTS = 20000, SCAN_POINTS = 3000 };

static void write_cloud(const char *name, size_t count, double least_y, double roll_deg, double shift) {
    bevel b = {.radius = 0.25, .length = 1.5, .angle_deg = 20};
    atn_random random;
    double *position = malloc(3 * count * sizeof *position), turn = roll_deg * 0.017453292519943295;
    char path[512];
    atn_cloud *cloud;
    atn_random_seed(&random, count);
    for (size_t k = 0; k < count; ++k) {
        double p[3], n[3];
        do bevel_point(&b, &random, p, n);
        while (n[1] < least_y);
        position[3 * k] = cos(turn) * p[0] - sin(turn) * p[1];
        position[3 * k + 1] = sin(turn) * p[0] + cos(turn) * p[1];
        position[3 * k + 2] = p[2] + shift;
    }
    kit_ok(cli_ctx, atn_cloud_create(cli_ctx, count, position, NULL, &cloud));
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_cloud_write(cloud, path));
    atn_cloud_free(cloud);
    free(position);
}

static double number(const json_t *root, const char *name) { return json_number_value(json_object_get(root, name)); }

KIT_TEST(is_found) {
    static const char *const FORMS[] = {"", "--brute", "--marginal", "--rounds 2", "--axis 0,0,2"};
    double matches[2];
    for (size_t k = 0; k < sizeof FORMS / sizeof *FORMS; ++k) {
        char line[200];
        snprintf(line, sizeof line, "needle @/model.ply @/scan.ply --device host --json %s", FORMS[k]);
        json_t *root = cli_object(line), *seconds = json_object_get(root, "seconds");
        assert_true(json_is_true(json_object_get(root, "found")));
        assert_true(json_is_true(json_object_get(root, "roll_observable")));
        assert_int_equal(json_array_size(json_object_get(root, "rounds")), k == 3 ? 2 : 4);
        assert_int_equal(json_array_size(json_object_get(root, "covariance")), 6);
        json_t *transform = json_object_get(root, "transform");
        double z = json_number_value(json_array_get(json_array_get(transform, 2), 3));
        double turn = json_number_value(json_array_get(json_array_get(transform, 1), 0)) / 0.017453292519943295;
        if (!(fabs(z - SHIFT) < 0.01 && fabs(turn - ROLL_DEG) < 1)) fail_msg("%s: z %g, roll %g", FORMS[k], z, turn);
        assert_true(number(seconds, "total") >= number(seconds, "match") && number(seconds, "match") > 0);
        if (k < 2) matches[k] = number(root, "matches");
        json_decref(root);
    }
    assert_true(matches[0] == matches[1] && matches[0] > 100);
    cli_does("needle @/model.ply @/scan.ply --device host --rounds 1", "round 1: roll");
}

KIT_TEST(refusals) {
    static const cli_refusal CASES[] = {
        {"needle @/model.ply", 2, "SCAN"},
        {"needle @/model.ply @/scan.ply --roll -5,5", 2, "it takes LO,HI,STEP"},
        {"needle @/model.ply @/scan.ply --roll -5,5,0", 2, "the step must be above 0"},
        {"needle @/model.ply @/scan.ply --shift 1,0,0.1", 2, "the interval is empty"},
        {"needle @/model.ply @/scan.ply --axis 1,0", 2, "it takes x,y,z"},
        {"needle @/model.ply @/scan.ply --axis 1,0,0 --device host", 1, "no z component"},
        {"needle @/model.ply @/scan.ply --rounds 99", 2, "cannot be above 16"},
        {"needle @/model.ply @/scan.ply --count both", 2, "count"},
        {"needle @/model.ply @/scan.ply --threshold 0", 2, "threshold"},
        {"needle @/model.ply @/nowhere.ply --device host", 1, "nowhere.ply"},
        {"needle @/nowhere.stl @/scan.ply --device host", 1, "nowhere.stl"},
        {"needle @/model.ply @/model.ply/ --device host", 1, "model.ply"},
        {"needle @/model.ply @ --device host", 1, "without scans"},
        {"needle @/model.ply @/raw --shape 2x8 --device host", 2, "it takes SCANSxROWSxCOLUMNS"},
        {"needle @/model.ply @/raw --shape 0x8x8 --device host", 2, "it takes SCANSxROWSxCOLUMNS"},
        {"needle @/model.ply @/raw --shape 2x8x8 --spacing 0.1,0.1 --device host", 2, "it takes DX,DY,DZ above 0"},
        {"needle @/model.ply @/raw --shape 2x8x8 --spacing 0.1,0.1,0 --device host", 2, "it takes DX,DY,DZ above 0"},
        {"needle @/model.ply @/raw --shape 2x8x8 --level 1 --device host", 2, "--level must be below 1"},
        {"needle @/model.ply @/raw --shape 2x8x8 --level -1 --device host", 2, "--level"},
        {"needle @/model.ply @/raw --shape 2x8x8 --device host", 1, "raw"},
        {"needle @/model.ply @/scan.ply --roll -5,5,1e-3 --shift 0,1,1e-3 --device host", 1, "larger steps"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
    write_cloud("far.ply", 500, 0.2, 0, 40);
    cli_result r = cli_run("needle @/model.ply @/far.ply --device host --json"); /* printed all the same */
    assert_int_equal(r.code, 1);
    kit_contains(r.err, "not found: only 0 of");
    kit_contains(r.out, "\"found\": false");
    cli_drop(&r);
}

/* ---- B-scans ---- */

KIT_TEST(raw_scans) {
    char path[512];
    static const char DARK[10 * 64 * 64];
    snprintf(path, sizeof path, "%s/dark.raw", cli_dir);
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path, DARK, sizeof DARK));
    cli_refuses("needle @/model.ply @/dark.raw --shape 10x64x64 --device host", 1,
                "the spacing of the pixels is unknown");
    cli_refuses("needle @/model.ply @/dark.raw --shape 10x64x65 --device host", 1, "dark.raw");
    cli_refuses("needle @/model.ply @/dark.raw --shape 10x64x64 --spacing 40,40,300 --device host", 1, "another unit");
    cli_result r =
        cli_run("needle @/model.ply @/dark.raw --shape 10x64x64 --spacing 0.04,0.04,0.3 --device host --json");
    assert_int_equal(r.code, 1);
    kit_contains(r.err, "not found: no needle is in the scans");
    kit_contains(r.out, "\"transform\": null");
    kit_contains(r.out, "\"tip\": null");
    cli_drop(&r);
    r = cli_run("needle @/model.ply @/dark.raw --shape 10x64x64 --spacing 0.04,0.04,0.3 --device host");
    assert_int_equal(r.code, 1);
    kit_contains(r.out, "not found");
    assert_null(strstr(r.out, "0.00000000")); /* no matrix where there is no pose */
    cli_drop(&r);
}

#ifdef ATN_HAVE_PNG
static double tip_of(const json_t *root, const char *name, size_t axis) {
    return json_number_value(json_array_get(json_object_get(root, name), axis));
}

KIT_TEST(folders_of_scans) {
    static const char *const FORMS[] = {"", "--level 0.3", "--spacing 0.010546875,0.0046875,0.046875", "--rounds 2"};
    json_t *truth = cli_object("sample needle -o @/n --size 64x512x256 --seed 3 --json");
    for (size_t k = 0; k < sizeof FORMS / sizeof *FORMS; ++k) {
        char line[200];
        double square = 0;
        snprintf(line, sizeof line, "needle @/n/model.stl @/n/scan --device host --json %s", FORMS[k]);
        json_t *root = cli_object(line);
        for (size_t axis = 0; axis < 3; ++axis)
            square += pow(tip_of(root, "tip", axis) - tip_of(truth, "tip_scan", axis), 2);
        if (!(sqrt(square) < 0.07)) fail_msg("%s: the tip is off by %g", FORMS[k], sqrt(square));
        assert_true(number(root, "centres") > 10 && number(root, "level") > 0 && number(root, "surface_points") > 500);
        assert_true(number(root, "free_share") < 0.02 && number(json_object_get(root, "seconds"), "segment") > 0);
        json_decref(root);
    }
    json_decref(truth);
    cli_does("needle @/n/model.stl @/n/scan --device host", " mm\nround 1: roll ");
    cli_refuses("needle @/n/model.stl @/n/scan --device host --spacing 10,4,46", 1, "another unit");
    json_decref(cli_object("sample needle -o @/other --size 8x64x32 --json"));
    char from[512], to[512], *bytes;
    size_t length;
    snprintf(from, sizeof from, "%s/other/scan/0000.png", cli_dir);
    snprintf(to, sizeof to, "%s/n/scan/0007.png", cli_dir);
    kit_ok(cli_ctx, atn_file_read(cli_ctx, from, 1 << 20, &bytes, &length));
    kit_ok(cli_ctx, atn_file_write(cli_ctx, to, bytes, length));
    atn_free(cli_ctx, bytes);
    cli_refuses("needle @/n/model.stl @/n/scan --device host", 1, "0007.png");
}
#endif

KIT_TEST(bench_has_rows) {
    json_t *root = cli_object("bench needle --quick --device host --json"), *rows = json_object_get(root, "rows");
    size_t count = json_array_size(rows);
    double whole = number(json_array_get(rows, 0), "ours"), parts = 0;
    assert_int_equal(count, 12); /* the whole chain, its nine parts, and two ways of counting */
    for (size_t k = 1; k < 10; ++k) parts += number(json_array_get(rows, k), "ours");
    assert_true(whole > 0 && parts > 0);
    assert_true(strstr(json_string_value(json_object_get(json_array_get(rows, 9), "name")), "refinement"));
    for (size_t k = 10; k < 12; ++k) assert_true(number(json_array_get(rows, k), "reference") > 0);
    json_decref(root);
    cli_refuses("bench needle a.ply", 2, "takes no files");
}

static int setup(void **state) {
    cli_begin(state);
    write_cloud("model.ply", MODEL_POINTS, -2, 0, 0);
    write_cloud("scan.ply", SCAN_POINTS, -0.05, ROLL_DEG, SHIFT);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_found), cmocka_unit_test(refusals),
                                       cmocka_unit_test(raw_scans),
#ifdef ATN_HAVE_PNG
                                       cmocka_unit_test(folders_of_scans),
#endif
                                       cmocka_unit_test(bench_has_rows)};
    return cmocka_run_group_tests(tests, setup, cli_end);
}
