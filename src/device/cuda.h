/* The objects of the CUDA backend, shared by its files: cuda.c (devices, buffers, queues, events), cuda_list.c
 * (what is here), cuda_build.c (modules, functions, launches), cuda_graph.c and cuda_while.c. */
#ifndef ATN_DEVICE_CUDA_H
#define ATN_DEVICE_CUDA_H

#include "device/backend.h"
#include "device/cuda_api.h"
#include "device/cuda_pool.h"
#include "device/nvrtc.h"

/* What loops on tapes need; one tape of a device is made at a time. */
typedef struct atn_cuda_loop {
    bool tried;                 /* to make what follows */
    atn_module *module;         /* owned; so are */
    atn_function *decide;       /* sets the condition; NULL: there are no loops here */
    atn_cu_stream *stream;      /* captures a loop's body */
    atn_cu_stream *outside;     /* the queue's own stream meanwhile; NULL: no loop is open */
    atn_cu_condition condition; /* of the open loop, and what it was given */
    atn_buffer *state;
    int64_t at; /* where the state is, in INT32 */
    int32_t most;
} atn_cuda_loop;

typedef struct atn_cuda_device {
    atn_device base;
    atn_cuda_api api;                  /* the loaded driver */
    atn_nvrtc nvrtc;                   /* the loaded compiler */
    atn_cu_device device;              /* the driver's number of it */
    atn_cu_context *context;           /* its primary context, retained */
    int max_grid[3];                   /* groups per dimension of a launch */
    char target[ATN_NVRTC_ARCH_BYTES]; /* what is built for: "sm_90a" */
    bool overlaps;                     /* a launch may begin while the one before it ends */
    bool shared;                       /* a caller has our stream, or had us follow another: both may be captured */
    atn_cuda_loop loop;
    atn_cuda_pool pool;
} atn_cuda_device;

typedef struct atn_cuda_buffer {
    atn_buffer base;
    atn_cu_address address;
    size_t size; /* bytes that the driver gave for it */
    bool shown;  /* its address was given to the caller */
} atn_cuda_buffer;

typedef struct atn_cuda_queue {
    atn_queue base;
    atn_cu_stream *stream;
    bool captures; /* launches go to a graph */
} atn_cuda_queue;

typedef struct atn_cuda_event {
    atn_event base;
    atn_cu_event *event;
} atn_cuda_event;

typedef struct atn_cuda_graph {
    atn_tape base;
    atn_cu_exec *exec;
} atn_cuda_graph;

typedef struct atn_cuda_function {
    atn_function base;
    struct atn_cuda_function *next; /* of the same module */
    atn_cu_function *handle;
    int max_group;                      /* work-items in a group that it can run with */
    int shared_bytes;                   /* local memory declared in the source */
    int dynamic_bytes;                  /* dynamic local memory that a launch may ask for as things are set */
    bool carved;                        /* local memory is preferred to the cache that shares its storage */
    int n_params;                       /* that it takes; -1: the driver does not say */
    uint16_t param_bytes[ATN_MAX_ARGS]; /* their sizes */
    char name[];
} atn_cuda_function;

typedef struct atn_cuda_module {
    atn_module base;
    atn_cu_module *handle;
    atn_cuda_function *functions; /* those asked for so far; owned */
    atn_text heads;               /* how the source declares its kernels */
    bool waits;                   /* they wait for earlier launches themselves, and may begin before these end */
    char name[];                  /* of the build, for messages */
} atn_cuda_module;

/* cuda_check.c */
/* Makes the device's context the calling thread's. First step of whatever calls the driver for a device. */
atn_status atn_cuda_enter(atn_cuda_device *device);

/* Turns a driver's result into a status and a sentence; `format` says what was tried. A result that leaves the
 * context broken marks the device as lost. ATN_OK for success. */
atn_status atn_cuda_check(atn_cuda_device *device, int result, const char *format, ...) ATN_PRINTF(3, 4);

/* cuda_list.c */
atn_status atn_cuda_list(atn_ctx *ctx, atn_devices *devices);

/* cuda_build.c */
atn_status atn_cuda_build(atn_device *device, const atn_build *build, atn_module **out);
void atn_cuda_module_free(atn_module *module);
atn_status atn_cuda_function_find(atn_module *module, const char *name, atn_function **out);
atn_status atn_cuda_function_info(const atn_function *function, int32_t items, atn_function_info *out);
atn_status atn_cuda_launch(atn_queue *queue, atn_function *function, const atn_launch *launch);

/* cuda_heads.c */
void atn_cuda_heads(const char *source, atn_text *out);         /* the declarations of its kernels */
int atn_cuda_count_params(const char *heads, const char *name); /* -1: that cannot be seen */

/* cuda_graph.c */
atn_status atn_cuda_graph_begin(atn_queue *queue);
atn_status atn_cuda_graph_end(atn_queue *queue, atn_tape **out);
atn_status atn_cuda_graph_launch(atn_queue *queue, atn_tape *graph);
void atn_cuda_graph_free(atn_tape *graph);

/* cuda_while.c */
bool atn_cuda_can_while(atn_device *device);
atn_status atn_cuda_while(atn_queue *queue, atn_buffer *state, size_t offset, int32_t most);
atn_status atn_cuda_while_end(atn_queue *queue);
void atn_cuda_while_free(atn_cuda_device *device); /* before it is closed */

#endif
