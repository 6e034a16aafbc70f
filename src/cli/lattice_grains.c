/* Grains: neighbouring atoms of one structure whose orientations differ by less than a limit belong together. Found
 * among the atoms that the report keeps, all of a small frame, an even sample of a large one. */
#include "cli/lattice_grains.h"

#include "base/memory.h"
#include "cli/lattice_turns.h"
#include "cloud/points.h"

#include <math.h>
#include <stdlib.h>

enum { NEIGHBOURS = 14, LEAST = 20 }; /* neighbours examined; atoms of a grain that is reported */

static uint32_t root_of(uint32_t *parent, uint32_t k) {
    while (parent[k] != k) k = parent[k] = parent[parent[k]];
    return k;
}

static bool hexagonal(const lattice_outcome *o, int32_t structure) { return o->info.name[structure - 1][0] == 'h'; }

static bool together(const lattice_outcome *o, const lattice_shown *a, const lattice_shown *b) {
    return a->atom.structure == b->atom.structure &&
           lattice_misorientation(a->atom.quaternion, b->atom.quaternion, hexagonal(o, a->atom.structure)) <
               LATTICE_GRAIN_DEG;
}

static int by_size(const void *a, const void *b) {
    const lattice_grain *x = a, *y = b;
    return (x->atoms < y->atoms) - (x->atoms > y->atoms);
}

/* Joins what belongs together; counts atoms of a structure, and those with a neighbour of another orientation. */
static atn_status join(const atn_ctx *ctx, const lattice_outcome *o, uint32_t *parent, lattice_grains *out) {
    cloud_points points;
    cloud_grid *grid = NULL;
    atn_status status = cloud_points_make(ctx, o->n_shown, false, &points);
    for (size_t k = 0; k < o->n_shown && !status; ++k) {
        for (int d = 0; d < 3; ++d) points.position[d][k] = (double)o->shown[k].position[d];
        points.weight[k] = 1;
        parent[k] = (uint32_t)k;
    }
    if (!status) status = cloud_grid_make(&points, 0, &grid);
    for (size_t k = 0; k < o->n_shown && !status; ++k) {
        uint32_t near[NEIGHBOURS + 1];
        double distance2[NEIGHBOURS + 1], at[3];
        const lattice_shown *one = &o->shown[k];
        bool border = false;
        if (!one->atom.structure) continue;
        ++out->atoms;
        for (int d = 0; d < 3; ++d) at[d] = points.position[d][k];
        size_t n = cloud_grid_nearest(grid, at, NEIGHBOURS + 1, INFINITY, near, distance2);
        for (size_t m = 0; m < n; ++m) {
            const lattice_shown *other = &o->shown[near[m]];
            if (near[m] == k || !other->atom.structure) continue;
            if (together(o, one, other))
                parent[root_of(parent, (uint32_t)k)] = root_of(parent, near[m]);
            else
                border = true;
        }
        out->border += border;
    }
    cloud_grid_free(grid);
    cloud_points_free(&points);
    return status;
}

atn_status lattice_find_grains(const atn_ctx *ctx, const lattice_outcome *o, lattice_grains *out) {
    uint32_t *parent = atn_alloc(ctx, (o->n_shown + 1) * sizeof *parent), *size = NULL;
    *out = (lattice_grains){.of = atn_zalloc(ctx, (o->n_shown + 1) * sizeof *out->of)};
    size = parent && out->of ? atn_zalloc(ctx, (o->n_shown + 1) * sizeof *size) : NULL;
    atn_status status = size ? join(ctx, o, parent, out) : ATN_ERR_MEMORY;
    for (size_t k = 0; k < o->n_shown && !status; ++k)
        if (o->shown[k].atom.structure) ++size[root_of(parent, (uint32_t)k)];
    size_t room = 0;
    for (size_t k = 0; k < o->n_shown && !status; ++k) {
        if (size[k] < LEAST) continue;
        status = atn_grow(ctx, (void **)&out->list, &room, (size_t)out->n, sizeof *out->list);
        if (!status)
            out->list[out->n++] = (lattice_grain){.root = (uint32_t)k,
                                                  .atoms = size[k],
                                                  .structure = o->shown[k].atom.structure,
                                                  .example = o->shown[k].atom};
    }
    if (!status && out->n) qsort(out->list, (size_t)out->n, sizeof *out->list, by_size);
    for (size_t k = 0; k < o->n_shown && !status; ++k) { /* which of them, from 1 */
        uint32_t root = root_of(parent, (uint32_t)k);
        for (int32_t g = 0; g < out->n && o->shown[k].atom.structure; ++g)
            if (out->list[g].root == root) out->of[k] = g + 1;
    }
    atn_free(ctx, size);
    atn_free(ctx, parent);
    if (status) lattice_grains_free(ctx, out);
    return status;
}

void lattice_grains_free(const atn_ctx *ctx, lattice_grains *grains) {
    atn_free(ctx, grains->list);
    atn_free(ctx, grains->of);
    *grains = (lattice_grains){0};
}
