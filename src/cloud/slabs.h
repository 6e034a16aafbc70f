/* Slabs from the inside: one process has all of a frame's, or each of several ranks some that lie side by side. */
#ifndef ATN_CLOUD_SLABS_H
#define ATN_CLOUD_SLABS_H

#include "cloud/frame.h"
#include "cloud/spill.h"

#include <math.h>

enum { SLABS_BINS = 1 << 16, SLABS_ACROSS = 64, SLABS_SAMPLE = 1 << 17 };

/* An atom while it is sorted. */
typedef struct slabs_record {
    double position[3];
    float mass;
    int32_t species;
    uint64_t index;
} slabs_record;

/* The same of an ion of an atom probe, whose numbers are floats. */
typedef struct slabs_ion {
    float position[3], mass;
    uint32_t index;
} slabs_ion;

/* Of its atoms: along the axis and across it; across it everything where slabs are not cut into strips. */
typedef struct slabs_edges {
    double low[2], high[2];
} slabs_edges;

typedef struct slabs_group {
    size_t count;
    slabs_edges edges;
} slabs_group;

typedef struct slabs_slab {
    size_t first, last; /* its groups */
    size_t own;
    size_t strips; /* that it is to be cut into */
} slabs_slab;

/* What one of several ranks has (slabs_ranks.c). */
typedef struct slabs_part {
    atn_ranks_window atoms;   /* 8 bytes: slabs that were taken; then those of its part of the file, by groups */
    atn_ranks_window results; /* of these atoms, in the same order; no window: none are wanted */
    size_t bytes;             /* of a result */
    size_t first;             /* index of the first atom of its part */
    size_t *at;               /* of an atom of the part, in the order of the file: which result is its own; owned */
    uint64_t *start;          /* of group g of rank r, at r (groups + 1) + g: the first of its atoms; owned */
    char *got;                /* atoms of all ranks that a slab needs; owned */
    size_t *place;            /* of group g of rank r in `got`, at r groups + g; owned */
    atn_ranks_piece *piece;   /* room for what is read or written at once, as many; owned */
} slabs_part;

struct atn_slabs {
    const atn_ctx *ctx;
    atn_frame *frame;
    atn_ranks *ranks; /* who share the frame; NULL: it is alone */
    atn_frame_info info;
    atn_slabs_settings options; /* with the defaults filled in */
    size_t wanted;              /* number of slabs; 0: as many as options.atoms makes */
    int axis[2];                /* 0, 1, 2: of the slabs; of strips */
    size_t across;              /* bins across the axis: 1 or SLABS_ACROSS */
    double low[2], per_bin[2];  /* along and across: bin = (x - low) * per_bin */
    uint16_t *group_of;         /* of each bin; owned */
    slabs_group *group;         /* owned */
    slabs_slab *slab;           /* owned */
    size_t groups, slabs;
    slabs_slab sample; /* what settings are found from */
    size_t *mine;      /* slabs of this rank where they are dealt out, `own` of them; owned */
    size_t own;
    spill *spill; /* NULL: no atoms, or those of ranks, which are sorted into `part` */
    slabs_part part;
    size_t most;
    size_t next;         /* of its own */
    size_t bytes;        /* of an atom while it is sorted: a slabs_record, or a slabs_ion (frame_is_of_ions) */
    char *raw;           /* some of them, on their way out of a bucket; owned */
    double *position[3]; /* of the slab that is shown; owned, as all that follows */
    float *mass;
    int32_t *species;
    uint64_t *index;
};

/* As atn_slabs_open; wanted: that many slabs, the first the largest (48: from 2.4 to 0.05 times the mean in atoms), or
 * a multiple of it if one would have more than given->atoms; 0: as given->atoms says. Slabs that would be thinner than
 * two halos are strips of thicker ones, cut across the axis: their halos are smaller. Called by all ranks of the frame,
 * and closed by all after they have agreed on how it went. The same number of slabs gives the same slabs, atom by atom,
 * whatever the number of ranks. */
atn_status slabs_open(atn_frame *frame, const atn_slabs_settings *given, size_t wanted, atn_slabs **out);
void slabs_narrow(atn_slabs *slabs, double halo); /* from now on a halo that is at most as wide as before */
/* The next slab that nobody has taken, of all ranks; *there false: none is left. */
atn_status slabs_take(atn_slabs *slabs, size_t *slab, bool *there);
atn_status slabs_read(atn_slabs *slabs, size_t slab,
                      atn_atoms *out); /* any slab, as atn_slabs_next does the next one */
/* Atoms that settings are found from, as a slab: the one in the middle, and where a number of slabs is wanted the
 * groups around it until they have SLABS_SAMPLE atoms. A frame of no more is its own sample, in the order of the file:
 * the same one however it is cut. */
atn_status slabs_read_sample(atn_slabs *slabs, atn_atoms *out);
/* Slabs that are this rank's where each has a fixed part; list: their numbers. */
size_t slabs_mine(const atn_slabs *slabs, const size_t **list);

/* Of several ranks: results of `bytes` for each atom will be given, by all; then those of a slab's own atoms by whoever
 * took it. When all have agreed that they are there, the result of an atom of this rank's part, by its index. */
atn_status slabs_hold(atn_slabs *slabs, size_t bytes);
atn_status slabs_give(atn_slabs *slabs, size_t slab, const void *results);
const void *slabs_held(const atn_slabs *slabs, uint64_t index);

static inline size_t slabs_bin_of(double x, double low, double per_bin, size_t bins) {
    double bin = (x - low) * per_bin;
    return bin < 0 ? 0 : bin >= (double)bins - 1 ? bins - 1 : (size_t)bin;
}

/* Of atom k of a piece: along the axis first. */
static inline size_t slabs_bin(const atn_slabs *s, const atn_atoms *piece, size_t k) {
    size_t along = slabs_bin_of(piece->position[s->axis[0]][k], s->low[0], s->per_bin[0], SLABS_BINS / s->across);
    if (s->across == 1) return along;
    double y = piece->position[s->axis[1]][k];
    return along * s->across + slabs_bin_of(y, s->low[1], s->per_bin[1], s->across);
}

/* Edges of no atoms. */
static inline slabs_edges slabs_nowhere(const atn_slabs *s) {
    double across = s->across > 1 ? INFINITY : -INFINITY;
    return (slabs_edges){{INFINITY, across}, {-INFINITY, -across}};
}

static inline void slabs_widen(slabs_edges *e, const slabs_edges *by) {
    for (int d = 0; d < 2; ++d) e->low[d] = fmin(e->low[d], by->low[d]), e->high[d] = fmax(e->high[d], by->high[d]);
}

/* Where the own atoms of a slab lie, and all that are within the halo of that. */
static inline slabs_edges slabs_around(const atn_slabs *s, const slabs_slab *b) {
    slabs_edges e = slabs_nowhere(s);
    for (size_t g = b->first; g <= b->last; ++g) slabs_widen(&e, &s->group[g].edges);
    for (int d = 0; d < 2; ++d) e.low[d] -= s->options.halo, e.high[d] += s->options.halo;
    return e;
}

/* Has the group atoms in there? */
static inline bool slabs_reaches(const slabs_group *g, const slabs_edges *e) {
    bool reaches = g->count > 0;
    for (int d = 0; d < 2; ++d) reaches = reaches && g->edges.high[d] >= e->low[d] && g->edges.low[d] <= e->high[d];
    return reaches;
}

static inline void slabs_show(const atn_slabs *s, const slabs_record *r, size_t at) {
    for (int d = 0; d < 3; ++d) s->position[d][at] = r->position[d];
    if (s->mass) s->mass[at] = r->mass;
    if (s->species) s->species[at] = r->species;
    s->index[at] = r->index;
}

/* Atoms as they were sorted, become those of the slab that is shown, from `at` on: all of them, or those of `around`.
 * Returns how many. */
size_t slabs_show_some(const atn_slabs *s, const void *sorted, size_t count, const slabs_edges *around, size_t at);

/* slabs_cut.c: axes and bins; groups and slabs, from the atoms of each bin. */
void slabs_choose_axes(atn_slabs *s);
atn_status slabs_cut(atn_slabs *s, const size_t *count);
size_t slabs_wanted(const atn_slabs *s, size_t wanted);

/* slabs_ranks.c: atoms of each bin, of all ranks; room for this rank's, of each group `sizes`, where all reach them;
 * once they are there, the bounds of the groups, of all ranks; a slab, and how many of its atoms are its own. */
atn_status slabs_join_bins(atn_slabs *s, atn_status status, size_t *count);
atn_status slabs_share(atn_slabs *s, const size_t *sizes, void **out);
atn_status slabs_publish(atn_slabs *s, atn_status status);
atn_status slabs_pull(atn_slabs *s, const slabs_slab *b, size_t *own, size_t *count);
void slabs_part_free(atn_slabs *s);

#endif
