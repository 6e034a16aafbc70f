/* Points as plain arrays, and what is done with them on the way to a method: an order along a space-filling curve, one
 * point for each cube of a raster, and a raster to find neighbours in. */
#ifndef ATN_CLOUD_POINTS_H
#define ATN_CLOUD_POINTS_H

#include "base/context.h"

#include <attune/cloud.h>

/* Owned arrays of `count` elements each; ended with cloud_points_free. A plain value. */
typedef struct cloud_points {
    const atn_ctx *ctx;
    size_t count;
    double *position[3];
    float *weight;    /* never negative */
    int32_t *species; /* NULL: all of one kind */
} cloud_points;

/* Copies; weights are 1 where the cloud has none. */
atn_status cloud_points_of(const atn_ctx *ctx, const atn_cloud *cloud, cloud_points *out);
void cloud_points_free(cloud_points *points); /* zeroed ones are fine */

/* order[k] is the point that comes k-th along a Morton curve of 21 bits per axis over the bounds; points of lower
 * species first where there are species. The same for any number of threads. At most UINT32_MAX points. */
atn_status cloud_points_order(const cloud_points *points, uint32_t *order);

/* One point for each cube of side `edge` > 0 that has any, at the weighted mean, with the sum of the weights; species
 * are kept apart. A cube's points are summed in their order, the result is in Morton order. */
atn_status cloud_points_merge(const cloud_points *points, double edge, cloud_points *out);

/* A raster over the points, which must outlive it. edge 0: about two points in each cube that has any. */
typedef struct cloud_grid cloud_grid;
atn_status cloud_grid_make(const cloud_points *points, double edge, cloud_grid **out);
void cloud_grid_free(cloud_grid *grid); /* NULL is fine */

/* The `most` nearest points to `at` that are no farther than `reach` (INFINITY: any), the nearest first, of equal
 * distances the one that comes first; returns how many there are. Safe from many threads. */
size_t cloud_grid_nearest(const cloud_grid *grid, const double at[3], size_t most, double reach, uint32_t *index,
                          double *distance2);

/* The median distance from a point to its nearest other one, of at most 1,000 points spread evenly over the order of
 * the array; 0 for fewer than two points. Points at the same place count. */
atn_status cloud_points_spacing(const cloud_points *points, double *out);

#endif
