/* Buffers, in front of the backends, and pinned host memory: creating, looking up, counting, freeing. */
#include "base/memory.h"
#include "base/size.h"
#include "device/backend.h"
#include "device/host_cpu.h"

#include <stdatomic.h>

static bool counted_by_context(const atn_device *device) { return device->backend == &ATN_BACKEND_HOST; }

size_t atn_device_watch_peak(atn_device *device) { return device->peak_bytes = device->bytes; }

size_t atn_device_peak_bytes(const atn_device *device) { return device->peak_bytes; }

int64_t atn_device_free_bytes(const atn_device *device) {
    int64_t left = device->info.memory_bytes - (int64_t)device->bytes;
    if (!counted_by_context(device) && !device->info.cpu) return left;
    int64_t available = atn_cpu_free_memory(), held = (int64_t)atn_ctx_bytes(device->ctx);
    left = device->info.memory_bytes - held;
    return available > 0 && available < left ? available : left;
}

/* A buffer of no bytes exists on no device: only the base is there. */
static uint64_t next_number(void) {
    static atomic_ullong made;
    return atomic_fetch_add(&made, 1) + 1;
}

atn_status atn_buffer_create(atn_device *device, size_t bytes, atn_buffer **out) {
    *out = NULL;
    atn_status status = atn_device_check(device);
    if (status != ATN_OK) return status;
    if (bytes > (uint64_t)device->info.max_alloc_bytes)
        return atn_fail(device->ctx, ATN_ERR_MEMORY,
                        "%s: a buffer of %zu bytes is needed, the largest possible is %lld", device->info.name, bytes,
                        (long long)device->info.max_alloc_bytes);
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
    buffer->number = next_number();
    if (!counted_by_context(device)) device->bytes += bytes;
    if (device->bytes > device->peak_bytes) device->peak_bytes = device->bytes;
    *out = buffer;
    return ATN_OK;
}

atn_status atn_buffer_around(atn_device *device, const void *data, size_t bytes, atn_buffer **out) {
    *out = NULL;
    atn_status status = atn_device_check(device);
    if (status != ATN_OK || !device->backend->buffer_around) return status;
    status = device->backend->buffer_around(device, data, out);
    if (status != ATN_OK) return status;
    (*out)->device = device;
    (*out)->bytes = bytes;
    (*out)->number = next_number();
    return ATN_OK;
}

atn_status atn_buffer_at(atn_device *device, void *address, size_t bytes, atn_buffer **out) {
    *out = NULL;
    atn_status status = atn_device_check(device);
    if (status != ATN_OK || !device->backend->buffer_at) return status;
    status = device->backend->buffer_at(device, address, out);
    if (status != ATN_OK) return status;
    (*out)->device = device;
    (*out)->bytes = bytes;
    (*out)->number = next_number();
    (*out)->foreign = true;
    return ATN_OK;
}

void *atn_buffer_address(const atn_buffer *buffer) {
    const atn_backend *backend = buffer->device->backend;
    return buffer->bytes && backend->buffer_address ? backend->buffer_address((atn_buffer *)(uintptr_t)buffer) : NULL;
}

void atn_buffer_free(atn_buffer *buffer) {
    if (!buffer) return;
    if (!counted_by_context(buffer->device) && !buffer->foreign) buffer->device->bytes -= buffer->bytes;
    if (buffer->bytes == 0)
        atn_free(buffer->device->ctx, buffer);
    else
        buffer->device->backend->buffer_free(buffer);
}

size_t atn_buffer_bytes(const atn_buffer *buffer) { return buffer->bytes; }

uint64_t atn_buffer_number(const atn_buffer *buffer) { return buffer->number; }

void *atn_buffer_host(atn_buffer *buffer) {
    const atn_backend *backend = buffer->device->backend;
    return buffer->bytes && backend->buffer_host ? backend->buffer_host(buffer) : NULL;
}

atn_status atn_host_alloc(atn_device *device, size_t bytes, atn_host_memory *out) {
    enum { ALIGNMENT = 64 };
    *out = (atn_host_memory){0};
    atn_status status = atn_device_check(device);
    if (status != ATN_OK) return status;
    size_t total;
    out->bytes = bytes;
    if (bytes) out->data = out->block = atn_pinned_take(device, &out->bytes);
    out->pinned = out->block;
    if (out->pinned) return ATN_OK;
    out->block = atn_size_add(bytes, ALIGNMENT, &total) ? atn_alloc(device->ctx, total) : NULL;
    if (!out->block) return atn_fail_memory(device->ctx, bytes, "host memory for copies");
    out->data = (void *)atn_size_round_up((uintptr_t)out->block, ALIGNMENT);
    return ATN_OK;
}

bool atn_host_is_pinned(atn_device *device, const void *memory, size_t bytes) {
    bool (*pinned)(atn_device *, const void *) = device->backend->host_pinned;
    return pinned && pinned(device, memory) && pinned(device, (const char *)memory + bytes - 1);
}

void atn_host_free(atn_device *device, atn_host_memory *memory) {
    if (memory->pinned)
        atn_pinned_give(device, memory->block, memory->bytes);
    else
        atn_free(device->ctx, memory->block);
    *memory = (atn_host_memory){0};
}
