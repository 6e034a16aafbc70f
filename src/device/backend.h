/* The table of functions that makes a backend, and the bases of the objects it hands out. A backend's own
 * structs begin with these bases. device.c checks arguments and fills the bases' common fields; a backend may
 * rely on that. Optional slots may be NULL. */
#ifndef ATN_DEVICE_BACKEND_H
#define ATN_DEVICE_BACKEND_H

#include "device/device.h"

typedef struct atn_backend atn_backend;

struct atn_device {
    const atn_backend *backend;
    atn_ctx *ctx;
    atn_device_info info;
    atn_queue *queue;         /* the first queue; made by device.c after open, freed before close */
    bool lost;                /* set through atn_device_lose */
    size_t bytes, peak_bytes; /* of buffers that are no memory of the host's, now and at most */
};
struct atn_buffer {
    atn_device *device;
    size_t bytes;
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
struct atn_queue {
    atn_device *device;
};
struct atn_event {
    atn_device *device;
};
struct atn_tape {
    atn_device *device;
};

struct atn_backend {
    const char *name;
    /* Adds its devices to the list (atn_devices_add), or a note why there are none (atn_devices_add_note). Fails
     * only for want of memory. */
    atn_status (*list)(atn_ctx *ctx, atn_devices *devices);
    atn_status (*open)(atn_ctx *ctx, const atn_device_info *info, atn_device **out);
    void (*close)(atn_device *device);

    atn_status (*buffer_create)(atn_device *device, size_t bytes, atn_buffer **out); /* bytes > 0 */
    void (*buffer_free)(atn_buffer *buffer);
    void *(*buffer_host)(atn_buffer *buffer);                /* optional */
    void *(*block_create)(atn_device *device, size_t bytes); /* optional: memory of the host's that is copied faster */
    void (*block_free)(atn_device *device, void *block);
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
    atn_status (*event_record)(atn_queue *queue, atn_event **out);
    atn_status (*event_wait)(atn_event *event);
    atn_status (*event_elapsed)(const atn_event *from, const atn_event *to, double *seconds);
    void (*event_free)(atn_event *event);

    atn_status (*tape_begin)(atn_queue *queue); /* optional, with the three below */
    atn_status (*tape_end)(atn_queue *queue, atn_tape **out);
    atn_status (*tape_launch)(atn_queue *queue, atn_tape *graph);
    void (*tape_free)(atn_tape *graph);

    atn_status (*bind)(atn_device *device, atn_bind bind, atn_places places); /* optional: host */
};

extern const atn_backend ATN_BACKEND_HOST, ATN_BACKEND_OPENCL, ATN_BACKEND_CUDA;

/* All of them, in the order their devices are listed. */
const atn_backend *atn_backend_find(const char *name); /* NULL when there is none of that name */
atn_status atn_backends_list(atn_ctx *ctx, atn_devices *devices);
atn_status atn_device_open_info(atn_ctx *ctx, const atn_device_info *info, atn_device **out);

/* For a backend's `list`. The info's index is filled in. */
atn_status atn_devices_add(atn_devices *devices, const atn_device_info *info);
atn_status atn_devices_add_note(atn_devices *devices, const char *format, ...) ATN_PRINTF(2, 3);

/* Marks the device as lost and leaves "NAME is not usable any more: ..., close it". Returns ATN_ERR_LOST. */
atn_status atn_device_lose(atn_device *device, const char *format, ...) ATN_PRINTF(2, 3);

#endif
