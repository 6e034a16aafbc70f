/* Halving by selection: all blocks but the last of a species are full, and neighbours in space. */
#include "apps/register/order.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>

/* By position along the axis, then by index, so that the order does not depend on how the selection went. */
static bool before(const reg_item *a, const reg_item *b, int axis) {
    return a->at[axis] < b->at[axis] || (!(b->at[axis] < a->at[axis]) && a->index < b->index);
}

static void swap(reg_item *a, reg_item *b) {
    reg_item kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare's selection: afterwards the `nth` first items come before all others. */
static void select_first(reg_item *items, size_t count, size_t nth, int axis) {
    size_t low = 0, high = count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before(&items[middle], &items[low], axis)) swap(&items[middle], &items[low]);
        if (before(&items[high], &items[low], axis)) swap(&items[high], &items[low]);
        if (before(&items[high], &items[middle], axis)) swap(&items[high], &items[middle]);
        reg_item pivot = items[middle];
        size_t i = low, j = high;
        for (;;) {
            while (before(&items[i], &pivot, axis)) ++i;
            while (before(&pivot, &items[j], axis)) --j;
            if (i >= j) break;
            swap(&items[i++], &items[j--]);
        }
        if (nth <= j)
            high = j;
        else
            low = j + 1;
    }
}

static int longest_side(const reg_item *items, size_t count) {
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t k = 0; k < count; ++k)
        for (int axis = 0; axis < 3; ++axis) {
            float at = items[k].at[axis];
            low[axis] = at < low[axis] ? at : low[axis];
            high[axis] = at > high[axis] ? at : high[axis];
        }
    int most = 0;
    for (int axis = 1; axis < 3; ++axis)
        if (high[axis] - low[axis] > high[most] - low[most]) most = axis;
    return most;
}

void reg_halve(reg_item *items, size_t count, size_t block) { // NOLINT(misc-no-recursion)
    while (count > block) {
        size_t blocks = (count + block - 1) / block, left = (blocks + 1) / 2 * block;
        select_first(items, count, left, longest_side(items, count));
        reg_halve(items, left, block); /* as deep as there are doublings */
        items += left;
        count -= left;
    }
}

/* ---- stretches ---- */

enum { BLOCKS = 16, MOST_BLOCK = 64 }; /* of a stretch; points of a block */

typedef struct task {
    const cloud_points *points;
    size_t block;
    uint32_t *order;
} task;

/* Points `from` to `to` - 1. */
static void halve_stretch(const task *t, size_t from, size_t to) {
    reg_item items[BLOCKS * MOST_BLOCK];
    for (size_t k = from; k < to; ++k) {
        for (int axis = 0; axis < 3; ++axis)
            items[k - from].at[axis] = (float)(t->points->position[axis][k] - t->points->position[axis][from]);
        items[k - from].index = (uint32_t)k;
    }
    reg_halve(items, to - from, t->block);
    for (size_t k = from; k < to; ++k) t->order[k] = items[k - from].index;
}

static void halve_some(void *user, int64_t from, int64_t to, int32_t worker) {
    const task *t = user;
    size_t stretch = BLOCKS * t->block, count = t->points->count;
    (void)worker;
    for (size_t k = (size_t)from; k < (size_t)to; ++k) {
        size_t end = (k + 1) * stretch < count ? (k + 1) * stretch : count;
        halve_stretch(t, k * stretch, end);
    }
}

/* Stretches end where the species does. */
static void halve_species(const task *t) {
    const int32_t *species = t->points->species;
    size_t count = t->points->count, stretch = BLOCKS * t->block;
    for (size_t from = 0, to; from < count; from = to) {
        to = from + 1;
        while (to < count && to - from < stretch && species[to] == species[from]) ++to;
        halve_stretch(t, from, to);
    }
}

atn_status reg_order(const cloud_points *p, size_t block, uint32_t *order) {
    task t = {p, block, order};
    size_t stretches = (p->count + BLOCKS * block - 1) / (BLOCKS * block);
    if (p->species)
        halve_species(&t);
    else
        atn_parallel((int64_t)stretches, 8, halve_some, &t);
    return atn_check_cancel(p->ctx);
}
