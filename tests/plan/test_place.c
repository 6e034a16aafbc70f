/* The pass over memory, alone: which temporaries share it, how much it is. */
#include "plankit.h"

static atn_ctx *ctx;

#define K                                                                                                              \
    "kernel edge(x: vector SP) -> y: vector SP\n    y[i] = x[i - 1] + x[i + 1]  with x clamped\n"                      \
    "kernel whole(x: vector SP) -> y: vector INT32\n    y[i] = INT32(x[i])\n"                                          \
    "kernel back(x: vector INT32) -> y: vector SP\n    y[i] = x[i]\n"                                                  \
    "kernel total(x: vector SP) -> s: vector SP\n    s[0] = sum(i) x[i]\n"                                             \
    "kernel add(x, z: vector SP) -> y: vector SP\n    y[i] = x[i] + z[i]\n"

static atn_plan *make(const char *text, int64_t n, atn_programs **programs) {
    plan_case of = {.size = {{n, 1}, {n, 1}}, .seams = 0};
    of.text = text;
    atn_plan *plan = plan_make(ctx, &of, programs);
    kit_ok(ctx, atn_plan_settle(plan));
    return plan;
}

static void expect(const char *text, int64_t n, size_t bytes, const char *arrays) {
    atn_programs *programs;
    atn_plan *plan = make(text, n, &programs);
    kit_ok(ctx, atn_plan_place(plan));
    plan_part_is(plan, "arrays", arrays);
    assert_int_equal(plan->bytes, bytes);
    plan_done(plan, programs);
}

#define P        K "program p(x: vector SP) -> r: vector SP\n"
#define HEADS(n) "x: vector SP " n ", the caller's\nr: vector SP " n ", the caller's\n"

KIT_TEST(those_that_are_dead_make_room) {
    expect(P "    a = edge(x)\n    b = edge(a)\n    c = edge(b)\n    d = edge(c)\n    r = edge(d)\n", 100, 1024,
           HEADS("100") "a: vector SP 100, at byte 0 of the arena\nb: vector SP 100, at byte 512 of the arena\n"
                        "c: vector SP 100, at byte 0 of the arena\nd: vector SP 100, at byte 512 of the arena\n"
                        "r_1: vector SP 100, in r\n");
    expect(P "    a = edge(x)\n    b = edge(a)\n    c = edge(b)\n    r = add(a, c)\n", 100, 1536,
           HEADS("100") "a: vector SP 100, at byte 0 of the arena\nb: vector SP 100, at byte 512 of the arena\n"
                        "c: vector SP 100, at byte 1024 of the arena\nr_1: vector SP 100, in r\n");
}

KIT_TEST(types_do_not_share) {
    expect(P "    a = edge(x)\n    b = whole(a)\n    c = back(b)\n    r = edge(c)\n", 64, 512,
           HEADS("64") "a: vector SP 64, at byte 0 of the arena\nb: vector INT32 64, at byte 256 of the arena\n"
                       "c: vector SP 64, at byte 0 of the arena\nr_1: vector SP 64, in r\n");
}

KIT_TEST(loops_keep_what_they_need_again) {
    expect(
        P "    a = edge(x)\n    r = edge(x)\n    while total(r) > 1, at most 5\n        b = edge(r)\n"
          "        r = add(a, b)\n",
        64, 768,
        HEADS("64") "a: vector SP 64, at byte 0 of the arena\nr_1: vector SP 64, in r\n"
                    "total_1: vector SP 1, at byte 256 of the arena\ntest_2: vector INT32 1, at byte 512 of the arena\n"
                    "b: vector SP 64, at byte 256 of the arena\nr_2: vector SP 64, in r\n");
}

KIT_TEST(nothing_takes_nothing) {
    expect(P "    a = edge(x)\n    r = edge(a)\n", 0, 0,
           HEADS("0") "a: vector SP 0, at byte 0 of the arena\nr_1: vector SP 0, in r\n");
}

KIT_TEST(too_large_is_told) {
    atn_programs *programs;
    atn_plan *plan = make(P "    a = edge(x)\n    r = edge(a)\n", (int64_t)1 << 60, &programs);
    kit_fails(ctx, ATN_ERR_INPUT, "p: 'a' is larger than any memory", atn_plan_place(plan));
    plan_done(plan, programs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_are_dead_make_room),
        cmocka_unit_test(types_do_not_share),
        cmocka_unit_test(loops_keep_what_they_need_again),
        cmocka_unit_test(nothing_takes_nothing),
        cmocka_unit_test(too_large_is_told),
    };
    ctx = kit_ctx();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kit_free(ctx);
    return failed;
}
