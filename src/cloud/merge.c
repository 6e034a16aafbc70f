/* One point per voxel: the weighted mean of its points, sum w p / sum w, with the sum of the weights. */
#include "base/memory.h"
#include "base/parallel.h"
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

typedef struct task {
    const cloud_points *from;
    packed *packed;
    const cloud_cubes *cubes;
    const uint32_t *order;
    cloud_points *to;
} task;

static void pack(void *user, int64_t from, int64_t to) {
    const task *t = user;
    const cloud_points *points = t->from;
    for (size_t k = (size_t)from; k < (size_t)to; ++k) {
        for (int d = 0; d < 3; ++d) t->packed[k].position[d] = points->position[d][k];
        t->packed[k].weight = points->weight[k];
        t->packed[k].species = points->species ? points->species[k] : 0;
    }
}

static void merge_some(void *user, int64_t from, int64_t to) {
    const task *t = user;
    const uint32_t *start = t->cubes->start;
    for (int64_t k = from; k < to; ++k)
        merge_cube(t->packed, t->cubes->order + start[k], start[k + 1] - start[k], t->to, (size_t)k);
}

static atn_status merge_cubes(const cloud_points *points, const cloud_cubes *cubes, cloud_points *out) {
    size_t bytes;
    packed *room = atn_alloc(points->ctx, atn_size_mul(points->count, sizeof *room, &bytes) ? bytes : SIZE_MAX);
    if (!room) return ATN_ERR_MEMORY;
    atn_status status = cloud_points_make(points->ctx, cubes->count, points->species != NULL, out);
    if (status == ATN_OK) {
        task t = {.from = points, .packed = room, .cubes = cubes, .to = out};
        atn_parallel((int64_t)points->count, CLOUD_WORTH_A_THREAD, pack, &t);
        atn_parallel((int64_t)cubes->count, CLOUD_WORTH_A_THREAD, merge_some, &t);
        status = atn_check_cancel(points->ctx);
    }
    atn_free(points->ctx, room);
    return status;
}

static void permute_some(void *user, int64_t from, int64_t to) {
    const task *t = user;
    const cloud_points *points = t->from;
    for (size_t k = (size_t)from; k < (size_t)to; ++k) {
        for (int d = 0; d < 3; ++d) t->to->position[d][k] = points->position[d][t->order[k]];
        t->to->weight[k] = points->weight[t->order[k]];
        if (points->species) t->to->species[k] = points->species[t->order[k]];
    }
}

atn_status cloud_points_permute(const cloud_points *points, const uint32_t *order, cloud_points *out) {
    atn_status status = cloud_points_make(points->ctx, points->count, points->species != NULL, out);
    task t = {.from = points, .order = order, .to = out};
    if (status == ATN_OK) atn_parallel((int64_t)points->count, CLOUD_WORTH_A_THREAD, permute_some, &t);
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
