/* The pass that computes nothing twice, alone: equal steps, steps that leave loops, steps that nobody wants. */
#include "plankit.h"
#include "support/shared.h"

SHARED_CTX;

#define K                                                                                                              \
    "kernel one(x: vector SP, s: SP = 2) -> y: vector SP\n    y[i] = s * x[i]\n"                                       \
    "kernel plus(x, y: vector SP) -> z: vector SP\n    z[i] = x[i] + y[i]\n"                                           \
    "kernel pick(x: vector SP, at: vector INT32) -> y: vector SP\n    y[i] = x[at[i]]\n"                               \
    "kernel total(x: vector SP) -> s: vector SP\n    s[0] = sum(i) x[i]\n"                                             \
    "kernel more(x: vector SP) -> go: vector INT32\n    over i in x\n        all: SP += x[i] from 0\n"                 \
    "    go[0] = all > 2 ? 1 : 0\n"

static void expect(const char *text, const char *steps) {
    atn_programs *programs;
    plan_case of = {.size = {{9, 1}, {9, 1}, {9, 1}}, .value = {{3}, {3}, {3}, {3}}, .seams = 2};
    of.text = text;
    atn_plan *plan = plan_make(ctx, &of, &programs);
    kit_ok(ctx, atn_plan_share(plan));
    plan_steps_are(plan, steps);
    plan_done(plan, programs);
}

KIT_TEST(equal_steps_are_one) {
    expect(K "program p(x: vector SP) -> r: vector SP\n    a = one(x)\n    b = one(x)\n    c = one(a)\n    d = one(b)\n"
             "    r = plus(c, d)\n",
           "a = one(x; s)\nc = one(a; s)\nr_1 = plus(c, c)\nr takes r_1\n");
}

KIT_TEST(what_differs_stays) {
    expect(K "program p(x: vector SP) -> r: vector SP\n    a = one(x)\n    b = one(x, 3)\n    r = plus(a, b)\n",
           "a = one(x; s)\nb = one(x; s_1)\nr_1 = plus(a, b)\nr takes r_1\n");
    expect(
        K
        "program p(x: vector SP, inout u: vector SP)\n    if total(x) > 2\n        a = one(x)\n        u = plus(u, a)\n"
        "    b = one(x)\n    u = plus(u, b)\n", /* a may not be there */
        "total_1 = total(x)\ntest_2 = test(total_1)\nif test_2\n    a = one(x; s)\n    u_1 = plus(u, a)\n"
        "    u takes u_1\nelse\nb = one(x; s)\nu_2 = plus(u, b)\nu takes u_2\n");
}

KIT_TEST(fixed_steps_leave_loops) {
    expect(K "program p(x: vector SP, inout u: vector SP)\n    while total(u) > 2, at most 3\n"
             "        while total(u) > 4, at most 3\n            a = one(x)\n            b = one(a)\n"
             "            u = plus(u, b)\n",
           "a = one(x; s)\nb = one(a; s)\nloop, at most 3 times\n    total_1 = total(u)\n    test_2 = test(total_1)\n"
           "    leave unless test_2\n    loop, at most 3 times\n        total_3 = total(u)\n"
           "        test_4 = test(total_3)\n        leave unless test_4\n        u_1 = plus(u, b)\n"
           "        u takes u_1\n");
}

/* An access that the loop might never make, and an operand that changes in it. */
KIT_TEST(others_stay_in_loops) {
    expect(K "program p(x: vector SP, inout u: vector SP, at: vector INT32)\n    while total(u) > 2, at most 3\n"
             "        a = pick(x, at)\n        b = one(u)\n        u = plus(a, b)\n",
           "loop, at most 3 times\n    total_1 = total(u)\n    test_2 = test(total_1)\n    leave unless test_2\n"
           "    a = pick(x, at)\n    b = one(u; s)\n    u_1 = plus(a, b)\n    u takes u_1\n");
}

KIT_TEST(what_nobody_reads_is_dropped) {
    expect(K "program p(x: vector SP) -> r: vector SP\n    a = one(x)\n    b = one(a)\n    r = one(x, 3)\n",
           "r_1 = one(x; s_1)\nr takes r_1\n");
}

/* A vector of INT32 that a kernel made is asked as it is. */
KIT_TEST(answers_are_conditions) {
    expect(K "program p(x: vector SP, inout u: vector SP)\n    go = more(u)\n    while go, at most 3\n"
             "        u = one(u, 0.5)\n        go = more(u)\n",
           "go = more(u)\nloop, at most 3 times\n    leave unless go\n    u_1 = one(u; s)\n    go_1 = more(u_1)\n"
           "    u takes u_1\n    go takes go_1\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_steps_are_one),          cmocka_unit_test(what_differs_stays),
        cmocka_unit_test(fixed_steps_leave_loops),      cmocka_unit_test(others_stay_in_loops),
        cmocka_unit_test(what_nobody_reads_is_dropped), cmocka_unit_test(answers_are_conditions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
