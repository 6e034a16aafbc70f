/* Point set registration: the transform that maps a source cloud onto a target cloud. Settings in, result out. Any unit
 * of length works: defaults are derived from the data. docs/register.md describes the methods. */
#ifndef ATTUNE_REGISTER_H
#define ATTUNE_REGISTER_H

#include <attune/array.h>
#include <attune/cloud.h>
#include <attune/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum atn_register_method {
    ATN_REGISTER_EM_ICP,     /* soft correspondences with a decreasing distance scale; the default */
    ATN_REGISTER_ICP,        /* nearest neighbours, point to point */
    ATN_REGISTER_ICP_PLANE,  /* nearest neighbours, point to plane */
    ATN_REGISTER_SOFTASSIGN, /* soft correspondences, normalised over both clouds */
    ATN_REGISTER_CPD,        /* coherent point drift: the distance scale is estimated */
    ATN_REGISTER_GICP /* generalized ICP: nearest neighbours, distances weighted by the local surfaces of both clouds */
} atn_register_method;

typedef enum atn_transform_kind {
    ATN_TRANSFORM_RIGID,
    ATN_TRANSFORM_SIMILARITY,
    ATN_TRANSFORM_AFFINE
} atn_transform_kind;

typedef enum atn_register_start {
    ATN_START_DEFAULT,  /* auto; with `compat`: identity */
    ATN_START_IDENTITY, /* clouds are roughly aligned: no search, small basin of convergence */
    ATN_START_GIVEN,    /* atn_register_settings.start */
    ATN_START_AUTO      /* any rotation, partial overlap: the identity if that fits, otherwise a global search */
} atn_register_start;

/* How far a result can be trusted. */
typedef enum atn_verdict {
    ATN_VERDICT_REFUSED,  /* no better than chance, or no result at all */
    ATN_VERDICT_DOUBTFUL, /* fits, but other poses fit as well, or too little data supports it */
    ATN_VERDICT_TRUSTED
} atn_verdict;
ATN_API const char *atn_verdict_name(atn_verdict verdict); /* "refused", "doubtful", "trusted" */

/* Robust loss for ICP, as a function of distance / `robust_scale`. */
typedef enum atn_robust { ATN_ROBUST_NONE, ATN_ROBUST_HUBER, ATN_ROBUST_TUKEY, ATN_ROBUST_CAUCHY } atn_robust;

/* State after an iteration. */
typedef struct atn_register_step {
    int32_t iteration;     /* from 1 */
    double sigma;          /* distance scale of this iteration; 0 if the method has none */
    double rmse;           /* of the pairs, as weighted by the method */
    double motion;         /* largest displacement of a source point in this iteration */
    int64_t pairs;         /* evaluated in this iteration */
    size_t source, target; /* points used; fewer while the scale is large */
} atn_register_step;

/* Called after each iteration; returning false cancels the call with ATN_ERR_CANCELLED. */
typedef bool atn_register_watch(void *user, const atn_register_step *step);

/* Called after each pair of a batch, in order, with its index from 0. */
typedef void atn_register_done(void *user, size_t pair);

/* Fields left at zero take their defaults. Lengths are in the target's unit. */
typedef struct atn_register_settings {
    size_t size; /* of this struct: ATN_INIT */
    atn_register_method method;
    atn_transform_kind transform;
    atn_register_start init;
    double start[16];        /* of ATN_START_GIVEN: 4 x 4, row-major, target = T source */
    bool compat;             /* EM-ICP exactly as in the published code */
    int32_t precision;       /* bits of pair sums: 16, 32 or 64; default 32 */
    bool reproducible;       /* bit-identical results for any number of threads */
    double sigma_start;      /* > 0; default: depends on the start */
    double sigma_end;        /* > 0, at most sigma_start; default: from the point spacing */
    double sigma_factor;     /* factor on sigma squared per step, in (0, 1); default depends on the method */
    double outlier_distance; /* d0: points farther than this from every target point are outliers; INFINITY: no
                                outliers; default: from sigma_end */
    double error_bound;   /* relative error in a point's sums allowed for skipping distant pairs; default 1e-4; to skip
                             none: `dense` */
    bool dense;           /* evaluate all pairs in every iteration */
    bool no_acceleration; /* no extrapolation of iterations */
    bool no_polish;       /* EM-ICP: no final point-to-plane refinement; implied by sigma_end and by a fitted scale */
    int32_t most_iterations;   /* default depends on the method */
    double trim;               /* ICP: fraction of pairs to discard, the most distant ones, in [0, 1) */
    atn_robust robust;         /* ICP */
    double robust_scale;       /* default: from the data */
    bool match_species;        /* only pair points of equal species; both clouds must have species */
    size_t most_bytes;         /* memory limit in bytes; default: free memory */
    bool profile;              /* synchronise after every kernel, for exact kernel times */
    bool no_covariance;        /* do not estimate the covariance; saves time */
    atn_register_watch *watch; /* or NULL */
    void *watch_user;
    atn_register_done *done; /* of a batch, or NULL */
    void *done_user;
} atn_register_settings;

enum { ATN_REGISTER_MOST_PROFILE = 24, ATN_REGISTER_MOST_ALTERNATIVES = 24 };

/* Time spent in a kernel, or in a part of the host code. */
typedef struct atn_register_time {
    char name[40];
    int64_t calls;
    double seconds;
} atn_register_time;

/* A plain value. */
typedef struct atn_register_result {
    size_t size;          /* of this struct: ATN_INIT */
    double transform[16]; /* 4 x 4, row-major, target = T source */
    double scale;         /* of a similarity transform; otherwise 1 */
    bool converged;       /* the update fell below its threshold, and the result is not refused */
    atn_verdict verdict;
    char reason[200];       /* a sentence: why the verdict is what it is */
    double rmse;            /* over inlier pairs: a source point and the nearest target point within inlier_distance */
    double overlap;         /* share of the source points that have one */
    double inlier_distance; /* from the spacing and noise of both clouds */
    double overlap_source;  /* share of a sample of the source that lies on the target's surface, turned alike */
    double overlap_target;  /* the other way round */
    double agreement;       /* of the samples beside the other's surface, the share that lies on it; chance: 0.3 */
    double runner_up;       /* overlap x agreement of the best other pose, over that of this one; 0: none is near */
    int32_t n_alternatives; /* poses that fit as well, this one not counted */
    int32_t n_sliding;      /* directions in which the fit does not hold */
    double sliding[6][6];   /* rotation vector, then translation, of length 1; about the target's origin */
    double alternatives[ATN_REGISTER_MOST_ALTERNATIVES][16]; /* as transform */
    int32_t iterations;
    double pairs; /* iterations x source points x target points, as if all had been evaluated */
    double evaluated_pairs;
    double seconds;          /* without compiling kernels, */
    double building_seconds; /* which the first run on a device does */
    double gpts;             /* giga-pairs per second: all pairs of a dense run, otherwise those evaluated */
    double error_bound;    /* bound on the relative error in a point's sums from skipped pairs, in the last iteration */
    size_t peak_bytes;     /* peak memory, host and device */
    double covariance[36]; /* 6 x 6 of the rotation vector (radians), then the translation; left perturbation */
    bool has_covariance;   /* false also if it cannot be estimated: not rigid, sliding surfaces, too few points */
    char covariance_reason[80]; /* if there is none: why */
    double sigma_end;           /* final distance scale */
    char device[64];            /* the device used; for small clouds on a GPU: its host */
    char variant[160];          /* of the most expensive kernel */
    int32_t profile_count;
    atn_register_time profile[ATN_REGISTER_MOST_PROFILE]; /* in order of time, largest first */
} atn_register_result;

/* Registers `source` to `target`. NULL settings: defaults. Mismatched clouds are no failure: ATN_OK, with a verdict and
 * its reason. Fails on invalid input (no points, invalid settings) and without memory. */
ATN_API atn_status atn_register(atn_device *device, const atn_cloud *source, const atn_cloud *target,
                                const atn_register_settings *settings, atn_register_result *out);

/* The same for points in device memory: matrices of type SP or DP with one row (x, y, z) per point, all of weight 1.
 * They are only read. em-icp and gicp on a GPU take 32,768 points and more there without copying them to the host,
 * which gets samples of 120,000 points and levels of some ten thousand; small clouds, other methods, and clouds of very
 * uneven density are copied. */
ATN_API atn_status atn_register_arrays(atn_device *device, atn_array *source, atn_array *target,
                                       const atn_register_settings *settings, atn_register_result *out);

/* atn_register on several devices: the first one has the clouds, the others take rows of long steps (all pairs, or many
 * points), as many as they are fast. A device that is lost, or cannot do it, leaves its rows to the others. With
 * `reproducible` the first one works alone: devices round differently. No device twice, at most
 * ATN_MOST_DEVICES. */
ATN_API atn_status atn_register_several(atn_device *const *devices, int32_t n_devices, const atn_cloud *source,
                                        const atn_cloud *target, const atn_register_settings *settings,
                                        atn_register_result *out);

/* Estimated memory of atn_register for clouds of these sizes, host and device, in bytes; device NULL: on the host. 0:
 * the settings are of another version; atn_ctx_message(NULL) says so. */
ATN_API size_t atn_register_bytes(atn_device *device, const atn_register_settings *settings, size_t source,
                                  size_t target);

/* One pair of a batch. */
typedef struct atn_register_pair {
    size_t size;                      /* of this struct: ATN_INIT; the same for all of a batch */
    const atn_cloud *source, *target; /* not owned */
    const double *start;              /* 16 numbers, or NULL: as `init` says */
    atn_register_start init;          /* ATN_START_DEFAULT: as in the settings */
    atn_status status;                /* of this pair; a failure does not stop the others */
    char message[200];                /* why it failed */
    atn_register_result result;       /* filled; stays the last field, so that it can grow */
} atn_register_pair;

/* Registers many pairs; kernels are planned once. Three pairs or more of at most 20,000 points each run in parallel on
 * the cores of the host, one thread each (one after the other with `profile`); `watch` is then called only for those of
 * the calling thread. With a GPU and 256 pairs or more of at most 4,000 points each, there are several threads per
 * core, and the long steps of all of them are computed on the GPU, many pairs per launch (not with `reproducible` or
 * 64-bit precision); `watch` is then called by one thread at a time, for any pair, and never during `done`: steps that
 * end while either is called are not reported. Results of trusted pairs agree to 1e-4 with those of atn_register,
 * lengths relative to the clouds' size. Fails only if no pair can be processed. */
ATN_API atn_status atn_register_batch(atn_device *device, size_t count, atn_register_pair *pairs,
                                      const atn_register_settings *settings);
/* The same on several devices at once: pairs go in pieces to the device that is free, more of them to the faster ones.
 * The pairs of a device that is lost or cannot process them go to the others. With `reproducible` the first one works
 * alone. `watch` is called by one thread at a
 * time, for any pair; `done` in order. Each device may be named once, and
 * ATN_MOST_DEVICES at most. */
ATN_API atn_status atn_register_batch_several(atn_device *const *devices, int32_t n_devices, size_t count,
                                              atn_register_pair *pairs, const atn_register_settings *settings);

#ifdef __cplusplus
}
#endif
#endif
