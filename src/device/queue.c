/* Queues and events in front of the backends: who may wait for whom, and whether work is done or kept on a tape
 * (tape.c). */
#include "device/backend.h"

/* ---- work ---- */

atn_status atn_work_start(atn_queue *queue, const atn_work *w) {
    const atn_backend *backend = queue->device->backend;
    switch (w->kind) {
    case ATN_WORK_PUT:
        return backend->put(queue, w->to, w->to_offset, w->host_from, w->bytes);
    case ATN_WORK_GET:
        return backend->get(queue, w->from, w->from_offset, w->host_to, w->bytes);
    case ATN_WORK_COPY:
        return backend->copy(queue, w->to, w->to_offset, w->from, w->from_offset, w->bytes);
    case ATN_WORK_FILL:
        return backend->fill(queue, w->to, w->to_offset, w->byte, w->bytes);
    default:
        return backend->launch(queue, w->function, w->launch);
    }
}

/* On a tape, and the backend has none of its own: nothing of it reaches the backend now. */
static bool is_kept_here(const atn_queue *queue) { return queue->tape && !queue->device->backend->tape_begin; }

atn_status atn_work_queue(atn_queue *queue, const atn_work *work) {
    if (!queue->tape) return atn_work_start(queue, work);
    bool plain = work->kind != ATN_WORK_PUT && work->kind != ATN_WORK_GET;
    atn_status status = atn_tape_admit(queue, plain);
    if (status != ATN_OK) return status;
    ++queue->reach.count[queue->number];
    return atn_tape_note(queue, is_kept_here(queue) ? atn_tape_keep(queue, work) : atn_work_start(queue, work));
}

/* ---- queues ---- */

atn_queue *atn_device_queue(atn_device *device) { return device->queue; }

atn_status atn_device_follow(atn_device *device, void *stream) {
    atn_status status = atn_device_check(device);
    if (status == ATN_OK && atn_queue_is_kept(device->queue))
        status = atn_tape_refuse(device->queue, "following a stream");
    if (status != ATN_OK || !device->backend->queue_follow) return status;
    return device->backend->queue_follow(device->queue, stream);
}

void *atn_device_stream(atn_device *device) {
    return device->backend->queue_stream ? device->backend->queue_stream(device->queue) : NULL;
}

bool atn_queue_is_kept(const atn_queue *queue) { return queue->tape; }

/* The lowest number that no queue has; ATN_MAX_QUEUES: there are as many as there may be. */
static int32_t free_number(const atn_device *device) {
    for (int32_t number = 0; number < ATN_MAX_QUEUES; ++number) {
        const atn_queue *other = device->queues;
        while (other && other->number != number) other = other->next;
        if (!other) return number;
    }
    return ATN_MAX_QUEUES;
}

atn_status atn_queue_create(atn_device *device, atn_queue **out) {
    *out = NULL;
    atn_status status = atn_device_check(device);
    if (status != ATN_OK) return status;
    int32_t number = free_number(device);
    if (number == ATN_MAX_QUEUES)
        return atn_fail(device->ctx, ATN_ERR_INPUT, "%s: more than %d queues at a time", device->info.name,
                        ATN_MAX_QUEUES);
    status = device->backend->queue_create(device, out);
    if (status != ATN_OK) return status;
    (*out)->device = device;
    (*out)->number = number;
    (*out)->next = device->queues;
    device->queues = *out;
    return ATN_OK;
}

void atn_queue_free(atn_queue *queue) {
    if (!queue) return;
    atn_tape_drop(queue);
    for (atn_queue **at = &queue->device->queues; *at; at = &(*at)->next)
        if (*at == queue) {
            *at = queue->next;
            break;
        }
    atn_stage_free(queue);
    queue->device->backend->queue_free(queue);
}

atn_status atn_queue_finish(atn_queue *queue) {
    atn_status status = atn_device_check(queue->device);
    if (status == ATN_OK) status = atn_tape_refuse(queue, "finishing a queue");
    return status == ATN_OK ? queue->device->backend->queue_finish(queue) : status;
}

atn_status atn_queue_wait(atn_queue *queue, const atn_event *event) {
    bool kept = false;
    atn_status status = atn_device_check(queue->device);
    if (status == ATN_OK) status = atn_tape_wait(queue, event, &kept);
    if (status != ATN_OK || kept) return status;
    return atn_tape_note(queue, queue->device->backend->queue_wait(queue, event));
}

/* ---- events ---- */

atn_status atn_event_create(atn_device *device, atn_event **out) {
    *out = NULL;
    atn_status status = atn_device_check(device);
    if (status == ATN_OK) status = device->backend->event_create(device, out);
    if (status == ATN_OK) (*out)->device = device;
    return status;
}

atn_status atn_event_mark(atn_queue *queue, atn_event *event) {
    atn_status status = atn_device_check(queue->device);
    if (status != ATN_OK) return status;
    if (event->device != queue->device)
        return atn_fail(queue->device->ctx, ATN_ERR_INPUT, "an event of %s in a queue of %s", event->device->info.name,
                        queue->device->info.name);
    status = atn_tape_admit(queue, false);
    if (status != ATN_OK) return status;
    if (!is_kept_here(queue)) status = atn_tape_note(queue, queue->device->backend->event_mark(queue, event));
    if (status != ATN_OK) return status;
    event->marked = true;
    event->tape = queue->tape;
    event->reach = queue->reach;
    return ATN_OK;
}

atn_status atn_event_record(atn_queue *queue, atn_event **out) {
    atn_status status = atn_event_create(queue->device, out);
    if (status == ATN_OK) status = atn_event_mark(queue, *out);
    if (status == ATN_OK) return ATN_OK;
    atn_event_free(*out);
    *out = NULL;
    return status;
}

/* The host waits for it: it was marked, and not on a tape. */
static atn_status check_event(const atn_event *event) {
    atn_status status = atn_device_check(event->device);
    if (status != ATN_OK) return status;
    if (!event->marked)
        return atn_fail(event->device->ctx, ATN_ERR_INPUT, "%s: an event was waited for that was never marked",
                        event->device->info.name);
    if (event->tape)
        return atn_fail(event->device->ctx, ATN_ERR_INPUT,
                        "%s: an event of a tape orders that tape's work; the host cannot wait for it",
                        event->device->info.name);
    return ATN_OK;
}

atn_status atn_event_wait(atn_event *event) {
    atn_status status = check_event(event);
    return status == ATN_OK ? event->device->backend->event_wait(event) : status;
}

atn_status atn_event_elapsed(const atn_event *from, const atn_event *to, double *seconds) {
    *seconds = 0;
    atn_status status = check_event(from);
    if (status == ATN_OK) status = check_event(to);
    if (status != ATN_OK) return status;
    if (from->device != to->device)
        return atn_fail(from->device->ctx, ATN_ERR_INPUT,
                        "%s: the events are of two devices, whose clocks do not compare", from->device->info.name);
    return from->device->backend->event_elapsed(from, to, seconds);
}

void atn_event_free(atn_event *event) {
    if (event) event->device->backend->event_free(event);
}
