/* Neighbours by cell lists: atoms are sorted into cells as wide as the cut-off, so that all neighbours of one are in 27
 * cells. Where nearly all cells would be empty, those that are not are listed. Atoms at one place are one site, so that
 * no cell is crowded by them. Memory: 24 bytes an atom, and 4 a cell, of which there are at most two an atom. */
#include "apps/lattice/near_sums.h"

#include "base/extreme.h"
#include "base/lanes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cloud/points.h"
#include "cloud/sort.h"

#include <math.h>
#include <string.h>

enum { AXIS_BITS = 21, FEW = 24 };
enum { STRETCH = 1 << 14 };            /* atoms for which a core is worth waking */
static const double MOST_EXTENT = 1e6; /* Angstrom, a tenth of a millimetre: floats tell places to a twentieth of one */
static const double ONE_PLACE = 5e-5;  /* Angstrom: the cubes whose atoms are one site, far below what is a neighbour */

static void cell_at(const lattice_cells *c, const double p[3], int64_t at[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        at[axis] = (int64_t)((p[axis] - c->low[axis]) / c->edge);
        if (at[axis] >= c->size[axis]) at[axis] = c->size[axis] - 1;
    }
}

static uint64_t key_of(const int64_t at[3]) {
    return ((uint64_t)at[2] << AXIS_BITS | (uint64_t)at[1]) << AXIS_BITS | (uint64_t)at[0];
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
        double low = x->list[begin], high = low;
        for (size_t k = begin; k < end; ++k) low = atn_lesser(low, x->list[k]), high = atn_larger(high, x->list[k]);
        x->low[s] = low, x->high[s] = high;
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

/* start[k]: where the atoms of cell k begin in the order. Counts of all stretches are at most two an atom. */
static atn_status sort_all(lattice_cells *c, const atn_atoms *atoms, double angstrom) {
    counting x = {c, atoms, angstrom, lattice_stretches(c->atoms, c->cells / 2), NULL};
    c->start = atn_alloc(c->ctx, (c->cells + 1) * sizeof *c->start);
    x.count = atn_zalloc(c->ctx, (size_t)x.stretches * (c->cells + 1) * sizeof *x.count);
    if (c->start && x.count) {
        int32_t sum = 0;
        atn_parallel(x.stretches, 1, count_cells, &x);
        for (size_t k = 0; k < c->cells; ++k) {
            c->start[k] = sum;
            for (int64_t s = 0; s < x.stretches; ++s) {
                int32_t *count = &x.count[(size_t)s * c->cells + k], n = *count;
                *count = sum;
                sum += n;
            }
        }
        c->start[c->cells] = sum;
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
        items[k] = (cloud_keyed){.key = key_of(at), .index = (uint32_t)k};
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
static uint64_t cube_of(const lattice_cells *c, const double p[3]) {
    int64_t at[3], cube[3];
    cell_at(c, p, at);
    for (int axis = 0; axis < 3; ++axis) {
        double from = fmax(p[axis] - c->low[axis] - (double)at[axis] * c->edge, 0);
        cube[axis] = (int64_t)(from / ONE_PLACE) & ((1 << AXIS_BITS) - 1);
    }
    return key_of(cube);
}

/* Of the atoms from `from` to `end` in the order, which are those of a cell: the sites, from number *sites on. items:
 * room for so many. */
static void find_sites(lattice_cells *c, const atn_atoms *atoms, double angstrom, int32_t from, int32_t end,
                       cloud_keyed *items, int32_t *sites) {
    int32_t count = end - from;
    for (int32_t k = 0; k < count; ++k) {
        double p[3];
        place_of(atoms, angstrom, (size_t)c->order[from + k], p);
        items[k] = (cloud_keyed){.key = cube_of(c, p), .index = (uint32_t)c->order[from + k]};
    }
    if (count > FEW) cloud_keyed_sort(items, (size_t)count); /* else looked through one by one */
    for (int32_t k = 0; k < count; ++k) {
        int32_t same = k - 1, first = count > FEW ? k - 1 : 0;
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

atn_status lattice_cells_make(const atn_ctx *ctx, const atn_atoms *atoms, double angstrom, double reach,
                              lattice_cells *out) {
    lattice_cells *c = out;
    double high[3] = {0};
    *c = (lattice_cells){.ctx = ctx, .atoms = atoms->count};
    if (atoms->count > INT32_MAX / 2)
        return atn_fail(ctx, ATN_ERR_INPUT, "lattice: %zu atoms at once; use slabs of fewer than 2^30", atoms->count);
    for (int axis = 0; axis < 3; ++axis) {
        lattice_span(atoms->position[axis], atoms->count, &c->low[axis], &high[axis]);
        c->low[axis] *= angstrom, high[axis] *= angstrom;
    }
    atn_status status = fill(c, atoms, angstrom, high, reach);
    if (status != ATN_OK) lattice_cells_free(c);
    return status;
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

/* ---- asking ---- */

/* The first cell of the list whose key is not lower. */
static size_t find_key(const lattice_cells *c, uint64_t key) {
    size_t low = 0, high = c->cells;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->key[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The sites of the cells from `low` to `high` of a row, which lie side by side. */
static void row_of(const lattice_cells *c, int64_t low, int64_t high, int64_t y, int64_t z, int32_t *from,
                   int32_t *end) {
    if (!c->key) {
        int64_t row = (z * c->size[1] + y) * c->size[0];
        *from = c->start[row + low];
        *end = c->start[row + high + 1];
        return;
    }
    size_t cell = find_key(c, key_of((int64_t[3]){low, y, z}));
    *from = c->start[cell];
    for (uint64_t last = key_of((int64_t[3]){high, y, z}); cell < c->cells && c->key[cell] <= last;) ++cell;
    *end = c->start[cell];
}

/* What is collected for one atom: which of some points, the nearer ones and the others. */
enum { MOST = ATN_LATTICE_MOST_NEIGHBOURS };
typedef struct collected {
    int32_t inner, outer; /* how many */
    int32_t is_inner[MOST + 1], is_outer[MOST + 1];
    float p[3], inner2, reach2;
} collected;

enum { AT_ONCE = LATTICE_BLOCK };
static const float ITSELF = 1e-8F; /* the square of a distance: the atom, or one at its place */

ATN_IN_LANES static void find_squares(const float *const axis[3], const float p[3], int32_t from, int32_t n,
                                      float *restrict square) {
    const float *restrict x = axis[0] + from, *restrict y = axis[1] + from, *restrict z = axis[2] + from;
    const float px = p[0], py = p[1], pz = p[2];
    ATN_LANES()
    for (int32_t k = 0; k < n; ++k)
        square[k] = (x[k] - px) * (x[k] - px) + (y[k] - py) * (y[k] - py) + (z[k] - pz) * (z[k] - pz);
}

/* No more than MOST in all. Without a branch: which are near is as good as random. */
static void collect(collected *to, const float *const axis[3], int32_t from, int32_t end) {
    const float reach2 = to->reach2, inner2 = to->inner2;
    for (; from < end && to->inner + to->outer < MOST; from += AT_ONCE) {
        int32_t n = end - from < AT_ONCE ? end - from : AT_ONCE, inside[AT_ONCE], count = 0;
        int32_t inner = to->inner, outer = to->outer;
        float square[AT_ONCE];
        find_squares(axis, to->p, from, n, square);
        for (int32_t k = 0; k < n; ++k) {
            inside[count] = k;
            count += (square[k] < reach2) & (square[k] >= ITSELF);
        }
        if (count > MOST - inner - outer) count = MOST - inner - outer;
        for (int32_t k = 0; k < count; ++k) {
            /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): `count` of them are there */
            int32_t nearer = square[inside[k]] < inner2;
            to->is_inner[inner] = to->is_outer[outer] = from + inside[k];
            inner += nearer;
            outer += !nearer;
        }
        to->inner = inner, to->outer = outer;
    }
}

static void put_places(const collected *to, const float *const axis[3], float *const out[3]) {
    for (int c = 0; c < 3; ++c) {
        const float *restrict from = axis[c], p = to->p[c];
        float *restrict place = out[c];
        for (int32_t k = 0; k < to->inner; ++k) place[k] = from[to->is_inner[k]] - p;
        for (int32_t k = 0; k < to->outer; ++k) place[to->inner + k] = from[to->is_outer[k]] - p;
    }
}

/* Rows of the cells around one, in which lie all neighbours of its atoms. */
static int32_t rows_around(const lattice_cells *c, const int64_t at[3], int32_t around, int32_t from[LATTICE_ROWS],
                           int32_t end[LATTICE_ROWS]) {
    int64_t low = at[0] > around ? at[0] - around : 0;
    int64_t high = at[0] + around < c->size[0] ? at[0] + around : c->size[0] - 1;
    int32_t rows = 0;
    for (int64_t z = at[2] - around; z <= at[2] + around; ++z)
        for (int64_t y = at[1] - around; y <= at[1] + around; ++y) {
            if (y < 0 || z < 0 || y >= c->size[1] || z >= c->size[2]) continue;
            row_of(c, low, high, y, z, &from[rows], &end[rows]);
            ++rows;
        }
    return rows;
}

/* Squares of the distances of places from a box. */
ATN_IN_LANES static void find_outside(const lattice_block *block, const float low[3], const float high[3],
                                      float *restrict square) {
    for (int axis = 0; axis < 3; ++axis) {
        const float *restrict x = block->axis[axis], from = low[axis], to = high[axis];
        const bool first = axis == 0;
        ATN_LANES()
        for (int32_t k = 0; k < block->count; ++k) {
            float below = from - x[k], above = x[k] - to, most = below > above ? below : above;
            float far = most > 0 ? most : 0;
            square[k] = far * far + (first ? 0 : square[k]);
        }
    }
}

/* Those that are near to some place of the box that has all sites of the cell. */
static void keep_near(const lattice_cells *c, double reach, lattice_block *block) {
    float low[3], high[3], square[LATTICE_BLOCK], most = (float)(1.0001 * reach * reach);
    int32_t from, end, kept = 0;
    row_of(c, block->at[0], block->at[0], block->at[1], block->at[2], &from, &end);
    for (int axis = 0; axis < 3; ++axis) {
        low[axis] = high[axis] = c->axis[axis][from];
        for (int32_t k = from + 1; k < end; ++k) {
            float x = c->axis[axis][k];
            low[axis] = x < low[axis] ? x : low[axis], high[axis] = x > high[axis] ? x : high[axis];
        }
    }
    find_outside(block, low, high, square);
    for (int32_t k = 0; k < block->count; ++k) {
        for (int axis = 0; axis < 3; ++axis) block->axis[axis][kept] = block->axis[axis][k];
        kept += square[k] <= most;
    }
    block->count = kept;
}

static void fill_block(const lattice_cells *c, double reach, lattice_block *block) {
    int32_t from[LATTICE_ROWS], end[LATTICE_ROWS], rows = rows_around(c, block->at, 1, from, end), sum = 0;
    for (int32_t r = 0; r < rows; ++r) {
        int32_t n = end[r] - from[r];
        if (n > LATTICE_BLOCK - sum) return; /* crowded: row by row */
        for (int axis = 0; axis < 3; ++axis)
            memcpy(block->axis[axis] + sum, c->axis[axis] + from[r], (size_t)n * sizeof **block->axis);
        sum += n;
    }
    block->count = sum;
    keep_near(c, reach, block);
}

/* The second atom of a cell in a row makes its block. */
static bool has_block(const lattice_cells *c, const int64_t at[3], double reach, lattice_block *block) {
    if (block->seen && memcmp(block->at, at, sizeof block->at) == 0) {
        if (!block->filled) fill_block(c, reach, block);
        block->filled = true;
        return block->count > 0;
    }
    block->seen = true, block->filled = false, block->count = 0;
    memcpy(block->at, at, sizeof block->at);
    return false;
}

int32_t lattice_cells_near(const lattice_cells *c, size_t atom, double inner, double reach, lattice_block *block,
                           float *x, float *y, float *z, int32_t *n_inner) {
    int32_t site = c->site[c->rank[atom]], from[LATTICE_ROWS], end[LATTICE_ROWS], own, behind;
    const float *const all[3] = {c->axis[0], c->axis[1], c->axis[2]};
    collected to = {.inner2 = (float)(inner * inner), .reach2 = (float)(reach * reach)};
    int64_t at[3];
    for (int axis = 0; axis < 3; ++axis) to.p[axis] = c->axis[axis][site];
    lattice_cells_at(c, site, at);
    if (block && has_block(c, at, reach, block)) {
        const float *const some[3] = {block->axis[0], block->axis[1], block->axis[2]};
        collect(&to, some, 0, block->count);
        if (x) put_places(&to, some, (float *const[3]){x, y, z});
        *n_inner = to.inner;
        return to.inner + to.outer;
    }
    row_of(c, at[0], at[0], at[1], at[2], &own, &behind);
    if (behind - own > MOST) collect(&to, all, own, behind); /* as many as are looked at: those around need no look */
    if (to.inner + to.outer < MOST) {
        int32_t rows = rows_around(c, at, 1, from, end);
        to.inner = to.outer = 0;
        for (int32_t r = 0; r < rows; ++r) collect(&to, all, from[r], end[r]);
    }
    if (x) put_places(&to, all, (float *const[3]){x, y, z});
    *n_inner = to.inner;
    return to.inner + to.outer;
}

void lattice_cells_at(const lattice_cells *c, int32_t site, int64_t at[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        at[axis] = (int64_t)((double)c->axis[axis][site] / c->edge);
        if (at[axis] >= c->size[axis]) at[axis] = c->size[axis] - 1;
    }
}

int32_t lattice_cells_rows(const lattice_cells *c, int32_t site, int32_t around, int32_t from[LATTICE_ROWS],
                           int32_t end[LATTICE_ROWS]) {
    int64_t at[3];
    lattice_cells_at(c, site, at);
    return rows_around(c, at, around, from, end);
}

int32_t lattice_cells_sites(const lattice_cells *c, size_t atom, double reach, int32_t *out, float *far) {
    const float *const axis[3] = {c->axis[0], c->axis[1], c->axis[2]};
    int32_t site = c->site[c->rank[atom]], from, end, n = 0;
    int64_t low[3], high[3];
    float p[3], reach2 = (float)(reach * reach);
    for (int a = 0; a < 3; ++a) {
        double at = (double)c->axis[a][site];
        p[a] = c->axis[a][site];
        low[a] = (int64_t)fmax(floor((at - reach) / c->edge), 0);
        high[a] = (int64_t)fmin(floor((at + reach) / c->edge), (double)(c->size[a] - 1));
    }
    for (int64_t z = low[2]; z <= high[2]; ++z)
        for (int64_t y = low[1]; y <= high[1]; ++y) {
            row_of(c, low[0], high[0], y, z, &from, &end);
            for (; from < end && n < MOST; from += AT_ONCE) {
                int32_t some = end - from < AT_ONCE ? end - from : AT_ONCE, inside[AT_ONCE], count = 0;
                float square[AT_ONCE];
                find_squares(axis, p, from, some, square);
                for (int32_t k = 0; k < some; ++k) {
                    inside[count] = k;
                    count += (square[k] < reach2) & (from + k != site);
                }
                for (int32_t k = 0; k < count && n < MOST; ++k) {
                    int32_t one = inside[k]; /* NOLINT(clang-analyzer-core.uninitialized.Assign): set above */
                    if (far) far[n] = square[one];
                    out[n++] = from + one;
                }
            }
        }
    return n;
}

/* ---- of a batch ---- */

atn_status lattice_near_make(const atn_ctx *ctx, size_t atoms, size_t room, lattice_near *out) {
    bool good = true;
    *out = (lattice_near){.room = room};
    for (int axis = 0; axis < 3; ++axis) {
        out->axis[axis] = atn_alloc(ctx, (room + NEAR_LANES) * sizeof **out->axis);
        good = good && out->axis[axis];
    }
    out->start = atn_zalloc(ctx, (atoms + 1) * sizeof *out->start);
    out->inner = atn_zalloc(ctx, atoms * sizeof *out->inner);
    out->hint = atn_zalloc(ctx, atoms * sizeof *out->hint);
    out->null = atn_zalloc(ctx, atoms * sizeof *out->null);
    return good && out->start && out->inner && out->hint && out->null ? ATN_OK : ATN_ERR_MEMORY;
}

void lattice_near_end(lattice_near *near) {
    int32_t end = near->start[near->atoms];
    for (int axis = 0; axis < 3; ++axis) memset(near->axis[axis] + end, 0, NEAR_LANES * sizeof **near->axis);
}

void lattice_near_add(lattice_near *near, int32_t inner, int32_t end) {
    near->inner[near->atoms] = inner;
    near->null[near->atoms] = NAN;
    near->staged = false;
    near->start[++near->atoms] = end;
    lattice_near_end(near);
}

void lattice_near_free(const atn_ctx *ctx, lattice_near *near) {
    for (int axis = 0; axis < 3; ++axis) atn_free(ctx, near->axis[axis]);
    atn_free(ctx, near->start);
    atn_free(ctx, near->inner);
    atn_free(ctx, near->hint);
    atn_free(ctx, near->null);
    *near = (lattice_near){0};
}
