/* Cubes as wide as neighbours can be away, and cubes of a third of that: atoms in those that a ball around one of the
 * atoms given touches are near. */
#include "apps/lattice/narrow.h"

#include "base/lanes.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { FINER = 3, MOST_AROUND = 2 * FINER + 1 };
enum { NEXT = 1, NEAR }; /* marks: in the same wide cube as an atom given, or one next to it; within reach, too */

typedef struct cubes {
    double low[3], edge, per, reach;
    size_t parts; /* of a wide cube along an axis: FINER, or 1 where there are few atoms in one */
    size_t size[3];
    unsigned char *mark; /* of each */
} cubes;

/* False: they would be many. */
static bool divide(const atn_atoms *atoms, double reach, cubes *r) {
    double all = 1, wide = 1.001 * reach, length[3];
    for (int axis = 0; axis < 3; ++axis) {
        double high;
        lattice_span(atoms->position[axis], atoms->count, &r->low[axis], &high);
        length[axis] = floor((high - r->low[axis]) / wide) + 1;
        all *= length[axis];
    }
    r->parts = all * FINER * FINER * FINER <= 8 * (double)atoms->count ? FINER : 1;
    r->reach = 1.0005 * reach;
    r->edge = wide / (double)r->parts;
    r->per = 1 / r->edge;
    for (int axis = 0; axis < 3; ++axis) r->size[axis] = length[axis] < 1e9 ? (size_t)length[axis] * r->parts : 0;
    return all <= 2 * (double)atoms->count;
}

static size_t cube_of(const cubes *r, const atn_atoms *atoms, size_t k, size_t at[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        at[axis] = (size_t)((atoms->position[axis][k] - r->low[axis]) * r->per);
        if (at[axis] >= r->size[axis]) at[axis] = r->size[axis] - 1; /* as find_cubes has it */
    }
    return (at[2] * r->size[1] + at[1]) * r->size[0] + at[0];
}

/* Wide cubes: that of the atom, and those next to it. */
static void mark_next(const cubes *r, const size_t at[3]) {
    size_t from[3], to[3];
    for (int axis = 0; axis < 3; ++axis) {
        size_t wide = at[axis] / r->parts * r->parts, end = wide + 2 * r->parts;
        from[axis] = wide < r->parts ? 0 : wide - r->parts;
        to[axis] = end < r->size[axis] ? end : r->size[axis];
    }
    for (size_t z = from[2]; z < to[2]; ++z)
        for (size_t y = from[1]; y < to[1]; ++y)
            for (size_t x = from[0]; x < to[0]; ++x) {
                unsigned char *mark = &r->mark[(z * r->size[1] + y) * r->size[0] + x];
                *mark = *mark > NEXT ? *mark : NEXT;
            }
}

/* Cubes that the ball around the atom touches. */
static void mark_near(const cubes *r, const atn_atoms *atoms, size_t k, const size_t at[3]) {
    int64_t parts = (int64_t)r->parts, size[3];
    double square[3][MOST_AROUND], most = r->reach * r->reach;
    for (int axis = 0; axis < 3; ++axis) {
        double p = atoms->position[axis][k] - r->low[axis];
        size[axis] = (int64_t)r->size[axis];
        for (int64_t d = -parts; d <= parts; ++d) {
            double edge = ((double)at[axis] + (double)d + (d < 0)) * r->edge, far = d ? fabs(p - edge) : 0;
            int64_t cube = (int64_t)at[axis] + d;
            square[axis][d + parts] = cube < 0 || cube >= size[axis] ? INFINITY : far * far;
        }
    }
    for (int64_t z = -parts; z <= parts; ++z)
        for (int64_t y = -parts; y <= parts; ++y) {
            double here = square[2][z + parts] + square[1][y + parts];
            int64_t row = ((((int64_t)at[2] + z) * size[1] + (int64_t)at[1] + y) * size[0]) + (int64_t)at[0];
            for (int64_t x = -parts; x <= parts && here <= most; ++x)
                if (here + square[0][x + parts] <= most) r->mark[row + x] = NEAR;
        }
}

/* Stretches of the atoms: which of each are near, and how many; then where these go. */
typedef struct narrowing {
    const cubes *cubes;
    const atn_atoms *atoms;
    const size_t *which;
    size_t count;
    lattice_narrowed *out;
    int64_t stretches;
    int32_t *near; /* of each stretch, from its first atom on */
    size_t kept[ATN_PARALLEL_MOST], first[ATN_PARALLEL_MOST];
    double low[ATN_PARALLEL_MOST][3], high[ATN_PARALLEL_MOST][3];
} narrowing;

/* Some atoms, one after the other: their cubes as cube_of has them, and what these are marked with. */
enum { SOME = 512 };
typedef struct some {
    int32_t at[3][SOME];
    double marked[SOME]; /* 0: is not */
} some;

ATN_IN_LANES static void find_cubes(const cubes *r, int axis, const double *restrict place, size_t count,
                                    int32_t *restrict at) {
    const double low = r->low[axis], per = r->per, most = (double)r->size[axis] - 1;
    ATN_LANES()
    for (size_t k = 0; k < count; ++k) {
        double cube = (place[k] - low) * per;
        at[k] = (int32_t)(cube < most ? cube : most);
    }
}

ATN_IN_LANES static void widen(const double *restrict place, const double *restrict marked, size_t count, double *low,
                               double *high) {
    double least = *low, most = *high;
    ATN_LANES(reduction(min : least) reduction(max : most))
    for (size_t k = 0; k < count; ++k) {
        double below = marked[k] > 0 ? place[k] : INFINITY, above = marked[k] > 0 ? place[k] : -INFINITY;
        least = below < least ? below : least;
        most = above > most ? above : most;
    }
    *low = least, *high = most;
}

/* From atom k on; returns how many are near, whose numbers go to `near`. */
static size_t find_some(narrowing *n, size_t k, size_t count, int64_t stretch, int32_t *near) {
    const cubes *r = n->cubes;
    some x;
    size_t kept = 0;
    for (int axis = 0; axis < 3; ++axis) find_cubes(r, axis, n->atoms->position[axis] + k, count, x.at[axis]);
    for (size_t i = 0; i < count; ++i) {
        size_t cube = ((size_t)x.at[2][i] * r->size[1] + (size_t)x.at[1][i]) * r->size[0] + (size_t)x.at[0][i];
        unsigned char mark = r->mark[cube];
        near[kept] = (int32_t)(k + i);
        kept += mark == NEAR;
        x.marked[i] = mark;
    }
    for (int axis = 0; axis < 3; ++axis)
        widen(n->atoms->position[axis] + k, x.marked, count, &n->low[stretch][axis], &n->high[stretch][axis]);
    return kept;
}

static void find_stretch(void *user, int64_t from, int64_t to) {
    narrowing *n = user;
    for (int64_t s = from; s < to; ++s) {
        size_t begin = lattice_stretch_begin(n->atoms->count, n->stretches, s), kept = 0;
        size_t end = lattice_stretch_begin(n->atoms->count, n->stretches, s + 1);
        for (int axis = 0; axis < 3; ++axis) n->low[s][axis] = INFINITY, n->high[s][axis] = -INFINITY;
        for (size_t k = begin; k < end; k += SOME)
            kept += find_some(n, k, end - k < SOME ? end - k : SOME, s, n->near + begin + kept);
        n->kept[s] = kept;
    }
}

static void put_stretch(void *user, int64_t from, int64_t to) {
    narrowing *n = user;
    for (int64_t s = from; s < to; ++s) {
        size_t begin = lattice_stretch_begin(n->atoms->count, n->stretches, s), next = 0, put = n->first[s];
        while (next < n->count && n->which[next] < begin) ++next;
        for (size_t i = 0; i < n->kept[s]; ++i, ++put) {
            size_t k = (size_t)n->near[begin + i];
            for (size_t axis = 0; axis < 3; ++axis)
                n->out->place[axis * n->out->atoms.count + put] = n->atoms->position[axis][k];
            if (next < n->count && n->which[next] == k) n->out->which[next++] = put;
        }
    }
}

static size_t find_all(narrowing *n) {
    size_t kept = 0;
    atn_parallel(n->stretches, 1, find_stretch, n);
    for (int axis = 0; axis < 3; ++axis) n->out->low[axis] = INFINITY, n->out->high[axis] = -INFINITY;
    for (int64_t s = 0; s < n->stretches; ++s) {
        n->first[s] = kept;
        kept += n->kept[s];
        for (int axis = 0; axis < 3; ++axis) {
            n->out->low[axis] = fmin(n->out->low[axis], n->low[s][axis]);
            n->out->high[axis] = fmax(n->out->high[axis], n->high[s][axis]);
        }
    }
    return kept;
}

atn_status lattice_narrow(const atn_ctx *ctx, const atn_atoms *atoms, double reach, const size_t *which, size_t count,
                          lattice_narrowed *out) {
    cubes r;
    narrowing n = {.cubes = &r, .atoms = atoms, .which = which, .count = count, .out = out};
    size_t kept = 0, at[3];
    *out = (lattice_narrowed){0};
    if (atoms->count > INT32_MAX || !divide(atoms, reach, &r)) return ATN_OK;
    n.stretches = lattice_stretches(atoms->count, 1);
    r.mark = atn_zalloc(ctx, r.size[0] * r.size[1] * r.size[2]);
    n.near = atn_alloc(ctx, (atoms->count + 1) * sizeof *n.near);
    out->which = atn_alloc(ctx, (count + 1) * sizeof *out->which);
    if (r.mark && n.near && out->which) {
        for (size_t k = 0; k < count; ++k) {
            cube_of(&r, atoms, which[k], at);
            mark_next(&r, at);
            mark_near(&r, atoms, which[k], at);
        }
        kept = find_all(&n);
        out->place = atn_alloc(ctx, (3 * kept + 1) * sizeof *out->place);
    }
    if (out->place) {
        out->atoms = (atn_atoms){.count = kept, .own = kept};
        for (size_t axis = 0; axis < 3; ++axis) out->atoms.position[axis] = out->place + axis * kept;
        atn_parallel(n.stretches, 1, put_stretch, &n);
    }
    atn_free(ctx, n.near);
    atn_free(ctx, r.mark);
    return out->place ? ATN_OK : ATN_ERR_MEMORY;
}

void lattice_narrowed_free(const atn_ctx *ctx, lattice_narrowed *narrowed) {
    atn_free(ctx, narrowed->place);
    atn_free(ctx, narrowed->which);
    *narrowed = (lattice_narrowed){0};
}
