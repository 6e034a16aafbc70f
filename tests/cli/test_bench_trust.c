/* attune bench trust as people call it: its table, a row for each pair, what it refuses. How many pairs are right is
 * for the benchmark itself. */
#include "clikit.h"

#include <string.h>

KIT_TEST(has_its_table) {
    static const char *const NAMES[] = {"case 0",
                                        "case 1",
                                        "case 2",
                                        "right answers",
                                        "wrong answers",
                                        "different things",
                                        "things with symmetry",
                                        "trusted that are right",
                                        "right that are trusted",
                                        "different and not trusted",
                                        "symmetric with all poses",
                                        "within 10 times the median"};
    json_t *root = cli_object("bench trust --pairs 3 --seed 2 --cases --device host --json");
    const json_t *rows = json_object_get(root, "rows");
    assert_int_equal(json_array_size(rows), sizeof NAMES / sizeof *NAMES);
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; ++k) {
        const json_t *row = json_array_get(rows, k);
        assert_string_equal(json_string_value(json_object_get(row, "name")), NAMES[k]);
        if (k < 3) assert_non_null(strstr(json_string_value(json_object_get(row, "note")), "agreement"));
    }
    json_decref(root);
}

KIT_TEST(refuses) {
    static const cli_refusal CASES[] = {
        {"bench trust a.ply", 2, "takes no files"},
        {"bench trust --pairs 0", 2, "--pairs cannot be '0'"},
        {"bench trust --method best", 2, "there is no method 'best'"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(has_its_table), cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
