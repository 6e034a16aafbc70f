/* Scans and groups that no single other scan matches: registered onto all scans of the largest group together, which
 * cover more of them than any pair does. A trusted result becomes an edge between the first scans of both groups, in
 * whose frames the others are. */
#include "apps/align/align.h"

#include "base/memory.h"
#include "base/size.h"
#include "device/device.h"

#include <stdint.h>

static const size_t TIMES = 4; /* points of the placed scans together, in those of the largest scan */

static size_t points_of(const align_work *w, size_t scan) { return atn_cloud_info_of(w->scans[scan]).points; }

/* The fraction of points used: one in this many. */
static size_t thin_by(const align_work *w, size_t group) {
    size_t largest = 1, all = 0;
    for (size_t k = 0; k < w->count; ++k) {
        size_t points = points_of(w, k);
        if (points > largest) largest = points;
        if (w->group[k] == group) all += points;
    }
    return all / (TIMES * largest) + 1;
}

/* Every n-th point of each, transformed by its pose. */
static atn_status merge(const align_work *w, size_t group, double (*at)[16], atn_cloud **out) {
    size_t count = 0, bytes, n = 0, every = thin_by(w, group);
    for (size_t k = 0; k < w->count; ++k)
        if (w->group[k] == group) count += (points_of(w, k) + every - 1) / every;
    if (!atn_size_mul(count, 3 * sizeof(double), &bytes)) return atn_fail_memory(w->ctx, SIZE_MAX, "placed scans");
    double *position = atn_alloc(w->ctx, bytes);
    if (!position) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < w->count; ++k) {
        if (w->group[k] != group) continue;
        const double *x = atn_cloud_positions(w->scans[k], 0), *y = atn_cloud_positions(w->scans[k], 1);
        const double *z = atn_cloud_positions(w->scans[k], 2), *t = at[k];
        for (size_t r = 0; r < points_of(w, k); r += every)
            for (int a = 0; a < 3; ++a)
                position[n++] = t[4 * a] * x[r] + t[4 * a + 1] * y[r] + t[4 * a + 2] * z[r] + t[4 * a + 3];
    }
    atn_status status = atn_cloud_create(atn_device_ctx(w->device), count, position, NULL, out);
    atn_free(w->ctx, position);
    return status;
}

atn_status align_rest(align_work *w, size_t group, double (*at)[16], bool *any) {
    size_t before = align_group_size(w, group), n = 0;
    atn_cloud *placed = NULL;
    *any = false;
    if (before < 2 || before == w->count || w->pairs.match_species) return ATN_OK;
    align_start *starts = atn_alloc(w->ctx, w->count * sizeof *starts);
    if (!starts) return ATN_ERR_MEMORY;
    atn_status status = merge(w, group, at, &placed);
    for (size_t k = 0; k < w->count && status == ATN_OK; ++k) {
        size_t size = align_group_size(w, k); /* 0: it is not the lowest of its group */
        atn_cloud *other = NULL;
        if (k == group || size == 0 || w->views.view[k].blank) continue;
        if (size > 1) status = merge(w, k, at, &other);
        if (status == ATN_OK) starts[n++] = (align_start){.source = k, .target = group, .from = other, .onto = placed};
    }
    if (status == ATN_OK) status = align_register(w, starts, n, false);
    *any = status == ATN_OK && align_group_size(w, w->group[group]) > before;
    for (size_t k = 0; k < n; ++k) atn_cloud_free((atn_cloud *)(uintptr_t)starts[k].from);
    atn_cloud_free(placed);
    atn_free(w->ctx, starts);
    return status;
}
