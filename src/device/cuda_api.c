/* Loading the CUDA driver, and what its results mean: a table from the driver's numbers to our statuses. */
#include "device/cuda_api.h"

#include "base/environment.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_DRIVER = 11000 }; /* cuDevicePrimaryCtxRelease_v2 and cubins of NVRTC 11 */

static const atn_library_symbol SYMBOLS[] = {
#define REQUIRED(field, symbol, parameters) {offsetof(atn_cuda_api, field), #symbol, false},
#define OPTIONAL(field, symbol, parameters) {offsetof(atn_cuda_api, field), #symbol, true},
    ATN_CUDA_FUNCTIONS(REQUIRED) ATN_CUDA_OPTIONAL_FUNCTIONS(OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

#define LOST    ATN_ERR_LOST
#define DEVICE  ATN_ERR_DEVICE
#define BUILD   ATN_ERR_BUILD
#define MISSING ATN_ERR_UNSUPPORTED

/* Sorted by number. The lost ones leave the context broken: every later call would return the same again. */
static const atn_cuda_error ERRORS[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", DEVICE, "an argument is out of the driver's range"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", ATN_ERR_MEMORY, "the device's memory is full; free buffers or use smaller ones"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", MISSING, "the driver was not started"},
    {4, "CUDA_ERROR_DEINITIALIZED", LOST, "the driver is shutting down"},
    {34, "CUDA_ERROR_STUB_LIBRARY", MISSING, "this is the toolkit's stub; the driver's own libcuda.so.1 is needed"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", MISSING, "a newer driver is needed"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", DEVICE, "another process holds the device exclusively"},
    {100, "CUDA_ERROR_NO_DEVICE", MISSING, "no NVIDIA GPU is visible; see nvidia-smi and CUDA_VISIBLE_DEVICES"},
    {101, "CUDA_ERROR_INVALID_DEVICE", DEVICE, "the device is gone; look for devices again"},
    {102, "CUDA_ERROR_DEVICE_NOT_LICENSED", MISSING, "the device lacks a licence for compute"},
    {200, "CUDA_ERROR_INVALID_IMAGE", BUILD, "the cubin is damaged"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", DEVICE, "no context is current on this thread"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", BUILD, "the cubin is for another architecture"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", LOST, "the device's memory has a hardware error"},
    {218, "CUDA_ERROR_INVALID_PTX", BUILD, "the code is damaged"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", LOST, "the link between devices has a hardware error"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", BUILD, "the compiler is newer than the driver"},
    {226, "CUDA_ERROR_CONTAINED", LOST, "a hardware error was contained to this process"},
    {300, "CUDA_ERROR_INVALID_SOURCE", BUILD, "the cubin is damaged"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", DEVICE, "a call of the operating system failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", DEVICE, "an object was already freed or belongs to another device"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", DEVICE, "an object is not in the right state"},
    {500, "CUDA_ERROR_NOT_FOUND", ATN_ERR_INPUT, "there is nothing of that name"},
    {600, "CUDA_ERROR_NOT_READY", DEVICE, "the work is not done yet"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", LOST, "a kernel reached outside its buffers"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", DEVICE,
     "the group needs more registers or local memory than there are"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", LOST, "a kernel ran longer than the display's watchdog allows"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", LOST, "another part of the process reset the device"},
    {710, "CUDA_ERROR_ASSERT", LOST, "an assertion in a kernel failed"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", LOST, "a kernel's call stack overflowed or is corrupt"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", LOST, "a kernel met an illegal instruction"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", LOST, "a kernel read or wrote at a misaligned address"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", LOST, "a kernel used an address of the wrong memory"},
    {718, "CUDA_ERROR_INVALID_PC", LOST, "a kernel jumped outside its code"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", LOST, "a kernel crashed"},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", LOST, "a kernel ended without freeing its tensor memory"},
    {800, "CUDA_ERROR_NOT_PERMITTED", DEVICE, "the operation is not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", MISSING, "the device or driver does not support it"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", MISSING, "the fabric manager is not running; start it and try again"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", MISSING, "libcuda and the kernel's driver differ; restart the machine"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", MISSING,
     "the compatibility libcuda does not support this device"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED", MISSING, "the MPS server cannot be reached; start it"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", LOST, "the MPS server ended this client"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", DEVICE,
     "the operation is not permitted while a stream is being captured"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", DEVICE, "the capture was invalidated by another operation"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", DEVICE, "a stream that joined the capture was never waited for"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", DEVICE, "captured work cannot wait for work outside the capture"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", DEVICE,
     "the default stream cannot wait for one that is being captured"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", DEVICE, "the event is part of a graph"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", DEVICE, "the capture was begun by another thread"},
    {911, "CUDA_ERROR_EXTERNAL_DEVICE", LOST, "a device outside CUDA failed"},
    {999, "CUDA_ERROR_UNKNOWN", DEVICE, "the driver gives no reason; see the system log"},
};

static const atn_cuda_error UNKNOWN = {-1, "an error unknown to attune", DEVICE,
                                       "see the result codes in the driver's manual"};

static int compare(const void *key, const void *row) {
    int code = *(const int *)key, other = ((const atn_cuda_error *)row)->code;
    return (code > other) - (code < other);
}

const atn_cuda_error *atn_cuda_error_of(int code) {
    const atn_cuda_error *row = bsearch(&code, ERRORS, sizeof ERRORS / sizeof *ERRORS, sizeof *ERRORS, compare);
    return row ? row : &UNKNOWN;
}

const char *atn_symbols_load(void *library, void *table, const atn_library_symbol *symbols, size_t count) {
    for (size_t k = 0; k < count; ++k) {
        void *found = dlsym(library, symbols[k].name);
        if (!found && !symbols[k].optional) return symbols[k].name;
        memcpy((char *)table + symbols[k].offset, &found, sizeof found);
    }
    return NULL;
}

/* Opens the library for good: it stays loaded after its handle is closed. */
static void *open_library(char *why, size_t bytes) {
    const char *given = atn_environment(ATN_ENV_CUDA_LIB);
    bool override = given != NULL;
    void *library = dlopen(override ? given : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library) return library;
    const char *reason = dlerror();
    if (override)
        snprintf(why, bytes, "ATTUNE_CUDA_LIB cannot be loaded (%s); unset it to use libcuda.so.1", reason);
    else
        snprintf(why, bytes, "libcuda.so.1 cannot be loaded (%s); it comes with NVIDIA's driver", reason);
    return NULL;
}

bool atn_cuda_load(atn_cuda_api *api, char *why, size_t bytes) {
    *api = (atn_cuda_api){0};
    void *library = open_library(why, bytes);
    if (!library) return false;
    const char *missing = atn_symbols_load(library, api, SYMBOLS, sizeof SYMBOLS / sizeof *SYMBOLS);
    dlclose(library);
    if (missing) {
        snprintf(why, bytes, "the driver's library lacks %s; a driver for CUDA %d.%d or newer is needed", missing,
                 OLDEST_DRIVER / 1000, OLDEST_DRIVER % 1000 / 10);
        return false;
    }
    int result = api->init(0);
    if (result != ATN_CU_SUCCESS) {
        const atn_cuda_error *error = atn_cuda_error_of(result);
        snprintf(why, bytes, "cuInit failed with %s (%d): %s", error->name, result, error->meaning);
        return false;
    }
    result = api->driver_version(&api->version);
    if (result != ATN_CU_SUCCESS || api->version < OLDEST_DRIVER) {
        snprintf(why, bytes, "the driver is for CUDA %d.%d; one for CUDA %d.%d or newer is needed", api->version / 1000,
                 api->version % 1000 / 10, OLDEST_DRIVER / 1000, OLDEST_DRIVER % 1000 / 10);
        return false;
    }
    return true;
}
