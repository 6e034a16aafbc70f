/* Points as plain arrays: creating them, copying them from a cloud, freeing them. */
#include "cloud/points.h"

#include "base/memory.h"
#include "base/size.h"
#include "cloud/cloud.h"

#include <math.h>
#include <string.h>

size_t cloud_count(const atn_cloud *cloud) { return cloud->count; }

atn_status cloud_points_make(const atn_ctx *ctx, size_t count, bool species, cloud_points *out) {
    size_t bytes;
    *out = (cloud_points){.ctx = ctx, .count = count};
    if (!atn_size_mul(count, sizeof(double), &bytes)) return atn_fail_memory(ctx, SIZE_MAX, "points");
    bool made = true;
    for (int d = 0; d < 3 && made; ++d) made = (out->position[d] = atn_alloc(ctx, bytes)) != NULL;
    made = made && (out->weight = atn_alloc(ctx, count * sizeof *out->weight));
    made = made && (!species || (out->species = atn_alloc(ctx, count * sizeof *out->species)));
    if (made) return ATN_OK;
    cloud_points_free(out);
    return ATN_ERR_MEMORY;
}

/* Files may have any numbers as weights; methods rely on these. */
static atn_status take_weights(const atn_ctx *ctx, const float *from, cloud_points *to) {
    for (size_t k = 0; k < to->count; ++k) {
        to->weight[k] = from ? from[k] : 1;
        if (!(to->weight[k] >= 0) || !isfinite(to->weight[k]))
            return atn_fail(ctx, ATN_ERR_INPUT, "point %zu has the weight %g; weights are finite and not negative", k,
                            (double)to->weight[k]);
    }
    return ATN_OK;
}

atn_status cloud_points_of(const atn_ctx *ctx, const atn_cloud *cloud, cloud_points *out) {
    const int32_t *species = atn_cloud_species(cloud);
    size_t count = cloud->count;
    atn_status status = cloud_points_make(ctx, count, species != NULL, out);
    if (status != ATN_OK) return status;
    if (count) {
        for (int d = 0; d < 3; ++d) memcpy(out->position[d], atn_cloud_positions(cloud, d), count * sizeof(double));
        if (species) memcpy(out->species, species, count * sizeof *species);
    }
    status = take_weights(ctx, atn_cloud_weights(cloud), out);
    if (status != ATN_OK) cloud_points_free(out);
    return status;
}

void cloud_points_free(cloud_points *points) {
    if (!points->ctx) return;
    for (int d = 0; d < 3; ++d) atn_free(points->ctx, points->position[d]);
    atn_free(points->ctx, points->weight);
    atn_free(points->ctx, points->species);
    *points = (cloud_points){0};
}
