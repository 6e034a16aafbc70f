/* The voxel filter of scans: one point for each cube of a raster that has any, as cloud_points_merge makes them. A
 * needle's cubes fit a small box: where a table of all of them is not large, each point finds its cube there, and
 * nothing is sorted but the few points that are left. */
#include "apps/needle/needle.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>

static const double MOST_CUBES = 1 << 20;

/* Box of cubes with corners at multiples of the edge. */
typedef struct box {
    double low[3], size[3]; /* in edges */
    double cubes;           /* in all; not finite: far too many */
} box;

static box box_of(const cloud_points *points, double edge) {
    box b = {.cubes = 1};
    for (int axis = 0; axis < 3; ++axis) {
        const double *at = points->position[axis];
        double low = at[0], high = at[0];
        for (size_t k = 1; k < points->count; ++k) {
            low = at[k] < low ? at[k] : low;
            high = at[k] > high ? at[k] : high;
        }
        b.low[axis] = floor(low / edge);
        b.size[axis] = floor(high / edge) - b.low[axis] + 1;
        b.cubes *= b.size[axis];
    }
    return b;
}

static size_t cube_of(const box *b, const cloud_points *points, size_t k, double edge) {
    double at = 0;
    for (int axis = 2; axis >= 0; --axis)
        at = at * b->size[axis] + (floor(points->position[axis][k] / edge) - b->low[axis]);
    return (size_t)at;
}

static atn_status make_room(needle_filter *f, const atn_ctx *ctx, size_t points, size_t cubes) {
    if (cubes > f->cubes) {
        atn_free(ctx, f->table);
        f->table = atn_zalloc(ctx, cubes * sizeof *f->table);
        f->cubes = f->table ? cubes : 0;
        if (!f->table) return ATN_ERR_MEMORY;
    }
    if (points <= f->room) return ATN_OK;
    cloud_points_free(&f->merged);
    atn_free(ctx, f->mean);
    atn_free(ctx, f->cube);
    f->room = 0;
    f->mean = atn_alloc(ctx, points * sizeof *f->mean);
    f->cube = atn_alloc(ctx, points * sizeof *f->cube);
    if (!f->mean || !f->cube) return ATN_ERR_MEMORY;
    atn_status status = cloud_points_make(ctx, points, false, &f->merged);
    f->room = status == ATN_OK ? points : 0;
    return status;
}

/* The points of each cube in their order, its number in the table being one more than its place in `merged`. */
static void merge(needle_filter *f, const cloud_points *points, const box *b, double edge) {
    cloud_points *to = &f->merged;
    to->count = 0;
    for (size_t k = 0; k < points->count; ++k) {
        size_t cube = cube_of(b, points, k, edge), at = f->table[cube];
        if (at == 0) {
            at = ++to->count;
            f->table[cube] = (uint32_t)at;
            f->cube[at - 1] = cube;
            f->mean[at - 1] = (cloud_mean){0};
            for (int axis = 0; axis < 3; ++axis) to->position[axis][at - 1] = points->position[axis][k];
        }
        double share = cloud_mean_share(&f->mean[--at], (double)points->weight[k]);
        for (int axis = 0; axis < 3; ++axis)
            to->position[axis][at] += share * (points->position[axis][k] - to->position[axis][at]);
    }
    for (size_t k = 0; k < to->count; ++k) {
        to->weight[k] = (float)fmin(f->mean[k].weight, (double)FLT_MAX);
        f->table[f->cube[k]] = 0; /* all of it is zero again */
    }
}

atn_status needle_filter_points(atn_needle *n, const cloud_points *points, cloud_points *out) {
    needle_filter *f = &n->filter;
    double edge = n->options.edge;
    const box b = box_of(points, edge);
    if (points->species || !(b.cubes <= MOST_CUBES)) return cloud_points_merge(points, edge, out);
    *out = (cloud_points){0};
    atn_status status = make_room(f, n->ctx, points->count, (size_t)b.cubes);
    if (status != ATN_OK) return status;
    merge(f, points, &b, edge);
    uint32_t *order = atn_alloc(n->ctx, f->merged.count * sizeof *order);
    status = order ? cloud_points_order(&f->merged, order) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = cloud_points_permute(&f->merged, order, out);
    atn_free(n->ctx, order);
    return status;
}

void needle_filter_free(needle_filter *f, const atn_ctx *ctx) {
    cloud_points_free(&f->merged);
    atn_free(ctx, f->mean);
    atn_free(ctx, f->cube);
    atn_free(ctx, f->table);
    *f = (needle_filter){0};
}
