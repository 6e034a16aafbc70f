/* Events, in front of the backends: recorded in a queue, waited for by the host, timed. */
#include "device/backend.h"

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
    if (!atn_tape_is_kept_here(queue)) status = atn_tape_note(queue, queue->device->backend->event_mark(queue, event));
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
