/* Queues, in front of the backends: creating, finishing, freeing, and waiting for each other's events. */
#include "device/backend.h"

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
