/* Arrays from NPY files and into them. */
#include "num/array.h"

#include "num/npy.h"

atn_status atn_array_load(atn_device *device, const char *path, atn_array **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_npy npy;
    *out = NULL;
    atn_status status = atn_npy_read(ctx, path, &npy);
    if (status != ATN_OK) return status;
    atn_view view = atn_npy_view(&npy);
    status = atn_array_create_like(device, &view, out);
    if (status == ATN_OK) status = atn_array_put(*out, view.data, 0);
    if (status != ATN_OK) {
        atn_array_free(*out);
        *out = NULL;
    }
    atn_npy_free(&npy);
    return status;
}

atn_status atn_array_save(atn_array *array, const char *path) {
    atn_view view = atn_array_slot(array).view;
    const void *data;
    atn_status status = atn_array_map_read(array, &data);
    if (status != ATN_OK) return status;
    view.data = (void *)(uintptr_t)data;
    return atn_npy_write(atn_array_ctx(array), path, &view);
}
