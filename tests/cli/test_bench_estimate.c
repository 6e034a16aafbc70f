/* attune bench estimate as people call it: a row of a kernel of users' kind, a shipped one, what it refuses. Nothing
 * looks at how fast anything is. */
#include "clikit.h"

#include "bench/estimate.h"
#include "tune/sets.h"

#include <stdlib.h>
#include <string.h>

KIT_TEST(a_row_has_both) {
    json_t *root = cli_object("bench estimate --kernel row_norms --budget 0.3s --seconds 0.001 --device host --json");
    const json_t *rows = json_object_get(root, "rows"), *row = json_array_get(rows, 0);
    assert_int_equal(json_array_size(rows), 1);
    assert_string_equal(json_string_value(json_object_get(row, "name")), "row_norms SP");
    assert_string_equal(json_string_value(json_object_get(row, "reference_name")), "tuned");
    assert_true(json_number_value(json_object_get(row, "ours")) > 0);
    assert_true(json_number_value(json_object_get(row, "reference")) > 0);
    assert_true(json_number_value(json_object_get(row, "slowdown")) > 0);
    assert_true(json_is_string(json_object_get(row, "estimate")));
    assert_true(json_is_string(json_object_get(row, "tuned")));
    json_decref(root);
    cli_result r = cli_run("bench estimate --kernel unwrap_step --budget 0.3s --seconds 0.001 --device host");
    assert_int_equal(r.code, 0);
    kit_contains(r.out, "unwrap_step SP");
    kit_contains(r.out, "estimates are within 2 times the tuned variant; the geometric mean is ");
    cli_drop(&r);
}

KIT_TEST(what_it_refuses) {
    static const cli_refusal CASES[] = {
        {"bench estimate a.atn", 2, "estimate takes no files"},
        {"bench estimate --budget soon", 2, "--budget cannot be 'soon'"},
        {"bench estimate --seconds 0", 2, "--seconds cannot be '0'"},
        {"bench estimate --kernel frogs --device host", 1, "there is no kernel 'frogs' with shapes to tune at"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

/* Ten at least, none of a shipped kernel's name, each with shapes. */
KIT_TEST(the_list) {
    static const atn_device_info HOST = {.backend = "host", .cpu = true}, GPU = {.backend = "cuda"};
    int count = 0;
    for (const atn_embedded *s = ATN_BENCH_KERNELS; s->name; ++s, ++count) {
        assert_null(atn_shipped_find(s->name));
        if (!atn_set_next(ATN_BENCH_SETS, s->name, &HOST, NULL) || !atn_set_next(ATN_BENCH_SETS, s->name, &GPU, NULL))
            fail_msg("bench/kernels/%s.atn says no shape to tune at", s->name);
    }
    assert_true(count >= 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_row_has_both), cmocka_unit_test(what_it_refuses),
                                       cmocka_unit_test(the_list)};
    return cmocka_run_group_tests(tests, cli_begin_tuning, cli_end_tuning);
}
