/* Near blocks: for a group of blocks of rows a walk down the tree of boxes of the columns to groups of blocks that may
 * be near, then these blocks for each block of rows. A block of rows is the ball around it, or several around runs of
 * its points where these lie far from each other (what belongs to nothing is spread over the whole space, and a ball
 * around such would be near everything). */
#include "apps/register/near_walk.h"

#include "base/compare.h"
#include "base/lanes.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>

static const double ROUNDING = 1 + 1e-6; /* of reaches */

/* A walk and what all blocks share. */
typedef struct walk {
    const reg_near *near;
    const near_boxes *columns;
    const atn_ctx *ctx;
    near_found *out;
    size_t shared;                  /* groups of columns that are near this group of rows: the first of the list */
    double stretch;                 /* of the pose between rows and columns */
    double wide_rows, wide_columns; /* radii beyond which blocks are wide */
} walk;

static double higher(double a, double b) { return b > a ? b : a; } /* fmax is a call on some machines */

static bool is_wide_row(const walk *t, size_t b) { return t->near->rows->radius[b] > t->wide_rows; }
static bool is_wide_column(const walk *t, size_t b) { return t->near->columns->radius[b] > t->wide_columns; }

/* ---- what is found ---- */

void near_found_free(near_found *f, const atn_ctx *ctx) {
    atn_free(ctx, f->block);
    atn_free(ctx, f->group);
    *f = (near_found){0};
}

static bool make_room(const atn_ctx *ctx, int32_t **list, size_t *capacity, size_t wanted) {
    size_t larger = *capacity ? *capacity : 1024;
    if (wanted <= *capacity) return true;
    while (larger < wanted) larger *= 2;
    int32_t *room = atn_resize(ctx, *list, larger * sizeof *room);
    if (!room) return false;
    *list = room;
    *capacity = larger;
    return true;
}

/* ---- groups ---- */

/* The middle of a box and how far it reaches from there: rounded, what lies in the box is still within. */
static void put_box(const reg_box *box, bool any, near_group *to, size_t k) {
    for (int axis = 0; axis < 3; ++axis) {
        double at = any ? (box->low[axis] + box->high[axis]) / 2 : 0;
        to->at[axis][k] = at;
        to->half[axis][k] = any ? higher(box->high[axis] - at, at - box->low[axis]) : -INFINITY;
    }
}

typedef struct grouping {
    const reg_box *box; /* of this level */
    size_t boxes;
    near_group *to;
} grouping;

static void group_some(void *user, int64_t from, int64_t to) {
    const grouping *t = user;
    for (size_t g = (size_t)from; g < (size_t)to; ++g)
        for (size_t k = 0; k < NEAR_GROUP; ++k)
            put_box(&t->box[g * NEAR_GROUP + k], g * NEAR_GROUP + k < t->boxes, &t->to[g], k);
}

static size_t groups_of(size_t boxes) { return (boxes + NEAR_GROUP - 1) / NEAR_GROUP; }

/* The tree has two children where groups have eight: every third of its levels. */
bool near_boxes_make(const atn_ctx *ctx, const reg_side *side, near_boxes *out) {
    size_t all = 0, boxes = side->blocks, first = side->tree.leaves;
    *out = (near_boxes){.levels = 2};
    for (size_t n = boxes; n > 1; n = groups_of(n)) all += groups_of(n);
    out->level[0] = atn_alloc(ctx, (all + 2) * sizeof *out->level[0]);
    if (!out->level[0]) return false;
    for (int32_t k = 0; k < NEAR_LEVELS; ++k) {
        grouping t = {side->tree.node + first, boxes, out->level[k]};
        atn_parallel((int64_t)groups_of(boxes), 512, group_some, &t);
        out->levels = k + 1;
        if (k > 0 && groups_of(boxes) == 1) break;
        out->level[k + 1] = out->level[k] + groups_of(boxes);
        boxes = groups_of(boxes);
        first = first > NEAR_GROUP ? first / NEAR_GROUP : 1;
    }
    return true;
}

void near_boxes_free(near_boxes *b, const atn_ctx *ctx) {
    atn_free(ctx, b->level[0]);
    *b = (near_boxes){0};
}

/* Which boxes of a group another one meets: 1 or 0. */
ATN_IN_LANES static void meet_group(const near_group *g, const near_group *box, int32_t *met) {
    const double x = box->at[0][0], y = box->at[1][0], z = box->at[2][0];
    const double u = box->half[0][0], v = box->half[1][0], w = box->half[2][0];
    double out[NEAR_GROUP];
    ATN_LANES()
    for (int k = 0; k < NEAR_GROUP; ++k) {
        double a = fabs(g->at[0][k] - x) - (g->half[0][k] + u), b = fabs(g->at[1][k] - y) - (g->half[1][k] + v);
        double c = fabs(g->at[2][k] - z) - (g->half[2][k] + w);
        a = a > b ? a : b;
        out[k] = a > c ? a : c;
    }
    for (int k = 0; k < NEAR_GROUP; ++k) met[k] = out[k] <= 0;
}

/* Groups of columns that a box meets, in ascending order, from place `from` of the list on. */
static bool find_groups(const walk *t, const reg_box *box, size_t from) {
    struct {
        int32_t level, node;
    } stack[NEAR_GROUP * NEAR_LEVELS];
    size_t depth = 0;
    near_found *out = t->out;
    near_group around;
    put_box(box, box->low[0] <= box->high[0], &around, 0);
    out->groups = from;
    stack[depth].level = t->columns->levels - 1;
    stack[depth++].node = 0;
    while (depth) {
        int32_t level = stack[--depth].level, node = stack[depth].node, met[NEAR_GROUP];
        meet_group(&t->columns->level[level][node], &around, met);
        if (!make_room(t->ctx, &out->group, &out->group_capacity, out->groups + NEAR_GROUP)) return false;
        for (int32_t k = 0; k < NEAR_GROUP && level == 1; ++k) {
            out->group[out->groups] = NEAR_GROUP * node + k;
            out->groups += (size_t)met[k];
        }
        for (int32_t k = NEAR_GROUP; k-- > 0 && level > 1;) { /* the first one is looked at next */
            stack[depth].level = level - 1;
            stack[depth].node = NEAR_GROUP * node + k;
            depth += (size_t)met[k];
        }
    }
    return true;
}

/* The blocks of some groups within `reach` of a place; `out` has room for all of them and one. How many they are. */
ATN_IN_LANES static size_t pick(const near_boxes *columns, const int32_t *group, size_t groups, const double at[3],
                                double reach, int32_t *out) {
    const double x = at[0], y = at[1], z = at[2], reach2 = reach * reach;
    size_t count = 0;
    for (size_t n = 0; n < groups; ++n) {
        const near_group *all = &columns->level[1][group[n] / NEAR_GROUP], *g = &columns->level[0][group[n]];
        int32_t own = group[n] % NEAR_GROUP;
        double gap2[NEAR_GROUP], p = fabs(all->at[0][own] - x) - all->half[0][own],
                                 q = fabs(all->at[1][own] - y) - all->half[1][own],
                                 r = fabs(all->at[2][own] - z) - all->half[2][own];
        if (p > reach || q > reach || r > reach) continue;
        ATN_LANES()
        for (int k = 0; k < NEAR_GROUP; ++k) {
            double u = fabs(g->at[0][k] - x) - g->half[0][k], v = fabs(g->at[1][k] - y) - g->half[1][k];
            double w = fabs(g->at[2][k] - z) - g->half[2][k];
            u = u > 0 ? u : 0, v = v > 0 ? v : 0, w = w > 0 ? w : 0;
            gap2[k] = u * u + v * v + w * w;
        }
        for (int k = 0; k < NEAR_GROUP; ++k) {
            out[count] = group[n] * NEAR_GROUP + k;
            count += gap2[k] <= reach2;
        }
    }
    return count;
}

/* ---- balls ---- */

/* Around rows, where they are among the columns. */
typedef struct ball {
    double at[3];
    double reach; /* with that of the list */
} ball;

/* Is a point of a block of columns in the ball? The box of a wide block says little. */
static bool meets(const ball *c, const reg_side *columns, size_t block) {
    for (size_t j = block * columns->block; j < (block + 1) * columns->block; ++j) {
        double x = columns->position[0][j] - c->at[0], y = columns->position[1][j] - c->at[1],
               z = columns->position[2][j] - c->at[2];
        if (x * x + y * y + z * z <= c->reach * c->reach) return true;
    }
    return false;
}

/* The blocks near a ball among some groups that were found. */
static bool take_ball(const walk *t, const ball *c, size_t from, size_t groups) {
    near_found *out = t->out;
    if (!make_room(t->ctx, &out->block, &out->capacity, out->count + NEAR_GROUP * groups + 1)) return false;
    size_t found = pick(t->columns, out->group + from, groups, c->at, c->reach, out->block + out->count);
    for (size_t k = 0, first = out->count; k < found; ++k) {
        int32_t block = out->block[first + k];
        bool missed = is_wide_column(t, (size_t)block) && !meets(c, t->near->columns, (size_t)block);
        out->block[out->count] = block;
        out->count += !missed;
    }
    return true;
}

static reg_box box_around(const ball *c) {
    reg_box box;
    for (int axis = 0; axis < 3; ++axis) {
        box.low[axis] = c->at[axis] - c->reach;
        box.high[axis] = c->at[axis] + c->reach;
    }
    return box;
}

static const reg_box EMPTY = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void widen(reg_box *box, const double low[3], const double high[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        box->low[axis] = low[axis] < box->low[axis] ? low[axis] : box->low[axis];
        box->high[axis] = higher(box->high[axis], high[axis]);
    }
}

/* ---- wide blocks of rows ---- */

static double half_diagonal(const reg_box *box) {
    double d2 = 0;
    for (int axis = 0; axis < 3; ++axis) d2 += (box->high[axis] - box->low[axis]) * (box->high[axis] - box->low[axis]);
    return sqrt(d2) / 2;
}

/* From row r on, as many before `end` as a ball that is not wide has room for; returns the first one behind them. */
static size_t next_run(const walk *t, size_t r, size_t end, ball *out) {
    const reg_side *rows = t->near->rows;
    reg_box box = EMPTY;
    for (; r < end; ++r) {
        double at[3] = {rows->position[0][r], rows->position[1][r], rows->position[2][r]}, to[3];
        reg_box more = box;
        geom_pose_apply(&t->near->relative, at, to);
        widen(&more, to, to);
        if (half_diagonal(&more) > t->wide_rows / REG_WIDE * t->stretch) break; /* of one row it is 0 */
        box = more;
    }
    for (int axis = 0; axis < 3; ++axis) out->at[axis] = (box.low[axis] + box.high[axis]) / 2;
    out->reach = (t->near->reach + half_diagonal(&box)) * ROUNDING;
    return r;
}

/* What several runs found, in ascending order, each block once. */
static void join_runs(near_found *out, size_t first) {
    size_t kept = first;
    qsort(out->block + first, out->count - first, sizeof *out->block, atn_ascending_int32);
    for (size_t k = first; k < out->count; ++k)
        if (kept == first || out->block[k] != out->block[kept - 1]) out->block[kept++] = out->block[k];
    out->count = kept;
}

static bool take_runs(const walk *t, size_t b) {
    near_found *out = t->out;
    size_t before = out->count, block = t->near->rows->block;
    for (size_t r = b * block; r < (b + 1) * block;) {
        ball c;
        r = next_run(t, r, (b + 1) * block, &c);
        reg_box box = box_around(&c);
        if (!find_groups(t, &box, t->shared) || !take_ball(t, &c, t->shared, out->groups - t->shared)) return false;
    }
    if (out->count > before) join_runs(out, before);
    return true;
}

/* ---- blocks of rows ---- */

static void ball_of(const walk *t, size_t b, ball *out) {
    const reg_near *near = t->near;
    geom_pose_apply(&near->relative, near->rows->centre[b], out->at);
    out->reach = (near->reach + near->rows->radius[b] * t->stretch) * ROUNDING;
}

/* The near blocks of those from `first` on that are not wide: all at once, then each. */
static bool find_group_of(const walk *t, size_t first, size_t end) {
    reg_box box = EMPTY;
    for (size_t b = first; b < end; ++b) {
        ball c;
        if (is_wide_row(t, b)) continue;
        ball_of(t, b, &c);
        reg_box own = box_around(&c);
        widen(&box, own.low, own.high);
    }
    return find_groups(t, &box, 0);
}

static bool take_all(const walk *t) {
    size_t blocks = t->near->columns->blocks;
    near_found *out = t->out;
    if (!make_room(t->ctx, &out->block, &out->capacity, out->count + blocks)) return false;
    for (size_t k = 0; k < blocks; ++k) out->block[out->count++] = (int32_t)k;
    return true;
}

/* Of what was found from `first` on: without what is of another species. */
static void drop_others(const walk *t, size_t b, size_t first) {
    const reg_side *rows = t->near->rows, *columns = t->near->columns;
    near_found *out = t->out;
    size_t kept = first;
    if (!rows->species || !columns->species) return;
    for (size_t k = first; k < out->count; ++k)
        if (columns->species[out->block[k]] == rows->species[b]) out->block[kept++] = out->block[k];
    out->count = kept;
}

static bool take_block(const walk *t, size_t b) {
    ball c;
    if (t->near->all) return take_all(t);
    if (is_wide_row(t, b)) return take_runs(t, b);
    ball_of(t, b, &c);
    return take_ball(t, &c, 0, t->shared);
}

bool near_walk(const reg_near *near, const near_boxes *columns, size_t group, const atn_ctx *ctx, near_found *out) {
    const reg_side *rows = near->rows;
    size_t first = group * NEAR_GROUP, end = first + NEAR_GROUP < rows->blocks ? first + NEAR_GROUP : rows->blocks;
    walk t = {.near = near, .columns = columns, .ctx = ctx, .out = out, .stretch = geom_pose_stretch(&near->relative)};
    t.wide_rows = REG_WIDE * higher(rows->usual_radius, near->reach / t.stretch);
    t.wide_columns = REG_WIDE * higher(near->columns->usual_radius, near->reach);
    if (!near->all && !find_group_of(&t, first, end)) return false;
    t.shared = out->groups;
    for (size_t b = first; b < end; ++b) {
        size_t before = out->count;
        if (!take_block(&t, b)) return false;
        drop_others(&t, b, before);
        near->start[b] = (int32_t)(out->count - before);
    }
    return true;
}
