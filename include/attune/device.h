/* Devices: what is here, what it can do, how fast it was measured to be. The host's CPU is always the first;
 * OpenCL and CUDA devices follow when their libraries are found at run time. */
#ifndef ATTUNE_DEVICE_H
#define ATTUNE_DEVICE_H

#include <attune/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a device says of itself. A plain value; 0 or "" where a device does not say. */
typedef struct atn_device_info {
    int32_t index;           /* its place in the list, what --device takes */
    int32_t ordinal;         /* its place within its backend */
    char backend[16];        /* "host", "opencl" or "cuda" */
    char name[128];          /* as its maker calls it */
    char platform[64];       /* OpenCL's platform; "" elsewhere */
    char driver[128];        /* driver, or what the host's compiler says as its version */
    char arch[32];           /* what code is built for: "x86_64", "sm_90", ... */
    int32_t cores;           /* threads that run at once on a CPU, multiprocessors on a GPU */
    int32_t simd;            /* FP32 values in one vector or warp */
    int64_t memory_bytes;    /* all of its memory; on a host, what this process may have of it */
    int64_t max_alloc_bytes; /* the largest single buffer */
    int64_t local_bytes;     /* local (shared) memory of a work-group; on a CPU the L1 data cache of a core */
    int64_t cache_bytes;     /* last-level cache */
    int32_t max_group;       /* work-items in a work-group; 1 on the host */
    int32_t max_items[3];    /* per dimension of a work-group */
    int32_t clock_mhz;       /* highest clock */
    bool fp64;               /* double precision arithmetic */
    bool fp16;               /* half precision arithmetic, not only storage */
    bool subgroups;          /* shuffles between the items of a warp or sub-group */
    bool unified;            /* shares the host's memory */
    bool cpu;                /* a CPU: few wide cores, vectors to be filled by hand */
} atn_device_info;

/* Measured, never taken from a data sheet. FLOP/s count a multiply-add as two; 0: the device has no such type. */
typedef struct atn_peaks {
    size_t size;             /* of this struct: ATN_INIT */
    double fp16, fp32, fp64; /* arithmetic rate in FLOP/s */
    double bandwidth;        /* bytes read and written per second by a copy within the device's memory */
} atn_peaks;

typedef struct atn_devices atn_devices; /* a list of devices, as found at one moment */
typedef struct atn_device atn_device;   /* an open device */

/* Looks for devices. Never fails for want of OpenCL or CUDA: a backend that is not there leaves a note. The
 * list is owned by the caller. */
ATN_API atn_status atn_devices_find(atn_ctx *ctx, atn_devices **out);
ATN_API void atn_devices_free(atn_devices *devices);
ATN_API int32_t atn_devices_count(const atn_devices *devices);
ATN_API const atn_device_info *atn_devices_info(const atn_devices *devices, int32_t index);

/* Why a backend has no device here, one sentence each, e.g. "opencl: libOpenCL.so.1 is not installed". */
ATN_API int32_t atn_devices_note_count(const atn_devices *devices);
ATN_API const char *atn_devices_note(const atn_devices *devices, int32_t index);

/* The device that `wanted` names: an index ("2"), a backend ("cuda": its first device), or part of a name, any
 * case ("h200"). NULL or "" means the best one that is ready. An unknown or ambiguous name fails and says what there
 * is. */
ATN_API atn_status atn_devices_pick(const atn_devices *devices, const char *wanted, int32_t *index);

/* Opens a device of the list. The handle is owned by the caller and may outlive the list, not the context. It
 * is used by one thread at a time. */
ATN_API atn_status atn_device_open(const atn_devices *devices, int32_t index, atn_device **out);
ATN_API void atn_device_close(atn_device *device); /* NULL is fine; frees what was made from it before */
ATN_API const atn_device_info *atn_device_get_info(const atn_device *device);

/* For programs that have work of their own on a CUDA device: what is queued from now on begins after all that `stream`,
 * a CUstream of the device's primary context, has at this moment. Nothing happens on other devices. */
ATN_API atn_status atn_device_follow(atn_device *device, void *stream);
ATN_API void *atn_device_stream(atn_device *device); /* the CUstream that work is put into; NULL on other devices */

/* The measured peaks: from the cache, or measured now (about a second) and remembered. Those of a CPU that was busy
 * with other processes are measured again when asked for a minute later. */
ATN_API atn_status atn_device_peaks(atn_device *device, atn_peaks *out);

#ifdef __cplusplus
}
#endif
#endif
