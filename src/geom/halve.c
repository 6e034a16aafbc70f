/* Halving by selection: all blocks but the last of a species are full, and neighbours in space. */
#include "geom/halve.h"

#include <math.h>
#include <stdbool.h>

/* By position along the axis, then by index, so that the order does not depend on how the selection went. */
static bool before(const geom_item *a, const geom_item *b, int axis) {
    return a->at[axis] < b->at[axis] || (!(b->at[axis] < a->at[axis]) && a->index < b->index);
}

static void swap(geom_item *a, geom_item *b) {
    geom_item kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare's selection: afterwards the `nth` first items come before all others. */
static void select_first(geom_item *items, size_t count, size_t nth, int axis) {
    size_t low = 0, high = count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before(&items[middle], &items[low], axis)) swap(&items[middle], &items[low]);
        if (before(&items[high], &items[low], axis)) swap(&items[high], &items[low]);
        if (before(&items[high], &items[middle], axis)) swap(&items[high], &items[middle]);
        geom_item pivot = items[middle];
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

static int longest_side(const geom_item *items, size_t count) {
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

void geom_halve(geom_item *items, size_t count, size_t block) { // NOLINT(misc-no-recursion)
    while (count > block) {
        size_t blocks = (count + block - 1) / block, left = (blocks + 1) / 2 * block;
        select_first(items, count, left, longest_side(items, count));
        geom_halve(items, left, block); /* as deep as there are doublings */
        items += left;
        count -= left;
    }
}
