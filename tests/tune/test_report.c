/* The report of a tuning: all of its parts are there, for any results. */
#include "testkit.h"

#include "base/file.h"
#include "base/memory.h"
#include "tune/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t count(const char *text, const char *what) {
    int32_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); ++at) ++n;
    return n;
}

KIT_TEST(all_parts_are_there) {
    atn_ctx *ctx = kit_ctx();
    double small[] = {1e-5, 2e-5, 4e-5}, large[] = {1e-3, 5e-3};
    const char *names[] = {"regs_p0=1", "regs_p0=2", "regs_p0=<4>"};
    double ratio[] = {1, 0, 0.5, 2};
    const char *candidates[] = {"regs_p0=1", "regs_p0=2", "regs_p0=2,unroll_q0=4", "regs_p0=<4>"};
    atn_report_row rows[] = {
        {"add SP", "64x64", 4096, 4096, 49152, false, 2e-5, 1e-5, 4e-5, 0.5, "regs_p0=1", 4, 1, small, names, 3, ratio,
         candidates, 4},
        {"add SP", "2048x2048", 4194304, 4194304, 5e7, false, 5e-3, 1e-3, 5e-3, 0.9, "", 2, 0, large, names, 2, NULL,
         NULL, 0},
        {"estep SP", "100x100", 1e4, 2e5, 4e3, true, 0, 1e-5, 1e-5, 0, "regs_p0=1", 1, 0, small, names, 1, NULL, NULL,
         0},
        {"none SP", "1", 1, 0, 0, false, 0, 0, 0, 0, NULL, 3, 3, NULL, NULL, 0, NULL, NULL, 0},
    };
    atn_device_info info = {.backend = "host", .name = "a <device>"};
    atn_peaks peaks = {.fp32 = 1e11, .bandwidth = 2e10};
    atn_prune prune = {.constraint = "fits", .alone = {"50", 50, true, 50}, .together = {"50", 50, true, 50}};
    atn_report report = {.info = &info,
                         .peaks = &peaks,
                         .rows = rows,
                         .n_rows = 4,
                         .space = "host",
                         .product = {"100", 100, true, 100},
                         .allowed = {"50", 50, true, 50},
                         .prunes = &prune,
                         .n_prunes = 1};
    char path[512], *text;
    size_t length;
    char *dir = kit_tempdir();
    snprintf(path, sizeof path, "%s/report.html", dir);
    kit_ok(ctx, atn_report_write(ctx, path, &report));
    kit_ok(ctx, atn_file_read(ctx, path, 1 << 20, &text, &length));
    assert_int_equal(count(text, "<svg "),
                     5 + 2); /* one for each kernel, candidates and knobs of one, peaks, pruning */
    assert_int_equal(count(text, "</svg>"), 7);
    assert_int_equal(count(text, "regs_p0=&#60;4&#62;"), 2);
    assert_non_null(strstr(text, "values that one item holds at once"));
    assert_non_null(strstr(text, "GB/s"));
    assert_non_null(strstr(text, "Gpts"));
    assert_null(strstr(text, "<device>"));
    assert_null(strstr(text, "http"));
    atn_free(ctx, text);
    report.n_rows = 0;
    report.space = NULL;
    kit_ok(ctx, atn_report_write(ctx, path, &report));
    kit_fails(ctx, ATN_ERR_IO, "/nowhere/at/all.html", atn_report_write(ctx, "/nowhere/at/all.html", &report));
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_parts_are_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
