/* The normal equations of a step of the refinement, by the program needle_refine: 36 sums come back from the device,
 * nothing of single points. The nearest model point of a scan point is looked for in the list of its voxel. */
#include "apps/needle/needle.h"

#include "base/memory.h"
#include "num/array.h"
#include "plan/give.h"

/* Of the model: positions, normals; of a pair: what a twist changes, residual, 1; sums of products of two of them. */
enum { ROWS = 6, OF_PAIR = 8, SUMS = OF_PAIR * (OF_PAIR + 1) / 2 };
static const double REACH = 2;    /* thresholds that pairs may be apart, */
static const double EDGE = 1;     /* and of a voxel */
static const double LEAST = 0.01; /* thresholds: no deviation is taken to be smaller */

void needle_equations_free(needle_equations *e) {
    atn_program_free(e->program);
    atn_array *all[] = {e->list, e->start, e->model, e->pose, e->sums};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
    *e = (needle_equations){0};
}

/* Candidates one list after the other, seen from the model's middle. */
static atn_status put_model(atn_needle *n, const needle_volume *v, const float *const position[3]) {
    int64_t columns = v->candidates > 0 ? v->candidates : 1;
    void *to = NULL;
    atn_status status = atn_array_create_matrix(n->device, ATN_SP, ROWS, columns, 0, &n->equations.model);
    if (status == ATN_OK) status = atn_array_map_write(n->equations.model, &to);
    float *at = to;
    for (int row = 0; row < ROWS && status == ATN_OK; ++row)
        for (int64_t k = 0; k < v->candidates; ++k) {
            size_t point = (size_t)v->index[k];
            at[row * columns + k] = row < 3 ? position[row][point] : n->normal[3 * point + (size_t)row - 3];
        }
    return status;
}

static atn_status put_lists(atn_needle *n, const needle_volume *v) {
    needle_equations *e = &n->equations;
    int64_t voxels = (int64_t)v->size[0] * v->size[1] * v->size[2];
    atn_status status = atn_array_create_vector(n->device, ATN_INT32, voxels, &e->list);
    if (status == ATN_OK) status = atn_array_put(e->list, v->list, 0);
    if (status == ATN_OK) status = atn_array_create_vector(n->device, ATN_INT32, v->lists + 1, &e->start);
    return status == ATN_OK ? atn_array_put(e->start, v->start, 0) : status;
}

static atn_status set_up(const atn_needle *n, const needle_volume *v) {
    const needle_equations *e = &n->equations;
    const atn_named_number number[] = {{"low_x", v->low[0]},
                                       {"low_y", v->low[1]},
                                       {"low_z", v->low[2]},
                                       {"last_x", v->size[0] - 1},
                                       {"last_y", v->size[1] - 1},
                                       {"last_z", v->size[2] - 1},
                                       {"nx", v->size[0]},
                                       {"ny", v->size[1]},
                                       {"per_length", 1 / v->edge},
                                       {"reach", REACH * n->options.threshold},
                                       {"least", LEAST * n->options.threshold}};
    return atn_program_give(
        e->program,
        ATN_ARRAYS({"list", e->list}, {"start", e->start}, {"model", e->model}, {"pose", e->pose}, {"sums", e->sums}),
        number, sizeof number / sizeof *number);
}

static atn_status fill(atn_needle *n, const float *const position[3]) {
    needle_equations *e = &n->equations;
    needle_volume v;
    atn_status status = needle_volume_make(n->ctx, n->model.count, position, REACH * n->options.threshold,
                                           EDGE * n->options.threshold, NEEDLE_LISTS_NEAREST, &v);
    if (status != ATN_OK) return status;
    status = put_lists(n, &v);
    if (status == ATN_OK) status = put_model(n, &v, position);
    if (status == ATN_OK) status = atn_array_create_vector(n->device, ATN_SP, 12, &e->pose);
    if (status == ATN_OK) status = atn_array_create_vector(n->device, ATN_SP, SUMS, &e->sums);
    if (status == ATN_OK) atn_array_pin(e->pose);
    if (status == ATN_OK) atn_array_pin(e->sums);
    if (status == ATN_OK) status = atn_program_make(n->device, "needle_refine", ATN_SP, ATN_TRUSTED, &e->program);
    if (status == ATN_OK) status = set_up(n, &v);
    needle_volume_free(&v);
    return status;
}

/* Once, when a pose is refined first. */
static atn_status open_equations(atn_needle *n) {
    float *all = atn_alloc(n->ctx, 3 * n->model.count * sizeof *all);
    if (!all) return ATN_ERR_MEMORY;
    const float *const position[3] = {all, all + n->model.count, all + 2 * n->model.count};
    for (int axis = 0; axis < 3; ++axis)
        for (size_t k = 0; k < n->model.count; ++k)
            all[(size_t)axis * n->model.count + k] = (float)(n->model.position[axis][k] - n->centre[axis]);
    atn_status status = fill(n, position);
    if (status != ATN_OK) needle_equations_free(&n->equations);
    atn_free(n->ctx, all);
    return status;
}

static atn_status bind_points(atn_needle *n) {
    needle_equations *e = &n->equations;
    atn_array *const *p = n->counted[NEEDLE_ALL].position;
    if (e->bound) return ATN_OK;
    atn_status status = atn_program_give(e->program, ATN_ARRAYS({"px", p[0]}, {"py", p[1]}, {"pz", p[2]}), ATN_NOTHING);
    e->bound = status == ATN_OK;
    return status;
}

/* From the scan's centre to the model's: q = A (p + scan_centre - b) - centre. */
static atn_status put_pose(const atn_needle *n, const geom_pose *back) {
    void *to;
    atn_status status = atn_array_map_write(n->equations.pose, &to);
    if (status != ATN_OK) return status;
    float *number = to;
    double at[3];
    geom_pose_apply(back, n->scan_centre, at);
    for (int k = 0; k < 9; ++k) number[k] = (float)back->a[k];
    for (int axis = 0; axis < 3; ++axis) number[9 + axis] = (float)(at[axis] - n->centre[axis]);
    return ATN_OK;
}

/* The sum of products of numbers r and c of a pair: they come as an upper triangle. */
static double sum_of(const float *from, int r, int c) {
    int low = r < c ? r : c, high = r < c ? c : r;
    return (double)from[low * OF_PAIR - low * (low - 1) / 2 + high - low];
}

/* The sums of the model's frame, turned by the pose. */
static void take_sums(const float *from, const geom_pose *pose, needle_sums *out) {
    double turn[36] = {0}, half[36] = {0};
    *out = (needle_sums){.weight = sum_of(from, 7, 7), .square = sum_of(from, 6, 6)};
    for (int part = 0; part < 2; ++part)
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) turn[6 * (3 * part + r) + 3 * part + c] = pose->a[3 * r + c];
    for (int r = 0; r < 6; ++r)
        for (int k = 0; k < 6; ++k) {
            out->g[r] += turn[6 * r + k] * sum_of(from, k, 6);
            for (int c = 0; c < 6; ++c) half[6 * r + c] += turn[6 * r + k] * sum_of(from, k, c);
        }
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c)
            for (int k = 0; k < 6; ++k) out->h[6 * r + c] += half[6 * r + k] * turn[6 * c + k];
}

atn_status needle_equations_of(atn_needle *n, const geom_pose *pose, needle_sums *out) {
    needle_equations *e = &n->equations;
    const void *sums = NULL;
    geom_pose back;
    *out = (needle_sums){0};
    if (!geom_pose_invert(pose, &back)) return ATN_OK;
    atn_status status = atn_check_cancel(n->ctx);
    if (status == ATN_OK && !e->program) status = open_equations(n);
    if (status == ATN_OK) status = bind_points(n);
    if (status == ATN_OK) status = put_pose(n, &back);
    if (status == ATN_OK) status = atn_program_run(e->program);
    if (status == ATN_OK) status = atn_array_map_read(e->sums, &sums);
    if (status == ATN_OK) take_sums(sums, pose, out);
    return status;
}
