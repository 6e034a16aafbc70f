/* Normals from neighbours: the direction in which they differ least, the eigenvector of the lowest eigenvalue of
 * sum (p - m)(p - m)^T over the neighbours p with the mean m (Hoppe et al. 1992). */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/size.h"
#include "cloud/cloud.h"
#include "cloud/points.h"
#include "geom/eigen.h"

#include <math.h>
#include <string.h>

enum { NEIGHBOURS = 20 };
static const double LINE = 1e-12; /* of two eigenvalues: a millionth as wide as long is no plane */

/* One frame of the cloud, and what is needed while going through it. */
typedef struct work {
    cloud_points points; /* not owned */
    cloud_grid *grid;
    uint32_t *order;   /* owned */
    uint32_t *index;   /* owned; room for the neighbours of a point, for each worker */
    double *distance2; /* owned; likewise */
    size_t neighbours;
    atn_cloud *out;
    size_t first;   /* point of the cloud that is the frame's first */
    double half[3]; /* half of the place that normals point to, or from */
    double sign;    /* 1: to, -1: from */
} work;

/* Offsets from the point in units of the largest one; false where all are at one place. */
static bool scatter_of(const work *w, const uint32_t *index, size_t found, double matrix[6]) {
    double unit = 0, mean[3] = {0};
    size_t self = index[0];
    for (size_t k = 1; k < found; ++k)
        for (int d = 0; d < 3; ++d)
            unit = fmax(unit, fabs(w->points.position[d][index[k]] / 2 - w->points.position[d][self] / 2));
    if (!(unit > 0)) return false;
    for (int pass = 0; pass < 2; ++pass) /* the mean, then what is about it */
        for (size_t k = 0; k < found; ++k) {
            double o[3];
            for (int d = 0; d < 3; ++d) {
                const double *p = w->points.position[d];
                o[d] = (p[index[k]] / 2 - p[self] / 2) / unit - (pass ? mean[d] : 0);
            }
            for (int d = 0; d < 3 && !pass; ++d) mean[d] += o[d] / (double)found;
            for (int d = 0; d < 3 && pass; ++d) matrix[d] += o[d] * o[d];
            if (!pass) continue;
            matrix[3] += o[0] * o[1];
            matrix[4] += o[0] * o[2];
            matrix[5] += o[1] * o[2];
        }
    return true;
}

static void find_normal(const work *w, size_t point, int32_t worker, double normal[3]) {
    double at[3], matrix[6] = {0}, value[3], vector[3][3], along = 0;
    for (int d = 0; d < 3; ++d) at[d] = w->points.position[d][point], normal[d] = 0;
    uint32_t *index = w->index + (size_t)worker * w->neighbours;
    double *distance2 = w->distance2 + (size_t)worker * w->neighbours;
    size_t found = cloud_grid_nearest(w->grid, at, w->neighbours, INFINITY, index, distance2);
    if (found < 3 || !scatter_of(w, index, found, matrix)) return;
    geom_eigen3(matrix, value, vector);
    if (!(value[1] > LINE * value[2])) return;
    for (int d = 0; d < 3; ++d) along += vector[0][d] * (w->half[d] / 2 - at[d] / 4) * w->sign;
    for (int d = 0; d < 3; ++d) normal[d] = along < 0 ? -vector[0][d] : vector[0][d];
}

static void find_centroid(work *w) {
    for (int d = 0; d < 3; ++d) {
        w->half[d] = 0;
        for (size_t k = 0; k < w->points.count; ++k)
            w->half[d] += (w->points.position[d][k] / 2 - w->half[d]) / (double)(k + 1);
    }
    w->sign = -1;
}

/* Along the curve, so that neighbours of one point are in the cache for the next. */
static void find_some(void *user, int64_t from, int64_t to) {
    int32_t worker = atn_parallel_worker();
    const work *w = user;
    for (int64_t k = from; k < to; ++k) {
        double normal[3];
        if (k % 4096 == 0 && atn_check_cancel(w->points.ctx) != ATN_OK) return;
        find_normal(w, w->order[k], worker, normal);
        for (int d = 0; d < 3; ++d) ((float *)w->out->column[ROLE_NX + d])[w->first + w->order[k]] = (float)normal[d];
    }
}

static atn_status find_normals(work *w) {
    size_t bytes, workers = (size_t)atn_parallel_workers();
    const atn_ctx *ctx = w->points.ctx;
    if (!atn_size_mul(w->neighbours, workers * sizeof *w->distance2, &bytes))
        return atn_fail_memory(ctx, SIZE_MAX, "neighbours");
    w->distance2 = atn_alloc(ctx, bytes);
    w->index = w->distance2 ? atn_alloc(ctx, w->neighbours * workers * sizeof *w->index) : NULL;
    w->order = w->index ? atn_alloc(ctx, w->points.count * sizeof *w->order) : NULL;
    if (!w->order) return ATN_ERR_MEMORY;
    atn_status status = cloud_points_order(&w->points, w->order);
    if (status == ATN_OK) status = cloud_grid_make(&w->points, 0, &w->grid);
    if (status == ATN_OK) atn_parallel((int64_t)w->points.count, CLOUD_WORTH_A_THREAD / 8, find_some, w);
    return status == ATN_OK ? atn_check_cancel(ctx) : status;
}

static atn_status do_frame(atn_cloud *out, size_t frame, size_t neighbours, const double *viewpoint) {
    size_t first = atn_cloud_frame(out, frame), count = atn_cloud_frame(out, frame + 1) - first;
    work w = {.points = {.ctx = out->ctx, .count = count},
              .neighbours = neighbours < count ? neighbours : count,
              .out = out,
              .first = first};
    for (int d = 0; d < 3; ++d) w.points.position[d] = (double *)out->column[ROLE_X + d] + first;
    if (viewpoint) {
        for (int d = 0; d < 3; ++d) w.half[d] = viewpoint[d] / 2;
        w.sign = 1;
    } else
        find_centroid(&w);
    atn_status status = find_normals(&w);
    cloud_grid_free(w.grid);
    atn_free(out->ctx, w.order);
    atn_free(out->ctx, w.index);
    atn_free(out->ctx, w.distance2);
    return status;
}

atn_status atn_cloud_with_normals(const atn_cloud *cloud, int32_t neighbours, const double *viewpoint,
                                  atn_cloud **out) {
    *out = NULL;
    if (neighbours && neighbours < 3)
        return atn_fail(cloud->ctx, ATN_ERR_INPUT, "%d neighbours; a plane needs three points, the point among them",
                        neighbours);
    for (int d = 0; viewpoint && d < 3; ++d)
        if (!isfinite(viewpoint[d]))
            return atn_fail(cloud->ctx, ATN_ERR_INPUT, "a viewpoint with a coordinate that is not finite");
    atn_cloud *made;
    atn_status status = cloud_copy(cloud, ROLE_NORMAL, &made);
    size_t frames = cloud->n_frames ? cloud->n_frames : 1;
    for (size_t f = 0; status == ATN_OK && f < frames; ++f)
        status = do_frame(made, f, neighbours ? (size_t)neighbours : NEIGHBOURS, viewpoint);
    if (status == ATN_OK)
        *out = made;
    else
        atn_cloud_free(made);
    return status;
}
