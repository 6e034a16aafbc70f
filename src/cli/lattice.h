/* The parts of the verb lattice: options, the run over a frame, output, the report. */
#ifndef ATN_CLI_LATTICE_H
#define ATN_CLI_LATTICE_H

#include "apps/lattice/spent.h"
#include "cli/cli.h"
#include "cloud/frame.h"

#include <attune/lattice.h>
#include <attune/ranges.h>

enum { LATTICE_BINS = 20, LATTICE_SHOWN = 15000 };

/* An atom that the report shows. */
typedef struct lattice_shown {
    float position[3];
    atn_lattice_atom atom;
} lattice_shown;

/* Moments of a run over a frame, in their order. */
typedef enum lattice_moment {
    LATTICE_OPENED, /* the file; its atoms are counted */
    LATTICE_CUT,    /* in slabs */
    LATTICE_SAMPLED,
    LATTICE_LEARNED,
    LATTICE_SHARED,  /* atoms are with those who match them */
    LATTICE_MATCHED, /* what is this rank's */
    LATTICE_SENT,    /* results, to those who write them */
    LATTICE_WRITTEN,
    LATTICE_MOMENTS
} lattice_moment;

/* Where the time of a rank goes. */
typedef struct lattice_line {
    double joining, joined;           /* the other ranks, in seconds before it began */
    double moment[LATTICE_MOMENTS];   /* seconds since it began */
    double waited[LATTICE_MOMENTS];   /* of these, in calls that all ranks make together */
    double seconds[2][LATTICE_PARTS]; /* of learning, of matching */
} lattice_line;

/* What comes out of a run, whichever it was. */
typedef struct lattice_outcome {
    size_t atoms, dropped, unranged, overlaps, slabs;      /* overlaps: pairs of ranges */
    size_t count[ATN_LATTICE_MOST_MODELS + 1];             /* of each class, other first */
    size_t phase[ATN_LATTICE_MOST_MODELS];                 /* of each phase */
    size_t background;                                     /* of other, those on no site of the lattice around them */
    size_t bin[ATN_LATTICE_MOST_MODELS + 1][LATTICE_BINS]; /* of each class, by confidence */
    double seconds, match_seconds;
    double quickest[3]; /* of several ranks: the least match_seconds, read_seconds, learn_seconds */
    double read_seconds, learn_seconds, write_seconds; /* with waiting for other ranks */
    double began, ended;                               /* when a rank began, and when all was written */
    lattice_line own;                                  /* of this rank */
    lattice_line *line;                                /* owned; with --profile on ranks: of each; else NULL */
    size_t estimated_bytes;                            /* of memory, as it was known before the run; 0: it was not */
    atn_lattice_info info;
    int32_t *label; /* of each frame, with --frames; else NULL */
    size_t labels;
    lattice_shown *shown; /* of the report; else NULL */
    size_t n_shown, seen;
    double low[3], high[3];     /* in Angstrom */
    const lattice_spent *spent; /* with --profile; else NULL */
    char unit[8], device[128];
    const atn_device_info *device_info; /* while it is open */
    bool nanometres;
    size_t (
        *composition)[ATN_LATTICE_MOST_MODELS + 1]; /* owned; of each ion with ranges: atoms of each class; else NULL */
    char (*ion)[32];                                /* owned; their names */
    size_t ions;
} lattice_outcome;

/* A run over a frame. */
typedef struct lattice_job {
    atn_cli_call *call;
    atn_ranks *ranks;             /* who share it; NULL: it is alone */
    atn_lattice *lattice;         /* of the device that learns: the first, or the first that was not lost */
    atn_lattice *const *lattices; /* of each device */
    int32_t devices;
    uint64_t reserve; /* of these, as bits, those that take slabs only when all others have failed */
    atn_frame *frame;
    atn_frame_info about;
    atn_mass_ranges *ranges;
    size_t first, end;       /* indices that this rank writes */
    atn_atom_column *column; /* results of these; NULL: nothing is written, or `slabs` hold them, as they do on ranks */
    size_t *begin;           /* of each rank: the first of its indices, and behind the last; owned, with length */
    double *length;   /* of each rank: bytes of its rows, of the slabs that were matched here; NULL: none are wanted */
    atn_slabs *slabs; /* of the whole frame; NULL: it is not cut */
    lattice_outcome *o;
    const char *resume; /* folder that what is done is kept in, or NULL */
    atn_hash key;       /* of what is kept there */
    bool learned;       /* a run before has learned */
    size_t cut;         /* slabs of the whole frame */
    bool output;        /* atoms are written */
    size_t held;        /* bytes of the frame, and of its results, that are held in memory */
} lattice_job;

/* Memory that the run will take, in bytes; most: atoms of the largest slab with its halo. */
size_t lattice_foresee(const lattice_job *j, size_t most);
/* With --memory: what is held of the frame, and atoms of a slab (stays as it is without) that has atoms within `reach`
 * around it. */
atn_status lattice_plan_memory(lattice_job *j, double reach, size_t *atoms);

/* ---- lattice_devices.c ---- */
/* The slabs of this rank, by all devices; `keep` gets what came out of each, never two at a time. */
typedef atn_status lattice_match_one(const lattice_job *j, atn_lattice *lattice, size_t slab, atn_atoms *atoms,
                                     atn_lattice_atom *out);
typedef atn_status lattice_keep_one(const lattice_job *j, size_t slab, const atn_atoms *atoms,
                                    const atn_lattice_atom *out);
atn_status lattice_match_devices(const lattice_job *j, lattice_match_one *match, lattice_keep_one *keep);

/* ---- lattice_resume.c ---- */
/* With j->resume: the settings of a run before (j->learned), and how many slabs were wanted then. By all ranks. */
atn_status lattice_resume_begin(lattice_job *j, double *wanted);
atn_status lattice_resume_learned(const lattice_job *j, double wanted); /* kept, where they are new */
/* Results of a slab that a run before has done, and those of one that is done now; nothing to do without j->resume. */
atn_status lattice_resume_take(const lattice_job *j, size_t slab, const atn_atoms *atoms, atn_lattice_atom *out,
                               bool *there);
atn_status lattice_resume_keep(const lattice_job *j, size_t slab, const atn_atoms *atoms, const atn_lattice_atom *out);
void lattice_resume_end(const lattice_job *j); /* all is written: nothing of it is needed any more */

/* Can -o and --report be written? Before the work. */
atn_status lattice_check_output(atn_cli_call *call);

/* ---- lattice_ranks.c ---- */
/* All have learned: what the first rank has holds. */
atn_status lattice_share_learned(const lattice_job *j, atn_status status);
atn_status lattice_hold_results(const lattice_job *j, atn_status status); /* by all: they will be given (slabs_give) */
/* Rows of the results will be measured as they come (j->begin, j->length), so that each rank knows where its own begin.
 */
atn_status lattice_begin_lengths(lattice_job *j);
void lattice_pass(const lattice_job *j, lattice_moment moment); /* now */
/* With --profile, by all: where the time of each rank went, for the first one to tell. */
atn_status lattice_join_line(atn_cli_call *call, atn_status status, const lattice_spent *spent, lattice_outcome *o);
const char *lattice_moment_name(lattice_moment moment);
/* What the first rank reports covers all ranks. */
atn_status lattice_join_outcome(const lattice_job *j, atn_status status);

/* Models and numbers; points of a model file go into *model, which must live as long as the settings. */
atn_status lattice_read_options(atn_cli_call *call, atn_lattice_settings *settings, atn_cloud **model);
/* Structures are numbered by the first phase that has their name: 0 is other, 2 is none where bcc has both phases. */
static inline bool lattice_is_structure(const lattice_outcome *o, int32_t k) {
    return k == 0 || o->info.structure[k - 1] == k;
}
/* Counts an atom, and keeps it where the report may want it. */
void lattice_tally(lattice_outcome *o, const atn_lattice_atom *atom, const double position[3]);
atn_status lattice_run_frames(atn_cli_call *call, atn_lattice *lattice, lattice_outcome *out);
atn_status lattice_run_slabs(atn_cli_call *call, atn_lattice *const *lattices, int32_t devices, lattice_outcome *out);
atn_status lattice_print(atn_cli_call *call, const lattice_outcome *outcome);
atn_status lattice_report(atn_cli_call *call, const lattice_outcome *outcome, const char *path);

#endif
