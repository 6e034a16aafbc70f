/* attune bench register as people call it: its rows, the methods on two files, the report, what it refuses. Nothing
 * looks at how fast anything is. */
#include "clikit.h"

#include "base/file.h"
#include "base/memory.h"

#include <string.h>

static int begin(void **state) {
    cli_begin(state);
    cli_does("sample scans -o @/scans --size 600 --turn 5 --overlap 0.9 --seed 3", "source.ply");
    return 0;
}

static const char *text(const json_t *row, const char *field) { return json_string_value(json_object_get(row, field)); }

KIT_TEST(every_row_has_its_fields) {
    static const char *const NAMES[] = {"E-step, all pairs",    "memory of all pairs",      "whole registration",
                                        "pairs evaluated",      "far pairs left out",       "reproducible sums",
                                        "error at 64 bits",     "time at 32 bits",          "many scans, worst pose",
                                        "batch of small pairs", "registration of two scans"};
    json_t *root = cli_object("bench register --quick --device host --json --report @/rows.html"), *row;
    const json_t *rows = json_object_get(root, "rows");
    for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; ++n) {
        bool found = false;
        size_t k;
        json_array_foreach(rows, k, row) found = found || strcmp(text(row, "name"), NAMES[n]) == 0;
        if (!found) fail_msg("no row '%s'", NAMES[n]);
    }
    size_t k;
    json_array_foreach(rows, k, row) {
        assert_true(text(row, "device") && *text(row, "device") && *text(row, "shape") && *text(row, "unit"));
        assert_true(json_is_string(json_object_get(row, "note")));
        if (strcmp(text(row, "name"), "E-step, all pairs") == 0) {
            assert_true(json_number_value(json_object_get(row, "ours")) > 0);
            assert_string_equal(text(row, "unit"), "pairs/s");
            const char *against = text(row, "reference_name");
            bool compared = against && *against;
            kit_contains(text(row, "note"), compared ? "kernel estep: " : "most time in ");
        }
        if (strcmp(text(row, "unit"), "rad") == 0)
            assert_true(json_number_value(json_object_get(row, "ours")) < 0.05); /* all of them find it */
    }
    json_decref(root);
    char path[512], *page;
    size_t length;
    snprintf(path, sizeof path, "%s/rows.html", cli_dir);
    kit_ok(cli_ctx, atn_file_read(cli_ctx, path, 1 << 20, &page, &length));
    kit_contains(page, "whole registration");
    atn_free(cli_ctx, page);
}

KIT_TEST(methods_on_files) {
    cli_result r = cli_run("bench register @/scans/source.ply @/scans/target.ply --quick --device host --json");
    if (r.code != 0) fail_msg("%s", r.err);
    json_t *root = json_loads(r.out, 0, NULL), *row;
    const json_t *rows = json_object_get(root, "rows");
    static const char *const NAMES[] = {"em-icp, time", "em-icp, rmse", "em-icp, overlap", "icp, time",
                                        "icp-plane, rmse"};
    for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; ++n) {
        bool found = false;
        size_t k;
        json_array_foreach(rows, k, row) found = found || strcmp(text(row, "name"), NAMES[n]) == 0;
        if (!found) fail_msg("no row '%s'", NAMES[n]);
    }
    json_decref(root);
    cli_drop(&r);
}

KIT_TEST(covariances_against_the_truth) {
    json_t *root = cli_object("bench covariance --pairs 1 --seed 7 --method em-icp --kind copies --device host --json");
    const json_t *rows = json_object_get(root, "rows"), *row = json_array_get(rows, 0);
    assert_int_equal(json_array_size(rows), 1);
    assert_string_equal(text(row, "method"), "em-icp");
    kit_contains(text(row, "kind"), "copies");
    assert_int_equal(json_integer_value(json_object_get(row, "counted")), 1);
    double ours = json_number_value(json_object_get(row, "ours"));
    assert_true(ours > 0 && ours < 30);
    assert_true(json_is_number(json_object_get(row, "beyond_22")));
    json_decref(root);
    cli_refuses("bench covariance a.ply", 2, "covariance takes no files");
    cli_refuses("bench covariance --pairs 0", 2, "--pairs");
    cli_refuses("bench covariance --pairs 2000", 2, "at most 1000");
    cli_refuses("bench covariance --method magic --device host", 1, "no method 'magic'");
}

KIT_TEST(what_it_refuses) {
    static const cli_refusal CASES[] = {
        {"bench register a.ply", 2, "register takes two files, SOURCE TARGET, or none"},
        {"bench register a b c", 2, "register takes two files, SOURCE TARGET, or none"},
        {"bench register @/nowhere.ply @/scans/target.ply", 1, "nowhere.ply"},
        {"bench register --device nonesuch", 1, "nonesuch"},
        {"bench regsiter", 2, "did you mean 'register'?"},
        {"bench nothing", 2,
         "there are kernels, programs, estimate, register, trust, covariance, needle, unwrap, lattice, live and space"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_has_its_fields), cmocka_unit_test(methods_on_files),
                                       cmocka_unit_test(covariances_against_the_truth),
                                       cmocka_unit_test(what_it_refuses)};
    return cmocka_run_group_tests(tests, begin, cli_end);
}
