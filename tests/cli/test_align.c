/* attune register with many scans: a folder of views and a distractor, what comes out, what is refused. */
#include "clikit.h"

#include <attune/cloud.h>

#include <string.h>
#include <sys/stat.h>

static int begin(void **state) {
    cli_begin(state);
    cli_does("sample scans -o @/views --views 8 --distractor --size 3000 --seed 2", "scan08.ply");
    cli_does("sample scans -o @/other --size 500 --seed 77", "source.ply");
    cli_put("empty.xyz", "# nothing\n");
    char path[512];
    snprintf(path, sizeof path, "%s/bare", cli_dir);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/moved", cli_dir);
    mkdir(path, 0777);
    return 0;
}

KIT_TEST(what_it_refuses) {
#define THREE "@/views/scan00.ply @/views/scan01.ply @/views/scan02.ply "
    static const cli_refusal CASES[] = {
        {"register @/bare", 1, "bare: no point clouds in this folder"},
        {"register @/views --init identity", 2, "--init is for two clouds, not for many"},
        {"register " THREE "--transform affine", 2, "multiway registration is rigid"},
        {"register " THREE "-o x.stl", 2, "points cannot be written to"},
        {"register " THREE "@/nowhere.ply", 1, "nowhere.ply"},
        {"register " THREE "@/empty.xyz", 1, "empty.xyz: there are no points"},
        {"sample scans -o @/x --views 3 --turn 8", 2, "are for two scans, not for --views"},
        {"sample scans -o @/x --distractor", 2, "--distractor needs --views"},
        {"sample scans -o @/x --views 0", 2, "--views cannot be '0'"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

KIT_TEST(a_folder_becomes_one) {
    cli_result r =
        cli_run("register @/views --device host --truth @/views/truth.json -o @/all.ply --matrix @/poses.txt "
                "--report @/r.html --json");
    assert_int_equal(r.code, 0);
    assert_int_equal(cli_lines(r.err), 1);
    assert_non_null(strstr(r.err, "scan08.ply: fits no other scan"));
    json_t *root = json_loads(r.out, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(root, "placed")), 8);
    assert_int_equal(json_array_size(json_object_get(root, "left_out")), 1);
    assert_true(json_number_value(json_object_get(root, "seconds")) > 0);
    assert_true(json_number_value(json_object_get(root, "building_seconds")) >= 0);
    const json_t *scans = json_object_get(root, "scans"), *edges = json_object_get(root, "edges");
    size_t k, used = 0;
    json_t *each;
    json_array_foreach(scans, k, each) {
        const json_t *truth = json_object_get(each, "truth");
        assert_int_equal(json_is_true(json_object_get(each, "placed")), k < 8);
        if (k < 8) assert_true(json_number_value(json_object_get(truth, "rotation_deg")) < 0.1);
    }
    json_array_foreach(edges, k, each) {
        used += json_is_true(json_object_get(each, "used"));
        if (!json_is_true(json_object_get(each, "used"))) continue;
        assert_string_equal(json_string_value(json_object_get(each, "verdict")), "trusted");
        assert_true(json_number_value(json_object_get(each, "residual_deg")) < 1);
    }
    assert_true(used > 8); /* loops, too */
    json_decref(root);
    cli_drop(&r);
    char path[512];
    atn_cloud *all;
    snprintf(path, sizeof path, "%s/all.ply", cli_dir);
    kit_ok(cli_ctx, atn_cloud_read(cli_ctx, path, NULL, &all));
    assert_int_equal(atn_cloud_info_of(all).points, 8 * 3000);
    atn_cloud_free(all);
    snprintf(path, sizeof path, "%s/r.html", cli_dir);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
}

/* Into a folder, from a part of the scans; what differs from all others is left out whatever its place. */
KIT_TEST(each_into_a_folder) {
    cli_result r = cli_run("register @/other/source.ply @/views/scan00.ply @/views/scan01.ply "
                           "@/views/scan02.ply -o @/moved --device host");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "source.ply: fits no other scan"));
    assert_non_null(strstr(r.out, "in the frame of scan0"));
    cli_drop(&r);
    char path[512];
    struct stat info;
    snprintf(path, sizeof path, "%s/moved/source.ply", cli_dir);
    assert_int_not_equal(stat(path, &info), 0);
}

/* Few points and little overlap: what is placed is right, in doubt or not, and what is not says why. */
static void sparse(const char *sample, int placed_least, int code) {
    cli_does(sample, "scan04.ply");
    cli_result r = cli_run("register @/sparse --device host --truth @/sparse/truth.json --json");
    json_t *root = json_loads(r.out, 0, NULL), *each;
    assert_int_equal(r.code, code);
    assert_true(json_integer_value(json_object_get(root, "placed")) >= placed_least);
    size_t k;
    json_array_foreach(json_object_get(root, "scans"), k, each) {
        const char *reason = json_string_value(json_object_get(each, "reason"));
        bool placed = json_is_true(json_object_get(each, "placed"));
        if (placed)
            assert_true(json_number_value(json_object_get(json_object_get(each, "truth"), "rotation_deg")) < 0.5);
        else
            kit_contains(reason, "fits");
        if (placed && reason) kit_contains(reason, "in doubt: no trusted pair holds it");
    }
    json_decref(root);
    cli_drop(&r);
}

KIT_TEST(sparse_views) {
    /* two groups, which fit as a whole alone; pairs that agree by chance */
    sparse("sample scans -o @/sparse --views 5 --size 2000 --seed 2", 5, 0);
    sparse("sample scans -o @/sparse --views 5 --size 300 --seed 1", 0, 1);
}

/* Nothing in common: said, and exit 1. */
KIT_TEST(none_fits) {
    cli_put("a.xyz", "0 0 0\n1 0 0\n2 0 0\n");
    cli_put("b.xyz", "0 0 0\n0 0 0\n");
    cli_result r = cli_run("register @/a.xyz @/b.xyz @/views/scan00.ply --device host "
                           "--truth @/views/truth.json");
    assert_int_equal(r.code, 1);
    assert_null(strstr(r.out, "from the truth")); /* nothing was placed that could be off */
    assert_non_null(strstr(r.err, "no two of 3 scans match"));
    assert_non_null(strstr(r.out, "its points are collinear or coincide"));
    cli_drop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_it_refuses), cmocka_unit_test(a_folder_becomes_one),
                                       cmocka_unit_test(each_into_a_folder), cmocka_unit_test(sparse_views),
                                       cmocka_unit_test(none_fits)};
    return cmocka_run_group_tests(tests, begin, cli_end);
}
