/* Neighbours of places: points along a Morton curve, cut into boxes where its bits change until few points are left,
 * each with its exact bounds. What the curve does not tell apart is halved at the median of its longest side, so that
 * neither points far away from all others nor points at one place make it slow. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/size.h"
#include "cloud/points.h"
#include "cloud/sort.h"
#include "geom/nth.h"

#include <math.h>

enum { LEAF_POINTS = 8, PIVOTS = 63, MANY = 4096, MOST_SAMPLES = 1000, DEEPEST = 64 + 50 };

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
    cloud_keyed *keyed; /* of the entries, while boxes are made */
};

static void exchange(entry *a, entry *b) {
    entry held = *a;
    *a = *b;
    *b = held;
}

/* The middle of a few of them; no arrangement of points that occurs meets bad ones again and again. */
static double pick(const entry *e, size_t count, int axis, atn_random *random) {
    double some[PIVOTS];
    size_t n = count > MANY ? PIVOTS : 3;
    for (size_t k = 0; k < n; ++k) {
        double value = e[atn_random_next(random) % count].position[axis];
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
    atn_random random;
    atn_random_seed(&random, 1);
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

/* The first of keys that ascend which has the highest bit in which they differ. */
static size_t change_of(const cloud_keyed *k, size_t count, uint64_t differ) {
    while (differ & (differ - 1)) differ &= differ - 1;
    size_t low = 0, high = count - 1; /* without it; with it */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (k[middle].key & differ)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Entries that differ along the curve are cut where its highest bit changes: both halves have a box of their own, and
 * nothing is moved. Others, which are one place of the curve, are halved along the longest side of their bounds. How
 * many go into the lower half; 0: they are not halved. */
static size_t part(const cloud_grid *grid, size_t first, size_t count) {
    const cloud_keyed *k = grid->keyed + first;
    uint64_t differ = k[0].key ^ k[count - 1].key;
    if (count <= LEAF_POINTS) return 0;
    if (differ && !(grid->edge > 0)) return change_of(k, count, differ);
    box b = bounds_of(grid->entry, first, count);
    int axis = 0;
    double side = 0; /* half of it: the whole may be more than a double holds */
    for (int d = 0; d < 3; ++d)
        if (b.high[d] / 2 - b.low[d] / 2 > side) {
            side = b.high[d] / 2 - b.low[d] / 2;
            axis = d;
        }
    if (grid->edge > 0 && side <= grid->edge / 2) return 0;
    if (differ) return change_of(k, count, differ);
    return side > 0 ? halve(grid->entry + first, count, axis) : count / 2;
}

/* A box with all that is below it, numbered from the first one. */
typedef struct branch {
    box *box; /* owned */
    size_t count, capacity;
    size_t first, entries; /* that it begins with; no entries: there is none */
    bool halved;           /* into the two that follow it in the heap of branches; its only box is its own */
    atn_status status;
} branch;

/* Its number; its bounds are not known yet. */
static size_t add_box(const cloud_grid *grid, branch *to) {
    void *boxes = to->box;
    to->status = atn_grow(grid->ctx, &boxes, &to->capacity, to->count, sizeof *to->box);
    to->box = boxes;
    return to->count++;
}

/* As deep as a key has bits, and what halves of five eighths add: less than DEEPEST. */
static void divide(const cloud_grid *grid, branch *to, size_t first, size_t count) { // NOLINT(misc-no-recursion)
    size_t here = add_box(grid, to), lower = part(grid, first, count);
    if (to->status != ATN_OK) return;
    if (!lower) {
        to->box[here] = bounds_of(grid->entry, first, count);
        return;
    }
    divide(grid, to, first, lower);
    if (to->status != ATN_OK) return;
    size_t upper = to->count;
    divide(grid, to, first + lower, count - lower);
    if (to->status == ATN_OK) to->box[here] = join(&to->box[here + 1], &to->box[upper], upper);
}

/* Branches as a heap: those of 2^level ... 2^(level + 1) - 1 are halved at the same time, the last ones to their ends.
 */
enum { BRANCH_LEVELS = 8, BRANCHES = 1 << BRANCH_LEVELS, BRANCH_POINTS = 4096 };
typedef struct wood {
    const cloud_grid *grid;
    branch branch[2 * BRANCHES];
    int64_t level; /* branches before this one are done */
} wood;

static void halve_branches(void *user, int64_t from, int64_t to) {
    wood *w = user;
    for (int64_t k = w->level + from; k < w->level + to; ++k) {
        branch *b = &w->branch[k];
        if (!b->entries) continue;
        size_t here = add_box(w->grid, b), lower = part(w->grid, b->first, b->entries);
        b->halved = lower > 0;
        if (!lower && b->status == ATN_OK) b->box[here] = bounds_of(w->grid->entry, b->first, b->entries);
        if (!lower) continue;
        w->branch[2 * k] = (branch){.first = b->first, .entries = lower};
        w->branch[2 * k + 1] = (branch){.first = b->first + lower, .entries = b->entries - lower};
    }
}

static void end_branches(void *user, int64_t from, int64_t to) {
    wood *w = user;
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
    size_t upper = grid->n_boxes;
    gather(w, 2 * k + 1, grid);
    grid->box[here] = join(&grid->box[here + 1], &grid->box[upper], upper);
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

typedef struct entering {
    cloud_grid *grid;
    const cloud_points *points;
} entering;

static void enter(void *user, int64_t from, int64_t to) {
    const entering *t = user;
    for (int64_t k = from; k < to; ++k) {
        size_t point = t->grid->keyed[k].index;
        t->grid->entry[k].index = (uint32_t)point;
        for (int d = 0; d < 3; ++d) t->grid->entry[k].position[d] = t->points->position[d][point];
    }
}

/* Points that are in the order of their keys. */
static atn_status keep_order(const cloud_points *points, const uint64_t *key, cloud_keyed **out) {
    atn_status status = cloud_keyed_make(points->ctx, points->count, out);
    for (size_t k = 0; k < points->count && status == ATN_OK; ++k)
        (*out)[k] = (cloud_keyed){.key = key[k], .index = (uint32_t)k};
    return status;
}

static atn_status make(const cloud_points *points, const uint64_t *key, double edge, cloud_grid **out) {
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
    if (status == ATN_OK)
        status = key ? keep_order(points, key, &grid->keyed) : cloud_points_keys(points, &grid->keyed);
    if (status == ATN_OK) atn_parallel((int64_t)points->count, BRANCH_POINTS, enter, &(entering){grid, points});
    if (status == ATN_OK && points->count) status = divide_all(grid);
    atn_free(ctx, grid->keyed);
    grid->keyed = NULL;
    if (status == ATN_OK)
        *out = grid;
    else
        cloud_grid_free(grid);
    return status;
}

atn_status cloud_grid_make(const cloud_points *points, double edge, cloud_grid **out) {
    return make(points, NULL, edge, out);
}

atn_status cloud_grid_make_along(const cloud_points *points, const uint64_t *key, cloud_grid **out) {
    return make(points, key, 0, out);
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

/* A box that is looked at later, and how far it is. */
typedef struct waiting_box {
    double distance2;
    uint32_t box;
} waiting_box;

/* The one nearest point, which is what most ask for, if it is nearer than the one that is known. */
static void find_nearer(const cloud_grid *grid, const double at[3], uint32_t *index, double *distance2) {
    waiting_box later[DEEPEST];
    size_t waiting = 0;
    const double x = at[0], y = at[1], z = at[2];
    double best2 = *distance2, there = distance2_to(grid->box, at);
    uint32_t best = *index, here = 0;
    for (;;) {
        while (there < best2 || (there == best2 && grid->box[here].least < best)) {
            const box *b = &grid->box[here];
            if (!b->upper) {
                const entry *e = grid->entry + b->first;
                for (size_t k = 0; k < b->count; ++k) {
                    double dx = e[k].position[0] - x, dy = e[k].position[1] - y, dz = e[k].position[2] - z;
                    double d2 = dx * dx + dy * dy + dz * dz;
                    bool nearer = d2 < best2 || (d2 == best2 && e[k].index < best);
                    best2 = nearer ? d2 : best2;
                    best = nearer ? e[k].index : best;
                }
                break;
            }
            uint32_t near = here + 1, far = b->upper;
            double near2 = distance2_to(&grid->box[near], at), far2 = distance2_to(&grid->box[far], at);
            bool swap = far2 < near2 || (far2 == near2 && grid->box[far].least < grid->box[near].least);
            double farther2 = swap ? near2 : far2;
            here = swap ? far : near;
            there = swap ? far2 : near2;
            if (!(farther2 <= best2)) continue;
            later[waiting].box = swap ? near : far;
            later[waiting++].distance2 = farther2;
        }
        if (!waiting) break;
        here = later[--waiting].box;
        there = later[waiting].distance2;
    }
    *index = best;
    *distance2 = best2;
}

static size_t find_nearest(const cloud_grid *grid, const double at[3], double reach, uint32_t *index,
                           double *distance2) {
    uint32_t best = UINT32_MAX;
    double best2 = reach * reach;
    find_nearer(grid, at, &best, &best2);
    if (best == UINT32_MAX) return 0;
    *index = best;
    *distance2 = best2;
    return 1;
}

void cloud_grid_nearer(const cloud_grid *grid, const double at[3], uint32_t *index, double *distance2) {
    if (grid->n_boxes) find_nearer(grid, at, index, distance2);
}

size_t cloud_grid_nearest(const cloud_grid *grid, const double at[3], size_t most, double reach, uint32_t *index,
                          double *distance2) {
    waiting_box later[DEEPEST]; /* one for each halving */
    question q = {.grid = grid, .at = at, .most = most, .reach2 = reach * reach};
    q.index = index;
    q.distance2 = distance2;
    size_t waiting = 0;
    if (!grid->n_boxes || !most || !(reach >= 0)) return 0;
    if (most == 1) return find_nearest(grid, at, reach, index, distance2);
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

/* ---- the spacing ---- */

/* From the entry to the nearest of those around it along the curve at another place, squared: what follows need look no
 * farther. */
static double nearest_along(const cloud_grid *grid, size_t place) {
    enum { EACH_WAY = 6 };
    const entry *e = grid->entry, *own = &e[place];
    size_t first = place < EACH_WAY ? 0 : place - EACH_WAY;
    size_t end = grid->count - place > EACH_WAY ? place + EACH_WAY + 1 : grid->count;
    double best = INFINITY;
    for (size_t k = first; k < end; ++k) {
        double x = e[k].position[0] - own->position[0], y = e[k].position[1] - own->position[1],
               z = e[k].position[2] - own->position[2], distance2 = x * x + y * y + z * z;
        best = distance2 > 0 && distance2 < best ? distance2 : best;
    }
    return best;
}

static bool is_at(const box *b, const double *at) {
    bool here = true;
    for (int d = 0; d < 3; ++d) here = here && !(b->low[d] < at[d]) && !(b->high[d] > at[d]);
    return here;
}

/* The square of the distance to the nearest point at another place; INFINITY where there is none, -1 where a point of
 * lower index is at this one. */
static double nearest_elsewhere(const cloud_grid *grid, size_t place) {
    waiting_box later[DEEPEST + 1];
    const double *at = grid->entry[place].position;
    uint32_t self = grid->entry[place].index;
    size_t waiting = 0;
    double best = nearest_along(grid, place);
    later[waiting++] = (waiting_box){0, 0};
    while (waiting) {
        if (!(later[--waiting].distance2 < best)) continue;
        const box *b = &grid->box[later[waiting].box];
        if (!(later[waiting].distance2 > 0) && is_at(b, at)) {
            if (b->least < self) return -1;
            continue; /* all of it is at this place */
        }
        const entry *e = grid->entry + b->first;
        for (size_t k = 0; k < b->count && !b->upper; ++k) {
            double x = e[k].position[0] - at[0], y = e[k].position[1] - at[1], z = e[k].position[2] - at[2];
            double distance2 = x * x + y * y + z * z;
            if (distance2 == 0 && e[k].index < self) return -1;
            best = distance2 > 0 && distance2 < best ? distance2 : best;
        }
        if (!b->upper) continue;
        uint32_t lower = (uint32_t)(b - grid->box) + 1;
        waiting_box near = {distance2_to(&grid->box[lower], at), lower},
                    far = {distance2_to(&grid->box[b->upper], at), b->upper};
        bool swap = far.distance2 < near.distance2;
        later[waiting++] = swap ? near : far;
        later[waiting++] = swap ? far : near;
    }
    return best;
}

typedef struct spacing {
    const cloud_grid *grid;
    const uint32_t *place;      /* of each point among the entries */
    double found[MOST_SAMPLES]; /* squares; -1: another point at that place counts */
} spacing;

static void ask_some(void *user, int64_t from, int64_t to) {
    spacing *t = user;
    size_t count = t->grid->count;
    for (int64_t k = from; k < to; ++k) {
        size_t self = count < MOST_SAMPLES ? (size_t)k : (size_t)((double)k / MOST_SAMPLES * (double)count);
        t->found[k] = nearest_elsewhere(t->grid, t->place[self]);
    }
}

atn_status cloud_points_spacing(const cloud_points *points, double *out) {
    enum { WORTH_A_THREAD = 32 };
    *out = 0;
    if (points->count < 2) return ATN_OK;
    cloud_grid *grid = NULL;
    uint32_t *place = atn_alloc(points->ctx, points->count * sizeof *place);
    atn_status status = place ? cloud_grid_make(points, 0, &grid) : ATN_ERR_MEMORY;
    if (status != ATN_OK || !grid) {
        atn_free(points->ctx, place);
        return status;
    }
    for (size_t k = 0; k < grid->count; ++k) place[grid->entry[k].index] = (uint32_t)k;
    spacing t = {.grid = grid, .place = place};
    size_t asked = points->count < MOST_SAMPLES ? points->count : MOST_SAMPLES, samples = 0;
    atn_parallel((int64_t)asked, WORTH_A_THREAD, ask_some, &t);
    cloud_grid_free(grid);
    atn_free(points->ctx, place);
    for (size_t k = 0; k < asked; ++k)
        if (t.found[k] >= 0 && isfinite(t.found[k])) t.found[samples++] = t.found[k];
    if (samples) *out = sqrt(geom_nth(t.found, samples, (samples - 1) / 2)) / 2;
    if (samples) *out += sqrt(geom_nth(t.found, samples, samples / 2)) / 2;
    return ATN_OK;
}
