/* What attune uses of OpenCL, declared here and loaded at run time, so that building needs no OpenCL header or
 * library. $ATTUNE_OPENCL_LIB names the library file to load instead of libOpenCL.so.1: another loader, or one
 * vendor's library by itself. Names and values are those of the OpenCL 1.1, 1.2 and 3.0 specifications. */
#ifndef ATN_DEVICE_OPENCL_API_H
#define ATN_DEVICE_OPENCL_API_H

#include "base/context.h"

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

#define CL_DEVICE_TYPE_ALL ((cl_bitfield)0xFFFFFFFF)

enum {
    CL_FALSE = 0,
    CL_TRUE = 1,
    CL_CONTEXT_PLATFORM = 0x1084,
    CL_QUEUE_PROFILING_ENABLE = 1 << 1,
    CL_MEM_READ_WRITE = 1 << 0,
    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_DEVICE_TYPE_GPU = 1 << 2,
    CL_PROFILING_COMMAND_END = 0x1283,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    CL_COMPLETE = 0, /* such a status: later steps are smaller, errors negative */
};

/* what can be asked of a platform and a device */
enum {
    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT = 0x100A,
    CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100C,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101E,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102B,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT = 0x103A,
    CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 0x1067,
    CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV = 0x4000,
    CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV = 0x4001,
    CL_DEVICE_WARP_SIZE_NV = 0x4003,
    CL_DEVICE_WAVEFRONT_WIDTH_AMD = 0x4043,
};

/* what can be asked of a program and a kernel */
enum {
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_KERNEL_NAMES = 0x1168,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_NUM_ARGS = 0x1191,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE = 0x11B1,
    CL_KERNEL_LOCAL_MEM_SIZE = 0x11B2,
    CL_KERNEL_PRIVATE_MEM_SIZE = 0x11B4,
};

/* the error codes this code itself looks at; atn_opencl_error_find knows them all */
enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_PROFILING_INFO_NOT_AVAILABLE = -7,
    CL_INVALID_VALUE = -30,
    CL_INVALID_KERNEL_NAME = -46,
    CL_PLATFORM_NOT_FOUND_KHR = -1001,
};

/* The functions: NEED those of OpenCL 1.1; MAY came later or went away, and there is another way without them. */
#define ATN_OPENCL_FUNCTIONS(NEED, MAY)                                                                                \
    NEED(cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                                             \
    NEED(cl_int, clGetPlatformInfo, (cl_platform_id, cl_uint, size_t, void *, size_t *))                               \
    NEED(cl_int, clGetDeviceIDs, (cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *))                    \
    NEED(cl_int, clGetDeviceInfo, (cl_device_id, cl_uint, size_t, void *, size_t *))                                   \
    NEED(cl_context, clCreateContext,                                                                                  \
         (const intptr_t *, cl_uint, const cl_device_id *, void (*)(const char *, const void *, size_t, void *),       \
          void *, cl_int *))                                                                                           \
    NEED(cl_int, clReleaseContext, (cl_context))                                                                       \
    NEED(cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_bitfield, cl_int *))                    \
    NEED(cl_int, clReleaseCommandQueue, (cl_command_queue))                                                            \
    NEED(cl_int, clFlush, (cl_command_queue))                                                                          \
    NEED(cl_int, clFinish, (cl_command_queue))                                                                         \
    NEED(cl_mem, clCreateBuffer, (cl_context, cl_bitfield, size_t, void *, cl_int *))                                  \
    NEED(cl_int, clReleaseMemObject, (cl_mem))                                                                         \
    NEED(cl_int, clEnqueueWriteBuffer,                                                                                 \
         (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *, cl_event *))     \
    NEED(cl_int, clEnqueueReadBuffer,                                                                                  \
         (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *))           \
    NEED(cl_int, clEnqueueCopyBuffer,                                                                                  \
         (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))            \
    NEED(cl_program, clCreateProgramWithSource, (cl_context, cl_uint, const char **, const size_t *, cl_int *))        \
    NEED(cl_program, clCreateProgramWithBinary,                                                                        \
         (cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *, cl_int *))      \
    NEED(cl_int, clBuildProgram,                                                                                       \
         (cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *), void *))              \
    NEED(cl_int, clGetProgramInfo, (cl_program, cl_uint, size_t, void *, size_t *))                                    \
    NEED(cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_uint, size_t, void *, size_t *))                 \
    NEED(cl_int, clReleaseProgram, (cl_program))                                                                       \
    NEED(cl_kernel, clCreateKernel, (cl_program, const char *, cl_int *))                                              \
    NEED(cl_int, clReleaseKernel, (cl_kernel))                                                                         \
    NEED(cl_int, clGetKernelInfo, (cl_kernel, cl_uint, size_t, void *, size_t *))                                      \
    NEED(cl_int, clGetKernelWorkGroupInfo, (cl_kernel, cl_device_id, cl_uint, size_t, void *, size_t *))               \
    NEED(cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                                           \
    NEED(cl_int, clEnqueueNDRangeKernel,                                                                               \
         (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,               \
          const cl_event *, cl_event *))                                                                               \
    NEED(cl_int, clWaitForEvents, (cl_uint, const cl_event *))                                                         \
    NEED(cl_int, clReleaseEvent, (cl_event))                                                                           \
    NEED(cl_int, clGetEventInfo, (cl_event, cl_uint, size_t, void *, size_t *))                                        \
    NEED(cl_int, clGetEventProfilingInfo, (cl_event, cl_uint, size_t, void *, size_t *))                               \
    MAY(cl_int, clEnqueueMarker, (cl_command_queue, cl_event *))                                                       \
    MAY(cl_int, clEnqueueWaitForEvents, (cl_command_queue, cl_uint, const cl_event *))                                 \
    MAY(cl_int, clEnqueueMarkerWithWaitList, (cl_command_queue, cl_uint, const cl_event *, cl_event *))                \
    MAY(cl_int, clEnqueueBarrierWithWaitList, (cl_command_queue, cl_uint, const cl_event *, cl_event *))               \
    MAY(cl_int, clEnqueueFillBuffer,                                                                                   \
        (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))

/* NOLINTNEXTLINE(bugprone-macro-parentheses): declares */
#define ATN_OPENCL_FIELD(result, name, arguments) result(*name) arguments;

/* The loaded library. A plain value; the library stays in the process once loaded, since drivers that start
 * threads do not survive being unloaded. */
typedef struct atn_opencl_api {
    ATN_OPENCL_FUNCTIONS(ATN_OPENCL_FIELD, ATN_OPENCL_FIELD) /* a MAY is NULL where the library lacks it */
} atn_opencl_api;

/* Loads the library. False: `why` has a sentence that says what is missing (ATN_OPENCL_WHY bytes hold it whole). */
enum { ATN_OPENCL_WHY = 512 };
bool atn_opencl_load(atn_opencl_api *out, char *why, size_t room);

/* What an error means for the device it came from. */
typedef enum atn_opencl_after {
    ATN_OPENCL_KEEPS, /* the call was refused, nothing else happened */
    ATN_OPENCL_ASK,   /* either refused, or the context is unusable: only a test can tell */
    ATN_OPENCL_LOST,  /* our objects are valid, so a driver that calls them invalid has given up on the context */
} atn_opencl_after;

typedef struct atn_opencl_error {
    cl_int code;
    const char *name;  /* the specification's */
    atn_status status; /* what attune calls it */
    atn_opencl_after after;
} atn_opencl_error;

/* The row of a code; one named "an unknown error" for codes that no specification has. Never NULL. */
const atn_opencl_error *atn_opencl_error_find(cl_int code);

#endif
