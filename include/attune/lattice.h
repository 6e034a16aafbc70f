/* The local crystal structure of every atom in a frame: its lattice, its orientation, and the confidence.
 * Neighbourhoods are noisy and incomplete: they are modelled as a point process whose density is that of a lattice, log
 * L(R) = sum_k log(p sum_j N(x_k; R m_j, s^2) + e) - p (points of the model inside the cut-off), classes are compared
 * by L averaged over rotations; the orientation maximises L. docs/lattice.md describes the method. Lengths are in
 * Angstrom. */
#ifndef ATTUNE_LATTICE_H
#define ATTUNE_LATTICE_H

#include <attune/device.h>
#include <attune/frame.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ATN_LATTICE_MOST_MODELS = 8, ATN_LATTICE_MOST_NEIGHBOURS = 512 };

typedef struct atn_lattice atn_lattice;

/* A model. bcc, fcc, hcp, sc and diamond are known by name, and so are B2 and L12: bcc and fcc with species on
 * sublattices, which need the species of atoms. Any other is given by its points around an atom at the origin. This
 * struct will not change.
 */
typedef struct atn_lattice_model {
    char name[32];
    double constant;       /* a of bcc and fcc, nearest distance of hcp (c = a sqrt(8/3)); of given points a factor. 0:
                              estimated from the frame, with the same volume per atom for all models; given points: 1 */
    size_t points;         /* 0: known by its name */
    const double *axis[3]; /* of given points; copied */
} atn_lattice_model;

/* Fields left at zero take their defaults. */
typedef struct atn_lattice_settings {
    size_t size;    /* of this struct: ATN_INIT */
    int32_t models; /* number of models; 0: bcc, fcc, hcp. Several with one name are phases with different constants */
    atn_lattice_model model[ATN_LATTICE_MOST_MODELS];
    double cutoff;       /* neighbour radius; 0: about 40 neighbours, at most 2.7 nearest distances */
    double noise;        /* s: standard deviation of a coordinate; 0: from the frame */
    double depth_noise;  /* along z, if different; 0: the same */
    double efficiency;   /* p: detection efficiency, the fraction of atoms detected; 0: from the frame */
    double background;   /* fraction of neighbours that belong to no lattice, in [0, 1); 0: from the frame */
    bool has_background; /* background = 0 is meant: there is none */
    bool even;           /* equal prior probability for all classes; default: estimated from the frame */
    bool exact;          /* explicit assignment: equation 1 of docs/lattice.md as printed */
    int32_t sample;      /* number of atoms that settings are estimated from; default 400 */
} atn_lattice_settings;

/* Result for an atom. This struct will not change: it comes in arrays. */
typedef struct atn_lattice_atom {
    int32_t structure;   /* 0 other, 1 the first model, ...; of several phases with one name that of the first */
    int32_t phase;       /* 0 other, otherwise the phase; 1 is the first of info.name */
    float confidence;    /* probability that this is right */
    float quaternion[4]; /* w x y z, rotation from the crystal to the frame; 1 0 0 0 for other */
    float rmsd;          /* of the neighbours that belong to the model from their sites */
    float matched;       /* fraction of neighbours that belong to the model */
    float background;    /* probability that it is on no site of the surrounding lattice; such atoms are other */
    float value;         /* min over rotations and partial assignments of |m - P d R|^2 */
} atn_lattice_atom;

/* Settings in use, given or estimated. */
typedef struct atn_lattice_info {
    size_t size;    /* of this struct: ATN_INIT */
    int32_t models; /* phases: the models given, then further phases of the same structures that were found */
    int32_t structure[ATN_LATTICE_MOST_MODELS]; /* atn_lattice_atom.structure of each phase */
    char name[ATN_LATTICE_MOST_MODELS][32];
    double constant[ATN_LATTICE_MOST_MODELS];
    double expected[ATN_LATTICE_MOST_MODELS];  /* expected number of neighbours inside the cut-off */
    double share[ATN_LATTICE_MOST_MODELS + 1]; /* prior probability of the classes; the first is other */
    double cutoff, noise, depth_noise, efficiency, background_neighbours;
    double background;                        /* fraction of atoms on no site of the surrounding lattice */
    bool mismatched[ATN_LATTICE_MOST_MODELS]; /* the frame has another lattice on some of its sites: never assigned */
    double gain;         /* log-likelihood ratio to the null model, in nats per atom; 0: not known */
    double neighbours;   /* mean number found */
    double shift_noise;  /* of pairs: used for the tables */
    int32_t rotations;   /* tried per atom, for all models */
    size_t device_bytes; /* device memory of tables and batches */
    bool estimated;      /* from the atoms. false: no model fits better than chance, or too few atoms have neighbours;
                            defaults are used, and every atom is other */
} atn_lattice_info;

/* Checks the settings. Owned by the caller, freed before the device is closed; used by one thread at a time. NULL
 * settings: defaults. */
ATN_API atn_status atn_lattice_create(atn_device *device, const atn_lattice_settings *settings, atn_lattice **out);
ATN_API void atn_lattice_free(atn_lattice *lattice); /* NULL is allowed */

/* Estimates settings that were not given from these atoms (positions times `angstrom`); called by the first match if it
 * was not before. Fails if the atoms contradict a given constant. With fewer than 2 atoms defaults are used. */
ATN_API atn_status atn_lattice_learn(atn_lattice *lattice, const atn_atoms *atoms, double angstrom);
/* Halo needed around a slab, once it is known. */
ATN_API double atn_lattice_reach(const atn_lattice *lattice);
ATN_API atn_status atn_lattice_get_info(const atn_lattice *lattice, atn_lattice_info *out);
static inline atn_lattice_info atn_lattice_info_of(const atn_lattice *lattice) {
    atn_lattice_info info = ATN_INIT(atn_lattice_info);
    atn_lattice_get_info(lattice, &info);
    return info;
}

/* Matches the own atoms; `out` has as many elements. */
ATN_API atn_status atn_lattice_match(atn_lattice *lattice, const atn_atoms *atoms, double angstrom,
                                     atn_lattice_atom *out);
/* The same by several matchers of the same settings, each on its own device: the first one learns, and the atoms are
 * cut into slabs, four for each device, which whichever device is free takes. Atoms within the cut-off of the edge of a
 * slab may differ from those of one matcher, and the last digits depend on the device. A device that is lost leaves its
 * slabs to the others, with a warning. */
ATN_API atn_status atn_lattice_match_several(atn_lattice *const *lattices, int32_t n_lattices, const atn_atoms *atoms,
                                             double angstrom, atn_lattice_atom *out);
/* Separate neighbourhoods: set s has points start[s] to start[s + 1] - 1, the first of which is the centre; repeated
 * points are dropped. Settings that were not given are estimated from the sets of the first call, if there are at least
 * 40: the cut-off is where neighbours end; noise, efficiency and background are those of maximum likelihood. Constants
 * are 3.2 for bcc, 4.79 for fcc, 3.39 for hcp, or these times a factor if that is much more likely. With fewer sets
 * defaults are used: cutoff 4.5, noise 0.27, efficiency 0.55, background 0.03. */
ATN_API atn_status atn_lattice_match_sets(atn_lattice *lattice, size_t sets, const size_t *start,
                                          const double *const position[3], double angstrom, atn_lattice_atom *out);

#ifdef __cplusplus
}
#endif
#endif
