/* The meaning of an OpenCL error code for the device: a message, and whether the context is still usable. */
#include "device/opencl.h"

#include <stdio.h>

/* A context that a kernel has ruined refuses everything, the smallest write included. */
bool atn_opencl_works(const atn_opencl_device *device) {
    const uint8_t zero = 0;
    return device->own && device->scratch &&
           device->api.clEnqueueWriteBuffer(device->own, device->scratch, CL_TRUE, 0, 1, &zero, 0, NULL, NULL) ==
               CL_SUCCESS;
}

atn_status atn_opencl_check(atn_device *device, cl_int code, const char *format, ...) {
    if (code == CL_SUCCESS) return ATN_OK;
    char what[512];
    ATN_FORMAT(what, format);
    const atn_opencl_error *error = atn_opencl_error_find(code);
    bool lost =
        error->after == ATN_OPENCL_LOST || (error->after == ATN_OPENCL_ASK && !atn_opencl_works(atn_opencl_of(device)));
    if (lost) return atn_device_lose(device, "%s: %s (%d)", what, error->name, code);
    return atn_fail(device->ctx, error->status, "%s: %s: %s (%d)", device->info.name, what, error->name, code);
}
