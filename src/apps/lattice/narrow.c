/* Cubes as wide as neighbours can be away: atoms in those with one of the atoms given, or next to one, are near. */
#include "apps/lattice/narrow.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>

typedef struct cubes {
    double low[3], edge;
    size_t size[3];
    unsigned char *mark; /* of each: atoms that were given are there, or next to it */
} cubes;

/* False: they would be many. */
static bool divide(const atn_atoms *atoms, cubes *r) {
    double all = 1;
    for (int axis = 0; axis < 3; ++axis) {
        double high;
        lattice_span(atoms->position[axis], atoms->count, &r->low[axis], &high);
        double cells = floor((high - r->low[axis]) / r->edge) + 1;
        all *= cells;
        r->size[axis] = cells < 1e9 ? (size_t)cells : 0;
    }
    return all <= 2 * (double)atoms->count;
}

static size_t cube_of(const cubes *r, const atn_atoms *atoms, size_t k, size_t at[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        at[axis] = (size_t)((atoms->position[axis][k] - r->low[axis]) / r->edge);
        if (at[axis] >= r->size[axis]) at[axis] = r->size[axis] - 1;
    }
    return (at[2] * r->size[1] + at[1]) * r->size[0] + at[0];
}

static void mark_near(const cubes *r, const atn_atoms *atoms, const size_t *which, size_t count) {
    for (size_t k = 0; k < count; ++k) {
        size_t at[3];
        cube_of(r, atoms, which[k], at);
        for (size_t z = at[2] - (at[2] > 0); z <= at[2] + 1 && z < r->size[2]; ++z)
            for (size_t y = at[1] - (at[1] > 0); y <= at[1] + 1 && y < r->size[1]; ++y)
                for (size_t c = at[0] - (at[0] > 0); c <= at[0] + 1 && c < r->size[0]; ++c)
                    r->mark[(z * r->size[1] + y) * r->size[0] + c] = 1;
    }
}

/* Stretches of the atoms: how many of each are near, then where these go. */
typedef struct narrowing {
    const cubes *cubes;
    const atn_atoms *atoms;
    const size_t *which;
    size_t count;
    lattice_narrowed *out;
    int64_t stretches;
    size_t kept[ATN_PARALLEL_MOST];
    bool put;
} narrowing;

static void narrow_stretch(void *user, int64_t from, int64_t to) {
    narrowing *n = user;
    for (int64_t s = from; s < to; ++s) {
        size_t begin = lattice_stretch_begin(n->atoms->count, n->stretches, s), at[3];
        size_t end = lattice_stretch_begin(n->atoms->count, n->stretches, s + 1), kept = n->put ? n->kept[s] : 0,
               next = 0;
        while (n->put && next < n->count && n->which[next] < begin) ++next;
        for (size_t k = begin; k < end; ++k) {
            if (!n->cubes->mark[cube_of(n->cubes, n->atoms, k, at)]) continue;
            for (size_t axis = 0; axis < 3 && n->put; ++axis)
                n->out->place[axis * n->out->atoms.count + kept] = n->atoms->position[axis][k];
            if (n->put && next < n->count && n->which[next] == k) n->out->which[next++] = kept;
            ++kept;
        }
        n->kept[s] = kept;
    }
}

atn_status lattice_narrow(const atn_ctx *ctx, const atn_atoms *atoms, double reach, const size_t *which, size_t count,
                          lattice_narrowed *out) {
    cubes r = {.edge = 1.001 * reach};
    narrowing n = {.cubes = &r, .atoms = atoms, .which = which, .count = count, .out = out};
    size_t kept = 0;
    *out = (lattice_narrowed){0};
    if (!divide(atoms, &r)) return ATN_OK;
    n.stretches = lattice_stretches(atoms->count, 1);
    r.mark = atn_zalloc(ctx, r.size[0] * r.size[1] * r.size[2]);
    out->which = atn_alloc(ctx, (count + 1) * sizeof *out->which);
    if (r.mark && out->which) {
        mark_near(&r, atoms, which, count);
        atn_parallel(n.stretches, 1, narrow_stretch, &n);
        for (int64_t s = 0; s < n.stretches; ++s) {
            size_t here = n.kept[s];
            n.kept[s] = kept;
            kept += here;
        }
        out->place = atn_alloc(ctx, (3 * kept + 1) * sizeof *out->place);
    }
    if (out->place) {
        n.put = true;
        out->atoms = (atn_atoms){.count = kept, .own = kept};
        for (size_t axis = 0; axis < 3; ++axis) out->atoms.position[axis] = out->place + axis * kept;
        atn_parallel(n.stretches, 1, narrow_stretch, &n);
    }
    atn_free(ctx, r.mark);
    return out->place ? ATN_OK : ATN_ERR_MEMORY;
}

void lattice_narrowed_free(const atn_ctx *ctx, lattice_narrowed *narrowed) {
    atn_free(ctx, narrowed->place);
    atn_free(ctx, narrowed->which);
    *narrowed = (lattice_narrowed){0};
}
