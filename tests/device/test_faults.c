/* The fault test: every allocation of listing the devices with their peaks, and of a build-and-launch, fails once. What
 * comes of it is an error with a sentence, or success where the allocation could be done without; never a leak. */
#include "testkit.h"

#include "base/memory.h"
#include "device/backend.h"
#include "device/probes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *cache_dir;

static atn_ctx *open_ctx(kit_faults *faults) {
    *faults = (kit_faults){0};
    atn_ctx_settings options = kit_fault_options(faults);
    options.cache_dir = cache_dir;
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    return ctx;
}

/* An outcome is good when it is success, or a want of memory that was caused and is told. */
static void judge(const atn_ctx *ctx, atn_status status, bool reached) {
    if (status == ATN_OK) return;
    if (!reached) fail_msg("nothing failed, and yet %s: %s", atn_status_name(status), atn_ctx_message(ctx));
    if (status != ATN_ERR_MEMORY) fail_msg("%s, not memory: %s", atn_status_name(status), atn_ctx_message(ctx));
    kit_contains(atn_ctx_message(ctx), "memory");
}

static atn_status show_devices(atn_ctx *ctx) {
    atn_devices *devices;
    atn_status status = atn_devices_find(ctx, &devices);
    if (status != ATN_OK) {
        assert_null(devices);
        return status;
    }
    for (int32_t k = 0; k < atn_devices_count(devices) && status == ATN_OK; ++k) {
        atn_device *device;
        atn_peaks peaks = {0};
        status = atn_device_open(devices, k, &device);
        if (status != ATN_OK) {
            assert_null(device);
            continue;
        }
        status = atn_device_peaks(device, &peaks);
        assert_true(status == ATN_OK ? peaks.fp32 > 0 : peaks.fp32 == 0);
        atn_device_close(device);
    }
    atn_devices_free(devices);
    return status;
}

KIT_TEST(listing) {
    kit_faults faults;
    atn_ctx *ctx = open_ctx(&faults);
    kit_ok(ctx, show_devices(ctx)); /* measures, and keeps the peaks for what follows */
    atn_ctx_free(ctx);
    assert_int_equal(faults.live, 0);
    long n = 1;
    for (bool reached = true; reached; ++n) {
        ctx = open_ctx(&faults);
        long first = faults.count;
        faults.fail_at = first + n;
        atn_status status = show_devices(ctx);
        reached = faults.count >= first + n;
        judge(ctx, status, reached);
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
    }
    print_message("    %ld allocations failed in turn\n", n - 2);
    assert_true(n > 10);
}

/* ---- build and launch ---- */

enum { COUNT = 5000 };

/* saxpy in the device's own dialect, with events around it; `mark` makes the source unlike any before. */
static atn_status build_and_launch(atn_device *device, long mark) {
    static float x[COUNT], y[COUNT];
    atn_probe_source probe = atn_probe_get(device, ATN_PROBE_SAXPY);
    char *source = malloc(strlen(probe.source) + 64);
    sprintf(source, "%s/* %ld */\n", probe.source, mark);
    for (int k = 0; k < COUNT; ++k) x[k] = (float)k, y[k] = 1;
    const int64_t n = COUNT, rounds = 1;
    double seconds;
    atn_module *module = NULL;
    atn_function *function;
    atn_buffer *out = NULL, *in = NULL;
    atn_queue *queue = NULL;
    atn_event *begin = NULL, *end = NULL;
    atn_status status =
        atn_module_build(device, &(atn_build){.name = "faulty", .source = source, .flags = probe.flags}, &module);
    if (status == ATN_OK) status = atn_module_function(module, probe.function, &function);
    if (status == ATN_OK) status = atn_queue_create(device, &queue);
    if (status == ATN_OK) status = atn_buffer_create(device, sizeof x, &in);
    if (status == ATN_OK) status = atn_buffer_create(device, sizeof y, &out);
    if (status == ATN_OK) status = atn_buffer_put(queue, in, 0, x, sizeof x);
    if (status == ATN_OK) status = atn_buffer_put(queue, out, 0, y, sizeof y);
    atn_arg args[] = {{.buffer = out}, {.buffer = in}, {.value = &n, .bytes = 8}, {.value = &rounds, .bytes = 8}};
    atn_launch launch = {
        .groups = {(COUNT + probe.items - 1) / probe.items}, .items = {probe.items}, .args = args, .n_args = 4};
    if (status == ATN_OK) status = atn_event_record(queue, &begin);
    if (status == ATN_OK) status = atn_function_launch(queue, function, &launch);
    if (status == ATN_OK) status = atn_event_record(queue, &end);
    if (status == ATN_OK) status = atn_event_elapsed(begin, end, &seconds);
    if (status == ATN_OK) status = atn_buffer_get(queue, out, 0, y, sizeof y);
    for (int k = 0; k < COUNT && status == ATN_OK; ++k) assert_true(y[k] == 2 * (float)k + 1);
    atn_event_free(end);
    atn_event_free(begin);
    atn_buffer_free(out);
    atn_buffer_free(in);
    atn_queue_free(queue);
    atn_module_free(module);
    free(source);
    return status;
}

/* Walks through the allocations of a device; fresh: each time the code is built anew, else found in the cache. */
static void walk(const atn_device_info *info, bool fresh) {
    static long mark; /* never the same source twice */
    long n = 1;
    for (bool reached = true; reached; ++n) {
        kit_faults faults;
        atn_ctx *ctx = open_ctx(&faults);
        atn_device *device;
        kit_ok(ctx, atn_device_open_info(ctx, info, &device));
        if (n == 1) kit_ok(ctx, build_and_launch(device, ++mark));
        if (n == 1)
            print_message("    on %s: %s, %s\n", atn_device_get_info(device)->backend,
                          atn_device_get_info(device)->name, fresh ? "built anew" : "from the cache");
        long first = faults.count;
        faults.fail_at = first + n;
        atn_status status = build_and_launch(device, fresh ? ++mark : mark);
        reached = faults.count >= first + n;
        judge(ctx, status, reached);
        assert_false(atn_device_lost(device));
        if (reached && n % 8 == 0) kit_ok(ctx, build_and_launch(device, mark)); /* as good as before */
        atn_device_close(device);
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
    }
    print_message("    %ld allocations failed in turn\n", n - 2);
    assert_true(n > 5);
}

KIT_TEST(building_and_launching) {
    kit_faults faults;
    atn_ctx *ctx = open_ctx(&faults);
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    for (int32_t k = 0; k < atn_devices_count(devices); ++k) {
        const atn_device_info *info = atn_devices_info(devices, k);
        if (!kit_wants(info->backend)) continue;
        walk(info, false);
        walk(info, true);
    }
    atn_devices_free(devices);
    atn_ctx_free(ctx);
}

/* ---- the peaks themselves ---- */

static void peaks_of_host(atn_peaks *peaks, bool *positive) {
    kit_faults faults;
    atn_ctx *ctx = open_ctx(&faults);
    atn_devices *devices;
    atn_device *device;
    atn_peaks again = {0};
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    kit_ok(ctx, atn_device_peaks(device, peaks));
    kit_ok(ctx, atn_device_peaks(device, &again));
    assert_memory_equal(peaks, &again, sizeof again); /* to the bit: the first was kept */
    *positive = peaks->fp32 > 0 && peaks->fp64 > 0 && peaks->bandwidth > 0 && isfinite(peaks->fp32) &&
                isfinite(peaks->fp64) && isfinite(peaks->bandwidth) && peaks->fp16 >= 0;
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    assert_int_equal(faults.live, 0);
}

KIT_TEST(peaks_are_measured_once) {
    atn_peaks first = {0}, second = {0};
    bool positive;
    peaks_of_host(&first, &positive);
    assert_true(positive);
    peaks_of_host(&second, &positive); /* another context, the same cache */
    assert_memory_equal(&first, &second, sizeof first);
}

static int setup(void **state) {
    (void)state;
    cache_dir = kit_tempdir();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    kit_remove(cache_dir);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_are_measured_once),
        cmocka_unit_test(listing),
        cmocka_unit_test(building_and_launching),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
