/* A cloud with one point per voxel: means of the attributes of its points, the sum of their weights. */
#include "cloud/cloud.h"
#include "cloud/points.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* An average of directions has a direction, not a length. */
static void make_unit(double *normal) {
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int d = 0; d < 3; ++d) normal[d] = length > 0 && isfinite(length) ? normal[d] / length : 0;
}

/* What only travels is that of the point nearest to the mean: labels are not blended. */
static void take_extra(const atn_cloud *from, size_t offset, const uint32_t *order, size_t count, const double *mean,
                       atn_cloud *to) {
    if (!from->extra.bytes) return;
    size_t nearest = 0;
    double least = INFINITY;
    for (size_t k = 0; k < count; ++k) {
        double distance2 = 0;
        for (cloud_role d = 0; d < 3; ++d) {
            double way = cloud_get(from, d, offset + order[k]) - mean[d];
            distance2 += way * way;
        }
        if (distance2 < least) least = distance2, nearest = k;
    }
    memcpy(to->extra.next, from->extra.data + (offset + order[nearest]) * from->extra.bytes, from->extra.bytes);
}

static atn_status add_cube(const atn_cloud *from, const cloud_points *points, size_t offset, const uint32_t *order,
                           size_t count, atn_cloud *to) {
    cloud_mean mean = {0};
    double value[ROLE_COUNT] = {0};
    for (cloud_role r = 0; r < ROLE_COUNT; ++r)
        if (from->roles & ROLE_BIT(r)) value[r] = cloud_get(from, r, offset + order[0]);
    for (size_t k = 0; k < count; ++k) {
        double share = cloud_mean_share(&mean, (double)points->weight[order[k]]);
        for (cloud_role r = 0; r < ROLE_SPECIES; ++r) /* the species is that of all of them */
            if (from->roles & ROLE_BIT(r)) value[r] += share * (cloud_get(from, r, offset + order[k]) - value[r]);
    }
    take_extra(from, offset, order, count, value, to);
    value[ROLE_WEIGHT] = fmin(mean.weight, (double)FLT_MAX);
    make_unit(value + ROLE_NX);
    return cloud_add(to, NULL, value);
}

/* The points from `first` on, as many as the cubes were made of. */
static atn_status add_frame(const atn_cloud *from, const cloud_points *all, size_t first, size_t end, double edge,
                            atn_cloud *to) {
    cloud_points points = {.ctx = all->ctx, .count = end - first, .weight = all->weight + first};
    for (int d = 0; d < 3; ++d) points.position[d] = all->position[d] + first;
    if (all->species) points.species = all->species + first;
    cloud_cubes cubes;
    atn_status status = cloud_cubes_make(&points, edge, &cubes);
    for (size_t k = 0; status == ATN_OK && k < cubes.count; ++k) {
        status = k % 4096 == 0 ? atn_check_cancel(all->ctx) : ATN_OK;
        if (status == ATN_OK)
            status =
                add_cube(from, &points, first, cubes.order + cubes.start[k], cubes.start[k + 1] - cubes.start[k], to);
    }
    cloud_cubes_free(&cubes);
    return status;
}

atn_status atn_cloud_voxels(const atn_cloud *cloud, double edge, atn_cloud **out) {
    cloud_points points = {0};
    atn_cloud *made = NULL;
    *out = NULL;
    atn_status status = cloud_points_of(cloud->ctx, cloud, &points);
    if (status == ATN_OK) status = cloud_make_like(cloud, cloud->roles | ROLE_BIT(ROLE_WEIGHT), 0, &made);
    size_t frames = cloud->n_frames ? cloud->n_frames : 1;
    for (size_t f = 0; status == ATN_OK && f < frames; ++f) {
        if (cloud->n_frames) status = cloud_add_frame(made);
        if (status == ATN_OK)
            status = add_frame(cloud, &points, atn_cloud_frame(cloud, f), atn_cloud_frame(cloud, f + 1), edge, made);
    }
    cloud_points_free(&points);
    if (status == ATN_OK)
        *out = made;
    else
        atn_cloud_free(made);
    return status;
}
