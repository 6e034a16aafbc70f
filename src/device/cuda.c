/* The CUDA backend's table, and of it devices, buffers, queues and events. A queue is a non-blocking stream; a
 * handle keeps the device's primary context, which is made the calling thread's on every call. */
#include "device/cuda.h"

#include "base/memory.h"

static atn_cuda_device *device_of(atn_device *device) { return (atn_cuda_device *)device; }
static atn_cu_stream *stream_of(const atn_queue *queue) { return ((const atn_cuda_queue *)queue)->stream; }
static atn_cu_event *event_of(const atn_event *event) { return ((const atn_cuda_event *)event)->event; }
static atn_cu_address address_of(const atn_buffer *buffer) { return ((const atn_cuda_buffer *)buffer)->address; }

/* ---- devices ---- */

static void drop_pool(atn_cuda_device *device) {
    atn_cu_address address;
    if (device->api.context_set(device->context) != ATN_CU_SUCCESS) return;
    while (atn_cuda_pool_drop(&device->pool, &address)) device->api.free(address);
}

static void close_device(atn_device *base) {
    atn_cuda_device *device = device_of(base);
    const atn_ctx *ctx = base->ctx;
    if (device->context) {
        atn_cuda_while_free(device);
        drop_pool(device);
        device->api.context_set(NULL);
        device->api.context_release(device->device);
    }
    atn_free(ctx, device);
}

/* Loads driver and compiler, finds the device again and reads what a launch must know. */
static atn_status start_device(atn_cuda_device *device) {
    const atn_ctx *ctx = device->base.ctx;
    const atn_device_info *info = &device->base.info;
    char why[ATN_MESSAGE_BYTES];
    if (!atn_cuda_load(&device->api, why, sizeof why) ||
        !atn_nvrtc_load(&device->nvrtc, device->api.version / 1000, why, sizeof why))
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s (cuda): %s", info->name, why);
    const atn_cuda_api *api = &device->api;
    atn_status status = atn_cuda_check(device, api->device_get(&device->device, info->ordinal), "opening");
    if (status != ATN_OK) return status;
    int major = 0, minor = 0;
    int result = api->device_attribute(&major, ATN_CU_CAPABILITY_MAJOR, device->device);
    if (result == ATN_CU_SUCCESS) result = api->device_attribute(&minor, ATN_CU_CAPABILITY_MINOR, device->device);
    for (int d = 0; d < 3 && result == ATN_CU_SUCCESS; ++d)
        result = api->device_attribute(&device->max_grid[d], ATN_CU_MAX_GRID_DIM_X + d, device->device);
    status = atn_cuda_check(device, result, "reading its attributes");
    if (status != ATN_OK) return status;
    if (!atn_nvrtc_arch(&device->nvrtc, major, minor, device->target))
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED,
                        "%s (cuda): NVRTC %d.%d cannot build for sm_%d%d; look for devices again", info->name,
                        device->nvrtc.major, device->nvrtc.minor, major, minor);
    device->overlaps = api->launch_ex && major >= 9;
    return atn_cuda_check(device, api->context_retain(&device->context, device->device), "making its context");
}

static atn_status open_device(atn_ctx *ctx, const atn_device_info *info, atn_device **out) {
    *out = NULL;
    atn_cuda_device *device = atn_zalloc(ctx, sizeof *device);
    if (!device) return ATN_ERR_MEMORY;
    device->base = (atn_device){.backend = &ATN_BACKEND_CUDA, .ctx = ctx, .info = *info};
    atn_status status = start_device(device);
    if (status != ATN_OK) {
        device->context = NULL; /* retaining it is the last step: if that failed, there is nothing to release */
        close_device(&device->base);
        return status;
    }
    *out = &device->base;
    return ATN_OK;
}

/* ---- buffers ---- */

static atn_status buffer_create(atn_device *base, size_t bytes, atn_buffer **out) {
    *out = NULL;
    atn_cuda_device *device = device_of(base);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    atn_cuda_buffer *buffer = atn_zalloc(base->ctx, sizeof *buffer);
    if (!buffer) return ATN_ERR_MEMORY;
    if (!atn_cuda_pool_take(&device->pool, bytes, &buffer->address, &buffer->size)) {
        buffer->size = atn_cuda_pool_size(bytes);
        int result = device->api.alloc(&buffer->address, buffer->size);
        if (result != ATN_CU_SUCCESS && device->pool.count) {
            drop_pool(device);
            result = device->api.alloc(&buffer->address, buffer->size);
        }
        status = atn_cuda_check(device, result, "a buffer of %zu bytes", bytes);
    }
    if (status != ATN_OK) {
        atn_free(base->ctx, buffer);
        return status;
    }
    buffer->base = (atn_buffer){.device = base, .bytes = bytes};
    *out = &buffer->base;
    return ATN_OK;
}

/* Addresses of the primary context are the same for everybody in the process. */
static atn_status buffer_at(atn_device *base, void *address, atn_buffer **out) {
    atn_cuda_buffer *buffer = atn_zalloc(base->ctx, sizeof *buffer);
    *out = buffer ? &buffer->base : NULL;
    if (!buffer) return ATN_ERR_MEMORY;
    buffer->address = (atn_cu_address)(uintptr_t)address;
    return ATN_OK;
}

static void *buffer_address(atn_buffer *buffer) {
    ((atn_cuda_buffer *)buffer)->shown = true;
    return (void *)(uintptr_t)address_of(buffer);
}

static void buffer_free(atn_buffer *base) {
    enum { KEPT = 16 }; /* this fraction of the device memory is kept */
    atn_cuda_device *device = device_of(base->device);
    const atn_cuda_buffer *buffer = (const atn_cuda_buffer *)base;
    bool one = device->base.queues && !device->base.queues->next, keep = one && !buffer->shown && !device->base.lost;
    size_t most = (size_t)device->base.info.memory_bytes / KEPT;
    if (!base->foreign && !(keep && atn_cuda_pool_give(&device->pool, buffer->address, buffer->size, most)) &&
        device->api.context_set(device->context) == ATN_CU_SUCCESS)
        device->api.free(address_of(base));
    atn_free(device->base.ctx, base);
}

/* Pinned: copies run directly, concurrently with the host. */
static void *host_alloc(atn_device *base, size_t bytes) {
    atn_cuda_device *device = device_of(base);
    void *block = NULL;
    if (device->api.context_set(device->context) != ATN_CU_SUCCESS) return NULL;
    return device->api.host_alloc(&block, bytes) == ATN_CU_SUCCESS ? block : NULL;
}

/* Other libraries pin memory, too. */
static bool host_pinned(atn_device *base, const void *at) {
    atn_cuda_device *device = device_of(base);
    unsigned type = 0;
    if (!device->api.pointer_attributes || device->api.context_set(device->context) != ATN_CU_SUCCESS) return false;
    int asked = ATN_CU_POINTER_MEMORY_TYPE; /* queried in the plural form, memory that CUDA does not know is no error */
    void *answer = &type;
    int result = device->api.pointer_attributes(1, &asked, &answer, (atn_cu_address)(uintptr_t)at);
    return result == ATN_CU_SUCCESS && type == ATN_CU_MEMORY_HOST;
}

static void host_free(atn_device *base, void *block) {
    atn_cuda_device *device = device_of(base);
    if (device->api.context_set(device->context) == ATN_CU_SUCCESS) device->api.host_free(block);
}

static atn_status put(atn_queue *queue, atn_buffer *buffer, size_t offset, const void *from, size_t bytes) {
    atn_cuda_device *device = device_of(queue->device);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    int result = device->api.put(address_of(buffer) + offset, from, bytes, stream_of(queue));
    return atn_cuda_check(device, result, "putting %zu bytes", bytes);
}

static atn_status get(atn_queue *queue, const atn_buffer *buffer, size_t offset, void *to, size_t bytes) {
    atn_cuda_device *device = device_of(queue->device);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    int result = device->api.get(to, address_of(buffer) + offset, bytes, stream_of(queue));
    return atn_cuda_check(device, result, "getting %zu bytes", bytes);
}

static atn_status copy(atn_queue *queue, atn_buffer *to, size_t to_offset, const atn_buffer *from, size_t from_offset,
                       size_t bytes) {
    atn_cuda_device *device = device_of(queue->device);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    int result = device->api.copy(address_of(to) + to_offset, address_of(from) + from_offset, bytes, stream_of(queue));
    return atn_cuda_check(device, result, "copying %zu bytes", bytes);
}

static atn_status fill(atn_queue *queue, atn_buffer *buffer, size_t offset, uint8_t byte, size_t bytes) {
    atn_cuda_device *device = device_of(queue->device);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    int result = device->api.fill(address_of(buffer) + offset, byte, bytes, stream_of(queue));
    return atn_cuda_check(device, result, "filling %zu bytes", bytes);
}

/* ---- queues ---- */

static atn_status queue_create(atn_device *base, atn_queue **out) {
    *out = NULL;
    atn_cuda_device *device = device_of(base);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    atn_cuda_queue *queue = atn_zalloc(base->ctx, sizeof *queue);
    if (!queue) return ATN_ERR_MEMORY;
    status = atn_cuda_check(device, device->api.stream_create(&queue->stream, ATN_CU_STREAM_NON_BLOCKING), "a queue");
    if (status != ATN_OK) {
        atn_free(base->ctx, queue);
        return status;
    }
    queue->base = (atn_queue){.device = base};
    *out = &queue->base;
    return ATN_OK;
}

static void queue_free(atn_queue *base) {
    atn_cuda_device *device = device_of(base->device);
    if (device->api.context_set(device->context) == ATN_CU_SUCCESS) {
        if (!base->device->lost) (void)device->api.stream_finish(stream_of(base)); /* no work outlives its queue */
        device->api.stream_destroy(stream_of(base));
    }
    atn_free(device->base.ctx, base);
}

static atn_status queue_finish(atn_queue *queue) {
    atn_cuda_device *device = device_of(queue->device);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    return atn_cuda_check(device, device->api.stream_finish(stream_of(queue)), "finishing a queue");
}

static atn_status queue_wait(atn_queue *queue, const atn_event *event) {
    atn_cuda_device *device = device_of(queue->device);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    int result = device->api.stream_wait(stream_of(queue), event_of(event), 0);
    return atn_cuda_check(device, result, "letting a queue wait for an event");
}

/* An event of its own, which the driver keeps until it has come: streams of others may be from anywhere. */
static atn_status queue_follow(atn_queue *queue, void *stream) {
    atn_cuda_device *device = device_of(queue->device);
    atn_cu_event *event = NULL;
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    status = atn_cuda_check(device, device->api.event_create(&event, ATN_CU_EVENT_DEFAULT), "making an event");
    if (status != ATN_OK) return status;
    int result = device->api.event_record(event, stream);
    if (result == ATN_CU_SUCCESS) result = device->api.stream_wait(stream_of(queue), event, 0);
    device->shared = true;
    (void)device->api.event_destroy(event);
    return atn_cuda_check(device, result, "waiting for the caller's stream");
}

static void *queue_stream(atn_queue *queue) {
    device_of(queue->device)->shared = true;
    return stream_of(queue);
}

/* ---- events ---- */

static void event_free(atn_event *base) {
    atn_cuda_device *device = device_of(base->device);
    if (device->api.context_set(device->context) == ATN_CU_SUCCESS) device->api.event_destroy(event_of(base));
    atn_free(device->base.ctx, base);
}

static atn_status event_create(atn_device *base, atn_event **out) {
    *out = NULL;
    atn_cuda_device *device = device_of(base);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    atn_cuda_event *event = atn_zalloc(base->ctx, sizeof *event);
    if (!event) return ATN_ERR_MEMORY;
    status = atn_cuda_check(device, device->api.event_create(&event->event, ATN_CU_EVENT_DEFAULT), "making an event");
    if (status != ATN_OK) {
        atn_free(base->ctx, event);
        return status;
    }
    *out = &event->base;
    return ATN_OK;
}

static atn_status event_mark(atn_queue *queue, atn_event *event) {
    atn_cuda_device *device = device_of(queue->device);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    return atn_cuda_check(device, device->api.event_record(event_of(event), stream_of(queue)), "recording an event");
}

static atn_status event_wait(atn_event *event) {
    atn_cuda_device *device = device_of(event->device);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    return atn_cuda_check(device, device->api.event_wait(event_of(event)), "waiting for an event");
}

static atn_status event_elapsed(const atn_event *from, const atn_event *to, double *seconds) {
    *seconds = 0;
    atn_cuda_device *device = device_of(from->device);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    float milliseconds = 0;
    int result = device->api.event_wait(event_of(from));
    if (result == ATN_CU_SUCCESS) result = device->api.event_wait(event_of(to));
    if (result == ATN_CU_SUCCESS) result = device->api.event_elapsed(&milliseconds, event_of(from), event_of(to));
    *seconds = (double)milliseconds * 1e-3;
    return atn_cuda_check(device, result, "timing between two events");
}

const atn_backend ATN_BACKEND_CUDA = {
    .name = "cuda",
    .list = atn_cuda_list,
    .open = open_device,
    .close = close_device,
    .buffer_create = buffer_create,
    .buffer_at = buffer_at,
    .buffer_address = buffer_address,
    .buffer_free = buffer_free,
    .host_alloc = host_alloc,
    .host_pinned = host_pinned,
    .host_free = host_free,
    .put = put,
    .get = get,
    .copy = copy,
    .fill = fill,
    .build = atn_cuda_build,
    .module_free = atn_cuda_module_free,
    .function = atn_cuda_function_find,
    .function_info = atn_cuda_function_info,
    .launch = atn_cuda_launch,
    .queue_create = queue_create,
    .queue_free = queue_free,
    .queue_finish = queue_finish,
    .queue_wait = queue_wait,
    .queue_follow = queue_follow,
    .queue_stream = queue_stream,
    .event_create = event_create,
    .event_mark = event_mark,
    .event_wait = event_wait,
    .event_elapsed = event_elapsed,
    .event_free = event_free,
    .tape_begin = atn_cuda_graph_begin,
    .tape_end = atn_cuda_graph_end,
    .tape_launch = atn_cuda_graph_launch,
    .tape_free = atn_cuda_graph_free,
    .tape_can_while = atn_cuda_can_while,
    .tape_while = atn_cuda_while,
    .tape_while_end = atn_cuda_while_end,
};
