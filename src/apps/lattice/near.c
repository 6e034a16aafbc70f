/* Neighbours of atoms, from the lists of cells (cells.c). */
#include "apps/lattice/near_sums.h"

#include "base/lanes.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

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
    size_t cell = find_key(c, lattice_cell_key((int64_t[3]){low, y, z}));
    *from = c->start[cell];
    for (uint64_t last = lattice_cell_key((int64_t[3]){high, y, z}); cell < c->cells && c->key[cell] <= last;) ++cell;
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

/* Of numbers that are not negative the larger has the larger bits: one comparison tells whether one is in a range. */
static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* No more than MOST in all. Without a branch: which are near is as good as random. */
static void collect(collected *to, const float *const axis[3], int32_t from, int32_t end) {
    const uint32_t least = bits_of(ITSELF); /* from there to below reach2 */
    const uint32_t span = to->reach2 > ITSELF ? bits_of(to->reach2) - least : 0;
    const float inner2 = to->inner2;
    for (; from < end && to->inner + to->outer < MOST; from += AT_ONCE) {
        int32_t n = end - from < AT_ONCE ? end - from : AT_ONCE, inside[AT_ONCE], count = 0;
        int32_t inner = to->inner, outer = to->outer;
        float square[AT_ONCE];
        find_squares(axis, to->p, from, n, square);
        for (int32_t k = 0; k < n; ++k) {
            inside[count] = k;
            count += bits_of(square[k]) - least < span;
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
    collected to; /* its lists need no zeros */
    int64_t at[3];
    to.inner = to.outer = 0, to.inner2 = (float)(inner * inner), to.reach2 = (float)(reach * reach);
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
