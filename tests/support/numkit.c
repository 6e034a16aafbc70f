/* What the tests of arrays share. */
#include "support/numkit.h"

#include <stdlib.h>
#include <string.h>

void num_each_device(atn_ctx *ctx, void (*test)(atn_ctx *, atn_device *)) {
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    for (int32_t k = 0; k < atn_devices_count(devices); ++k) {
        atn_device *device;
        if (!kit_wants(atn_devices_info(devices, k)->backend)) continue;
        kit_ok(ctx, atn_device_open(devices, k, &device));
        print_message("    on %s: %s\n", atn_device_get_info(device)->backend, atn_device_get_info(device)->name);
        test(ctx, device);
        atn_device_close(device);
    }
    atn_devices_free(devices);
}

atn_device *num_device(atn_ctx *ctx, const char *backend) {
    atn_devices *devices;
    atn_device *device = NULL;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    for (int32_t k = 0; k < atn_devices_count(devices) && !device; ++k)
        if (strcmp(atn_devices_info(devices, k)->backend, backend) == 0)
            kit_ok(ctx, atn_device_open(devices, k, &device));
    atn_devices_free(devices);
    return device;
}

atn_array *num_empty(atn_device *device, atn_type type, int64_t columns, int64_t rows, int64_t gap) {
    atn_array *array;
    const atn_ctx *ctx = atn_device_ctx(device);
    if (rows < 0)
        kit_ok(ctx, atn_array_create_vector(device, type, columns, &array));
    else
        kit_ok(ctx, atn_array_create_matrix(device, type, rows, columns, columns + gap, &array));
    return array;
}

atn_array *num_random(atn_device *device, atn_type type, int64_t columns, int64_t rows, int64_t gap, uint64_t *seed) {
    atn_array *array = num_empty(device, type, columns, rows, gap);
    void *data;
    kit_ok(atn_device_ctx(device), atn_array_map_write(array, &data));
    size_t bytes = atn_type_bytes(type);
    for (int64_t row = 0; row < array->size[1]; ++row)
        for (int64_t column = 0; column < array->size[0]; ++column) {
            double number[2] = {2 * kit_uniform(seed) - 1, 2 * kit_uniform(seed) - 1};
            atn_element_store(type, number, (int64_t)(number[0] * 100),
                              (char *)data + (size_t)(row * array->pitch + column) * bytes);
        }
    return array;
}

double complex *num_values(atn_array *array) {
    const void *data;
    kit_ok(atn_array_ctx(array), atn_array_map_read(array, &data));
    int64_t count = array->size[0] * array->size[1];
    double complex *values = calloc((size_t)count + 1, sizeof *values);
    for (int64_t k = 0; k < count; ++k) {
        double number[2] = {0};
        int64_t whole;
        size_t at = (size_t)(k / array->size[0] * array->pitch + k % array->size[0]);
        atn_element_load(array->type, (const char *)data + at * atn_type_bytes(array->type), number, &whole);
        values[k] = number[0] + number[1] * I;
    }
    return values;
}
