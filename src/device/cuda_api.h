/* The part of the CUDA driver's interface that attune calls, declared in our own words and loaded at run time:
 * neither the toolkit nor a driver is needed to build. The library is libcuda.so.1, or the file that the
 * environment's ATTUNE_CUDA_LIB names instead. */
#ifndef ATN_DEVICE_CUDA_API_H
#define ATN_DEVICE_CUDA_API_H

#include "base/context.h"

typedef int atn_cu_device;                      /* a device's number */
typedef uint64_t atn_cu_address;                /* an address in a device's memory */
typedef struct atn_cu_context atn_cu_context;   /* the driver's own objects, seen by pointer only */
typedef struct atn_cu_stream atn_cu_stream;     /* a queue */
typedef struct atn_cu_event atn_cu_event;       /* a moment on it */
typedef struct atn_cu_module atn_cu_module;     /* a loaded cubin */
typedef struct atn_cu_function atn_cu_function; /* one of its kernels */
typedef struct atn_cu_graph atn_cu_graph;       /* launches that were captured */
typedef struct atn_cu_exec atn_cu_exec;         /* the same, ready to be launched */
typedef struct atn_cu_node atn_cu_node;         /* one piece of a graph */
typedef unsigned long long atn_cu_condition;    /* a number that a loop of a graph looks at */

/* CUlaunchAttribute and CUlaunchConfig. */
typedef struct atn_cu_launch_attribute {
    int id; /* ATN_CU_ATTRIBUTE_OVERLAP */
    int reserved0;
    union {
        int overlap; /* the launch may begin as soon as all groups of the one before it have ended */
        char reserved1[64];
    };
} atn_cu_launch_attribute;
_Static_assert(sizeof(atn_cu_launch_attribute) == 72, "as the driver has it");

typedef struct atn_cu_launch_config {
    unsigned grid[3], block[3], dynamic_bytes;
    atn_cu_stream *stream;
    const atn_cu_launch_attribute *attributes;
    unsigned count;
} atn_cu_launch_config;
_Static_assert(sizeof(atn_cu_launch_config) == 56, "as the driver has it");

/* CUgraphNodeParams of a conditional node: 256 bytes, unused ones zero. */
typedef struct atn_cu_node_params {
    int type; /* ATN_CU_NODE_CONDITIONAL */
    int reserved0[3];
    union {
        long long reserved1[29];
        struct {
            atn_cu_condition condition;
            int type;              /* ATN_CU_WHILE */
            unsigned count;        /* of bodies: 1 */
            atn_cu_graph **bodies; /* filled in by the driver, and its own */
            atn_cu_context *context;
        } loop;
    };
    long long reserved2;
} atn_cu_node_params;
_Static_assert(sizeof(atn_cu_node_params) == 256, "as the driver has it");

enum { ATN_CU_NODE_CONDITIONAL = 13, ATN_CU_WHILE = 1, ATN_CU_CONDITION_DEFAULT = 1, ATN_CU_SET_DEPENDENCIES = 1 };

enum { ATN_CU_STREAM_NON_BLOCKING = 1, ATN_CU_EVENT_DEFAULT = 0, ATN_CU_CAPTURE_THREAD_LOCAL = 1 };

/* What cuDeviceGetAttribute is asked. */
enum {
    ATN_CU_MAX_THREADS_PER_BLOCK = 1,
    ATN_CU_MAX_BLOCK_DIM_X = 2, /* y and z follow */
    ATN_CU_MAX_GRID_DIM_X = 5,  /* y and z follow */
    ATN_CU_MAX_SHARED_PER_BLOCK = 8,
    ATN_CU_WARP_SIZE = 10,
    ATN_CU_CLOCK_RATE = 13, /* kHz */
    ATN_CU_MULTIPROCESSOR_COUNT = 16,
    ATN_CU_INTEGRATED = 18,
    ATN_CU_L2_CACHE_SIZE = 38,
    ATN_CU_CAPABILITY_MAJOR = 75,
    ATN_CU_CAPABILITY_MINOR = 76,
    ATN_CU_MAX_SHARED_PER_BLOCK_OPTIN = 97
};

/* Attributes for cuFuncGetAttribute and cuFuncSetAttribute. */
enum {
    ATN_CU_FUNC_MAX_THREADS_PER_BLOCK = 0,
    ATN_CU_FUNC_SHARED_SIZE_BYTES = 1,
    ATN_CU_FUNC_LOCAL_SIZE_BYTES = 3,
    ATN_CU_FUNC_NUM_REGS = 4,
    ATN_CU_FUNC_MAX_DYNAMIC_SHARED_BYTES = 8,
    ATN_CU_FUNC_SHARED_CARVEOUT = 9,
    ATN_CU_CARVEOUT_MOST = 100 /* per cent */
};

enum { ATN_CU_ATTRIBUTE_OVERLAP = 6 }; /* CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION */

/* What cuPointerGetAttributes is asked, and answers. */
enum { ATN_CU_POINTER_MEMORY_TYPE = 2, ATN_CU_MEMORY_HOST = 1 };

/* The results that the code asks for by name; atn_cuda_error_of knows more of them. */
enum {
    ATN_CU_SUCCESS = 0,
    ATN_CU_INVALID_VALUE = 1,
    ATN_CU_NO_DEVICE = 100,
    ATN_CU_NOT_FOUND = 500,
};

/* X(field, symbol, parameters): every function of the driver that is called. All return a result, 0 for success.
 * The suffixes are the driver's own: the 64-bit forms of what CUDA 3 had in 32 bits, and later revisions. */
/* clang-format off */
#define ATN_CUDA_FUNCTIONS(X) \
    X(init, cuInit, (unsigned flags)) \
    X(driver_version, cuDriverGetVersion, (int *version)) \
    X(device_count, cuDeviceGetCount, (int *count)) \
    X(device_get, cuDeviceGet, (atn_cu_device *device, int ordinal)) \
    X(device_name, cuDeviceGetName, (char *name, int bytes, atn_cu_device device)) \
    X(device_memory, cuDeviceTotalMem_v2, (size_t *bytes, atn_cu_device device)) \
    X(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, atn_cu_device device)) \
    X(context_retain, cuDevicePrimaryCtxRetain, (atn_cu_context **context, atn_cu_device device)) \
    X(context_release, cuDevicePrimaryCtxRelease_v2, (atn_cu_device device)) \
    X(context_set, cuCtxSetCurrent, (atn_cu_context *context)) \
    X(alloc, cuMemAlloc_v2, (atn_cu_address *address, size_t bytes)) \
    X(free, cuMemFree_v2, (atn_cu_address address)) \
    X(host_alloc, cuMemAllocHost_v2, (void **block, size_t bytes)) \
    X(host_free, cuMemFreeHost, (void *block)) \
    X(put, cuMemcpyHtoDAsync_v2, (atn_cu_address to, const void *from, size_t bytes, atn_cu_stream *stream)) \
    X(get, cuMemcpyDtoHAsync_v2, (void *to, atn_cu_address from, size_t bytes, atn_cu_stream *stream)) \
    X(copy, cuMemcpyDtoDAsync_v2, (atn_cu_address to, atn_cu_address from, size_t bytes, atn_cu_stream *stream)) \
    X(fill, cuMemsetD8Async, (atn_cu_address to, unsigned char byte, size_t bytes, atn_cu_stream *stream)) \
    X(stream_create, cuStreamCreate, (atn_cu_stream **stream, unsigned flags)) \
    X(stream_destroy, cuStreamDestroy_v2, (atn_cu_stream *stream)) \
    X(stream_finish, cuStreamSynchronize, (atn_cu_stream *stream)) \
    X(stream_wait, cuStreamWaitEvent, (atn_cu_stream *stream, atn_cu_event *event, unsigned flags)) \
    X(event_create, cuEventCreate, (atn_cu_event **event, unsigned flags)) \
    X(event_destroy, cuEventDestroy_v2, (atn_cu_event *event)) \
    X(event_record, cuEventRecord, (atn_cu_event *event, atn_cu_stream *stream)) \
    X(event_wait, cuEventSynchronize, (atn_cu_event *event)) \
    X(event_elapsed, cuEventElapsedTime, (float *milliseconds, atn_cu_event *from, atn_cu_event *to)) \
    X(module_load, cuModuleLoadData, (atn_cu_module **module, const void *image)) \
    X(module_unload, cuModuleUnload, (atn_cu_module *module)) \
    X(module_function, cuModuleGetFunction, (atn_cu_function **function, atn_cu_module *module, const char *name)) \
    X(function_get, cuFuncGetAttribute, (int *value, int attribute, atn_cu_function *function)) \
    X(function_set, cuFuncSetAttribute, (atn_cu_function *function, int attribute, int value)) \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, \
      (int *blocks, atn_cu_function *function, int items, size_t dynamic_bytes)) \
    X(launch, cuLaunchKernel, \
      (atn_cu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
       unsigned block_y, unsigned block_z, unsigned dynamic_bytes, atn_cu_stream *stream, void **params, \
       void **extra))

/* The same for what may be missing: NULL then. Sizes of a kernel's parameters came with CUDA 12.4, graphs as they are
 * used here with 11.4, loops in them with 12.3, launches with attributes with 11.8. */
#define ATN_CUDA_OPTIONAL_FUNCTIONS(X) \
    X(pointer_attributes, cuPointerGetAttributes, (unsigned count, int *attributes, void **values, atn_cu_address at)) \
    X(launch_ex, cuLaunchKernelEx, \
      (const atn_cu_launch_config *config, atn_cu_function *function, void **params, void **extra)) \
    X(function_param, cuFuncGetParamInfo, (atn_cu_function *function, size_t index, size_t *offset, size_t *bytes)) \
    X(capture_begin, cuStreamBeginCapture_v2, (atn_cu_stream *stream, int mode)) \
    X(capture_end, cuStreamEndCapture, (atn_cu_stream *stream, atn_cu_graph **graph)) \
    X(graph_instantiate, cuGraphInstantiateWithFlags, \
      (atn_cu_exec **exec, atn_cu_graph *graph, unsigned long long flags)) \
    X(graph_launch, cuGraphLaunch, (atn_cu_exec *exec, atn_cu_stream *stream)) \
    X(graph_free, cuGraphDestroy, (atn_cu_graph *graph)) \
    X(exec_free, cuGraphExecDestroy, (atn_cu_exec *exec)) \
    X(capturing, cuStreamIsCapturing, (atn_cu_stream *stream, int *status)) \
    X(capture_info, cuStreamGetCaptureInfo_v3, \
      (atn_cu_stream *stream, int *status, uint64_t *id, atn_cu_graph **graph, atn_cu_node *const **nodes, \
       const void **edges, size_t *count)) \
    X(capture_set, cuStreamUpdateCaptureDependencies_v2, \
      (atn_cu_stream *stream, atn_cu_node **nodes, const void *edges, size_t count, unsigned flags)) \
    X(capture_into, cuStreamBeginCaptureToGraph, \
      (atn_cu_stream *stream, atn_cu_graph *graph, atn_cu_node *const *nodes, const void *edges, size_t count, \
       int mode)) \
    X(graph_add, cuGraphAddNode_v2, \
      (atn_cu_node **node, atn_cu_graph *graph, atn_cu_node *const *nodes, const void *edges, size_t count, \
       atn_cu_node_params *params)) \
    X(condition_create, cuGraphConditionalHandleCreate, \
      (atn_cu_condition *condition, atn_cu_graph *graph, atn_cu_context *context, unsigned value, unsigned flags))
/* clang-format on */

/* The loaded driver: a plain value, may be copied. A driver stays loaded until the process ends, since it does
 * not outlive its own unloading. */
typedef struct atn_cuda_api {
#define ATN_CUDA_FIELD(field, symbol, parameters) int(*field) parameters; /* NOLINT(bugprone-macro-parentheses) */
    ATN_CUDA_FUNCTIONS(ATN_CUDA_FIELD)
    ATN_CUDA_OPTIONAL_FUNCTIONS(ATN_CUDA_FIELD)
#undef ATN_CUDA_FIELD
    int version; /* the CUDA that the driver speaks, as 1000 * major + 10 * minor */
} atn_cuda_api;

/* Loads the driver and starts it. False: `why` (of `bytes` bytes) says what is missing and what would be right. */
bool atn_cuda_load(atn_cuda_api *api, char *why, size_t bytes);

/* What a result means. Unknown results get the row of an unknown one; never NULL. */
typedef struct atn_cuda_error {
    int code;            /* the driver's number */
    const char *name;    /* the driver's name for it */
    atn_status status;   /* ATN_ERR_LOST: the context is broken for good; ATN_ERR_BUILD: the cubin was refused */
    const char *meaning; /* in words, and what would be right where that is known */
} atn_cuda_error;
const atn_cuda_error *atn_cuda_error_of(int code);

/* For what is loaded at run time: a function of an open library, and how to look for it. */
typedef struct atn_library_symbol {
    size_t offset;    /* of the pointer in the table that is filled */
    const char *name; /* as the library calls it */
    bool optional;    /* may be missing */
} atn_library_symbol;

/* Fills `table` from `library` (of dlopen). The name of the first one that is missing, or NULL when all are there. */
const char *atn_symbols_load(void *library, void *table, const atn_library_symbol *symbols, size_t count);

#endif
