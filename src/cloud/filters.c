/* Filters from clouds to clouds: cropping to a box, removing outliers, merging. */
#include "base/memory.h"
#include "base/parallel.h"
#include "cloud/cloud.h"
#include "cloud/faces.h"
#include "cloud/points.h"

#include <math.h>
#include <string.h>

/* ---- some of the points ---- */

static atn_status check_count(const atn_cloud *cloud) {
    if (cloud->count < UINT32_MAX) return ATN_OK;
    return atn_fail(cloud->ctx, ATN_ERR_INPUT, "%zu points; at most %u are filtered", cloud->count, UINT32_MAX - 1);
}

/* Those that `keeps` says yes to, in their order. */
static atn_status keep_some(const atn_cloud *cloud, bool (*keeps)(const void *user, size_t point), const void *user,
                            atn_cloud **out) {
    uint32_t *index = atn_alloc(cloud->ctx, cloud->count * sizeof *index);
    size_t count = 0;
    *out = NULL;
    if (!index) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < cloud->count; ++k)
        if (keeps(user, k)) index[count++] = (uint32_t)k;
    atn_status status = cloud_select(cloud, index, count, out);
    atn_free(cloud->ctx, index);
    return status;
}

typedef struct box {
    const atn_cloud *cloud;
    const double *low, *high;
} box;

static bool is_inside(const void *user, size_t point) {
    const box *b = user;
    for (int d = 0; d < 3; ++d) {
        double x = atn_cloud_positions(b->cloud, d)[point];
        if (x < b->low[d] || x > b->high[d]) return false;
    }
    return true;
}

atn_status atn_cloud_cropped(const atn_cloud *cloud, const double low[3], const double high[3], atn_cloud **out) {
    *out = NULL;
    for (int d = 0; d < 3; ++d)
        if (!(low[d] <= high[d]))
            return atn_fail(cloud->ctx, ATN_ERR_INPUT, "a box from %g to %g along %c; the lower end comes first",
                            low[d], high[d], "xyz"[d]);
    atn_status status = check_count(cloud);
    return status == ATN_OK ? keep_some(cloud, is_inside, &(box){cloud, low, high}, out) : status;
}

/* ---- points far from all others ---- */

enum { NEIGHBOURS = 20, MOST_NEIGHBOURS = 1000 };

typedef struct crowd {
    const cloud_points *points;
    const cloud_grid *grid;
    size_t neighbours;
    double *distance; /* owned; the mean of those to a point's neighbours */
    double most;
} crowd;

static void measure(void *user, int64_t from, int64_t to) {
    const crowd *c = user;
    uint32_t index[MOST_NEIGHBOURS + 1];
    double distance2[MOST_NEIGHBOURS + 1];
    for (int64_t k = from; k < to; ++k) {
        double at[3], sum = 0;
        for (int d = 0; d < 3; ++d) at[d] = c->points->position[d][k];
        size_t found = cloud_grid_nearest(c->grid, at, c->neighbours + 1, INFINITY, index, distance2);
        for (size_t n = 1; n < found; ++n) sum += sqrt(distance2[n]); /* the first is the point, or at its place */
        c->distance[k] = found > 1 ? sum / (double)(found - 1) : 0;
    }
}

static bool is_near(const void *user, size_t point) {
    const crowd *c = user;
    return c->distance[point] <= c->most;
}

/* By mean and deviation of all mean distances. */
static double limit_of(const double *distance, size_t count, double deviations) {
    double mean = 0, sum2 = 0;
    for (size_t k = 0; k < count; ++k) mean += (distance[k] - mean) / (double)(k + 1);
    for (size_t k = 0; k < count; ++k) sum2 += (distance[k] - mean) * (distance[k] - mean);
    return mean + deviations * sqrt(sum2 / (double)(count ? count : 1));
}

atn_status atn_cloud_without_outliers(const atn_cloud *cloud, int32_t neighbours, double deviations, atn_cloud **out) {
    cloud_points points = {0};
    cloud_grid *grid = NULL;
    crowd c = {.points = &points, .neighbours = neighbours ? (size_t)neighbours : NEIGHBOURS};
    *out = NULL;
    if (neighbours < 0 || neighbours > MOST_NEIGHBOURS)
        return atn_fail(cloud->ctx, ATN_ERR_INPUT, "%d neighbours; 1 to %d are asked", neighbours, MOST_NEIGHBOURS);
    if (!(deviations >= 0) || !isfinite(deviations))
        return atn_fail(cloud->ctx, ATN_ERR_INPUT, "%g deviations; a finite number, 0 for the default of 2",
                        deviations);
    atn_status status = check_count(cloud);
    if (status == ATN_OK) status = cloud_points_of(cloud->ctx, cloud, &points);
    if (status == ATN_OK) status = cloud_grid_make(&points, 0, &grid);
    c.grid = grid;
    if (status == ATN_OK && !(c.distance = atn_alloc(cloud->ctx, points.count * sizeof *c.distance)))
        status = ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        atn_parallel((int64_t)points.count, CLOUD_WORTH_A_THREAD / 8, measure, &c);
        c.most = limit_of(c.distance, points.count, deviations > 0 ? deviations : 2);
        status = keep_some(cloud, is_near, &c, out);
    }
    atn_free(cloud->ctx, c.distance);
    cloud_grid_free(grid);
    cloud_points_free(&points);
    return status;
}

/* ---- an edge for voxels ---- */

atn_status atn_cloud_voxel_edge(const atn_cloud *cloud, double *edge) {
    cloud_points points;
    double spacing = 0;
    *edge = 0;
    atn_status status = cloud_points_of(cloud->ctx, cloud, &points);
    if (status == ATN_OK) status = cloud_points_spacing(&points, &spacing);
    cloud_points_free(&points);
    if (status != ATN_OK) return status;
    if (!(spacing > 0))
        return atn_fail(cloud->ctx, ATN_ERR_INPUT, "no two points are apart: there is no edge for voxels");
    *edge = 2 * spacing;
    return ATN_OK;
}

/* ---- several as one ---- */

/* What points of a cloud without that role have. */
static double missing(cloud_role role) { return role == ROLE_WEIGHT ? 1 : 0; }

/* Properties that all have; the others are noted as left out. */
static atn_status join_extras(const atn_cloud *const *clouds, size_t count, atn_cloud *out) {
    atn_status status = ATN_OK;
    for (size_t c = 0; c < count; ++c)
        for (size_t k = 0; status == ATN_OK && k < clouds[c]->extra.count; ++k) {
            const cloud_extra *e = &clouds[c]->extra.field[k];
            size_t first = 0, have = 0, index;
            while (cloud_extras_find(&clouds[first]->extra, e) == SIZE_MAX) ++first;
            for (size_t other = 0; other < count; ++other)
                have += cloud_extras_find(&clouds[other]->extra, e) != SIZE_MAX;
            if (first != c || cloud_extras_find(&clouds[c]->extra, e) != k) continue; /* it was its turn before */
            if (have == count)
                status = cloud_extras_add(out->ctx, &out->extra, e->name, e->type, e->values, &index);
            else
                cloud_leave_out(out, e->name);
        }
    return status;
}

static void take_extras(const atn_cloud *from, size_t point, atn_cloud *to) {
    for (size_t k = 0; k < to->extra.count; ++k) {
        const cloud_extra *e = &to->extra.field[k];
        const cloud_extra *f = &from->extra.field[cloud_extras_find(&from->extra, e)];
        memcpy(to->extra.next + e->at, from->extra.data + point * from->extra.bytes + f->at,
               number_bytes(e->type) * e->values);
    }
}

static atn_status append(const atn_cloud *from, bool frames, atn_cloud *to) {
    size_t shift = to->count, frame = 0;
    atn_status status = frames && !from->n_frames ? cloud_add_frame(to) : ATN_OK;
    for (size_t k = 0; status == ATN_OK && k < from->count; ++k) {
        double value[ROLE_COUNT];
        for (; status == ATN_OK && frame < from->n_frames && from->frame[frame] <= k; ++frame)
            status = cloud_add_frame(to);
        for (cloud_role r = 0; r < ROLE_COUNT; ++r)
            value[r] = from->roles & ROLE_BIT(r) ? cloud_get(from, r, k) : missing(r);
        take_extras(from, k, to);
        if (status == ATN_OK) status = cloud_add(to, NULL, value);
    }
    if (status == ATN_OK && to->count < UINT32_MAX) status = cloud_faces_append(from, shift, to);
    to->nan += from->nan;
    to->inf += from->inf;
    if (*from->left_out && shift == 0) cloud_leave_out(to, from->left_out);
    return status;
}

atn_status atn_cloud_merged(const atn_cloud *const *clouds, size_t count, atn_cloud **out) {
    *out = NULL;
    if (count == 0) return ATN_ERR_INPUT;
    const atn_ctx *ctx = clouds[0]->ctx;
    unsigned roles = 0;
    bool frames = false;
    size_t points = 0;
    for (size_t c = 0; c < count; ++c) {
        roles |= clouds[c]->roles;
        frames |= clouds[c]->n_frames > 0;
        points += clouds[c]->count;
    }
    atn_cloud *made = NULL;
    atn_status status = cloud_make(ctx, NULL, &made);
    if (status == ATN_OK) status = join_extras(clouds, count, made);
    if (status == ATN_OK) status = cloud_begin(made, NULL, roles, points);
    for (size_t c = 0; status == ATN_OK && c < count; ++c) status = append(clouds[c], frames, made);
    if (status == ATN_OK)
        *out = made;
    else
        atn_cloud_free(made);
    return status;
}
