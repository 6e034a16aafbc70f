/* What is kept as one launch, on the host, whose tapes have loops: steps, loops, and what the host has to follow. */
#include "testkit.h"

#include "plan/planned.h"

#include <attune/attune.h>

#include <string.h>

static atn_ctx *ctx;
static atn_device *device;

#define K                                                                                                              \
    "kernel halve(x: vector SP) -> y: vector SP\n    y[i] = x[i] / 2\n"                                                \
    "kernel total(x: vector SP) -> s: vector SP\n    s[0] = sum(i) x[i]\n"                                             \
    "program p(inout u: vector SP, least: SP) -> n: INT32\n"

enum { N = 4 };

typedef struct running {
    atn_programs *programs;
    atn_planned *planned;
    atn_buffer *u;
} running;

static running start(const char *text, double least) {
    running r;
    atn_plan *plan;
    int64_t size[3][ATN_MAX_RANK] = {{N, 1, 1}, {-1, -1, -1}, {-1, -1, -1}};
    double value[3][2] = {{0}, {least, 0}, {0}};
    kit_ok(ctx, atn_programs_parse(ctx, "p.atn", text, strlen(text), NULL, NULL, &r.programs));
    kit_ok(ctx, atn_plan_make(ctx, r.programs, &(atn_plan_given){.size = size, .value = value},
                              &(atn_plan_options){.queues = 2}, &plan));
    kit_ok(ctx, atn_planned_create(ctx, plan, &r.planned));
    kit_ok(ctx, atn_buffer_create(device, N * sizeof(float), &r.u));
    atn_slot slot = atn_planned_slot(r.planned, 0);
    slot.buffer = r.u;
    atn_planned_bind(r.planned, 0, &slot);
    kit_ok(ctx, atn_planned_build(r.planned, device, NULL, NULL));
    return r;
}

static void finish(running *r) {
    atn_planned_free(r->planned);
    atn_programs_free(r->programs);
    atn_buffer_free(r->u);
}

/* From N equal elements; what u, and n, are then. */
static void run(running *r, float first, float u, int32_t rounds) {
    float x[N], got[N];
    int32_t n;
    for (int k = 0; k < N; ++k) x[k] = first;
    kit_ok(ctx, atn_buffer_put(NULL, r->u, 0, x, sizeof x));
    kit_ok(ctx, atn_planned_run(r->planned));
    kit_ok(ctx, atn_buffer_get(NULL, r->u, 0, got, sizeof got));
    for (int k = 0; k < N; ++k) assert_float_equal(got[k], u, 0);
    kit_ok(ctx, atn_buffer_get(NULL, atn_planned_slot(r->planned, 2).buffer, 0, &n, sizeof n));
    assert_int_equal(n, rounds);
}

/* Tapes that there are, and of how many nodes each. */
static int32_t tapes(const running *r, int32_t *nodes) {
    int32_t n = 0;
    for (int32_t k = 0; k < r->planned->n_units; ++k) {
        const atn_plan_unit *u = &r->planned->units[k];
        if (u->tape) *nodes = u->end - u->begin;
        n += u->tape != NULL;
    }
    return n;
}

static const char LOOP[] =
    K "    u = halve(u)\n    while total(u) > least, at most 20, counted in n\n        u = halve(u)\n"
      "    u = halve(u)\n";

KIT_TEST(a_loop_and_its_neighbours_are_one_launch) {
    running r = start(LOOP, 3);
    int32_t nodes = 0;
    run(&r, 4, 0.25f, 2); /* 2, 1, 0.5 */
    assert_null(atn_planned_note(r.planned));
    assert_int_equal(tapes(&r, &nodes), 0);
    for (int k = 0; k < 3; ++k) {
        run(&r, 4, 0.25f, 2);
        assert_null(atn_planned_note(r.planned));
        run(&r, 1, 0.25f, 0);
        assert_int_equal(tapes(&r, &nodes), 1);
        assert_int_equal(nodes, r.planned->plan->n_nodes);
    }
    run(&r, 4e9f, 4e9f / 2 / 1048576 / 2, 20);
    assert_string_equal(atn_planned_note(r.planned), "the loop was left after 20 rounds, as many as it may take");
    const float nan = __builtin_nanf("");
    kit_ok(ctx, atn_buffer_put(NULL, r.u, 4, &nan, sizeof nan));
    kit_ok(ctx, atn_planned_run(r.planned));
    assert_string_equal(atn_planned_note(r.planned), "the loop ended after 0 rounds at a value that is not a number");
    finish(&r);
}

/* Of a first run that takes many rounds, most are on a tape of the loop alone. */
KIT_TEST(a_first_run_goes_on_by_itself) {
    int32_t nodes = 0;
    running r = start(LOOP, 3);
    run(&r, 4096, 0.25f, 12);
    assert_int_equal(tapes(&r, &nodes), 1);
    assert_true(nodes < r.planned->plan->n_nodes);
    assert_null(atn_planned_note(r.planned));
    finish(&r);
    r = start(LOOP, -1);
    run(&r, 1, 1.f / 4194304, 20);
    assert_string_equal(atn_planned_note(r.planned), "the loop was left after 20 rounds, as many as it may take");
    finish(&r);
}

KIT_TEST(loops_without_a_condition_are_kept_too) {
    running r = start(K "    n = 3\n    repeat 80\n        u = halve(u)\n", 0);
    int32_t nodes = 0;
    for (int k = 0; k < 3; ++k) {
        run(&r, 1, 1 / 1.2089258196146292e24f, 3);
        assert_null(atn_planned_note(r.planned));
    }
    assert_true(tapes(&r, &nodes) > 0);
    finish(&r);
}

/* What holds a branch or another loop is followed; what is inside is kept, and its notes stay. */
KIT_TEST(the_host_follows_the_rest) {
    running r = start(
        K "    repeat 70\n        while total(u) > least, at most 2, counted in n\n            u = halve(u)\n", 3);
    int32_t nodes = 0;
    for (int k = 0; k < 3; ++k) {
        run(&r, 16, 0.5f, 0);
        assert_string_equal(atn_planned_note(r.planned), "the loop was left after 2 rounds, as many as it may take");
        run(&r, 1, 0.5f, 0);
        assert_null(atn_planned_note(r.planned));
    }
    assert_true(tapes(&r, &nodes) > 0);
    finish(&r);
}

int main(void) {
    ctx = kit_ctx();
    device = kit_open_host(ctx);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_and_its_neighbours_are_one_launch),
        cmocka_unit_test(a_first_run_goes_on_by_itself),
        cmocka_unit_test(loops_without_a_condition_are_kept_too),
        cmocka_unit_test(the_host_follows_the_rest),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    atn_device_close(device);
    kit_free(ctx);
    return failed;
}
