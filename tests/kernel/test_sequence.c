/* Sequences: steps on shared objects, sizes that are reached from step to step, the oracle and every device alike. */
#include "testkit.h"

#include "kernel/sequence.h"

#include <string.h>

#define STEP(name, from, to, function)                                                                                 \
    "<ParallelAlgorithm name='" name "' dimensions='1'><DataObjects>"                                                  \
    "<DataObject name='" from "' structure='vector' elementDataType='SP'/>"                                            \
    "<DataObject name='" to                                                                                            \
    "' structure='vector' elementDataType='SP'/><Parameter name='s' dataType='SP'/></DataObjects>"                     \
    "<Children><DataAccessRead name='read' source='" from "' selFunction='v0'/>"                                       \
    "<FunctionBlock name='f' dataType='SP' function='" function "'/>"                                                  \
    "<DataAccessWrite name='write' destination='" to "' selFunction='v0'/></Children><Connections>"                    \
    "<Connection source='" from ".Size(0)' destination='" name ".Range(0)'/>"                                          \
    "<Connection source='" name                                                                                        \
    ".i(0)' destination='read.v(0)'/><Connection source='read.out' destination='f.in(0)'/>"                            \
    "<Connection source='s.out' destination='f.in(1)'/><Connection source='f.out(0)' destination='write.in'/>"         \
    "<Connection source='" name ".i(0)' destination='write.v(0)'/></Connections></ParallelAlgorithm>"

static const char XML[] = "<Sequence name='three'>" STEP("one", "a", "t", "#in(0) + #in(1)")
    STEP("two", "t", "u", "#in(0) * #in(0) + (#in(1) - #in(1))")
        STEP("three", "u", "a", "#in(0) - #in(1)") "</Sequence>";

static atn_ctx *ctx;
static atn_sequence *sequence;

static atn_runner *make(void) {
    atn_runner *r;
    atn_param_value s = {"s", {2, 0}};
    kit_ok(ctx, atn_runner_create(ctx, sequence, &r));
    kit_ok(ctx, atn_runner_give(r, &s, 1));
    return r;
}

static void check(const float *a) {
    for (int k = 0; k < 100; ++k) assert_true(a[k] == (float)((k + 2) * (k + 2) - 2));
}

KIT_TEST(runs_by_the_oracle) {
    float a[100];
    for (int k = 0; k < 100; ++k) a[k] = (float)k;
    atn_runner *r = make();
    atn_slot slot = {.view = {.data = a, .type = ATN_SP, .rank = 1, .size = {100, 1}, .pitch = 100}};
    atn_runner_bind(r, atn_runner_find(r, "a"), &slot);
    kit_ok(ctx, atn_runner_plan(r));
    assert_int_equal(atn_runner_object(r, atn_runner_find(r, "u"))->slot.view.size[0], 100);
    int64_t bad;
    kit_ok(ctx, atn_runner_eval(r, &bad));
    assert_int_equal(bad, 0);
    check(a);
    atn_runner_free(r);
}

KIT_TEST(runs_on_every_device) {
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        if (!kit_wants(atn_devices_info(devices, d)->backend)) continue;
        atn_device *device;
        atn_buffer *buffer;
        float a[100];
        for (int k = 0; k < 100; ++k) a[k] = (float)k;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        kit_ok(ctx, atn_buffer_create(device, sizeof a, &buffer));
        kit_ok(ctx, atn_buffer_put(NULL, buffer, 0, a, sizeof a));
        atn_runner *r = make();
        atn_slot slot = {.buffer = buffer, .view = {.type = ATN_SP, .rank = 1, .size = {100, 1}, .pitch = 100}};
        atn_runner_bind(r, atn_runner_find(r, "a"), &slot);
        kit_ok(ctx, atn_runner_plan(r));
        atn_extent extent;
        atn_bindings frame = atn_runner_frame(r, 1);
        kit_ok(ctx, atn_extent_of(ctx, atn_runner_graph(r, 1), &frame, &extent));
        assert_int_equal(extent.points[0], 100);
        kit_ok(ctx, atn_runner_build(r, device, NULL, NULL));
        kit_ok(ctx, atn_runner_run(r));
        kit_ok(ctx, atn_buffer_get(NULL, buffer, 0, a, sizeof a));
        check(a);
        atn_runner_free(r);
        atn_buffer_free(buffer);
        atn_device_close(device);
    }
    atn_devices_free(devices);
}

KIT_TEST(says_what_is_wrong) {
    atn_runner *r = make();
    assert_int_equal(atn_runner_count(r), 3);
    const atn_shared_object *a = atn_runner_object(r, atn_runner_find(r, "a")),
                            *t = atn_runner_object(r, atn_runner_find(r, "t"));
    assert_true(a->read_first && a->written && t->written && !t->read_first);
    assert_int_equal(atn_runner_find(r, "b"), -1);
    kit_contains(atn_ctx_message(ctx), "three: no DataObject 'b'; there is a, t, u");
    kit_fails(ctx, ATN_ERR_INPUT, "one: nothing is bound to 'a', a vector of SP", atn_runner_plan(r));
    kit_fails(ctx, ATN_ERR_INPUT, "'s' (SP) has no default and must be given", atn_runner_give(r, NULL, 0));
    atn_param_value both[] = {{"s", {1, 0}}, {"q", {1, 0}}};
    kit_fails(ctx, ATN_ERR_INPUT, "three: no step has a Parameter 'q'", atn_runner_give(r, both, 2));
    atn_slot wrong = {.view = {.type = ATN_DP, .rank = 1, .size = {100, 1}, .pitch = 100}};
    atn_runner_bind(r, atn_runner_find(r, "a"), &wrong);
    kit_fails(ctx, ATN_ERR_INPUT, "'a' is a vector of SP; a vector of DP was bound", atn_runner_plan(r));
    atn_runner_size(r, atn_runner_find(r, "u"), (int64_t[ATN_MAX_RANK]){50, 1, 1});
    wrong.view.type = ATN_SP;
    atn_runner_bind(r, atn_runner_find(r, "a"), &wrong);
    kit_fails(ctx, ATN_ERR_INPUT, "two: 'write' writes 'u' from 0 to 99 along axis 0; its Size(0) is 50",
              atn_runner_plan(r));
    atn_runner_free(r);
    atn_runner_free(NULL);
}

static int setup(void **state) {
    (void)state;
    ctx = kit_ctx();
    kit_ok(ctx, atn_sequence_parse(ctx, "three.xml", XML, strlen(XML), NULL, NULL, &sequence));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    atn_sequence_free(sequence);
    kit_free(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_by_the_oracle), cmocka_unit_test(runs_on_every_device),
                                       cmocka_unit_test(says_what_is_wrong)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
