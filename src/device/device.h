/* An open device from the inside: buffers, modules of built code, launches, queues and events. The same calls
 * for every backend; src/device/backend.h is the table behind them. All objects made from a device are owned
 * by the caller and freed before the device is closed. */
#ifndef ATN_DEVICE_DEVICE_H
#define ATN_DEVICE_DEVICE_H

#include "base/context.h"
#include "base/limits.h"

#include <attune/device.h>

typedef struct atn_buffer atn_buffer;     /* bytes in the device's memory */
typedef struct atn_module atn_module;     /* source text, built */
typedef struct atn_function atn_function; /* one entry point of a module; lives as long as the module */
typedef struct atn_queue atn_queue;       /* work done in order; several queues may overlap */
typedef struct atn_event atn_event;       /* a moment on a queue */
typedef struct atn_tape atn_tape;         /* work that was kept, to be queued again as one: a CUDA graph */

/* ---- buffers; NULL as a queue means the device's own first queue ---- */
atn_status atn_buffer_create(atn_device *device, size_t bytes,
                             atn_buffer **out); /* contents undefined; 0 bytes are fine */
/* Memory of the caller's as a buffer, without a copy: it outlives the buffer, and kernels only read it. *out is NULL
 * where the device has memory of its own. bytes > 0. */
atn_status atn_buffer_around(atn_device *device, const void *data, size_t bytes, atn_buffer **out);
/* The same for memory that the device can address, to be read and written: a CUDA address, a pointer on the host. *out
 * is NULL where a backend takes none. bytes > 0. */
atn_status atn_buffer_at(atn_device *device, void *address, size_t bytes, atn_buffer **out);
void *atn_buffer_address(const atn_buffer *buffer); /* as atn_buffer_at takes it; NULL where a backend has none */
void atn_buffer_free(atn_buffer *buffer);
size_t atn_buffer_bytes(const atn_buffer *buffer);
uint64_t
atn_buffer_number(const atn_buffer *buffer); /* another one may lie where a freed one did; its number differs */
void *atn_buffer_host(atn_buffer *buffer);   /* where the host may touch it directly, else NULL */

/* put: returns once `from` may be reused. get: returns once `to` is filled. Both are in order with the queue
 * and refuse to reach outside the buffer. A small put does not wait where the device has pinned memory: its bytes are
 * staged there. */
atn_status atn_buffer_put(atn_queue *queue, atn_buffer *buffer, size_t offset, const void *from, size_t bytes);
atn_status atn_buffer_get(atn_queue *queue, const atn_buffer *buffer, size_t offset, void *to, size_t bytes);
/* The same without waiting: `from` must not change, and `to` must not be read, until an event after them has been
 * waited for or the queue is finished; errors are reported there, too. With memory of atn_host_alloc, copies run
 * concurrently with the host and other queues; with other memory they are correct, but a driver may wait for them. */
atn_status atn_buffer_put_async(atn_queue *queue, atn_buffer *buffer, size_t offset, const void *from, size_t bytes);
atn_status atn_buffer_get_async(atn_queue *queue, const atn_buffer *buffer, size_t offset, void *to, size_t bytes);
atn_status atn_buffer_copy(atn_queue *queue, atn_buffer *to, size_t to_offset, const atn_buffer *from,
                           size_t from_offset, size_t bytes); /* asynchronous */
atn_status atn_buffer_fill(atn_queue *queue, atn_buffer *buffer, size_t offset, uint8_t byte,
                           size_t bytes); /* asynchronous */

/* Host memory for asynchronous copies: pinned (page-locked) if the device has such memory, otherwise pageable. Pinned
 * memory is slow to allocate and unavailable to all other processes: some of what is freed is kept for later use. */
typedef struct atn_host_memory {
    void *data;   /* aligned to 64 bytes; contents undefined; NULL where there is none */
    bool pinned;  /* copies from and to it need not wait */
    void *block;  /* as allocated */
    size_t bytes; /* of a pinned block */
} atn_host_memory;
atn_status atn_host_alloc(atn_device *device, size_t bytes, atn_host_memory *out);
bool atn_host_is_pinned(atn_device *device, const void *memory, size_t bytes); /* whoever pinned it; bytes > 0 */
void atn_host_free(atn_device *device, atn_host_memory *memory); /* all zero is fine, and is left; waits for no copy */

/* ---- modules ---- */
typedef struct atn_build {
    const char *name;     /* of the kernel, for messages and file names: at most 100 bytes, no '/'; NULL: "kernel" */
    const char *source;   /* in the backend's dialect */
    const char *flags;    /* further flags, separated by blanks, or NULL */
    bool fast_math;       /* lets the compiler assume finite values and reorder */
    const char *compiler; /* host: gcc or clang instead of the context's choice; NULL elsewhere */
    double timeout_s;     /* for the compiler; 0: 120 */
    bool no_cache;        /* neither looks into the cache nor stores */
    bool compiled_in;     /* host: what came with the library serves, where it is the same text: no compiler is asked */
} atn_build;

atn_status atn_module_build(atn_device *device, const atn_build *build, atn_module **out);
void atn_module_free(atn_module *module);
size_t atn_module_code_bytes(const atn_module *module); /* size of the built binary */
bool atn_module_cached(const atn_module *module);       /* came out of the cache */
bool atn_module_compiled_in(const atn_module *module);  /* host: came with the library, whatever compiler there is */
atn_status atn_module_function(atn_module *module, const char *name, atn_function **out);

/* Properties known only after a build; -1 if the backend does not report them. */
typedef struct atn_function_info {
    int32_t registers;       /* per work-item */
    int64_t local_bytes;     /* local memory per work-group, declared in the source */
    int64_t private_bytes;   /* spilled, per work-item */
    int32_t max_group;       /* largest work-group this function can run with */
    int32_t groups_per_core; /* resident at once at `items` per group; see atn_function_get_info */
} atn_function_info;
atn_status atn_function_get_info(const atn_function *function, int32_t items, atn_function_info *out);

/* ---- launches ---- */
typedef struct atn_arg {
    atn_buffer *buffer; /* a buffer; or NULL and */
    const void *value;  /* a scalar of */
    size_t bytes;       /* this size: 1, 2, 4, 8 or 16 */
} atn_arg;

typedef struct atn_launch {
    size_t groups[3];   /* work-groups per dimension; 0 in dimension 0 launches nothing, later zeros count as 1 */
    size_t items[3];    /* work-items per group; 0 counts as 1; the host ignores them */
    size_t local_bytes; /* dynamic local memory (cuda); 0 elsewhere */
    int32_t threads;    /* host: threads; 0, or more than the device's cores: as many as those */
    const atn_arg *args;
    size_t n_args; /* at most ATN_MAX_ARGS */
} atn_launch;

/* Asynchronous where the backend is (the host is done on return). Never allocates. */
atn_status atn_function_launch(atn_queue *queue, atn_function *function, const atn_launch *launch);

/* ---- queues and events ----
 * Work of one queue is done in its order. Queues are ordered among each other by events alone: work of one that needs
 * what another one does waits for an event recorded behind it. All on the calling thread; on the host work is done at
 * once, which satisfies any order. An error of work that is under way shows at the next wait (atn_queue_finish,
 * atn_event_wait, a put or get that waits) with its cause, on some devices at an earlier call already. */
atn_queue *atn_device_queue(atn_device *device); /* the device's own first queue */
atn_status atn_queue_create(atn_device *device, atn_queue **out);
void atn_queue_free(atn_queue *queue);                               /* NULL is fine; its work is finished first */
atn_status atn_queue_finish(atn_queue *queue);                       /* waits for all of it; errors show here */
atn_status atn_queue_wait(atn_queue *queue, const atn_event *event); /* later work starts after the event */
atn_status atn_event_record(atn_queue *queue, atn_event **out);      /* a new one, after all that was queued so far */
atn_status atn_event_create(atn_device *device, atn_event **out);    /* one that is marked later, any number of times */
/* After all that was queued so far; what it marked before is forgotten. A queue that waits for it waits for the mark as
 * it was then. Allocates nothing. */
atn_status atn_event_mark(atn_queue *queue, atn_event *event);
atn_status atn_event_wait(atn_event *event);                                               /* the host waits */
atn_status atn_event_elapsed(const atn_event *from, const atn_event *to, double *seconds); /* device time; waits */
void atn_event_free(atn_event *event);                                                     /* NULL is fine */

/* ---- tapes: much small work for the price of one launch ----
 * Between begin and end the queue's work is kept instead of done: launches with their arguments as they are then,
 * copies and fills within the device, asynchronous puts and gets (from and to memory of atn_host_alloc, at the time the
 * tape is launched), events and waits for them. A queue that waits for an event of the tape joins it: its work is kept,
 * too, until the end, and before the end the first queue waits for what the others did. Such events order work of the
 * tape alone, and work of the tape waits for no other event. What waits for the host (a put or get that waits, finish)
 * fails and makes the end fail; so does any other failure meanwhile. One tape of a device is made at a time. Buffers,
 * host memory and modules outlive the tape. After an end, failed or not, the queues are as before. A device without
 * graphs runs what was kept in the order in which it was queued. ATN_ERR_UNSUPPORTED where the device's driver is too
 * old. */
atn_status atn_tape_begin(atn_queue *queue);
atn_status atn_tape_end(atn_queue *queue, atn_tape **out);
/* In any queue of the device, in order with its other work; asynchronous, never allocates. A tape runs once at a time:
 * launches of one tape into several queues are ordered by events. */
atn_status atn_tape_launch(atn_queue *queue, atn_tape *tape);
void atn_tape_free(atn_tape *tape);             /* NULL is fine; not while it runs */
bool atn_queue_is_kept(const atn_queue *queue); /* is its work kept on a tape now? */

/* A loop on a tape: launches, copies and fills of the tape's first queue between while and while_end, and nothing else,
 * are repeated where the tape runs, without the host. At `offset` of `state` are two INT32: before each round the first
 * is looked at, anything but 1 ends the loop; the second is the number of rounds so far, at most `most`, which whatever
 * comes before the loop sets to 0. The body writes the first, and so does whatever comes before the loop. Loops may
 * follow each other, not nest.
 * ATN_ERR_UNSUPPORTED, the tape being as before, where the device cannot: then the loop is the caller's, who looks
 * every few rounds. On CUDA it takes a driver for 12.3 or newer; to be asked with atn_tape_can_while before the tape is
 * begun. */
bool atn_tape_can_while(atn_device *device);
atn_status atn_tape_while(atn_queue *queue, atn_buffer *state, size_t offset, int32_t most);
atn_status atn_tape_while_end(atn_queue *queue);

atn_ctx *atn_device_ctx(const atn_device *device);
/* The most bytes that its buffers had since a watch began, where they are no memory of the host's (that is counted by
 * the context). The beginning returns what they have then. */
size_t atn_device_watch_peak(atn_device *device);
size_t atn_device_peak_bytes(const atn_device *device);
/* Bytes that may still be allocated there, as far as is known: of the host what is available now. */
int64_t atn_device_free_bytes(const atn_device *device);
bool atn_device_lost(const atn_device *device); /* true: only closing it is left */

/* What takes long to make, as kernels that are planned, left with the device for the next call of the same owner (any
 * address); dropped when the device is closed, or at once where it is lost. The first member of what is left. */
typedef struct atn_left {
    const void *owner;
    void (*drop)(struct atn_left *left);
    struct atn_left *next;
} atn_left;
void atn_device_leave(atn_device *device, atn_left *left);
atn_left *atn_device_take(atn_device *device, const void *owner); /* NULL: nothing was left */

#endif
