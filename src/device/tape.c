/* Tapes in front of the backends: which queues are on the one being made, whether all of them are joined at its end,
 * what spoiled it, what is done at once; and for backends without graphs the work itself, kept with its arguments and
 * queued again in the same order, which is one that the events allow. */
#include "base/memory.h"
#include "base/size.h"
#include "device/backend.h"

#include <stdio.h>
#include <string.h>

typedef struct atn_taped {
    struct atn_taped *next;
    atn_work work;     /* of a loop: only where its state is (to, to_offset) */
    atn_launch launch; /* of the work, where it is one */
    bool is_loop;
    int32_t most;           /* rounds of a loop */
    struct atn_taped *body; /* of a loop; owned */
    struct {
        char bytes[16];
    } * value; /* per argument; behind this */
    atn_arg args[];
} atn_taped;

/* The tape that is being made. */
typedef struct atn_recorder {
    atn_queue *queue;            /* where it was begun */
    uint64_t number;             /* of the device's tapes, from 1 */
    bool in_loop;                /* a loop was begun and not ended */
    atn_taped *loop;             /* that one, where it is kept here */
    atn_taped *first, **last;    /* last: where the next one is hung */
    atn_status status;           /* the first failure, and */
    char why[ATN_MESSAGE_BYTES]; /* its sentence */
} atn_recorder;

/* ---- what is kept ---- */

static void free_kept(const atn_ctx *ctx, atn_taped *kept) {
    while (kept) {
        atn_taped *next = kept->next;
        free_kept(ctx, kept->body); /* loops do not nest */
        atn_free(ctx, kept);
        kept = next;
    }
}

static void hang(atn_recorder *r, atn_taped *kept) {
    *r->last = kept;
    r->last = &kept->next;
}

static atn_status keep(atn_queue *queue, const atn_work *work) {
    size_t n = work->launch ? work->launch->n_args : 0, each = sizeof(atn_arg) + sizeof *((atn_taped *)0)->value;
    atn_taped *kept = atn_zalloc(queue->device->ctx, sizeof *kept + n * each); /* n <= ATN_MAX_ARGS */
    if (!kept) return ATN_ERR_MEMORY;
    kept->work = *work;
    if (work->launch) {
        kept->launch = *work->launch;
        kept->launch.args = kept->args;
        kept->work.launch = &kept->launch;
    }
    kept->value = (void *)(kept->args + n);
    for (size_t k = 0; k < n; ++k) {
        kept->args[k] = work->launch->args[k];
        if (kept->args[k].buffer) continue;
        memcpy(kept->value[k].bytes, work->launch->args[k].value, work->launch->args[k].bytes);
        kept->args[k].value = kept->value[k].bytes;
    }
    hang(queue->device->making, kept);
    return ATN_OK;
}

atn_status atn_tape_note(const atn_queue *queue, atn_status status) {
    atn_recorder *r = queue->device->making;
    if (status == ATN_OK || !queue->tape || r->status != ATN_OK) return status;
    r->status = status;
    snprintf(r->why, sizeof r->why, "%s", atn_ctx_message(queue->device->ctx));
    return status;
}

atn_status atn_tape_refuse(const atn_queue *queue, const char *what) {
    if (!queue->tape) return ATN_OK;
    const atn_device *device = queue->device;
    return atn_tape_note(queue, atn_fail(device->ctx, ATN_ERR_DEVICE,
                                         "%s: %s cannot be kept on a tape, whose queue takes work alone",
                                         device->info.name, what));
}

atn_status atn_tape_admit(const atn_queue *queue, bool plain) {
    const atn_recorder *r = queue->device->making;
    if (!queue->tape || !r->in_loop || (plain && queue == r->queue)) return ATN_OK;
    return atn_tape_note(queue, atn_fail(queue->device->ctx, ATN_ERR_DEVICE,
                                         "%s: a loop on a tape takes launches, copies and fills of one queue alone",
                                         queue->device->info.name));
}

/* ---- work: done now, or kept ---- */

static atn_status start(atn_queue *queue, const atn_work *w) {
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

bool atn_tape_is_kept_here(const atn_queue *queue) { return queue->tape && !queue->device->backend->tape_begin; }

atn_status atn_work_queue(atn_queue *queue, const atn_work *work) {
    if (!queue->tape) return start(queue, work);
    bool plain = work->kind != ATN_WORK_PUT && work->kind != ATN_WORK_GET;
    atn_status status = atn_tape_admit(queue, plain);
    if (status != ATN_OK) return status;
    ++queue->reach.count[queue->number];
    return atn_tape_note(queue, atn_tape_is_kept_here(queue) ? keep(queue, work) : start(queue, work));
}

/* ---- which queues are on it ---- */

static void join(atn_queue *queue, uint64_t number) {
    queue->tape = number;
    queue->reach = (atn_reach){0};
    queue->reach.count[queue->number] = 1; /* joining is work: it has to be waited for */
}

static void leave(const atn_device *device, uint64_t number) {
    for (atn_queue *q = device->queues; q; q = q->next)
        if (q->tape == number) q->tape = 0;
}

atn_status atn_tape_wait(atn_queue *queue, const atn_event *event, bool *kept) {
    const atn_device *device = queue->device;
    const char *name = device->info.name;
    *kept = false;
    if (event->device != device)
        return atn_fail(device->ctx, ATN_ERR_INPUT, "%s: a queue cannot wait for an event of another device", name);
    if (!event->marked)
        return atn_tape_note(queue, atn_fail(device->ctx, ATN_ERR_INPUT,
                                             "%s: a queue cannot wait for an event that was never marked", name));
    if (event->tape && (!device->making || device->making->number != event->tape))
        return atn_tape_note(queue, atn_fail(device->ctx, ATN_ERR_INPUT,
                                             "%s: a queue cannot wait for an event of a tape that is finished", name));
    if (!event->tape && queue->tape)
        return atn_tape_note(queue, atn_fail(device->ctx, ATN_ERR_DEVICE,
                                             "%s: work on a tape cannot wait for an event from outside of it", name));
    if (!event->tape) return ATN_OK;
    if (!queue->tape) join(queue, event->tape);
    atn_status status = atn_tape_admit(queue, false);
    if (status != ATN_OK) return status;
    for (int k = 0; k < ATN_MAX_QUEUES; ++k)
        if (queue->reach.count[k] < event->reach.count[k]) queue->reach.count[k] = event->reach.count[k];
    *kept = !device->backend->tape_begin;
    return ATN_OK;
}

/* Does what the first queue has queued come after all that the others have? */
static atn_status check_joined(const atn_recorder *r) {
    const atn_device *device = r->queue->device;
    for (const atn_queue *q = device->queues; q; q = q->next)
        if (q->tape == r->number && q->reach.count[q->number] != r->queue->reach.count[q->number])
            return atn_fail(device->ctx, ATN_ERR_DEVICE,
                            "%s: a queue that joined a tape was not waited for by the queue that it was begun on",
                            device->info.name);
    return ATN_OK;
}

/* ---- making ---- */

atn_status atn_tape_begin(atn_queue *queue) {
    atn_device *device = queue->device;
    atn_status status = atn_device_check(device);
    if (status != ATN_OK) return status;
    if (device->making)
        return atn_fail(device->ctx, ATN_ERR_DEVICE, "%s: another tape is being made", device->info.name);
    atn_recorder *r = atn_zalloc(device->ctx, sizeof *r);
    if (!r) return ATN_ERR_MEMORY;
    *r = (atn_recorder){.queue = queue, .number = device->tapes + 1, .last = &r->first};
    if (device->backend->tape_begin) status = device->backend->tape_begin(queue);
    if (status != ATN_OK) {
        atn_free(device->ctx, r);
        return status;
    }
    ++device->tapes;
    device->making = r;
    join(queue, r->number);
    return ATN_OK;
}

/* What was kept, as a tape of its own. */
static atn_status take_kept(atn_recorder *r, atn_tape **out) {
    *out = atn_zalloc(r->queue->device->ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    (*out)->first = r->first;
    r->first = NULL;
    return ATN_OK;
}

/* Also of a device that was lost meanwhile: what was begun is ended. */
atn_status atn_tape_end(atn_queue *queue, atn_tape **out) {
    atn_device *device = queue->device;
    atn_recorder *r = device->making;
    *out = NULL;
    if (!r || r->queue != queue)
        return atn_fail(device->ctx, ATN_ERR_DEVICE, "%s: no tape was begun on this queue", device->info.name);
    (void)atn_tape_note(queue, check_joined(r));
    if (r->in_loop) {
        (void)atn_tape_note(
            queue, atn_fail(device->ctx, ATN_ERR_DEVICE, "%s: a loop on a tape was not ended", device->info.name));
        (void)atn_tape_while_end(queue);
    }
    atn_status status = device->backend->tape_end ? device->backend->tape_end(queue, out) : take_kept(r, out);
    if (status == ATN_OK) (*out)->device = device;
    leave(device, r->number);
    device->making = NULL;
    if (r->status != ATN_OK) {
        atn_tape_free(*out);
        *out = NULL;
        status = atn_fail(device->ctx, r->status, "%s", r->why);
    }
    free_kept(device->ctx, r->first);
    atn_free(device->ctx, r);
    return status;
}

void atn_tape_drop(atn_queue *queue) {
    atn_recorder *r = queue->device->making;
    atn_tape *tape;
    if (!queue->tape) return;
    if (r->queue != queue) {
        (void)atn_tape_refuse(queue, "freeing a queue");
        return;
    }
    (void)atn_tape_end(queue, &tape);
    atn_tape_free(tape);
}

/* ---- loops ---- */

bool atn_tape_can_while(atn_device *device) {
    const atn_backend *backend = device->backend;
    if (device->lost) return false;
    if (!backend->tape_begin) return backend->buffer_host; /* looks at the state where it repeats the work */
    return backend->tape_can_while && backend->tape_can_while(device);
}

static atn_status keep_loop(atn_recorder *r, atn_buffer *state, size_t offset, int32_t most) {
    r->loop = atn_zalloc(r->queue->device->ctx, sizeof *r->loop);
    if (!r->loop) return ATN_ERR_MEMORY;
    *r->loop = (atn_taped){.is_loop = true, .work = {.to = state, .to_offset = offset}, .most = most};
    hang(r, r->loop);
    r->last = &r->loop->body;
    return ATN_OK;
}

atn_status atn_tape_while(atn_queue *queue, atn_buffer *state, size_t offset, int32_t most) {
    atn_device *device = queue->device;
    atn_recorder *r = device->making;
    const atn_backend *backend = device->backend;
    const char *name = device->info.name;
    atn_status status = atn_device_check(device);
    if (status != ATN_OK) return status;
    if (!r || r->queue != queue)
        return atn_fail(device->ctx, ATN_ERR_DEVICE, "%s: a loop begins on the queue that a tape was begun on", name);
    status = atn_tape_admit(queue, false); /* in another loop? */
    if (status != ATN_OK) return status;
    if (state->device != device || offset % sizeof(int32_t) ||
        !atn_size_within(offset, 2 * sizeof(int32_t), state->bytes) || most < 0)
        return atn_tape_note(queue, atn_fail(device->ctx, ATN_ERR_INPUT,
                                             "%s: a loop of at most %d rounds with its state at byte %zu of %zu", name,
                                             most, offset, state->bytes));
    if (backend->tape_begin ? !backend->tape_while : !backend->buffer_host)
        return atn_fail(device->ctx, ATN_ERR_UNSUPPORTED, "%s (%s): tapes have no loops", name, backend->name);
    ++queue->reach.count[queue->number];
    status = backend->tape_while ? backend->tape_while(queue, state, offset, most) : keep_loop(r, state, offset, most);
    r->in_loop = status == ATN_OK;
    return status == ATN_ERR_UNSUPPORTED ? status : atn_tape_note(queue, status);
}

atn_status atn_tape_while_end(atn_queue *queue) {
    atn_device *device = queue->device;
    atn_recorder *r = device->making;
    if (!r || r->queue != queue || !r->in_loop)
        return atn_fail(device->ctx, ATN_ERR_DEVICE, "%s: no loop was begun on this queue", device->info.name);
    r->in_loop = false;
    ++queue->reach.count[queue->number];
    if (device->backend->tape_while_end) return atn_tape_note(queue, device->backend->tape_while_end(queue));
    r->last = &r->loop->next;
    return ATN_OK;
}

/* ---- running ---- */

static atn_status repeat(atn_queue *queue, const atn_taped *kept);

/* Of a device whose buffers the host may touch, and whose work is done at once. */
static atn_status repeat_loop(atn_queue *queue, const atn_taped *loop) {
    int32_t *state = (void *)((char *)atn_buffer_host(loop->work.to) + loop->work.to_offset);
    atn_status status = queue->device->backend->queue_finish(queue);
    for (; status == ATN_OK && state[0] == 1 && state[1] < loop->most; ++state[1]) {
        status = atn_check_cancel(queue->device->ctx);
        if (status == ATN_OK) status = repeat(queue, loop->body);
        if (status == ATN_OK) status = queue->device->backend->queue_finish(queue);
    }
    return status;
}

static atn_status repeat(atn_queue *queue, const atn_taped *kept) {
    atn_status status = ATN_OK;
    for (; kept && status == ATN_OK; kept = kept->next)
        status = kept->is_loop ? repeat_loop(queue, kept) : start(queue, &kept->work);
    return status;
}

atn_status atn_tape_launch(atn_queue *queue, atn_tape *tape) {
    atn_device *device = queue->device;
    atn_status status = atn_device_check(device);
    if (status == ATN_OK) status = atn_tape_refuse(queue, "a tape");
    if (status != ATN_OK) return status;
    if (tape->device != device)
        return atn_fail(device->ctx, ATN_ERR_INPUT, "launches kept on %s for a queue of %s", tape->device->info.name,
                        device->info.name);
    return device->backend->tape_launch ? device->backend->tape_launch(queue, tape) : repeat(queue, tape->first);
}

void atn_tape_free(atn_tape *tape) {
    if (!tape) return;
    const atn_ctx *ctx = tape->device->ctx;
    if (tape->device->backend->tape_free) {
        tape->device->backend->tape_free(tape);
        return;
    }
    free_kept(ctx, tape->first);
    atn_free(ctx, tape);
}
