/* Phase unwrapping: from a phase known modulo 2 pi to a continuous surface. The least squares solution of
 *     min sum w (u(q) - u(p) - W(psi(q) - psi(p)))^2 over neighbours p, q; W wraps into [-pi, pi)
 * by multigrid, or by conjugate gradients preconditioned by multigrid where there are weights; with residues, the
 * congruent solution with the shortest branch cuts. Create a solver once for a size and a device, then solve frame by
 * frame. docs/unwrap.md describes the method. */
#ifndef ATTUNE_UNWRAP_H
#define ATTUNE_UNWRAP_H

#include <attune/array.h>
#include <attune/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_unwrap atn_unwrap;

typedef enum atn_unwrap_method {
    ATN_UNWRAP_METHOD_AUTO,      /* path following without residues; otherwise multigrid without weights and holes,
                                    conjugate gradients with them */
    ATN_UNWRAP_METHOD_MULTIGRID, /* multigrid cycles only */
    ATN_UNWRAP_METHOD_CG         /* conjugate gradients, preconditioned by one V-cycle */
} atn_unwrap_method;

typedef enum atn_unwrap_cycle {
    ATN_UNWRAP_CYCLE_AUTO, /* V */
    ATN_UNWRAP_CYCLE_V,
    ATN_UNWRAP_CYCLE_W
} atn_unwrap_cycle;

typedef enum atn_unwrap_smoother {
    ATN_UNWRAP_SMOOTHER_AUTO,     /* Jacobi with the steps of a Chebyshev polynomial */
    ATN_UNWRAP_SMOOTHER_REDBLACK, /* red-black Gauss-Seidel, both colours in one kernel; with weights Jacobi */
    ATN_UNWRAP_SMOOTHER_JACOBI
} atn_unwrap_smoother;

/* For all frames of a solver. Fields left at zero take their defaults; tuning parameters, what was measured for this
 * kind of device.
 */
typedef struct atn_unwrap_settings {
    size_t size;  /* of this struct: ATN_INIT */
    int32_t bits; /* precision of phase and result: 32 or 64; default 32 */
    atn_unwrap_method method;
    atn_unwrap_cycle cycle;
    atn_unwrap_smoother smoother;
    int32_t before, after; /* smoothing sweeps before and after the coarse-grid correction, 1 to 8; default 2 and 2,
                              with weights 5 and 5, where `before` is used for both */
    int32_t coarsest;      /* coarsest grid: at most this many pixels, solved directly, 4 to 1024; default 64 */
    bool no_fuse;          /* one sweep per kernel, without weights; otherwise two, fused with the prolongation */
} atn_unwrap_settings;

typedef enum atn_unwrap_weights {
    ATN_UNWRAP_WEIGHTS_DEFAULT,  /* with residues, or if differences around a hole do not add up to 0: AUTO and
                                    congruent;  otherwise NONE */
    ATN_UNWRAP_WEIGHTS_NONE,     /* all valid pixels count equally, except for quality */
    ATN_UNWRAP_WEIGHTS_RESIDUES, /* low at residues (corners where the four wrapped differences do not add up to 0) */
    ATN_UNWRAP_WEIGHTS_VARIANCE, /* low where the local phase variance is high */
    ATN_UNWRAP_WEIGHTS_AUTO, /* with residues: few branch cuts. Congruent: the shortest ones, on the host; otherwise by
                                iteratively reweighted least squares. Without residues as NONE
                              */
    ATN_UNWRAP_WEIGHTS_ONCE /* for live frames: with residues, low beside them and where the phase is rough, solved once
                               to 5e-4 of the residual; without residues as NONE */
} atn_unwrap_weights;

typedef enum atn_unwrap_remove {
    ATN_UNWRAP_REMOVE_NOTHING, /* the mean equals that of the phase, modulo 2 pi; see `congruent` */
    ATN_UNWRAP_REMOVE_PISTON,  /* zero mean, for each island */
    ATN_UNWRAP_REMOVE_TILT     /* the best-fitting plane over all islands together, then piston */
} atn_unwrap_remove;

/* For one frame. Fields left at zero take their defaults. Images are row-major without gaps. */
typedef struct atn_unwrap_solve_settings {
    size_t size;         /* of this struct: ATN_INIT */
    const uint8_t *mask; /* 0: invalid; NULL: all pixels are valid */
    const float
        *quality; /* weight of each pixel, finite and >= 0; a pair of neighbours takes the smaller one; NULL: 1 */
    atn_unwrap_weights weights;
    atn_unwrap_remove remove;
    bool congruent;        /* the result differs from the phase by multiples of 2 pi (before removing piston or tilt) */
    bool unwrapped;        /* the phase is already unwrapped; only piston or tilt are removed */
    bool warm;             /* warm start from the solution of the previous frame, if any */
    double tolerance;      /* on the residual, relative to that of a flat start. Default: for a result within about 4e-5
                              radians rms at 32 bits, 2e-10 at 64; with weights 1e-5 and 1e-10; while weights are adapted,
                              or with ONCE, 5e-4 */
    int32_t most_cycles;   /* maximum number of cycles or iterations per solve; default 100 */
    atn_array *mask_array; /* instead of `mask`: a matrix of ATN_U8 on the solver's device */
    atn_array *quality_array; /* instead of `quality`: likewise, of the type of the phase */
} atn_unwrap_solve_settings;

/* Result of a frame. */
typedef struct atn_unwrap_result {
    size_t size;        /* of this struct: ATN_INIT */
    bool converged;     /* the tolerance was reached, or rounding allows no better, as the reason then says */
    char reason[200];   /* a sentence: why not, or a warning; otherwise "" */
    int64_t valid;      /* number of pixels that are neither masked nor NaN nor infinite */
    int64_t residues;   /* number of corners between four valid pixels whose wrapped differences do not add up to 0 */
    int64_t islands;    /* connected components of valid pixels; each has its own piston */
    int64_t cut_length; /* pairs of valid neighbours whose results differ by another multiple of 2 pi than the wrapped
                           phase */
    bool shortest; /* the result is congruent and its cuts are provably the shortest (with quality: of least weight) */
    bool smeared;  /* residues, or differences around a hole that do not add up, without weights: least squares
                      smears the misfit over the surface; the reason says so */
    double residual;       /* final |r| / |r of a flat start| */
    double residual_rms;   /* rms of u(q) - u(p) - W(psi(q) - psi(p)) over all pairs of valid neighbours, in radians */
    double congruence_max; /* largest deviation of the result from psi plus multiples of 2 pi, in radians; 0 if
                              congruent */
    bool weighted;         /* there were weights or holes: conjugate gradients, unless multigrid was requested */
    int32_t cycles;        /* total number of cycles or iterations */
    int32_t solutions; /* number of linear systems solved: 1, more if weights were adapted; 0 for the shortest cuts and
                          for path following */
    double seconds;    /* total, without building kernels, which a first run does; the next three are with it */
    double setup_seconds;  /* differences, residues, weights and their coarse grids, in seconds */
    double solve_seconds;  /* multigrid cycles or iterations */
    double finish_seconds; /* islands, congruence, piston and statistics */
} atn_unwrap_result;

/* A solver for images of `width` by `height` pixels (each 1 or more). Owned by the caller, freed before the device is
 * closed; used by one thread at a time. NULL settings: defaults. */
ATN_API atn_status atn_unwrap_create(atn_device *device, int64_t width, int64_t height,
                                     const atn_unwrap_settings *settings, atn_unwrap **out);
ATN_API void atn_unwrap_free(atn_unwrap *unwrap); /* NULL is allowed */

/* `phase` and `out`: width * height floats, or doubles with 64 bits; in radians, not necessarily wrapped; pixels that
 * are not finite are holes. `out` is NaN at holes and may be `phase`. No valid pixel, or a tolerance that was not
 * reached, is no failure: the reason says so. Fails on invalid input. NULL settings: defaults; NULL result: not wanted.
 */
ATN_API atn_status atn_unwrap_solve(atn_unwrap *unwrap, const void *phase, const atn_unwrap_solve_settings *settings,
                                    void *out, atn_unwrap_result *result);

/* The same for device arrays: matrices of the solver's device and size, of type ATN_SP or ATN_DP as `bits` says. They
 * are used in place, unless their rows have gaps; if they are the same array, the result is copied once, on the device.
 * No frame is transferred to or from the host, except for the shortest cuts. (On the host device, atn_unwrap_solve
 * reads phase, mask and quality in place and only copies the result.) */
ATN_API atn_status atn_unwrap_solve_array(atn_unwrap *unwrap, atn_array *phase,
                                          const atn_unwrap_solve_settings *settings, atn_array *out,
                                          atn_unwrap_result *result);

/* ---- a stream of frames ---- */
/* A frame on its way: filled in by `next`, handed back to `done`. Owned by the library, may grow at its end. */
typedef struct atn_unwrap_frame {
    int64_t width, height; /* while they stay the same, each device keeps its solver */
    const void *phase;     /* as in atn_unwrap_solve: */
    const atn_unwrap_solve_settings *settings;
    void *out; /* all of them must stay until `done` gets the frame */
    void *user;
    atn_status status;  /* ATN_OK in `next`; anything else: not to be unwrapped, only handed back in its turn */
    char message[1024]; /* why it was not unwrapped; "" if it was */
    int32_t device;     /* the one that unwrapped it, from 0; -1: none */
    const atn_unwrap_result *result; /* valid during `done`; all zeros if it was not unwrapped */
} atn_unwrap_frame;

/* Waits for the next frame and fills it in; false: there are no more. */
typedef bool atn_unwrap_next(void *user, atn_unwrap_frame *frame);
/* Frames come in the order of `next`, each exactly once, including those that failed or were not reached; false: no
 * more frames are fetched. */
typedef bool atn_unwrap_done(void *user, const atn_unwrap_frame *frame);

/* Fields left at zero take their defaults. */
typedef struct atn_unwrap_stream_settings {
    size_t size;                       /* of this struct: ATN_INIT */
    const atn_unwrap_settings *solver; /* NULL: defaults */
    atn_unwrap_next *next;             /* required, as is `done`; by any thread, each by one at a time */
    atn_unwrap_done *done;
    void *user;    /* passed to both */
    int32_t ahead; /* frames that may be under way, from `next` to `done`; default: 4 per device, at most 64 */
} atn_unwrap_stream_settings;

/* Unwraps frames as they come, one per device at a time: the first device works in the calling thread, the others in
 * threads of their own, and next to a GPU the host only takes over if all others have failed. The frame of a device
 * that is lost, or cannot process it, goes to the others, with a warning. `warm` starts from the last frame of the same
 * device; without it, devices of one kind give the same results, however many they are. The failure of a frame does not
 * end the stream; it fails if it is cancelled, or if no device is left. No device twice, at most ATN_MOST_DEVICES. */
ATN_API atn_status atn_unwrap_stream(atn_device *const *devices, int32_t n_devices,
                                     const atn_unwrap_stream_settings *settings);

/* ---- tuning ---- */
typedef struct atn_unwrap_tuned {
    size_t size;            /* of this struct: ATN_INIT */
    char knobs[128];        /* the fastest parameters: "smoother=jacobi,cycle=V,before=2,..." */
    double seconds;         /* per frame with them */
    double default_seconds; /* per frame with the defaults; 0: those gave a wrong result */
    int32_t tried, failed;  /* parameter sets; those with a wrong result */
} atn_unwrap_tuned;

typedef struct atn_unwrap_tune_settings {
    size_t size;            /* of this struct: ATN_INIT */
    int32_t bits;           /* 32 or 64; default 32 */
    double seconds;         /* time budget; 0: unlimited */
    int32_t evaluations;    /* maximum number of parameter sets; 0: unlimited */
    const char *space;      /* search space in LANAI; NULL: the shipped spaces/unwrap.lanai */
    const char *space_name; /* for messages */
    void (*progress)(void *user, const atn_unwrap_tuned *so_far); /* or NULL */
    void *user;
} atn_unwrap_tune_settings;

/* Measures whole frames of a known surface, without weights, with tuning parameters from a search space, and stores the
 * fastest correct ones in the wisdom database. Solvers created later on this kind of device, in contexts created later,
 * use those of the nearest size for parameters that their settings leave at zero. */
ATN_API atn_status atn_unwrap_tune(atn_device *device, int64_t width, int64_t height,
                                   const atn_unwrap_tune_settings *settings, atn_unwrap_tuned *out);

/* For people: the grids, the tuning parameters and their origin. Valid until the next call with this handle. */
ATN_API const char *atn_unwrap_explain(atn_unwrap *unwrap);

#ifdef __cplusplus
}
#endif
#endif
