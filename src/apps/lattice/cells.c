/* Cell lists: atoms are sorted into cells as wide as the cut-off, so that all neighbours of one are in 27 cells. Where
 * nearly all cells would be empty, those that are not are listed. Atoms at one place are one site, so that no cell is
 * crowded by them. Memory: 24 bytes an atom, and 4 a cell, of which there are at most two an atom. */
#include "apps/lattice/lattice.h"

#include "base/extreme.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cloud/points.h"
#include "cloud/sort.h"

#include <math.h>
#include <string.h>

enum { AXIS_BITS = LATTICE_CELL_BITS, FEW = 24 };
enum { STRETCH = 1 << 14 };            /* atoms for which a core is worth waking */
static const double MOST_EXTENT = 1e6; /* Angstrom, a tenth of a millimetre: floats tell places to a twentieth of one */
static const double ONE_PLACE = 5e-5;  /* Angstrom: the cubes whose atoms are one site, far below what is a neighbour */

static void cell_at(const lattice_cells *c, const double p[3], int64_t at[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        at[axis] = (int64_t)((p[axis] - c->low[axis]) / c->edge);
        if (at[axis] >= c->size[axis]) at[axis] = c->size[axis] - 1;
    }
}

static void place_of(const atn_atoms *atoms, double angstrom, size_t k, double p[3]) {
    for (int axis = 0; axis < 3; ++axis) p[axis] = atoms->position[axis][k] * angstrom;
}

int64_t lattice_stretches(size_t count, size_t least) {
    int64_t most = (int64_t)(count / (least > STRETCH ? least : STRETCH)), workers = atn_parallel_workers();
    return most < 1 ? 1 : most < workers ? most : workers;
}

size_t lattice_stretch_begin(size_t count, int64_t stretches, int64_t k) {
    return (size_t)((int64_t)count * k / stretches);
}

typedef struct spans {
    const double *list;
    size_t count;
    int64_t stretches;
    double low[ATN_PARALLEL_MOST], high[ATN_PARALLEL_MOST];
} spans;

static void find_span(void *user, int64_t from, int64_t to) {
    spans *x = user;
    for (int64_t s = from; s < to; ++s) {
        size_t begin = lattice_stretch_begin(x->count, x->stretches, s);
        size_t end = lattice_stretch_begin(x->count, x->stretches, s + 1);
        atn_extremes(x->list + begin, end - begin, &x->low[s], &x->high[s]);
    }
}

void lattice_span(const double *list, size_t count, double *low, double *high) {
    spans x = {.list = list, .count = count, .stretches = lattice_stretches(count, 1)};
    *low = *high = 0;
    if (count == 0) return;
    atn_parallel(x.stretches, 1, find_span, &x);
    *low = x.low[0], *high = x.high[0];
    for (int64_t s = 1; s < x.stretches; ++s) *low = fmin(*low, x.low[s]), *high = fmax(*high, x.high[s]);
}

/* Cells of `edge`; *all: few enough to have a number each. */
static atn_status divide(lattice_cells *c, const double high[3], double edge, bool *all) {
    atn_status status = cloud_extent_check(c->ctx, "lattice", c->low, high, 1, MOST_EXTENT);
    double cells = 1;
    c->edge = edge;
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis)
        c->edge = fmax(c->edge, (high[axis] - c->low[axis]) / ((1 << AXIS_BITS) - 2));
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis) {
        c->size[axis] = (int64_t)floor((high[axis] - c->low[axis]) / c->edge) + 1;
        cells *= (double)c->size[axis];
    }
    *all = cells <= 2 * (double)c->atoms + 64;
    c->cells = *all ? (size_t)cells : 0;
    return status;
}

/* ---- sorting ---- */

/* Atoms counted into cells by several cores, each of which has a stretch of the atoms and counts of its own. */
typedef struct counting {
    lattice_cells *c;
    const atn_atoms *atoms;
    double angstrom;
    int64_t stretches;
    int32_t *count; /* of each stretch and cell; then where its atoms go */
} counting;

static size_t begin_of(const counting *x, int64_t stretch) {
    return lattice_stretch_begin(x->c->atoms, x->stretches, stretch);
}

static void count_cells(void *user, int64_t from, int64_t to) {
    const counting *x = user;
    lattice_cells *c = x->c;
    for (int64_t s = from; s < to; ++s) {
        int32_t *count = x->count + (size_t)s * c->cells;
        memset(count, 0, c->cells * sizeof *count);
        for (size_t k = begin_of(x, s); k < begin_of(x, s + 1); ++k) {
            double p[3];
            int64_t at[3];
            place_of(x->atoms, x->angstrom, k, p);
            cell_at(c, p, at);
            c->rank[k] = (int32_t)((at[2] * c->size[1] + at[1]) * c->size[0] + at[0]);
            ++count[c->rank[k]];
        }
    }
}

static void put_atoms(void *user, int64_t from, int64_t to) {
    const counting *x = user;
    for (int64_t s = from; s < to; ++s) {
        int32_t *next = x->count + (size_t)s * x->c->cells;
        for (size_t k = begin_of(x, s); k < begin_of(x, s + 1); ++k) x->c->order[next[x->c->rank[k]]++] = (int32_t)k;
    }
}

/* Counts of some cells become where their atoms go, from the first of these cells on; returns how many there are. */
static int32_t place_cells(const counting *x, size_t from, size_t to, int32_t first) {
    int32_t sum = first;
    for (size_t k = from; k < to; ++k) {
        x->c->start[k] = sum;
        for (int64_t s = 0; s < x->stretches; ++s) {
            int32_t *count = &x->count[(size_t)s * x->c->cells + k], n = *count;
            *count = sum;
            sum += n;
        }
    }
    return sum - first;
}

/* Stretches of the cells: first as if each began the order, then moved behind those before. */
typedef struct placing {
    const counting *x;
    int64_t stretches;
    int32_t atoms[ATN_PARALLEL_MOST]; /* of each; then those before it */
} placing;

static void place_stretch(void *user, int64_t from, int64_t to) {
    placing *p = user;
    size_t cells = p->x->c->cells;
    for (int64_t s = from; s < to; ++s)
        p->atoms[s] = place_cells(p->x, lattice_stretch_begin(cells, p->stretches, s),
                                  lattice_stretch_begin(cells, p->stretches, s + 1), 0);
}

static void move_stretch(void *user, int64_t from, int64_t to) {
    const placing *p = user;
    const counting *x = p->x;
    size_t cells = x->c->cells;
    for (int64_t n = from; n < to; ++n) {
        size_t begin = lattice_stretch_begin(cells, p->stretches, n),
               end = lattice_stretch_begin(cells, p->stretches, n + 1);
        for (size_t k = begin; k < end; ++k) x->c->start[k] += p->atoms[n];
        for (int64_t s = 0; s < x->stretches; ++s)
            for (size_t k = begin; k < end; ++k) x->count[(size_t)s * cells + k] += p->atoms[n];
    }
}

static void place_all(const counting *x) {
    placing p = {.x = x, .stretches = lattice_stretches(x->c->cells * (size_t)x->stretches, 1)};
    int32_t sum = 0;
    atn_parallel(p.stretches, 1, place_stretch, &p);
    for (int64_t s = 0; s < p.stretches; ++s) {
        int32_t here = p.atoms[s];
        p.atoms[s] = sum;
        sum += here;
    }
    if (p.stretches > 1) atn_parallel(p.stretches, 1, move_stretch, &p);
    x->c->start[x->c->cells] = sum;
}

/* start[k]: where the atoms of cell k begin in the order. Counts of all stretches are at most two an atom. */
static atn_status sort_all(lattice_cells *c, const atn_atoms *atoms, double angstrom) {
    counting x = {c, atoms, angstrom, lattice_stretches(c->atoms, c->cells / 2), NULL};
    c->start = atn_alloc(c->ctx, (c->cells + 1) * sizeof *c->start);
    x.count = atn_alloc(c->ctx, (size_t)x.stretches * (c->cells + 1) * sizeof *x.count);
    if (c->start && x.count) {
        atn_parallel(x.stretches, 1, count_cells, &x);
        place_all(&x);
        atn_parallel(x.stretches, 1, put_atoms, &x);
    }
    atn_status status = c->start && x.count ? atn_check_cancel(c->ctx) : ATN_ERR_MEMORY;
    atn_free(c->ctx, x.count);
    return status;
}

static atn_status sort_sparse(lattice_cells *c, const atn_atoms *atoms, double angstrom) {
    cloud_keyed *items;
    atn_status status = cloud_keyed_make(c->ctx, c->atoms, &items);
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < c->atoms; ++k) {
        double p[3];
        int64_t at[3];
        place_of(atoms, angstrom, k, p);
        cell_at(c, p, at);
        items[k] = (cloud_keyed){.key = lattice_cell_key(at), .index = (uint32_t)k};
    }
    cloud_keyed_sort(items, c->atoms);
    for (size_t k = 0; k < c->atoms; ++k) c->cells += k == 0 || items[k].key != items[k - 1].key;
    c->key = atn_alloc(c->ctx, (c->cells + 1) * sizeof *c->key);
    c->start = atn_alloc(c->ctx, (c->cells + 1) * sizeof *c->start);
    size_t cell = 0;
    for (size_t k = 0; k < c->atoms && c->key && c->start; ++k) {
        c->order[k] = (int32_t)items[k].index;
        if (k && items[k].key == items[k - 1].key) continue;
        c->key[cell] = items[k].key;
        c->start[cell++] = (int32_t)k;
    }
    status = c->key && c->start ? atn_check_cancel(c->ctx) : ATN_ERR_MEMORY;
    if (status == ATN_OK) c->start[cell] = (int32_t)c->atoms;
    atn_free(c->ctx, items);
    return status;
}

/* ---- sites ---- */

/* The cube of a place, from the corner of its cell on. */
static uint64_t cube_of(const lattice_cells *c, const double p[3], const double corner[3]) {
    int64_t cube[3];
    for (int axis = 0; axis < 3; ++axis) {
        double from = fmax(p[axis] - c->low[axis] - corner[axis], 0);
        cube[axis] = (int64_t)(from / ONE_PLACE) & ((1 << AXIS_BITS) - 1);
    }
    return lattice_cell_key(cube);
}

/* Is a key certainly not among those before? They are noted as bits. */
static bool is_new(uint64_t seen[4], uint64_t key) {
    uint64_t hash = key * 0x9e3779b97f4a7c15U >> 56, bit = (uint64_t)1 << (hash & 63), *of = &seen[hash >> 6];
    bool fresh = !(*of & bit);
    *of |= bit;
    return fresh;
}

/* Of the atoms from `from` to `end` in the order, which are those of a cell: the sites, from number *sites on. items:
 * room for so many. */
static void find_sites(lattice_cells *c, const atn_atoms *atoms, double angstrom, int32_t from, int32_t end,
                       cloud_keyed *items, int32_t *sites) {
    int32_t count = end - from;
    uint64_t seen[4] = {0};
    double corner[3];
    for (int32_t k = 0; k < count; ++k) {
        double p[3];
        int64_t at[3];
        place_of(atoms, angstrom, (size_t)c->order[from + k], p);
        if (k == 0) cell_at(c, p, at);
        for (int axis = 0; axis < 3 && k == 0; ++axis) corner[axis] = (double)at[axis] * c->edge;
        items[k] = (cloud_keyed){.key = cube_of(c, p, corner), .index = (uint32_t)c->order[from + k]};
    }
    if (count > FEW) cloud_keyed_sort(items, (size_t)count); /* else looked through one by one */
    for (int32_t k = 0; k < count; ++k) {
        int32_t same = is_new(seen, items[k].key) ? -1 : k - 1, first = count > FEW ? k - 1 : 0;
        while (same >= first && same >= 0 && items[same].key != items[k].key) --same;
        bool known = same >= first && same >= 0;
        c->order[from + k] = (int32_t)items[k].index;
        c->rank[items[k].index] = from + k;
        c->site[from + k] = known ? c->site[from + same] : *sites;
        if (known) continue;
        double p[3];
        place_of(atoms, angstrom, items[k].index, p);
        for (int axis = 0; axis < 3; ++axis) c->axis[axis][*sites] = (float)(p[axis] - c->low[axis]);
        ++*sites;
    }
}

/* Stretches of cells, one for each core: their sites are numbered as if no two atoms before were at one place. */
typedef struct merging {
    lattice_cells *c;
    const atn_atoms *atoms;
    double angstrom;
    size_t most; /* atoms of a cell */
    int64_t stretches;
    int32_t *end, *sites; /* of each stretch: behind the last of its atoms, and of its sites */
    cloud_keyed *items;   /* room for `most`, twice, for each */
} merging;

static size_t cell_of(const merging *x, int64_t stretch) {
    return lattice_stretch_begin(x->c->cells, x->stretches, stretch);
}

static void merge_stretch(void *user, int64_t from, int64_t to) {
    merging *x = user;
    lattice_cells *c = x->c;
    for (int64_t s = from; s < to; ++s) {
        size_t last = cell_of(x, s + 1);
        int32_t begin = c->start[cell_of(x, s)], sites = begin;
        for (size_t k = cell_of(x, s); k < last; ++k) {
            int32_t end = k + 1 < last ? c->start[k + 1] : x->end[s];
            c->start[k] = sites;
            find_sites(c, x->atoms, x->angstrom, begin, end, x->items + 2 * x->most * (size_t)s, &sites);
            begin = end;
        }
        x->sites[s] = sites;
    }
}

/* Numbers without the gaps that atoms at one place left. */
static void close_gap(const merging *x, int64_t s, int32_t first, int32_t to) {
    lattice_cells *c = x->c;
    for (size_t k = cell_of(x, s); k < cell_of(x, s + 1); ++k) c->start[k] -= first - to;
    for (int32_t k = first; k < x->end[s]; ++k) c->site[k] -= first - to;
    for (int axis = 0; axis < 3; ++axis)
        memmove(c->axis[axis] + to, c->axis[axis] + first, (size_t)(x->sites[s] - first) * sizeof **c->axis);
}

static atn_status merge(lattice_cells *c, const atn_atoms *atoms, double angstrom) {
    int32_t end[ATN_PARALLEL_MOST], sites[ATN_PARALLEL_MOST], to = 0, first = 0;
    merging x = {c, atoms, angstrom, 0, 1, end, sites, NULL};
    for (size_t k = 0; k < c->cells; ++k)
        if ((size_t)(c->start[k + 1] - c->start[k]) > x.most) x.most = (size_t)(c->start[k + 1] - c->start[k]);
    x.stretches = lattice_stretches(c->atoms, x.most);
    atn_status status = cloud_keyed_make(c->ctx, x.most * (size_t)x.stretches, &x.items);
    if (status != ATN_OK) return status;
    for (int64_t s = 0; s < x.stretches; ++s) end[s] = c->start[cell_of(&x, s + 1)];
    atn_parallel(x.stretches, 1, merge_stretch, &x);
    atn_free(c->ctx, x.items);
    for (int64_t s = 0; s < x.stretches; first = end[s++]) {
        if (first != to) close_gap(&x, s, first, to);
        to += sites[s] - first;
    }
    c->start[c->cells] = to;
    return atn_check_cancel(c->ctx);
}

static atn_status fill(lattice_cells *c, const atn_atoms *atoms, double angstrom, const double high[3], double reach) {
    bool all;
    atn_status status = divide(c, high, reach, &all);
    if (status != ATN_OK) return status;
    c->order = atn_alloc(c->ctx, c->atoms * sizeof *c->order);
    c->rank = atn_alloc(c->ctx, c->atoms * sizeof *c->rank);
    c->site = atn_alloc(c->ctx, c->atoms * sizeof *c->site);
    for (int axis = 0; axis < 3; ++axis) c->axis[axis] = atn_alloc(c->ctx, c->atoms * sizeof **c->axis);
    if (!c->order || !c->rank || !c->site || !c->axis[0] || !c->axis[1] || !c->axis[2]) return ATN_ERR_MEMORY;
    status = all ? sort_all(c, atoms, angstrom) : sort_sparse(c, atoms, angstrom);
    return status == ATN_OK ? merge(c, atoms, angstrom) : status;
}

atn_status lattice_cells_make_in(const atn_ctx *ctx, const atn_atoms *atoms, double angstrom, double reach,
                                 const double low[3], const double high[3], lattice_cells *out) {
    lattice_cells *c = out;
    *c = (lattice_cells){.ctx = ctx, .atoms = atoms->count, .low = {low[0], low[1], low[2]}};
    if (atoms->count > INT32_MAX / 2)
        return atn_fail(ctx, ATN_ERR_INPUT, "lattice: %zu atoms at once; use slabs of fewer than 2^30", atoms->count);
    atn_status status = fill(c, atoms, angstrom, high, reach);
    if (status != ATN_OK) lattice_cells_free(c);
    return status;
}

void lattice_bounds(const atn_atoms *atoms, double angstrom, double low[3], double high[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        lattice_span(atoms->position[axis], atoms->count, &low[axis], &high[axis]);
        low[axis] *= angstrom, high[axis] *= angstrom;
    }
}

atn_status lattice_cells_make(const atn_ctx *ctx, const atn_atoms *atoms, double angstrom, double reach,
                              lattice_cells *out) {
    double low[3], high[3];
    lattice_bounds(atoms, angstrom, low, high);
    return lattice_cells_make_in(ctx, atoms, angstrom, reach, low, high, out);
}

void lattice_cells_free(lattice_cells *cells) {
    if (!cells->ctx) return;
    atn_free(cells->ctx, cells->key);
    atn_free(cells->ctx, cells->start);
    atn_free(cells->ctx, cells->order);
    atn_free(cells->ctx, cells->rank);
    atn_free(cells->ctx, cells->site);
    for (int axis = 0; axis < 3; ++axis) atn_free(cells->ctx, cells->axis[axis]);
    *cells = (lattice_cells){0};
}
