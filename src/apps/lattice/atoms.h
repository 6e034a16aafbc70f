/* A synthetic atom probe frame with ground truth: sites of crystals, some of them missing, with noise, each atom of a
 * species, in any order. Rows come one after the other; memory does not grow with their number. */
#ifndef ATN_APPS_LATTICE_ATOMS_H
#define ATN_APPS_LATTICE_ATOMS_H

#include "apps/lattice/crystal.h"

enum { ATOMS_SPECIES = 16, ATOMS_LATTICES = 8 };
#define ATOMS_PEAK  0.02 /* deviation of the masses of a species, in dalton */
#define ATOMS_RANGE 0.06 /* no mass is farther from its peak */

typedef struct atn_sample_species {
    char name[4];
    double share; /* > 0; all add up to 1 */
    double mass;  /* over charge, dalton */
} atn_sample_species;

typedef struct atn_sample_atoms_settings {
    size_t size; /* atoms of the frame, > 0 */
    uint64_t seed;
    crystal_structure lattice[ATOMS_LATTICES]; /* grains have them in turn */
    double constant[ATOMS_LATTICES];           /* a of each, angstrom, > 0 */
    size_t lattices;                           /* > 0 */
    size_t grains;                             /* > 0 */
    double lateral, depth;                     /* deviation of the noise along x and y, and along z, angstrom */
    double efficiency;                         /* share of the sites that is detected, in (0, 1] */
    double background;                         /* share of the atoms that are anywhere, in [0, 1) */
    atn_sample_species species[ATOMS_SPECIES];
    size_t n_species; /* > 0 */
} atn_sample_atoms_settings;

/* An atom. */
typedef struct atn_sample_atom {
    float position[3]; /* nm */
    float mass;        /* over charge, dalton */
    float boundary;    /* from its site to the next grain's cell, angstrom; infinite: there is none; 0 of background */
    int32_t grain;     /* -1: background */
} atn_sample_atom;

typedef struct atn_sample_atoms atn_sample_atoms;

/* Called now and then with the share that is done. */
typedef void atn_sample_progress(void *user, double done);

/* Owned by the caller. The same settings give the same rows. */
atn_status atn_sample_atoms_make(atn_ctx *ctx, const atn_sample_atoms_settings *settings, atn_sample_progress *progress,
                                 void *user, atn_sample_atoms **out);
void atn_sample_atoms_free(atn_sample_atoms *atoms); /* NULL is fine */

const crystal *atn_sample_atoms_crystal(const atn_sample_atoms *atoms);
size_t atn_sample_atoms_sites(const atn_sample_atoms *atoms); /* that there are, detected or not */

/* The next atoms, at most `count`; *got is 0 behind the last. */
atn_status atn_sample_atoms_next(atn_sample_atoms *atoms, size_t count, atn_sample_atom *rows, size_t *got);

#endif
