/* The available CUDA devices and their properties; or one note that says why there is none. Missing parts are never a
 * failure: a driver, a compiler and a device that both can serve are needed, and the note says which is not. */
#include "device/cuda.h"

#include <stdio.h>

/* 0 where the driver does not say. */
static int attribute(const atn_cuda_api *api, atn_cu_device device, int which) {
    int value = 0;
    return api->device_attribute(&value, which, device) == ATN_CU_SUCCESS ? value : 0;
}

static void read_info(const atn_cuda_api *api, const atn_nvrtc *nvrtc, atn_cu_device device, int ordinal,
                      atn_device_info *info) {
    int major = attribute(api, device, ATN_CU_CAPABILITY_MAJOR),
        minor = attribute(api, device, ATN_CU_CAPABILITY_MINOR);
    int optin = attribute(api, device, ATN_CU_MAX_SHARED_PER_BLOCK_OPTIN);
    size_t memory = 0;
    if (api->device_memory(&memory, device) != ATN_CU_SUCCESS) memory = 0;
    *info = (atn_device_info){
        .ordinal = ordinal,
        .backend = "cuda",
        .cores = attribute(api, device, ATN_CU_MULTIPROCESSOR_COUNT),
        .simd = attribute(api, device, ATN_CU_WARP_SIZE),
        .memory_bytes = (int64_t)memory,
        .max_alloc_bytes = (int64_t)memory,
        .local_bytes = optin > 0 ? optin : attribute(api, device, ATN_CU_MAX_SHARED_PER_BLOCK),
        .cache_bytes = attribute(api, device, ATN_CU_L2_CACHE_SIZE),
        .max_group = attribute(api, device, ATN_CU_MAX_THREADS_PER_BLOCK),
        .clock_mhz = attribute(api, device, ATN_CU_CLOCK_RATE) / 1000,
        .fp64 = true,
        .fp16 = 10 * major + minor >= 53,
        .subgroups = true,
        .unified = attribute(api, device, ATN_CU_INTEGRATED) != 0,
    };
    for (int d = 0; d < 3; ++d) info->max_items[d] = attribute(api, device, ATN_CU_MAX_BLOCK_DIM_X + d);
    if (api->device_name(info->name, sizeof info->name, device) != ATN_CU_SUCCESS || !info->name[0])
        snprintf(info->name, sizeof info->name, "CUDA device %d", ordinal);
    snprintf(info->driver, sizeof info->driver, "driver %d.%d, NVRTC %d.%d", api->version / 1000,
             api->version % 1000 / 10, nvrtc->major, nvrtc->minor);
    snprintf(info->arch, sizeof info->arch, "sm_%d%d", major, minor);
}

/* Adds one device, or a note when NVRTC has no code for it. */
static atn_status add_device(const atn_cuda_api *api, const atn_nvrtc *nvrtc, int ordinal, atn_devices *devices) {
    atn_cu_device device = 0;
    int result = api->device_get(&device, ordinal);
    if (result != ATN_CU_SUCCESS) {
        const atn_cuda_error *error = atn_cuda_error_of(result);
        return atn_devices_add_note(devices, "cuda: device %d cannot be used: %s (%d), %s", ordinal, error->name,
                                    result, error->meaning);
    }
    atn_device_info info;
    char target[ATN_NVRTC_ARCH_BYTES];
    read_info(api, nvrtc, device, ordinal, &info);
    int major = attribute(api, device, ATN_CU_CAPABILITY_MAJOR),
        minor = attribute(api, device, ATN_CU_CAPABILITY_MINOR);
    if (atn_nvrtc_arch(nvrtc, major, minor, target)) return atn_devices_add(devices, &info);
    bool old = nvrtc->n_archs > 0 && 10 * major + minor < nvrtc->archs[0];
    return atn_devices_add_note(devices, "cuda: NVRTC %d.%d cannot build for %s (%s); install %s NVRTC", nvrtc->major,
                                nvrtc->minor, info.name, info.arch, old ? "an older" : "a newer");
}

atn_status atn_cuda_list(atn_ctx *ctx, atn_devices *devices) {
    (void)ctx;
    atn_cuda_api api;
    atn_nvrtc nvrtc;
    char why[ATN_MESSAGE_BYTES];
    if (!atn_cuda_load(&api, why, sizeof why)) return atn_devices_add_note(devices, "cuda: %s", why);
    int count = 0;
    int result = api.device_count(&count);
    if (result != ATN_CU_SUCCESS || count < 1) {
        const atn_cuda_error *error = atn_cuda_error_of(result == ATN_CU_SUCCESS ? ATN_CU_NO_DEVICE : result);
        return atn_devices_add_note(devices, "cuda: %s (%d): %s", error->name, error->code, error->meaning);
    }
    if (!atn_nvrtc_load(&nvrtc, api.version / 1000, why, sizeof why))
        return atn_devices_add_note(devices, "cuda: %d device%s here, but %s", count, count == 1 ? " is" : "s are",
                                    why);
    atn_status status = ATN_OK;
    for (int k = 0; k < count && status == ATN_OK; ++k) status = add_device(&api, &nvrtc, k, devices);
    return status;
}
