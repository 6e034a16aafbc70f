/* The pass that spares copies, alone: what lies where, and what is copied all the same. */
#include "plankit.h"

static atn_ctx *ctx;

#define K                                                                                                              \
    "kernel one(x: vector SP) -> y: vector SP\n    y[i] = 2 * x[i]\n"                                                  \
    "kernel two(A: matrix SP) -> B: matrix SP\n    B[i, j] = 2 * A[i, j]\n"                                            \
    "kernel edge(x: vector SP) -> y: vector SP\n    y[i] = x[i - 1] + x[i + 1]  with x clamped\n"                      \
    "kernel total(x: vector SP) -> s: vector SP\n    s[0] = sum(i) x[i]\n"

static void expect(const char *text, const char *steps, const char *arrays) {
    atn_programs *programs;
    plan_case of = {.size = {{9, 1}, {9, 1}}, .seams = 0};
    of.text = text;
    atn_plan *plan = plan_make(ctx, &of, &programs);
    kit_ok(ctx, atn_plan_settle(plan));
    plan_steps_are(plan, steps);
    plan_part_is(plan, "arrays", arrays);
    plan_done(plan, programs);
}

KIT_TEST(results_are_written_in_place) {
    expect(K "program p(x: vector SP) -> r: vector SP\n    t = edge(x)\n    r = edge(t)\n",
           "t = edge(x)\nr_1 = edge(t)\n",
           "x: vector SP 9, the caller's\nr: vector SP 9, the caller's\nt: vector SP 9\nr_1: vector SP 9, in r\n");
}

KIT_TEST(what_is_still_read_is_copied_over) {
    expect(K "program p(x: vector SP, inout u: vector SP)\n    u = edge(u)\n", "u_1 = edge(u)\nu = copy(u_1)\n",
           "x: vector SP 9, the caller's\nu: vector SP 9, the caller's\nu_1: vector SP 9\n");
    expect(K "program p(x: vector SP, inout u: vector SP)\n    u = edge(u)\n    u = edge(u)\n",
           "u_1 = edge(u)\nu_2 = edge(u_1)\n",
           "x: vector SP 9, the caller's\nu: vector SP 9, the caller's\nu_1: vector SP 9\nu_2: vector SP 9, in u\n");
}

KIT_TEST(element_by_element_works_in_place) {
    expect(K "program p(A: matrix SP, inout B: matrix SP)\n    B = two(B)\n", "B = two(B)\n",
           "A: matrix SP 1x9, the caller's\nB: matrix SP 1x9, the caller's\nB_1: matrix SP 1x9, in B\n");
}

KIT_TEST(rounds_of_loops_go_back_and_forth) {
    expect(K "program p(x: vector SP, inout u: vector SP)\n    while total(u) > 2, at most 3\n        u = edge(u)\n"
             "        u = edge(u)\n",
           "loop, at most 3 times\n    total_1 = total(u)\n    test_2 = test(total_1)\n    leave unless test_2\n"
           "    u_1 = edge(u)\n    u_2 = edge(u_1)\n",
           "x: vector SP 9, the caller's\nu: vector SP 9, the caller's\ntotal_1: vector SP 1\ntest_2: vector INT32 1\n"
           "u_1: vector SP 9\nu_2: vector SP 9, in u\n");
}

KIT_TEST(branches_write_the_same_array) {
    expect(K "program p(x: vector SP) -> r: vector SP\n    if total(x) > 2\n        r = one(x)\n    else\n        r = "
             "edge(x)\n",
           "total_1 = total(x)\ntest_2 = test(total_1)\nif test_2\n    r_1 = one(x)\nelse\n    r_2 = edge(x)\n",
           "x: vector SP 9, the caller's\nr: vector SP 9, the caller's\ntotal_1: vector SP 1\ntest_2: vector INT32 1\n"
           "r_1: vector SP 9, in r\nr_2: vector SP 9, in r\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_written_in_place),      cmocka_unit_test(what_is_still_read_is_copied_over),
        cmocka_unit_test(element_by_element_works_in_place), cmocka_unit_test(rounds_of_loops_go_back_and_forth),
        cmocka_unit_test(branches_write_the_same_array),
    };
    ctx = kit_ctx();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kit_free(ctx);
    return failed;
}
