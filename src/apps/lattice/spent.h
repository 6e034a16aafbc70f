/* Where the time of a run goes: each moment of the controlling thread is attributed to one part. */
#ifndef ATN_APPS_LATTICE_SPENT_H
#define ATN_APPS_LATTICE_SPENT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum lattice_part {
    LATTICE_ELSEWHERE,
    LATTICE_PAIRS,   /* distances of a sample */
    LATTICE_SIZES,   /* what they say of phases */
    LATTICE_TABLES,  /* tables, kernels and arrays */
    LATTICE_WEIGHED, /* what a matched sample says */
    LATTICE_MADE,    /* frames with which learning checks itself */
    LATTICE_POWERS,  /* and what these say */
    LATTICE_CELLS,
    LATTICE_HINTS, /* turns of atoms nearby */
    LATTICE_NEARBY,
    LATTICE_STARTED, /* neighbours to the device, kernels after them */
    LATTICE_KERNELS, /* what they found; the wait for it */
    LATTICE_JUDGED,
    LATTICE_WAITING, /* atoms that waited for those around them */
    LATTICE_RANKS,   /* other ranks; the wait for them */
    LATTICE_READ,    /* a slab's atoms, on their way to this rank */
    LATTICE_GIVEN,   /* its results: counted, and on their way to where they are written */
    LATTICE_PARTS
} lattice_part;

/* Zeros at first. */
typedef struct lattice_spent {
    lattice_part now;
    double since;
    double seconds[2][LATTICE_PARTS]; /* of learning, of matching */
    int64_t calls[2][LATTICE_PARTS];
} lattice_spent;

const char *lattice_part_name(lattice_part part);
/* From now on time belongs to `part`, of matching or of learning; returns the part that it belonged to. */
lattice_part lattice_spend(lattice_spent *spent, bool matching, lattice_part part);
/* And so back to the one before, which is not called once more. */
void lattice_spend_back(lattice_spent *spent, bool matching, lattice_part part);

#endif
