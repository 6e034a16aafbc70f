/* Point set registration: the transform that moves a source cloud onto a target cloud. Settings in, result out. Units
 * do not matter: what is not set is taken from the data. Everything heavy is a described kernel and runs on the device
 * given. docs/register.md has the methods. */
#ifndef ATTUNE_REGISTER_H
#define ATTUNE_REGISTER_H

#include <attune/array.h>
#include <attune/cloud.h>
#include <attune/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum atn_register_method {
    ATN_REGISTER_EM_ICP,     /* soft pairs at a falling distance scale; the default */
    ATN_REGISTER_ICP,        /* nearest points */
    ATN_REGISTER_ICP_PLANE,  /* nearest points, distances along the target's normals */
    ATN_REGISTER_SOFTASSIGN, /* soft pairs, normalised over both clouds */
    ATN_REGISTER_CPD,        /* coherent point drift: the scale of distances is estimated, not set */
    ATN_REGISTER_GICP        /* generalized ICP: nearest points, distances weighed by the surfaces of both clouds */
} atn_register_method;

typedef enum atn_transform_kind {
    ATN_TRANSFORM_RIGID,
    ATN_TRANSFORM_SIMILARITY,
    ATN_TRANSFORM_AFFINE
} atn_transform_kind;

typedef enum atn_register_start {
    ATN_START_DEFAULT,  /* auto; identity with `compat` */
    ATN_START_IDENTITY, /* the clouds lie near each other: no search, small basin */
    ATN_START_GIVEN,    /* atn_register_settings.start */
    ATN_START_AUTO      /* any turn, partial overlap: where the clouds lie if that fits, else found by search */
} atn_register_start;

/* What a result is worth. */
typedef enum atn_verdict {
    ATN_VERDICT_REFUSED,  /* no better than chance, or no answer at all */
    ATN_VERDICT_DOUBTFUL, /* fits, but so do other poses, or there is little that could tell */
    ATN_VERDICT_TRUSTED
} atn_verdict;
ATN_API const char *atn_verdict_name(atn_verdict verdict); /* "refused", "doubtful", "trusted" */

/* How far pairs count in ICP; r is the distance over `robust_scale`. */
typedef enum atn_robust { ATN_ROBUST_NONE, ATN_ROBUST_HUBER, ATN_ROBUST_TUKEY, ATN_ROBUST_CAUCHY } atn_robust;

/* What has been reached after an iteration. A plain value. */
typedef struct atn_register_step {
    int32_t iteration;     /* from 1 */
    double sigma;          /* distance scale of this step; 0 where the method has none */
    double rmse;           /* of the pairs as the method weighs them */
    double motion;         /* largest way a source point went in this step */
    int64_t pairs;         /* that were evaluated in this step */
    size_t source, target; /* points used, fewer while the scale is large */
} atn_register_step;

/* Called after each iteration; false stops the work, which then fails with ATN_ERR_CANCELLED. */
typedef bool atn_register_watch(void *user, const atn_register_step *step);

/* Called after each pair of a batch, in their order, with its number from 0. */
typedef void atn_register_done(void *user, size_t pair);

/* A field left zero takes its default. Lengths are in the target's unit. */
typedef struct atn_register_settings {
    atn_register_method method;
    atn_transform_kind transform;
    atn_register_start init;
    double start[16];        /* of ATN_START_GIVEN: 4 x 4, row-major, target = T source */
    bool compat;             /* EM-ICP exactly as the published code computes it */
    int32_t precision;       /* of pair sums: 16, 32 or 64; default 32 */
    bool reproducible;       /* the same bits for any number of threads */
    double sigma_start;      /* > 0; default: depends on the start */
    double sigma_end;        /* > 0, not above sigma_start; default: from the distances between neighbours */
    double sigma_factor;     /* of sigma squared from step to step, in (0, 1); default depends on the method */
    double outlier_distance; /* d0: what is farther from everything is nobody's; INFINITY: no outliers; default: from
                                sigma_end */
    double error_bound;      /* relative error of a point's sums that leaving out far pairs may cost; default 1e-4 */
    bool dense;              /* all pairs of all points in every step */
    bool no_acceleration;    /* plain steps */
    bool no_polish; /* EM-ICP: soft pairs to the end; so it is too where sigma_end is given, or a scale is fitted */
    int32_t most_iterations;   /* default depends on the method */
    double trim;               /* ICP: share of the pairs left out, the farthest ones, in [0, 1) */
    atn_robust robust;         /* ICP */
    double robust_scale;       /* default: from the data */
    bool match_species;        /* pairs of equal species only; both clouds have them */
    size_t most_bytes;         /* memory that may be used; default: what is free */
    bool profile;              /* waits for every kernel, so that its time is its own */
    bool no_covariance;        /* left out; saves its share of time */
    atn_register_watch *watch; /* or NULL */
    void *watch_user;
    atn_register_done *done; /* of a batch, or NULL */
    void *done_user;
} atn_register_settings;

enum { ATN_REGISTER_MOST_PROFILE = 24, ATN_REGISTER_MOST_ALTERNATIVES = 24 };

/* Where the time went: a kernel, or work of the host. */
typedef struct atn_register_time {
    char name[40];
    int64_t calls;
    double seconds;
} atn_register_time;

/* A plain value. */
typedef struct atn_register_result {
    double transform[16]; /* 4 x 4, row-major, target = T source */
    double scale;         /* of similarity; 1 otherwise */
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
    double pairs; /* iterations x source x target, as if all had been evaluated */
    double evaluated_pairs;
    double seconds;          /* without building kernels, */
    double building_seconds; /* which a first run on a device does */
    double gpts;             /* pairs / seconds / 1e9 of a dense run, evaluated ones where some were left out */
    double error_bound;      /* relative error that leaving out pairs can have cost a point's sums in the last step */
    size_t peak_bytes;       /* what was allocated at most, host and device */
    double covariance[36];   /* 6 x 6 of the rotation vector (radians), then the translation; left perturbation */
    bool has_covariance;     /* false too where it cannot be estimated: not rigid, sliding surfaces, too few points */
    char covariance_reason[80]; /* why there is none */
    double sigma_end;           /* the scale that was reached */
    char device[64];            /* that was used: of few points on a GPU its host */
    char variant[160];          /* of the kernel that took most of the time */
    int32_t profile_count;
    atn_register_time profile[ATN_REGISTER_MOST_PROFILE]; /* most of the time first */
} atn_register_result;

/* Moves `source` onto `target`. NULL settings: defaults. Returns ATN_OK with the verdict and its reason where the
 * clouds do not fit each other too; fails where the question has no answer (no points, wrong settings, no memory). */
ATN_API atn_status atn_register(atn_device *device, const atn_cloud *source, const atn_cloud *target,
                                const atn_register_settings *settings, atn_register_result *out);

/* The same of points where they lie on the device: matrices of three columns (x, y, z), a row for each point, SP or DP,
 * every one weighing 1. They are only read. em-icp and gicp on a GPU take 32,768 points and more there without copying
 * them to the host, which gets samples of 120,000 points and levels of some ten thousand; small clouds, other methods,
 * and clouds that crowd at places are copied. */
ATN_API atn_status atn_register_arrays(atn_device *device, atn_array *source, atn_array *target,
                                       const atn_register_settings *settings, atn_register_result *out);

/* What atn_register would allocate, host and device, for clouds of so many points. */
ATN_API size_t atn_register_bytes(const atn_register_settings *settings, size_t source, size_t target);

/* One of many. */
typedef struct atn_register_pair {
    const atn_cloud *source, *target; /* not owned */
    const double *start;              /* 16 numbers, or NULL: as `init` says */
    atn_register_start init;          /* ATN_START_DEFAULT: as in the settings */
    atn_register_result result;       /* filled */
    atn_status status;                /* of this pair; the others go on */
    char message[200];                /* why it failed */
} atn_register_pair;

/* Kernels are planned once for all of them. Fails only where no pair can be worked on. */
ATN_API atn_status atn_register_batch(atn_device *device, size_t count, atn_register_pair *pairs,
                                      const atn_register_settings *settings);

#ifdef __cplusplus
}
#endif
#endif
