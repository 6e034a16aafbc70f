/* The pass over queues, alone: what runs side by side, and what waits for what. */
#include "plankit.h"

static atn_ctx *ctx;

#define K                                                                                                              \
    "kernel edge(x: vector SP) -> y: vector SP\n    y[i] = x[i - 1] + x[i + 1]  with x clamped\n"                      \
    "kernel total(x: vector SP) -> s: vector SP\n    s[0] = sum(i) x[i]\n"                                             \
    "kernel add(x, z: vector SP) -> y: vector SP\n    y[i] = x[i] + z[i]\n"                                            \
    "program p(x, z: vector SP) -> r: vector SP\n"

static void expect(const char *text, int32_t queues, const char *steps) {
    plan_case of = {.size = {{100, 1}, {100, 1}, {100, 1}}, .seams = 0};
    atn_programs *programs;
    of.text = text;
    atn_plan *plan = plan_make(ctx, &of, &programs);
    kit_ok(ctx, atn_plan_settle(plan));
    kit_ok(ctx, atn_plan_schedule(plan, queues));
    kit_ok(ctx, atn_plan_place(plan));
    plan_steps_are(plan, steps);
    plan_done(plan, programs);
}

static const char BRANCHES[] =
    K "    a = edge(x)\n    b = edge(z)\n    c = edge(a)\n    d = edge(b)\n    r = add(c, d)\n";

KIT_TEST(what_is_apart_runs_side_by_side) {
    expect(BRANCHES, 4,
           "a = edge(x)    queue 0\nb = edge(z)    queue 1\nc = edge(a)    queue 0\nd = edge(b)    queue 1\n"
           "r_1 = add(c, d)    queue 1 after c\n");
    expect(BRANCHES, 1, "a = edge(x)\nb = edge(z)\nc = edge(a)\nd = edge(b)\nr_1 = add(c, d)\n");
}

KIT_TEST(a_chain_stays_in_one_queue) {
    expect(K "    a = edge(x)\n    b = edge(a)\n    r = edge(b)\n", 4, "a = edge(x)\nb = edge(a)\nr_1 = edge(b)\n");
}

/* Of two chains, one never takes memory that the other has used; in one queue both share it. */
KIT_TEST(memory_is_not_shared_between_queues) {
    for (int32_t queues = 1; queues < 3; ++queues) {
        plan_case of = {.text = BRANCHES, .size = {{100, 1}, {100, 1}, {100, 1}}, .seams = 0};
        atn_programs *programs;
        atn_plan *plan = plan_make(ctx, &of, &programs);
        kit_ok(ctx, atn_plan_settle(plan));
        kit_ok(ctx, atn_plan_schedule(plan, queues));
        kit_ok(ctx, atn_plan_place(plan));
        assert_int_equal(plan->n_pieces, queues == 1 ? 3 : 4);
        plan_done(plan, programs);
    }
}

KIT_TEST(loops_begin_and_end_together) {
    expect(K "    r = edge(x)\n    s = edge(z)\n    while total(r) > 1, at most 5\n        b = edge(r)\n"
             "        c = edge(s)\n        r = add(b, c)\n",
           2,
           "r_1 = edge(x)    queue 0\ns = edge(z)    queue 1\nloop, at most 5 times\n"
           "    total_1 = total(r_1)    queue 0\n    test_2 = test(total_1)    queue 0\n    leave unless test_2\n"
           "    b = edge(r_1)    queue 0\n    c = edge(s)    queue 1\n    r_2 = add(b, c)    queue 1 after b\n");
}

int main(void) {
    ctx = kit_ctx();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_apart_runs_side_by_side),
        cmocka_unit_test(a_chain_stays_in_one_queue),
        cmocka_unit_test(memory_is_not_shared_between_queues),
        cmocka_unit_test(loops_begin_and_end_together),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kit_free(ctx);
    return failed;
}
