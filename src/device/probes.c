/* The source of each probe: one file of probe/ per dialect, each with the same entry points, and the flags to build
 * it with. */
#include "device/probes.h"

#include <string.h>

static const char *const FUNCTIONS[ATN_PROBE_COUNT] = {
    [ATN_PROBE_SAXPY] = "probe_saxpy", [ATN_PROBE_COPY] = "probe_copy", [ATN_PROBE_FP16] = "probe_fp16",
    [ATN_PROBE_FP32] = "probe_fp32",   [ATN_PROBE_FP64] = "probe_fp64", [ATN_PROBE_MATRIX64] = "probe_matrix64",
};

/* What the OpenCL source is built with, by the kind of device, then [fp64][fp16]. The longest vector type has 16. */
#define TYPES(flags)                                                                                                   \
    {                                                                                                                  \
        {flags, flags " -DHAVE_FP16"}, { flags " -DHAVE_FP64", flags " -DHAVE_FP64 -DHAVE_FP16" }                      \
    }
#ifdef __aarch64__
#define CHAINS "-DCHAINS=24"
#else
#define CHAINS "-DCHAINS=12" /* 16 registers; 32 where they have 64 bytes */
#endif
enum { GPU, BYTES_16, BYTES_32, BYTES_64, KINDS };
static const char *const OPENCL_FLAGS[KINDS][2][2] = {
    [GPU] = TYPES("-DHALVES=2 -DFLOATS=2 -DDOUBLES=2"),
    [BYTES_16] = TYPES(CHAINS " -DHALVES=8 -DFLOATS=4 -DDOUBLES=2"),
    [BYTES_32] = TYPES(CHAINS " -DHALVES=16 -DFLOATS=8 -DDOUBLES=4"),
    [BYTES_64] = TYPES("-DCHAINS=24 -DHALVES=16 -DFLOATS=16 -DDOUBLES=8"),
};

static const char *opencl_flags(const atn_device_info *info) {
    int kind = !info->cpu ? GPU : info->simd >= 16 ? BYTES_64 : info->simd >= 8 ? BYTES_32 : BYTES_16;
    return OPENCL_FLAGS[kind][info->fp64][info->fp16];
}

atn_probe_source atn_probe_get(const atn_device *device, atn_probe probe) {
    const atn_device_info *info = atn_device_get_info(device);
    bool missing =
        (probe == ATN_PROBE_FP64 && !info->fp64) || (probe == ATN_PROBE_MATRIX64 && strcmp(info->backend, "cuda") != 0);
    atn_probe_source out = {.function = missing ? NULL : FUNCTIONS[probe], .items = 1};
    if (strcmp(info->backend, "host") == 0) {
        out.source = atn_embedded_find(ATN_PROBES, "host");
        if (strcmp(info->arch, "aarch64") == 0 && info->simd > 4) out.flags = "-DSVE";
        if (strcmp(info->arch, "x86_64") == 0 && info->simd == 16) /* clang halves vectors unless told */
            out.flags = "-mprefer-vector-width=512";
    } else if (strcmp(info->backend, "opencl") == 0) {
        out.source = atn_embedded_find(ATN_PROBES, "opencl");
        out.flags = opencl_flags(info);
        if (probe == ATN_PROBE_FP16 && !info->fp16) out.function = NULL;
        if (!info->cpu || probe == ATN_PROBE_SAXPY) out.items = ATN_PROBE_ITEMS;
    } else {
        out.source = atn_embedded_find(ATN_PROBES, "cuda");
        out.items = ATN_PROBE_ITEMS;
    }
    return out;
}
