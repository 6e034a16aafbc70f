/* The dispatch in front of the backends: finds devices, checks what callers give, keeps a lost device from being
 * used, and turns sizes of zero into nothing to do. No backend is named here but in one table. */
#include "device/backend.h"

#include "base/memory.h"
#include "base/size.h"
#include "device/host_cpu.h"

#include <stdio.h>
#include <string.h>

static const atn_backend *const BACKENDS[] = {&ATN_BACKEND_HOST, &ATN_BACKEND_OPENCL, &ATN_BACKEND_CUDA};
enum { N_BACKENDS = sizeof BACKENDS / sizeof *BACKENDS, MAX_NAME = 100 };

const atn_backend *atn_backend_find(const char *name) {
    for (size_t k = 0; k < N_BACKENDS; ++k)
        if (strcmp(BACKENDS[k]->name, name) == 0) return BACKENDS[k];
    return NULL;
}

atn_status atn_backends_list(atn_ctx *ctx, atn_devices *devices) {
    for (size_t k = 0; k < N_BACKENDS; ++k) {
        atn_status status = BACKENDS[k]->list(ctx, devices);
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

atn_status atn_device_open_info(atn_ctx *ctx, const atn_device_info *info, atn_device **out) {
    *out = NULL;
    const atn_backend *backend = atn_backend_find(info->backend);
    if (!backend)
        return atn_fail(ctx, ATN_ERR_INPUT, "no backend '%s'; there are host, opencl and cuda", info->backend);
    atn_device *device;
    atn_status status = backend->open(ctx, info, &device);
    if (status != ATN_OK) return status;
    device->backend = backend;
    device->ctx = ctx;
    device->info = *info;
    status = atn_queue_create(device, &device->queue);
    if (status != ATN_OK) {
        backend->close(device);
        return status;
    }
    *out = device;
    return ATN_OK;
}

void atn_device_close(atn_device *device) {
    if (!device) return;
    atn_queue_free(device->queue);
    device->backend->close(device);
}

const atn_device_info *atn_device_get_info(const atn_device *device) { return &device->info; }
atn_ctx *atn_device_ctx(const atn_device *device) { return device->ctx; }
bool atn_device_lost(const atn_device *device) { return device->lost; }
atn_queue *atn_device_queue(atn_device *device) { return device->queue; }

atn_status atn_device_lose(atn_device *device, const char *format, ...) {
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    device->lost = true;
    return atn_fail(device->ctx, ATN_ERR_LOST, "%s: %s; the device is not usable any more in this process",
                    device->info.name, why);
}

static atn_status check_alive(const atn_device *device) {
    if (!device->lost) return ATN_OK;
    return atn_fail(device->ctx, ATN_ERR_LOST, "%s: was lost in an earlier call; close it and open it in a new process",
                    device->info.name);
}

/* ---- buffers ---- */

static bool counted_by_context(const atn_device *device) { return device->backend == &ATN_BACKEND_HOST; }

size_t atn_device_peak_bytes(const atn_device *device) { return device->peak_bytes; }

int64_t atn_device_free_bytes(const atn_device *device) {
    int64_t left = device->info.memory_bytes - (int64_t)device->bytes;
    if (!counted_by_context(device) && !device->info.cpu) return left;
    int64_t available = atn_cpu_free_memory(), held = (int64_t)atn_ctx_bytes(device->ctx);
    left = device->info.memory_bytes - held;
    return available > 0 && available < left ? available : left;
}

/* A buffer of no bytes exists on no device: only the base is there. */
atn_status atn_buffer_create(atn_device *device, size_t bytes, atn_buffer **out) {
    *out = NULL;
    atn_status status = check_alive(device);
    if (status != ATN_OK) return status;
    if (bytes > (uint64_t)device->info.max_alloc_bytes)
        return atn_fail(device->ctx, ATN_ERR_MEMORY, "%s: a buffer of %zu bytes is wanted, its largest is %lld",
                        device->info.name, bytes, (long long)device->info.max_alloc_bytes);
    atn_buffer *buffer;
    if (bytes == 0) {
        buffer = atn_zalloc(device->ctx, sizeof *buffer);
        status = buffer ? ATN_OK : ATN_ERR_MEMORY;
    } else {
        status = device->backend->buffer_create(device, bytes, &buffer);
    }
    if (status != ATN_OK) return status;
    buffer->device = device;
    buffer->bytes = bytes;
    if (!counted_by_context(device)) device->bytes += bytes;
    if (device->bytes > device->peak_bytes) device->peak_bytes = device->bytes;
    *out = buffer;
    return ATN_OK;
}

void atn_buffer_free(atn_buffer *buffer) {
    if (!buffer) return;
    if (!counted_by_context(buffer->device)) buffer->device->bytes -= buffer->bytes;
    if (buffer->bytes == 0)
        atn_free(buffer->device->ctx, buffer);
    else
        buffer->device->backend->buffer_free(buffer);
}

size_t atn_buffer_bytes(const atn_buffer *buffer) { return buffer->bytes; }

void *atn_buffer_host(atn_buffer *buffer) {
    const atn_backend *backend = buffer->device->backend;
    return buffer->bytes && backend->buffer_host ? backend->buffer_host(buffer) : NULL;
}

/* Small ones are copied as fast anyway, and those that do not move are taken from everybody. */
void *atn_block_create(atn_device *device, size_t bytes, bool *fast) {
    enum { SMALL = 64 << 10 };
    void *block = NULL;
    if (device->backend->block_create && bytes > SMALL && bytes < (size_t)1 << 30)
        block = device->backend->block_create(device, bytes);
    *fast = block;
    return block ? block : atn_alloc(device->ctx, bytes);
}

void atn_block_free(atn_device *device, void *block, bool fast) {
    if (fast)
        device->backend->block_free(device, block);
    else
        atn_free(device->ctx, block);
}

static atn_status check_span(const atn_buffer *buffer, size_t offset, size_t bytes) {
    atn_status status = check_alive(buffer->device);
    if (status != ATN_OK) return status;
    if (atn_size_within(offset, bytes, buffer->bytes)) return ATN_OK;
    return atn_fail(buffer->device->ctx, ATN_ERR_INPUT, "bytes %zu to %zu+%zu are outside a buffer of %zu", offset,
                    offset, bytes, buffer->bytes);
}

static atn_queue *queue_of(atn_queue *queue, const atn_buffer *buffer) { return queue ? queue : buffer->device->queue; }

atn_status atn_buffer_put(atn_queue *queue, atn_buffer *buffer, size_t offset, const void *from, size_t bytes) {
    atn_status status = check_span(buffer, offset, bytes);
    if (status != ATN_OK || bytes == 0) return status;
    return buffer->device->backend->put(queue_of(queue, buffer), buffer, offset, from, bytes);
}

atn_status atn_buffer_get(atn_queue *queue, const atn_buffer *buffer, size_t offset, void *to, size_t bytes) {
    atn_status status = check_span(buffer, offset, bytes);
    if (status != ATN_OK || bytes == 0) return status;
    return buffer->device->backend->get(queue_of(queue, buffer), buffer, offset, to, bytes);
}

atn_status atn_buffer_copy(atn_queue *queue, atn_buffer *to, size_t to_offset, const atn_buffer *from,
                           size_t from_offset, size_t bytes) {
    atn_status status = check_span(to, to_offset, bytes);
    if (status == ATN_OK) status = check_span(from, from_offset, bytes);
    if (status != ATN_OK || bytes == 0) return status;
    if (to->device != from->device)
        return atn_fail(to->device->ctx, ATN_ERR_INPUT,
                        "a copy between two devices goes through the host: get, then put");
    if (to == from && to_offset < from_offset + bytes && from_offset < to_offset + bytes)
        return atn_fail(to->device->ctx, ATN_ERR_INPUT, "a copy within one buffer overlaps itself");
    return to->device->backend->copy(queue_of(queue, to), to, to_offset, from, from_offset, bytes);
}

atn_status atn_buffer_fill(atn_queue *queue, atn_buffer *buffer, size_t offset, uint8_t byte, size_t bytes) {
    atn_status status = check_span(buffer, offset, bytes);
    if (status != ATN_OK || bytes == 0) return status;
    return buffer->device->backend->fill(queue_of(queue, buffer), buffer, offset, byte, bytes);
}

/* ---- modules ---- */

atn_status atn_module_build(atn_device *device, const atn_build *build, atn_module **out) {
    *out = NULL;
    atn_status status = check_alive(device);
    if (status != ATN_OK) return status;
    atn_build full = *build;
    if (!full.name) full.name = "kernel";
    if (!(full.timeout_s > 0)) full.timeout_s = 120;
    if (!*full.name || strlen(full.name) > MAX_NAME || strchr(full.name, '/'))
        return atn_fail(device->ctx, ATN_ERR_INPUT,
                        "'%.40s%s' is no name for a kernel; 1 to %d bytes without '/' are right", full.name,
                        strlen(full.name) > 40 ? "..." : "", MAX_NAME);
    if (!full.source) return atn_fail(device->ctx, ATN_ERR_INPUT, "%s: has no source text to build", full.name);
    status = device->backend->build(device, &full, out);
    if (status == ATN_OK) (*out)->device = device;
    return status;
}

void atn_module_free(atn_module *module) {
    if (module) module->device->backend->module_free(module);
}

size_t atn_module_code_bytes(const atn_module *module) { return module->code_bytes; }
bool atn_module_cached(const atn_module *module) { return module->cached; }
bool atn_module_compiled_in(const atn_module *module) { return module->compiled_in; }

atn_status atn_module_function(atn_module *module, const char *name, atn_function **out) {
    *out = NULL;
    atn_status status = check_alive(module->device);
    if (status != ATN_OK) return status;
    status = module->device->backend->function(module, name, out);
    if (status == ATN_OK) (*out)->module = module;
    return status;
}

atn_status atn_function_get_info(const atn_function *function, int32_t items, atn_function_info *out) {
    const atn_backend *backend = function->module->device->backend;
    *out = (atn_function_info){-1, -1, -1, -1, -1};
    return backend->function_info ? backend->function_info(function, items, out) : ATN_OK;
}

/* ---- launches ---- */

atn_status atn_function_launch(atn_queue *queue, atn_function *function, const atn_launch *launch) {
    atn_device *device = function->module->device;
    atn_status status = check_alive(device);
    if (status != ATN_OK) return status;
    if (launch->n_args > ATN_MAX_ARGS)
        return atn_fail(device->ctx, ATN_ERR_INPUT, "a launch with %zu arguments, at most %d are passed",
                        launch->n_args, ATN_MAX_ARGS);
    for (size_t k = 0; k < launch->n_args; ++k) {
        const atn_arg *arg = &launch->args[k];
        if (arg->buffer ? arg->buffer->device != device : !arg->value || arg->bytes == 0 || arg->bytes > 16)
            return atn_fail(device->ctx, ATN_ERR_INPUT, "argument %zu of a launch on %s: %s", k, device->info.name,
                            arg->buffer ? "its buffer is another device's"
                                        : "it is neither a buffer nor a value of 1 to 16 bytes");
    }
    if (launch->groups[0] == 0) return ATN_OK;
    atn_launch full = *launch;
    for (int d = 0; d < 3; ++d) {
        if (full.groups[d] == 0) full.groups[d] = 1;
        if (full.items[d] == 0) full.items[d] = 1;
    }
    return device->backend->launch(queue ? queue : device->queue, function, &full);
}

/* ---- queues and events ---- */

atn_status atn_queue_create(atn_device *device, atn_queue **out) {
    *out = NULL;
    atn_status status = check_alive(device);
    if (status != ATN_OK) return status;
    status = device->backend->queue_create(device, out);
    if (status == ATN_OK) (*out)->device = device;
    return status;
}

void atn_queue_free(atn_queue *queue) {
    if (queue) queue->device->backend->queue_free(queue);
}

atn_status atn_queue_finish(atn_queue *queue) {
    atn_status status = check_alive(queue->device);
    return status == ATN_OK ? queue->device->backend->queue_finish(queue) : status;
}

atn_status atn_queue_wait(atn_queue *queue, const atn_event *event) {
    atn_status status = check_alive(queue->device);
    return status == ATN_OK ? queue->device->backend->queue_wait(queue, event) : status;
}

atn_status atn_event_record(atn_queue *queue, atn_event **out) {
    *out = NULL;
    atn_status status = check_alive(queue->device);
    if (status != ATN_OK) return status;
    status = queue->device->backend->event_record(queue, out);
    if (status == ATN_OK) (*out)->device = queue->device;
    return status;
}

atn_status atn_event_wait(atn_event *event) {
    atn_status status = check_alive(event->device);
    return status == ATN_OK ? event->device->backend->event_wait(event) : status;
}

atn_status atn_event_elapsed(const atn_event *from, const atn_event *to, double *seconds) {
    *seconds = 0;
    atn_status status = check_alive(from->device);
    return status == ATN_OK ? from->device->backend->event_elapsed(from, to, seconds) : status;
}

void atn_event_free(atn_event *event) {
    if (event) event->device->backend->event_free(event);
}

/* ---- tapes ---- */

atn_status atn_tape_begin(atn_queue *queue) {
    atn_device *device = queue->device;
    atn_status status = check_alive(device);
    if (status != ATN_OK) return status;
    if (!device->backend->tape_begin)
        return atn_fail(device->ctx, ATN_ERR_UNSUPPORTED, "%s (%s): launches cannot be kept", device->info.name,
                        device->backend->name);
    return device->backend->tape_begin(queue);
}

/* Also of a device that was lost meanwhile: what was begun is ended. */
atn_status atn_tape_end(atn_queue *queue, atn_tape **out) {
    *out = NULL;
    atn_status status = queue->device->backend->tape_end(queue, out);
    if (status == ATN_OK) (*out)->device = queue->device;
    return status;
}

atn_status atn_tape_launch(atn_queue *queue, atn_tape *tape) {
    atn_status status = check_alive(queue->device);
    if (status != ATN_OK) return status;
    if (tape->device != queue->device)
        return atn_fail(queue->device->ctx, ATN_ERR_INPUT, "launches kept on %s for a queue of %s",
                        tape->device->info.name, queue->device->info.name);
    return queue->device->backend->tape_launch(queue, tape);
}

void atn_tape_free(atn_tape *tape) {
    if (tape) tape->device->backend->tape_free(tape);
}

atn_status atn_device_bind(atn_device *device, atn_bind bind, atn_places places) {
    if (!device->backend->bind)
        return atn_fail(device->ctx, ATN_ERR_UNSUPPORTED, "%s: only the host's threads can be bound to places",
                        device->info.name);
    return device->backend->bind(device, bind, places);
}
