/* The host backend: the CPU itself, through C compiled at run time. Launches run on the calling thread and
 * those of the pool (base/pool.h) and are done when they return; queues are in order by nature. */
#include "device/host.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/size.h"
#include "device/host_cpu.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };      /* a cache line, and the widest vector */
enum { HUGE_FROM = 4 << 20 }; /* bytes from which large pages are asked for: two of them at the least */

typedef struct host_buffer {
    atn_buffer base;
    unsigned char *data; /* aligned, inside `block`; or the caller's */
    void *block;         /* owned; NULL: nothing is */
} host_buffer;

typedef struct host_event {
    atn_event base;
    double when;
} host_event;

static atn_status list(atn_ctx *ctx, atn_devices *devices) {
    atn_device_info info = {
        .backend = "host", .max_group = 1, .max_items = {1, 1, 1}, .fp64 = true, .unified = true, .cpu = true};
    atn_cpu_describe(&info);
    info.max_alloc_bytes = info.memory_bytes;
    char *compiler, version[96] = "";
    atn_status status = atn_host_compiler(ctx, NULL, &compiler);
    if (status != ATN_OK) return status;
    if (compiler) {
        status = atn_host_compiler_version(ctx, compiler, version, sizeof version);
        if (status == ATN_OK)
            snprintf(info.driver, sizeof info.driver, "%s", version);
        else if (status != ATN_ERR_MEMORY && status != ATN_ERR_CANCELLED)
            status = atn_devices_add_note(devices, "host: the compiler does not work: %s", atn_ctx_message(ctx));
        atn_free(ctx, compiler);
    } else {
        status = atn_devices_add_note(devices, "host: %s; until then only the kernels that attune ships run",
                                      atn_ctx_message(ctx));
    }
    return status == ATN_OK ? atn_devices_add(devices, &info) : status;
}

static atn_status open_host(atn_ctx *ctx, const atn_device_info *info, atn_device **out) {
    (void)info;
    *out = atn_zalloc(ctx, sizeof **out);
    return *out ? ATN_OK : ATN_ERR_MEMORY;
}

static void close_host(atn_device *device) { atn_free(device->ctx, device); }

/* ---- buffers ---- */

/* Kernels that walk through many rows at once need a page of each: large pages are fewer than the entries of the TLB.
 * An operating system without them, or with the feature disabled, continues without. */
static void ask_for_large_pages(unsigned char *data, size_t bytes) {
#ifdef MADV_HUGEPAGE
    size_t page = (size_t)sysconf(_SC_PAGESIZE), from = atn_size_round_up((uintptr_t)data, page);
    if (bytes >= HUGE_FROM) (void)madvise((void *)from, ((uintptr_t)data + bytes - from) / page * page, MADV_HUGEPAGE);
#else
    (void)data, (void)bytes;
#endif
}

static atn_status buffer_create(atn_device *device, size_t bytes, atn_buffer **out) {
    size_t total;
    host_buffer *buffer = atn_zalloc(device->ctx, sizeof *buffer);
    if (!buffer) return ATN_ERR_MEMORY;
    buffer->block = atn_size_add(bytes, ALIGNMENT, &total) ? atn_alloc(device->ctx, total) : NULL;
    if (!buffer->block) {
        atn_free(device->ctx, buffer);
        return atn_fail_memory(device->ctx, bytes, "a buffer");
    }
    buffer->data = (unsigned char *)atn_size_round_up((uintptr_t)buffer->block, ALIGNMENT);
    ask_for_large_pages(buffer->data, bytes);
    *out = &buffer->base;
    return ATN_OK;
}

static atn_status buffer_around(atn_device *device, const void *data, atn_buffer **out) {
    host_buffer *buffer = atn_zalloc(device->ctx, sizeof *buffer);
    if (!buffer) return ATN_ERR_MEMORY;
    buffer->data = (unsigned char *)(uintptr_t)data;
    *out = &buffer->base;
    return ATN_OK;
}

static atn_status buffer_at(atn_device *device, void *address, atn_buffer **out) {
    return buffer_around(device, address, out);
}

static void buffer_free(atn_buffer *base) {
    host_buffer *buffer = (host_buffer *)base;
    const atn_ctx *ctx = base->device->ctx;
    atn_free(ctx, buffer->block);
    atn_free(ctx, buffer);
}

static unsigned char *data_of(const atn_buffer *buffer) {
    return buffer->bytes ? ((const host_buffer *)buffer)->data : NULL;
}
static void *buffer_host(atn_buffer *buffer) { return data_of(buffer); }
static void *buffer_address(atn_buffer *buffer) { return data_of(buffer); }

static atn_status put(atn_queue *queue, atn_buffer *buffer, size_t offset, const void *from, size_t bytes) {
    (void)queue;
    memcpy(data_of(buffer) + offset, from, bytes);
    return ATN_OK;
}

static atn_status get(atn_queue *queue, const atn_buffer *buffer, size_t offset, void *to, size_t bytes) {
    (void)queue;
    memcpy(to, data_of(buffer) + offset, bytes);
    return ATN_OK;
}

static atn_status copy(atn_queue *queue, atn_buffer *to, size_t to_offset, const atn_buffer *from, size_t from_offset,
                       size_t bytes) {
    (void)queue;
    memcpy(data_of(to) + to_offset, data_of(from) + from_offset, bytes);
    return ATN_OK;
}

static atn_status fill(atn_queue *queue, atn_buffer *buffer, size_t offset, uint8_t byte, size_t bytes) {
    (void)queue;
    memset(data_of(buffer) + offset, byte, bytes);
    return ATN_OK;
}

/* ---- launches ---- */

static atn_status launch_function(atn_queue *queue, atn_function *function, const atn_launch *launch) {
    void *args[ATN_MAX_ARGS], *pointers[ATN_MAX_ARGS];
    for (size_t k = 0; k < launch->n_args; ++k) {
        const atn_arg *arg = &launch->args[k];
        pointers[k] = arg->buffer ? data_of(arg->buffer) : NULL;
        args[k] = arg->buffer ? (void *)&pointers[k] : (void *)(uintptr_t)arg->value;
    }
    int32_t cores = atn_parallel_most(queue->device->info.cores), threads = launch->threads;
    int64_t groups[] = {(int64_t)launch->groups[0], (int64_t)launch->groups[1], (int64_t)launch->groups[2]};
    atn_host_run(atn_host_entry(function), groups, threads <= 0 || threads > cores ? cores : threads, args);
    return ATN_OK;
}

/* ---- queues and events ---- */

static atn_status queue_create(atn_device *device, atn_queue **out) {
    *out = atn_zalloc(device->ctx, sizeof(atn_queue));
    return *out ? ATN_OK : ATN_ERR_MEMORY;
}

static void queue_free(atn_queue *queue) { atn_free(queue->device->ctx, queue); }

static atn_status queue_finish(atn_queue *queue) {
    (void)queue;
    return ATN_OK;
}

static atn_status queue_wait(atn_queue *queue, const atn_event *event) {
    (void)queue, (void)event;
    return ATN_OK;
}

static atn_status event_create(atn_device *device, atn_event **out) {
    *out = atn_zalloc(device->ctx, sizeof(host_event));
    return *out ? ATN_OK : ATN_ERR_MEMORY;
}

static atn_status event_mark(atn_queue *queue, atn_event *event) {
    (void)queue;
    ((host_event *)event)->when = atn_clock_seconds();
    return ATN_OK;
}

static atn_status event_wait(atn_event *event) {
    (void)event;
    return ATN_OK;
}

static atn_status event_elapsed(const atn_event *from, const atn_event *to, double *seconds) {
    *seconds = ((const host_event *)to)->when - ((const host_event *)from)->when;
    return ATN_OK;
}

static void event_free(atn_event *event) { atn_free(event->device->ctx, event); }

const atn_backend ATN_BACKEND_HOST = {
    .name = "host",
    .list = list,
    .open = open_host,
    .close = close_host,
    .buffer_create = buffer_create,
    .buffer_around = buffer_around,
    .buffer_at = buffer_at,
    .buffer_address = buffer_address,
    .buffer_free = buffer_free,
    .buffer_host = buffer_host,
    .put = put,
    .get = get,
    .copy = copy,
    .fill = fill,
    .build = atn_host_build,
    .module_free = atn_host_module_free,
    .function = atn_host_function,
    .launch = launch_function,
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
