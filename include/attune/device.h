/* Devices: which there are, their properties and measured peak performance. The host CPU always comes first; OpenCL and
 * CUDA devices follow if their libraries are found at run time. */
#ifndef ATTUNE_DEVICE_H
#define ATTUNE_DEVICE_H

#include <attune/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Properties of a device; 0 or "" where unknown. Owned by the library, which may add fields at the end. */
typedef struct atn_device_info {
    int32_t index;           /* in the list; what --device takes */
    int32_t ordinal;         /* within its backend */
    char backend[16];        /* "host", "opencl" or "cuda" */
    char name[128];          /* vendor's name */
    char platform[64];       /* OpenCL platform; otherwise "" */
    char driver[128];        /* driver version; on the host, version of the compiler */
    char arch[32];           /* target architecture: "x86_64", "sm_90", ... */
    int32_t cores;           /* hardware threads of a CPU, multiprocessors of a GPU */
    int32_t simd;            /* FP32 lanes of a vector or warp */
    int64_t memory_bytes;    /* total memory; on the host, what this process may use of it */
    int64_t max_alloc_bytes; /* the largest single buffer */
    int64_t local_bytes;     /* local (shared) memory of a work-group; on a CPU, L1 data cache of a core */
    int64_t cache_bytes;     /* last-level cache */
    int32_t max_group;       /* work-items in a work-group; 1 on the host */
    int32_t max_items[3];    /* per dimension of a work-group */
    int32_t clock_mhz;       /* highest clock */
    bool fp64;               /* double precision arithmetic */
    bool fp16;               /* half precision arithmetic, not just storage */
    bool subgroups;          /* sub-group (warp) shuffles */
    bool unified;            /* shares the host's memory */
    bool cpu;                /* a CPU, also where OpenCL drives it */
    int32_t bf16;            /* the host multiplies BFloat16 numbers: 1 in vectors, 2 in tiles (AMX), too; 0: neither */
} atn_device_info;

/* Measured peak performance, not data sheet values. A multiply-add counts as two operations; 0: type not supported. */
typedef struct atn_peaks {
    size_t size;             /* of this struct: ATN_INIT */
    double fp16, fp32, fp64; /* FLOP/s */
    double bandwidth;        /* bytes read plus bytes written per second, by a copy within device memory */
} atn_peaks;

typedef struct atn_devices atn_devices; /* a list of the devices found */
typedef struct atn_device atn_device;   /* an open device */

/* Enumerates devices. A missing OpenCL or CUDA is no failure but leaves a note. The list is owned by the caller. */
ATN_API atn_status atn_devices_find(atn_ctx *ctx, atn_devices **out);
ATN_API void atn_devices_free(atn_devices *devices);
ATN_API int32_t atn_devices_count(const atn_devices *devices);
ATN_API const atn_device_info *atn_devices_info(const atn_devices *devices, int32_t index);

/* Why a backend has no devices, one sentence each, e.g. "opencl: libOpenCL.so.1 is not installed". */
ATN_API int32_t atn_devices_note_count(const atn_devices *devices);
ATN_API const char *atn_devices_note(const atn_devices *devices, int32_t index);

/* Finds a device by index ("2"), backend ("cuda": its first device) or part of its name, in any case ("h200"). NULL or
 * "": the best one available. An unknown or ambiguous name fails; the message lists the devices. */
ATN_API atn_status atn_devices_pick(const atn_devices *devices, const char *wanted, int32_t *index);
/* Several: names with commas between them, "cuda,host"; "all": every GPU and the host. In the order they are named,
 * none twice; NULL or "": the best one. */
enum { ATN_MOST_DEVICES = 64 };
ATN_API atn_status atn_devices_pick_several(const atn_devices *devices, const char *wanted,
                                            int32_t index[ATN_MOST_DEVICES], int32_t *count);

/* Opens a device of the list. The handle is owned by the caller and may outlive the list, but not the context. Used by
 * one thread at a time. */
ATN_API atn_status atn_device_open(const atn_devices *devices, int32_t index, atn_device **out);
ATN_API void atn_device_close(atn_device *device); /* NULL is allowed. Free everything created from it first */
ATN_API const atn_device_info *atn_device_get_info(const atn_device *device);

/* For programs with their own CUDA work: everything submitted from now on starts after the work that is in `stream`, a
 * CUstream of the device's primary context, at this moment. No effect on other devices. */
ATN_API atn_status atn_device_follow(atn_device *device, void *stream);
ATN_API void *atn_device_stream(atn_device *device); /* the CUstream used by attune; NULL on other devices */

/* Measured peak performance: cached, or measured now (about a second). Peaks of a CPU that was busy with other
 * processes are measured again when asked for at least a minute later. */
ATN_API atn_status atn_device_peaks(atn_device *device, atn_peaks *out);

#ifdef __cplusplus
}
#endif
#endif
