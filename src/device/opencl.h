/* The OpenCL backend's own objects and what its files share: opencl_api (the loaded library), opencl_list (which
 * devices there are), opencl_check (what its codes mean), opencl (open, memory, queues, events), opencl_build
 * (programs), opencl_launch (kernels). */
#ifndef ATN_DEVICE_OPENCL_H
#define ATN_DEVICE_OPENCL_H

#include "base/hash.h"
#include "device/backend.h"
#include "device/opencl_api.h"

typedef struct atn_opencl_place {
    cl_platform_id platform;
    cl_device_id device;
} atn_opencl_place;

typedef struct atn_opencl_device {
    atn_device base;
    atn_opencl_api api;
    atn_opencl_place place;
    cl_context context;
    cl_command_queue own; /* no caller's work: touches new buffers, asks whether the context still works */
    cl_mem scratch;       /* SCRATCH_BYTES for the same */
    int version;          /* of the device: 101 for OpenCL 1.1, 300 for 3.0 */
    bool marker_times;    /* a marker's event has a time; if not, a small copy is used instead */
    char *identity;       /* owned: platform, its version, device, driver; what a built binary depends on */
} atn_opencl_device;

static inline atn_opencl_device *atn_opencl_of(const atn_device *device) { return (atn_opencl_device *)device; }

typedef struct atn_opencl_buffer {
    atn_buffer base;
    cl_mem mem;
} atn_opencl_buffer;

typedef struct atn_opencl_queue {
    atn_queue base;
    cl_command_queue queue;
    cl_event copy; /* the last one to or from the host since a wait, to ask how it ended; or NULL */
} atn_opencl_queue;

typedef struct atn_opencl_event {
    atn_event base;
    cl_event event; /* NULL until it is marked */
} atn_opencl_event;

typedef struct atn_opencl_function {
    atn_function base;
    cl_kernel kernel;
    char *name;                       /* owned */
    size_t max_group;                 /* work-items this kernel can run with */
    size_t n_args;                    /* as declared; SIZE_MAX when the driver does not say */
    struct atn_opencl_function *next; /* of the module's */
} atn_opencl_function;

typedef struct atn_opencl_module {
    atn_module base;
    cl_program program;
    char *name;                     /* owned; of the build, for messages */
    atn_opencl_function *functions; /* owned; those asked for so far */
} atn_opencl_module;

/* ---- opencl_check ---- */
/* ATN_OK for CL_SUCCESS. Otherwise leaves "DEVICE: FORMAT: CL_NAME (code)" and returns what the code means;
 * where the code may mean that the context is beyond use, finds out, and marks the device as lost. */
atn_status atn_opencl_check(atn_device *device, cl_int code, const char *format, ...) ATN_PRINTF(3, 4);

/* Does it still take work? */
bool atn_opencl_works(const atn_opencl_device *device);

/* ---- opencl_list ---- */
atn_status atn_opencl_list(atn_ctx *ctx, atn_devices *devices);

/* The place of the device that `info` describes, and its version as in atn_opencl_device. */
atn_status atn_opencl_find(atn_ctx *ctx, const atn_opencl_api *api, const atn_device_info *info,
                           atn_opencl_place *place, int *version);

/* A text that a platform (device NULL) or device says of itself, trimmed; "" where it does not say. Owned by the
 * caller; NULL only for want of memory, with the sentence left. */
char *atn_opencl_text(const atn_ctx *ctx, const atn_opencl_api *api, atn_opencl_place place, cl_uint what);

/* ---- opencl_build ---- */
atn_status atn_opencl_build(atn_device *device, const atn_build *build, atn_module **out);
void atn_opencl_module_free(atn_module *module);
/* The options that a build is given, owned by the caller; and the name of its binary in the cache. */
char *atn_opencl_options(const atn_device *device, const atn_build *build);
atn_hash atn_opencl_key(const atn_device *device, const atn_build *build, const char *options);

/* ---- opencl_launch ---- */
atn_status atn_opencl_function_get(atn_module *module, const char *name, atn_function **out);
atn_status atn_opencl_function_describe(const atn_function *function, int32_t items, atn_function_info *out);
atn_status atn_opencl_launch(atn_queue *queue, atn_function *function, const atn_launch *launch);
void atn_opencl_functions_free(atn_opencl_module *module);

#endif
