/* Kernels and buffers of the matching, kept from round to round and from frame to frame. The arrays of the scan are
 * somewhat longer than needed, so that the next frame fits without planning again. */
#include "apps/needle/needle.h"

#include "base/memory.h"
#include "kernel/give.h"
#include "num/array.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 128, ENOUGH = 600 }; /* arrays have multiples of that many points; this many show where to look closer */
static const char *const SCAN[3] = {"px", "py", "pz"}; /* as the kernels call them */
static const char *const MODEL[3] = {"mx", "my", "mz"};

static bool by_model(const atn_needle *n) { return n->options.count == ATN_NEEDLE_COUNT_MODEL; }

static const char *kernel_name(const atn_needle *n) {
    return by_model(n)        ? n->options.brute ? "shift_model" : "shift_mark"
           : n->options.brute ? "shift_brute"
                              : "shift_lookup";
}

static atn_status put_floats(atn_device *device, size_t count, const float *from, atn_array **out) {
    atn_status status = atn_array_create_vector(device, ATN_SP, (int64_t)count, out);
    return status == ATN_OK && count ? atn_array_put(*out, from, 0) : status;
}

static atn_status put_whole(atn_device *device, size_t count, const int32_t *from, atn_array **out) {
    atn_status status = atn_array_create_vector(device, ATN_INT32, (int64_t)count, out);
    return status == ATN_OK && count ? atn_array_put(*out, from, 0) : status;
}

/* The model as kernels see it: candidates one voxel after the other, or all points. */
static atn_status put_model(atn_needle *n, const float *const position[3]) {
    const needle_volume *v = &n->volume;
    size_t voxels = (size_t)v->size[0] * (size_t)v->size[1] * (size_t)v->size[2], count = (size_t)v->candidates;
    if (n->options.brute) {
        atn_status status = ATN_OK;
        for (int axis = 0; axis < 3 && status == ATN_OK; ++axis)
            status = put_floats(n->device, n->model.count, position[axis], &n->model_array[axis]);
        return status;
    }
    float *listed = atn_alloc(n->ctx, (count ? count : 1) * sizeof *listed);
    atn_status status = listed ? ATN_OK : ATN_ERR_MEMORY;
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis) {
        for (size_t k = 0; k < count; ++k) listed[k] = position[axis][v->index[k]];
        status = put_floats(n->device, count, listed, &n->model_array[axis]);
    }
    if (status == ATN_OK) status = put_whole(n->device, voxels, v->list, &n->list_array);
    if (status == ATN_OK) status = put_whole(n->device, (size_t)v->lists + 1, v->start, &n->start_array);
    if (status == ATN_OK && by_model(n)) status = put_whole(n->device, count, v->index, &n->index_array);
    atn_free(n->ctx, listed);
    return status;
}

/* Kernels see the model's z, y, x: shifts move along z, where neighbours then are neighbours in the lookup volume. */
atn_status needle_engine_open(atn_needle *n) {
    float *position[3] = {0};
    atn_status status = ATN_OK;
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis) {
        position[axis] = atn_alloc(n->ctx, n->model.count * sizeof **position);
        if (!position[axis]) status = ATN_ERR_MEMORY;
        for (size_t k = 0; k < n->model.count && status == ATN_OK; ++k)
            position[axis][k] = (float)(n->model.position[2 - axis][k] - n->centre[2 - axis]);
    }
    const float *const read[3] = {position[0], position[1], position[2]};
    if (status == ATN_OK && !n->options.brute) /* short lists are worth small voxels; all that are near, less so */
        status = needle_volume_make(n->ctx, n->model.count, read, n->options.threshold,
                                    n->options.threshold / (by_model(n) ? 2 : 4),
                                    by_model(n) ? NEEDLE_LISTS_ALL : NEEDLE_LISTS_DECIDING, &n->volume);
    if (status == ATN_OK) status = put_model(n, read);
    for (int axis = 0; axis < 3; ++axis) atn_free(n->ctx, position[axis]);
    return status;
}

static void slot_free(needle_slot *slot) {
    atn_kernel_free(slot->kernel);
    atn_kernel_free(slot->sum);
    atn_array_free(slot->pose);
    atn_array_free(slot->count);
    atn_array_free(slot->found);
    *slot = (needle_slot){0};
}

static void free_counted(needle_counted *c) {
    for (int axis = 0; axis < 3; ++axis) {
        atn_array_free(c->position[axis]);
        c->position[axis] = NULL;
    }
    atn_array_free(c->positions);
    c->positions = NULL;
}

static void free_combinations(atn_needle *n) {
    atn_free(n->ctx, n->pose);
    atn_free(n->ctx, n->worth);
    atn_free(n->ctx, n->weighed);
    atn_free(n->ctx, n->view);
    atn_free(n->ctx, n->listed);
    n->pose = NULL;
    n->worth = NULL;
    n->weighed = NULL;
    n->view = n->listed = NULL;
    n->poses = 0;
}

void needle_engine_close(atn_needle *n) {
    for (int k = 0; k < NEEDLE_SLOTS; ++k) slot_free(&n->slot[k]);
    for (int axis = 0; axis < 3; ++axis) {
        atn_array_free(n->model_array[axis]);
    }
    for (int k = 0; k < NEEDLE_CHOICES; ++k) free_counted(&n->counted[k]);
    atn_array_free(n->list_array);
    atn_array_free(n->start_array);
    atn_array_free(n->index_array);
    needle_volume_free(&n->volume);
    free_combinations(n);
}

atn_status needle_engine_points(atn_needle *n, needle_choice points, int64_t count) {
    needle_counted *c = &n->counted[points];
    int64_t wanted = (count + GRAIN - 1) / GRAIN * GRAIN;
    c->count = count;
    if (c->positions && count <= c->capacity && wanted >= c->capacity / 4 * 3) return ATN_OK;
    for (int k = 0; k < NEEDLE_SLOTS; ++k) slot_free(&n->slot[k]);
    n->equations.bound = n->points.bound = false;
    c->capacity = wanted;
    free_counted(c);
    atn_status status = atn_array_create_matrix(n->device, ATN_SP, 3, c->capacity, 0, &c->positions);
    if (status == ATN_OK) atn_array_pin(c->positions);
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis)
        status = atn_array_view_row(c->positions, axis, &c->position[axis]);
    if (status != ATN_OK) free_counted(c);
    return status;
}

int64_t needle_engine_stride(const atn_needle *n) {
    int64_t stride = n->scan_points / ENOUGH;
    return by_model(n) || stride < 1 ? 1 : stride; /* which of the model's have a partner: all of the scan's tell */
}

/* Every stride-th point of the scan, then `far`. */
static atn_status put_counted(atn_needle *n, const cloud_points *scan, needle_choice points, int64_t stride,
                              double far) {
    needle_counted *c = &n->counted[points];
    void *to = NULL;
    atn_status status = needle_engine_points(n, points, ((int64_t)scan->count + stride - 1) / stride);
    if (status == ATN_OK) status = atn_array_map_write(c->positions, &to);
    if (status != ATN_OK) return status;
    float *at = to;
    for (int axis = 0; axis < 3; ++axis)
        for (int64_t k = 0; k < c->capacity; ++k)
            *at++ = (float)(k < c->count ? scan->position[axis][k * stride] - n->scan_centre[axis] : far);
    return ATN_OK;
}

atn_status needle_engine_scan(atn_needle *n, const cloud_points *scan, double far) {
    n->scan_points = (int64_t)scan->count;
    atn_status status = put_counted(n, scan, NEEDLE_ALL, 1, far);
    return status == ATN_OK ? put_counted(n, scan, NEEDLE_SOME, needle_engine_stride(n), far) : status;
}

/* What is looked up where a point lies; nothing of it where all pairs are counted. */
static atn_status set_volume(atn_needle *n, atn_kernel *kernel) {
    const needle_volume *v = &n->volume;
    if (n->options.brute) return ATN_OK;
    return atn_kernel_give(kernel, ATN_ARRAYS({"list", n->list_array}, {"start", n->start_array}),
                           ATN_NUMBERS({"per_length", 1 / v->edge}, {"low_x", v->low[0]}, {"low_y", v->low[1]},
                                       {"low_z", v->low[2]}, {"last_x", v->size[0] - 1}, {"last_y", v->size[1] - 1},
                                       {"last_z", v->size[2] - 1}, {"nx", v->size[0]}, {"ny", v->size[1]}));
}

static atn_status slot_make(atn_needle *n, int64_t combinations, needle_choice points, needle_slot *slot) {
    bool marks = by_model(n) && !n->options.brute;
    double threshold = n->options.threshold;
    atn_status status = atn_array_create_matrix(n->device, ATN_SP, 12, combinations, 0, &slot->pose);
    if (status == ATN_OK) status = atn_array_create_vector(n->device, ATN_INT32, combinations, &slot->count);
    if (status == ATN_OK) atn_array_pin(slot->pose);
    if (status == ATN_OK) atn_array_pin(slot->count);
    if (status == ATN_OK) /* counts are whole: any order is as good */
        status = atn_kernel_make(n->device, kernel_name(n), ATN_SP, n->options.brute ? 0 : ATN_TRUSTED, &slot->kernel);
    atn_array *const *at = n->counted[points].position, *const *model = n->model_array;
    if (status == ATN_OK)
        status = atn_kernel_give(slot->kernel,
                                 ATN_ARRAYS({"pose", slot->pose}, {SCAN[0], at[0]}, {SCAN[1], at[1]}, {SCAN[2], at[2]},
                                            {MODEL[0], model[0]}, {MODEL[1], model[1]}, {MODEL[2], model[2]}),
                                 ATN_NUMBERS({"threshold2", threshold * threshold}));
    if (status == ATN_OK) status = set_volume(n, slot->kernel);
    if (!marks && status == ATN_OK)
        status = atn_kernel_give(slot->kernel, ATN_ARRAYS({"count", slot->count}), ATN_NOTHING);
    if (!marks || status != ATN_OK) return status;
    status = atn_array_create_matrix(n->device, ATN_INT32, combinations, (int64_t)n->model.count, 0, &slot->found);
    if (status == ATN_OK)
        status =
            atn_kernel_give(slot->kernel, ATN_ARRAYS({"index", n->index_array}, {"found", slot->found}), ATN_NOTHING);
    if (status == ATN_OK) status = atn_kernel_make(n->device, "shift_sum", ATN_SP, 0, &slot->sum);
    if (status == ATN_OK)
        status = atn_kernel_give(slot->sum, ATN_ARRAYS({"found", slot->found}, {"count", slot->count}), ATN_NOTHING);
    return status;
}

/* The slot for that many combinations, created if there is none; the least recently used one is replaced. */
static atn_status find_slot(atn_needle *n, int64_t combinations, needle_choice points, needle_slot **out) {
    needle_slot *oldest = &n->slot[0];
    *out = NULL;
    for (int k = 0; k < NEEDLE_SLOTS; ++k) {
        if (n->slot[k].combinations == combinations && n->slot[k].points == points) *out = &n->slot[k];
        if (n->slot[k].used < oldest->used) oldest = &n->slot[k];
    }
    atn_status status = ATN_OK;
    if (!*out) {
        slot_free(oldest);
        status = slot_make(n, combinations, points, oldest);
        if (status == ATN_OK) {
            oldest->combinations = combinations;
            oldest->points = points;
        } else
            slot_free(oldest);
        *out = oldest;
    }
    (*out)->used = ++n->uses;
    return status;
}

atn_status needle_engine_room(atn_needle *n, int64_t combinations) {
    size_t count = (size_t)combinations;
    if (combinations <= n->poses) return ATN_OK;
    free_combinations(n);
    n->pose = atn_alloc(n->ctx, count * sizeof *n->pose);
    n->worth = atn_alloc(n->ctx, count * sizeof *n->worth);
    n->weighed = atn_alloc(n->ctx, count * sizeof *n->weighed);
    n->view = atn_alloc(n->ctx, count * sizeof *n->view);
    n->listed = atn_alloc(n->ctx, count * sizeof *n->listed);
    if (!n->pose || !n->worth || !n->weighed || !n->view || !n->listed) return ATN_ERR_MEMORY;
    n->poses = combinations;
    return ATN_OK;
}

static bool is_turned_alike(const geom_pose *a, const geom_pose *b) {
    bool same = true;
    for (size_t k = 0; k < sizeof a->a / sizeof *a->a; ++k) same = same && a->a[k] == b->a[k];
    return same;
}

/* The inverse of each pose, between the frames that the kernels see: q = A (p + scan_centre - b) - centre, rows from z
 * to x. */
static atn_status put_poses(atn_needle *n, const needle_slot *slot) {
    void *to;
    atn_status status = atn_array_map_write(slot->pose, &to);
    float *number = to;
    geom_pose back = GEOM_IDENTITY;
    for (int64_t c = 0; c < slot->combinations && status == ATN_OK; ++c) {
        const geom_pose *pose = &n->pose[c];
        bool same = c > 0 && is_turned_alike(pose, &pose[-1]); /* shifts of one roll */
        if (!same && !geom_pose_invert(pose, &back))
            return atn_fail(n->ctx, ATN_ERR_INPUT, "needle: the initial pose has no inverse; it must be rigid");
        for (int r = 0; r < 3; ++r) {
            const double *a = back.a + 3 * r;
            double at = -n->centre[r];
            for (int k = 0; k < 3; ++k) {
                at += a[k] * (n->scan_centre[k] - pose->b[k]);
                number[(3 * (2 - r) + k) * slot->combinations + c] = (float)a[k];
            }
            number[(9 + 2 - r) * slot->combinations + c] = (float)at;
        }
    }
    return status;
}

atn_status needle_engine_count(atn_needle *n, int64_t combinations, needle_choice points, const int32_t **counts) {
    needle_slot *slot;
    const void *numbers = NULL;
    *counts = NULL;
    atn_status status = atn_check_cancel(n->ctx);
    if (status == ATN_OK) status = find_slot(n, combinations, points, &slot);
    if (status == ATN_OK) status = put_poses(n, slot);
    if (status == ATN_OK && slot->found) {
        void *to;
        status = atn_array_map_write(slot->found, &to);
        if (status == ATN_OK && to) memset(to, 0, n->model.count * (size_t)combinations * sizeof(int32_t));
    }
    if (status == ATN_OK) status = atn_kernel_run(slot->kernel);
    if (status == ATN_OK && slot->sum) status = atn_kernel_run(slot->sum);
    if (status == ATN_OK) status = atn_array_map_read(slot->count, &numbers);
    *counts = numbers;
    return status;
}
