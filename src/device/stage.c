/* Small puts that return at once: their bytes are copied into pinned memory of the queue's and go to the device from
 * there. Two halves take turns; the host waits only where a half is still under way when its turn comes again. */
#include "base/memory.h"
#include "base/size.h"
#include "device/backend.h"

#include <string.h>

enum {
    HALF = 256 << 10, /* bytes */
    MOST = 64 << 10,  /* bytes of a put that is staged: copying more costs as much as waiting */
    ALIGNMENT = 64
};

typedef struct atn_stage {
    char *memory;       /* two halves, pinned; NULL: there is none left */
    atn_event *done[2]; /* behind the last put from each half */
    bool busy[2];       /* a put from it may be under way */
    int half;           /* the one being filled */
    size_t used;        /* bytes of it */
} atn_stage;

/* A device that has no pinned memory left keeps a stage without memory, and is not asked again. */
static atn_status make(atn_queue *queue) {
    atn_device *device = queue->device;
    atn_stage *stage = atn_zalloc(device->ctx, sizeof *stage);
    if (!stage) return ATN_ERR_MEMORY;
    queue->stage = stage;
    stage->memory = device->backend->host_alloc(device, 2 * HALF);
    atn_status status = ATN_OK;
    for (int k = 0; k < 2 && status == ATN_OK && stage->memory; ++k) status = atn_event_create(device, &stage->done[k]);
    if (status != ATN_OK) atn_stage_free(queue);
    return status;
}

void atn_stage_free(atn_queue *queue) {
    atn_stage *stage = queue->stage;
    if (!stage) return;
    atn_device *device = queue->device;
    if ((stage->busy[0] || stage->busy[1] || stage->used) && !device->lost) (void)device->backend->queue_finish(queue);
    for (int k = 0; k < 2; ++k) atn_event_free(stage->done[k]);
    if (stage->memory) device->backend->host_free(device, stage->memory);
    atn_free(device->ctx, stage);
    queue->stage = NULL;
}

/* Room in the half that is being filled, or in the other one. */
static atn_status make_room(atn_queue *queue, atn_stage *stage, size_t bytes) {
    if (bytes <= HALF - stage->used) return ATN_OK;
    atn_status status = atn_event_mark(queue, stage->done[stage->half]);
    if (status != ATN_OK) return status;
    int other = 1 - stage->half;
    stage->busy[stage->half] = true;
    if (stage->busy[other]) status = atn_event_wait(stage->done[other]);
    if (status != ATN_OK) return status;
    stage->busy[other] = false;
    stage->half = other;
    stage->used = 0;
    return ATN_OK;
}

atn_status atn_stage_put(atn_queue *queue, const atn_work *put, bool *done) {
    *done = false;
    if (put->bytes > MOST || !queue->device->backend->host_alloc) return ATN_OK;
    atn_status status = queue->stage ? ATN_OK : make(queue);
    atn_stage *stage = queue->stage;
    if (status != ATN_OK || !stage->memory) return status;
    status = make_room(queue, stage, put->bytes);
    if (status != ATN_OK) return status;
    atn_work staged = *put;
    staged.host_from = memcpy(stage->memory + (size_t)stage->half * HALF + stage->used, put->host_from, put->bytes);
    stage->used += atn_size_round_up(put->bytes, ALIGNMENT);
    *done = true;
    return atn_work_queue(queue, &staged);
}
