/* Lists of near blocks where points are on another device: its kernels make them (programs/near_*.atn), and the host
 * asks how long they are. In two stages: of the columns' groups of 32 blocks those near each block of rows, then of the
 * blocks in them. Wide blocks, whose points lie far from each other, are in no group and are looked at one by one,
 * point by point. */
#include "apps/register/engine.h"

#include "base/memory.h"

#include <math.h>

enum { GROUP = 32, LANES = 32 };    /* blocks of a group, and in how many parts the work for a block of rows is done */
static const double ROUNDED = 1e-5; /* added to the reach, as a share of it, for what rounding takes */

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- of a side, once ---- */

static atn_status put_species(reg_side *s) {
    static const int32_t NONE[1] = {0};
    int64_t count = s->species ? (int64_t)s->blocks : 1;
    atn_status status = atn_array_create_vector(s->device, ATN_INT32, count, &s->cover[REG_COVER_SPECIES]);
    return status == ATN_OK ? atn_array_put(s->cover[REG_COVER_SPECIES], s->species ? s->species : NONE, 0) : status;
}

static atn_status allocate_cover(reg_side *s) {
    atn_array **c = s->cover;
    atn_type type = reg_sum_type(s->type);
    int64_t blocks = (int64_t)s->blocks, groups = (blocks + GROUP - 1) / GROUP;
    atn_status status = ATN_OK;
    for (int k = 0; k < 3 && status == ATN_OK; ++k)
        status = atn_array_view_matrix(s->exact[k], (int64_t)s->block, blocks, &c[REG_COVER_POINT + k]);
    if (status == ATN_OK) status = atn_array_create_matrix(s->device, type, blocks, 10, 0, &c[REG_COVER_BOX]);
    if (status == ATN_OK) status = atn_array_create_matrix(s->device, type, groups, 6, 0, &c[REG_COVER_GROUP]);
    if (status == ATN_OK) status = atn_array_create_vector(s->device, ATN_INT32, blocks, &c[REG_COVER_WIDE]);
    if (status == ATN_OK) status = atn_array_create_vector(s->device, ATN_INT32, 1, &c[REG_COVER_WIDES]);
    return status == ATN_OK ? put_species(s) : status;
}

/* Boxes of blocks and groups, and which blocks are wide. */
static atn_status cover(reg_engine *e, reg_side *s) {
    atn_array **c = s->cover;
    atn_kernel *kernel;
    if (c[REG_COVER_SPECIES]) return ATN_OK;
    reg_binding boxes[] = {{"px", NULL}, {"py", NULL}, {"pz", NULL}, {"box", NULL}};
    atn_status status = allocate_cover(s);
    if (status == ATN_OK) status = reg_engine_kernel(e, REG_NEAR_BOXES, &kernel);
    for (int k = 0; k < 4; ++k) boxes[k].array = c[REG_COVER_POINT + k];
    if (status == ATN_OK) status = reg_engine_run(e, REG_NEAR_BOXES, boxes, COUNT(boxes));
    reg_binding groups[] = {{"box", c[REG_COVER_BOX]}, {"group", c[REG_COVER_GROUP]}};
    reg_binding wides[] = {{"box", c[REG_COVER_BOX]}, {"list", c[REG_COVER_WIDE]}, {"count", c[REG_COVER_WIDES]}};
    if (status == ATN_OK) status = reg_engine_kernel(e, REG_NEAR_GROUPS, &kernel);
    if (status == ATN_OK) status = atn_kernel_param(kernel, "wide", REG_WIDE * s->usual_radius, 0);
    if (status == ATN_OK) status = reg_engine_run(e, REG_NEAR_GROUPS, groups, COUNT(groups));
    if (status == ATN_OK) status = reg_engine_kernel(e, REG_NEAR_WIDE, &kernel);
    if (status == ATN_OK) status = atn_kernel_param(kernel, "wide", REG_WIDE * s->usual_radius, 0);
    if (status == ATN_OK) status = reg_engine_run(e, REG_NEAR_WIDE, wides, COUNT(wides));
    if (status != ATN_OK) reg_side_park(s);
    return status;
}

/* ---- arrays of a list ---- */

/* Elements of a vector that are not there, or not so many. */
static atn_status resize(atn_device *device, atn_type type, size_t count, atn_array **array) {
    if (*array && atn_array_get_info(*array).size[0] == (int64_t)count) return ATN_OK;
    atn_array_free(*array);
    return atn_array_create_vector(device, type, (int64_t)count, array);
}

static size_t room(size_t count) {
    size_t capacity = 4096;
    while (capacity < count) capacity *= 2;
    return capacity;
}

static atn_status allocate(reg_near *near) {
    reg_near_work *w = &near->work;
    atn_device *device = near->rows->device;
    size_t blocks = near->rows->blocks;
    atn_array **const vector[4] = {&w->coarse_count, &w->coarse_first, &w->count, &w->first};
    atn_array **const matrix[4] = {&w->coarse_counts, &w->coarse_firsts, &w->counts, &w->firsts};
    atn_status status = resize(device, ATN_INT32, blocks + 1, &near->start_array);
    for (int k = 0; k < 4 && status == ATN_OK; ++k) {
        if (*vector[k] && atn_array_get_info(*vector[k]).size[0] == (int64_t)(blocks * LANES)) continue;
        atn_array_free(*matrix[k]);
        *matrix[k] = NULL;
        status = resize(device, ATN_INT32, blocks * LANES, vector[k]);
        if (status == ATN_OK) status = atn_array_view_matrix(*vector[k], LANES, (int64_t)blocks, matrix[k]);
    }
    if (status == ATN_OK) status = resize(device, ATN_DP, 2, &w->total);
    w->nodes = w->nodes > blocks ? w->nodes : room(8 * blocks);
    near->capacity = near->capacity > blocks ? near->capacity : room(16 * blocks);
    if (status == ATN_OK) status = resize(device, ATN_INT32, w->nodes, &w->node);
    return status == ATN_OK ? resize(device, ATN_INT32, near->capacity, &near->list_array) : status;
}

/* ---- the stages ---- */

/* What all kernels of the stages ask for. */
static atn_status give_place(reg_engine *e, const reg_near *near, reg_kernel which) {
    atn_kernel *kernel;
    atn_status status = reg_engine_kernel(e, which, &kernel);
    if (status == ATN_OK) status = reg_engine_pose(kernel, &near->relative);
    if (status == ATN_OK)
        status = atn_kernel_param(kernel, "reach", near->all ? INFINITY : near->reach * (1 + ROUNDED), 0);
    if (status == ATN_OK) status = atn_kernel_param(kernel, "stretch", reg_pose_stretch(&near->relative), 0);
    if (status == ATN_OK) status = atn_kernel_param(kernel, "wide", REG_WIDE * near->rows->usual_radius, 0);
    return status;
}

static atn_status find_groups(reg_engine *e, reg_near *near) {
    const reg_near_work *w = &near->work;
    atn_array *const *row = near->rows->cover, *const *column = near->columns->cover;
    reg_binding bound[] = {{"px", row[REG_COVER_POINT]},       {"py", row[REG_COVER_POINT + 1]},
                           {"pz", row[REG_COVER_POINT + 2]},   {"row", row[REG_COVER_BOX]},
                           {"group", column[REG_COVER_GROUP]}, {"column", column[REG_COVER_BOX]},
                           {"list", column[REG_COVER_WIDE]},   {"wides", column[REG_COVER_WIDES]},
                           {"count", w->coarse_counts},        {"node", w->node}};
    reg_binding start[] = {{"count", w->coarse_count}, {"first", w->coarse_first}};
    atn_kernel *kernel;
    atn_status status = give_place(e, near, REG_NEAR_COARSE_COUNT);
    if (status == ATN_OK) status = reg_engine_run(e, REG_NEAR_COARSE_COUNT, bound, COUNT(bound) - 1);
    if (status == ATN_OK) status = reg_engine_kernel(e, REG_NEAR_START, &kernel);
    if (status == ATN_OK) status = reg_engine_run(e, REG_NEAR_START, start, COUNT(start));
    if (status == ATN_OK) status = give_place(e, near, REG_NEAR_COARSE_FILL);
    bound[COUNT(bound) - 2] = (reg_binding){"first", w->coarse_firsts};
    return status == ATN_OK ? reg_engine_run(e, REG_NEAR_COARSE_FILL, bound, COUNT(bound)) : status;
}

static atn_status run_fine(reg_engine *e, reg_near *near, reg_kernel which, const reg_binding *bound, size_t count) {
    atn_kernel *kernel;
    bool gated = near->rows->species && near->columns->species;
    atn_status status = give_place(e, near, which);
    if (status == ATN_OK) status = reg_engine_kernel(e, which, &kernel);
    if (status == ATN_OK) status = atn_kernel_param(kernel, "wide_column", REG_WIDE * near->columns->usual_radius, 0);
    if (status == ATN_OK) status = atn_kernel_param(kernel, "gated", gated, 0);
    return status == ATN_OK ? reg_engine_run(e, which, bound, count) : status;
}

static atn_status find_blocks(reg_engine *e, reg_near *near) {
    const reg_near_work *w = &near->work;
    atn_array *const *row = near->rows->cover, *const *column = near->columns->cover;
    reg_binding bound[] = {{"px", row[REG_COVER_POINT]},
                           {"py", row[REG_COVER_POINT + 1]},
                           {"pz", row[REG_COVER_POINT + 2]},
                           {"xx", column[REG_COVER_POINT]},
                           {"xy", column[REG_COVER_POINT + 1]},
                           {"xz", column[REG_COVER_POINT + 2]},
                           {"row", row[REG_COVER_BOX]},
                           {"group", column[REG_COVER_GROUP]},
                           {"column", column[REG_COVER_BOX]},
                           {"list", column[REG_COVER_WIDE]},
                           {"node", w->node},
                           {"coarse_first", w->coarse_firsts},
                           {"coarse_count", w->coarse_counts},
                           {"row_species", row[REG_COVER_SPECIES]},
                           {"column_species", column[REG_COVER_SPECIES]},
                           {"count", w->counts},
                           {"near", near->list_array}};
    reg_binding start[] = {{"count", w->count}, {"first", w->first}};
    reg_binding begin[] = {{"first", w->firsts}, {"count", w->counts}, {"start", near->start_array}};
    reg_binding total[] = {{"coarse", w->coarse_counts}, {"count", w->counts}, {"total", w->total}};
    atn_kernel *kernel;
    atn_status status = run_fine(e, near, REG_NEAR_COUNT, bound, COUNT(bound) - 1);
    if (status == ATN_OK) status = reg_engine_run(e, REG_NEAR_START, start, COUNT(start));
    if (status == ATN_OK) status = reg_engine_kernel(e, REG_NEAR_TOTAL, &kernel);
    if (status == ATN_OK) status = reg_engine_run(e, REG_NEAR_TOTAL, total, COUNT(total));
    bound[COUNT(bound) - 2] = (reg_binding){"first", w->firsts};
    if (status == ATN_OK) status = run_fine(e, near, REG_NEAR_FILL, bound, COUNT(bound));
    if (status == ATN_OK) status = reg_engine_kernel(e, REG_NEAR_BEGIN, &kernel);
    return status == ATN_OK ? reg_engine_run(e, REG_NEAR_BEGIN, begin, COUNT(begin)) : status;
}

/* Asks how long lists are; again: one was longer than there is room, and there is more now. */
static atn_status ask(reg_near *near, const atn_ctx *ctx, bool *again) {
    double total[2];
    atn_status status = reg_array_get(near->work.total, 2, total);
    if (status != ATN_OK) return status;
    *again = total[0] > (double)near->work.nodes || total[1] > (double)near->capacity;
    for (int k = 0; k < 2; ++k)
        if (total[k] >= INT32_MAX / 2)
            return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "register: more than %d pairs of blocks are near each other",
                            INT32_MAX / 2);
    near->count = (size_t)total[1];
    near->work.nodes = total[0] > (double)near->work.nodes ? room((size_t)total[0]) : near->work.nodes;
    near->capacity = total[1] > (double)near->capacity ? room((size_t)total[1]) : near->capacity;
    return ATN_OK;
}

atn_status reg_near_fill(reg_engine *e, reg_near *near, reg_side *rows, reg_side *columns) {
    bool again = true;
    atn_status status = cover(e, rows);
    if (status == ATN_OK) status = cover(e, columns);
    while (again && status == ATN_OK) {
        status = allocate(near);
        if (status == ATN_OK) status = find_groups(e, near);
        if (status == ATN_OK) status = find_blocks(e, near);
        if (status == ATN_OK) status = ask(near, e->ctx, &again);
    }
    near->pairs = (double)near->count * (double)rows->block * (double)columns->block;
    return status;
}

void reg_near_work_free(reg_near_work *w) {
    atn_array **const all[] = {&w->coarse_counts, &w->coarse_firsts, &w->counts, &w->firsts, &w->coarse_count,
                               &w->coarse_first,  &w->count,         &w->first,  &w->node,   &w->total};
    for (size_t k = 0; k < COUNT(all); ++k) atn_array_free(*all[k]);
    *w = (reg_near_work){0};
}
