/* What is done beside the steps of a registration where there are many cores: none of it shows in what is found. The
 * test says how many there are. */
#include "regkit.h"

#include "base/parallel.h"
#include "sample/scans.h"

#include <sched.h>
#include <string.h>

static int32_t cores = 1;

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set) {
    (void)process;
    memset(set, 0, bytes);
    for (int32_t k = 0; k < cores; ++k) CPU_SET((size_t)k, set);
    return 0;
}

static atn_register_result found(int32_t many, double turn, const atn_register_settings *settings) {
    cores = many;
    assert_int_equal(atn_parallel_cores(), many);
    kit_host host = host_open();
    const atn_scans_settings given = {.size = 3000, .seed = 4, .noise = 0.002, .overlap = 0.65, .turn_deg = turn};
    atn_register_result r = {0};
    atn_scans scans;
    kit_ok(host.ctx, atn_scans_make(host.ctx, &given, NULL, NULL, &scans));
    kit_ok(host.ctx, atn_register(host.device, scans.source, scans.target, settings, &r));
    atn_scans_free(&scans);
    host_close(&host);
    return r;
}

KIT_TEST(nothing_shows_of_it) {
    enum { MANY = 16 };
    static const struct {
        atn_register_start init;
        double turn;
    } CASES[] = {{ATN_START_IDENTITY, 3}, {ATN_START_AUTO, -1}, {ATN_START_GIVEN, 3}};
    for (size_t t = 0; t < sizeof CASES / sizeof *CASES; ++t) {
        const atn_register_settings settings = {
            .init = CASES[t].init, .start = {[0] = 1, [5] = 1, [10] = 1, [15] = 1}, .reproducible = true};
        atn_register_result one = found(1, CASES[t].turn, &settings);
        assert_true(one.has_covariance);
        atn_register_result r = found(MANY, CASES[t].turn, &settings);
        assert_memory_equal(r.transform, one.transform, sizeof one.transform);
        assert_memory_equal(r.covariance, one.covariance, sizeof one.covariance);
        assert_int_equal(r.iterations, one.iterations);
        assert_int_equal(r.verdict, one.verdict);
        assert_string_equal(r.reason, one.reason);
        assert_true(r.runner_up == one.runner_up && r.rmse == one.rmse && r.overlap == one.overlap);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_shows_of_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
