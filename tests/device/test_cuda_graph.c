/* Graphs of the CUDA backend, on a driver made of host memory (fake_cuda.h): kept, launched, and what fails on the way
 * leaves the queue as it was and nothing behind. */
#include "cuda_bench.h"

#include "device/cuda.h"

KIT_TEST(launches_are_kept) {
    shelf s;
    start_shelf(&s);
    atn_queue *queue = atn_device_queue(s.b.device);
    atn_launch launch = {.groups = {3}, .items = {32}, .args = s.args, .n_args = 3};
    atn_tape *graph;
    kit_ok(s.b.ctx, atn_tape_begin(queue));
    for (int k = 0; k < 4; ++k) kit_ok(s.b.ctx, atn_function_launch(queue, s.scale, &launch));
    kit_ok(s.b.ctx, atn_tape_end(queue, &graph));
    assert_int_equal(fake->launches, 0);
    assert_int_equal(fake->graphs, 1); /* what was captured is gone, what runs is there */
    s.n = 5;
    for (int k = 0; k < 2; ++k) kit_ok(s.b.ctx, atn_tape_launch(queue, graph));
    assert_int_equal(fake->launches, 8);
    assert_int_equal((int32_t)fake->last.args[2], -7);
    atn_tape_free(graph);
    atn_tape_free(NULL);
    finish_shelf(&s);
}

/* Kernels that wait for earlier launches may begin before these end: as the generator writes them, and not in graphs.
 */
KIT_TEST(kernels_that_wait_overlap) {
    static const char WAITS[] = "extern \"C\" __global__ void scale(float *x, double by, int n) {\n"
                                "    const idx after = atn_after_launch();\n}\n";
    shelf s;
    start_shelf(&s);
    atn_queue *queue = atn_device_queue(s.b.device);
    atn_launch launch = {.groups = {3}, .items = {32}, .args = s.args, .n_args = 3};
    const atn_build build = {.name = "waits", .source = WAITS, .no_cache = true};
    atn_module *module;
    atn_function *waits;
    atn_tape *graph;
    kit_ok(s.b.ctx, atn_module_build(s.b.device, &build, &module));
    kit_ok(s.b.ctx, atn_module_function(module, "scale", &waits));
    kit_ok(s.b.ctx, atn_function_launch(queue, s.scale, &launch));
    assert_int_equal(fake->overlapping, 0);
    kit_ok(s.b.ctx, atn_function_launch(queue, waits, &launch));
    assert_int_equal(fake->overlapping, 1);
    kit_ok(s.b.ctx, atn_tape_begin(queue));
    kit_ok(s.b.ctx, atn_function_launch(queue, waits, &launch));
    kit_ok(s.b.ctx, atn_tape_end(queue, &graph));
    assert_int_equal(fake->overlapping, 1);
    kit_ok(s.b.ctx, atn_function_launch(queue, waits, &launch));
    assert_int_equal(fake->overlapping, 2);
    assert_int_equal(fake->launches, 3);
    atn_tape_free(graph);
    atn_module_free(module);
    finish_shelf(&s);
}

/* A caller that captures our stream gets launches as they are, and overlap comes back when the capture has ended. */
KIT_TEST(captures_of_the_caller_are_left_alone) {
    static const char WAITS[] = "extern \"C\" __global__ void scale(float *x, double by, int n) {\n"
                                "    const idx after = atn_after_launch();\n}\n";
    shelf s;
    start_shelf(&s);
    atn_queue *queue = atn_device_queue(s.b.device);
    const atn_cuda_api *api = &((const atn_cuda_device *)s.b.device)->api;
    atn_launch launch = {.groups = {3}, .items = {32}, .args = s.args, .n_args = 3};
    const atn_build build = {.name = "waits", .source = WAITS, .no_cache = true};
    atn_module *module;
    atn_function *waits;
    atn_cu_graph *graph;
    kit_ok(s.b.ctx, atn_module_build(s.b.device, &build, &module));
    kit_ok(s.b.ctx, atn_module_function(module, "scale", &waits));
    atn_cu_stream *stream = atn_device_stream(s.b.device);
    assert_int_equal(api->capture_begin(stream, ATN_CU_CAPTURE_THREAD_LOCAL), 0);
    kit_ok(s.b.ctx, atn_function_launch(queue, waits, &launch));
    assert_int_equal(fake->overlapping, 0);
    assert_int_equal(api->capture_end(stream, &graph), 0);
    kit_ok(s.b.ctx, atn_function_launch(queue, waits, &launch));
    assert_int_equal(fake->overlapping, 1);
    (void)api->graph_free(graph);
    atn_module_free(module);
    finish_shelf(&s);
}

KIT_TEST(failures_leave_nothing) {
    static const struct {
        const char *symbol;
        int result;
        atn_status status;
        const char *part;
    } CASES[] = {{"cuStreamEndCapture", 904, ATN_ERR_DEVICE, "ending a graph"},
                 {"cuGraphInstantiateWithFlags", 2, ATN_ERR_MEMORY, "instantiating a graph"}};
    shelf s;
    start_shelf(&s);
    atn_queue *queue = atn_device_queue(s.b.device);
    atn_launch launch = {.groups = {3}, .items = {32}, .args = s.args, .n_args = 3};
    atn_tape *graph;
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        kit_ok(s.b.ctx, atn_tape_begin(queue));
        fake->fail_symbol = CASES[k].symbol;
        fake->fail_result = CASES[k].result;
        kit_fails(s.b.ctx, CASES[k].status, CASES[k].part, atn_tape_end(queue, &graph));
        assert_null(graph);
        assert_int_equal(fake->graphs, 0);
    }
    fake->fail_symbol = "cuStreamBeginCapture_v2";
    fake->fail_result = 801;
    kit_fails(s.b.ctx, ATN_ERR_UNSUPPORTED, "beginning a graph", atn_tape_begin(queue));
    kit_ok(s.b.ctx, atn_tape_begin(queue)); /* a copy in between */
    char bytes[8];
    kit_fails(s.b.ctx, ATN_ERR_DEVICE, "a get that waits", atn_buffer_get(queue, s.buffer, 0, bytes, sizeof bytes));
    kit_fails(s.b.ctx, ATN_ERR_DEVICE, "cannot be kept on a tape", atn_tape_end(queue, &graph));
    kit_ok(s.b.ctx, atn_function_launch(queue, s.scale, &launch));
    assert_int_equal(fake->launches, 1);
    assert_false(atn_device_lost(s.b.device));
    finish_shelf(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches_are_kept), cmocka_unit_test(kernels_that_wait_overlap),
                                       cmocka_unit_test(captures_of_the_caller_are_left_alone),
                                       cmocka_unit_test(failures_leave_nothing)};
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
