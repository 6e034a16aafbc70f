/* The pass that fuses, alone: what is computed in its readers, what stays and why. */
#include "plankit.h"

static atn_ctx *ctx;

#define K                                                                                                              \
    "kernel one(x: vector SP) -> y: vector SP\n    y[i] = 2 * x[i]\n"                                                  \
    "kernel add(x, z: vector SP) -> y: vector SP\n    y[i] = x[i] + z[i]\n"                                            \
    "kernel edge(x: vector SP) -> y: vector SP\n    y[i] = x[i - 1] + x[i + 1]  with x clamped\n"                      \
    "kernel inner(x: vector SP) -> y: vector SP\n    y[i] = x[i] + x[i + 2]\n"                                         \
    "kernel both(x: vector SP) -> y, z: vector SP\n    y[i], z[i] = x[i], 2 * x[i]\n"                                  \
    "kernel some(inout u: vector SP)\n    u[i] = 3 - u[i]  where i mod 2 == 0\n"                                       \
    "kernel change(inout u: vector SP, c: vector SP)\n    u[i] = u[i] + c[i]\n"                                        \
    "kernel total(x: vector SP) -> s: vector SP\n    s[0] = sum(i) x[i]\n"                                             \
    "kernel spread(x: vector SP) -> y: vector SP\n"                                                                    \
    "    for i in x\n        y[2 * i], y[2 * i + 1] = x[i], 2 * x[i]\n"                                                \
    "kernel times(x: vector SP, s: SP) -> y: vector SP\n    y[i] = s * x[i]\n"

static void expect(const char *text, int8_t seams, const char *steps, const char *verdicts) {
    atn_programs *programs;
    plan_case of = {.size = {{9, 1}, {9, 1}}, .seams = seams};
    of.text = text;
    atn_plan *plan = plan_make(ctx, &of, &programs);
    plan_steps_are(plan, steps);
    plan_part_is(plan, "seams", verdicts);
    plan_done(plan, programs);
}

#define P K "program p(x: vector SP, inout u: vector SP)\n"

KIT_TEST(pointwise_goes_into_its_readers) {
    const char *text = P "    t = one(x)\n    s = edge(u)\n    u = add(t, s)\n";
    expect(text, 1, "u_1 = add(u, x)    with one, edge\nu takes u_1\n",
           "0 t: fused\n1 s: fused\n2 u_1: stays: it is needed outside of kernels\n");
    expect(text, 0, "t = one(x)\ns = edge(u)\nu_1 = add(t, s)\nu takes u_1\n",
           "0 t: could be fused\n1 s: could be fused\n2 u_1: stays: it is needed outside of kernels\n");
    expect(text, -1, "u_1 = add(u, x)    with one, edge\nu takes u_1\n",
           "0 t: fused\n1 s: fused\n2 u_1: stays: it is needed outside of kernels\n");
}

KIT_TEST(stencils_go_into_stencils) {
    expect(P "    t = one(x)\n    s = inner(t)\n    r = inner(s)\n    a = total(r)\n    u = times(u, a)\n", 1,
           "a = total(x)    with one, inner\nu_1 = times(u, a)\nu takes u_1\n",
           "0 t: fused\n1 s: fused\n2 r: fused\n"
           "3 a: stays: it reduces: what it writes is not computed again for each reader\n"
           "4 u_1: stays: it is needed outside of kernels\n");
    expect(P "    t = one(x)\n    u = edge(t)\n", 1, "t = one(x)\nu_1 = edge(t)\nu takes u_1\n",
           "0 t: stays: it is read beyond its edge\n1 u_1: stays: it is needed outside of kernels\n");
}

KIT_TEST(several_readers_compute_it_each) {
    expect(P "    t = one(x)\n    s = inner(t)\n    a = total(s)\n    b = total(t)\n    u = times(u, a)\n    u = "
             "times(u, b)\n",
           1, "a = total(x)    with one, inner\nb = total(x)    with one\nu_2 = times(u, a, b)\nu takes u_2\n",
           "0 t: fused\n1 s: fused\n2 a: stays: it reduces: what it writes is not computed again for each reader\n"
           "3 b: stays: it reduces: what it writes is not computed again for each reader\n4 u_1: fused\n"
           "5 u_2: stays: it is needed outside of kernels\n");
}

KIT_TEST(what_changes_in_between_stays) {
    expect(P "    t = one(u)\n    some(u)\n    change(u, t)\n", 1,
           "t = one(u)\nu = some(u)\nu_1 = change(u, t)\nu takes u_1\n",
           "0 t: stays: what it is made of changes before it is read\n1 u_1: stays: it is needed outside of kernels\n");
    expect(P "    t = one(x)\n    some(t)\n    u = add(t, u)\n", 1,
           "t = one(x)\nt = some(t)\nu_1 = add(t, u)\nu takes u_1\n",
           "0 t: stays: it is written more than once\n1 u_1: stays: it is needed outside of kernels\n");
    expect(P "    t, s = both(x)\n    u = add(t, s)\n", 1, "t, s = both(x)\nu_1 = add(t, s)\nu takes u_1\n",
           "0 t: stays: its step has other results\n1 s: stays: its step has other results\n"
           "2 u_1: stays: it is needed outside of kernels\n");
}

/* Points that make two elements each go into maps, cell by cell, and not into a reduction. */
KIT_TEST(cells_are_not_reduced) {
    expect(P "    t = spread(x)\n    s = one(t)\n    a = total(s)\n    u = times(u, a)\n", 1,
           "s = one(x)    with spread\na = total(s)\nu_1 = times(u, a)\nu takes u_1\n",
           "0 t: fused\n1 s: stays: every other element of it is read\n"
           "2 a: stays: it reduces: what it writes is not computed again for each reader\n"
           "3 u_1: stays: it is needed outside of kernels\n");
}

KIT_TEST(edges_of_loops_stay) {
    expect(P "    t = one(x)\n    while total(u) > 2, at most 3\n        s = one(u)\n        u = add(s, t)\n", 1,
           "t = one(x)\nloop, at most 3 times\n    total_1 = total(u)\n    test_2 = test(total_1)\n"
           "    leave unless test_2\n    u_1 = add(u, t)    with one\n    u takes u_1\n",
           "0 t: stays: a loop lies between\n"
           "1 total_1: stays: it reduces: what it writes is not computed again for each reader\n"
           "2 test_2: stays: it is needed outside of kernels\n3 s: fused\n"
           "4 u_1: stays: it is needed outside of kernels\n");
}

/* What vectors compute at once a scan computes step by step. */
KIT_TEST(scans_stay_short_on_hosts) {
    static const atn_device_info CUDA = {.backend = "cuda"};
    static const char TEXT[] = "kernel much(x: vector SP) -> y: vector SP\n    y[i] = exp(x[i]) + exp(-x[i])\n"
                               "kernel little(x: vector SP) -> y: vector SP\n    y[i] = 2 * x[i]\n"
                               "kernel running(x: vector SP) -> y: vector SP\n    s += x[i]\n    y[i] = s\n"
                               "program p(x: vector SP) -> a, b: vector SP\n"
                               "    a = running(much(x))\n    b = running(little(x))\n";
    for (int gpu = 0; gpu < 2; ++gpu) {
        atn_programs *programs;
        plan_case of = {.text = TEXT, .size = {{1000000, 1}, {-1, -1}, {-1, -1}}, .seams = -1};
        of.device = gpu ? &CUDA : NULL;
        atn_plan *plan = plan_make(ctx, &of, &programs);
        plan_steps_are(plan, gpu ? "a = running(x)    with much\nb = running(x)    with little\n"
                                 : "much_1 = much(x)\na = running(much_1)\nb = running(x)    with little\n");
        plan_done(plan, programs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointwise_goes_into_its_readers), cmocka_unit_test(stencils_go_into_stencils),
        cmocka_unit_test(several_readers_compute_it_each), cmocka_unit_test(what_changes_in_between_stays),
        cmocka_unit_test(cells_are_not_reduced),           cmocka_unit_test(edges_of_loops_stay),
        cmocka_unit_test(scans_stay_short_on_hosts),
    };
    ctx = kit_ctx();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kit_free(ctx);
    return failed;
}
