/* Halving by selection: all blocks but the last of a species are full, and neighbours in space. */
#include "apps/register/order.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>

typedef struct item {
    double at[3];
    uint32_t index;
    int32_t species;
} item;

/* By position along the axis, then by index, so that the order does not depend on how the selection went. */
static bool before(const item *a, const item *b, int axis) {
    return a->at[axis] < b->at[axis] || (!(b->at[axis] < a->at[axis]) && a->index < b->index);
}

static void swap(item *a, item *b) {
    item kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare's selection: afterwards the `nth` first items come before all others. */
static void select_first(item *items, size_t count, size_t nth, int axis) {
    size_t low = 0, high = count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before(&items[middle], &items[low], axis)) swap(&items[middle], &items[low]);
        if (before(&items[high], &items[low], axis)) swap(&items[high], &items[low]);
        if (before(&items[high], &items[middle], axis)) swap(&items[high], &items[middle]);
        item pivot = items[middle];
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

static int longest_side(const item *items, size_t count) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t k = 0; k < count; ++k)
        for (int axis = 0; axis < 3; ++axis) {
            low[axis] = fmin(low[axis], items[k].at[axis]);
            high[axis] = fmax(high[axis], items[k].at[axis]);
        }
    int most = 0;
    for (int axis = 1; axis < 3; ++axis)
        if (high[axis] - low[axis] > high[most] - low[most]) most = axis;
    return most;
}

typedef struct piece {
    item *items;
    size_t count;
} piece;

/* Into whole blocks and what is left of them; returns how many items come first. */
static size_t halve_once(item *items, size_t count, size_t block) {
    size_t blocks = (count + block - 1) / block, left = (blocks + 1) / 2 * block;
    select_first(items, count, left, longest_side(items, count));
    return left;
}

static void halve_all(item *items, size_t count, size_t block) { // NOLINT(misc-no-recursion)
    while (count > block) {
        size_t left = halve_once(items, count, block);
        halve_all(items, left, block); /* as deep as there are doublings */
        items += left;
        count -= left;
    }
}

enum { MOST_PIECES = 256, PIECES_EACH = 4 };

typedef struct task {
    piece pieces[2 * MOST_PIECES];
    size_t block;
} task;

static void halve_some(void *user, int64_t from, int64_t to, int32_t worker) {
    task *t = user;
    (void)worker;
    for (int64_t k = from; k < to; ++k) {
        piece *p = &t->pieces[2 * k];
        size_t left = p->count > t->block ? halve_once(p->items, p->count, t->block) : p->count;
        p[1] = (piece){p->items + left, p->count - left};
        p[0].count = left;
    }
}

static void halve_rest(void *user, int64_t from, int64_t to, int32_t worker) {
    task *t = user;
    (void)worker;
    for (int64_t k = from; k < to; ++k) halve_all(t->pieces[k].items, t->pieces[k].count, t->block);
}

/* All pieces once, until there are several for each core; then each of them to its end. */
static void halve(item *items, size_t count, size_t block) {
    task t = {.pieces = {{items, count}}, .block = block};
    int64_t wanted = (int64_t)PIECES_EACH * atn_parallel_workers(), n = 1;
    for (; n < wanted && n < MOST_PIECES && count / (size_t)n > 16 * block; n *= 2) {
        for (int64_t k = n; k-- > 0;) t.pieces[2 * k] = t.pieces[k];
        atn_parallel(n, 1, halve_some, &t);
    }
    atn_parallel_pieces(n, halve_rest, &t);
}

static int by_species(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->species != y->species) return x->species < y->species ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

atn_status reg_order(const cloud_points *p, size_t block, uint32_t *order) {
    item *items = atn_alloc(p->ctx, p->count * sizeof *items);
    if (!items) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < p->count; ++k)
        items[k] = (item){
            {p->position[0][k], p->position[1][k], p->position[2][k]}, (uint32_t)k, p->species ? p->species[k] : 0};
    if (p->species) qsort(items, p->count, sizeof *items, by_species);
    for (size_t from = 0, to; from < p->count; from = to) {
        to = p->species ? from : p->count;
        while (to < p->count && items[to].species == items[from].species) ++to;
        halve(items + from, to - from, block);
    }
    for (size_t k = 0; k < p->count; ++k) order[k] = items[k].index;
    atn_free(p->ctx, items);
    return atn_check_cancel(p->ctx);
}
