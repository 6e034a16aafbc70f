/* An OpenCL library that lies, for the tests: $ATTUNE_FAKE_OPENCL says how. It is built as a loadable module and
 * named by ATTUNE_OPENCL_LIB. It never offers a device that works. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))
#define CALL(name, ...)                                                                                                \
    SHOWN int32_t name(__VA_ARGS__);                                                                                   \
    SHOWN int32_t name(__VA_ARGS__)

static int objects[4]; /* their addresses are the handles */

static int mode(const char *name) {
    const char *wanted = getenv("ATTUNE_FAKE_OPENCL");
    return wanted && strcmp(wanted, name) == 0;
}

CALL(clGetPlatformIDs, uint32_t room, void **ids, uint32_t *count) {
    char *drivers = getenv("OCL_ICD_FILENAMES"), *colon = drivers ? strchr(drivers, ':') : NULL;
    if (colon) *colon = '\0'; /* as loaders do that take the list to pieces where it stands */
    if (mode("no platform")) return -1001;
    if (mode("broken loader")) return -6;
    *count = mode("many") ? 1000000 : 1; /* more than there is room for */
    for (uint32_t k = 0; k < room && k < *count; ++k) ids[k] = &objects[0];
    return 0;
}

CALL(clGetPlatformInfo, void *platform, uint32_t what, size_t room, void *to, size_t *bytes) {
    (void)platform, (void)what;
    if (mode("mute")) return -30;
    if (bytes) *bytes = 4;
    if (to && room >= 4) memcpy(to, "Fake", 4); /* without its zero */
    return 0;
}

CALL(clGetDeviceIDs, void *platform, uint64_t type, uint32_t room, void **ids, uint32_t *count) {
    (void)platform, (void)type;
    if (mode("no device")) return -1;
    if (mode("broken")) return -5;
    *count = mode("many") ? 1000000 : 1;
    for (uint32_t k = 0; k < room && k < *count; ++k) ids[k] = &objects[1];
    return 0;
}

CALL(clGetDeviceInfo, void *device, uint32_t what, size_t room, void *to, size_t *bytes) {
    (void)device;
    int yes = what == 0x1027 || what == 0x1028; /* available, has a compiler */
    if (mode("mute") || mode("many") || (mode("terse") && !yes)) return -30;
    const int32_t one = 1;
    if (bytes) *bytes = sizeof one;
    if (to && room >= sizeof one) memcpy(to, &one, sizeof one);
    return 0;
}

SHOWN void *clCreateContext(void *a, uint32_t b, void *c, void *d, void *e, int32_t *code);
SHOWN void *clCreateContext(void *a, uint32_t b, void *c, void *d, void *e, int32_t *code) {
    (void)a, (void)b, (void)c, (void)d, (void)e;
    *code = -2;
    return NULL;
}

/* There so that the library loads; never called. */
#define UNUSED(name)                                                                                                   \
    CALL(name, void) { return -59; }
UNUSED(clReleaseContext)
UNUSED(clCreateCommandQueue)
UNUSED(clReleaseCommandQueue)
UNUSED(clFlush)
UNUSED(clFinish)
UNUSED(clCreateBuffer)
UNUSED(clReleaseMemObject)
UNUSED(clEnqueueWriteBuffer)
UNUSED(clEnqueueReadBuffer)
UNUSED(clEnqueueCopyBuffer)
UNUSED(clCreateProgramWithSource)
UNUSED(clCreateProgramWithBinary)
UNUSED(clBuildProgram)
UNUSED(clGetProgramInfo)
UNUSED(clGetProgramBuildInfo)
UNUSED(clReleaseProgram)
UNUSED(clCreateKernel)
UNUSED(clReleaseKernel)
UNUSED(clGetKernelInfo)
UNUSED(clGetKernelWorkGroupInfo)
UNUSED(clSetKernelArg)
UNUSED(clEnqueueNDRangeKernel)
UNUSED(clWaitForEvents)
UNUSED(clReleaseEvent)
UNUSED(clGetEventInfo)
UNUSED(clGetEventProfilingInfo)
