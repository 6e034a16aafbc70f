/* The self-test: saxpy over known numbers, all results compared. */
#include "device/selftest.h"

#include "base/memory.h"
#include "device/probes.h"

enum { COUNT = 10007 }; /* odd, so that the last group is not full */

static atn_status run_saxpy(atn_device *device, atn_module **module, atn_buffer **out, atn_buffer **in,
                            float *numbers) {
    atn_probe_source probe = atn_probe_get(device, ATN_PROBE_SAXPY);
    const size_t bytes = COUNT * sizeof(float);
    const int64_t n = COUNT, rounds = 1;
    float *x = numbers, *y = numbers + COUNT;
    for (int k = 0; k < COUNT; ++k) {
        x[k] = (float)(k % 97) - 48;
        y[k] = (float)(k % 1009) * 0.5f;
    }
    atn_function *function;
    atn_status status = atn_module_build(
        device, &(atn_build){.name = "selftest", .source = probe.source, .flags = probe.flags}, module);
    if (status == ATN_OK) status = atn_module_function(*module, probe.function, &function);
    if (status == ATN_OK) status = atn_buffer_create(device, bytes, out);
    if (status == ATN_OK) status = atn_buffer_create(device, bytes, in);
    if (status == ATN_OK) status = atn_buffer_put(NULL, *out, 0, y, bytes);
    if (status == ATN_OK) status = atn_buffer_put(NULL, *in, 0, x, bytes);
    if (status != ATN_OK) return status;
    atn_arg args[] = {{.buffer = *out}, {.buffer = *in}, {.value = &n, .bytes = 8}, {.value = &rounds, .bytes = 8}};
    atn_launch launch = {
        .groups = {(COUNT + probe.items - 1) / probe.items}, .items = {probe.items}, .args = args, .n_args = 4};
    status = atn_function_launch(NULL, function, &launch);
    return status == ATN_OK ? atn_buffer_get(NULL, *out, 0, y, bytes) : status;
}

atn_status atn_device_selftest(atn_device *device) {
    atn_module *module = NULL;
    atn_buffer *out = NULL, *in = NULL;
    const atn_ctx *ctx = atn_device_ctx(device);
    float *numbers = atn_alloc(ctx, 2 * COUNT * sizeof *numbers);
    if (!numbers) return ATN_ERR_MEMORY;
    atn_status status = run_saxpy(device, &module, &out, &in, numbers);
    for (int k = 0; k < COUNT && status == ATN_OK; ++k) {
        float right = 2 * ((float)(k % 97) - 48) + (float)(k % 1009) * 0.5f; /* exact in float */
        if (numbers[COUNT + k] != right)
            status = atn_fail(ctx, ATN_ERR_DEVICE, "%s: saxpy gave %g at %d, expected %g",
                              atn_device_get_info(device)->name, (double)numbers[COUNT + k], k, (double)right);
    }
    atn_buffer_free(in);
    atn_buffer_free(out);
    atn_module_free(module);
    atn_free(ctx, numbers);
    return status;
}
