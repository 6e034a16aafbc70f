/* Near blocks: for a group of blocks of rows a walk down the tree of boxes of the columns to groups of blocks that may
 * be near, then these blocks for each block of rows. A block of rows is the ball around it, or several around runs of
 * its points where these lie far from each other (what belongs to nothing is spread over the whole space, and a ball
 * around such would be near everything). */
#include "apps/register/near_walk.h"

#include "base/lanes.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>

static const double ROUNDING = 1 + 1e-6; /* of reaches */

/* A walk and what all blocks share. */
typedef struct walk {
    const reg_near *near;
    const near_group *columns;
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
    size_t larger = *capacity ? *capacity : 4096;
    if (wanted <= *capacity) return true;
    while (larger < wanted) larger *= 2;
    int32_t *room = atn_resize(ctx, *list, larger * sizeof *room);
    if (!room) return false;
    *list = room;
    *capacity = larger;
    return true;
}

/* ---- groups ---- */

typedef struct grouping {
    const reg_side *side;
    near_group *to;
} grouping;

static void group_some(void *user, int64_t from, int64_t to, int32_t worker) {
    const grouping *t = user;
    const reg_tree *tree = &t->side->tree;
    (void)worker;
    for (size_t g = (size_t)from; g < (size_t)to; ++g) {
        near_group *out = &t->to[g];
        out->all = tree->node[tree->leaves > NEAR_GROUP ? tree->leaves / NEAR_GROUP + g : 1];
        for (size_t k = 0; k < NEAR_GROUP; ++k) {
            size_t block = g * NEAR_GROUP + k;
            for (int axis = 0; axis < 3; ++axis) {
                out->low[axis][k] = block < t->side->blocks ? tree->node[tree->leaves + block].low[axis] : INFINITY;
                out->high[axis][k] = block < t->side->blocks ? tree->node[tree->leaves + block].high[axis] : -INFINITY;
            }
        }
    }
}

near_group *near_groups_make(const atn_ctx *ctx, const reg_side *side) {
    size_t groups = (side->blocks + NEAR_GROUP - 1) / NEAR_GROUP;
    near_group *out = atn_alloc(ctx, groups * sizeof *out);
    if (out) atn_parallel((int64_t)groups, 512, group_some, &(grouping){side, out});
    return out;
}

static double gap2_between(const reg_box *a, const reg_box *b) {
    double d2 = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double below = a->low[axis] - b->high[axis], above = b->low[axis] - a->high[axis];
        double d = below > above ? below : above;
        d = d > 0 ? d : 0;
        d2 += d * d;
    }
    return d2;
}

/* Groups of columns that a box meets, in ascending order, from place `from` of the list on. */
static bool find_groups(const walk *t, const reg_box *box, size_t from) {
    const reg_side *columns = t->near->columns;
    const reg_tree *tree = &columns->tree;
    near_found *out = t->out;
    size_t stack[64], depth = 0, first = tree->leaves > NEAR_GROUP ? tree->leaves / NEAR_GROUP : 1;
    out->groups = from;
    stack[depth++] = 1;
    while (depth) {
        size_t node = stack[--depth];
        if (gap2_between(box, &tree->node[node]) > 0) continue;
        if (node < first) {
            stack[depth++] = 2 * node + 1;
            stack[depth++] = 2 * node;
            continue;
        }
        if ((node - first) * NEAR_GROUP >= columns->blocks) continue;
        if (!make_room(t->ctx, &out->group, &out->group_capacity, out->groups + 1)) return false;
        out->group[out->groups++] = (int32_t)(node - first);
    }
    return true;
}

/* The blocks of some groups within `reach` of a place; `out` has room for all of them. How many they are. */
ATN_IN_LANES static size_t pick(const near_group *columns, const int32_t *group, size_t groups, const double at[3],
                                double reach, int32_t *out) {
    const double x = at[0], y = at[1], z = at[2], reach2 = reach * reach;
    size_t count = 0;
    for (size_t n = 0; n < groups; ++n) {
        const near_group *g = &columns[group[n]];
        double gap2[NEAR_GROUP];
        if (reg_box_gap2(&g->all, x, y, z) > reach2) continue;
        ATN_LANES()
        for (int k = 0; k < NEAR_GROUP; ++k) {
            double u = g->low[0][k] - x, v = g->low[1][k] - y, w = g->low[2][k] - z;
            double a = x - g->high[0][k], b = y - g->high[1][k], c = z - g->high[2][k];
            u = u > a ? u : a, v = v > b ? v : b, w = w > c ? w : c;
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
    if (!make_room(t->ctx, &out->block, &out->capacity, out->count + NEAR_GROUP * groups)) return false;
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
        reg_pose_apply(&t->near->relative, at, to);
        widen(&more, to, to);
        if (half_diagonal(&more) > t->wide_rows / REG_WIDE * t->stretch) break; /* of one row it is 0 */
        box = more;
    }
    for (int axis = 0; axis < 3; ++axis) out->at[axis] = (box.low[axis] + box.high[axis]) / 2;
    out->reach = (t->near->reach + half_diagonal(&box)) * ROUNDING;
    return r;
}

static int ascending(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* What several runs found, in ascending order, each block once. */
static void join_runs(near_found *out, size_t first) {
    size_t kept = first;
    qsort(out->block + first, out->count - first, sizeof *out->block, ascending);
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
    reg_pose_apply(&near->relative, near->rows->centre[b], out->at);
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

bool near_walk(const reg_near *near, const near_group *columns, size_t group, const atn_ctx *ctx, near_found *out) {
    const reg_side *rows = near->rows;
    size_t first = group * NEAR_GROUP, end = first + NEAR_GROUP < rows->blocks ? first + NEAR_GROUP : rows->blocks;
    walk t = {.near = near, .columns = columns, .ctx = ctx, .out = out, .stretch = reg_pose_stretch(&near->relative)};
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
