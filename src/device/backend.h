/* The table of functions that defines a backend, and the bases of its objects. The structs of a backend begin with
 * these bases. device.c checks arguments and fills the common fields of the bases; a backend may rely on that. Optional
 * slots may be NULL. */
#ifndef ATN_DEVICE_BACKEND_H
#define ATN_DEVICE_BACKEND_H

#include "device/device.h"
#include "device/pinned.h"

typedef struct atn_backend atn_backend;

struct atn_device {
    const atn_backend *backend;
    atn_ctx *ctx;
    atn_device_info info;
    atn_queue *queue;            /* the first queue; made by device.c after open, freed before close */
    atn_queue *queues;           /* all of them */
    struct atn_recorder *making; /* the tape that is being made, or NULL */
    uint64_t tapes;              /* begun so far */
    bool lost;                   /* set through atn_device_lose */
    size_t bytes, peak_bytes;    /* of buffers that are no memory of the host's, now and at most since a watch began */
    atn_pinned_pool pinned;
    atn_left *left;              /* see atn_device_leave */
    struct atn_reports *reports; /* see reports.h; NULL until the first kernel that sends some */
};
struct atn_buffer {
    atn_device *device;
    size_t bytes;
    uint64_t number; /* no other one ever has it */
    bool foreign;    /* its memory belongs to someone else: never freed here */
};
struct atn_module {
    atn_device *device;
    size_t code_bytes;
    bool cached;
    bool compiled_in; /* host: not built now, but with the library */
};
struct atn_function {
    atn_module *module;
};
/* How far the work of each queue on a tape comes before a point: counts of works, by the queue's number. */
typedef struct atn_reach {
    uint32_t count[ATN_MAX_QUEUES];
} atn_reach;

struct atn_queue {
    atn_device *device;
    atn_queue *next;         /* of the device's queues */
    int32_t number;          /* below ATN_MAX_QUEUES */
    uint64_t tape;           /* the number of the tape that its work is kept on; 0: none */
    atn_reach reach;         /* on that tape, of what is queued so far */
    struct atn_stage *stage; /* pinned memory for small puts, once there was one; owned */
};
struct atn_event {
    atn_device *device;
    bool marked;     /* at least once */
    uint64_t tape;   /* the tape that it was marked on; 0: none */
    atn_reach reach; /* then */
};
struct atn_tape {
    atn_device *device;
    struct atn_taped *first; /* where the backend has no tapes: the work, in order; owned */
};

/* What is queued: one copy, fill or launch. Which fields count depends on the kind. */
typedef enum atn_work_kind { ATN_WORK_PUT, ATN_WORK_GET, ATN_WORK_COPY, ATN_WORK_FILL, ATN_WORK_LAUNCH } atn_work_kind;
typedef struct atn_work {
    atn_work_kind kind;
    atn_buffer *to;
    const atn_buffer *from;
    size_t to_offset, from_offset, bytes;
    const void *host_from; /* put */
    void *host_to;         /* get */
    uint8_t byte;          /* fill */
    atn_function *function;
    const atn_launch *launch;
} atn_work;

struct atn_backend {
    const char *name;
    /* Adds its devices to the list (atn_devices_add), or a note why there are none (atn_devices_add_note). Fails
     * only for want of memory. */
    atn_status (*list)(atn_ctx *ctx, atn_devices *devices);
    atn_status (*open)(atn_ctx *ctx, const atn_device_info *info, atn_device **out);
    void (*close)(atn_device *device);

    atn_status (*buffer_create)(atn_device *device, size_t bytes, atn_buffer **out);     /* bytes > 0 */
    atn_status (*buffer_around)(atn_device *device, const void *data, atn_buffer **out); /* optional */
    /* Optional, both: a buffer over memory that the device can address and that was allocated elsewhere; the address of
     * a buffer. */
    atn_status (*buffer_at)(atn_device *device, void *address, atn_buffer **out);
    void *(*buffer_address)(atn_buffer *buffer);
    void (*buffer_free)(atn_buffer *buffer);
    void *(*buffer_host)(atn_buffer *buffer);                /* optional */
    void *(*host_alloc)(atn_device *device, size_t bytes);   /* optional: pinned memory; NULL when there is none left */
    bool (*host_pinned)(atn_device *device, const void *at); /* optional: is the byte there in pinned memory? */
    void (*host_free)(atn_device *device, void *block);
    /* put and get return at once where they can; the host's memory stays as it is until the queue has come past. */
    atn_status (*put)(atn_queue *queue, atn_buffer *buffer, size_t offset, const void *from, size_t bytes);
    atn_status (*get)(atn_queue *queue, const atn_buffer *buffer, size_t offset, void *to, size_t bytes);
    atn_status (*copy)(atn_queue *queue, atn_buffer *to, size_t to_offset, const atn_buffer *from, size_t from_offset,
                       size_t bytes);
    atn_status (*fill)(atn_queue *queue, atn_buffer *buffer, size_t offset, uint8_t byte, size_t bytes);

    atn_status (*build)(atn_device *device, const atn_build *build, atn_module **out);
    void (*module_free)(atn_module *module); /* frees its functions too */
    atn_status (*function)(atn_module *module, const char *name, atn_function **out);
    atn_status (*function_info)(const atn_function *function, int32_t items, atn_function_info *out); /* optional */
    atn_status (*launch)(atn_queue *queue, atn_function *function, const atn_launch *launch);         /* sizes >= 1 */

    atn_status (*queue_create)(atn_device *device, atn_queue **out);
    void (*queue_free)(atn_queue *queue);
    atn_status (*queue_finish)(atn_queue *queue);
    atn_status (*queue_wait)(atn_queue *queue, const atn_event *event);
    /* Optional, both: later work starts after what the driver's stream has now; the queue as the driver knows it. */
    atn_status (*queue_follow)(atn_queue *queue, void *stream);
    void *(*queue_stream)(atn_queue *queue);
    atn_status (*event_create)(atn_device *device, atn_event **out);
    atn_status (*event_mark)(atn_queue *queue, atn_event *event);
    atn_status (*event_wait)(atn_event *event);
    atn_status (*event_elapsed)(const atn_event *from, const atn_event *to, double *seconds);
    void (*event_free)(atn_event *event);

    /* Optional, all four: without them work is kept and repeated by tape.c. With them all work between begin and end,
     * of all queues of the tape, still comes to the functions above. */
    atn_status (*tape_begin)(atn_queue *queue);
    atn_status (*tape_end)(atn_queue *queue, atn_tape **out);
    atn_status (*tape_launch)(atn_queue *queue, atn_tape *tape);
    void (*tape_free)(atn_tape *tape);
    /* Optional, all three, in addition to the four: loops. Between while and its end, only copies, fills and launches
     * are submitted, in that queue. */
    bool (*tape_can_while)(atn_device *device);
    atn_status (*tape_while)(atn_queue *queue, atn_buffer *state, size_t offset, int32_t most);
    atn_status (*tape_while_end)(atn_queue *queue); /* the queue is as before, whatever it returns */
};

extern const atn_backend ATN_BACKEND_HOST, ATN_BACKEND_OPENCL, ATN_BACKEND_CUDA;

/* All of them, in the order their devices are listed. */
const atn_backend *atn_backend_find(const char *name);          /* NULL when there is none of that name */
atn_status atn_devices_create(atn_ctx *ctx, atn_devices **out); /* an empty list */
atn_ctx *atn_devices_ctx(const atn_devices *devices);
atn_status atn_device_open_info(atn_ctx *ctx, const atn_device_info *info, atn_device **out);
/* As atn_devices_find, of one backend (NULL: of all): looking for those of the others may take tenths of a second. */
atn_status atn_devices_find_of(atn_ctx *ctx, const atn_backend *backend, atn_devices **out);
/* The host, without looking for other devices. */
atn_status atn_device_open_host(atn_ctx *ctx, atn_device **out);

/* For a backend's `list`. The info's index is filled in. */
atn_status atn_devices_add(atn_devices *devices, const atn_device_info *info);
atn_status atn_devices_add_note(atn_devices *devices, const char *format, ...) ATN_PRINTF(2, 3);

/* lost.c */
/* Marks the device as lost and leaves "NAME is not usable any more: ..., close it". Returns ATN_ERR_LOST. */
atn_status atn_device_lose(atn_device *device, const char *format, ...) ATN_PRINTF(2, 3);

/* ATN_OK, or ATN_ERR_LOST of a device that was lost in an earlier call. */
atn_status atn_device_check(const atn_device *device);
/* Refuses more than ATN_MOST_DEVICES, and one that is named twice; what: who refuses. One at least. */
atn_status atn_devices_check(atn_device *const *devices, int32_t count, const char *what);
/* Of devices that share work in which the host's cores serve a GPU: a bit for each that is only to take over where all
 * others have failed, which is the host, where there is a GPU. */
uint64_t atn_devices_reserve(atn_device *const *devices, int32_t count);

/* stage.c: a put that returns at once, through pinned memory of the queue's; *done false: it is too large or there is
 * no such memory, and nothing was queued. */
atn_status atn_stage_put(atn_queue *queue, const atn_work *put, bool *done);
void atn_stage_free(atn_queue *queue);

/* tape.c: queues the work, or keeps it where the queue's work is kept. Sizes and devices were checked. */
atn_status atn_work_queue(atn_queue *queue, const atn_work *work);
/* On a tape, and the backend has none of its own: nothing of it reaches the backend now. */
bool atn_tape_is_kept_here(const atn_queue *queue);
/* For a queue whose work is kept: */
atn_status atn_tape_note(const atn_queue *queue, atn_status status); /* a failure makes the end fail; returns it */
/* Where a loop is open on the tape: is it work of its queue, and of a kind that a loop takes (`plain`)? */
atn_status atn_tape_admit(const atn_queue *queue, bool plain);
/* Refuses, and makes the end fail, where the queue's work is kept: `what` waits for the host. */
atn_status atn_tape_refuse(const atn_queue *queue, const char *what);
/* The queue waits for the event: may it, and does it join the event's tape? `kept`: there is nothing else to do. */
atn_status atn_tape_wait(atn_queue *queue, const atn_event *event, bool *kept);
/* Before a queue is freed: forgets the tape that is being made on it. */
void atn_tape_drop(atn_queue *queue);

#endif
