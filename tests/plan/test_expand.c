/* The first pass alone: calls, recursion and loops unfolded; sizes of temporaries; what cannot be. */
#include "plankit.h"

static atn_ctx *ctx;

#define K                                                                                                              \
    "kernel one(x: vector SP) -> y: vector SP\n    y[i] = 2 * x[i]\n"                                                  \
    "kernel times(x: vector SP, s: SP) -> y: vector SP\n    y[i] = s * x[i]\n"                                         \
    "kernel halve(x: vector SP) -> y: vector SP\n    for i in length(x) / 2\n        y[i] = x[2 * i]\n"                \
    "kernel some(inout u: vector SP)\n    u[i] = 3 - u[i]  where i mod 2 == 0\n"                                       \
    "kernel blank(x: vector SP) -> y: vector SP\n    y[i] = x[0]\n"                                                    \
    "kernel total(x: vector SP) -> s: vector SP\n    s[0] = sum(i) x[i]\n" /* 13 lines */

static void expect(const plan_case *of, const char *steps, const char *arrays) {
    atn_programs *programs;
    atn_plan *plan = plan_make(ctx, of, &programs);
    plan_steps_are(plan, steps);
    if (arrays) plan_part_is(plan, "arrays", arrays);
    plan_done(plan, programs);
}

static void fails(const plan_case *of, atn_status wanted, const char *sentence) {
    atn_programs *programs;
    atn_plan *plan;
    kit_fails(ctx, wanted, sentence, plan_try(ctx, of, &programs, &plan));
    assert_null(plan);
    atn_programs_free(programs);
}

KIT_TEST(every_assignment_is_a_new_array) {
    expect(&(plan_case){.text =
                            K "program p(x: vector SP, inout u: vector SP)\n    t = one(x)\n    t = one(t)\n    u = "
                              "one(t)\n    some(u)\n",
                        .size = {{5, 1}, {5, 1}},
                        .seams = 2},
           "t = one(x)\nt_1 = one(t)\nu_1 = one(t_1)\nu_1 = some(u_1)\nu takes u_1\n",
           "x: vector SP 5, the caller's\nu: vector SP 5, the caller's\nt: vector SP 5\nt_1: vector SP 5\n"
           "u_1: vector SP 5\n");
}

KIT_TEST(results_that_nobody_bound_are_the_plans) {
    expect(&(plan_case){.text = K "program p(x: vector SP) -> r: vector SP\n    r = halve(x)\n",
                        .size = {{7, 1}, {-1, -1}},
                        .seams = 2},
           "r = halve(x)\n", "x: vector SP 7, the caller's\nr: vector SP 3, the caller's\n");
}

KIT_TEST(counts_are_unfolded) {
    plan_case of = {.text = K "program p(inout u: vector SP, n: INT32)\n    repeat n\n        u = one(u)\n",
                    .size = {{5, 1}},
                    .value = {{0}, {2}},
                    .seams = 2};
    expect(&of, "u_1 = one(u)\nu_2 = one(u_1)\nu takes u_2\n", NULL);
    of.value[1][0] = 0;
    expect(&of, "", NULL);
    of.value[1][0] = 65; /* the first by itself */
    expect(&of, "u_1 = one(u)\nloop, at most 64 times\n    u_2 = one(u_1)\n    u_1 takes u_2\nu takes u_1\n", NULL);
    of.value[1][0] = -1;
    fails(&of, ATN_ERR_INPUT, "p.atn:15:5: repeated -1 times; it is a number from 0 to below 2^31");
}

KIT_TEST(loops_look_at_what_steps_made) {
    expect(&(plan_case){.text = K "program p(f: vector SP, inout u: vector SP, w: SP) -> n: INT32\n"
                                  "    while total(u) > w * total(f), at most 9, counted in n\n        u = one(u)\n",
                        .size = {{5, 1}, {5, 1}, {0, 0}, {1, 1}},
                        .seams = 2},
           "total_1 = total(f)\nloop, at most 9 times, counted in n_1\n    total_2 = total(u)\n"
           "    test_3 = test(total_1, total_2; w)\n    leave unless test_3\n    u_1 = one(u)\n    u takes u_1\n"
           "n takes n_1\n",
           NULL);
    fails(&(plan_case){.text = K "program p(inout u: vector SP, n: INT32)\n    while total(u) > 1, at most n\n        "
                                 "u = one(u)\n",
                       .size = {{5, 1}},
                       .value = {{0}, {-3}}},
          ATN_ERR_INPUT, "p.atn:15:5: at most -3 rounds; it is a number from 0 to below 2^31");
}

KIT_TEST(branches_end_in_the_same_arrays) {
    plan_case of = {.text =
                        K "program p(inout u: vector SP, w: SP)\n    if w > 2\n        u = one(u)\n    else\n        "
                          "u = times(u, w)\n",
                    .size = {{5, 1}},
                    .value = {{0}, {3}},
                    .seams = 2};
    expect(&of, "u_1 = one(u)\nu takes u_1\n", NULL);
    of.value[1][0] = 1;
    expect(&of, "u_1 = times(u; w)\nu takes u_1\n", NULL);
    expect(&(plan_case){.text = K "program p(x: vector SP) -> r: vector SP\n    if total(x) > 2\n        r = one(x)\n"
                                  "    else\n        r = times(x, 3)\n",
                        .size = {{5, 1}, {5, 1}},
                        .seams = 2},
           "total_1 = total(x)\ntest_2 = test(total_1)\nif test_2\n    r_1 = one(x)\n    r takes r_1\nelse\n"
           "    r_2 = times(x; s)\n    r takes r_2\n",
           NULL);
}

KIT_TEST(calls_and_recursion_unfold) {
    plan_case of = {.text = K "program down(x: vector SP) -> r: vector SP\n    if length(x) > 2\n        h = halve(x)\n"
                              "        r = down(h)\n    else\n        r = one(x)\n",
                    .size = {{8, 1}, {-1, -1}},
                    .seams = 2};
    expect(&of, "h = halve(x)\nh_1 = halve(h)\nr = one(h_1)\n", NULL);
    fails(&(plan_case){.text =
                           K "program down(x: vector SP) -> r: vector SP\n    if length(x) > 2\n        h = one(x)\n"
                             "        r = down(h)\n    else\n        r = one(x)\n",
                       .size = {{8, 1}, {-1, -1}}},
          ATN_ERR_INPUT,
          "p.atn:17:13: 'down' still calls itself 96 calls deep; its arrays must shrink until an 'if' ends it");
}

KIT_TEST(sizes_must_be_known) {
    fails(&(plan_case){.text = K "program p(x: vector SP) -> r: vector SP\n    t = blank(x)\n    r = one(t)\n",
                       .size = {{5, 1}, {-1, -1}}},
          ATN_ERR_INPUT, "p.atn:15:9: the size of 't' cannot be known; declare it: t: vector SP[...]");
    expect(&(plan_case){.text = K "program p(x: vector SP) -> r: vector SP\n    t: vector SP[length(x) + 4]\n"
                                  "    t = blank(x)\n    r = one(t)\n",
                        .size = {{5, 1}, {-1, -1}},
                        .seams = 2},
           "t = blank(x)\nr = one(t)\n",
           "x: vector SP 5, the caller's\nt: vector SP 9\nr: vector SP 9, the caller's\n");
    expect(&(plan_case){.text = K "program q(x: vector SP) -> r: vector SP\n    r = blank(x)\n"
                                  "program p(x: vector SP) -> r: vector SP\n    t: vector SP[length(x) + 4]\n"
                                  "    t = q(x)\n    r = one(t)\n",
                        .size = {{5, 1}, {-1, -1}},
                        .seams = 2},
           "r = blank(x)\nr_1 = one(r)\n",
           "x: vector SP 5, the caller's\nr: vector SP 9\nr_1: vector SP 9, the caller's\n");
    fails(&(plan_case){.text = K "program p(x: vector SP) -> r: vector SP\n    t: vector SP[length(x) - 9]\n    t = "
                                 "one(x)\n    r = one(t)\n",
                       .size = {{5, 1}, {-1, -1}}},
          ATN_ERR_INPUT, "p: 't' would have -4 elements along an axis");
    fails(&(plan_case){.text = K "program p(x: vector SP) -> r: vector SP\n    r = one(x)\n",
                       .size = {{-1, -1}, {-1, -1}}},
          ATN_ERR_INPUT, "p: nothing is bound to 'x', a vector of SP");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_assignment_is_a_new_array),
        cmocka_unit_test(results_that_nobody_bound_are_the_plans),
        cmocka_unit_test(counts_are_unfolded),
        cmocka_unit_test(loops_look_at_what_steps_made),
        cmocka_unit_test(branches_end_in_the_same_arrays),
        cmocka_unit_test(calls_and_recursion_unfold),
        cmocka_unit_test(sizes_must_be_known),
    };
    ctx = kit_ctx();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kit_free(ctx);
    return failed;
}
