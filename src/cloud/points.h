/* Points as plain arrays, and their preparation for a method: sorting along a space-filling curve, one point per voxel,
 * and boxes for neighbour search. */
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

enum { CLOUD_WORTH_A_THREAD = 2048 }; /* points */

size_t cloud_count(const atn_cloud *cloud); /* points; atn_cloud_get_info looks through all of them for bounds */

/* Room for `count` points, not filled. */
atn_status cloud_points_make(const atn_ctx *ctx, size_t count, bool species, cloud_points *out);

/* Copies; weights are 1 where the cloud has none. A weight that is negative or not finite is refused. */
atn_status cloud_points_of(const atn_ctx *ctx, const atn_cloud *cloud, cloud_points *out);
void cloud_points_free(cloud_points *points); /* zeroed ones are fine */

/* order[k] is the point that comes k-th along a Morton curve of 21 bits per axis over the bounds (over the cube of
 * their longest side); points of lower species first where there are species. The same for any number of threads. At
 * most UINT32_MAX points. */
atn_status cloud_points_order(const cloud_points *points, uint32_t *order);
struct cloud_keyed; /* cloud/sort.h */
/* The same with the places on the curve, which ascend, and without species; owned by the caller (atn_free). */
atn_status cloud_points_keys(const cloud_points *points, struct cloud_keyed **out);

/* Point k of the result is point order[k]. */
atn_status cloud_points_permute(const cloud_points *points, const uint32_t *order, cloud_points *out);

/* Points cube by cube, species kept apart. A plain value; ended with cloud_cubes_free. */
typedef struct cloud_cubes {
    const atn_ctx *ctx;
    size_t count;    /* cubes that have any point; in no order that means something */
    uint32_t *order; /* owned; a cube's points are in the order of the array */
    uint32_t *start; /* owned; into order: cube k has start[k] … start[k + 1] - 1 */
} cloud_cubes;

/* Cubes of side `edge` > 0, with corners at its multiples. At most UINT32_MAX points. */
atn_status cloud_cubes_make(const cloud_points *points, double edge, cloud_cubes *out);
void cloud_cubes_free(cloud_cubes *cubes); /* zeroed ones are fine */

/* A weighted mean, point by point: mean += share * (value - mean) overflows nowhere and stays between the values. It
 * is the plain mean while all weights are 0. Begins zeroed. */
typedef struct cloud_mean {
    double weight; /* so far */
    size_t points;
} cloud_mean;
static inline double cloud_mean_share(cloud_mean *mean, double weight) {
    mean->weight += weight;
    ++mean->points;
    return mean->weight > 0 ? weight / mean->weight : 1 / (double)mean->points;
}

/* One point for each cube of side `edge` > 0 that has any, at the weighted mean, with the sum of the weights; species
 * are kept apart. A cube's points are summed in their order, the result is in Morton order. */
atn_status cloud_points_merge(const cloud_points *points, double edge, cloud_points *out);

/* Refuses bounds whose sides are more than `most` edges long, or not finite, before any cells are made of them. `who`
 * begins the sentence. */
atn_status cloud_extent_check(const atn_ctx *ctx, const char *who, const double low[3], const double high[3],
                              double edge, double most);

/* A raster over the points, halved where they are: boxes with few points, or with sides of at most `edge`, are not
 * halved again; 0: only the number of points counts. Points far from the others cost nothing. Copies. At most
 * UINT32_MAX. */
typedef struct cloud_grid cloud_grid;
atn_status cloud_grid_make(const cloud_points *points, double edge, cloud_grid **out);
/* The same of points that are in the order of a curve already: their keys ascend, and where a bit of them changes the
 * curve enters another part of space. */
atn_status cloud_grid_make_along(const cloud_points *points, const uint64_t *key, cloud_grid **out);
void cloud_grid_free(cloud_grid *grid); /* NULL is fine */

/* The `most` nearest points to `at` that are no farther than `reach` (INFINITY: any), the nearest first, of equal
 * distances the one that comes first; returns how many there are. Safe from many threads. */
size_t cloud_grid_nearest(const cloud_grid *grid, const double at[3], size_t most, double reach, uint32_t *index,
                          double *distance2);
/* The nearest of all, looked for from one of the points on whose distance is known, which is sooner the nearer it is.
 */
void cloud_grid_nearer(const cloud_grid *grid, const double at[3], uint32_t *index, double *distance2);

/* The median distance from a point to the nearest one at another place, of at most 1,000 points spread evenly over the
 * order of the array; 0 where all are at one place. Of several points at one place the first counts. */
atn_status cloud_points_spacing(const cloud_points *points, double *out);

#endif
