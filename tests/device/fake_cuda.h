/* A CUDA driver and an NVRTC made of host memory, as one library that tests load through ATTUNE_CUDA_LIB and
 * ATTUNE_NVRTC_LIB. Of kernels only those named "churn" run (fake_stream.c): launches are recorded. Its settings make
 * it fail wherever a test likes, and it counts what is alive and every call that a real driver would have choked on.
 * Work in streams is done at once, or, where `lazy` is set, as late as a real driver might. */
#ifndef ATN_FAKE_CUDA_H
#define ATN_FAKE_CUDA_H

#include "device/device.h"

typedef struct fake_launch {
    char function[64];
    unsigned groups[3], items[3], local_bytes;
    int n_args;                  /* -1: the fake cannot tell (a real cubin) */
    uint64_t args[ATN_MAX_ARGS]; /* their bytes, zero-extended */
} fake_launch;

typedef struct fake_cuda {
    /* Settings; fake_reset gives a healthy machine with one device. */
    int init_result;         /* of cuInit */
    int driver_version;      /* 13000 */
    int device_count;        /* 1 */
    int capability;          /* 90 */
    size_t memory;           /* bytes of a device: 1 MiB */
    int nvrtc_major;         /* 13 */
    int nvrtc_minor;         /* 0 */
    int function_items;      /* the largest group of a function: 512 */
    int function_shared;     /* its declared local memory: 1024 */
    bool silent_params;      /* cuFuncGetParamInfo does not say */
    int beyond;              /* how often it was asked for a parameter that there is not */
    const char *fail_symbol; /* the driver's function that fails, */
    int fail_result;         /* with this, */
    int fail_skip;           /* after so many calls that succeed; once only */
    bool fail_lasts;         /* and so does every call after it, until the context is gone */
    bool lazy;               /* work in streams is done when somebody waits for it, and at random moments, where */
    uint64_t seed;           /* this is not 0 */
    int work_result;         /* what the next work that is done ends with, for good, */
    int work_skip;           /* after so much that succeeds */

    /* Records. */
    int broken; /* a lasting error that every call returns; ends with the context */
    int contexts, buffers, streams, events, modules; /* alive */
    int blocks;                                      /* of the host's memory, alive */
    int graphs;                                      /* those captured and those instantiated, alive */
    int programs;                                    /* of NVRTC, alive */
    int misuse;                                      /* calls out of context, on dead objects, out of bounds */
    int launches, waits, sets, compiles, loads;      /* calls; launches when they are done */
    int syncs;                                       /* calls that wait for a stream or an event */
    int overlapping;                                 /* launches that may begin before those before them end */
    int set_bytes;                                   /* of the last cuFuncSetAttribute */
    char options[1024];                              /* of the last compilation, separated by blanks */
    fake_launch last;                                /* launch */
} fake_cuda;

/* What the tests look up in the library. */
typedef fake_cuda *fake_reset_fn(void); /* "fake_reset": restores the settings, zeroes the records */

#endif
