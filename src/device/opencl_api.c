/* Loads the OpenCL library and names its errors. Two tables: the functions (declared in the header) and the
 * error codes, each with what it means for the caller and for the device. */
#include "device/opencl_api.h"

#include "base/environment.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct symbol {
    const char *name;
    size_t offset; /* of its field in atn_opencl_api */
    bool needed;
} symbol;

#define NEEDED_ROW(result, name, arguments)   {#name, offsetof(atn_opencl_api, name), true},
#define OPTIONAL_ROW(result, name, arguments) {#name, offsetof(atn_opencl_api, name), false},
static const symbol SYMBOLS[] = {ATN_OPENCL_FUNCTIONS(NEEDED_ROW, OPTIONAL_ROW)};

/* All of them, those of images, pipes and sub-devices too: a driver may return any. */
#define ROW(code, name, status, after)                                                                                 \
    { code, name, ATN_ERR_##status, ATN_OPENCL_##after }
static const atn_opencl_error ERRORS[] = {
    ROW(-1, "CL_DEVICE_NOT_FOUND", DEVICE, KEEPS),
    ROW(-2, "CL_DEVICE_NOT_AVAILABLE", DEVICE, ASK),
    ROW(-3, "CL_COMPILER_NOT_AVAILABLE", UNSUPPORTED, KEEPS),
    ROW(-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE", MEMORY, KEEPS),
    ROW(-5, "CL_OUT_OF_RESOURCES", MEMORY, ASK),
    ROW(-6, "CL_OUT_OF_HOST_MEMORY", MEMORY, ASK),
    ROW(-7, "CL_PROFILING_INFO_NOT_AVAILABLE", DEVICE, KEEPS),
    ROW(-8, "CL_MEM_COPY_OVERLAP", INPUT, KEEPS),
    ROW(-9, "CL_IMAGE_FORMAT_MISMATCH", DEVICE, KEEPS),
    ROW(-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED", DEVICE, KEEPS),
    ROW(-11, "CL_BUILD_PROGRAM_FAILURE", BUILD, KEEPS),
    ROW(-12, "CL_MAP_FAILURE", DEVICE, ASK),
    ROW(-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET", DEVICE, KEEPS),
    ROW(-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", DEVICE, ASK),
    ROW(-15, "CL_COMPILE_PROGRAM_FAILURE", BUILD, KEEPS),
    ROW(-16, "CL_LINKER_NOT_AVAILABLE", UNSUPPORTED, KEEPS),
    ROW(-17, "CL_LINK_PROGRAM_FAILURE", BUILD, KEEPS),
    ROW(-18, "CL_DEVICE_PARTITION_FAILED", DEVICE, KEEPS),
    ROW(-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE", DEVICE, KEEPS),
    ROW(-30, "CL_INVALID_VALUE", DEVICE, KEEPS),
    ROW(-31, "CL_INVALID_DEVICE_TYPE", DEVICE, KEEPS),
    ROW(-32, "CL_INVALID_PLATFORM", DEVICE, KEEPS),
    ROW(-33, "CL_INVALID_DEVICE", DEVICE, ASK),
    ROW(-34, "CL_INVALID_CONTEXT", DEVICE, LOST),
    ROW(-35, "CL_INVALID_QUEUE_PROPERTIES", DEVICE, KEEPS),
    ROW(-36, "CL_INVALID_COMMAND_QUEUE", DEVICE, LOST),
    ROW(-37, "CL_INVALID_HOST_PTR", DEVICE, KEEPS),
    ROW(-38, "CL_INVALID_MEM_OBJECT", DEVICE, ASK),
    ROW(-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", DEVICE, KEEPS),
    ROW(-40, "CL_INVALID_IMAGE_SIZE", DEVICE, KEEPS),
    ROW(-41, "CL_INVALID_SAMPLER", DEVICE, KEEPS),
    ROW(-42, "CL_INVALID_BINARY", BUILD, KEEPS),
    ROW(-43, "CL_INVALID_BUILD_OPTIONS", BUILD, KEEPS),
    ROW(-44, "CL_INVALID_PROGRAM", DEVICE, ASK),
    ROW(-45, "CL_INVALID_PROGRAM_EXECUTABLE", BUILD, KEEPS),
    ROW(-46, "CL_INVALID_KERNEL_NAME", INPUT, KEEPS),
    ROW(-47, "CL_INVALID_KERNEL_DEFINITION", BUILD, KEEPS),
    ROW(-48, "CL_INVALID_KERNEL", DEVICE, ASK),
    ROW(-49, "CL_INVALID_ARG_INDEX", INPUT, KEEPS),
    ROW(-50, "CL_INVALID_ARG_VALUE", INPUT, KEEPS),
    ROW(-51, "CL_INVALID_ARG_SIZE", INPUT, KEEPS),
    ROW(-52, "CL_INVALID_KERNEL_ARGS", INPUT, KEEPS),
    ROW(-53, "CL_INVALID_WORK_DIMENSION", DEVICE, KEEPS),
    ROW(-54, "CL_INVALID_WORK_GROUP_SIZE", DEVICE, KEEPS),
    ROW(-55, "CL_INVALID_WORK_ITEM_SIZE", DEVICE, KEEPS),
    ROW(-56, "CL_INVALID_GLOBAL_OFFSET", DEVICE, KEEPS),
    ROW(-57, "CL_INVALID_EVENT_WAIT_LIST", DEVICE, ASK),
    ROW(-58, "CL_INVALID_EVENT", DEVICE, ASK),
    ROW(-59, "CL_INVALID_OPERATION", DEVICE, KEEPS),
    ROW(-60, "CL_INVALID_GL_OBJECT", DEVICE, KEEPS),
    ROW(-61, "CL_INVALID_BUFFER_SIZE", MEMORY, KEEPS),
    ROW(-62, "CL_INVALID_MIP_LEVEL", DEVICE, KEEPS),
    ROW(-63, "CL_INVALID_GLOBAL_WORK_SIZE", DEVICE, KEEPS),
    ROW(-64, "CL_INVALID_PROPERTY", DEVICE, KEEPS),
    ROW(-65, "CL_INVALID_IMAGE_DESCRIPTOR", DEVICE, KEEPS),
    ROW(-66, "CL_INVALID_COMPILER_OPTIONS", BUILD, KEEPS),
    ROW(-67, "CL_INVALID_LINKER_OPTIONS", BUILD, KEEPS),
    ROW(-68, "CL_INVALID_DEVICE_PARTITION_COUNT", DEVICE, KEEPS),
    ROW(-69, "CL_INVALID_PIPE_SIZE", DEVICE, KEEPS),
    ROW(-70, "CL_INVALID_DEVICE_QUEUE", DEVICE, KEEPS),
    ROW(-71, "CL_INVALID_SPEC_ID", DEVICE, KEEPS),
    ROW(-72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED", DEVICE, KEEPS),
    ROW(-1001, "CL_PLATFORM_NOT_FOUND_KHR", UNSUPPORTED, KEEPS),
    ROW(-9999, "an illegal read or write by a kernel", DEVICE, LOST), /* NVIDIA's own */
};
static const atn_opencl_error UNKNOWN = ROW(0, "an unknown error", DEVICE, ASK);

const atn_opencl_error *atn_opencl_error_find(cl_int code) {
    for (size_t k = 0; k < sizeof ERRORS / sizeof *ERRORS; ++k)
        if (ERRORS[k].code == code) return &ERRORS[k];
    return &UNKNOWN;
}

/* The library named by `override`, else the usual ones. On failure `why` has the loader's word on the first. */
static void *open_library(const char *override, char *why, size_t room) {
    const char *const files[] = {override ? override : "libOpenCL.so.1", override ? NULL : "libOpenCL.so"};
    for (size_t k = 0; k < 2 && files[k]; ++k) {
        void *library = dlopen(files[k], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library) return library;
        const char *said = dlerror();
        if (k == 0) snprintf(why, room, "%s", said ? said : "the system's loader does not say why");
    }
    return NULL;
}

bool atn_opencl_load(atn_opencl_api *out, char *why, size_t room) {
    memset(out, 0, sizeof *out);
    char said[256];
    const char *override = atn_environment(ATN_ENV_OPENCL_LIB);
    const char *name = override ? override : "libOpenCL.so.1";
    void *library = open_library(override, said, sizeof said);
    if (!library) {
        if (override)
            snprintf(why, room, "ATTUNE_OPENCL_LIB names %.200s, which does not load: %s", override, said);
        else if (strstr(said, "No such file"))
            snprintf(why, room, "%s is not installed", name);
        else
            snprintf(why, room, "%s does not load: %s", name, said);
        return false;
    }
    bool whole = true;
    for (size_t k = 0; k < sizeof SYMBOLS / sizeof *SYMBOLS; ++k) {
        void *address = dlsym(library, SYMBOLS[k].name);
        memcpy((char *)out + SYMBOLS[k].offset, &address, sizeof address);
        if (address || !SYMBOLS[k].needed || !whole) continue;
        snprintf(why, room, "%.200s has no %s; a library of OpenCL 1.1 or newer has it", name, SYMBOLS[k].name);
        whole = false;
    }
    dlclose(library); /* NODELETE keeps it */
    return whole;
}
