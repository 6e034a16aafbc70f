/* Neighbours of places: boxes that are halved at the median of their longest side until few points are left, each with
 * its exact bounds. Neither points far away from all others nor points at one place make it slow. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/size.h"
#include "cloud/points.h"

#include <math.h>
#include <stdlib.h>

enum { LEAF_POINTS = 8, PIVOTS = 63, MANY = 4096, MOST_SAMPLES = 1000 };

typedef struct entry {
    double position[3];
    uint32_t index;
} entry;

/* The lower half of a box follows it; the upper half is where it says. */
typedef struct box {
    double low[3], high[3];
    uint32_t first, count; /* of the entries */
    uint32_t upper;        /* 0: not halved */
    uint32_t least;        /* index of its points: equal distances are decided by it */
} box;

struct cloud_grid {
    const atn_ctx *ctx;
    double edge;
    entry *entry; /* owned */
    size_t count;
    box *box; /* owned; none without points */
    size_t n_boxes;
};

static void exchange(entry *a, entry *b) {
    entry held = *a;
    *a = *b;
    *b = held;
}

/* The middle of a few of them; no arrangement of points that occurs meets bad ones again and again. */
static double pick(const entry *e, size_t count, int axis, uint64_t *random) {
    double some[PIVOTS];
    size_t n = count > MANY ? PIVOTS : 3;
    for (size_t k = 0; k < n; ++k) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        double value = e[(*random >> 32) % count].position[axis];
        size_t at = k;
        for (; at && value < some[at - 1]; --at) some[at] = some[at - 1];
        some[at] = value;
    }
    return some[n / 2];
}

/* Puts what is lower along the axis in front of what is higher; returns how many are in front, near the half. Equal
 * ones form a block of their own that may be cut anywhere, so that many of them are no worse than few. */
static size_t halve(entry *e, size_t count, int axis) {
    size_t first = 0, last = count, middle = count / 2, slack = count > MANY ? count / 8 : 0;
    uint64_t random = 1;
    while (last - first > 1) {
        double pivot = pick(e + first, last - first, axis, &random);
        size_t below = first, at = first, above = last; /* [first, below) < pivot, [below, at) = pivot */
        while (at < above) {
            double value = e[at].position[axis];
            if (value < pivot)
                exchange(&e[below++], &e[at++]);
            else if (value > pivot)
                exchange(&e[--above], &e[at]);
            else
                ++at;
        }
        if (middle < below && middle + slack < below)
            last = below;
        else if (middle > above && middle - slack > above)
            first = above;
        else
            return middle < below ? below : middle > above ? above : middle;
    }
    return middle;
}

static box bounds_of(const entry *e, size_t first, size_t count) {
    e += first;
    box b = {.first = (uint32_t)first, .count = (uint32_t)count, .least = e->index};
    for (int d = 0; d < 3; ++d) b.low[d] = b.high[d] = e->position[d];
    for (size_t k = 1; k < count; ++k) {
        if (e[k].index < b.least) b.least = e[k].index;
        for (int d = 0; d < 3; ++d) {
            double value = e[k].position[d];
            if (value < b.low[d]) b.low[d] = value;
            if (value > b.high[d]) b.high[d] = value;
        }
    }
    return b;
}

/* How many entries of a box go into its lower half; 0: it is not halved. */
static size_t halve_box(const cloud_grid *grid, const box *b) {
    int axis = 0;
    double side = 0; /* half of it: the whole may be more than a double holds */
    for (int d = 0; d < 3; ++d)
        if (b->high[d] / 2 - b->low[d] / 2 > side) {
            side = b->high[d] / 2 - b->low[d] / 2;
            axis = d;
        }
    if (b->count <= LEAF_POINTS || (grid->edge > 0 && side <= grid->edge / 2)) return 0;
    return side > 0 ? halve(grid->entry + b->first, b->count, axis) : b->count / 2;
}

/* A box with all that is below it, numbered from the first one. */
typedef struct branch {
    box *box; /* owned */
    size_t count, capacity;
    size_t first, entries; /* that it begins with; no entries: there is none */
    bool halved;           /* into the two that follow it in the heap of branches; its only box is its own */
    atn_status status;
} branch;

static box *add_box(const cloud_grid *grid, branch *to, size_t first, size_t count) {
    void *boxes = to->box;
    to->status = atn_grow(grid->ctx, &boxes, &to->capacity, to->count, sizeof *to->box);
    to->box = boxes;
    if (to->status != ATN_OK) return NULL;
    to->box[to->count] = bounds_of(grid->entry, first, count);
    return &to->box[to->count++];
}

/* Each half has at most five eighths: less than 50 deep. */
static void divide(const cloud_grid *grid, branch *to, size_t first, size_t count) { // NOLINT(misc-no-recursion)
    size_t here = to->count;
    const box *b = add_box(grid, to, first, count);
    size_t lower = b ? halve_box(grid, b) : 0;
    if (!lower) return;
    divide(grid, to, first, lower);
    if (to->status != ATN_OK) return;
    to->box[here].upper = (uint32_t)to->count;
    divide(grid, to, first + lower, count - lower);
}

/* Branches as a heap: those of 2^level ... 2^(level + 1) - 1 are halved at the same time, the last ones to their ends.
 */
enum { BRANCH_LEVELS = 8, BRANCHES = 1 << BRANCH_LEVELS, BRANCH_POINTS = 4096 };
typedef struct wood {
    const cloud_grid *grid;
    branch branch[2 * BRANCHES];
    int64_t level; /* branches before this one are done */
} wood;

static void halve_branches(void *user, int64_t from, int64_t to, int32_t worker) {
    wood *w = user;
    (void)worker;
    for (int64_t k = w->level + from; k < w->level + to; ++k) {
        branch *b = &w->branch[k];
        const box *whole = b->entries ? add_box(w->grid, b, b->first, b->entries) : NULL;
        size_t lower = whole ? halve_box(w->grid, whole) : 0;
        b->halved = lower > 0;
        if (!lower) continue;
        w->branch[2 * k] = (branch){.first = b->first, .entries = lower};
        w->branch[2 * k + 1] = (branch){.first = b->first + lower, .entries = b->entries - lower};
    }
}

static void end_branches(void *user, int64_t from, int64_t to, int32_t worker) {
    wood *w = user;
    (void)worker;
    for (int64_t k = w->level + from; k < w->level + to; ++k)
        if (w->branch[k].entries) divide(w->grid, &w->branch[k], w->branch[k].first, w->branch[k].entries);
}

/* The boxes of a branch and all below it, one after the other. */
static void gather(wood *w, int64_t k, cloud_grid *grid) { // NOLINT(misc-no-recursion)
    branch *b = &w->branch[k];
    size_t here = grid->n_boxes;
    for (size_t n = 0; n < b->count; ++n) {
        grid->box[here + n] = b->box[n];
        if (b->box[n].upper) grid->box[here + n].upper += (uint32_t)here;
    }
    grid->n_boxes += b->count;
    if (!b->halved) return;
    gather(w, 2 * k, grid);
    grid->box[here].upper = (uint32_t)grid->n_boxes;
    gather(w, 2 * k + 1, grid);
}

static atn_status divide_all(cloud_grid *grid) {
    wood *w = atn_zalloc(grid->ctx, sizeof *w);
    if (!w) return ATN_ERR_MEMORY;
    int64_t wanted = 4 * (int64_t)atn_parallel_workers();
    size_t boxes = 0;
    w->grid = grid;
    w->branch[1] = (branch){.entries = grid->count};
    for (w->level = 1; w->level < wanted && w->level < BRANCHES && grid->count / (size_t)w->level > BRANCH_POINTS;
         w->level *= 2)
        atn_parallel(w->level, 1, halve_branches, w);
    atn_parallel_pieces(w->level, end_branches, w);
    atn_status status = atn_check_cancel(grid->ctx);
    for (size_t k = 1; k < 2 * BRANCHES; ++k) {
        boxes += w->branch[k].count;
        if (w->branch[k].status != ATN_OK) status = atn_fail_memory(grid->ctx, boxes * sizeof(box), "boxes of points");
    }
    if (status == ATN_OK && !(grid->box = atn_alloc(grid->ctx, boxes * sizeof *grid->box))) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) gather(w, 1, grid);
    for (size_t k = 1; k < 2 * BRANCHES; ++k) atn_free(grid->ctx, w->branch[k].box);
    atn_free(grid->ctx, w);
    return status;
}

/* ---- along a curve: neighbours in the order are halves of a box ---- */

static size_t leaves_of(const cloud_grid *grid) { return (grid->count + LEAF_POINTS - 1) / LEAF_POINTS; }

static box leaf_of(const cloud_grid *grid, size_t leaf) {
    size_t first = leaf * LEAF_POINTS, left = grid->count - first;
    return bounds_of(grid->entry, first, left < LEAF_POINTS ? left : LEAF_POINTS);
}

/* A box over two that follow each other. */
static box join(const box *lower, const box *upper, size_t at) {
    box b = *lower;
    b.count += upper->count;
    b.upper = (uint32_t)at;
    b.least = lower->least < upper->least ? lower->least : upper->least;
    for (int d = 0; d < 3; ++d) {
        b.low[d] = upper->low[d] < b.low[d] ? upper->low[d] : b.low[d];
        b.high[d] = upper->high[d] > b.high[d] ? upper->high[d] : b.high[d];
    }
    return b;
}

/* `leaves` leaves from one on, whose boxes are numbered from `here`: one less than twice as many. */
typedef struct twig {
    size_t here, leaf, leaves;
} twig;

enum { MOST_TWIGS = 256 };
typedef struct tree {
    cloud_grid *grid;
    size_t most; /* leaves of a twig */
    twig twig[MOST_TWIGS];
    size_t twigs;
} tree;

/* Boxes of a twig from its leaves up; halves in depth. */
static void grow(cloud_grid *grid, const twig *t) { // NOLINT(misc-no-recursion)
    if (t->leaves == 1) {
        grid->box[t->here] = leaf_of(grid, t->leaf);
        return;
    }
    size_t half = t->leaves / 2, upper = t->here + 2 * half;
    grow(grid, &(twig){t->here + 1, t->leaf, half});
    grow(grid, &(twig){upper, t->leaf + half, t->leaves - half});
    grid->box[t->here] = join(&grid->box[t->here + 1], &grid->box[upper], upper);
}

/* Either cuts a twig into those that cores work on, or joins what these have made. */
static void cut(tree *w, const twig *t, bool made) { // NOLINT(misc-no-recursion)
    if (t->leaves <= w->most) {
        if (!made) w->twig[w->twigs++] = *t;
        return;
    }
    size_t half = t->leaves / 2, upper = t->here + 2 * half;
    cut(w, &(twig){t->here + 1, t->leaf, half}, made);
    cut(w, &(twig){upper, t->leaf + half, t->leaves - half}, made);
    box *all = w->grid->box;
    if (made) all[t->here] = join(&all[t->here + 1], &all[upper], upper);
}

static void grow_twigs(void *user, int64_t from, int64_t to, int32_t worker) {
    tree *w = user;
    (void)worker;
    for (int64_t k = from; k < to; ++k) grow(w->grid, &w->twig[k]);
}

static atn_status grow_all(cloud_grid *grid) {
    enum { LEAST = 64 };
    size_t leaves = leaves_of(grid);
    tree w = {.grid = grid, .most = 2 * leaves / MOST_TWIGS + 1};
    if (w.most < LEAST) w.most = LEAST;
    grid->n_boxes = 2 * leaves - 1;
    grid->box = atn_alloc(grid->ctx, grid->n_boxes * sizeof *grid->box);
    if (!grid->box) return ATN_ERR_MEMORY;
    cut(&w, &(twig){0, 0, leaves}, false);
    atn_parallel_pieces((int64_t)w.twigs, grow_twigs, &w);
    cut(&w, &(twig){0, 0, leaves}, true);
    return atn_check_cancel(grid->ctx);
}

/* ---- making ---- */

typedef struct entering {
    cloud_grid *grid;
    const cloud_points *points;
    const uint32_t *order; /* NULL: theirs */
} entering;

static void enter(void *user, int64_t from, int64_t to, int32_t worker) {
    const entering *t = user;
    (void)worker;
    for (int64_t k = from; k < to; ++k) {
        size_t point = t->order ? t->order[k] : (size_t)k;
        t->grid->entry[k].index = (uint32_t)point;
        for (int d = 0; d < 3; ++d) t->grid->entry[k].position[d] = t->points->position[d][point];
    }
}

/* With `part` for its boxes. */
static atn_status make(const cloud_points *points, double edge, const uint32_t *order,
                       atn_status (*part)(cloud_grid *grid), cloud_grid **out) {
    const atn_ctx *ctx = points->ctx;
    size_t bytes;
    *out = NULL;
    if (points->count > UINT32_MAX)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%zu points; neighbours are looked for among at most %u",
                        points->count, UINT32_MAX);
    if (!(edge >= 0)) return atn_fail(ctx, ATN_ERR_INPUT, "an edge of %g; it is not negative", edge);
    if (!atn_size_mul(points->count, sizeof(entry), &bytes)) return atn_fail_memory(ctx, SIZE_MAX, "points");
    cloud_grid *grid = atn_zalloc(ctx, sizeof *grid);
    if (!grid) return ATN_ERR_MEMORY;
    *grid = (cloud_grid){.ctx = ctx, .edge = edge, .count = points->count, .entry = atn_alloc(ctx, bytes)};
    atn_status status = grid->entry ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) atn_parallel((int64_t)points->count, BRANCH_POINTS, enter, &(entering){grid, points, order});
    if (status == ATN_OK && points->count) status = part(grid);
    if (status == ATN_OK)
        *out = grid;
    else
        cloud_grid_free(grid);
    return status;
}

atn_status cloud_grid_make(const cloud_points *points, double edge, cloud_grid **out) {
    return make(points, edge, NULL, divide_all, out);
}

atn_status cloud_grid_along(const cloud_points *points, const uint32_t *order, cloud_grid **out) {
    return make(points, 0, order, grow_all, out);
}

void cloud_grid_free(cloud_grid *grid) {
    if (!grid) return;
    atn_free(grid->ctx, grid->entry);
    atn_free(grid->ctx, grid->box);
    atn_free(grid->ctx, grid);
}

/* ---- asking ---- */

typedef struct question {
    const cloud_grid *grid;
    const double *at;
    size_t most, found;
    double reach2;
    uint32_t *index;
    double *distance2;
} question;

/* Is (distance2, index) among the nearest so far? */
static bool is_wanted(const question *q, double distance2, uint32_t index) {
    if (!(distance2 <= q->reach2)) return false;
    if (q->found < q->most) return true;
    double last = q->distance2[q->most - 1];
    return distance2 < last || (distance2 == last && index < q->index[q->most - 1]);
}

static void put(question *q, double distance2, uint32_t index) {
    size_t k = q->found < q->most ? q->found++ : q->most - 1;
    for (; k && (distance2 < q->distance2[k - 1] || (distance2 == q->distance2[k - 1] && index < q->index[k - 1]));
         --k) {
        q->distance2[k] = q->distance2[k - 1];
        q->index[k] = q->index[k - 1];
    }
    q->distance2[k] = distance2;
    q->index[k] = index;
}

/* Rounded as the distance to a point is: never more than that of a point inside. */
static double distance2_to(const box *b, const double *at) {
    double gap[3];
    for (int d = 0; d < 3; ++d)
        gap[d] = at[d] < b->low[d] ? b->low[d] - at[d] : at[d] > b->high[d] ? at[d] - b->high[d] : 0;
    return gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2];
}

static void look_through(question *q, const box *b) {
    const entry *e = q->grid->entry + b->first;
    for (size_t k = 0; k < b->count; ++k) {
        double x = e[k].position[0] - q->at[0], y = e[k].position[1] - q->at[1], z = e[k].position[2] - q->at[2];
        double distance2 = x * x + y * y + z * z;
        if (is_wanted(q, distance2, e[k].index)) put(q, distance2, e[k].index);
    }
}

size_t cloud_grid_nearest(const cloud_grid *grid, const double at[3], size_t most, double reach, uint32_t *index,
                          double *distance2) {
    struct {
        uint32_t box;
        double distance2;
    } later[64]; /* one for each halving */
    question q = {.grid = grid, .at = at, .most = most, .reach2 = reach * reach};
    q.index = index;
    q.distance2 = distance2;
    size_t waiting = 0;
    if (!grid->n_boxes || !most || !(reach >= 0)) return 0;
    later[waiting].box = 0;
    later[waiting++].distance2 = distance2_to(grid->box, at);
    while (waiting) {
        --waiting;
        uint32_t here = later[waiting].box;
        double there = later[waiting].distance2;
        while (is_wanted(&q, there, grid->box[here].least)) {
            const box *b = &grid->box[here];
            if (!b->upper) {
                look_through(&q, b);
                break;
            }
            uint32_t near = here + 1, far = b->upper;
            double near2 = distance2_to(&grid->box[near], at), far2 = distance2_to(&grid->box[far], at);
            if (far2 < near2 || (far2 == near2 && grid->box[far].least < grid->box[near].least)) {
                uint32_t box_held = near;
                double held = near2;
                near = far, near2 = far2;
                far = box_held, far2 = held;
            }
            later[waiting].box = far;
            later[waiting++].distance2 = far2;
            here = near;
            there = near2;
        }
    }
    return q.found;
}

/* The square of the distance to the nearest point at another place; INFINITY where there is none. */
static double nearest_elsewhere(const cloud_grid *grid, const double at[3]) {
    uint32_t later[64], waiting = 0;
    double best = INFINITY;
    later[waiting++] = 0;
    while (waiting) {
        const box *b = &grid->box[later[--waiting]];
        bool here = true;
        for (int d = 0; d < 3; ++d) here = here && !(b->low[d] < at[d]) && !(b->high[d] > at[d]);
        if (here || !(distance2_to(b, at) < best)) continue; /* all of it is at this place, or it is too far */
        const entry *e = grid->entry + b->first;
        for (size_t k = 0; k < b->count && !b->upper; ++k) {
            double x = e[k].position[0] - at[0], y = e[k].position[1] - at[1], z = e[k].position[2] - at[2];
            double distance2 = x * x + y * y + z * z;
            if (distance2 > 0 && distance2 < best) best = distance2;
        }
        if (!b->upper) continue;
        uint32_t lower = (uint32_t)(b - grid->box) + 1, near = lower, far = b->upper;
        if (distance2_to(&grid->box[far], at) < distance2_to(&grid->box[near], at)) near = far, far = lower;
        later[waiting++] = far;
        later[waiting++] = near;
    }
    return best;
}

/* ---- the spacing ---- */

typedef struct spacing {
    const cloud_points *points;
    const cloud_grid *grid;
    double found[MOST_SAMPLES]; /* squares; -1: another point at that place counts */
} spacing;

static void ask_some(void *user, int64_t from, int64_t to, int32_t worker) {
    spacing *t = user;
    const cloud_points *p = t->points;
    (void)worker;
    for (int64_t k = from; k < to; ++k) {
        size_t self = p->count < MOST_SAMPLES ? (size_t)k : (size_t)((double)k / MOST_SAMPLES * (double)p->count);
        double at[3] = {p->position[0][self], p->position[1][self], p->position[2][self]}, here;
        uint32_t first = 0;
        cloud_grid_nearest(t->grid, at, 1, INFINITY, &first, &here);
        t->found[k] = first == self ? nearest_elsewhere(t->grid, at) : -1; /* of several at one place, one counts */
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static atn_status grid_of(const cloud_points *points, cloud_grid **out) {
    uint32_t *order = atn_alloc(points->ctx, points->count * sizeof *order);
    *out = NULL;
    if (!order) return ATN_ERR_MEMORY;
    cloud_points plain = *points; /* of all species alike */
    plain.species = NULL;
    atn_status status = cloud_points_order(&plain, order);
    if (status == ATN_OK) status = cloud_grid_along(points, order, out);
    atn_free(points->ctx, order);
    return status;
}

atn_status cloud_points_spacing(const cloud_points *points, double *out) {
    enum { WORTH_A_THREAD = 32 };
    *out = 0;
    if (points->count < 2) return ATN_OK;
    cloud_grid *grid;
    atn_status status = grid_of(points, &grid);
    if (!grid) return status;
    spacing t = {.points = points, .grid = grid};
    size_t asked = points->count < MOST_SAMPLES ? points->count : MOST_SAMPLES, samples = 0;
    atn_parallel((int64_t)asked, WORTH_A_THREAD, ask_some, &t);
    cloud_grid_free(grid);
    for (size_t k = 0; k < asked; ++k)
        if (t.found[k] >= 0 && isfinite(t.found[k])) t.found[samples++] = t.found[k];
    qsort(t.found, samples, sizeof *t.found, compare);
    if (samples) *out = (sqrt(t.found[(samples - 1) / 2]) + sqrt(t.found[samples / 2])) / 2;
    return ATN_OK;
}
