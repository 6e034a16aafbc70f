/* Lists of near blocks: when they are made anew, and how the host makes them: for each block of rows, a walk down the
 * tree of boxes of the columns. */
#include "apps/register/engine.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

static const double LARGER = 1.15; /* lists reach farther than asked for, so that small motions keep them, */
static const double WASTED = 1.5;  /* and are made anew when they reach this much farther than needed */

enum { PIECE = 8 }; /* blocks of rows that a thread takes at a time */

/* What a block of rows covers: the ball around it, or its points where they lie far from each other (what belongs to
 * nothing is spread over the whole space, and a ball around such would be near everything). */
typedef struct cover {
    size_t count;
    double at[3][REG_LARGEST_BLOCK];
    double reach; /* from each of these */
} cover;

static bool is_wide(const reg_side *side, size_t block) { return side->radius[block] > REG_WIDE * side->usual_radius; }

static void cover_block(const reg_near *near, size_t b, double stretch, cover *out) {
    const reg_side *rows = near->rows;
    bool points = !near->all && is_wide(rows, b);
    out->count = points ? rows->block : 1;
    out->reach = near->all ? INFINITY : (near->reach + (points ? 0 : rows->radius[b] * stretch)) * (1 + 1e-6);
    for (size_t k = 0; k < out->count; ++k) {
        size_t r = b * rows->block + k;
        double at[3] = {rows->position[0][r], rows->position[1][r], rows->position[2][r]}, to[3];
        reg_pose_apply(&near->relative, points ? at : rows->centre[b], to);
        for (int axis = 0; axis < 3; ++axis) out->at[axis][k] = to[axis];
    }
}

/* Squares of the distances from a box to the first `count`. */
static void distances(const cover *c, size_t count, const reg_box *box, double *out) {
    for (size_t k = 0; k < count; ++k) out[k] = reg_box_gap2(box, c->at[0][k], c->at[1][k], c->at[2][k]);
}

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* Those of the first `count` that a box is within reach of come first; returns how many they are. */
static size_t within(cover *c, size_t count, const reg_box *box) {
    double d2[REG_LARGEST_BLOCK];
    size_t kept = 0;
    distances(c, count, box, d2);
    for (size_t k = 0; k < count; ++k) {
        if (d2[k] > c->reach * c->reach) continue;
        for (int axis = 0; axis < 3 && kept < k; ++axis) swap(&c->at[axis][kept], &c->at[axis][k]);
        ++kept;
    }
    return kept;
}

/* The same for points of a wide block, whose box says little. */
static bool meets(const cover *c, size_t count, const reg_side *columns, size_t block) {
    for (size_t j = block * columns->block; j < (block + 1) * columns->block; ++j)
        for (size_t k = 0; k < count; ++k) {
            double x = columns->position[0][j] - c->at[0][k], y = columns->position[1][j] - c->at[1][k],
                   z = columns->position[2][j] - c->at[2][k];
            if (x * x + y * y + z * z <= c->reach * c->reach) return true;
        }
    return false;
}

/* What a thread found, one piece after the other. */
typedef struct found {
    int32_t *block;
    size_t count, capacity;
} found;

static bool note(const atn_ctx *ctx, found *f, size_t block) {
    if (f->count == f->capacity) {
        size_t capacity = f->capacity ? 2 * f->capacity : 4096;
        int32_t *larger = atn_resize(ctx, f->block, capacity * sizeof *larger);
        if (!larger) return false;
        f->block = larger;
        f->capacity = capacity;
    }
    f->block[f->count++] = (int32_t)block;
    return true;
}

/* All blocks of columns within reach of what is covered, in ascending order. Reorders the cover: below a node only
 * those count that reach it. */
static bool walk(const atn_ctx *ctx, const reg_side *columns, cover *c, const int32_t *species, found *out) {
    struct {
        size_t node, count;
    } stack[64];
    size_t depth = 0;
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
        if (!note(ctx, out, block)) return false;
    }
    return true;
}

typedef struct looking {
    reg_near *near;
    const atn_ctx *ctx;
    found found[ATN_PARALLEL_MOST]; /* by worker */
    struct {
        int32_t worker;
        size_t first; /* of what that one found */
    } * piece;
    atomic_bool failed;
} looking;

/* Of each block of rows: which are near it, and how many, to `start`. */
static void look(void *user, int64_t from, int64_t to, int32_t worker) {
    looking *t = user;
    const reg_near *near = t->near;
    const reg_side *rows = near->rows;
    found *out = &t->found[worker];
    double stretch = reg_pose_stretch(&near->relative);
    cover c;
    for (int64_t p = from; p < to; ++p) {
        t->piece[p].worker = worker;
        t->piece[p].first = out->count;
        for (size_t b = (size_t)p * PIECE; b < (size_t)(p + 1) * PIECE && b < rows->blocks; ++b) {
            size_t before = out->count;
            cover_block(near, b, stretch, &c);
            if (!walk(t->ctx, near->columns, &c, rows->species ? &rows->species[b] : NULL, out))
                atomic_store(&t->failed, true);
            near->start[b] = (int32_t)(out->count - before);
        }
    }
}

static void gather(void *user, int64_t from, int64_t to, int32_t worker) {
    const looking *t = user;
    const reg_near *near = t->near;
    (void)worker;
    for (int64_t p = from; p < to; ++p) {
        size_t first = (size_t)p * PIECE, end = first + PIECE < near->rows->blocks ? first + PIECE : near->rows->blocks;
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
    size_t capacity = near->capacity ? near->capacity : 4096;
    while (capacity < near->count) capacity *= 2;
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
    size_t pieces = (near->rows->blocks + PIECE - 1) / PIECE;
    looking *t = atn_zalloc(ctx, sizeof *t);
    if (!t) return ATN_ERR_MEMORY;
    t->near = near;
    t->ctx = ctx;
    atn_status status = (t->piece = atn_alloc(ctx, pieces * sizeof *t->piece)) ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) atn_parallel_pieces((int64_t)pieces, look, t);
    if (status == ATN_OK && t->failed)
        status = atn_fail_memory(ctx, pieces * PIECE * sizeof *near->list, "near blocks");
    if (status == ATN_OK) status = add_up(near, ctx);
    if (status == ATN_OK) atn_parallel((int64_t)pieces, 256, gather, t);
    for (int k = 0; k < ATN_PARALLEL_MOST; ++k) atn_free(ctx, t->found[k].block);
    atn_free(ctx, t->piece);
    atn_free(ctx, t);
    near->pairs = (double)near->count * (double)near->rows->block * (double)near->columns->block;
    return status == ATN_OK ? atn_check_cancel(ctx) : status;
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

static atn_status fill_here(reg_near *near, const atn_ctx *ctx) {
    int32_t *start = atn_resize(ctx, near->start, (near->rows->blocks + 1) * sizeof *start);
    if (!start) return ATN_ERR_MEMORY;
    near->start = start;
    atn_status status = walk_all(near, ctx);
    return status == ATN_OK ? upload(near) : status;
}

/* Does what is there still hold all pairs within `reach`, without too many others? */
static bool holds(const reg_near *near, const reg_side *rows, const reg_side *columns, const reg_pose *relative,
                  double reach, double slack) {
    if (near->rows != rows || near->columns != columns || !near->start_array) return false;
    if (near->all || isinf(reach)) return near->all && isinf(reach);
    double moved = reg_pose_motion(relative, &near->relative, rows->bounds.low, rows->bounds.high);
    return reach + moved <= near->reach && near->reach <= fmax(WASTED * reach, reach + slack);
}

atn_status reg_near_update(reg_engine *e, reg_near *near, reg_side *rows, reg_side *columns, const reg_pose *row_pose,
                           const reg_pose *column_pose, double reach, double slack) {
    const atn_ctx *ctx = e->ctx;
    reg_pose back, relative;
    if (!reg_pose_invert(column_pose, &back))
        return atn_fail(ctx, ATN_ERR_INPUT, "register: the map found for the points has no inverse");
    relative = reg_pose_compose(&back, row_pose);
    reach *= reg_pose_stretch(&back);
    slack *= reg_pose_stretch(&back);
    if (holds(near, rows, columns, &relative, reach, slack)) return ATN_OK;
    near->rows = rows;
    near->columns = columns;
    near->relative = relative;
    near->all = isinf(reach);
    near->reach = fmax(LARGER * reach, reach + slack);
    atn_status status = e->remote ? reg_near_fill(e, near, rows, columns) : fill_here(near, ctx);
    if (status != ATN_OK) near->rows = NULL;
    return status;
}

void reg_near_free(reg_near *near, const atn_ctx *ctx) {
    atn_array_free(near->start_array);
    atn_array_free(near->list_array);
    atn_free(ctx, near->start);
    atn_free(ctx, near->list);
    reg_near_work_free(&near->work);
    *near = (reg_near){0};
}
