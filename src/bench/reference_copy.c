/* A copy: the reference for bandwidth. */
#include "bench/parts.h"

#include "base/memory.h"
#include "device/probes.h"

/* The one that the device's peak is measured with. */
typedef struct copy_data {
    const atn_ctx *ctx;
    atn_device *device;
    atn_module *module;
    atn_function *function;
    atn_buffer *to, *from;
    size_t bytes, groups, items;
} copy_data;

static atn_status run_copy(void *data) {
    copy_data *c = data;
    int64_t n = (int64_t)(c->bytes / 16), rounds = 1;
    atn_arg args[] = {
        {.buffer = c->to}, {.buffer = c->from}, {.value = &n, .bytes = 8}, {.value = &rounds, .bytes = 8}};
    return atn_function_launch(atn_device_queue(c->device), c->function,
                               &(atn_launch){.groups = {c->groups}, .items = {c->items}, .args = args, .n_args = 4});
}

static void close_copy(void *data) {
    copy_data *c = data;
    atn_buffer_free(c->to);
    atn_buffer_free(c->from);
    atn_module_free(c->module);
    atn_free(c->ctx, c);
}

atn_status bench_copy(atn_device *device, bench_reference *out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    const atn_device_info *info = atn_device_get_info(device);
    atn_probe_source source = atn_probe_get(device, ATN_PROBE_COPY);
    copy_data *c = atn_zalloc(ctx, sizeof *c);
    if (!c) return ATN_ERR_MEMORY;
    *c = (copy_data){.ctx = ctx, .device = device, .items = source.items, .bytes = (size_t)256 << 20};
    c->groups = source.items > 1 ? c->bytes / (16 * 4 * source.items) : (size_t)info->cores;
    atn_status status = atn_module_build(
        device, &(atn_build){.name = "copy", .source = source.source, .flags = source.flags}, &c->module);
    if (status == ATN_OK) status = atn_module_function(c->module, source.function, &c->function);
    if (status == ATN_OK) status = atn_buffer_create(device, c->bytes, &c->to);
    if (status == ATN_OK) status = atn_buffer_create(device, c->bytes, &c->from);
    for (int way = 0; way < 2 && status == ATN_OK; ++way) { /* pages lie near the thread that writes them first */
        atn_buffer *to = c->to;
        status = run_copy(c);
        c->to = c->from;
        c->from = to;
    }
    if (status == ATN_OK) status = atn_buffer_fill(NULL, c->from, 0, 0x3f, c->bytes);
    if (status != ATN_OK) {
        close_copy(c);
        return status;
    }
    *out = (bench_reference){
        .name = "copy", .run = run_copy, .data = c, .close = close_copy, .amount = 2 * (double)c->bytes};
    return ATN_OK;
}
