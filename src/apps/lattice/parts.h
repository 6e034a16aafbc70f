/* What lattice.c, estimate.c and shares.c share: settings that hold, and batches of neighbourhoods. */
#ifndef ATN_APPS_LATTICE_PARTS_H
#define ATN_APPS_LATTICE_PARTS_H

#include "apps/lattice/lattice.h"

#define LATTICE_AROUND 1.75  /* cut-offs: atoms that are nearer may have an atom's turn; below 2 */
#define LATTICE_NEW    0x80  /* of a phase: the atom became sure in this pass, which does not look at it */
#define LATTICE_FEWEST 0.002 /* share of atoms on no site: there may always be some */

void lattice_set_phase(atn_lattice *l, int32_t k, int32_t model); /* entry k is a phase of a model that was given */
void lattice_add_phase(atn_lattice *l, int32_t model);            /* one more; there is room */
void lattice_even_shares(atn_lattice *l, double other);           /* the classes are as likely as each other */
double lattice_given_noise(const atn_lattice *l);                 /* of pairs, the mean of all directions; 0: none */
void lattice_take_noise(atn_lattice *l, double noise);            /* where none was given */
void lattice_take_density(atn_lattice *l, double neighbours);     /* mean number inside the cut-off */
void lattice_add_atom(atn_lattice *l, const lattice_cells *cells, size_t atom); /* to the batch, which is not full */
/* Those of `count` atoms, on all cores, as many as there is room for, which it returns. stage: where else they are
 * written (lattice_engine_stage); NULL: nowhere. */
size_t lattice_near_fill(const atn_lattice *l, const lattice_cells *cells, const size_t *which, size_t count,
                         float *const stage[3], lattice_near *near);
bool lattice_batch_is_full(const atn_lattice *l);

/* ---- judging ---- */
/* Sure atoms of a frame: for each site the phase of the atom there that is sure, of which out has the turn; 0: none. */
typedef struct lattice_around {
    const lattice_cells *cells;
    int32_t *first; /* own atom of a site that is matched for all of it; -1: none */
    unsigned char *phase;
    unsigned char *told; /* the atom of a site is classified, certain or not */
    uint64_t *sure;      /* bits of the sites whose turns a pass may try, since lattice_around_mark */
    float doubt;         /* atoms that are more certain than this are classified in this pass */
    bool followed;       /* sure atoms of this pass are LATTICE_NEW */
} lattice_around;
/* atom: of each place of the order, its number among all; those below `own` are matched. */
atn_status lattice_around_make(const lattice_cells *cells, const int32_t *atom, size_t own, lattice_around *out);
void lattice_around_mark(const atn_lattice *l, const lattice_around *around); /* a pass begins that tries turns */
void lattice_around_settle(const lattice_around *around);                     /* the pass is over */
void lattice_around_free(lattice_around *around);

/* All of l->near, each by itself, out[which[i]] for atom i; l->sure says which are sure. around: NULL for
 * neighbourhoods that come alone. */
void lattice_judge_first(atn_lattice *l, const lattice_around *around, const size_t *which, atn_lattice_atom *out);
/* Those that are not sure, from the turns of sure atoms around them. */
void lattice_judge_again(atn_lattice *l, const lattice_around *around, const size_t *which, atn_lattice_atom *out);
/* The same by all ranks that learn together, each some of the atoms. */
atn_status lattice_judge_shared(atn_lattice *l, const lattice_around *around, const size_t *which,
                                atn_lattice_atom *out);
/* The confidence that comes true, and the explicit assignment where that is wanted. */
atn_status lattice_judge_end(const atn_lattice *l, size_t i, atn_lattice_atom *out);

/* Atoms that wait until those around them are matched. */
typedef struct lattice_late {
    size_t count, which_room, found_room, batch;
    size_t *which;
    lattice_found *found;
    lattice_near near;
} lattice_late;
atn_status lattice_late_add(const atn_lattice *l, size_t i, size_t atom, lattice_late *late); /* atom i of the batch */
/* Judges those around which all are matched, where `last` is the last one that is; NULL: all of them. */
atn_status lattice_late_look(atn_lattice *l, const lattice_around *around, lattice_late *late, const size_t *last,
                             atn_lattice_atom *out);
void lattice_late_free(const atn_lattice *l, lattice_late *late);

/* ---- turns of atoms nearby ---- */
/* What other models reach where one is right, from a batch of made atoms that were searched, some of them sure. */
atn_status lattice_rivals(atn_lattice *l, const unsigned char *sure);
bool lattice_can_follow(const atn_lattice *l); /* is that known of any model? */
/* Sure atoms around a cell. */
enum { LATTICE_SURE_LISTED = 2048 };
typedef struct lattice_sure {
    bool known;
    int64_t at[3];   /* the cell */
    uint32_t phases; /* that they have, as bits */
    int32_t count, site[LATTICE_SURE_LISTED];
    float axis[3][LATTICE_SURE_LISTED]; /* where these are */
} lattice_sure;
/* The rotation of the certain atom nearest to this one, at most that many cells away (0 to 2); which 1: of the nearest
 * one that has another rotation. list: of the previous atom in the same pass, or one that is unknown. */
void lattice_hint_make(const atn_lattice *l, const lattice_around *around, size_t atom, int32_t cells, int32_t which,
                       const atn_lattice_atom *out, lattice_sure *list, lattice_hint *hint);
/* Like lattice_engine_start and _finish, with the turns near->hint alone. */
atn_status lattice_follow_start(atn_lattice *l, const lattice_near *near);
atn_status lattice_follow_finish(atn_lattice *l);

/* ---- a sample that is matched ---- */
typedef struct lattice_sample {
    const atn_atoms *atoms;
    double angstrom;
    size_t count;
    const size_t *which;      /* of the atoms */
    const double *low, *high; /* of the cells that they are sorted into, in Angstrom */
    lattice_cells *cells;     /* zeros at first; owned by the caller */
    double *reach;            /* that they are for */
} lattice_sample;

/* Shares, background and constants that make it likely, where none were given; again while constants change, at most
 * `rounds` times. likelihood: of the sample. */
atn_status lattice_learn_sample(atn_lattice *l, const lattice_sample *sample, int rounds, double *likelihood);
/* Atoms on no site are as frequent among neighbours: from the shares of the neighbours of sure atoms that take none,
 * some of which are at boundaries, where any share is another grain's. */
atn_status lattice_background(const atn_ctx *ctx, const double *alone, size_t count, double neighbours, double *out);
/* Compares what was learned with chance: models of which the frame has another lattice, or none, are not reported.
 * False: none is. */
bool lattice_accept(atn_lattice *l);
/* Positions that are not finite are refused, and atoms without the species that an ordered model needs. */
atn_status lattice_atoms_check(const atn_lattice *l, const atn_atoms *atoms);
/* The same as atn_lattice_match once settings are known, of atoms that were checked. */
atn_status lattice_match_usable(atn_lattice *l, const atn_atoms *atoms, double angstrom, atn_lattice_atom *out);
/* Matches atoms once all is known; the engine is open. */
atn_status lattice_match_atoms(atn_lattice *l, const atn_atoms *atoms, double angstrom, atn_lattice_atom *out);
/* Constants and noise, where they are not given, so that a frame made with them looks to us as the sample did: cut-offs
 * and chance fits make both seem smaller than they are. changed: learn the sample once more. The engine is open. */
atn_status lattice_correct(atn_lattice *l, bool *changed);
/* Powers of likelihoods and the odds of confidences, from frames made with what was learned. The engine is open. */
atn_status lattice_calibrate(atn_lattice *l);
/* Where ranks leave the odds for later (l->unchecked): frames that they are found from, and the bytes that are told of
 * each; those that are this rank's (lattice_shared_cut), matched; and the odds, from all of them. */
size_t lattice_check_frames(size_t *bytes);
atn_status lattice_check_own(atn_lattice *l, void *told);
atn_status lattice_fit_frames(atn_lattice *l, const void *told);
/* l->knots as other ranks have found them (knots_late.h); at once where there are none. */
atn_status lattice_knots_take(atn_lattice *l);

/* ---- neighbourhoods that come alone ---- */
typedef struct lattice_sets {
    size_t count;
    const size_t *start;
    const double *const *position;
    double angstrom;
} lattice_sets;

/* The neighbours of a set as seen from its first point, within the cut-off, repeats left out; x, y and z have room for
 * ATN_LATTICE_MOST_NEIGHBOURS. Returns how many. */
int32_t lattice_set_near(const lattice_sets *sets, size_t set, double cutoff, float *x, float *y, float *z);
/* Cut-off, constants, noise, efficiency and background atoms, where they are not given. noise: of an atom, as it was
 * found; that of the tables is more. */
atn_status lattice_sets_learn(atn_lattice *l, const lattice_sets *sets, double *noise);
/* How much the places of neighbours count, from neighbourhoods made with what was learned. The engine is open. */
atn_status lattice_sets_weigh(atn_lattice *l, double noise);

/* ---- distances of pairs ---- */
enum { LATTICE_PAIR_BINS = 128, LATTICE_SHELLS = 64 };

/* Of a sample of atoms: bin[atom * LATTICE_PAIR_BINS + k] neighbours at (k + 1/2) reach / LATTICE_PAIR_BINS. */
typedef struct lattice_pairs {
    size_t atoms;
    double reach;
    const uint16_t *bin;
    const double *number; /* of neighbours of each */
} lattice_pairs;

typedef struct lattice_shells {
    int32_t count;
    double radius[LATTICE_SHELLS], points[LATTICE_SHELLS];
} lattice_shells;

/* Lattices of one atom per unit of volume scaled by `edge`, noise of pairs, and the rest. */
typedef struct lattice_sizes {
    double edge[ATN_LATTICE_MOST_MODELS], noise, background, efficiency;
    double size[2]; /* the first is the one that more atoms have */
} lattice_sizes;

/* Of a model of one atom per unit of volume, as far as `reach`. */
atn_status lattice_shells_make(const atn_ctx *ctx, const char *name, double reach, lattice_shells *out);
/* How dense distances are in the middles of LATTICE_PAIR_BINS bins of that length, without background and p, for a
 * length `edge` of an atom's cube. */
void lattice_radial_bins(const lattice_shells *s, double edge, double noise, double step, double *out);
/* Where models may differ in size: the ways in which they would, 0 or 2. two: there are two sizes. first: about an
 * edge.
 */
atn_status lattice_phases(atn_lattice *l, const lattice_pairs *pairs, double first, double efficiency,
                          lattice_sizes out[2], int32_t *ways, bool *two);

#endif
