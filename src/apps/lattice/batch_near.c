/* The neighbours of a batch of atoms: one by one, or of all of them on all cores. */
#include "apps/lattice/parts.h"

#include "base/parallel.h"

/* For the neighbours of one more atom. */
static bool has_room(const lattice_near *near) {
    return (size_t)near->start[near->atoms] + ATN_LATTICE_MOST_NEIGHBOURS <= near->room;
}

bool lattice_batch_is_full(const atn_lattice *l) { return l->near.atoms == (size_t)l->batch || !has_room(&l->near); }

/* Neighbours of an atom that is to be matched; none in a crowd, which no lattice explains and which costs the most. */
static int32_t near_of(const atn_lattice *l, const lattice_cells *cells, size_t atom, float *const to[3],
                       int32_t *inner) {
    enum { CROWD = 4 }; /* times as many as atoms usually have */
    int32_t n = lattice_cells_near(cells, atom, l->inner, l->info.cutoff, to[0], to[1], to[2], inner);
    if (n < ATN_LATTICE_MOST_NEIGHBOURS || n < CROWD * l->info.neighbours) return n;
    *inner = 0;
    return 0;
}

void lattice_add_atom(atn_lattice *l, const lattice_cells *cells, size_t atom) {
    int32_t at = l->near.start[l->near.atoms], inner;
    float *to[3] = {l->near.axis[0] + at, l->near.axis[1] + at, l->near.axis[2] + at};
    int32_t n = near_of(l, cells, atom, to, &inner);
    l->near.inner[l->near.atoms] = at + inner;
    l->near.start[++l->near.atoms] = at + n;
}

typedef struct finding {
    const atn_lattice *l;
    const lattice_cells *cells;
    const size_t *which;
    lattice_near *near;
} finding;

/* All cores count them, then put them where they belong. */
static void count_part(void *user, int64_t from, int64_t to) {
    const finding *f = user;
    const atn_lattice *l = f->l;
    int32_t inner;
    for (int64_t i = from; i < to; ++i)
        f->near->start[i + 1] = near_of(l, f->cells, f->which[i], (float *const[3]){NULL, NULL, NULL}, &inner);
}

static void fill_part(void *user, int64_t from, int64_t to) {
    const finding *f = user;
    const lattice_near *near = f->near;
    for (int64_t i = from; i < to; ++i) {
        int32_t at = near->start[i], inner = 0;
        float *to_here[3] = {near->axis[0] + at, near->axis[1] + at, near->axis[2] + at};
        if (near->start[i + 1] > at) (void)near_of(f->l, f->cells, f->which[i], to_here, &inner);
        near->inner[i] = at + inner;
    }
}

size_t lattice_near_fill(const atn_lattice *l, const lattice_cells *cells, const size_t *which, size_t count,
                         lattice_near *near) {
    finding f = {.l = l, .cells = cells, .which = which, .near = near};
    size_t n = 0;
    near->start[0] = 0;
    atn_parallel((int64_t)count, LATTICE_PART, count_part, &f);
    for (; n < count && (size_t)near->start[n] + (size_t)near->start[n + 1] <= near->room; ++n)
        near->start[n + 1] += near->start[n];
    atn_parallel((int64_t)n, LATTICE_PART, fill_part, &f);
    near->atoms = n;
    return n;
}
