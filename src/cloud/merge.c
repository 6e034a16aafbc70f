/* One point for each cube of a raster: the weighted mean of its points, sum w p / sum w, with the sum of the weights.
 */
#include "base/memory.h"
#include "base/size.h"
#include "cloud/points.h"

#include <float.h>

/* Points of a cube may lie anywhere in memory: all of one in one place, they are fetched once. */
typedef struct packed {
    double position[3];
    float weight;
    int32_t species;
} packed;

static void merge_cube(const packed *from, const uint32_t *order, size_t count, cloud_points *to, size_t at) {
    cloud_mean mean = {0};
    packed first = from[order[0]];
    double *position = first.position;
    for (size_t k = 0; k < count; ++k) {
        const packed *p = &from[order[k]];
        double share = cloud_mean_share(&mean, (double)p->weight);
        for (int d = 0; d < 3; ++d) position[d] += share * (p->position[d] - position[d]);
    }
    for (int d = 0; d < 3; ++d) to->position[d][at] = position[d];
    to->weight[at] = (float)(mean.weight < (double)FLT_MAX ? mean.weight : (double)FLT_MAX);
    if (to->species) to->species[at] = first.species;
}

static packed *pack(const cloud_points *points) {
    size_t bytes;
    packed *to = atn_alloc(points->ctx, atn_size_mul(points->count, sizeof *to, &bytes) ? bytes : SIZE_MAX);
    for (size_t k = 0; to && k < points->count; ++k) {
        for (int d = 0; d < 3; ++d) to[k].position[d] = points->position[d][k];
        to[k].weight = points->weight[k];
        to[k].species = points->species ? points->species[k] : 0;
    }
    return to;
}

static atn_status merge_cubes(const cloud_points *points, const cloud_cubes *cubes, cloud_points *out) {
    packed *from = pack(points);
    if (!from) return ATN_ERR_MEMORY;
    atn_status status = cloud_points_make(points->ctx, cubes->count, points->species != NULL, out);
    for (size_t k = 0; status == ATN_OK && k < cubes->count; ++k) {
        if (k % 65536 == 0) status = atn_check_cancel(points->ctx);
        merge_cube(from, cubes->order + cubes->start[k], cubes->start[k + 1] - cubes->start[k], out, k);
    }
    atn_free(points->ctx, from);
    return status;
}

atn_status cloud_points_permute(const cloud_points *points, const uint32_t *order, cloud_points *out) {
    atn_status status = cloud_points_make(points->ctx, points->count, points->species != NULL, out);
    for (size_t k = 0; status == ATN_OK && k < points->count; ++k) {
        for (int d = 0; d < 3; ++d) out->position[d][k] = points->position[d][order[k]];
        out->weight[k] = points->weight[order[k]];
        if (points->species) out->species[k] = points->species[order[k]];
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
