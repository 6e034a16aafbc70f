/* Lists of near blocks: for each block of rows, a walk down the tree of boxes of the columns. */
#include "apps/register/near.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

static const double LARGER = 1.15; /* lists reach farther than asked for, so that small motions keep them, */
static const double WASTED = 1.5;  /* and are made anew when they reach this much farther than needed */
static const double WIDE = 2;      /* times the usual radius: points of such a block are looked at one by one */

static double distance2(const reg_box *box, const double p[3]) {
    double d2 = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double below = box->low[axis] - p[axis],
               above = p[axis] - box->high[axis]; /* fmax is a call on some machines */
        double d = below > above ? below : above;
        d2 += d > 0 ? d * d : 0;
    }
    return d2;
}

enum { PIECE = 8 }; /* blocks of rows that a thread takes at a time */

/* What a block of rows covers: the ball around it, or its points where they lie far from each other (what belongs to
 * nothing is spread over the whole space, and a ball around such would be near everything). */
typedef struct cover {
    size_t count;
    double at[REG_LARGEST_BLOCK][3];
    double reach; /* from each of these */
} cover;

static bool is_wide(const reg_side *side, size_t block) { return side->radius[block] > WIDE * side->usual_radius; }

static void cover_block(const reg_near *near, size_t b, double stretch, cover *out) {
    const reg_side *rows = near->rows;
    bool points = !near->all && is_wide(rows, b);
    out->count = points ? rows->block : 1;
    out->reach = near->all ? INFINITY : (near->reach + (points ? 0 : rows->radius[b] * stretch)) * (1 + 1e-6);
    for (size_t k = 0; k < out->count; ++k) {
        size_t r = b * rows->block + k;
        double at[3] = {rows->position[0][r], rows->position[1][r], rows->position[2][r]};
        reg_pose_apply(&near->relative, points ? at : rows->centre[b], out->at[k]);
    }
}

/* Those of the first `count` that a box is within reach of come first; returns how many they are. */
static size_t within(cover *c, size_t count, const reg_box *box) {
    size_t kept = 0;
    for (size_t k = 0; k < count; ++k) {
        if (distance2(box, c->at[k]) > c->reach * c->reach) continue;
        double swapped[3];
        memcpy(swapped, c->at[kept], sizeof swapped);
        memcpy(c->at[kept++], c->at[k], sizeof swapped);
        memcpy(c->at[k], swapped, sizeof swapped);
    }
    return kept;
}

/* The same for points of a wide block, whose box says little. */
static bool meets(const cover *c, size_t count, const reg_side *columns, size_t block) {
    for (size_t j = block * columns->block; j < (block + 1) * columns->block; ++j)
        for (size_t k = 0; k < count; ++k) {
            double x = columns->position[0][j] - c->at[k][0], y = columns->position[1][j] - c->at[k][1],
                   z = columns->position[2][j] - c->at[k][2];
            if (x * x + y * y + z * z <= c->reach * c->reach) return true;
        }
    return false;
}

/* All blocks of columns within reach of what is covered, in ascending order, to `list` where it is not NULL; returns
 * how many there are. Reorders the cover: below a node only those count that reach it. */
static size_t walk(const reg_side *columns, cover *c, const int32_t *species, int32_t *list) {
    struct {
        size_t node, count;
    } stack[64];
    size_t depth = 0, count = 0;
    stack[depth].node = 1;
    stack[depth++].count = c->count;
    while (depth) {
        size_t node = stack[--depth].node, reaching = within(c, stack[depth].count, &columns->tree.node[node]);
        if (!reaching) continue;
        if (node < columns->tree.leaves) {
            for (int k = 1; k >= 0; --k) {
                stack[depth].node = 2 * node + (size_t)k;
                stack[depth++].count = reaching;
            }
            continue;
        }
        size_t block = node - columns->tree.leaves;
        if (block >= columns->blocks || (species && columns->species && columns->species[block] != *species)) continue;
        if (is_wide(columns, block) && !meets(c, reaching, columns, block)) continue;
        if (list) list[count] = (int32_t)block;
        ++count;
    }
    return count;
}

/* Of each block of rows: how many are near it, to `start`; or, once there is a list, which. */
static void look(void *user, int64_t from, int64_t to, int32_t worker) {
    reg_near *near = user;
    const reg_side *rows = near->rows;
    double stretch = reg_pose_stretch(&near->relative);
    cover c;
    (void)worker;
    for (size_t b = (size_t)from * PIECE; b < (size_t)to * PIECE && b < rows->blocks; ++b) {
        cover_block(near, b, stretch, &c);
        size_t count = walk(near->columns, &c, rows->species ? &rows->species[b] : NULL,
                            near->counted ? near->list + near->start[b] : NULL);
        if (!near->counted) near->start[b] = (int32_t)count;
    }
}

/* Counted, added up, filled. A list has elements. */
static atn_status fill(reg_near *near, const atn_ctx *ctx) {
    const reg_side *rows = near->rows;
    near->count = 0;
    near->counted = false;
    atn_parallel_pieces((int64_t)((rows->blocks + PIECE - 1) / PIECE), look, near);
    for (size_t b = 0; b < rows->blocks; ++b) {
        size_t here = (size_t)near->start[b];
        near->start[b] = (int32_t)near->count;
        near->count += here;
        if (near->count >= INT32_MAX / 2)
            return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "register: more than %d pairs of blocks are near each other",
                            INT32_MAX / 2);
    }
    near->start[rows->blocks] = (int32_t)near->count;
    size_t capacity = near->capacity ? near->capacity : 4096;
    while (capacity < near->count) capacity *= 2;
    if (capacity > near->capacity) {
        int32_t *list = atn_resize(ctx, near->list, capacity * sizeof *list);
        if (!list) return ATN_ERR_MEMORY;
        near->list = list;
        near->capacity = capacity;
    }
    near->counted = true;
    atn_parallel_pieces((int64_t)((rows->blocks + PIECE - 1) / PIECE), look, near);
    near->pairs = (double)near->count * (double)rows->block * (double)near->columns->block;
    return atn_check_cancel(ctx);
}

/* The device's copy; its length changes only when the capacity does, so that kernels stay planned. */
static atn_status upload(reg_near *near) {
    const reg_side *rows = near->rows;
    atn_status status = ATN_OK;
    int64_t starts = (int64_t)rows->blocks + 1;
    void *to;
    if (!near->start_array || atn_array_get_info(near->start_array).size[0] != starts) {
        atn_array_free(near->start_array);
        status = atn_array_create_vector(rows->device, ATN_INT32, starts, &near->start_array);
    }
    if (status == ATN_OK &&
        (!near->list_array || atn_array_get_info(near->list_array).size[0] != (int64_t)near->capacity)) {
        atn_array_free(near->list_array);
        status = atn_array_create_vector(rows->device, ATN_INT32, (int64_t)near->capacity, &near->list_array);
    }
    if (status == ATN_OK) status = atn_array_map_write(near->start_array, &to);
    if (status == ATN_OK) memcpy(to, near->start, (size_t)starts * sizeof *near->start);
    if (status == ATN_OK) status = atn_array_map_write(near->list_array, &to);
    if (status == ATN_OK && near->count) memcpy(to, near->list, near->count * sizeof *near->list);
    return status;
}

/* Does what is there still hold all pairs within `reach`, without too many others? */
static bool holds(const reg_near *near, const reg_side *rows, const reg_side *columns, const reg_pose *relative,
                  double reach) {
    if (near->rows != rows || near->columns != columns || !near->start_array) return false;
    if (near->all || isinf(reach)) return near->all && isinf(reach);
    double moved = reg_pose_motion(relative, &near->relative, rows->bounds.low, rows->bounds.high);
    return reach + moved <= near->reach && near->reach <= WASTED * reach;
}

atn_status reg_near_update(reg_near *near, const reg_side *rows, const reg_side *columns, const reg_pose *row_pose,
                           const reg_pose *column_pose, double reach) {
    const atn_ctx *ctx = atn_device_ctx(rows->device);
    reg_pose back, relative;
    if (!reg_pose_invert(column_pose, &back))
        return atn_fail(ctx, ATN_ERR_INPUT, "register: the map found for the points has no inverse");
    relative = reg_pose_compose(&back, row_pose);
    reach *= reg_pose_stretch(&back);
    if (holds(near, rows, columns, &relative, reach)) return ATN_OK;
    if (near->rows != rows) {
        int32_t *start = atn_resize(ctx, near->start, (rows->blocks + 1) * sizeof *start);
        if (!start) return ATN_ERR_MEMORY;
        near->start = start;
    }
    near->rows = rows;
    near->columns = columns;
    near->relative = relative;
    near->all = isinf(reach);
    near->reach = LARGER * reach;
    atn_status status = fill(near, ctx);
    if (status == ATN_OK) status = upload(near);
    if (status != ATN_OK) near->rows = NULL;
    return status;
}

void reg_near_free(reg_near *near, const atn_ctx *ctx) {
    atn_array_free(near->start_array);
    atn_array_free(near->list_array);
    atn_free(ctx, near->start);
    atn_free(ctx, near->list);
    *near = (reg_near){0};
}
