/* Programs through the public interface: steps, temporaries, loops, branches, recursion; fused or not, the same. */
#include "testkit.h"

#include "plan/program.h"

#include <attune/attune.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static atn_ctx *ctx;
static atn_device *device;

static const char *const DEFINES[] = {"T=DP", NULL};

static atn_array *vector(int64_t n, double (*of)(int64_t)) {
    atn_array *array;
    void *at;
    kit_ok(ctx, atn_array_create_vector(device, ATN_DP, n, &array));
    kit_ok(ctx, atn_array_map_write(array, &at));
    for (int64_t k = 0; k < n; ++k) ((double *)at)[k] = of(k);
    return array;
}

static double count_up(int64_t k) { return (double)(k % 13) - 4; }

static const double *elements(atn_array *array) {
    const void *at;
    kit_ok(ctx, atn_array_map_read(array, &at));
    return at;
}

static atn_program *open(const char *text) {
    atn_program *program;
    kit_ok(ctx, atn_program_create(device, text, &(atn_kernel_settings){.defines = DEFINES}, &program));
    return program;
}

/* c is 0 at the borders, so that what the frame of two elements holds is not seen. */
static const char SMOOTH[] =
    "kernel residual(u, f, c: vector T) -> r: vector T\n"
    "    for i in length(u) - 4\n"
    "        r[i + 2] = f[i + 2] + c[i + 2] * (u[i + 3] - u[i + 2]) + c[i + 1] * (u[i + 1] - u[i + 2])\n"
    "kernel relax(u, r: vector T, w: T) -> v: vector T\n"
    "    for i in length(u) - 4\n"
    "        v[i + 2] = u[i + 2] + w * r[i + 2]\n"
    "program smooth(f, c: vector T, inout u: vector T, w: T)\n"
    "    r: vector T[length(u)]\n"
    "    repeat 2\n"
    "        r = residual(u, f, c)\n"
    "        u = relax(u, r, w)\n";

static void smooth(double *u, const double *f, const double *c, int n, double w, int times) {
    double r[512] = {0};
    for (int t = 0; t < times; ++t) {
        for (int k = 2; k < n - 2; ++k) r[k] = f[k] + c[k] * (u[k + 1] - u[k]) + c[k - 1] * (u[k - 1] - u[k]);
        for (int k = 2; k < n - 2; ++k) u[k] += w * r[k];
    }
}

enum { N = 101 };
static double conductance(int64_t k) { return k < 2 || k >= N - 3 ? 0 : 1 + (double)(k % 3); }

KIT_TEST(smooths) {
    for (int fused = -1; fused < 2; ++fused) {
        atn_program *program = open(SMOOTH);
        atn_array *u = vector(N, count_up), *f = vector(N, count_up), *c = vector(N, conductance);
        double want[512];
        memcpy(want, elements(u), N * sizeof *want);
        int8_t seams[8];
        memset(seams, fused, sizeof seams);
        kit_ok(ctx, atn_program_seams(program, seams, 8));
        kit_ok(ctx, atn_program_bind(program, "u", u));
        kit_ok(ctx, atn_program_bind(program, "f", f));
        kit_ok(ctx, atn_program_bind(program, "c", c));
        kit_ok(ctx, atn_program_param(program, "w", 0.25, 0));
        for (int round = 0; round < 3; ++round) { /* the third is one launch */
            smooth(want, elements(f), elements(c), N, 0.25, 2);
            kit_ok(ctx, atn_program_run(program));
            const double *got = elements(u);
            for (int k = 2; k < N - 2; ++k)
                if (fabs(got[k] - want[k]) > 1e-10)
                    fail_msg("%d: fused %d: element %d is %g, %g is right\n%s", round, fused, k, got[k], want[k],
                             atn_program_explain(program));
        }
        if (fused == 1) print_message("%s", atn_program_explain(program));
        if (fused == 1) assert_non_null(strstr(atn_program_explain(program), "with residual"));
        atn_array_free(u), atn_array_free(f), atn_array_free(c);
        atn_program_free(program);
    }
}

/* Runs of equal keys, by a join of their own; loops and single values. */
static const char RUNS[] = "kernel runs(key: vector INT32, inout add total: vector INT32, by: INT32)\n"
                           "    for i in key\n"
                           "        after_it = key[i + 1]  with key clamped\n"
                           "        before_it = key[i - 1]  with key clamped\n"
                           "        first: B = i == 0 or key[i] != before_it\n"
                           "        last: B = i == length(key) - 1 or key[i] != after_it\n"
                           "        carry n: INT32 = 0, f: INT32 = 0 {\n"
                           "            n = first ? 1 : n + 1;\n"
                           "            f = f | INT32(first);\n"
                           "        } combine {\n"
                           "            n = right(f) != 0 ? right(n) : left(n) + right(n);\n"
                           "            f = left(f) | right(f);\n"
                           "        }\n"
                           "        total[key[i]] += by * n  where last\n"
                           "program twice(key: vector INT32, inout total: vector INT32, by: INT32) -> rounds: INT32\n"
                           "    n: INT32 = 0\n"
                           "    while n < 3, at most 9, counted in rounds\n"
                           "        runs(key, total, by)\n"
                           "        n = n + 1\n";

/* On a host without a compiler what is not compiled in is interpreted: slowly, and right, time after time. */
KIT_TEST(needs_no_compiler) {
    for (int k = 0; k < 2; ++k) {
        if (k) setenv("ATTUNE_CC", "/nowhere/cc", 1);
        atn_ctx *of = k ? kit_ctx() : ctx;
        atn_device *on = k ? kit_open_host(of) : device;
        atn_program *program;
        atn_array *key, *total, *rounds;
        void *at;
        int32_t got[4], count;
        kit_ok(of, atn_program_create(on, RUNS, NULL, &program));
        kit_ok(of, atn_array_create_vector(on, ATN_INT32, 40, &key));
        kit_ok(of, atn_array_create_vector(on, ATN_INT32, 4, &total));
        kit_ok(of, atn_array_create_vector(on, ATN_INT32, 1, &rounds));
        kit_ok(of, atn_array_map_write(key, &at));
        for (int i = 0; i < 40; ++i) ((int32_t *)at)[i] = i / 7 % 4;
        kit_ok(of, atn_program_bind(program, "key", key));
        kit_ok(of, atn_program_bind(program, "total", total));
        kit_ok(of, atn_program_bind(program, "rounds", rounds));
        for (int run = 1; run < 4; ++run) {
            kit_ok(of, atn_program_param(program, "by", run, 0));
            kit_ok(of, atn_program_run(program));
            kit_ok(of, atn_array_get(total, got, 0));
            kit_ok(of, atn_array_get(rounds, &count, 0));
            int32_t times = run * (run + 1) / 2;
            assert_true(count == 3 && got[0] == 42 * times && got[1] == 36 * times && got[2] == 21 * times &&
                        got[3] == 21 * times);
        }
        atn_program_free(program);
        atn_array_free(key), atn_array_free(total), atn_array_free(rounds);
        if (k) atn_device_close(on);
        if (k) kit_free(of);
    }
    unsetenv("ATTUNE_CC");
}

/* Parameters that change between runs leave what is interpreted with its sizes. */
KIT_TEST(parameters_change_without_a_compiler) {
    setenv("ATTUNE_CC", "/nowhere/cc", 1);
    atn_ctx *of = kit_ctx();
    atn_device *on = kit_open_host(of);
    atn_program *program;
    atn_array *x, *y;
    const double numbers[3] = {1, 2, 3};
    double got[3];
    kit_ok(of, atn_program_create(on,
                                  "kernel odd(x: vector DP, s: DP) -> y: vector DP\n"
                                  "    y[i] = s * x[i] + cos(s) * 0\n",
                                  NULL, &program));
    kit_ok(of, atn_array_create_vector(on, ATN_DP, 3, &x));
    kit_ok(of, atn_array_create_vector(on, ATN_DP, 3, &y));
    kit_ok(of, atn_array_put(x, numbers, 0));
    kit_ok(of, atn_program_bind(program, "x", x));
    kit_ok(of, atn_program_bind(program, "y", y));
    for (int s = 2; s < 5; ++s) {
        kit_ok(of, atn_program_param(program, "s", s, 0));
        kit_ok(of, atn_program_run(program));
        kit_ok(of, atn_array_get(y, got, 0));
        assert_true(got[0] == s && got[2] == 3 * s);
    }
    atn_program_free(program);
    atn_array_free(x), atn_array_free(y);
    atn_device_close(on);
    kit_free(of);
    unsetenv("ATTUNE_CC");
}

/* Who writes a binding for another language asks what there is to bind, and how large results will be. */
KIT_TEST(names_and_sizes_are_told) {
    atn_program *program = open("kernel outer(a, b: vector T, s: T = 2) -> c: matrix T\n"
                                "    c[y, x] = s * a[y] * b[x]\n");
    assert_int_equal(atn_program_count(program), 4);
    atn_program_name a = atn_program_name_of(program, 0), c = a, s = a;
    for (int32_t k = 0; k < 4; ++k) {
        atn_program_name name = atn_program_name_of(program, k);
        if (strcmp(name.name, "c") == 0) c = name;
        if (strcmp(name.name, "s") == 0) s = name;
    }
    assert_string_equal(a.name, "a");
    assert_true(a.rank == 1 && a.type == ATN_DP && a.read && !a.written && a.shape[0] == -1);
    assert_true(c.rank == 2 && !c.read && c.written && c.shape[0] == -1);
    assert_true(s.rank == 0 && s.has_value && s.value[0] == 2);
    atn_array *left = vector(7, count_up), *right = vector(5, count_up);
    kit_ok(ctx, atn_program_bind(program, "a", left));
    kit_ok(ctx, atn_program_bind(program, "b", right));
    kit_ok(ctx, atn_program_size(program));
    for (int32_t k = 0; k < 4; ++k) {
        c = atn_program_name_of(program, k);
        if (strcmp(c.name, "c") == 0) assert_true(c.shape[0] == 7 && c.shape[1] == 5);
    }
    atn_program_free(program);
    atn_array_free(left), atn_array_free(right);
}

int main(void) {
    ctx = kit_ctx();
    device = kit_open_host(ctx);
    const struct CMUnitTest tests[] = {cmocka_unit_test(smooths), cmocka_unit_test(needs_no_compiler),
                                       cmocka_unit_test(parameters_change_without_a_compiler),
                                       cmocka_unit_test(names_and_sizes_are_told)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    atn_device_close(device);
    kit_free(ctx);
    return failed;
}
