/* The neighbours of a batch of atoms: for one atom, or for all of them on all cores. */
#include "apps/lattice/parts.h"

#include "base/parallel.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
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

/* Pieces of a batch: neighbours of its atoms are found one after the other, where the core at work has room, and put
 * where they belong once those of the piece before are counted. */
enum { PIECE = 64, REGION = 64 * PIECE };

typedef struct finding {
    const atn_lattice *l;
    const lattice_cells *cells;
    const size_t *which;
    size_t count;
    float *const *stage; /* NULL: none */
    lattice_near *near;
    atomic_llong turn; /* the piece that is counted next; what follows is its own then */
    size_t atoms;      /* of the pieces before */
    int32_t at;        /* their neighbours */
    bool full;
} finding;

/* What was found for a piece. */
typedef struct found {
    size_t first, count; /* atoms of the batch */
    int32_t n[PIECE], inner[PIECE];
    int32_t place[PIECE]; /* of the first neighbour; -1: there was no room, they were counted alone */
    float axis[3][REGION];
} found;

static void find_atoms(const finding *f, found *of) {
    lattice_block block;
    int32_t at = 0;
    block.seen = false;
    for (size_t k = 0; k < of->count; ++k) {
        bool fits = at + ATN_LATTICE_MOST_NEIGHBOURS <= REGION;
        float *const to[3] = {fits ? of->axis[0] + at : NULL, of->axis[1] + at, of->axis[2] + at};
        of->n[k] = near_of(f->l, f->cells, f->which[of->first + k], &block, to, &of->inner[k]);
        of->place[k] = fits ? at : -1;
        at += fits ? of->n[k] : 0;
    }
}

/* Where its neighbours go, which is known when its turn comes; returns how many of its atoms there is room for. */
static size_t take_turn(finding *f, int64_t piece, const found *of, int32_t *begin) {
    size_t kept = 0;
    while (atomic_load_explicit(&f->turn, memory_order_acquire) != piece) sched_yield();
    *begin = f->at;
    for (; kept < of->count && !f->full; kept += !f->full) {
        f->full = (size_t)f->at + (size_t)of->n[kept] > f->near->room;
        f->at += f->full ? 0 : of->n[kept];
    }
    f->atoms += kept;
    atomic_store_explicit(&f->turn, piece + 1, memory_order_release);
    return kept;
}

static void put_atoms(const finding *f, const found *of, size_t count, int32_t at) {
    const lattice_near *near = f->near;
    for (size_t k = 0; k < count && k < of->count; ++k) {
        size_t i = of->first + k, bytes = (size_t)of->n[k] * sizeof(float);
        float *to[3] = {near->axis[0] + at, near->axis[1] + at, near->axis[2] + at};
        int32_t inner = of->inner[k], place = of->place[k];
        for (int axis = 0; axis < 3 && place >= 0; ++axis) memcpy(to[axis], of->axis[axis] + place, bytes);
        if (of->n[k] > 0 && place < 0) (void)near_of(f->l, f->cells, f->which[i], NULL, to, &inner);
        for (int axis = 0; axis < 3 && f->stage; ++axis) memcpy(f->stage[axis] + at, to[axis], bytes);
        near->inner[i] = at + inner;
        near->null[i] = NAN;
        at += of->n[k];
        near->start[i + 1] = at;
    }
}

static void find_part(void *user, int64_t from, int64_t to) {
    finding *f = user;
    for (int64_t piece = from; piece < to; ++piece) {
        found of;
        int32_t begin;
        of.first = (size_t)piece * PIECE;
        of.count = f->count - of.first < PIECE ? f->count - of.first : PIECE;
        find_atoms(f, &of);
        size_t kept = take_turn(f, piece, &of, &begin);
        put_atoms(f, &of, kept, begin);
    }
}

size_t lattice_near_fill(const atn_lattice *l, const lattice_cells *cells, const size_t *which, size_t count,
                         float *const stage[3], lattice_near *near) {
    finding f = {.l = l, .cells = cells, .which = which, .count = count, .stage = stage, .near = near};
    near->start[0] = 0;
    atn_parallel_pieces((int64_t)((count + PIECE - 1) / PIECE), find_part, &f); /* they are begun in their order */
    near->atoms = f.atoms;
    near->staged = stage;
    lattice_near_end(near);
    return f.atoms;
}
