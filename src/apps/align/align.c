/* Multiway registration: describe each scan once, join pairs that match, optimise all poses together. */
#include "apps/align/align.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/sized.h"
#include "device/building.h"
#include "device/device.h"

#include <string.h>

enum { NEIGHBOURS = 4 };

static atn_status check(const atn_ctx *ctx, size_t count, const atn_align_settings *settings,
                        const atn_register_settings *pairs) {
    if (count < 2) return atn_fail(ctx, ATN_ERR_INPUT, "%zu scans; at least two are needed", count);
    if (settings->neighbours < 0)
        return atn_fail(ctx, ATN_ERR_INPUT, "%d neighbours; a positive number, or 0 for the default of %d",
                        settings->neighbours, NEIGHBOURS);
    if (pairs->transform != ATN_TRANSFORM_RIGID)
        return atn_fail(ctx, ATN_ERR_INPUT, "multiway registration is rigid only");
    return ATN_OK;
}

static atn_status make(align_work *w) {
    size_t bytes;
    if (!atn_size_mul(w->count, w->count, &bytes)) return atn_fail_memory(w->ctx, SIZE_MAX, "pairs of scans");
    w->seen = atn_zalloc(w->ctx, bytes);
    w->group = w->seen ? atn_zalloc(w->ctx, w->count * sizeof *w->group) : NULL;
    w->scan = w->group ? atn_zalloc(w->ctx, w->count * sizeof *w->scan) : NULL;
    if (!w->scan) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < w->count; ++k)
        w->scan[k] = (atn_align_scan){.transform = {[0] = 1, [5] = 1, [10] = 1, [15] = 1}};
    align_group(w);
    atn_status status = align_tell(w, "looking at each", 0, w->count);
    if (status == ATN_OK) status = candidates_make(w->ctx, w->count, w->scans, &w->views);
    return status;
}

/* The result points to elements, whose size is not visible outside. */
static atn_status show(align_work *w) {
    const atn_align_scan **scan = atn_alloc(w->ctx, (w->count + 1) * sizeof *scan);
    const atn_align_edge **edge = atn_alloc(w->ctx, (w->out->edges + 1) * sizeof *edge);
    for (size_t k = 0; k < w->count && scan; ++k) scan[k] = &w->scan[k];
    for (size_t k = 0; k < w->out->edges && edge; ++k) edge[k] = &w->edge[k];
    if (!scan || !edge) {
        atn_free(w->ctx, scan);
        atn_free(w->ctx, edge);
        return ATN_ERR_MEMORY;
    }
    scan[w->count] = w->scan; /* behind the last: what is to be freed */
    edge[w->out->edges] = w->edge;
    w->out->scan = scan;
    w->out->edge = edge;
    return ATN_OK;
}

atn_status atn_align(atn_device *device, size_t count, const atn_cloud *const *scans, const atn_align_settings *given,
                     atn_align_result *out) {
    atn_align_result all = {.size = sizeof all, .spread = 1, .scans = count};
    const atn_ctx *ctx = atn_device_ctx(device);
    double since = atn_clock_seconds(), built = atn_building_seconds_any();
    align_work w = {.ctx = ctx,
                    .device = device,
                    .scans = scans,
                    .count = count,
                    .pairs = {.method = ATN_REGISTER_GICP},
                    .out = &all};
    atn_status status = ATN_TAKE(ctx, atn_align_settings, given, &w.settings);
    if (status == ATN_OK) status = ATN_GIVE(ctx, atn_align_result, &(atn_align_result){0}, out);
    if (status == ATN_OK && w.settings.pairs) status = ATN_TAKE(ctx, atn_register_settings, w.settings.pairs, &w.pairs);
    if (status == ATN_OK) status = check(ctx, count, &w.settings, &w.pairs);
    if (status != ATN_OK) return status;
    if (!w.settings.neighbours) w.settings.neighbours = NEIGHBOURS;
    status = make(&w);
    if (status == ATN_OK) status = align_join(&w);
    if (status == ATN_OK) status = align_solve(&w);
    if (status == ATN_OK) status = show(&w);
    candidates_free(&w.views);
    atn_free(ctx, w.seen);
    atn_free(ctx, w.found);
    atn_free(ctx, w.group);
    all.ctx = ctx;
    all.building_seconds = atn_building_seconds_any() - built;
    all.seconds = atn_clock_seconds() - since - all.building_seconds;
    if (status == ATN_OK) return ATN_GIVE(ctx, atn_align_result, &all, out);
    atn_free(ctx, w.scan);
    atn_free(ctx, w.edge);
    return status;
}

void atn_align_free(atn_align_result *result) {
    if (!result->ctx) return;
    atn_free(result->ctx, (void *)(uintptr_t)result->scan[result->scans]);
    atn_free(result->ctx, (void *)(uintptr_t)result->edge[result->edges]);
    atn_free(result->ctx, (void *)(uintptr_t)result->scan);
    atn_free(result->ctx, (void *)(uintptr_t)result->edge);
    ATN_GIVE(result->ctx, atn_align_result, &(atn_align_result){0}, result);
}
