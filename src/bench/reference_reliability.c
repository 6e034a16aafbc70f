/* Unwrapping by sorted reliability: sums of squares of the second differences along rows, columns and both diagonals
 * say how little a pixel is to be relied on, pairs are joined in the order of the sum of their two, groups keep their
 * turns. */
#include "bench/reference_reliability.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static const double TURN = 6.283185307179586;
static const float BORDER = 1e6f; /* pixels there come last: they lack neighbours */

typedef struct join {
    float doubt;
    int32_t a, b;
} join;

typedef struct group {
    int32_t root, next, last, size; /* of each pixel: its group's first; the next of the group, NONE at the end; of a
                                       root: its last one, and how many */
    int32_t turns;
} group;

enum { NONE = -1 };

static double wrapped(double d) { return d - TURN * rint(d / TURN); }

static float doubt_at(const float *psi, int64_t w, int64_t h, int64_t k) {
    const int64_t ways[4] = {1, w, w + 1, w - 1};
    double sum = 0, here = (double)psi[k];
    if (k % w == 0 || k % w == w - 1 || k / w == 0 || k / w == h - 1) return BORDER;
    for (int n = 0; n < 4; ++n) {
        double d = wrapped((double)psi[k - ways[n]] - here) - wrapped(here - (double)psi[k + ways[n]]);
        sum += d * d;
    }
    return (float)sum;
}

static int by_doubt(const void *a, const void *b) {
    const join *x = a, *y = b;
    return (x->doubt > y->doubt) - (x->doubt < y->doubt);
}

static void merge(group *g, const float *psi, const join *j) {
    int32_t a = g[j->a].root, b = g[j->b].root;
    if (a == b) return;
    int32_t off = g[j->a].turns - g[j->b].turns - (int32_t)rint(((double)psi[j->b] - (double)psi[j->a]) / TURN);
    if (g[a].size < g[b].size) {
        int32_t swapped = a;
        a = b;
        b = swapped;
        off = -off;
    }
    for (int32_t k = b; k != NONE; k = g[k].next) {
        g[k].root = a;
        g[k].turns += off;
    }
    g[g[a].last].next = b;
    g[a].last = g[b].last;
    g[a].size += g[b].size;
}

atn_status reliability_reference_run(const atn_ctx *ctx, int64_t width, int64_t height, const float *psi, float *out) {
    int64_t count = width * height, joins = 0;
    join *list = atn_alloc(ctx, 2 * (size_t)count * sizeof *list);
    group *g = atn_alloc(ctx, (size_t)count * sizeof *g);
    float *doubt = atn_alloc(ctx, (size_t)count * sizeof *doubt);
    atn_status status = list && g && doubt ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        for (int64_t k = 0; k < count; ++k) {
            doubt[k] = doubt_at(psi, width, height, k);
            g[k] = (group){.root = (int32_t)k, .next = NONE, .last = (int32_t)k, .size = 1};
        }
        for (int64_t k = 0; k < count; ++k) {
            if (k % width + 1 < width) list[joins++] = (join){doubt[k] + doubt[k + 1], (int32_t)k, (int32_t)k + 1};
            if (k + width < count)
                list[joins++] = (join){doubt[k] + doubt[k + width], (int32_t)k, (int32_t)(k + width)};
        }
        qsort(list, (size_t)joins, sizeof *list, by_doubt);
        for (int64_t k = 0; k < joins; ++k) merge(g, psi, &list[k]);
        for (int64_t k = 0; k < count; ++k) out[k] = (float)((double)psi[k] + TURN * g[k].turns);
    }
    atn_free(ctx, list);
    atn_free(ctx, g);
    atn_free(ctx, doubt);
    return status;
}
