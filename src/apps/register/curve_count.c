/* What is known of points along the curve before any are merged: how many cells of each size they are in, and whether
 * some crowd. */
#include "apps/register/curve.h"

#include "base/parallel.h"

enum { CHUNK = 8192 }; /* points that are worth a thread */

static bool other_species(const cloud_points *p, size_t a, size_t b) {
    return p->species && p->species[a] != p->species[b];
}

void reg_curve_count(const cloud_points *points, const reg_curve *curve, reg_curve_counts *out) {
    size_t joined[REG_CURVE_HALVINGS + 2] = {0}; /* neighbours that are in one cell from so many times twice on */
    size_t cells = 1;                            /* of the largest size */
    *out = (reg_curve_counts){.cell = curve->cell};
    if (!points->count) return;
    for (size_t k = 1; k < points->count; ++k) {
        uint64_t differ = curve->key[k] ^ curve->key[k - 1];
        bool never = curve->key[k] & REG_CURVE_OUTSIDE || other_species(points, k, k - 1);
        cells += never;
        joined[differ ? (63 - __builtin_clzll(differ)) / 3 + 1 : 0] += !never;
    }
    for (int n = REG_CURVE_HALVINGS; n >= 0; cells += joined[n--]) out->of[n] = cells;
}

size_t reg_curve_counted(const reg_curve_counts *counts, double edge) {
    return counts->of[reg_curve_bits(&(reg_curve){.cell = counts->cell}, edge) / 3];
}

typedef struct crowding {
    const cloud_points *points;
    const uint64_t *key;
    int bits;
    size_t most;
    bool found[ATN_PARALLEL_MOST]; /* by worker */
} crowding;

/* All that is between two points of a cell is in it. */
static void find_crowds(void *user, int64_t from, int64_t to) {
    crowding *t = user;
    bool found = false;
    for (size_t k = (size_t)from; k < (size_t)to; ++k)
        found = found ||
                (reg_curve_same(t->key[k + t->most], t->key[k], t->bits) && !other_species(t->points, k, k + t->most));
    t->found[atn_parallel_worker()] |= found;
}

bool reg_curve_crowded(const cloud_points *points, const reg_curve *curve, double edge, size_t most) {
    crowding t = {.points = points, .key = curve->key, .bits = reg_curve_bits(curve, edge), .most = most};
    bool any = false;
    if (points->count <= most) return false;
    atn_parallel((int64_t)(points->count - most), CHUNK, find_crowds, &t);
    for (int32_t w = 0; w < ATN_PARALLEL_MOST; ++w) any = any || t.found[w];
    return any;
}
