/* Lists of near blocks: when they are rebuilt, and how the host computes them: the traversal of near_walk.c on all
 * cores. */
#include "apps/register/engine.h"
#include "apps/register/near_walk.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

static const double LARGER = 1.15; /* lists reach farther than asked for, so that small motions keep them, */
static const double WASTED = 1.5;  /* and are made anew when they reach this much farther than needed */

typedef struct looking {
    reg_near *near;
    const atn_ctx *ctx;
    near_boxes columns;
    near_found found[ATN_PARALLEL_MOST]; /* by worker */
    struct {
        int32_t worker;
        size_t first; /* of what that one found */
    } * piece;        /* of each group of blocks of rows */
    atomic_bool failed;
} looking;

/* Blocks of another rank's have empty lists. */
static bool leave_out(const reg_near *near, size_t first) {
    if (!near->end || (first >= near->first && first < near->end)) return false;
    for (size_t b = first; b < first + NEAR_GROUP && b < near->rows->blocks; ++b) near->start[b] = 0;
    return true;
}

static void look(void *user, int64_t from, int64_t to) {
    int32_t worker = atn_parallel_worker();
    looking *t = user;
    near_found *out = &t->found[worker];
    for (int64_t p = from; p < to; ++p) {
        t->piece[p].worker = worker;
        t->piece[p].first = out->count;
        if (leave_out(t->near, (size_t)p * NEAR_GROUP)) continue;
        if (!near_walk(t->near, &t->columns, (size_t)p, t->ctx, out)) atomic_store(&t->failed, true);
    }
}

static void gather(void *user, int64_t from, int64_t to) {
    const looking *t = user;
    const reg_near *near = t->near;
    for (int64_t p = from; p < to; ++p) {
        size_t first = (size_t)p * NEAR_GROUP, blocks = near->rows->blocks,
               end = first + NEAR_GROUP < blocks ? first + NEAR_GROUP : blocks;
        size_t count = (size_t)(near->start[end] - near->start[first]);
        const int32_t *block = t->found[t->piece[p].worker].block;
        if (count) memcpy(near->list + near->start[first], block + t->piece[p].first, count * sizeof *near->list);
    }
}

/* From how many are near each block to where its list begins. */
static atn_status add_up(reg_near *near, const atn_ctx *ctx) {
    size_t blocks = near->rows->blocks;
    near->count = 0;
    for (size_t b = 0; b < blocks; ++b) {
        size_t here = (size_t)near->start[b];
        near->start[b] = (int32_t)near->count;
        near->count += here;
        if (near->count >= INT32_MAX / 2)
            return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "register: more than %d pairs of blocks are near each other",
                            INT32_MAX / 2);
    }
    near->start[blocks] = (int32_t)near->count;
    size_t capacity = reg_near_room(near->count);
    if (capacity > near->capacity) {
        int32_t *list = atn_resize(ctx, near->list, capacity * sizeof *list);
        if (!list) return ATN_ERR_MEMORY;
        near->list = list;
        near->capacity = capacity;
    }
    return ATN_OK;
}

/* Found, added up, put together. A list has elements. */
static atn_status walk_all(reg_near *near, const atn_ctx *ctx) {
    size_t pieces = (near->rows->blocks + NEAR_GROUP - 1) / NEAR_GROUP;
    looking *t = atn_zalloc(ctx, sizeof *t);
    if (!t) return ATN_ERR_MEMORY;
    t->near = near;
    t->ctx = ctx;
    t->piece = atn_alloc(ctx, pieces * sizeof *t->piece);
    bool room = t->piece && near_boxes_make(ctx, near->columns, &t->columns);
    atn_status status = room ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) atn_parallel_pieces((int64_t)pieces, look, t);
    if (status == ATN_OK && t->failed)
        status = atn_fail_memory(ctx, pieces * NEAR_GROUP * sizeof *near->list, "near blocks");
    if (status == ATN_OK) status = add_up(near, ctx);
    if (status == ATN_OK) atn_parallel((int64_t)pieces, 256, gather, t);
    for (int k = 0; k < ATN_PARALLEL_MOST; ++k) near_found_free(&t->found[k], ctx);
    atn_free(ctx, t->piece);
    near_boxes_free(&t->columns, ctx);
    atn_free(ctx, t);
    near->pairs = (double)near->count * (double)near->rows->block * (double)near->columns->block;
    return status == ATN_OK ? atn_check_cancel(ctx) : status;
}

/* The device's copy; its length changes only when the capacity does, so that kernels stay planned. */
static atn_status upload(reg_near *near) {
    const reg_side *rows = near->rows;
    void *to;
    atn_status status = reg_array_fit(rows->device, ATN_INT32, rows->blocks + 1, &near->start_array);
    if (status == ATN_OK) status = reg_array_fit(rows->device, ATN_INT32, near->capacity, &near->list_array);
    if (status == ATN_OK) status = atn_array_map_write(near->start_array, &to);
    if (status == ATN_OK) memcpy(to, near->start, (rows->blocks + 1) * sizeof *near->start);
    if (status == ATN_OK) status = atn_array_map_write(near->list_array, &to);
    if (status == ATN_OK && near->count) memcpy(to, near->list, near->count * sizeof *near->list);
    return status;
}

static atn_status fill(reg_near *near, const atn_ctx *ctx) {
    int32_t *start = atn_resize(ctx, near->start, (near->rows->blocks + 1) * sizeof *start);
    if (!start) return ATN_ERR_MEMORY;
    near->start = start;
    atn_status status = walk_all(near, ctx);
    return status == ATN_OK ? upload(near) : status;
}

/* Does what is there still hold all pairs within `reach`, without too many others? */
static bool holds(const reg_near *near, const reg_side *rows, const reg_side *columns, const geom_pose *relative,
                  double reach, double slack) {
    if (near->rows != rows || near->columns != columns || !near->start_array) return false;
    if (near->all || isinf(reach)) return near->all && isinf(reach);
    double moved = geom_pose_motion(relative, &near->relative, rows->bounds.low, rows->bounds.high);
    return reach + moved <= near->reach && near->reach <= fmax(WASTED * reach, reach + slack);
}

atn_status reg_near_update(reg_engine *e, reg_near *near, reg_side *rows, reg_side *columns, const geom_pose *row_pose,
                           const geom_pose *column_pose, double reach, double slack) {
    const atn_ctx *ctx = e->ctx;
    geom_pose back, relative;
    if (!geom_pose_invert(column_pose, &back))
        return atn_fail(ctx, ATN_ERR_INPUT, "register: the transform found is singular");
    relative = geom_pose_compose(&back, row_pose);
    reach *= geom_pose_stretch(&back);
    slack *= geom_pose_stretch(&back);
    if (holds(near, rows, columns, &relative, reach, slack)) return ATN_OK;
    near->rows = rows;
    near->columns = columns;
    near->relative = relative;
    near->all = isinf(reach);
    near->summed = false;
    ++near->made;
    near->reach = slack < 0 ? reach : fmax(LARGER * reach, reach + slack);
    atn_status status = e->remote ? reg_near_fill(e, near, rows, columns) : fill(near, ctx);
    if (status != ATN_OK) near->rows = NULL;
    return status;
}
