/* The neighbours of a batch of atoms: for one atom, or for all of them on all cores. */
#include "apps/lattice/parts.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

/* For the neighbours of one more atom. */
static bool has_room(const lattice_near *near) {
    return (size_t)near->start[near->atoms] + ATN_LATTICE_MOST_NEIGHBOURS <= near->room;
}

bool lattice_batch_is_full(const atn_lattice *l) { return l->near.atoms == (size_t)l->batch || !has_room(&l->near); }

/* Neighbours of an atom that is to be matched; none in a crowd, which no lattice explains and which costs the most. */
static int32_t near_of(const atn_lattice *l, const lattice_cells *cells, size_t atom, lattice_block *block,
                       float *const to[3], int32_t *inner) {
    enum { CROWD = 4 }; /* times as many as atoms usually have */
    int32_t n = lattice_cells_near(cells, atom, l->inner, l->info.cutoff, block, to[0], to[1], to[2], inner);
    if (n < ATN_LATTICE_MOST_NEIGHBOURS || n < CROWD * l->info.neighbours) return n;
    *inner = 0;
    return 0;
}

void lattice_add_atom(atn_lattice *l, const lattice_cells *cells, size_t atom) {
    int32_t at = l->near.start[l->near.atoms], inner;
    float *to[3] = {l->near.axis[0] + at, l->near.axis[1] + at, l->near.axis[2] + at};
    int32_t n = near_of(l, cells, atom, NULL, to, &inner);
    lattice_near_add(&l->near, at + inner, at + n);
}

/* Pieces of a batch: each has a region for the neighbours of its atoms, one after the other, from which they are put
 * where they belong once all are counted. */
enum { PIECE = 128, REGION = 64 * PIECE };

typedef struct finding {
    const atn_lattice *l;
    const lattice_cells *cells;
    const size_t *which;
    size_t count;
    float *const *stage; /* NULL: none */
    lattice_near *near;
} finding;

size_t lattice_regions(int32_t batch) { return ((size_t)batch + PIECE - 1) / PIECE * REGION; }

/* In a region that is full the others are counted alone. */
static void find_part(void *user, int64_t from, int64_t to) {
    const finding *f = user;
    const atn_lattice *l = f->l;
    for (int64_t piece = from; piece < to; ++piece) {
        int32_t at = (int32_t)piece * REGION, end = at + REGION;
        lattice_block block;
        block.seen = false;
        for (size_t i = (size_t)piece * PIECE; i < (size_t)(piece + 1) * PIECE && i < f->count; ++i) {
            bool fits = at + ATN_LATTICE_MOST_NEIGHBOURS <= end;
            float *const to_here[3] = {fits ? l->region[0] + at : NULL, l->region[1] + at, l->region[2] + at};
            int32_t n = near_of(l, f->cells, f->which[i], &block, to_here, &f->near->inner[i]);
            f->near->start[i + 1] = n;
            l->place[i] = fits ? at : -1;
            at += fits ? n : 0;
        }
    }
}

static void fill_part(void *user, int64_t from, int64_t to) {
    const finding *f = user;
    const lattice_near *near = f->near;
    for (int64_t i = from; i < to; ++i) {
        int32_t at = near->start[i], n = near->start[i + 1] - at, inner = near->inner[i], place = f->l->place[i];
        float *to_here[3] = {near->axis[0] + at, near->axis[1] + at, near->axis[2] + at};
        for (int axis = 0; axis < 3 && place >= 0; ++axis)
            memcpy(to_here[axis], f->l->region[axis] + place, (size_t)n * sizeof(float));
        if (n > 0 && place < 0) (void)near_of(f->l, f->cells, f->which[i], NULL, to_here, &inner);
        for (int axis = 0; axis < 3 && f->stage; ++axis)
            memcpy(f->stage[axis] + at, to_here[axis], (size_t)n * sizeof(float));
        near->inner[i] = at + inner;
        near->null[i] = NAN;
    }
}

size_t lattice_near_fill(const atn_lattice *l, const lattice_cells *cells, const size_t *which, size_t count,
                         float *const stage[3], lattice_near *near) {
    finding f = {.l = l, .cells = cells, .which = which, .count = count, .stage = stage, .near = near};
    size_t n = 0;
    near->start[0] = 0;
    atn_parallel_pieces((int64_t)((count + PIECE - 1) / PIECE), find_part, &f);
    for (; n < count && (size_t)near->start[n] + (size_t)near->start[n + 1] <= near->room; ++n)
        near->start[n + 1] += near->start[n];
    atn_parallel((int64_t)n, LATTICE_PART, fill_part, &f);
    near->atoms = n;
    near->staged = stage;
    lattice_near_end(near);
    return n;
}
