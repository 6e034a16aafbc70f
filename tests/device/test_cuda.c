/* The CUDA backend's devices, buffers, queues and events, on a driver and a compiler made of host memory
 * (fake_cuda.h): every path runs without a GPU, failures included. */
#include "cuda_bench.h"

#include "device/backend.h"

#include <pthread.h>
#include <stdio.h>

/* ---- listing ---- */

KIT_TEST(info_is_filled_in) {
    bench b = start();
    const atn_device_info *info = atn_device_get_info(b.device);
    assert_string_equal(info->name, "Fake GPU 0");
    assert_string_equal(info->driver, "driver 13.0, NVRTC 13.0");
    assert_string_equal(info->arch, "sm_90");
    assert_string_equal(info->platform, "");
    assert_int_equal(info->cores, 132);
    assert_int_equal(info->simd, 32);
    assert_int_equal(info->memory_bytes, 1 << 20);
    assert_int_equal(info->max_alloc_bytes, 1 << 20);
    assert_int_equal(info->local_bytes, 232448);
    assert_int_equal(info->cache_bytes, 52428800);
    assert_int_equal(info->max_group, 1024);
    assert_int_equal(info->max_items[0], 1024);
    assert_int_equal(info->max_items[2], 64);
    assert_int_equal(info->clock_mhz, 1980);
    assert_true(info->fp64 && info->fp16 && info->subgroups && !info->unified);
    assert_string_equal(cuda_note(b.devices), "");
    finish(&b);
}

KIT_TEST(several_devices_open_at_once) {
    use_fake();
    fake->device_count = 3;
    bench b = open_bench(kit_ctx());
    atn_device *third, *again;
    int32_t first = atn_device_get_info(b.device)->index;
    kit_ok(b.ctx, atn_device_open(b.devices, first + 2, &third));
    kit_ok(b.ctx, atn_device_open(b.devices, first, &again));
    assert_string_equal(atn_device_get_info(third)->name, "Fake GPU 2");
    assert_int_equal(atn_device_get_info(third)->ordinal, 2);
    assert_int_equal(fake->contexts, 3);
    atn_buffer *here, *there; /* calls in turn: each makes its own context current */
    kit_ok(b.ctx, atn_buffer_create(b.device, 16, &here));
    kit_ok(b.ctx, atn_buffer_create(third, 16, &there));
    kit_ok(b.ctx, atn_buffer_fill(NULL, here, 0, 1, 16));
    atn_buffer_free(there);
    atn_buffer_free(here);
    atn_device_close(again);
    atn_device_close(third);
    finish(&b);
}

/* A large buffer that is freed serves the next, unless others may still work on it: another queue, or who was told
 * where it is. */
KIT_TEST(large_buffers_are_kept) {
    enum { LARGE = 1 << 20, MOST = 4 };
    use_fake();
    fake->memory = (size_t)64 << 20;
    bench b = open_bench(kit_ctx());
    atn_buffer *one, *many[MOST + 1];
    atn_queue *other;
    kit_ok(b.ctx, atn_buffer_create(b.device, LARGE, &one));
    atn_buffer_free(one);
    assert_int_equal(fake->buffers, 1);
    kit_ok(b.ctx, atn_buffer_create(b.device, LARGE - 1000, &one)); /* the same */
    assert_int_equal(fake->buffers, 1);
    assert_int_equal(atn_buffer_bytes(one), LARGE - 1000);
    kit_fails(b.ctx, ATN_ERR_INPUT, "outside a buffer", atn_buffer_fill(NULL, one, 0, 1, LARGE));
    assert_non_null(atn_buffer_address(one));
    atn_buffer_free(one);
    assert_int_equal(fake->buffers, 0);
    for (int k = 0; k <= MOST; ++k) kit_ok(b.ctx, atn_buffer_create(b.device, LARGE, &many[k]));
    for (int k = 0; k <= MOST; ++k) atn_buffer_free(many[k]); /* a sixteenth of the memory is kept */
    assert_int_equal(fake->buffers, MOST);
    kit_ok(b.ctx, atn_buffer_create(b.device, LARGE, &one));
    kit_ok(b.ctx, atn_queue_create(b.device, &other));
    atn_buffer_free(one);
    assert_int_equal(fake->buffers, MOST - 1);
    atn_queue_free(other);
    kit_ok(b.ctx, atn_buffer_create(b.device, (size_t)62 << 20, &one)); /* what is kept makes room */
    atn_buffer_free(one);
    finish(&b);
}

/* Lists, expects no device and a note with `part`. */
static void expect_note(const char *part) {
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    assert_null(cuda_info(devices));
    kit_contains(cuda_note(devices), part);
    print_message("    %s\n", cuda_note(devices));
    atn_devices_free(devices);
    kit_free(ctx);
}

KIT_TEST(what_is_missing_is_noted) {
    use_fake();
    setenv("ATTUNE_CUDA_LIB", "/nowhere/libcuda.so.1", 1);
    expect_note("/nowhere/libcuda.so.1");
    setenv("ATTUNE_CUDA_LIB", "libm.so.6", 1);
    expect_note("lacks cuInit");
    use_fake();
    fake->init_result = 100;
    expect_note("CUDA_ERROR_NO_DEVICE (100)");
    use_fake();
    fake->init_result = 803;
    expect_note("restart the machine");
    use_fake();
    fake->init_result = 4711;
    expect_note("unknown to attune (4711)");
    use_fake();
    fake->driver_version = 10020;
    expect_note("for CUDA 10.2; one for CUDA 11.0 or newer");
    use_fake();
    fake->device_count = 0;
    expect_note("no NVIDIA GPU is visible");
    use_fake();
    setenv("ATTUNE_NVRTC_LIB", "/nowhere/libnvrtc.so", 1);
    expect_note("1 device is here, but ATTUNE_NVRTC_LIB names");
    use_fake();
    fake->driver_version = 12040;
    expect_note("NVRTC 13.0 is newer than the driver, which is for CUDA 12");
    use_fake();
    fake->capability = 70;
    expect_note("cannot build for Fake GPU 0 (sm_70); install an older NVRTC");
    use_fake();
    fake->capability = 120;
    expect_note("install a newer NVRTC");
    use_fake();
    fake->fail_symbol = "cuDeviceGet";
    fake->fail_result = 46;
    expect_note("another process holds the device");
    assert_int_equal(fake->misuse, 0);
}

KIT_TEST(opening_may_fail) {
    use_fake();
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    atn_device *device;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    int32_t index = cuda_info(devices)->index;
    static const struct {
        const char *symbol;
        int result;
        atn_status status;
    } CASES[] = {{"cuDevicePrimaryCtxRetain", 2, ATN_ERR_MEMORY},
                 {"cuDeviceGet", 101, ATN_ERR_DEVICE},
                 {"cuDeviceGetAttribute", 1, ATN_ERR_DEVICE},
                 {"cuStreamCreate", 2, ATN_ERR_MEMORY},
                 {"cuCtxSetCurrent", 709, ATN_ERR_LOST}};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        fake->fail_symbol = CASES[k].symbol;
        fake->fail_result = CASES[k].result;
        kit_fails(ctx, CASES[k].status, "Fake GPU 0", atn_device_open(devices, index, &device));
        assert_null(device);
        assert_int_equal(fake->contexts, 0);
    }
    setenv("ATTUNE_CUDA_LIB", "/nowhere/libcuda.so.1", 1);
    kit_fails(ctx, ATN_ERR_UNSUPPORTED, "/nowhere", atn_device_open(devices, index, &device));
    atn_devices_free(devices);
    kit_free(ctx);
    assert_int_equal(fake->misuse, 0);
}

/* ---- buffers, queues, events ---- */

KIT_TEST(bytes_arrive) {
    bench b = start();
    atn_buffer *one, *two;
    char text[16] = "hello, buffer!", got[16];
    kit_ok(b.ctx, atn_buffer_create(b.device, 16, &one));
    kit_ok(b.ctx, atn_buffer_create(b.device, 32, &two));
    assert_null(atn_buffer_host(one));
    kit_ok(b.ctx, atn_buffer_put(NULL, one, 0, text, 16));
    kit_ok(b.ctx, atn_buffer_fill(NULL, two, 0, 0xee, 32));
    kit_ok(b.ctx, atn_buffer_copy(NULL, two, 8, one, 4, 8));
    kit_ok(b.ctx, atn_buffer_get(NULL, two, 6, got, 12));
    assert_memory_equal(got, "\xee\xee", 2);
    assert_memory_equal(got + 2, text + 4, 8);
    assert_memory_equal(got + 10, "\xee\xee", 2);
    atn_buffer_free(one);
    atn_buffer_free(two);
    finish(&b);
}

KIT_TEST(queues_wait_and_events_time) {
    bench b = start();
    atn_queue *second;
    atn_event *from, *to;
    atn_buffer *buffer;
    double seconds;
    kit_ok(b.ctx, atn_queue_create(b.device, &second));
    kit_ok(b.ctx, atn_buffer_create(b.device, 16, &buffer));
    assert_int_equal(fake->streams, 2);
    kit_ok(b.ctx, atn_event_record(atn_device_queue(b.device), &from));
    for (int k = 0; k < 4; ++k) kit_ok(b.ctx, atn_buffer_fill(NULL, buffer, 0, 0, 16));
    kit_ok(b.ctx, atn_event_record(atn_device_queue(b.device), &to));
    kit_ok(b.ctx, atn_queue_wait(second, to));
    assert_int_equal(fake->waits, 1);
    kit_ok(b.ctx, atn_event_wait(to));
    kit_ok(b.ctx, atn_event_elapsed(from, to, &seconds));
    assert_true(seconds == 0.001); /* four steps of the fake's clock */
    kit_ok(b.ctx, atn_queue_finish(second));
    fake->fail_symbol = "cuEventRecord";
    fake->fail_result = 2;
    atn_event *never;
    kit_fails(b.ctx, ATN_ERR_MEMORY, "recording an event", atn_event_record(second, &never));
    assert_null(never);
    fake->fail_symbol = "cuEventCreate";
    kit_fails(b.ctx, ATN_ERR_MEMORY, "making an event", atn_event_record(second, &never));
    assert_null(never);
    atn_event_free(from);
    atn_event_free(to);
    atn_buffer_free(buffer);
    atn_queue_free(second);
    finish(&b);
}

static void *fill_there(void *argument) {
    static atn_status status;
    status = atn_buffer_fill(NULL, argument, 0, 7, 16);
    return &status;
}

/* A handle may go from thread to thread: each call makes the context the caller's. */
KIT_TEST(other_threads_may_use_it) {
    bench b = start();
    atn_buffer *buffer;
    pthread_t thread;
    void *status;
    kit_ok(b.ctx, atn_buffer_create(b.device, 16, &buffer));
    assert_int_equal(pthread_create(&thread, NULL, fill_there, buffer), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal(*(atn_status *)status, ATN_OK);
    atn_buffer_free(buffer);
    finish(&b);
}

/* ---- errors ---- */

KIT_TEST(full_memory_leaves_it_usable) {
    bench b = start();
    atn_buffer *half, *rest;
    kit_ok(b.ctx, atn_buffer_create(b.device, 1 << 19, &half));
    kit_fails(b.ctx, ATN_ERR_MEMORY, "a buffer of 524289 bytes failed with CUDA_ERROR_OUT_OF_MEMORY (2)",
              atn_buffer_create(b.device, (1 << 19) + 1, &rest));
    assert_null(rest);
    assert_false(atn_device_lost(b.device));
    kit_ok(b.ctx, atn_buffer_create(b.device, 1 << 19, &rest));
    atn_buffer_free(half);
    atn_buffer_free(rest);
    finish(&b);
}

KIT_TEST(broken_contexts_lose_the_device) {
    static const int LASTING[] = {214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719};
    for (size_t k = 0; k < sizeof LASTING / sizeof *LASTING; ++k) {
        shelf s;
        start_shelf(&s);
        atn_queue *queue;
        atn_event *event;
        kit_ok(s.b.ctx, atn_queue_create(s.b.device, &queue));
        kit_ok(s.b.ctx, atn_event_record(queue, &event));
        kit_ok(s.b.ctx, atn_function_launch(queue, s.scale, &(atn_launch){.groups = {1}, .args = s.args, .n_args = 3}));
        fake->fail_symbol = "cuStreamSynchronize"; /* a launch fails when it is waited for */
        fake->fail_result = LASTING[k];
        fake->fail_lasts = true;
        char number[16];
        snprintf(number, sizeof number, "(%d)", LASTING[k]);
        kit_fails(s.b.ctx, ATN_ERR_LOST, number, atn_queue_finish(queue));
        assert_true(atn_device_lost(s.b.device));
        atn_buffer *more;
        kit_fails(s.b.ctx, ATN_ERR_LOST, "Fake GPU 0", atn_buffer_create(s.b.device, 16, &more));
        atn_function_info info;
        kit_fails(s.b.ctx, ATN_ERR_LOST, number, atn_function_get_info(s.scale, 32, &info));
        atn_event_free(event);
        atn_queue_free(queue);
        finish_shelf(&s);
    }
}

/* One driver call after the other fails once: the failure is reported and nothing is left behind. */
KIT_TEST(every_call_may_fail) {
    static const char *const SYMBOLS[] = {"cuCtxSetCurrent",
                                          "cuMemAlloc_v2",
                                          "cuMemcpyHtoDAsync_v2",
                                          "cuMemcpyDtoHAsync_v2",
                                          "cuMemcpyDtoDAsync_v2",
                                          "cuMemsetD8Async",
                                          "cuStreamSynchronize",
                                          "cuStreamWaitEvent",
                                          "cuEventCreate",
                                          "cuEventRecord",
                                          "cuEventSynchronize",
                                          "cuEventElapsedTime",
                                          "cuModuleLoadData",
                                          "cuModuleGetFunction",
                                          "cuFuncGetAttribute",
                                          "cuFuncSetAttribute",
                                          "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                                          "cuLaunchKernel"};
    for (size_t k = 0; k < sizeof SYMBOLS / sizeof *SYMBOLS; ++k) {
        bench b = start();
        fake->fail_symbol = SYMBOLS[k];
        fake->fail_result = 999;
        atn_buffer *buffer = NULL, *other = NULL;
        atn_module *module = NULL;
        atn_function *none;
        atn_event *from = NULL, *to = NULL;
        atn_function_info info;
        double seconds;
        char bytes[16] = {0};
        atn_queue *queue = atn_device_queue(b.device);
        atn_launch launch = {.groups = {1}, .local_bytes = 100000};
        atn_status status = atn_buffer_create(b.device, 16, &buffer);
        if (status == ATN_OK) status = atn_buffer_create(b.device, 16, &other);
        if (status == ATN_OK) status = atn_buffer_put(NULL, buffer, 0, bytes, 16);
        if (status == ATN_OK) status = atn_buffer_copy(NULL, other, 0, buffer, 0, 16);
        if (status == ATN_OK) status = atn_buffer_fill(NULL, other, 0, 0, 16);
        if (status == ATN_OK) status = atn_buffer_get(NULL, other, 0, bytes, 16);
        if (status == ATN_OK) status = atn_event_record(queue, &from);
        if (status == ATN_OK) status = atn_module_build(b.device, &(atn_build){.source = SOURCE}, &module);
        if (status == ATN_OK) status = atn_module_function(module, "none", &none);
        if (status == ATN_OK) status = atn_function_get_info(none, 32, &info);
        if (status == ATN_OK) status = atn_function_launch(NULL, none, &launch);
        if (status == ATN_OK) status = atn_event_record(queue, &to);
        if (status == ATN_OK) status = atn_queue_wait(queue, to);
        if (status == ATN_OK) status = atn_event_wait(to);
        if (status == ATN_OK) status = atn_event_elapsed(from, to, &seconds);
        if (status == ATN_OK) status = atn_queue_finish(queue);
        if (status != ATN_ERR_DEVICE) fail_msg("%s: got %s", SYMBOLS[k], atn_status_name(status));
        kit_contains(atn_ctx_message(b.ctx), "CUDA_ERROR_UNKNOWN (999)");
        assert_false(atn_device_lost(b.device));
        atn_event_free(from);
        atn_event_free(to);
        atn_module_free(module);
        atn_buffer_free(buffer);
        atn_buffer_free(other);
        finish(&b);
    }
}

KIT_TEST(every_allocation_may_fail) {
    for (long n = 1;; ++n) {
        use_fake();
        kit_faults faults = {0};
        char *dir = kit_tempdir();
        atn_ctx_settings options = kit_fault_options(&faults);
        options.cache_dir = dir;
        atn_ctx *ctx;
        assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
        atn_devices *devices = NULL;
        kit_ok(ctx, atn_devices_find(ctx, &devices));
        atn_device *device = NULL;
        atn_module *module = NULL;
        atn_function *scale;
        atn_buffer *buffer = NULL;
        atn_event *event = NULL;
        atn_tape *tape = NULL;
        faults.fail_at = faults.count + n;
        atn_status status = atn_device_open(devices, cuda_info(devices)->index, &device);
        if (status == ATN_OK) status = atn_module_build(device, &(atn_build){.source = SOURCE}, &module);
        if (status == ATN_OK) status = atn_module_function(module, "scale", &scale);
        if (status == ATN_OK) status = atn_buffer_create(device, 16, &buffer);
        if (status == ATN_OK) status = atn_event_record(atn_device_queue(device), &event);
        if (status == ATN_OK) status = atn_buffer_put(NULL, buffer, 0, "sixteen bytes...", 16);
        if (status == ATN_OK) status = atn_tape_begin(atn_device_queue(device));
        if (status == ATN_OK) status = atn_tape_end(atn_device_queue(device), &tape);
        bool reached = faults.count >= faults.fail_at;
        faults.fail_at = 0;
        assert_true(reached ? status == ATN_OK || status == ATN_ERR_MEMORY : status == ATN_OK);
        atn_tape_free(tape);
        atn_event_free(event);
        atn_buffer_free(buffer);
        atn_module_free(module);
        atn_device_close(device);
        atn_devices_free(devices);
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
        assert_int_equal(fake->contexts + fake->buffers + fake->streams + fake->events + fake->modules + fake->graphs +
                             fake->blocks,
                         0);
        assert_int_equal(fake->misuse, 0);
        kit_remove(dir);
        if (!reached) break;
        assert_true(n < 200);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(info_is_filled_in),
        cmocka_unit_test(several_devices_open_at_once),
        cmocka_unit_test(large_buffers_are_kept),
        cmocka_unit_test(what_is_missing_is_noted),
        cmocka_unit_test(opening_may_fail),
        cmocka_unit_test(bytes_arrive),
        cmocka_unit_test(queues_wait_and_events_time),
        cmocka_unit_test(other_threads_may_use_it),
        cmocka_unit_test(full_memory_leaves_it_usable),
        cmocka_unit_test(broken_contexts_lose_the_device),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
