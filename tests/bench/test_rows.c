/* Rows of the benchmark of kernels stand alone: whatever becomes of the process that measures one, its row says so and
 * the others are measured. */
#include "testkit.h"

#include "bench/parts.h"

#include <attune/attune.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MOST = 8 };
typedef struct seen {
    atn_kernel_row row[MOST];
    int count;
} seen;

static bool see(void *user, const atn_kernel_row *row) {
    seen *s = user;
    assert_true(s->count < MOST);
    s->row[s->count++] = *row;
    return true;
}

static atn_device_info host_of(atn_ctx *ctx) {
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    atn_device_info info = *atn_devices_info(devices, 0);
    atn_devices_free(devices);
    return info;
}

#define ROW "{\"error\": \"\", \"ours\": 3.5, \"hit\": \"exact\", \"variant\": \"vec_p0=4\", \"unit\": \"B/s\"}"

/* A program that fails the first time it is asked for `shift_lookup 0`, and measures the second row. */
static void rows_with(const char *first, seen *out) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), body[1024];
    atn_device_info info = host_of(ctx);
    snprintf(body, sizeof body,
             "while read kernel number; do case $number in 0) %s ;; *) echo '" ROW "' ;; esac; done\n", first);
    char *program = kit_script(dir, "program", body);
    *out = (seen){0};
    kit_ok(ctx, atn_bench_kernels(ctx, program, &info, "shift_lookup", 0.01, see, out));
    assert_int_equal(out->count, 2);
    for (int k = 0; k < 2; ++k) assert_string_equal(out->row[k].name, "shift_lookup SP");
    kit_contains(out->row[0].shape, "pose=12x121,px=2304");
    kit_contains(out->row[1].shape, "pose=12x441,px=2304");
    assert_string_equal(out->row[1].error, "");
    assert_string_equal(out->row[1].variant, "vec_p0=4");
    assert_true(out->row[1].ours == 3.5);
    free(program);
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(a_process_that_ends_is_one_row) {
    seen s;
    rows_with("kill -SEGV $$", &s);
    assert_string_equal(s.row[0].error, "crashed (SIGSEGV)");
    rows_with("exit 3", &s);
    assert_string_equal(s.row[0].error, "its process ended without an answer (exit 3)");
    rows_with("echo '{\"error\": \"it is lost\"}'; exit 0", &s);
    assert_string_equal(s.row[0].error, "it is lost");
    rows_with("echo nonsense", &s);
    assert_string_equal(s.row[0].error, "its process said 'nonsense'");
    rows_with("echo '{\"error\": 7, \"ours\": 1}'", &s);
    kit_contains(s.row[0].error, "its process said");
}

/* A hundred rows take more CPU time than one may. */
KIT_TEST(each_row_has_a_limit_of_its_own) {
    atn_ctx *ctx = kit_ctx();
    struct rlimit before, low, after;
    char line[] = "shift_lookup 99\n", *said = NULL;
    size_t length;
    FILE *in = fmemopen(line, sizeof line - 1, "r"), *out = open_memstream(&said, &length);
    assert_int_equal(getrlimit(RLIMIT_CPU, &before), 0);
    low = (struct rlimit){500, before.rlim_max}; /* of the process so far; none where there is less anyway */
    if (setrlimit(RLIMIT_CPU, &low) != 0) print_message("    CPU time cannot be limited here\n"), skip();
    kit_ok(ctx, atn_bench_serve(ctx, "0", 0.01, in, out));
    fclose(out);
    kit_contains(said, "there is no such row");
    assert_int_equal(getrlimit(RLIMIT_CPU, &after), 0);
    assert_true(after.rlim_cur > 900 || after.rlim_cur == after.rlim_max);
    setrlimit(RLIMIT_CPU, &before);
    fclose(in);
    free(said);
    kit_free(ctx);
}

KIT_TEST(nothing_measured_is_a_failure) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), *program = kit_script(dir, "program", "kill -SEGV $$\n");
    atn_device_info info = host_of(ctx);
    seen s = {0};
    kit_fails(ctx, ATN_ERR_DEVICE, "no row could be measured; shift_lookup SP pose=12x441",
              atn_bench_kernels(ctx, program, &info, "shift_lookup", 0.01, see, &s));
    assert_int_equal(s.count, 2);
    kit_fails(ctx, ATN_ERR_INPUT, "ships no kernel 'frogs'",
              atn_bench_kernels(ctx, program, &info, "frogs", 0.01, see, &s));
    if (kit_spawn_tells())
        kit_fails(ctx, ATN_ERR_IO, "/nonexistent: cannot be run",
                  atn_bench_kernels(ctx, "/nonexistent", &info, "agree", 0.01, see, &s));
    free(program);
    kit_remove(dir);
    kit_free(ctx);
}

/* The error is that of the arithmetic: some, and little. */
KIT_TEST(sums_are_compared_with_exact_ones) {
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    atn_device *host;
    atn_kernel_row row = {0};
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    kit_ok(ctx, atn_device_open(devices, 0, &host));
    kit_ok(ctx, bench_sums_row(host, 0, 0.001, &row));
    assert_string_equal(row.name, "E-step, 32 bits");
    assert_string_equal(row.shape, "1000 x 1000, sigma 0.1 of the radius");
    assert_true(row.ours > 0 && row.seconds > 0);
    if (!(row.mean_error > 1e-9 && row.mean_error < 1e-6 && row.worst_error < 5e-6 &&
          row.worst_error >= row.mean_error))
        fail_msg("%g in the mean, %g at most", row.mean_error, row.worst_error);
    atn_device_close(host);
    atn_devices_free(devices);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_ends_is_one_row), cmocka_unit_test(each_row_has_a_limit_of_its_own),
        cmocka_unit_test(nothing_measured_is_a_failure), cmocka_unit_test(sums_are_compared_with_exact_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
