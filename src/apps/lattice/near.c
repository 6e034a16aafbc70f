/* Neighbours by cell lists: atoms are sorted into cells as wide as the cut-off, so that all neighbours of one are in 27
 * cells. Memory: 20 bytes an atom, 4 a cell, and there are at most two cells an atom. */
#include "apps/lattice/lattice.h"

#include "base/memory.h"

#include <math.h>

static int64_t cell_of(const lattice_cells *c, const double p[3]) {
    int64_t at[3];
    for (int axis = 0; axis < 3; ++axis) {
        at[axis] = (int64_t)((p[axis] - c->low[axis]) / c->edge);
        if (at[axis] >= c->size[axis]) at[axis] = c->size[axis] - 1;
    }
    return (at[2] * c->size[1] + at[1]) * c->size[0] + at[0];
}

/* Cells of `edge`, wider where there would be many more cells than atoms. */
static void divide(lattice_cells *c, const double high[3], double edge) {
    for (c->edge = edge;; c->edge *= 1.26) {
        double cells = 1;
        for (int axis = 0; axis < 3; ++axis) cells *= floor((high[axis] - c->low[axis]) / c->edge) + 1;
        if (cells <= 2 * (double)c->atoms + 64) break;
    }
    for (int axis = 0; axis < 3; ++axis) c->size[axis] = (int64_t)floor((high[axis] - c->low[axis]) / c->edge) + 1;
}

static atn_status room(lattice_cells *c) {
    size_t cells = (size_t)(c->size[0] * c->size[1] * c->size[2]);
    c->start = atn_zalloc(c->ctx, (cells + 2) * sizeof *c->start);
    c->order = atn_alloc(c->ctx, c->atoms * sizeof *c->order);
    c->rank = atn_alloc(c->ctx, c->atoms * sizeof *c->rank);
    for (int axis = 0; axis < 3; ++axis) c->axis[axis] = atn_alloc(c->ctx, c->atoms * sizeof **c->axis);
    return c->start && c->order && c->rank && c->axis[0] && c->axis[1] && c->axis[2] ? ATN_OK : ATN_ERR_MEMORY;
}

atn_status lattice_cells_make(const atn_ctx *ctx, const atn_atoms *atoms, double angstrom, double reach,
                              lattice_cells *out) {
    lattice_cells *c = out;
    double high[3] = {0};
    *c = (lattice_cells){.ctx = ctx, .atoms = atoms->count};
    if (atoms->count > INT32_MAX / 2)
        return atn_fail(ctx, ATN_ERR_INPUT, "lattice: %zu atoms at once; slabs of fewer than 2^30 would do",
                        atoms->count);
    for (int axis = 0; axis < 3; ++axis)
        for (size_t k = 0; k < atoms->count; ++k) {
            double x = atoms->position[axis][k] * angstrom;
            if (k == 0 || x < c->low[axis]) c->low[axis] = x;
            if (k == 0 || x > high[axis]) high[axis] = x;
        }
    divide(c, high, reach);
    atn_status status = room(c);
    if (status != ATN_OK) {
        lattice_cells_free(c);
        return status;
    }
    for (size_t k = 0; k < c->atoms; ++k) {
        double p[3] = {atoms->position[0][k] * angstrom, atoms->position[1][k] * angstrom,
                       atoms->position[2][k] * angstrom};
        c->rank[k] = (int32_t)cell_of(c, p);
        ++c->start[c->rank[k] + 2];
    }
    int64_t cells = c->size[0] * c->size[1] * c->size[2];
    for (int64_t k = 0; k < cells; ++k) c->start[k + 2] += c->start[k + 1];
    for (size_t k = 0; k < c->atoms; ++k) {
        int32_t at = c->start[c->rank[k] + 1]++;
        c->order[at] = (int32_t)k;
        c->rank[k] = at;
        for (int axis = 0; axis < 3; ++axis)
            c->axis[axis][at] = (float)(atoms->position[axis][k] * angstrom - c->low[axis]);
    }
    return ATN_OK;
}

void lattice_cells_free(lattice_cells *cells) {
    atn_free(cells->ctx, cells->start);
    atn_free(cells->ctx, cells->order);
    atn_free(cells->ctx, cells->rank);
    for (int axis = 0; axis < 3; ++axis) atn_free(cells->ctx, cells->axis[axis]);
    *cells = (lattice_cells){0};
}

/* What is collected for one atom: nearer ones from the front, the others behind. */
typedef struct collected {
    float *x, *y, *z;
    int32_t count, inner;
    float p[3], inner2, reach2;
} collected;

static void collect(collected *to, const lattice_cells *c, int32_t from, int32_t end) {
    for (int32_t k = from; k < end && to->count < ATN_LATTICE_MOST_NEIGHBOURS; ++k) {
        float x = c->axis[0][k] - to->p[0], y = c->axis[1][k] - to->p[1], z = c->axis[2][k] - to->p[2];
        float square = x * x + y * y + z * z;
        if (!(square < to->reach2) || square < 1e-8F) continue;
        int32_t at = to->count++, first = to->inner;
        to->inner += square < to->inner2;
        if (!to->x) continue;
        if (square < to->inner2) { /* the first of the outer ones makes room */
            to->x[at] = to->x[first], to->y[at] = to->y[first], to->z[at] = to->z[first];
            at = first;
        }
        to->x[at] = x, to->y[at] = y, to->z[at] = z;
    }
}

int32_t lattice_cells_near(const lattice_cells *c, size_t atom, double inner, double reach, float *x, float *y,
                           float *z, int32_t *n_inner) {
    int32_t rank = c->rank[atom];
    collected to = {.x = x, .y = y, .z = z, .inner2 = (float)(inner * inner), .reach2 = (float)(reach * reach)};
    int64_t at[3];
    for (int axis = 0; axis < 3; ++axis) {
        to.p[axis] = c->axis[axis][rank];
        at[axis] = (int64_t)((double)to.p[axis] / c->edge);
        if (at[axis] >= c->size[axis]) at[axis] = c->size[axis] - 1;
    }
    for (int64_t dz = -1; dz <= 1; ++dz)
        for (int64_t dy = -1; dy <= 1; ++dy) {
            int64_t cy = at[1] + dy, cz = at[2] + dz, low = at[0] > 0 ? at[0] - 1 : 0;
            int64_t high = at[0] + 1 < c->size[0] ? at[0] + 1 : at[0];
            if (cy < 0 || cz < 0 || cy >= c->size[1] || cz >= c->size[2]) continue;
            int64_t row = (cz * c->size[1] + cy) * c->size[0]; /* cells of a row lie side by side */
            collect(&to, c, c->start[row + low], c->start[row + high + 1]);
        }
    *n_inner = to.inner;
    return to.count;
}

/* ---- of a batch ---- */

atn_status lattice_near_make(const atn_ctx *ctx, size_t atoms, size_t room, lattice_near *out) {
    bool good = true;
    *out = (lattice_near){.room = room};
    for (int axis = 0; axis < 3; ++axis) {
        out->axis[axis] = atn_zalloc(ctx, room * sizeof **out->axis);
        good = good && out->axis[axis];
    }
    out->start = atn_zalloc(ctx, (atoms + 1) * sizeof *out->start);
    out->inner = atn_zalloc(ctx, atoms * sizeof *out->inner);
    return good && out->start && out->inner ? ATN_OK : ATN_ERR_MEMORY;
}

void lattice_near_free(const atn_ctx *ctx, lattice_near *near) {
    for (int axis = 0; axis < 3; ++axis) atn_free(ctx, near->axis[axis]);
    atn_free(ctx, near->start);
    atn_free(ctx, near->inner);
    *near = (lattice_near){0};
}
