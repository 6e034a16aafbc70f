/* The dispatch in front of the backends: devices, transfers, modules and launches. Checks arguments, keeps a lost
 * device from being used, and skips operations of size zero. No backend is named here. */
#include "device/backend.h"
#include "device/building.h"

#include "base/clock.h"
#include "base/size.h"

#include <pthread.h>
#include <string.h>

enum { MAX_NAME = 100 };

/* ---- left for next time ---- */

atn_left *atn_device_take(atn_device *device, const void *owner) {
    for (atn_left **at = &device->left; *at; at = &(*at)->next) {
        atn_left *found = *at;
        if (found->owner != owner) continue;
        *at = found->next;
        return found;
    }
    return NULL;
}

void atn_device_leave(atn_device *device, atn_left *left) {
    if (device->lost) {
        left->drop(left);
        return;
    }
    left->next = device->left;
    device->left = left;
}

static void drop_all(atn_device *device) {
    while (device->left) {
        atn_left *first = device->left;
        device->left = first->next;
        first->drop(first);
    }
}

void atn_device_close(atn_device *device) {
    if (!device) return;
    drop_all(device);
    atn_queue_free(device->queue);
    atn_pinned_drop(device);
    device->backend->close(device);
}

const atn_device_info *atn_device_get_info(const atn_device *device) { return &device->info; }
atn_ctx *atn_device_ctx(const atn_device *device) { return device->ctx; }
bool atn_device_lost(const atn_device *device) { return device->lost; }

/* ---- transfers ---- */

static atn_status check_span(const atn_buffer *buffer, size_t offset, size_t bytes) {
    atn_status status = atn_device_check(buffer->device);
    if (status != ATN_OK) return status;
    if (atn_size_within(offset, bytes, buffer->bytes)) return ATN_OK;
    return atn_fail(buffer->device->ctx, ATN_ERR_INPUT, "bytes %zu to %zu+%zu are outside a buffer of %zu", offset,
                    offset, bytes, buffer->bytes);
}

/* The queue that is meant, of the buffer's device. */
static atn_status find_queue(const atn_buffer *buffer, atn_queue **queue) {
    if (!*queue) *queue = buffer->device->queue;
    if ((*queue)->device == buffer->device) return ATN_OK;
    return atn_fail(buffer->device->ctx, ATN_ERR_INPUT, "a buffer of %s in a queue of %s", buffer->device->info.name,
                    (*queue)->device->info.name);
}

static atn_status put(atn_queue *queue, atn_buffer *buffer, size_t offset, const void *from, size_t bytes, bool wait) {
    atn_status status = check_span(buffer, offset, bytes);
    if (status == ATN_OK) status = find_queue(buffer, &queue);
    if (status != ATN_OK || bytes == 0) return status;
    atn_work work = {.kind = ATN_WORK_PUT, .to = buffer, .to_offset = offset, .host_from = from, .bytes = bytes};
    if (!wait) return atn_work_queue(queue, &work);
    bool staged = false;
    status = atn_tape_refuse(queue, "a put that waits");
    if (status == ATN_OK) status = atn_stage_put(queue, &work, &staged);
    if (status != ATN_OK || staged) return status;
    status = atn_work_queue(queue, &work);
    return status == ATN_OK ? atn_queue_finish(queue) : status;
}

static atn_status get(atn_queue *queue, const atn_buffer *buffer, size_t offset, void *to, size_t bytes, bool wait) {
    atn_status status = check_span(buffer, offset, bytes);
    if (status == ATN_OK) status = find_queue(buffer, &queue);
    if (status != ATN_OK || bytes == 0) return status;
    atn_work work = {.kind = ATN_WORK_GET, .from = buffer, .from_offset = offset, .host_to = to, .bytes = bytes};
    if (wait) status = atn_tape_refuse(queue, "a get that waits");
    if (status == ATN_OK) status = atn_work_queue(queue, &work);
    return status == ATN_OK && wait ? atn_queue_finish(queue) : status;
}

atn_status atn_buffer_put(atn_queue *queue, atn_buffer *buffer, size_t offset, const void *from, size_t bytes) {
    return put(queue, buffer, offset, from, bytes, true);
}

atn_status atn_buffer_get(atn_queue *queue, const atn_buffer *buffer, size_t offset, void *to, size_t bytes) {
    return get(queue, buffer, offset, to, bytes, true);
}

atn_status atn_buffer_put_async(atn_queue *queue, atn_buffer *buffer, size_t offset, const void *from, size_t bytes) {
    return put(queue, buffer, offset, from, bytes, false);
}

atn_status atn_buffer_get_async(atn_queue *queue, const atn_buffer *buffer, size_t offset, void *to, size_t bytes) {
    return get(queue, buffer, offset, to, bytes, false);
}

atn_status atn_buffer_copy(atn_queue *queue, atn_buffer *to, size_t to_offset, const atn_buffer *from,
                           size_t from_offset, size_t bytes) {
    atn_status status = check_span(to, to_offset, bytes);
    if (status == ATN_OK) status = check_span(from, from_offset, bytes);
    if (status == ATN_OK) status = find_queue(to, &queue);
    if (status != ATN_OK || bytes == 0) return status;
    if (to->device != from->device)
        return atn_fail(to->device->ctx, ATN_ERR_INPUT,
                        "a copy between two devices goes through the host: get, then put");
    if (to == from && to_offset < from_offset + bytes && from_offset < to_offset + bytes)
        return atn_fail(to->device->ctx, ATN_ERR_INPUT, "a copy within one buffer overlaps itself");
    return atn_work_queue(queue, &(atn_work){.kind = ATN_WORK_COPY,
                                             .to = to,
                                             .to_offset = to_offset,
                                             .from = from,
                                             .from_offset = from_offset,
                                             .bytes = bytes});
}

atn_status atn_buffer_fill(atn_queue *queue, atn_buffer *buffer, size_t offset, uint8_t byte, size_t bytes) {
    atn_status status = check_span(buffer, offset, bytes);
    if (status == ATN_OK) status = find_queue(buffer, &queue);
    if (status != ATN_OK || bytes == 0) return status;
    return atn_work_queue(
        queue, &(atn_work){.kind = ATN_WORK_FILL, .to = buffer, .to_offset = offset, .byte = byte, .bytes = bytes});
}

/* ---- modules ---- */

static _Thread_local double building;
static struct {
    pthread_mutex_t turn;
    int32_t threads; /* that build */
    double since;    /* the first of them began */
    double seconds;  /* before that */
} builders = {.turn = PTHREAD_MUTEX_INITIALIZER};

double atn_building_seconds(void) { return building; }

double atn_building_seconds_any(void) {
    pthread_mutex_lock(&builders.turn);
    double seconds = builders.seconds + (builders.threads ? atn_clock_seconds() - builders.since : 0);
    pthread_mutex_unlock(&builders.turn);
    return seconds;
}

static double begin_building(void) {
    pthread_mutex_lock(&builders.turn);
    double now = atn_clock_seconds();
    if (builders.threads++ == 0) builders.since = now;
    pthread_mutex_unlock(&builders.turn);
    return now;
}

static void end_building(double since) {
    pthread_mutex_lock(&builders.turn);
    double now = atn_clock_seconds();
    building += now - since;
    if (--builders.threads == 0) builders.seconds += now - builders.since;
    pthread_mutex_unlock(&builders.turn);
}

atn_status atn_module_build(atn_device *device, const atn_build *build, atn_module **out) {
    *out = NULL;
    atn_status status = atn_device_check(device);
    if (status != ATN_OK) return status;
    atn_build full = *build;
    if (!full.name) full.name = "kernel";
    if (!(full.timeout_s > 0)) full.timeout_s = 120;
    if (!*full.name || strlen(full.name) > MAX_NAME || strchr(full.name, '/'))
        return atn_fail(device->ctx, ATN_ERR_INPUT,
                        "'%.40s%s' is not a name for a kernel; 1 to %d bytes without '/' are right", full.name,
                        strlen(full.name) > 40 ? "..." : "", MAX_NAME);
    if (!full.source) return atn_fail(device->ctx, ATN_ERR_INPUT, "%s: has no source text to build", full.name);
    double since = begin_building();
    status = device->backend->build(device, &full, out);
    end_building(since);
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
    atn_status status = atn_device_check(module->device);
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
    atn_status status = atn_device_check(device);
    if (status != ATN_OK) return status;
    if (launch->n_args > ATN_MAX_ARGS)
        return atn_fail(device->ctx, ATN_ERR_INPUT, "a launch with %zu arguments; at most %d are supported",
                        launch->n_args, ATN_MAX_ARGS);
    for (size_t k = 0; k < launch->n_args; ++k) {
        const atn_arg *arg = &launch->args[k];
        if (arg->buffer ? arg->buffer->device != device : !arg->value || arg->bytes == 0 || arg->bytes > 16)
            return atn_fail(device->ctx, ATN_ERR_INPUT, "argument %zu of a launch on %s: %s", k, device->info.name,
                            arg->buffer ? "its buffer belongs to another device"
                                        : "it is neither a buffer nor a value of 1 to 16 bytes");
    }
    if (launch->groups[0] == 0) return ATN_OK;
    atn_launch full = *launch;
    for (int d = 0; d < 3; ++d) {
        if (full.groups[d] == 0) full.groups[d] = 1;
        if (full.items[d] == 0) full.items[d] = 1;
    }
    if (!queue) queue = device->queue;
    if (queue->device != device)
        return atn_fail(device->ctx, ATN_ERR_INPUT, "a function of %s in a queue of %s", device->info.name,
                        queue->device->info.name);
    return atn_work_queue(queue, &(atn_work){.kind = ATN_WORK_LAUNCH, .function = function, .launch = &full});
}
