/* What was learned from a frame, as plain values: slabs that are matched elsewhere (by another process or device) need
 * not learn it again. */
#ifndef ATN_APPS_LATTICE_LEARNED_H
#define ATN_APPS_LATTICE_LEARNED_H

#include "apps/lattice/lattice.h"

/* Bytes that processes of the same build may hand to each other. */
typedef struct lattice_learned {
    atn_lattice_info info;
    double inner, temper, temper_part, background_density, shape;
    lattice_knots knots[2];
    double rival[ATN_LATTICE_MOST_MODELS][ATN_LATTICE_MOST_MODELS];
    double null[LATTICE_RADIAL_BINS];
    bool follows[ATN_LATTICE_MOST_MODELS], strange[ATN_LATTICE_MOST_MODELS];
    int32_t phase_of[ATN_LATTICE_MOST_MODELS]; /* the model that was given of which an entry is a phase */
    lattice_order order[ATN_LATTICE_MOST_MODELS];
} lattice_learned;

/* After atn_lattice_learn. */
atn_status lattice_learned_get(const atn_lattice *l, lattice_learned *out);
/* As if l, which was created with the same settings, had learned that; atn_lattice_match goes on from here. */
atn_status lattice_learned_set(atn_lattice *l, const lattice_learned *learned);

#endif
