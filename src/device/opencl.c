/* The OpenCL backend: opening a device, its memory, queues and events. Queues are in order and keep times; what
 * came with OpenCL 1.2 (fill, markers and barriers with a wait list) is used where it is there. */
#include "device/opencl.h"

#include "base/memory.h"
#include "base/text.h"

#include <string.h>

enum { SCRATCH_BYTES = 64, FILL_BYTES = 1024, ZERO_BYTES = 4096, PATTERN_BYTES = 16 };

static cl_command_queue own_queue(const atn_queue *queue) { return ((const atn_opencl_queue *)queue)->queue; }
static cl_mem own_mem(const atn_buffer *buffer) { return ((const atn_opencl_buffer *)buffer)->mem; }

/* ---- markers ---- */

/* A real command that changes nothing anyone sees: what a marker is replaced by where it keeps no time. */
static cl_int enqueue_copy(const atn_opencl_device *device, cl_command_queue queue, cl_event *out) {
    return device->api.clEnqueueCopyBuffer(queue, device->scratch, device->scratch, 0, SCRATCH_BYTES / 2, 1, 0, NULL,
                                           out);
}

static cl_int enqueue_marker(const atn_opencl_device *device, cl_command_queue queue, cl_event *out) {
    if (device->version >= 102 && device->api.clEnqueueMarkerWithWaitList)
        return device->api.clEnqueueMarkerWithWaitList(queue, 0, NULL, out);
    if (device->api.clEnqueueMarker) return device->api.clEnqueueMarker(queue, out);
    return enqueue_copy(device, queue, out);
}

/* When the event's command ended, in nanoseconds of the device's clock; the event is over. */
static cl_int end_time(const atn_opencl_device *device, cl_event event, cl_ulong *out) {
    *out = 0;
    cl_int code = device->api.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *out, out, NULL);
    return code == CL_SUCCESS && *out == 0 ? CL_PROFILING_INFO_NOT_AVAILABLE : code;
}

static bool try_marker(const atn_opencl_device *device) {
    cl_event event;
    cl_ulong when;
    if (enqueue_marker(device, device->own, &event) != CL_SUCCESS) return false;
    bool timed = device->api.clWaitForEvents(1, &event) == CL_SUCCESS && end_time(device, event, &when) == CL_SUCCESS;
    (void)device->api.clReleaseEvent(event);
    return timed;
}

/* ---- open and close ---- */

static void close_device(atn_device *base) {
    atn_opencl_device *device = atn_opencl_of(base);
    const atn_opencl_api *api = &device->api;
    if (device->scratch) (void)api->clReleaseMemObject(device->scratch);
    if (device->own) (void)api->clReleaseCommandQueue(device->own);
    if (device->context) (void)api->clReleaseContext(device->context);
    atn_free(base->ctx, device->identity);
    atn_free(base->ctx, device);
}

/* Everything that a built binary depends on in addition to its source and options. */
static atn_status identify(atn_opencl_device *device) {
    const atn_ctx *ctx = device->base.ctx;
    const atn_opencl_place platform = {.platform = device->place.platform};
    const struct {
        atn_opencl_place place;
        cl_uint what;
    } parts[] = {{platform, CL_PLATFORM_NAME},
                 {platform, CL_PLATFORM_VERSION},
                 {device->place, CL_DEVICE_NAME},
                 {device->place, CL_DEVICE_VERSION},
                 {device->place, CL_DRIVER_VERSION}};
    atn_text text = {.ctx = ctx};
    atn_status status = ATN_OK;
    for (size_t k = 0; k < sizeof parts / sizeof *parts && status == ATN_OK; ++k) {
        char *part = atn_opencl_text(ctx, &device->api, parts[k].place, parts[k].what);
        if (part)
            atn_text_printf(&text, "%s\n", part);
        else
            status = ATN_ERR_MEMORY;
        atn_free(ctx, part);
    }
    if (status == ATN_OK) status = atn_text_status(&text);
    if (status == ATN_OK)
        device->identity = text.data;
    else
        atn_text_free(&text);
    return status;
}

static atn_status make_context(atn_opencl_device *device) {
    const atn_opencl_api *api = &device->api;
    const intptr_t properties[] = {CL_CONTEXT_PLATFORM, (intptr_t)device->place.platform, 0};
    cl_int code;
    device->context = api->clCreateContext(properties, 1, &device->place.device, NULL, NULL, &code);
    if (code != CL_SUCCESS) goto refused;
    device->own = api->clCreateCommandQueue(device->context, device->place.device, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS) goto refused;
    device->scratch = api->clCreateBuffer(device->context, CL_MEM_READ_WRITE, SCRATCH_BYTES, NULL, &code);
    if (code != CL_SUCCESS) goto refused;
    if (!atn_opencl_works(device))
        return atn_fail(device->base.ctx, ATN_ERR_DEVICE, "%s: can be opened, but not a single byte can be allocated",
                        device->base.info.name);
    device->marker_times = try_marker(device);
    return ATN_OK;
refused:
    return atn_fail(device->base.ctx, ATN_ERR_DEVICE, "%s: does not open: %s (%d)", device->base.info.name,
                    atn_opencl_error_find(code)->name, code);
}

static atn_status open_device(atn_ctx *ctx, const atn_device_info *info, atn_device **out) {
    *out = NULL;
    atn_opencl_device *device = atn_zalloc(ctx, sizeof *device);
    if (!device) return ATN_ERR_MEMORY;
    device->base = (atn_device){.backend = &ATN_BACKEND_OPENCL, .ctx = ctx, .info = *info};
    char why[ATN_OPENCL_WHY];
    atn_status status = ATN_OK;
    if (!atn_opencl_load(&device->api, why, sizeof why))
        status = atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: %s", info->name, why);
    if (status == ATN_OK) status = atn_opencl_find(ctx, &device->api, info, &device->place, &device->version);
    if (status == ATN_OK) status = identify(device);
    if (status == ATN_OK) status = make_context(device);
    if (status == ATN_OK)
        *out = &device->base;
    else
        close_device(&device->base);
    return status;
}

/* ---- buffers ---- */

/* Drivers reserve memory at a buffer's first use. One byte written now makes a lack of memory show here, where the
 * caller can still do something about it; the queue is our own, so that no work of the caller is waited for. */
static cl_int touch(const atn_opencl_device *device, cl_mem mem, size_t bytes) {
    const uint8_t zero = 0;
    return device->api.clEnqueueWriteBuffer(device->own, mem, CL_TRUE, bytes - 1, 1, &zero, 0, NULL, NULL);
}

static atn_status buffer_create(atn_device *base, size_t bytes, atn_buffer **out) {
    *out = NULL;
    atn_opencl_device *device = atn_opencl_of(base);
    if (bytes > (uint64_t)base->info.max_alloc_bytes)
        return atn_fail(base->ctx, ATN_ERR_MEMORY,
                        "%s: a buffer needs %zu bytes, the device's largest buffer is %lld bytes", base->info.name,
                        bytes, (long long)base->info.max_alloc_bytes);
    atn_opencl_buffer *buffer = atn_zalloc(base->ctx, sizeof *buffer);
    if (!buffer) return ATN_ERR_MEMORY;
    cl_int code;
    buffer->mem = device->api.clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code == CL_SUCCESS && (code = touch(device, buffer->mem, bytes)) != CL_SUCCESS)
        (void)device->api.clReleaseMemObject(buffer->mem);
    if (code != CL_SUCCESS) {
        atn_free(base->ctx, buffer);
        return atn_opencl_check(base, code, "a buffer of %zu bytes of the device's %lld", bytes,
                                (long long)base->info.memory_bytes);
    }
    buffer->base.device = base;
    *out = &buffer->base;
    return ATN_OK;
}

static void buffer_free(atn_buffer *buffer) {
    (void)atn_opencl_of(buffer->device)->api.clReleaseMemObject(own_mem(buffer));
    atn_free(buffer->device->ctx, buffer);
}

/* Commands of an in-order queue depend on the preceding ones: the last copy from the host represents all. */
static void hold(atn_queue *queue, cl_event event) {
    atn_opencl_queue *own = (atn_opencl_queue *)queue;
    if (own->copy) (void)atn_opencl_of(queue->device)->api.clReleaseEvent(own->copy);
    own->copy = event;
}

/* How the copies of all queues ended, as far as they did; each is reported once. */
static cl_int settle(atn_device *device) {
    const atn_opencl_api *api = &atn_opencl_of(device)->api;
    cl_int code = CL_SUCCESS;
    for (atn_queue *queue = device->queues; queue; queue = queue->next) {
        cl_event copy = ((atn_opencl_queue *)queue)->copy;
        cl_int state = CL_COMPLETE;
        if (!copy || api->clGetEventInfo(copy, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) ||
            state > CL_COMPLETE)
            continue;
        if (code == CL_SUCCESS) code = state;
        hold(queue, NULL);
    }
    return code;
}

static atn_status put(atn_queue *queue, atn_buffer *buffer, size_t offset, const void *from, size_t bytes) {
    cl_event event;
    cl_int code = atn_opencl_of(buffer->device)
                      ->api.clEnqueueWriteBuffer(own_queue(queue), own_mem(buffer), CL_FALSE, offset, bytes, from, 0,
                                                 NULL, &event);
    if (code == CL_SUCCESS) hold(queue, event);
    return atn_opencl_check(buffer->device, code, "writing %zu bytes to a buffer", bytes);
}

/* Always waits: NVIDIA's driver reports commands after a read as complete, and starts others, before its bytes have
 * arrived. */
static atn_status get(atn_queue *queue, const atn_buffer *buffer, size_t offset, void *to, size_t bytes) {
    cl_int code =
        atn_opencl_of(buffer->device)
            ->api.clEnqueueReadBuffer(own_queue(queue), own_mem(buffer), CL_TRUE, offset, bytes, to, 0, NULL, NULL);
    return atn_opencl_check(buffer->device, code, "reading %zu bytes from a buffer", bytes);
}

static atn_status copy(atn_queue *queue, atn_buffer *to, size_t to_offset, const atn_buffer *from, size_t from_offset,
                       size_t bytes) {
    cl_int code = atn_opencl_of(to->device)
                      ->api.clEnqueueCopyBuffer(own_queue(queue), own_mem(from), own_mem(to), from_offset, to_offset,
                                                bytes, 0, NULL, NULL);
    return atn_opencl_check(to->device, code, "copying %zu bytes between buffers", bytes);
}

/* OpenCL 1.1: the first bytes come from the host, then what is filled is copied behind itself, doubling. */
static cl_int fill_by_copies(const atn_opencl_device *device, cl_command_queue queue, cl_mem mem, size_t offset,
                             uint8_t byte, size_t bytes) {
    uint8_t chunk[FILL_BYTES];
    memset(chunk, byte, sizeof chunk);
    size_t done = bytes < sizeof chunk ? bytes : sizeof chunk;
    cl_int code = device->api.clEnqueueWriteBuffer(queue, mem, CL_TRUE, offset, done, chunk, 0, NULL, NULL);
    while (code == CL_SUCCESS && done < bytes) {
        size_t more = bytes - done < done ? bytes - done : done;
        code = device->api.clEnqueueCopyBuffer(queue, mem, mem, offset, offset + done, more, 0, NULL, NULL);
        done += more;
    }
    return code;
}

static atn_status fill(atn_queue *queue, atn_buffer *buffer, size_t offset, uint8_t byte, size_t bytes) {
    static const uint8_t ZEROS[ZERO_BYTES]; /* lives as long as a write that is never waited for */
    const atn_opencl_device *device = atn_opencl_of(buffer->device);
    cl_int code;
    if (byte == 0 && bytes <= sizeof ZEROS) { /* no slower, and Oclgrind loses track of a buffer that is filled */
        code = device->api.clEnqueueWriteBuffer(own_queue(queue), own_mem(buffer), CL_FALSE, offset, bytes, ZEROS, 0,
                                                NULL, NULL);
    } else if (device->version >= 102 && device->api.clEnqueueFillBuffer) {
        uint8_t pattern[PATTERN_BYTES];
        memset(pattern, byte, sizeof pattern);
        size_t width = (offset | bytes) % sizeof pattern ? 1 : sizeof pattern; /* the wide one is much faster on CPUs */
        code = device->api.clEnqueueFillBuffer(own_queue(queue), own_mem(buffer), pattern, width, offset, bytes, 0,
                                               NULL, NULL);
    } else {
        code = fill_by_copies(device, own_queue(queue), own_mem(buffer), offset, byte, bytes);
    }
    return atn_opencl_check(buffer->device, code, "filling %zu bytes of a buffer", bytes);
}

/* ---- queues ---- */

static atn_status queue_create(atn_device *base, atn_queue **out) {
    *out = NULL;
    atn_opencl_device *device = atn_opencl_of(base);
    atn_opencl_queue *queue = atn_zalloc(base->ctx, sizeof *queue);
    if (!queue) return ATN_ERR_MEMORY;
    cl_int code;
    queue->queue =
        device->api.clCreateCommandQueue(device->context, device->place.device, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS) {
        atn_free(base->ctx, queue);
        return atn_opencl_check(base, code, "making a queue");
    }
    queue->base.device = base;
    *out = &queue->base;
    return ATN_OK;
}

static void queue_free(atn_queue *queue) {
    const atn_opencl_device *device = atn_opencl_of(queue->device);
    if (!queue->device->lost) (void)device->api.clFinish(own_queue(queue)); /* no work outlives its queue */
    hold(queue, NULL);
    (void)device->api.clReleaseCommandQueue(own_queue(queue));
    atn_free(queue->device->ctx, queue);
}

static atn_status queue_finish(atn_queue *queue) {
    cl_int code = atn_opencl_of(queue->device)->api.clFinish(own_queue(queue));
    cl_int copied = settle(queue->device);
    if (copied != CL_SUCCESS) return atn_opencl_check(queue->device, copied, "a copy from the host to a buffer");
    return atn_opencl_check(queue->device, code, "waiting for a queue");
}

static atn_status queue_wait(atn_queue *queue, const atn_event *event) {
    const atn_opencl_device *device = atn_opencl_of(queue->device);
    const cl_event *wanted = &((const atn_opencl_event *)event)->event;
    cl_int code;
    if (device->version >= 102 && device->api.clEnqueueBarrierWithWaitList)
        code = device->api.clEnqueueBarrierWithWaitList(own_queue(queue), 1, wanted, NULL);
    else if (device->api.clEnqueueWaitForEvents)
        code = device->api.clEnqueueWaitForEvents(own_queue(queue), 1, wanted);
    else
        code = device->api.clWaitForEvents(1, wanted); /* the host waits: slower, as right */
    return atn_opencl_check(queue->device, code, "making a queue wait for an event");
}

/* ---- events ---- */

static atn_status event_create(atn_device *device, atn_event **out) {
    *out = atn_zalloc(device->ctx, sizeof(atn_opencl_event));
    return *out ? ATN_OK : ATN_ERR_MEMORY;
}

static atn_status event_mark(atn_queue *queue, atn_event *base) {
    const atn_opencl_device *device = atn_opencl_of(queue->device);
    atn_opencl_event *event = (atn_opencl_event *)base;
    cl_event marker;
    cl_int code = device->marker_times ? enqueue_marker(device, own_queue(queue), &marker)
                                       : enqueue_copy(device, own_queue(queue), &marker);
    if (code != CL_SUCCESS) return atn_opencl_check(queue->device, code, "recording an event");
    if (event->event) (void)device->api.clReleaseEvent(event->event);
    event->event = marker;
    (void)device->api.clFlush(own_queue(queue)); /* or another queue might wait for what was never sent */
    return ATN_OK;
}

static atn_status event_wait(atn_event *event) {
    cl_int code = atn_opencl_of(event->device)->api.clWaitForEvents(1, &((atn_opencl_event *)event)->event);
    cl_int copied = settle(event->device); /* knows more than that something before the event went wrong */
    if (copied != CL_SUCCESS) return atn_opencl_check(event->device, copied, "a copy from the host to a buffer");
    return atn_opencl_check(event->device, code, "waiting for an event");
}

static atn_status event_elapsed(const atn_event *from, const atn_event *to, double *seconds) {
    const atn_opencl_device *device = atn_opencl_of(from->device);
    const cl_event events[2] = {((const atn_opencl_event *)from)->event, ((const atn_opencl_event *)to)->event};
    cl_ulong begin = 0, end = 0;
    cl_int code = device->api.clWaitForEvents(2, events);
    if (code == CL_SUCCESS) code = end_time(device, events[0], &begin);
    if (code == CL_SUCCESS) code = end_time(device, events[1], &end);
    if (code != CL_SUCCESS) return atn_opencl_check(from->device, code, "the time between two events");
    *seconds = end >= begin ? (double)(end - begin) * 1e-9 : (double)(begin - end) * -1e-9;
    return ATN_OK;
}

static void event_free(atn_event *event) {
    cl_event own = ((atn_opencl_event *)event)->event;
    if (own) (void)atn_opencl_of(event->device)->api.clReleaseEvent(own);
    atn_free(event->device->ctx, event);
}

const atn_backend ATN_BACKEND_OPENCL = {
    .name = "opencl",
    .list = atn_opencl_list,
    .open = open_device,
    .close = close_device,
    .buffer_create = buffer_create,
    .buffer_free = buffer_free,
    .put = put,
    .get = get,
    .copy = copy,
    .fill = fill,
    .build = atn_opencl_build,
    .module_free = atn_opencl_module_free,
    .function = atn_opencl_function_get,
    .function_info = atn_opencl_function_describe,
    .launch = atn_opencl_launch,
    .queue_create = queue_create,
    .queue_free = queue_free,
    .queue_finish = queue_finish,
    .queue_wait = queue_wait,
    .event_create = event_create,
    .event_mark = event_mark,
    .event_wait = event_wait,
    .event_elapsed = event_elapsed,
    .event_free = event_free,
};
