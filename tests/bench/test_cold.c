/* Cold starts are measured from outside, each as what it is. */
#include "testkit.h"

#include "bench/cold.h"
#include "device/builtin.h"

#include <unistd.h>

KIT_TEST(three_ways_to_start) {
    atn_ctx *ctx = kit_ctx();
    atn_cold_row rows[ATN_COLD_ROWS];
    if (access(ATN_BINARY_DIR "/attune", X_OK) != 0) print_message("    skipped: the program is not built\n"), skip();
    kit_ok(ctx, atn_bench_cold(ctx, ATN_BINARY_DIR "/attune", "host", 1, rows));
    for (int k = 0; k < ATN_COLD_ROWS; ++k) {
        print_message("    %s: %.3f s, the kernel %.6f s of it (%s)\n", rows[k].name, rows[k].seconds, rows[k].run_s,
                      rows[k].hit);
        assert_true(rows[k].seconds > 0 && rows[k].run_s <= rows[k].seconds);
    }
    if (ATN_BUILTINS[0].kernel) assert_string_equal(rows[2].hit, "compiled in");
    kit_free(ctx);
}

KIT_TEST(what_is_no_program_is_told) {
    atn_ctx *ctx = kit_ctx();
    atn_cold_row rows[ATN_COLD_ROWS];
    kit_fails(ctx, ATN_ERR_DEVICE, "/nonexistent", atn_bench_cold(ctx, "/nonexistent", "host", 1, rows));
    kit_fails(ctx, ATN_ERR_INPUT, "instead of JSON", atn_bench_cold(ctx, "true", "host", 1, rows));
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_ways_to_start),
                                       cmocka_unit_test(what_is_no_program_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
