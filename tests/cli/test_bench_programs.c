/* attune bench programs as people call it: all rows on few elements, one row, what it refuses. Nothing looks at how
 * fast anything is. */
#include "clikit.h"

#include <stdlib.h>
#include <string.h>

KIT_TEST(rows) {
    static const struct {
        const char *name, *reference;
    } ROWS[] = {
        {"2 Jacobi sweeps + residual", "unfused"},
        {"2 Jacobi sweeps + residual", "fused"},
        {"2 Jacobi sweeps + residual", "fused by hand"},
        {"sort, 32-bit keys", "qsort"},
        {"sort64, 64-bit keys", "qsort"},
        {"scan", "copy"},
        {"select", "copy"},
        {"segments", "copy"},
        {"reduce_by_key", "copy"},
    };
    enum { COUNT = sizeof ROWS / sizeof *ROWS };
    json_t *root = cli_object("bench programs --quick --seconds 0.001 --device host --json");
    const json_t *list = json_object_get(root, "rows");
    assert_int_equal(json_array_size(list), COUNT);
    for (size_t k = 0; k < COUNT; ++k) {
        const json_t *row = json_array_get(list, k);
        assert_string_equal(json_string_value(json_object_get(row, "name")), ROWS[k].name);
        assert_string_equal(json_string_value(json_object_get(row, "reference_name")), ROWS[k].reference);
        assert_true(json_number_value(json_object_get(row, "ours")) > 0);
        assert_true(json_number_value(json_object_get(row, "ratio")) > 0);
    }
    json_decref(root);
}

KIT_TEST(one_row) {
    json_t *root = cli_object("bench programs --quick --kernel sort --per 100 --seconds 0.001 --device host --json");
    assert_int_equal(json_array_size(json_object_get(root, "rows")), 1);
    json_decref(root);
}

KIT_TEST(what_it_refuses) {
    static const cli_refusal CASES[] = {
        {"bench programs a.atn", 2, "programs takes no files"},
        {"bench programs --seconds 0", 2, "--seconds cannot be '0'"},
        {"bench programs --per 0", 2, "--per cannot be '0'"},
        {"bench programs --kernel frogs --device host", 1, "there is no row 'frogs'"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(rows, cli_begin, cli_end),
                                       cmocka_unit_test_setup_teardown(one_row, cli_begin, cli_end),
                                       cmocka_unit_test_setup_teardown(what_it_refuses, cli_begin, cli_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
