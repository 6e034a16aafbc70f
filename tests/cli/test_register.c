/* attune register as people call it: what it refuses, files in and out, the fields of its JSON, lists of pairs, a
 * report, Ctrl-C. Scans are made for it, so that the truth is known. */
#include "clikit.h"

#include "base/file.h"
#include "base/memory.h"
#include "device/builtin.h"

#include <dirent.h>
#include <math.h>
#include <string.h>

#define SCANS "@/scans/source.ply @/scans/target.ply"

static void put(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path, text, strlen(text)));
}

static char *get(const char *name) {
    char path[512], *text;
    size_t length;
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_file_read(cli_ctx, path, 1 << 24, &text, &length));
    return text;
}

static int begin(void **state) {
    cli_begin(state);
    cli_does("sample scans -o @/scans --size 1500 --turn 8 --overlap 0.95 --seed 4", "source.ply");
    put("empty.xyz", "# nothing\n");
    put("one.xyz", "1 2 3\n");
    put("columns.txt", "1 0 0 0\n0 1 0 0\n0 0 1 0\n5 6 7 1\n");
    put("short.txt", "1 2 3\n");
    put("words.txt", "1 0 0 0\n0 one 0 0\n");
    put("flat.txt", "1 0 0 0\n0 1 0 0\n0 0 0 0\n0 0 0 1\n");
    put("twice.txt", "2 0 0 0\n0 2 0 0\n0 0 2 0\n0 0 0 1\n");
    put("mirror.txt", "1 0 0 0\n0 1 0 0\n0 0 -1 0\n0 0 0 1\n");
    put("none.json", "{\"rotation\": []}");
    put("broken.json", "{\"transform\": [[1, ");
    return 0;
}

KIT_TEST(what_it_refuses) {
    static const cli_refusal CASES[] = {
        {"register", 2, "attune register: needs SOURCE TARGET, or --batch FILE"},
        {"register @/one.xyz", 2, "needs SOURCE TARGET"},
        {"register a b c", 1, "a: No such file"},
        {"register a b --method luck", 2,
         "--method cannot be 'luck'; it takes em-icp|icp|icp-plane|softassign|cpd|gicp"},
        {"register a b --transform odd", 2, "--transform cannot be 'odd'; it takes rigid|similarity|affine"},
        {"register a b --precision 8", 2, "--precision cannot be '8'; it takes 16|32|64"},
        {"register a b --sigma-start 0", 2, "--sigma-start cannot be '0'; it takes a number above 0"},
        {"register a b --sigma-factor 1", 2, "--sigma-factor cannot be '1'; it takes a number above 0 and below 1"},
        {"register a b --sigma-start 1 --sigma-end 2", 2, "--sigma-end 2 is above --sigma-start 1"},
        {"register a b --error-bound 2", 2, "--error-bound cannot be '2'; it takes a number above 0 and up to 1"},
        {"register a b --outlier -inf", 2, "--outlier cannot be '-inf'"},
        {"register a b --trim 1", 2, "--trim cannot be '1'; it takes a number from 0 to below 1"},
        {"register a b --trim 0.1", 2, "--trim does not apply to --method em-icp, only to icp, icp-plane"},
        {"register a b --method cpd --no-polish", 2, "--no-polish does not apply to --method cpd, only to em-icp"},
        {"register a b --method gicp --sigma-factor 0.5", 2, "only to em-icp, softassign"},
        {"register a b --method icp --error-bound 0.5", 2, "only to em-icp, softassign, cpd"},
        {"register a b --method icp --robust-scale 1", 2, "--robust-scale needs --robust"},
        {"register a b --iterations 0", 2, "--iterations cannot be '0'"},
        {"register a b --iterations 1e12", 2, "--iterations cannot be '1e12'"},
        {"register a b --memory lots", 2, "--memory cannot be 'lots'; it takes bytes, such as 500M or 4G"},
        {"register a b --memory 4Gb", 2, "--memory cannot be '4Gb'"},
        {"register a b -o x.stl", 2, "points cannot be written to 'x.stl'"},
        {"register --batch @/list.csv a", 2, "--batch takes its files from the list, not 'a'"},
        {"register --batch @/list.csv --truth r.txt", 2, "--truth is for one pair"},
        {"register @/nowhere.ply @/one.xyz", 1, "nowhere.ply"},
        {"register @/one.xyz @/nowhere.ply", 1, "nowhere.ply"},
        {"register a b --init @/nowhere.txt", 1, "nowhere.txt"},
        {"register a b --init @/short.txt", 1, "short.txt: a transform is 4 rows of 4 numbers; here are 3 numbers"},
        {"register a b --init @/words.txt", 1, "words.txt:2: 'one' is not a number"},
        {"register a b --init @/columns.txt", 1, "the last row must be 0 0 0 1; this matrix is column-major"},
        {"register a b --init @/none.json", 1, "none.json: the object has no \"transform\""},
        {"register a b --init @/broken.json", 1, "broken.json:1: "},
        {"register " SCANS " --truth @/short.txt", 1, "here are 3 numbers"},
        {"register " SCANS " --device host --init @/flat.txt", 1, "flat.txt: the transform is singular"},
        {"register " SCANS " --device host --init @/twice.txt", 1, "a rigid transform does not; similarity scales"},
        {"register " SCANS " --device host --init @/mirror.txt --transform similarity", 1, "only affine transforms do"},
        {"register " SCANS " --device host --memory 1k", 1, " MB, 1 kB may be used; use fewer points"},
        {"register " SCANS " -o @/no/such/x.ply", 1, "x.ply: cannot be written: there is no folder"},
        {"register " SCANS " --matrix @", 1, "cannot be written: it is a folder"},
        {"register " SCANS " --report @/scans", 1, "scans: cannot be written: it is a folder"},
        {"register " SCANS " --report @/same.xyz -o @/same.xyz", 2, "--output and --report both write"},
        {"register " SCANS " --device nonesuch", 1, "nonesuch"},
        {"register @/empty.xyz @/scans/target.ply --device host", 1, "point"},
        {"register @/scans/source.ply @/empty.xyz --device host", 1, "point"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

KIT_TEST(one_point_is_answered) {
    cli_result r = cli_run("register @/one.xyz @/one.xyz --device host");
    assert_true(r.code == 0 || (r.code == 1 && cli_lines(r.err) == 1));
    cli_drop(&r);
}

static double number(const json_t *root, const char *name) { return json_number_value(json_object_get(root, name)); }

KIT_TEST(the_json_has_its_fields) {
    static const char *const NUMBERS[] = {"rmse",        "overlap",   "iterations",     "pairs", "evaluated_pairs",
                                          "seconds",     "gpts",      "peak_bytes",     "scale", "inlier_distance",
                                          "error_bound", "sigma_end", "estimated_bytes"};
    static const char *const TEXTS[] = {"reason", "device", "variant", "method"};
    json_t *root = cli_object("register " SCANS " --device host --json --profile --truth @/scans/truth.json");
    for (size_t k = 0; k < sizeof NUMBERS / sizeof *NUMBERS; ++k)
        if (!json_is_number(json_object_get(root, NUMBERS[k]))) fail_msg("%s is not a number", NUMBERS[k]);
    for (size_t k = 0; k < sizeof TEXTS / sizeof *TEXTS; ++k)
        if (!json_is_string(json_object_get(root, TEXTS[k]))) fail_msg("%s is not text", TEXTS[k]);
    assert_true(json_is_true(json_object_get(root, "converged")));
    json_t *transform = json_object_get(root, "transform"), *covariance = json_object_get(root, "covariance");
    assert_int_equal(json_array_size(transform), 4);
    assert_int_equal(json_array_size(json_array_get(transform, 3)), 4);
    assert_int_equal(json_array_size(covariance), 6);
    assert_int_equal(json_array_size(json_array_get(covariance, 5)), 6);
    assert_true(json_array_size(json_object_get(root, "profile")) > 0);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "source"), "points")), 1500);
    json_t *truth = json_object_get(root, "truth");
    assert_true(number(truth, "rotation_deg") < 2); /* spacing of 1,500 points is about 0.07 */
    assert_true(number(truth, "translation") < 0.05);
    assert_true(number(truth, "rms") < 0.05);
    json_decref(root);
    root = cli_object("register " SCANS " --device host --json --no-covariance");
    assert_true(json_is_null(json_object_get(root, "covariance")));
    assert_null(json_object_get(root, "profile"));
    assert_null(json_object_get(root, "truth"));
    json_decref(root);
}

KIT_TEST(people_get_a_block) {
    cli_result r = cli_run("register " SCANS " --device host --profile --truth @/scans/truth.json");
    assert_int_equal(r.code, 0);
    static const char *const PARTS[] = {"source      ", "transform   ", "rotation    ", "rmse        ", "overlap     ",
                                        "converged",    "peak memory ", "uncertainty ", "error       ", "part  "};
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; ++k) kit_contains(r.out, PARTS[k]);
    assert_null(strstr(r.out, " \n"));
    cli_drop(&r);
}

/* What is written can be read: the matrix and the result start where it ended, and the moved source is there. */
KIT_TEST(files_go_round) {
    cli_does("register " SCANS " --device host -o @/aligned.ply --matrix @/T.txt", "converged");
    static const char *const STARTS[] = {"@/T.txt", "@/result.json", "@/scans/truth.json"};
    char line[512];
    cli_result r = cli_run("register " SCANS " --device host --json");
    assert_int_equal(r.code, 0);
    put("result.json", r.out);
    cli_drop(&r);
    for (size_t k = 0; k < 3; ++k) {
        snprintf(line, sizeof line,
                 "register " SCANS " --device host --json --method icp --init %s --truth @/scans/truth.json",
                 STARTS[k]);
        json_t *root = cli_object(line);
        assert_true(number(json_object_get(root, "truth"), "rms") < 0.06);
        json_decref(root);
    }
    json_t *root = cli_object("register @/aligned.ply @/scans/source.ply --device host --method icp --json");
    double moved = 0; /* back again: the inverse */
    char *text = get("T.txt");
    double t[16];
    assert_int_equal(sscanf(text, "%lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", t, t + 1, t + 2, t + 3, t + 4,
                            t + 5, t + 6, t + 7, t + 8, t + 9, t + 10, t + 11),
                     12);
    for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 3; ++j)
            moved =
                fmax(moved,
                     fabs(json_number_value(json_array_get(json_array_get(json_object_get(root, "transform"), j), i)) -
                          t[4 * i + j]));
    assert_true(moved < 0.02); /* of a turn by 8 degrees, whose sine is 0.14 */
    atn_free(cli_ctx, text);
    json_decref(root);
    cli_does("info @/aligned.ply", "points    1500");
}

KIT_TEST(invalid_points_are_refused_or_dropped) {
    put("nan.xyz", "0 0 0\n1 0 0\n0 1 0\n0 0 1\nnan 0 0\n1 1 0\n0 1 2\n3 0 1\n");
    put("good.xyz", "0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 0\n0 1 2\n3 0 1\n");
    cli_refuses("register @/nan.xyz @/good.xyz --device host", 1, "nan.xyz:5:");
    cli_result r = cli_run("register @/nan.xyz @/good.xyz --device host --drop-invalid --json");
    json_t *root = json_loads(r.out, 0, NULL); /* so few points may not be enough to be sure */
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "source"), "dropped")), 1);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "source"), "points")), 7);
    json_decref(root);
    cli_drop(&r);
    put("few.xyz", "0 0 0\n1 0 0\n0 1 0.5\n");
    cli_refuses("register @/few.xyz @/few.xyz --device host", 1, "too few points to judge a pose by");
}

/* Two things that have nothing to do with each other: told on both channels. */
KIT_TEST(what_does_not_fit_is_told) {
    cli_does("sample scans -o @/other --size 800 --turn 0 --seed 9", "truth.json");
    put("far.txt", "1 0 0 100\n0 1 0 0\n0 0 1 0\n0 0 0 1\n");
    cli_result r = cli_run("register @/scans/source.ply @/other/target.ply --device host --json --method icp "
                           "--init @/far.txt --iterations 1");
    json_t *root = json_loads(r.out, 0, NULL);
    assert_true(json_is_object(root));
    assert_int_equal(r.code, 1);
    assert_string_equal(json_string_value(json_object_get(root, "verdict")), "refused");
    assert_int_equal(cli_lines(r.err), 1);
    kit_contains(r.err, "attune register: refused: ");
    kit_contains(r.err, json_string_value(json_object_get(root, "reason")));
    json_decref(root);
    cli_drop(&r);
}

/* A ball fits in any turn: a warning, and the directions in JSON. */
KIT_TEST(what_is_doubtful_is_a_warning) {
    enum { POINTS = 700, MOST = 64 };
    char *text = malloc(POINTS * MOST);
    uint64_t seed = 5;
    for (int ball = 0; ball < 2; ++ball) {
        size_t at = 0;
        for (int k = 0; k < POINTS; ++k) {
            double z = 2 * kit_uniform(&seed) - 1, turn = 6.2831853 * kit_uniform(&seed), r = sqrt(1 - z * z);
            at += (size_t)snprintf(text + at, MOST, "%.9f %.9f %.9f\n", r * cos(turn), r * sin(turn), z);
        }
        put(ball ? "ball2.xyz" : "ball1.xyz", text);
    }
    free(text);
    cli_result r = cli_run("register @/ball1.xyz @/ball2.xyz --device host --json");
    json_t *root = json_loads(r.out, 0, NULL);
    assert_int_equal(r.code, 0);
    assert_int_equal(cli_lines(r.err), 1);
    kit_contains(r.err, "doubtful: it slides in 3 directions, as on a sphere");
    assert_string_equal(json_string_value(json_object_get(root, "verdict")), "doubtful");
    assert_int_equal(json_array_size(json_object_get(root, "sliding")), 3);
    assert_true(json_is_array(json_object_get(root, "alternatives")));
    json_decref(root);
    cli_drop(&r);
}

/* Of 50,000 points two in a hundred belong to nothing, and are alone in their voxels, a third of all: without them a
 * source of few points finds its place. */
KIT_TEST(voxels_of_nothing_are_left_out) {
    cli_does("sample scans -o @/few --size 600 --seed 6", "source.ply");
    cli_does("sample scans -o @/dense --size 50000 --seed 6", "target.ply");
    cli_does("register @/few/source.ply @/dense/target.ply --voxel 0.05 --device host", "trusted: ");
    cli_refuses("register @/few/source.ply @/dense/target.ply --voxel 100 --device host", 1,
                "an edge of 100 leaves 4 of 50000 points, too few");
}

KIT_TEST(many_pairs) {
    put("list.csv", "source,target,init,aligned\r\n"
                    "scans/source.ply, scans/target.ply ,,moved.pcd\n"
                    "# a comment\n\n"
                    "scans/missing.ply,scans/target.ply\n"
                    "\"scans/source.ply\",\"./scans/target.ply\",scans/truth.json\n"
                    "scans/source.ply,scans/target.ply,short.txt");
    cli_result r = cli_run("register --batch @/list.csv --device host --json");
    assert_int_equal(r.code, 1);
    assert_int_equal(cli_lines(r.err), 1);
    kit_contains(r.err, "2 of 4 pairs failed, first scans/missing.ply onto scans/target.ply: ");
    json_t *root = json_loads(r.out, 0, NULL), *rows = json_object_get(root, "results");
    assert_int_equal(json_array_size(rows), 4);
    static const bool GOOD[] = {true, false, true, false};
    for (size_t k = 0; k < 4; ++k) {
        const json_t *row = json_array_get(rows, k);
        assert_int_equal(json_is_null(json_object_get(row, "error")), GOOD[k]);
        assert_int_equal(json_is_array(json_object_get(row, "transform")), GOOD[k]);
    }
    json_decref(root);
    cli_drop(&r);
    cli_does("info @/moved.pcd", "points    1500");

    put("good.csv", "scans/source.ply,scans/target.ply\n");
    cli_does("register --batch @/good.csv --device host", "trusted: ");
    for (int again = 0; again < 2; ++again) { /* from the journal the same, with what stands before the rows */
        r = cli_run("register --batch @/good.csv --device host --resume @/kept.log");
        assert_int_equal(r.code, 0);
        assert_int_equal(cli_lines(r.out), 2);
        kit_contains(r.out, "iterations");
        cli_drop(&r);
    }
    put("nowhere.txt", "scans/source.ply,scans/target.ply,,nowhere/out.ply\n"); /* not registered first */
    r = cli_run("register --batch @/nowhere.txt --device host");
    assert_int_equal(r.code, 1);
    kit_contains(r.err, "cannot be written: there is no folder");
    kit_contains(r.out, "  -        -");
    cli_drop(&r);
    put("auto.csv", "scans/source.ply,scans/target.ply,auto,,found.txt\n"); /* though --init says something else */
    cli_does("register --batch @/auto.csv --device host --init identity --voxel 0.02 --report @/batch.html",
             "trusted: ");
    char *page = get("batch.html"), *found = get("found.txt");
    kit_contains(page, "1 pairs of ");
    kit_contains(page, "trusted: ");
    kit_contains(found, "0 0 0 1");
    atn_free(cli_ctx, page);
    atn_free(cli_ctx, found);
    static const cli_refusal CASES[] = {
        {"register --batch @/nowhere.csv --device host", 1, "nowhere.csv"},
        {"register --batch @/bad1.csv --device host", 1,
         "bad1.csv:1: a row is source,target[,init[,aligned[,matrix]]]"},
        {"register --batch @/bad2.csv --device host", 1, "bad2.csv:1: a quote is not closed"},
        {"register --batch @/bad3.csv --device host", 1, "bad3.csv: there are no pairs"},
        {"register --batch @/bad4.csv --device host", 1, "bad4.csv:1: points cannot be written to 'x.stl'"},
        {"register --batch @/bad5.csv --device host", 1, "bad5.csv:2: a row is"},
        {"register --batch @/bad6.csv --device host", 1, "scans/source.ply' would be written, and rows"},
        {"register --batch @/bad7.csv --device host", 1,
         "/./twice.ply' would be written twice, the first time in line 1"},
        {"register --batch @/bad8.csv --device host", 1, "bad8.csv:1: a carriage return within the row"},
        {"register --batch @/good.csv --device host --resume @/short.log", 1, "is not a journal of this list"},
    };
    put("short.log", "mine");
    put("bad6.csv",
        "scans/target.ply,scans/target.ply\nscans/target.ply,scans/source.ply,,scans/../scans/source.ply\n");
    put("bad7.csv", "scans/source.ply,scans/target.ply,,twice.ply\nscans/source.ply,scans/target.ply,,./twice.ply\n");
    put("bad8.csv", "scans/source.ply,scans/target.ply\rscans/source.ply,scans/target.ply\r");
    put("bad1.csv", "a.ply\n");
    put("bad2.csv", "\"a.ply,b.ply\n");
    put("bad3.csv", "source,target\n");
    put("bad4.csv", "scans/source.ply,scans/target.ply,,x.stl\n");
    put("bad5.csv", "a,b\na,b,c,d,e,f\n");
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

KIT_TEST(the_report_is_whole) {
    cli_does("register " SCANS " --device host --report @/page.html --truth @/scans/truth.json", "converged");
    char *page = get("page.html");
    static const char *const PARTS[] = {
        "<!doctype html>",       "Trusted", "Uncertainty (1σ)", "Before",    "After",
        "error against --truth", "<canvas", "Copy the matrix",  "Residuals", "<details>",
        "attune register ",      "</html>"};
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; ++k) kit_contains(page, PARTS[k]);
    assert_null(strstr(page, "http"));
    atn_free(cli_ctx, page);
    DIR *dir = opendir(cli_dir); /* written aside, and nothing is left of that */
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (strncmp(entry->d_name, "page.html", 9) == 0) assert_string_equal(entry->d_name, "page.html");
    closedir(dir);
    cli_refuses("register " SCANS " --device host --report @/no/such/page.html", 1, "page.html");
}

static int objects_in(const char *name) {
    char path[512];
    int n = 0;
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) n += strstr(e->d_name, ".so") != NULL;
    if (dir) closedir(dir);
    return n;
}

/* What came with the library serves a first run; where results are to be reproducible, what is built from then on. */
KIT_TEST(a_first_run_waits_for_no_compiler) {
    char path[512];
    atn_ctx *before = cli_ctx;
    if (!ATN_BUILTINS[0].kernel) print_message("    nothing is compiled into this library\n"), skip();
    snprintf(path, sizeof path, "%s/cold", cli_dir);
    for (int run = 0; run < 3; ++run) {
        assert_int_equal(atn_ctx_create(&(atn_ctx_settings){.cache_dir = path}, &cli_ctx), ATN_OK);
        cli_does(run < 2 ? "register " SCANS " --device host" : "register " SCANS " --device host --reproducible",
                 "trusted");
        kit_free(cli_ctx);
        assert_int_equal(objects_in("cold") > 0, run == 2);
    }
    cli_ctx = before;
}

KIT_TEST(stopping_is_1) {
    atn_ctx *before = cli_ctx;
    cli_ctx = kit_ctx();
    atn_ctx_cancel(cli_ctx);
    cli_refuses("register " SCANS " --device host", 1, "stopped");
    kit_free(cli_ctx);
    cli_ctx = before;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_refuses),
        cmocka_unit_test(one_point_is_answered),
        cmocka_unit_test(the_json_has_its_fields),
        cmocka_unit_test(people_get_a_block),
        cmocka_unit_test(files_go_round),
        cmocka_unit_test(invalid_points_are_refused_or_dropped),
        cmocka_unit_test(what_does_not_fit_is_told),
        cmocka_unit_test(what_is_doubtful_is_a_warning),
        cmocka_unit_test(voxels_of_nothing_are_left_out),
        cmocka_unit_test(many_pairs),
        cmocka_unit_test(the_report_is_whole),
        cmocka_unit_test(a_first_run_waits_for_no_compiler),
        cmocka_unit_test(stopping_is_1),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
