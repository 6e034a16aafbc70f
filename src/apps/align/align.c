/* Many scans into one frame: look at each once, join what fits, solve for all poses together. */
#include "apps/align/align.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "device/device.h"

#include <string.h>

enum { NEIGHBOURS = 4 };

static atn_status check(const atn_ctx *ctx, size_t count, const atn_align_settings *settings) {
    if (count < 2) return atn_fail(ctx, ATN_ERR_INPUT, "%zu scans; two are needed to bring them together", count);
    if (settings->neighbours < 0)
        return atn_fail(ctx, ATN_ERR_INPUT, "%d neighbours; 0 stands for the default of %d", settings->neighbours,
                        NEIGHBOURS);
    if (settings->pairs && settings->pairs->transform != ATN_TRANSFORM_RIGID)
        return atn_fail(ctx, ATN_ERR_INPUT, "many scans are brought together by rigid transforms only");
    return ATN_OK;
}

static atn_status make(align_work *w, atn_align_result *out) {
    size_t bytes;
    if (!atn_size_mul(w->count, w->count, &bytes)) return atn_fail_memory(w->ctx, SIZE_MAX, "pairs of scans");
    w->seen = atn_zalloc(w->ctx, bytes);
    w->group = w->seen ? atn_zalloc(w->ctx, w->count * sizeof *w->group) : NULL;
    out->scan = w->group ? atn_zalloc(w->ctx, w->count * sizeof *out->scan) : NULL;
    if (!out->scan) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < w->count; ++k)
        out->scan[k] = (atn_align_scan){.transform = {[0] = 1, [5] = 1, [10] = 1, [15] = 1}};
    align_group(w);
    atn_status status = align_tell(w, "looking at each", 0, w->count);
    if (status == ATN_OK) status = candidates_make(w->ctx, w->count, w->scans, &w->views);
    return status;
}

atn_status atn_align(atn_device *device, size_t count, const atn_cloud *const *scans,
                     const atn_align_settings *settings, atn_align_result *out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    double since = atn_clock_seconds();
    align_work w = {.ctx = ctx,
                    .device = device,
                    .scans = scans,
                    .count = count,
                    .pairs = {.method = ATN_REGISTER_GICP},
                    .out = out};
    if (settings) w.settings = *settings;
    *out = (atn_align_result){.ctx = ctx, .scans = count, .spread = 1};
    atn_status status = check(ctx, count, &w.settings);
    if (status != ATN_OK) return status;
    if (w.settings.pairs) w.pairs = *w.settings.pairs;
    if (!w.settings.neighbours) w.settings.neighbours = NEIGHBOURS;
    status = make(&w, out);
    if (status == ATN_OK) status = align_join(&w);
    if (status == ATN_OK) status = align_solve(&w);
    candidates_free(&w.views);
    atn_free(ctx, w.seen);
    atn_free(ctx, w.found);
    atn_free(ctx, w.group);
    out->seconds = atn_clock_seconds() - since;
    if (status != ATN_OK) atn_align_free(out);
    return status;
}

void atn_align_free(atn_align_result *result) {
    if (!result->ctx) return;
    atn_free(result->ctx, result->scan);
    atn_free(result->ctx, result->edge);
    *result = (atn_align_result){0};
}
