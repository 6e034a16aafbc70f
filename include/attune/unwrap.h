/* Phase unwrapping: from a phase that is known up to whole turns to a surface. The least squares answer of
 *     min sum w (u(q) - u(p) - W(psi(q) - psi(p)))^2 over neighbours p, q; W wraps into [-pi, pi)
 * by multigrid, or by conjugate gradients preconditioned by it where there are weights; where that is torn by residues,
 * the congruent answer with the shortest cuts. Made once for a size and a device, solved frame by frame. docs/unwrap.md
 * has the method. */
#ifndef ATTUNE_UNWRAP_H
#define ATTUNE_UNWRAP_H

#include <attune/array.h>
#include <attune/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_unwrap atn_unwrap;

typedef enum atn_unwrap_method {
    ATN_UNWRAP_METHOD_AUTO,      /* turns from neighbour to neighbour where differences add up; else multigrid where
                                    there are no weights and no holes, conjugate gradients where there are */
    ATN_UNWRAP_METHOD_MULTIGRID, /* cycles alone */
    ATN_UNWRAP_METHOD_CG         /* conjugate gradients, preconditioned by one V-cycle */
} atn_unwrap_method;

typedef enum atn_unwrap_cycle {
    ATN_UNWRAP_CYCLE_AUTO, /* V */
    ATN_UNWRAP_CYCLE_V,
    ATN_UNWRAP_CYCLE_W
} atn_unwrap_cycle;

typedef enum atn_unwrap_smoother {
    ATN_UNWRAP_SMOOTHER_AUTO,     /* Jacobi with the steps of a Chebyshev polynomial */
    ATN_UNWRAP_SMOOTHER_REDBLACK, /* Gauss-Seidel's, both colours in one kernel; Jacobi's where there are weights */
    ATN_UNWRAP_SMOOTHER_JACOBI
} atn_unwrap_smoother;

/* What holds for all frames. A field left zero takes its default; knobs take what was measured for this kind of device.
 */
typedef struct atn_unwrap_settings {
    int32_t bits; /* of the phase and the answer: 32 or 64; default 32 */
    atn_unwrap_method method;
    atn_unwrap_cycle cycle;
    atn_unwrap_smoother smoother;
    int32_t before, after; /* sweeps before and after the coarse grid's correction, 1 to 8; default 2 and 2,
                                 5 and 5 with weights, where `before` holds for both */
    int32_t coarsest;      /* grids with at most this many pixels are solved directly, 4 to 1024; default 64 */
    bool no_fuse;          /* one sweep a kernel, without weights; else two, also with what the coarse grid corrects */
} atn_unwrap_settings;

typedef enum atn_unwrap_weights {
    ATN_UNWRAP_WEIGHTS_DEFAULT,  /* where residues are, or differences around a hole that do not add up to 0: AUTO and
                                    congruent; else NONE */
    ATN_UNWRAP_WEIGHTS_NONE,     /* of its own: all valid pixels count alike, but for quality */
    ATN_UNWRAP_WEIGHTS_RESIDUES, /* little where the four differences around a corner do not add up to 0 */
    ATN_UNWRAP_WEIGHTS_VARIANCE, /* less where the phase differs much from its surroundings */
    ATN_UNWRAP_WEIGHTS_AUTO,     /* where residues are, few cuts. Congruent: the shortest ones, on the host; else solved
                                    again     and again, with less weight on what did not fit the last answer. Else as NONE
                                  */
    ATN_UNWRAP_WEIGHTS_ONCE      /* for live frames: where residues are, less beside them and where the phase is rough,
                                    solved once, to 5e-4 of the residual; without residues as NONE */
} atn_unwrap_weights;

typedef enum atn_unwrap_remove {
    ATN_UNWRAP_REMOVE_NOTHING, /* the answer equals the phase in the mean, up to whole turns; see `congruent` */
    ATN_UNWRAP_REMOVE_PISTON,  /* mean 0, of each island */
    ATN_UNWRAP_REMOVE_TILT     /* the plane that fits best, of all islands as one, then piston */
} atn_unwrap_remove;

/* What may differ from frame to frame. A field left zero takes its default. Images are row after row, without gaps. */
typedef struct atn_unwrap_solve_settings {
    const uint8_t *mask;  /* 0: not valid; NULL: all are */
    const float *quality; /* weight of a pixel, finite and >= 0; an edge takes the lesser of its two; NULL: 1 */
    atn_unwrap_weights weights;
    atn_unwrap_remove remove;
    bool congruent;      /* the answer differs from the phase by whole turns (before piston or tilt is removed) */
    bool unwrapped;      /* the phase is a surface already and is kept as it is, but for piston and tilt */
    bool warm;           /* starts from the last frame's solution, where there is one */
    double tolerance;    /* of the residual, relative to that of a flat start. Default: until the answer is within about
                            4e-5 radians rms at 32 bits, 2e-10 at 64; with weights 1e-5 and 1e-10, rounds that adapt
                            them, or make them once, 5e-4 */
    int32_t most_cycles; /* cycles or iterations of one solution; default 100 */
    atn_array *mask_array;    /* `mask` as a matrix of ATN_U8 on the solver's device, instead of it */
    atn_array *quality_array; /* `quality` likewise, of the type of the phase */
} atn_unwrap_solve_settings;

/* A plain value. */
typedef struct atn_unwrap_result {
    bool converged;     /* the tolerance was reached, or rounding allows no more: then the reason says so */
    char reason[200];   /* a sentence: why not, or what to be careful about; "" for nothing */
    int64_t valid;      /* pixels that are neither masked nor NaN nor infinite */
    int64_t residues;   /* corners of four valid pixels whose wrapped differences do not add up to 0 */
    int64_t islands;    /* connected parts of the valid pixels; each has a piston of its own */
    int64_t cut_length; /* neighbouring valid pairs whose answers differ by another turn than the wrapped difference */
    bool shortest;   /* the answer is congruent, and no other has cuts of fewer turns (of less weight, with quality) */
    bool smeared;    /* residues, or differences around a hole that do not add up, and no weights: least squares
                        spreads the misfit over the surface; the reason says so */
    double residual; /* |r| / |r of a flat start|, reached */
    double residual_rms;   /* of u(q) - u(p) - W(psi(q) - psi(p)) over all neighbouring valid pairs, radians */
    double congruence_max; /* the farthest that the answer is from psi plus whole turns, radians; 0 where congruent */
    bool weighted;         /* weights or holes were there: conjugate gradients, unless cycles alone were asked for */
    int32_t cycles;        /* cycles or iterations, of all solutions together */
    int32_t solutions;     /* systems that were solved: 1, more where weights were adapted; none for the shortest cuts,
                              nor where all wrapped differences add up: turns are followed */
    double seconds;        /* all of it */
    double setup_seconds;  /* differences, residues, weights and their coarse grids */
    double solve_seconds;  /* cycles */
    double finish_seconds; /* islands, congruence, piston and what is reported */
} atn_unwrap_result;

/* A solver for images of `width` by `height` pixels (each 1 or more). Owned by the caller, freed before the device is
 * closed; used by one thread at a time. NULL settings: defaults. */
ATN_API atn_status atn_unwrap_create(atn_device *device, int64_t width, int64_t height,
                                     const atn_unwrap_settings *settings, atn_unwrap **out);
ATN_API void atn_unwrap_free(atn_unwrap *unwrap); /* NULL is fine */

/* `phase` and `out`: width * height floats, or doubles with 64 bits; radians, of any size; what is not finite is a
 * hole. `out` is NaN at holes and may be `phase`. Returns ATN_OK also where nothing is valid or the tolerance was not
 * reached: the reason says so; fails where the question is wrong. NULL settings: defaults. */
ATN_API atn_status atn_unwrap_solve(atn_unwrap *unwrap, const void *phase, const atn_unwrap_solve_settings *settings,
                                    void *out, atn_unwrap_result *result);

/* The same without copies: matrices of the solver's device and size, of ATN_SP or ATN_DP as `bits` says. They are read
 * and written where they are, unless their rows have gaps; where they are the same, the answer is copied once, on the
 * device. Nothing of the size of a frame goes to the host or comes from there, unless the shortest cuts are searched
 * for. (atn_unwrap_solve reads phase, mask and quality where they are if the device is the host, and copies the answer
 * only.) */
ATN_API atn_status atn_unwrap_solve_array(atn_unwrap *unwrap, atn_array *phase,
                                          const atn_unwrap_solve_settings *settings, atn_array *out,
                                          atn_unwrap_result *result);

/* ---- knobs by measurement ---- */
typedef struct atn_unwrap_tuned {
    char knobs[128];        /* the fastest: "smoother=jacobi,cycle=V,before=2,..." */
    double seconds;         /* of a frame with them */
    double default_seconds; /* of a frame with the usual ones; 0: they gave a wrong answer */
    int32_t tried, failed;  /* knobs; of them, wrong ones */
} atn_unwrap_tuned;

typedef struct atn_unwrap_tune_settings {
    int32_t bits;           /* 32 or 64; default 32 */
    double seconds;         /* after which no others are begun; 0: none are left out */
    int32_t evaluations;    /* as many at most; 0: any number */
    const char *space;      /* LANAI; NULL: spaces/unwrap.lanai as it is shipped */
    const char *space_name; /* for messages */
    void (*progress)(void *user, const atn_unwrap_tuned *so_far); /* or NULL */
    void *user;
} atn_unwrap_tune_settings;

/* Measures whole frames without weights, of a known surface of width by height pixels, with knobs out of a space, and
 * remembers the fastest that is right in the wisdom database: solvers made after the context that looks there was, on
 * this kind of device, take what was measured at the nearest size for knobs that their settings leave zero. */
ATN_API atn_status atn_unwrap_tune(atn_device *device, int64_t width, int64_t height,
                                   const atn_unwrap_tune_settings *settings, atn_unwrap_tuned *out);

/* For people: the grids, the knobs and where they are from. Valid until the next call with this handle. */
ATN_API const char *atn_unwrap_explain(atn_unwrap *unwrap);

#ifdef __cplusplus
}
#endif
#endif
