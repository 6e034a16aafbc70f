/* One point for each cube of a raster: the weighted mean of its points, sum w p / sum w, with the sum of the weights.
 */
#include "base/memory.h"
#include "cloud/points.h"

#include <float.h>

static void merge_cube(const cloud_points *from, const uint32_t *order, size_t count, cloud_points *to, size_t at) {
    cloud_mean mean = {0};
    double position[3];
    for (int d = 0; d < 3; ++d) position[d] = from->position[d][order[0]];
    for (size_t k = 0; k < count; ++k) {
        double share = cloud_mean_share(&mean, (double)from->weight[order[k]]);
        for (int d = 0; d < 3; ++d) position[d] += share * (from->position[d][order[k]] - position[d]);
    }
    for (int d = 0; d < 3; ++d) to->position[d][at] = position[d];
    to->weight[at] = (float)(mean.weight < (double)FLT_MAX ? mean.weight : (double)FLT_MAX);
    if (to->species) to->species[at] = from->species[order[0]];
}

static atn_status merge_cubes(const cloud_points *points, const cloud_cubes *cubes, cloud_points *out) {
    atn_status status = cloud_points_make(points->ctx, cubes->count, points->species != NULL, out);
    for (size_t k = 0; status == ATN_OK && k < cubes->count; ++k)
        merge_cube(points, cubes->order + cubes->start[k], cubes->start[k + 1] - cubes->start[k], out, k);
    return status;
}

atn_status cloud_points_permute(const cloud_points *points, const uint32_t *order, cloud_points *out) {
    atn_status status = cloud_points_make(points->ctx, points->count, points->species != NULL, out);
    for (size_t k = 0; status == ATN_OK && k < points->count; ++k) {
        for (int d = 0; d < 3; ++d) out->position[d][k] = points->position[d][order[k]];
        out->weight[k] = points->weight[order[k]];
        if (out->species) out->species[k] = points->species[order[k]];
    }
    return status;
}

atn_status cloud_points_merge(const cloud_points *points, double edge, cloud_points *out) {
    cloud_points merged = {0};
    cloud_cubes cubes;
    uint32_t *order = NULL;
    *out = (cloud_points){0};
    atn_status status = cloud_cubes_make(points, edge, &cubes);
    if (status == ATN_OK) status = merge_cubes(points, &cubes, &merged);
    cloud_cubes_free(&cubes);
    if (status == ATN_OK && !(order = atn_alloc(points->ctx, merged.count * sizeof *order))) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) status = cloud_points_order(&merged, order);
    if (status == ATN_OK) status = cloud_points_permute(&merged, order, out);
    atn_free(points->ctx, order);
    cloud_points_free(&merged);
    return status;
}
