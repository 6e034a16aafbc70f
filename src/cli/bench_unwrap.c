/* attune bench unwrap: whole frames, at four sizes; the length of cuts, for synthetic scenes or for files. */
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
        return atn_cli_misuse(call, "--shape cannot be '%s'; it takes HxW, such as 512x1024", shape);
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

static atn_status measure(atn_cli_call *call, atn_device *device, const void *options) {
    const atn_bench_unwrap_options *o = options;
    atn_status status = ATN_OK;
    for (size_t k = 1; k < (size_t)call->n_operands && !status; ++k)
        status = measure_file(call, device, o, call->operands[k]);
    if (status || call->n_operands > 1) return status;
    atn_cli_bench_expect(o->to.user, atn_bench_unwrap_steps(device, o));
    status = atn_bench_unwrap(call->ctx, device, o);
    return status ? status : atn_bench_unwrap_cuts(call->ctx, device, o);
}

atn_status atn_cli_bench_unwrap(atn_cli_bench *bench) {
    atn_bench_unwrap_options options = {.quick = atn_cli_has(atn_cli_bench_call(bench), "quick"),
                                        .to = atn_cli_bench_listener(bench)};
    return atn_cli_bench_on_device(bench, measure, &options);
}
