/* Internals of the matching of atoms: models and their symmetry, rotations to try, tables of densities, neighbours,
 * kernels, and classification. */
#ifndef ATN_APPS_LATTICE_LATTICE_H
#define ATN_APPS_LATTICE_LATTICE_H

#include "apps/lattice/spent.h"
#include "geom/pose.h"
#include "num/array.h"

#include <attune/kernel.h>
#include <attune/lattice.h>

enum {
    LATTICE_GROUPS = 8,  /* of rotations: the best of each is refined */
    LATTICE_CUBIC = 416, /* rotations for a model of cubic symmetry, 24-fold; others have as fine a grid */
    LATTICE_PULL = 4,    /* numbers of a voxel of the pull table */
    LATTICE_REFINES = 3, /* kinds of EM steps */
    LATTICE_ALL = 0xff,  /* models, as bits */
    LATTICE_PART = 64,   /* atoms for which a core is worth waking */
    LATTICE_RECENT = 4,  /* turns that are remembered of each model */
    LATTICE_RADIAL_BINS = 64,
    LATTICE_KNOTS = 8,
    LATTICE_ORDER_SITES = 4,  /* of a cell with sublattices */
    LATTICE_ORDER_NEAR = 64,  /* atoms whose species are looked at, the one in the middle too */
    LATTICE_ORDER_SPECIES = 8 /* that are told apart; the last is all others */
};

#define LATTICE_SURE 0.999F /* confidence of an atom that is not looked at again */

/* ---- models ---- */
/* Points around an atom, without it, nearest first. */
typedef struct lattice_points {
    size_t count;
    double *axis[3];
} lattice_points;

/* Of a known kind with this constant up to `reach`, or given points times the constant. */
atn_status lattice_points_make(const atn_ctx *ctx, const atn_lattice_model *model, double constant, double reach,
                               lattice_points *out);
void lattice_points_free(const atn_ctx *ctx, lattice_points *points);
/* Turns (quaternions w x y z) that leave the points as they are, the identity first; mirror: planes that do. */
enum { LATTICE_MOST_SYMMETRIES = 24 };
int32_t lattice_points_symmetry(const lattice_points *points, double symmetry[LATTICE_MOST_SYMMETRIES][4],
                                bool mirror[3]);
bool lattice_kind_is_known(const char *name);
bool lattice_kind_is_bcc(const char *name); /* or an order of it */
/* Constant of a known kind from the volume of an atom, and back; 0 for others. */
double lattice_kind_constant(const char *name, double volume);
double lattice_kind_volume(const char *name, double constant);
double lattice_kind_default(const char *name); /* of neighbourhoods that come alone */
typedef struct lattice_kind lattice_kind;
const lattice_kind *lattice_kind_find(const char *name); /* NULL: not known */
typedef struct lattice_cell {
    double edge[3], per_edge[3]; /* and one over it */
} lattice_cell;
/* Atoms of that cell, in floats, for loops in lanes. */
enum { LATTICE_CELL_ATOMS = 8 };
typedef struct lattice_sites {
    int32_t atoms;
    float edge[3], per_edge[3], atom[LATTICE_CELL_ATOMS][3]; /* atom: in edges */
} lattice_sites;
lattice_sites lattice_kind_sites(const lattice_kind *kind, double constant);
/* The plain structure of an ordered one, and the sublattices of its sites; NULL: it is not ordered. */
const char *lattice_kind_order(const lattice_kind *kind, int32_t *sites, int32_t on[LATTICE_ORDER_SITES]);
/* The sublattice of the site at y (in constants, from the atom in the middle), on[h][at], if that atom is on site h.
 * False: y is more than `most` nearest distances off every site. */
bool lattice_kind_sublattices(const lattice_kind *kind, const double y[3], double most,
                              unsigned char (*on)[LATTICE_ORDER_NEAR], int32_t at);
/* How far y is off the nearest site of the whole crystal, which has one at the origin. */
void lattice_kind_off(const lattice_kind *kind, const lattice_cell *cell, const double y[3], double out[3]);
lattice_cell lattice_kind_cell(const lattice_kind *kind, double constant);

/* ---- rotations ---- */
/* Into the model's frame, spread evenly over what its symmetry leaves; groups of neighbours, all as long. */
typedef struct lattice_turns {
    int32_t count; /* a multiple of 2 LATTICE_GROUPS */
    double (*quaternion)[4];
    double spread;             /* radians about each axis: the deviation of a rotation from the next that is tried */
    int32_t times, symmetries; /* that they were made for */
    double symmetry[LATTICE_MOST_SYMMETRIES][4];
} lattice_turns;

/* times: as many as LATTICE_CUBIC says, so many times. Those that are there stay if they are for the same; zeros:
 * none are. other: may be for the same, and is copied then; or NULL. */
atn_status lattice_turns_make(const atn_ctx *ctx, int32_t symmetries, const double (*symmetry)[4], int32_t times,
                              const lattice_turns *other, lattice_turns *out);
void lattice_turns_free(const atn_ctx *ctx, lattice_turns *turns);

/* ---- tables ---- */
/* The density p sum_j N(x; m_j, s^2) + e over voxels of a box that holds the cut-off. Along mirrored axes half of it.
 */
typedef struct lattice_box {
    double cutoff, reach; /* neighbours are nearer; and once they are shifted */
    double edge;          /* of a voxel */
    int32_t size[3];
    double offset[3]; /* voxel of x is floor(|x / edge + offset|) */
    bool mirror[3];
} lattice_box;

typedef struct lattice_density {
    double noise;      /* s, of pairs */
    double turn;       /* radians: points are spread over so large turns as well */
    double efficiency; /* p */
    double background; /* e, atoms for a volume */
} lattice_density;

lattice_box lattice_box_make(double cutoff, double shift, double noise, const bool mirror[3]);
size_t lattice_box_voxels(const lattice_box *box);
/* One number of each voxel: the density. And, where mean is not NULL, the mean of the model's points there: x of all
 * voxels, then y, then z. expected: the integral over the ball of the cut-off, or NULL. */
atn_status lattice_table_make(const atn_ctx *ctx, const lattice_points *points, const lattice_box *box,
                              const lattice_density *density, float *value, float *mean, double *expected);

/* Of each voxel LATTICE_PULL numbers: the chance that a neighbour is an atom of the model, and where that one would be.
 * And the same as two words, with the logarithm of the density. */
typedef struct lattice_packing {
    double unit;              /* of places */
    double log_low, log_step; /* of logarithms */
} lattice_packing;
void lattice_pull_make(const lattice_box *box, double background, const float *value, const float *mean, float *pull,
                       int32_t *words, lattice_packing *out);

/* ---- neighbours ---- */
/* A turn into the crystal that an atom may have; model -1: none. */
typedef struct lattice_hint {
    int32_t model;
    bool alone; /* sure atoms around have no other model */
    float turn[4];
} lattice_hint;

/* Of atoms one after the other: start[i] to start[i + 1] - 1, those before inner[i] first, the nearer ones. */
typedef struct lattice_near {
    size_t atoms, room; /* room: neighbours that fit */
    int32_t *start, *inner;
    lattice_hint *hint;
    size_t hinted[ATN_LATTICE_MOST_MODELS]; /* atoms with a hint of each model; some may not have had room */
    double *null;                           /* what lattice_null says; NAN until that is asked */
    float *axis[3];
    bool staged; /* neighbours are on their way to the device already (lattice_engine_stage) */
} lattice_near;

/* One more atom, whose neighbours are there: the nearer ones before `inner`, all before `end`. */
void lattice_near_add(lattice_near *near, int32_t inner, int32_t end);
void lattice_near_end(lattice_near *near); /* behind the last neighbour come numbers that count nothing */

/* For so many atoms; what was made before a failure is freed by lattice_near_free. */
atn_status lattice_near_make(const atn_ctx *ctx, size_t atoms, size_t room, lattice_near *out);
void lattice_near_free(const atn_ctx *ctx, lattice_near *near);

/* Atoms sorted into cells as wide as the reach. Atoms at one place are one site. */
typedef struct lattice_cells {
    const atn_ctx *ctx;
    double low[3], edge;
    int64_t size[3];
    size_t atoms, cells;
    uint64_t *key;  /* which cells there are, ascending, where most are empty; NULL: all of them */
    int32_t *start; /* of each cell, among the sites; one more than cells */
    int32_t *order; /* atoms, cell after cell */
    int32_t *rank;  /* where atom i is in that order */
    int32_t *site;  /* of the atom at a place of that order */
    float *axis[3]; /* positions of sites from low, cell after cell */
} lattice_cells;

/* A cell as a number, in the order that cells are in: along x first. */
enum { LATTICE_CELL_BITS = 21 }; /* along each axis */
static inline uint64_t lattice_cell_key(const int64_t at[3]) {
    return ((uint64_t)at[2] << LATTICE_CELL_BITS | (uint64_t)at[1]) << LATTICE_CELL_BITS | (uint64_t)at[0];
}

/* Stretches that cores take of a list: one for each, of `least` and of some thousand at least, one in any case; and
 * where the one of number k begins. */
int64_t lattice_stretches(size_t count, size_t least);
size_t lattice_stretch_begin(size_t count, int64_t stretches, int64_t k);
/* The least and the largest of finite numbers; 0 where there are none. */
void lattice_span(const double *list, size_t count, double *low, double *high);
/* ATN_ERR_INPUT where atoms are farther apart than cells can be counted. */
atn_status lattice_cells_make(const atn_ctx *ctx, const atn_atoms *atoms, double angstrom, double reach,
                              lattice_cells *out);
/* The same of some of the atoms between low and high, in Angstrom: cells and places are those of all of them. */
atn_status lattice_cells_make_in(const atn_ctx *ctx, const atn_atoms *atoms, double angstrom, double reach,
                                 const double low[3], const double high[3], lattice_cells *out);
void lattice_bounds(const atn_atoms *atoms, double angstrom, double low[3], double high[3]); /* in Angstrom */
void lattice_cells_free(lattice_cells *cells);
/* Sites of the cells around one, side by side, for those of its atoms that come one after the other. Zeros at first. */
enum { LATTICE_BLOCK = 512 };
typedef struct lattice_block {
    bool seen, filled;
    int64_t at[3]; /* the cell */
    int32_t count; /* 0: none, or more than there is room for */
    float axis[3][LATTICE_BLOCK];
} lattice_block;

/* Neighbours of atom i, nearer than reach, those nearer than inner first; at most ATN_LATTICE_MOST_NEIGHBOURS, of more
 * those of a crowded cell of its own come first. Atoms at the very same place are left out, and count once for others.
 * Returns how many; without x, y and z that is all. block: of the atom before and the same reach, or NULL; the
 * result is the same. */
int32_t lattice_cells_near(const lattice_cells *cells, size_t atom, double inner, double reach, lattice_block *block,
                           float *x, float *y, float *z, int32_t *n_inner);

enum { LATTICE_ROWS = 25 };
/* Sites of the cells that are at most `around` (0 to 2) cells from that of a site, along each axis: from[k] to end[k] -
 * 1 for every row. Returns how many rows; at: the cell. */
int32_t lattice_cells_rows(const lattice_cells *cells, int32_t site, int32_t around, int32_t from[LATTICE_ROWS],
                           int32_t end[LATTICE_ROWS]);
void lattice_cells_at(const lattice_cells *cells, int32_t site, int64_t at[3]);

/* Sites within reach of atom i's own, without it, at most ATN_LATTICE_MOST_NEIGHBOURS. far (may be NULL): squares of
 * their distances. */
int32_t lattice_cells_sites(const lattice_cells *cells, size_t atom, double reach, int32_t *out, float *far);

/* ---- the engine ---- */
/* What the kernels found for one model and one atom: the best of the candidates. */
typedef struct lattice_found {
    float evidence;   /* log of the likelihood averaged over rotations */
    float background; /* the same for an atom that is on no site of that lattice; -INFINITY until that is looked at */
    float part;   /* chance that some neighbours belong elsewhere, given the model; below 0 until that is looked at */
    float around; /* what the average over rotations and shifts near the best one adds to its logarithm */
    float quaternion[4]; /* into the model's frame */
    float weight, spread;
    float shift[3]; /* of the centre from its site, in the model's frame */
    bool exact;     /* from a closer look (look.c), not from tables */
} lattice_found;

/* Of the sure atoms of a sample: how much larger than the model the lattice seems, how far neighbours are from sites.
 */
typedef struct lattice_fit {
    size_t atoms;
    double stretch, square; /* the second: mean square */
} lattice_fit;

/* Of a number of neighbours that is negative binomial around what is expected: logarithms that do not depend on it. */
typedef struct lattice_count {
    double expected, log, none, each;
} lattice_count;

/* EM steps of one turn for each atom of a batch. */
typedef struct lattice_follow {
    atn_array *turns, *found; /* what follows, in one piece each, as they go to the host and back */
    atn_array *q[4], *shift[3], *fit[4], *end;
    atn_kernel *kernel[2]; /* the first step, without a shift; the others */
} lattice_follow;

enum { LATTICE_NEAR_ARRAYS = 3, LATTICE_ROW_ARRAYS = 19 }; /* with a row for each atom of a batch: of all, of a model */
typedef struct lattice_slot {
    char name[32];
    atn_lattice_model model;
    double constant;
    const lattice_kind *kind; /* NULL: given points */
    lattice_cell cell;        /* of a kind */
    lattice_sites sites;      /* the same, in floats */
    lattice_points points;
    int32_t symmetries;
    double symmetry[LATTICE_MOST_SYMMETRIES][4];
    lattice_box coarse, box; /* of scores, which see the nearer neighbours; of steps */
    lattice_turns turns;
    double log_any, log_normal; /* logarithms: of the density of any turn; that times the volume of normal turns */
    double log_square;          /* of the square of the tables' noise */
    double log_volume;          /* of the volume of an atom, of a kind */
    double expected;            /* inside the cut-off, background too */
    lattice_count count;
    double *number;   /* of sets that come alone: log of the chance of n neighbours times n!; else NULL */
    double misfit;    /* nats a neighbour, of the sample that was learned from */
    lattice_fit seen; /* of that sample */
    bool strange;     /* the atoms that take it are of another lattice: they are `other` */
    double low, unit; /* logarithm of the density is low + unit * entry, of the table of scores */
    atn_array *turn, *grid, *table, *pull[2];
    float *host_pull[2];               /* what pull was packed from, LATTICE_PULL numbers a voxel */
    float *density;                    /* of each voxel, of the sharp one */
    size_t pull_room[2], density_room; /* numbers that there is memory for */
    lattice_packing packing[2];
    atn_array *score, *rows, *best, *sum, *q[4], *q_rows[4], *shift[3], *fit[4];
    atn_array *few[LATTICE_ROW_ARRAYS]; /* the first rows of these, where the kernels are bound to them; else NULL */
    atn_kernel *score_kernel, *pick_kernel;
    atn_kernel *refine_kernel[LATTICE_REFINES]; /* wide without a shift, wide, sharp */
    lattice_follow follow;
} lattice_slot;

/* Turns of atoms that were sure of late, the last first: atoms come in the order of their cells, so these are near. */
typedef struct lattice_recent {
    bool near; /* of atoms around: the turn is one of these, likely */
    int32_t count[ATN_LATTICE_MOST_MODELS];
    double turn[ATN_LATTICE_MOST_MODELS][LATTICE_RECENT][4];
} lattice_recent;

/* What is known of an ordered model (order.c). */
typedef struct lattice_order {
    int32_t sites; /* of its cell; 0: it is not ordered */
    int32_t on[LATTICE_ORDER_SITES];
    const char *base;
    int32_t structure; /* that atoms of its geometry are told as at first */
    int32_t plain;     /* the model without order, -1: none */
    int32_t species, name[LATTICE_ORDER_SPECIES];
    double share;                            /* of the atoms of that geometry */
    double chance[3][LATTICE_ORDER_SPECIES]; /* of a species on each sublattice, and without order */
} lattice_order;

/* Logarithms of odds that likelihoods tell, ascending, and of those that come true. */
typedef struct lattice_knots {
    int32_t count;
    double told[LATTICE_KNOTS], right[LATTICE_KNOTS];
} lattice_knots;

static inline bool lattice_background_given(const atn_lattice_settings *s) {
    return s->has_background || s->background > 0;
}

struct atn_lattice {
    atn_device *device;
    const atn_ctx *ctx;
    atn_lattice_settings settings;
    double *given[ATN_LATTICE_MOST_MODELS][3]; /* points of models, ours */
    atn_lattice_info info;
    double sharp;       /* noise of the last steps' tables */
    double log_noise;   /* logarithm of the product of the noises along the axes */
    double inner;       /* radius of the neighbours that coarse scores look at */
    double temper;      /* power of likelihoods */
    double temper_part; /* where a part of the neighbours belongs elsewhere */
    /* Of neighbourhoods that come alone: what places say for model k counts so much for model m. */
    double places[ATN_LATTICE_MOST_MODELS][ATN_LATTICE_MOST_MODELS];
    lattice_knots knots[2];                /* of confidences that come true: of lattice atoms, of other */
    struct lattice_knots_late *knots_late; /* they are found while others match already (knots_late.c); else NULL */
    /* Where model a is right: the least share of its gain over the null model by which it beats model b. */
    double rival[ATN_LATTICE_MOST_MODELS][ATN_LATTICE_MOST_MODELS];
    bool follows[ATN_LATTICE_MOST_MODELS]; /* that is known: atoms near to a sure one try its turn first */
    uint32_t search;                       /* models that are searched for, as bits */
    double background_density,
        shape; /* e; how evenly efficiency is the same everywhere: shape of a gamma distribution */
    double null[LATTICE_RADIAL_BINS]; /* logarithm of the density of neighbours of `other` at a distance, normalized */
    lattice_count mean;               /* of all models */
    struct {
        double of[ATN_LATTICE_MOST_MODELS + 2], log[ATN_LATTICE_MOST_MODELS + 2];
    } noted; /* shares, and the background behind them, with their logarithms (lattice_note_shares) */
    double rise[ATN_LATTICE_MOST_NEIGHBOURS + 1]; /* log (shape + n - 1)! / (shape - 1)! */
    struct atn_ranks *ranks;                      /* who learn together (shared.h); NULL: it is alone */
    bool unchecked;                               /* by ranks: knots follow, from frames (knots_late.c) */
    int32_t ranks_batch;                          /* the least of their batches: all go through the same ones */
    bool ready, known, alone;                     /* alone: neighbourhoods that come one by one */
    bool learning;                                /* batches are small */
    int32_t fine;                                 /* so many times the usual rotations; 0 is 1 */
    int32_t batch;                                /* atoms of a launch */
    size_t room;                                  /* neighbours of a batch */
    lattice_slot slot[ATN_LATTICE_MOST_MODELS];
    float *table_room; /* of table_numbers, for tables that are made; owned; kept until learning is over, else NULL */
    size_t table_numbers;
    atn_array *axis[3], *start, *last, *end;
    atn_array *few[LATTICE_NEAR_ARRAYS]; /* the first rows of start, last and end, as those of slots */
    int32_t rows;                        /* that kernels are bound to; 0: all of a batch; -1: not known */
    lattice_near near;                   /* of a batch */
    lattice_near next;                   /* of the one that the device works on meanwhile */
    lattice_found *found;
    unsigned char *sure; /* of the batch, which were so at once */
    lattice_recent recent;
    lattice_order order[ATN_LATTICE_MOST_MODELS];
    lattice_spent spent;
};

int32_t lattice_batch_for(const atn_device_info *info); /* atoms of a launch */
atn_status lattice_kernels_make(atn_lattice *l);
void lattice_kernels_free(atn_lattice *l);
/* ---- tables.c ---- */
atn_status lattice_tables_put(atn_lattice *l, lattice_slot *s); /* s->table, s->pull and all that belongs to them */
void lattice_tables_free(atn_lattice *l, lattice_slot *s);      /* what lattice_tables_put made */
void lattice_tables_end(atn_lattice *l);                        /* none is made soon */

/* Tables and kernels for the info as it is now. */
atn_status lattice_engine_open(atn_lattice *l);
void lattice_engine_close(atn_lattice *l);
void lattice_engine_free(atn_lattice *l); /* closed, and kernels are freed */
/* Once learning is over: batches of atoms as large as the device likes, where the engine is open. */
atn_status lattice_engine_widen(atn_lattice *l);
/* Starts the kernels over a batch. */
atn_status lattice_engine_start(atn_lattice *l, const lattice_near *near);
/* What they found for l->near, which was started last; l->found[atom * models + model]. Others may be started then. */
atn_status lattice_engine_finish(atn_lattice *l);
atn_status lattice_engine_run(atn_lattice *l);                           /* both, for l->near; by all of l->ranks */
atn_status lattice_engine_put(atn_lattice *l, const lattice_near *near); /* the neighbours alone */
/* Where the neighbours of the next batch go from the host, to be written besides; NULL: on a host nothing is gained. */
atn_status lattice_engine_stage(atn_lattice *l, float *out[3]);

/* ---- few.c ---- */
/* Kernels that search run over as many rows as atoms need from now on. */
atn_status lattice_few_bind(atn_lattice *l, size_t atoms);
void lattice_few_free(atn_lattice *l);
void lattice_row_arrays(lattice_slot *s, atn_array **out[LATTICE_ROW_ARRAYS]);
/* Quaternions, and, where they are not NULL, shifts and what steps say of the fit. */
atn_status lattice_bind_turns(atn_kernel *k, atn_array *const q[4], atn_array *const shift[3], atn_array *const fit[4]);

/* What the host looks at of results of EM steps; and what the average over rotations and shifts around result k adds to
 * its logarithm. */
typedef struct lattice_seen {
    const float *q[4], *fit[4], *shift[3];
} lattice_seen;
atn_status lattice_engine_see(const lattice_follow *f, lattice_seen *out);
double lattice_engine_around(const atn_lattice *l, const lattice_slot *s, const lattice_seen *v, size_t k);

/* ---- radial distributions ---- */
/* Distances of the neighbours of atom i of the batch, into bins up to the cut-off. */
void lattice_distances_add(const atn_lattice *l, size_t i, double seen[LATTICE_RADIAL_BINS]);
/* The density of `other` from distances of all atoms of a sample; and the logarithm of it for atom i's neighbours. */
void lattice_null_make(atn_lattice *l, const double seen[LATTICE_RADIAL_BINS]);
double lattice_null(const atn_lattice *l, size_t i);
/* Sites of the model that the neighbours of atom i take, and the neighbours that take none, by distance. */
void lattice_sites_add(const atn_lattice *l, int32_t model, size_t i, double seen[2 * LATTICE_RADIAL_BINS]);
/* How far that is from what the model says: nats a neighbour, less what chance adds. */
double lattice_misfit(const atn_lattice *l, int32_t model, const double seen[2 * LATTICE_RADIAL_BINS]);

/* ---- numbers of neighbours ---- */
/* Each site is there with the efficiency, and is inside with a chance q that noise gives it; background atoms are
 * Poisson; efficiency itself varies, with the shape of a gamma distribution. Logarithms of the chances of 0 to
 * ATN_LATTICE_MOST_NEIGHBOURS. */
typedef struct lattice_number {
    double cutoff, noise; /* of pairs */
    double efficiency, shape;
    double background; /* expected */
} lattice_number;
void lattice_number_make(const lattice_points *points, const lattice_number *about, double *out);

/* ---- judgement ---- */
lattice_count lattice_count_make(double expected, double shape);
void lattice_note_shares(atn_lattice *l); /* they stay for a while: their logarithms are found once */
/* Class, confidence and the rest for atom i of the batch. chance: of all classes, other first; may be NULL. */
void lattice_judge(const atn_lattice *l, size_t i, atn_lattice_atom *out, double *chance);
/* The logarithm of the sum over classes of share times likelihood to a small power, the same for all atoms. */
double lattice_claim(const atn_lattice *l, size_t i);
double lattice_odds(double confidence); /* logarithm of the odds, of what is neither 0 nor 1 */
/* The confidence that comes true, from the one that lattice_judge tells; other: of an atom told as that. */
float lattice_confidence(const atn_lattice *l, bool other, float confidence);
/* What the places of atom i's neighbours say for each model, given their number, less the mean over models; returns
 * that. */
double lattice_places(const atn_lattice *l, size_t i, double out[]);
/* Logarithms of the likelihoods of all classes for atom i, the null model first. Returns the likeliest model, from 1.
 */
int32_t lattice_terms(const atn_lattice *l, size_t i, double term[]);
/* The same, and the nats by which the models, all as likely, are likelier than the null model. */
double lattice_gain(const atn_lattice *l, size_t i, double term[]);
/* Tries the turns of recent atoms, where they fit better than what was found: the best of those that are tried for
 * every atom may not lead to the best there is. looked: what each of them leads to. */
typedef struct lattice_looked {
    lattice_found of[ATN_LATTICE_MOST_MODELS][LATTICE_RECENT];
} lattice_looked;
void lattice_look(const atn_lattice *l, size_t i, const lattice_recent *recent, uint32_t models,
                  lattice_looked *looked);
/* Starts from what tables found, and replaces it. */
void lattice_look_closer(const atn_lattice *l, size_t i, uint32_t models);
/* The same of one model, and how likely the atom is on no site of that lattice, with all neighbours in it. False: the
 * model is given points, whose lattice nobody knows. */
bool lattice_look_off(const atn_lattice *l, size_t i, int32_t model);
/* The density at each neighbour, from what was found. */
void lattice_look_each(const atn_lattice *l, const lattice_slot *s, size_t i, const lattice_found *found, float *out);
/* A lattice that needs no site for the atom, from one of these turns, over neighbours that count as `left` says (NULL:
 * all): the density at each. Returns what the average around it adds. odds (may be NULL): how much
 * likelier the atom is on no site of it than on the nearest one. */
double lattice_look_beyond(const atn_lattice *l, size_t i, int32_t model, const lattice_recent *recent, int32_t which,
                           const float *left, float *each, double *odds);
bool lattice_is_uneven(const atn_lattice *l); /* noise in depth is another: tables do not know, the look does */
void lattice_remember(const atn_lattice *l, int32_t model, const double turn[4], lattice_recent *recent);
/* Behind those that are there, unless it is one of them. */
void lattice_remember_last(const atn_lattice *l, int32_t model, const double turn[4], lattice_recent *recent);
bool lattice_turn_is(const lattice_slot *s, const double a[4],
                     const double b[4]); /* up to symmetry, within some degrees */
/* Planes across the 26 directions of a cube, at four distances from the centre, which is on the near side: how much of
 * each neighbour is on that side. Beyond LATTICE_HALVED neighbours sides are left open. */
enum { LATTICE_PLANES = 26 * 4, LATTICE_HALVED = 128 };
typedef struct lattice_halving {
    float side[LATTICE_HALVED][LATTICE_PLANES];
} lattice_halving;
/* For an atom that fits none of the models whole: each model once more, from what was found and from recent turns, with
 * a part of the neighbours belonging elsewhere, as at a grain boundary: to a gas, to nothing, or to a lattice of
 * another recent turn. Makes evidences larger; judge again. Of different atoms at the same time. recent may be NULL.
 * models: a bit for each that is looked at. looked: what recent turns lead to; NULL: without recent ones. */
void lattice_mixed(const atn_lattice *l, size_t i, const lattice_recent *recent, uint32_t models,
                   const lattice_looked *looked, lattice_halving *out);
/* Also the likelihood of an atom that is on no site of the lattice around it, or of the two at a boundary. */
void lattice_mixed_off(const atn_lattice *l, size_t i, const lattice_recent *recent, const lattice_halving *h);
/* Models that an atom may be of: all but those that hardly any atom of the frame has, none of these around, and whose
 * likelihood is far below the best one's. A bit for each. */
uint32_t lattice_frequent(const atn_lattice *l); /* those that more than hardly any atom has */
uint32_t lattice_likely(const atn_lattice *l, size_t i, const lattice_recent *recent);
/* The turn of what was found as a matrix; the voxel that neighbour k falls into, and where it is in the model's frame.
 */
void lattice_found_matrix(const lattice_found *found, double out[9]);
const float *lattice_voxel_at(const atn_lattice *l, const lattice_slot *s, const float *pull, const double turn[9],
                              const lattice_found *found, int32_t k, double out[3]);
/* Adds sum w m y and sum w m^2 of an atom, whose quotient is how much larger than the model the lattice is. */
void lattice_stretch(const atn_lattice *l, int32_t model, size_t i, double sums[2]);
/* Equation 1 with an explicit assignment, from what was found. */
atn_status lattice_exact(const atn_lattice *l, size_t i, atn_lattice_atom *out);

#endif
