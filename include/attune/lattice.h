/* The local structure of every atom in a frame: which lattice its neighbourhood is a piece of, turned how, and how sure
 * that is. Neighbourhoods are noisy and incomplete: they are taken as a point process whose density is the model's,
 *   log L(R) = sum_k log(p sum_j N(x_k; R m_j, s^2) + e) - p (points of the model inside the cut-off),
 * classes are compared by L averaged over rotations, orientations are where it is largest. docs/lattice.md has the
 * method. Lengths are in Angstrom. */
#ifndef ATTUNE_LATTICE_H
#define ATTUNE_LATTICE_H

#include <attune/device.h>
#include <attune/frame.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ATN_LATTICE_MOST_MODELS = 8, ATN_LATTICE_MOST_NEIGHBOURS = 512 };

typedef struct atn_lattice atn_lattice;

/* A model. bcc, fcc, hcp, sc and diamond are known by their names; so are B2 and L12, which are bcc and fcc with
 * species on sublattices and need the species of atoms; any other is given by its points around an atom at the origin.
 */
typedef struct atn_lattice_model {
    char name[32];
    double constant; /* a of bcc and fcc, nearest distance of hcp (c = a sqrt(8/3)); of given points a factor. 0: found
                        from the frame, the same volume an atom for all models; given points: 1 */
    size_t points;   /* 0: known by its name */
    const double *axis[3]; /* of given points; copied */
} atn_lattice_model;

/* A field left zero takes its default. */
typedef struct atn_lattice_settings {
    size_t size;    /* of this struct: ATN_INIT */
    int32_t models; /* of model[]; 0: bcc, fcc, hcp. Several of one name are phases, with constants that differ */
    atn_lattice_model model[ATN_LATTICE_MOST_MODELS];
    double cutoff;      /* neighbours are nearer; 0: so that about 40 are, at most 2.7 nearest distances */
    double noise;       /* s of an atom's coordinates; 0: from the frame */
    double depth_noise; /* along z, where it is another; 0: the same */
    double efficiency;  /* p: share of the atoms that was detected; 0: from the frame */
    double strangers;   /* share of the neighbours that belong to no lattice, in [0, 1); 0: from the frame, unless */
    bool has_strangers; /* 0 is meant: every neighbour belongs to a lattice */
    bool even;          /* all classes are as likely beforehand; else their shares are found from the frame */
    bool exact;         /* the assignment is explicit: equation 1 as it is printed */
    int32_t sample;     /* atoms that settings are found from; default 400 */
} atn_lattice_settings;

/* What became of an atom. A plain value. */
typedef struct atn_lattice_atom {
    int32_t structure;   /* 0 other, 1 the first model, ...; of several phases with one name the first one's */
    int32_t phase;       /* 0 other, else the phase, 1 the first of info.name */
    float confidence;    /* the chance that this is right */
    float quaternion[4]; /* w x y z, from the crystal to the frame; 1 0 0 0 for other */
    float rmsd;          /* of the neighbours that belong to the model from where it has them */
    float matched;       /* share of the neighbours that do */
    float background;    /* the chance that it is on no site of the lattice around it; counts as other */
    float value;         /* min over rotations and partial assignments of |m - P d R|^2 */
} atn_lattice_atom;

/* What was given or found. A plain value. */
typedef struct atn_lattice_info {
    size_t size;    /* of this struct: ATN_INIT */
    int32_t models; /* phases: the models that were given, then more of the same structures that were found */
    int32_t structure[ATN_LATTICE_MOST_MODELS]; /* what atoms of each are called */
    char name[ATN_LATTICE_MOST_MODELS][32];
    double constant[ATN_LATTICE_MOST_MODELS];
    double expected[ATN_LATTICE_MOST_MODELS];  /* neighbours inside the cut-off */
    double share[ATN_LATTICE_MOST_MODELS + 1]; /* of the classes beforehand; the first is other */
    double cutoff, noise, depth_noise, efficiency, strangers;
    double background;                        /* share of atoms on no site of the lattice around them */
    bool mismatched[ATN_LATTICE_MOST_MODELS]; /* the frame has another lattice on some of its sites: never told */
    double gain;         /* nats an atom by which the models are likelier than the null model; 0: not known */
    double neighbours;   /* mean of those found */
    double shift_noise;  /* of pairs: what tables are made for */
    int32_t rotations;   /* tried for each atom, of all models */
    size_t device_bytes; /* of tables and batches */
    bool told;           /* the frame said something; else no model fits better than chance, or too few atoms have
                            neighbours, and defaults stay: every atom is other */
} atn_lattice_info;

/* Checks the settings. Owned by the caller, freed before the device is closed; used by one thread at a time. NULL
 * settings: defaults. */
ATN_API atn_status atn_lattice_create(atn_device *device, const atn_lattice_settings *settings, atn_lattice **out);
ATN_API void atn_lattice_free(atn_lattice *lattice); /* NULL is fine */

/* Finds what was not given from these atoms, positions times `angstrom`; called by the first match where it was not.
 * Refused where the atoms contradict a constant that was given. Fewer than 2 atoms tell nothing: defaults stay. */
ATN_API atn_status atn_lattice_learn(atn_lattice *lattice, const atn_atoms *atoms, double angstrom);
/* How far around a slab atoms are wanted, once that is known. */
ATN_API double atn_lattice_reach(const atn_lattice *lattice);
ATN_API atn_status atn_lattice_get_info(const atn_lattice *lattice, atn_lattice_info *out);
static inline atn_lattice_info atn_lattice_info_of(const atn_lattice *lattice) {
    atn_lattice_info info = ATN_INIT(atn_lattice_info);
    atn_lattice_get_info(lattice, &info);
    return info;
}

/* The atoms that are own; out has as many elements. */
ATN_API atn_status atn_lattice_match(atn_lattice *lattice, const atn_atoms *atoms, double angstrom,
                                     atn_lattice_atom *out);
/* Neighbourhoods one by one: set s has points start[s] to start[s + 1] - 1, the first of them is the centre; points
 * that repeat are left out. What is not given is found from the first call's sets, from 40 of them on: the cut-off is
 * where neighbours end, noise, efficiency and strangers make numbers and distances of neighbours likely. Constants
 * are 3.2 for bcc, 4.79 for fcc, 3.39 for hcp, or these times a factor where that makes them much likelier. Of fewer
 * sets nothing is found: cutoff 4.5, noise 0.27, efficiency 0.55, strangers 0.03. */
ATN_API atn_status atn_lattice_match_sets(atn_lattice *lattice, size_t sets, const size_t *start,
                                          const double *const position[3], double angstrom, atn_lattice_atom *out);

#ifdef __cplusplus
}
#endif
#endif
