/* Any bytes as a point cloud, in every format: read or refused, without leaks, and what was read can be written. The
 * first byte picks the ending; formats that are known by how they begin need none. */
#include "cloud/formats.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const atn_cloud *cloud, size_t size) {
    atn_cloud_info info = atn_cloud_get_info(cloud);
    if (info.points > size) abort(); /* no point takes less than a byte */
    for (int d = 0; d < 3; ++d)
        if (!isfinite(info.low[d]) || !isfinite(info.high[d]) || info.low[d] > info.high[d]) abort();
    for (size_t f = 0; f < info.frames; ++f)
        if (atn_cloud_frame(cloud, f) > atn_cloud_frame(cloud, f + 1)) abort();
    for (const cloud_format *format = CLOUD_FORMATS; format->name; ++format) {
        if (!format->write) continue;
        atn_text text = {.ctx = cloud->ctx};
        atn_status status = format->write(cloud, ' ', &text);
        if (status != ATN_OK && info.points) abort();
        atn_text_free(&text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"a.xyz", "a.ply", "a.pcd", "a.npy", "a.obj", "a.stl", "a.pos", "a.epos"};
    atn_ctx *ctx;
    atn_cloud *cloud;
    if (size == 0 || atn_ctx_create(NULL, &ctx) != ATN_OK) return 0;
    const char *name = names[data[0] % (sizeof names / sizeof *names)];
    atn_cloud_options options = {.invalid = data[0] & 8 ? ATN_INVALID_REFUSE : ATN_INVALID_DROP};
    atn_status status = atn_cloud_read_bytes(ctx, name, (const char *)data + 1, size - 1, &options, &cloud);
    if (status != ATN_OK && status != ATN_ERR_INPUT && status != ATN_ERR_UNSUPPORTED) abort();
    if (status == ATN_OK) use(cloud, size);
    atn_cloud_free(cloud);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    return 0;
}
