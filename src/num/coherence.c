/* Which copy of an array's elements holds, and how the other one is brought up to date: only when it is asked for.
 * Large arrays go to the device from pinned memory without waiting; the host waits before it touches that memory again.
 */
#include "num/array.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "device/reports.h"

#include <string.h>

/* A buffer in pinned memory of the host, which has the same address there; none where devices have other addresses, or
 * nothing can be pinned. */
static atn_status share_buffer(atn_storage *s) {
    atn_status status = atn_host_alloc(s->device, s->bytes, &s->shared);
    if (status == ATN_OK && s->shared.pinned) status = atn_buffer_at(s->device, s->shared.data, s->bytes, &s->buffer);
    if (status == ATN_OK && s->buffer)
        s->host = s->shared.data;
    else
        atn_host_free(s->device, &s->shared);
    return status;
}

static atn_status ready_buffer(atn_storage *s) {
    if (s->buffer) return ATN_OK;
    atn_status status = s->shares && s->bytes && !s->block.data ? share_buffer(s) : ATN_OK;
    if (status != ATN_OK || s->buffer) return status;
    status = atn_buffer_create(s->device, s->bytes, &s->buffer);
    if (status == ATN_OK && s->bytes && !s->block.data) s->host = atn_buffer_host(s->buffer); /* one copy for both */
    return status;
}

static bool is_shared(const atn_storage *s) { return s->host && !s->block.data; }

atn_status atn_storage_settle(atn_storage *s) {
    if (s->motion == ATN_MOTION_NONE) return ATN_OK;
    s->motion = ATN_MOTION_NONE;
    s->sent = false;
    return atn_event_wait(s->moved);
}

/* A copy between block and buffer was queued: `motion` lasts until its event. */
static atn_status move(atn_storage *s, atn_queue *queue, atn_motion motion) {
    atn_status status = s->moved ? ATN_OK : atn_event_create(s->device, &s->moved);
    if (status == ATN_OK) status = atn_event_mark(queue, s->moved);
    if (status == ATN_OK)
        s->motion = motion;
    else
        (void)atn_queue_finish(queue); /* nothing is under way that nobody knows of */
    return status;
}

/* Work that is queued in the device's first queue from here on comes after a copy in another one. */
static atn_status await_sent(atn_storage *s) {
    if (!s->sent) return ATN_OK;
    s->sent = false;
    return atn_queue_wait(atn_device_queue(s->device), s->moved);
}

/* What is kept on a tape is not done when it is queued: no copy of an array may depend on it. */
static atn_status check_queue(const atn_storage *s, const atn_queue *queue) {
    if (!atn_queue_is_kept(queue)) return ATN_OK;
    return atn_fail(atn_device_ctx(s->device), ATN_ERR_DEVICE,
                    "array: elements cannot be moved while work is kept on a tape");
}

/* Pinned memory pays where copies are large, and what is pinned is taken from all processes. */
static bool is_pinned_at(size_t bytes) { return bytes > (64 << 10) && bytes < (size_t)1 << 30; }

void atn_array_pin(atn_array *array) { array->storage->pinned = true; }

void atn_array_share(atn_array *array) { array->storage->pinned = array->storage->shares = true; }

/* The host's own copy, or the buffer itself where the host may touch it. Nothing is said of its contents. */
static atn_status ready_block(atn_storage *s) {
    if (s->host || s->bytes == 0) return ATN_OK;
    atn_status status = ready_buffer(s);
    if (status != ATN_OK || s->host) return status;
    if (s->pinned || is_pinned_at(s->bytes))
        status = atn_host_alloc(s->device, s->bytes, &s->block);
    else if (!(s->block.block = s->block.data = atn_alloc(atn_device_ctx(s->device), s->bytes)))
        status = ATN_ERR_MEMORY;
    s->host = s->block.data;
    return status;
}

/* From the block to the buffer. */
static atn_status upload(atn_storage *s) {
    atn_queue *queue = atn_device_queue(s->device);
    if (!s->block.pinned) return atn_buffer_put(queue, s->buffer, 0, s->host, s->bytes);
    atn_status status = atn_buffer_put_async(queue, s->buffer, 0, s->host, s->bytes);
    return status == ATN_OK ? move(s, queue, ATN_MOTION_TO_DEVICE) : status;
}

atn_status atn_array_ready_device(atn_array *array, bool discard) {
    atn_storage *s = array->storage;
    atn_status status = ready_buffer(s);
    if (status == ATN_OK) status = await_sent(s);
    if (status != ATN_OK || s->on_device || s->bytes == 0) return status;
    if (discard && atn_array_is_whole(array)) return ATN_OK;
    status = check_queue(s, atn_device_queue(s->device));
    if (status != ATN_OK) return status;
    if (is_shared(s)) {
        memset(s->host, 0, s->bytes); /* one copy, and it does not hold: all are zero */
    } else if (s->on_host) {
        status = upload(s);
        s->to_device += status == ATN_OK;
    } else {
        status = atn_buffer_fill(NULL, s->buffer, 0, 0, s->bytes);
    }
    if (status != ATN_OK) return status;
    s->on_device = true;
    s->on_host = s->on_host || is_shared(s);
    return ATN_OK;
}

atn_status atn_array_send(atn_array *array, atn_queue *queue, const void *from) {
    atn_storage *s = array->storage;
    atn_status status = ready_buffer(s);
    if (status != ATN_OK || s->bytes == 0) return status;
    status = check_queue(s, queue);
    if (status == ATN_OK) status = atn_storage_settle(s);
    if (status == ATN_OK) status = atn_buffer_put_async(queue, s->buffer, 0, from, s->bytes);
    if (status == ATN_OK) status = move(s, queue, ATN_MOTION_TO_DEVICE);
    if (status != ATN_OK) return status;
    s->sent = true;
    ++s->to_device;
    s->on_device = true;
    s->on_host = is_shared(s);
    return ATN_OK;
}

atn_status atn_array_refresh(atn_array *array, int64_t first, int64_t count) {
    atn_storage *s = array->storage;
    size_t element = atn_type_bytes(array->type);
    atn_status status = atn_array_ready_device(array, false);
    if (status != ATN_OK || is_shared(s) || count == 0) return status;
    size_t from = (size_t)(array->offset + first) * element;
    return atn_buffer_put_async(atn_device_queue(s->device), s->buffer, from, (const char *)s->host + from,
                                (size_t)count * element);
}

atn_status atn_array_recall(atn_array *array, int64_t first, int64_t count) {
    atn_storage *s = array->storage;
    atn_queue *queue = atn_device_queue(s->device);
    size_t element = atn_type_bytes(array->type), from = (size_t)(array->offset + first) * element;
    if (is_shared(s)) return atn_queue_finish(queue);
    if (count == 0) return ATN_OK;
    atn_status status = atn_buffer_get_async(queue, s->buffer, from, (char *)s->host + from, (size_t)count * element);
    return status == ATN_OK ? move(s, queue, ATN_MOTION_TO_HOST) : status;
}

void atn_array_written_on_device(atn_array *array) {
    array->storage->on_device = true;
    array->storage->on_host = is_shared(array->storage);
    array->storage->busy = true;
    array->storage->report = atn_reports_sent(array->storage->device);
}

atn_status atn_array_address(atn_array *array, void **out) {
    atn_storage *s = array->storage;
    *out = NULL;
    atn_status status = atn_array_ready_device(array, false);
    if (status == ATN_OK) status = atn_reports_look(s->device, s->report);
    if (status != ATN_OK || s->bytes == 0) return status;
    char *first = atn_buffer_address(s->buffer);
    if (!first)
        return atn_fail(atn_array_ctx(array), ATN_ERR_UNSUPPORTED, "array: %s has no addresses to hand out",
                        atn_device_get_info(s->device)->backend);
    atn_array_written_on_device(array);
    *out = first + (size_t)array->offset * atn_type_bytes(array->type);
    return ATN_OK;
}

void atn_array_spoiled_on_device(atn_array *array) {
    atn_storage *s = array->storage;
    if (s->on_host && !is_shared(s)) s->on_device = false;
}

atn_status atn_array_fetch(atn_array *array, atn_queue *queue) {
    atn_storage *s = array->storage;
    if (s->on_host || !s->on_device || s->bytes == 0) return ATN_OK;
    if (!queue) queue = atn_device_queue(s->device);
    atn_status status = ready_block(s);
    if (status != ATN_OK || is_shared(s)) return status;
    status = check_queue(s, queue);
    if (status == ATN_OK) status = atn_storage_settle(s); /* a copy in another queue has the block no longer */
    if (status == ATN_OK) status = atn_buffer_get_async(queue, s->buffer, 0, s->host, s->bytes);
    if (status == ATN_OK) status = move(s, queue, ATN_MOTION_TO_HOST);
    if (status != ATN_OK) return status;
    s->on_host = true;
    ++s->to_host;
    return ATN_OK;
}

/* What the host is about to do with its copy. */
typedef enum use { TO_READ, TO_WRITE, TO_OVERWRITE } use;

/* Brings the host's copy up to date. */
static atn_status ready_host(atn_array *array, use how) {
    atn_storage *s = array->storage;
    bool discard = how == TO_OVERWRITE && atn_array_is_whole(array);
    atn_status status = ready_block(s);
    if (status == ATN_OK && !discard) status = atn_reports_look(s->device, s->report);
    if (status != ATN_OK || s->bytes == 0) return status;
    if (is_shared(s)) {
        if (!s->on_device && !discard) memset(s->host, 0, s->bytes);
        status = await_sent(s);
        if (status == ATN_OK && s->on_device) status = atn_queue_finish(atn_device_queue(s->device));
        if (status == ATN_OK) s->on_host = s->on_device = true;
        s->busy = s->busy && status != ATN_OK;
        return status;
    }
    if (s->motion == ATN_MOTION_TO_HOST || how != TO_READ) status = atn_storage_settle(s);
    if (status != ATN_OK || s->on_host || discard) return status;
    if (s->on_device) {
        status = await_sent(s);
        if (status == ATN_OK) status = atn_buffer_get(NULL, s->buffer, 0, s->host, s->bytes);
        s->to_host += status == ATN_OK;
    } else {
        memset(s->host, 0, s->bytes);
    }
    if (status == ATN_OK) s->on_host = true;
    return status;
}

static void written_on_host(atn_array *array) {
    array->storage->on_host = true;
    array->storage->on_device = is_shared(array->storage);
}

static void *place(const atn_array *array) {
    if (!array->storage->host || array->size[0] == 0 || atn_array_rows(array) == 0) return NULL;
    return (char *)array->storage->host + (size_t)array->offset * atn_type_bytes(array->type);
}

atn_status atn_array_map_read(atn_array *array, const void **out) {
    *out = NULL;
    atn_status status = ready_host(array, TO_READ);
    if (status == ATN_OK) *out = place(array);
    return status;
}

atn_status atn_array_map_write(atn_array *array, void **out) {
    *out = NULL;
    atn_status status = ready_host(array, TO_WRITE);
    if (status != ATN_OK) return status;
    written_on_host(array);
    *out = place(array);
    return ATN_OK;
}

static atn_status check_pitch(const atn_array *array, int64_t *pitch) {
    if (*pitch == 0) *pitch = array->size[0];
    if (*pitch >= array->size[0]) return ATN_OK;
    return atn_fail(atn_array_ctx(array), ATN_ERR_INPUT, "array: a pitch of %lld for rows of %lld elements",
                    (long long)*pitch, (long long)array->size[0]);
}

/* Rows without gaps between them are one long row. Large arrays are copied by all cores: one alone does not reach what
 * memory gives. */
typedef struct row_copy {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, row; /* bytes */
} row_copy;

static void copy_part(void *user, int64_t from, int64_t to) {
    const row_copy *c = user;
    for (size_t k = (size_t)from; k < (size_t)to; ++k)
        memcpy(c->to + k * c->to_pitch, c->from + k * c->from_pitch, c->row);
}

static void copy_rows(const atn_array *array, char *to, int64_t to_pitch, const char *from, int64_t from_pitch) {
    enum { PIECE = 1 << 16, WORTH = 1 << 20 }; /* bytes of a row that is cut; for which a core is woken */
    size_t element = atn_type_bytes(array->type), row = (size_t)array->size[0] * element;
    row_copy c = {to, from, (size_t)to_pitch * element, (size_t)from_pitch * element, row};
    int64_t rows = atn_array_rows(array);
    if (row == 0 || rows == 0) return;
    if (c.to_pitch == row && c.from_pitch == row) {
        size_t bytes = row * (size_t)rows, whole = bytes / PIECE * PIECE;
        memcpy(to + whole, from + whole, bytes - whole);
        c.to_pitch = c.from_pitch = c.row = PIECE;
        rows = (int64_t)(whole / PIECE);
    }
    atn_parallel(rows, (int64_t)(WORTH / c.row), copy_part, &c);
}

/* All of the array, between the device and the caller's memory: no copy on the way is needed. */
static bool goes_directly(const atn_array *array, const void *memory, int64_t pitch) {
    atn_storage *s = array->storage;
    size_t bytes = (size_t)(array->size[0] * atn_array_rows(array)) * atn_type_bytes(array->type);
    return is_pinned_at(bytes) && bytes == s->bytes && pitch == array->size[0] && array->pitch == array->size[0] &&
           !is_shared(s) && atn_host_is_pinned(s->device, memory, bytes);
}

atn_status atn_array_put(atn_array *array, const void *from, int64_t pitch) {
    atn_status status = check_pitch(array, &pitch);
    if (status == ATN_OK && goes_directly(array, from, pitch)) {
        status = atn_array_send(array, atn_device_queue(array->storage->device), from);
        return status == ATN_OK ? atn_storage_settle(array->storage) : status;
    }
    if (status == ATN_OK) status = ready_host(array, TO_OVERWRITE);
    if (status != ATN_OK) return status;
    written_on_host(array);
    copy_rows(array, place(array), array->pitch, from, pitch);
    return ATN_OK;
}

atn_status atn_array_get(atn_array *array, void *to, int64_t pitch) {
    atn_storage *s = array->storage;
    atn_status status = check_pitch(array, &pitch);
    if (status == ATN_OK && s->on_device && !s->on_host && goes_directly(array, to, pitch)) {
        status = atn_reports_look(s->device, s->report);
        if (status == ATN_OK) status = atn_buffer_get(NULL, s->buffer, 0, to, s->bytes);
        s->to_host += status == ATN_OK;
        return status;
    }
    if (status == ATN_OK) status = ready_host(array, TO_READ);
    if (status == ATN_OK) copy_rows(array, to, pitch, place(array), array->pitch);
    return status;
}

void atn_array_transfers(const atn_array *array, int64_t *to_device, int64_t *to_host) {
    *to_device = array->storage->to_device;
    *to_host = array->storage->to_host;
}
