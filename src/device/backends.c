/* The table of backends, the only place that names all of them: devices found in them, and opened. */
#include "device/backend.h"

#include <pthread.h>
#include <string.h>

static const atn_backend *const BACKENDS[] = {&ATN_BACKEND_HOST, &ATN_BACKEND_OPENCL, &ATN_BACKEND_CUDA};
enum { N_BACKENDS = sizeof BACKENDS / sizeof *BACKENDS };

const atn_backend *atn_backend_find(const char *name) {
    for (size_t k = 0; k < N_BACKENDS; ++k)
        if (strcmp(BACKENDS[k]->name, name) == 0) return BACKENDS[k];
    return NULL;
}

static atn_status list_all(atn_ctx *ctx, const atn_backend *only, atn_devices *devices) {
    for (size_t k = 0; k < N_BACKENDS; ++k) {
        if (only && only != BACKENDS[k]) continue;
        atn_status status = BACKENDS[k]->list(ctx, devices);
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

atn_status atn_device_open_info(atn_ctx *ctx, const atn_device_info *info, atn_device **out) {
    *out = NULL;
    const atn_backend *backend = atn_backend_find(info->backend);
    if (!backend)
        return atn_fail(ctx, ATN_ERR_INPUT, "no backend '%s'; there are host, opencl and cuda", info->backend);
    atn_device *device;
    atn_status status = backend->open(ctx, info, &device);
    if (status != ATN_OK) return status;
    device->backend = backend;
    device->ctx = ctx;
    device->info = *info;
    status = atn_queue_create(device, &device->queue);
    if (status != ATN_OK) {
        backend->close(device);
        return status;
    }
    *out = device;
    return ATN_OK;
}

/* One thread lists devices at a time in the whole process: OpenCL runtimes initialise themselves on first use, and not
 * all of them (PoCL 3) support two threads doing so. */
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;

atn_status atn_devices_find_of(atn_ctx *ctx, const atn_backend *backend, atn_devices **out) {
    *out = NULL;
    atn_devices *devices;
    atn_status status = atn_devices_create(ctx, &devices);
    if (status != ATN_OK) return status;
    pthread_mutex_lock(&listing);
    status = list_all(ctx, backend, devices);
    pthread_mutex_unlock(&listing);
    if (status != ATN_OK) {
        atn_devices_free(devices);
        return status;
    }
    *out = devices;
    return ATN_OK;
}

atn_status atn_devices_find(atn_ctx *ctx, atn_devices **out) { return atn_devices_find_of(ctx, NULL, out); }

atn_status atn_device_open(const atn_devices *devices, int32_t index, atn_device **out) {
    *out = NULL;
    const atn_device_info *info = atn_devices_info(devices, index);
    if (!info)
        return atn_fail(atn_devices_ctx(devices), ATN_ERR_INPUT, "device %d: no such index, there are %d devices",
                        index, atn_devices_count(devices));
    return atn_device_open_info(atn_devices_ctx(devices), info, out);
}

atn_status atn_device_open_host(atn_ctx *ctx, atn_device **out) {
    atn_devices *host;
    *out = NULL;
    atn_status status = atn_devices_find_of(ctx, &ATN_BACKEND_HOST, &host);
    if (status != ATN_OK) return status;
    status = atn_device_open(host, 0, out);
    atn_devices_free(host);
    return status;
}
