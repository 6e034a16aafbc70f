/* Slabs from the inside: one process has all of a frame's, or each of several ranks some that lie side by side. */
#ifndef ATN_CLOUD_SLABS_H
#define ATN_CLOUD_SLABS_H

#include "cloud/frame.h"
#include "cloud/spill.h"

#include <math.h>

enum { SLABS_BINS = 1 << 16 };

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

typedef struct slabs_group {
    size_t first, last; /* its bins */
    size_t count;
    double low, high; /* of its atoms, along the axis */
} slabs_group;

typedef struct slabs_slab {
    size_t first, last; /* its groups */
    size_t own;
} slabs_slab;

struct atn_slabs {
    const atn_ctx *ctx;
    atn_frame *frame;
    atn_ranks *ranks; /* who share the frame; NULL: it is alone */
    atn_frame_info info;
    atn_slabs_settings options; /* with the defaults filled in */
    size_t wanted;              /* number of slabs; 0: as many as options.atoms makes */
    int axis;                   /* 0, 1, 2 */
    double low, per_bin;        /* bin = (x - low) * per_bin */
    uint16_t *group_of;         /* of each bin; owned */
    slabs_group *group;         /* owned */
    slabs_slab *slab;           /* owned */
    size_t groups, slabs;
    bool shared;  /* all slabs have a rank; before, only the one in the middle is held, by the first rank */
    size_t *mine; /* slabs of this rank, `own` of them; owned */
    size_t own;
    spill *spill; /* NULL: no atoms */
    size_t most;
    size_t next;         /* of its own */
    size_t bytes;        /* of an atom while it is sorted: a slabs_record, or a slabs_ion (frame_is_of_ions) */
    char *raw;           /* some of them, on their way out of a bucket; owned */
    double *position[3]; /* of the slab that is shown; owned, as all that follows */
    float *mass;
    int32_t *species;
    uint64_t *index;
};

/* As atn_slabs_open; wanted: that many slabs of about equally many atoms, or a multiple of it if one would have more
 * than given->atoms; 0: as given->atoms says. Called by all ranks of the frame. The same number of slabs gives the same
 * slabs, atom by atom, whatever the number of ranks. Until slabs_share, the first rank has the slab in the middle, and
 * others have none. */
atn_status slabs_open(atn_frame *frame, const atn_slabs_settings *given, size_t wanted, atn_slabs **out);
/* With a halo that is at most as wide as before: each rank has its part of the slabs, the first of which is next. Where
 * there are several for each, they come from different parts of the frame, since slabs side by side take about as long:
 * grains are larger. */
atn_status slabs_share(atn_slabs *slabs, double halo);
size_t slabs_mine(const atn_slabs *slabs, const size_t **list); /* how many this rank has; list: their numbers */
void slabs_seek(atn_slabs *slabs, size_t k);                    /* the k-th of this rank's slabs is next */

static inline size_t slabs_bin(const atn_slabs *s, double x) {
    double bin = (x - s->low) * s->per_bin;
    return bin < 0 ? 0 : bin >= SLABS_BINS - 1 ? SLABS_BINS - 1 : (size_t)bin;
}

/* Where the own atoms of a slab begin and end. */
static inline void slabs_edges(const atn_slabs *s, const slabs_slab *b, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t g = b->first; g <= b->last; ++g) {
        *low = fmin(*low, s->group[g].low);
        *high = fmax(*high, s->group[g].high);
    }
}

/* slabs_ranks.c: atoms of each bin, and bounds of the groups, of all ranks; atoms to those whose slabs need them. */
atn_status slabs_join_bins(atn_slabs *s, atn_status status, size_t *count);
atn_status slabs_join_edges(atn_slabs *s);
atn_status slabs_spread(atn_slabs *s);

#endif
