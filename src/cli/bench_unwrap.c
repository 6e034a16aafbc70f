/* attune bench unwrap: whole frames, at four sizes; how short cuts are, of made scenes or of files. */
#include "base/memory.h"
#include "bench/unwrap.h"
#include "cli/bench.h"
#include "cli/kernel.h"

#include <attune/image.h>

#include <math.h>
#include <string.h>

/* Phases in radians, or in units of pi as scans of phases have it. */
static atn_status measure_file(atn_cli_call *call, atn_device *device, const atn_bench_unwrap_options *options,
                               const char *path) {
    const char *shape = atn_cli_value(call, "shape"), *scale = atn_cli_value(call, "scale"), *name = strrchr(path, '/');
    int64_t sizes[3] = {0};
    atn_image *image;
    if (shape && atn_cli_read_shape(shape, sizes) != 2)
        return atn_cli_misuse(call, "--shape %s: HxW is a shape, as 512x1024", shape);
    atn_status status = atn_image_read(call->ctx, path, &(atn_image_settings){.shape = {sizes[0], sizes[1]}}, &image);
    if (status) return status;
    atn_image_info info = atn_image_info_of(image);
    size_t count = (size_t)(info.width * info.height);
    float factor = scale && strcmp(scale, "pi") == 0 ? 3.14159265f : 1;
    float *psi = atn_alloc(call->ctx, count * sizeof *psi);
    for (size_t k = 0; psi && k < count; ++k) psi[k] = factor * atn_image_pixels(image)[k];
    atn_image_free(image);
    status =
        psi ? atn_bench_unwrap_phase(call->ctx, device, options, name ? name + 1 : path, info.width, info.height, psi)
            : ATN_ERR_MEMORY;
    atn_free(call->ctx, psi);
    return status;
}

atn_status atn_cli_bench_unwrap(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    atn_devices *devices;
    atn_device *device = NULL;
    int32_t index;
    atn_status status = atn_cli_pick_device(call, &devices, &index);
    if (status) return status;
    status = atn_device_open(devices, index, &device);
    atn_bench_unwrap_options options = {.quick = atn_cli_has(call, "quick"),
                                        .visit = atn_cli_bench_visit,
                                        .progress = atn_cli_bench_progress,
                                        .user = bench};
    if (!status && call->n_operands == 1) atn_cli_bench_expect(bench, atn_bench_unwrap_steps(device, &options));
    for (size_t k = 1; k < (size_t)call->n_operands && !status; ++k)
        status = measure_file(call, device, &options, call->operands[k]);
    if (!status && call->n_operands == 1) status = atn_bench_unwrap(call->ctx, device, &options);
    if (!status && call->n_operands == 1) status = atn_bench_unwrap_cuts(call->ctx, device, &options);
    atn_cli_progress_end(call);
    atn_device_close(device);
    atn_devices_free(devices);
    return status;
}
