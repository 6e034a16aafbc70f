/* Needle tracking: the pose of a model in an OCT scan, in six degrees of freedom. Starting from an axis, the shifting
 * algorithm tries rolls about it and shifts along it, all of a round in one launch, and counts points that have a
 * partner; the best one is refined in all six. Create once for a model and a device, then match frame by frame.
 * docs/needle.md describes the method. */
#ifndef ATTUNE_NEEDLE_H
#define ATTUNE_NEEDLE_H

#include <attune/cloud.h>
#include <attune/device.h>
#include <attune/image.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_needle atn_needle;

typedef enum atn_needle_count {
    ATN_NEEDLE_COUNT_SCAN, /* scan points with a model point within the threshold; the default */
    ATN_NEEDLE_COUNT_MODEL /* model points with a scan point within the threshold */
} atn_needle_count;

/* low, low + step, ... up to high. All zero: the default. Otherwise step > 0 and low <= high. */
typedef struct atn_needle_interval {
    double low, high, step;
} atn_needle_interval;

/* For all frames. Fields left at zero take their defaults. Lengths are in the unit of the clouds. */
typedef struct atn_needle_settings {
    size_t size;            /* of this struct: ATN_INIT */
    double threshold;       /* d: largest distance of partners; default 0.02 */
    double edge;            /* voxel size for model and scans; default: the threshold; negative: no voxel filter */
    bool brute;             /* evaluate all pairs instead of using the lookup volume; same counts */
    atn_needle_count count; /* which points are counted */
} atn_needle_settings;

/* For one frame. Fields left at zero take their defaults. */
typedef struct atn_needle_match_settings atn_needle_match_settings;
struct atn_needle_match_settings {
    size_t size; /* of this struct: ATN_INIT */
    bool has_start;
    double start[16]; /* 4 x 4, row-major, rigid, scan = T model; default: identity */
    double axis[3];   /* direction of the shift, in the scan; default: the model's z, rotated by the start */
    atn_needle_interval roll_deg; /* about the model's z; default -5 to 5 by 1 */
    atn_needle_interval shift;    /* along the scan's z; default 0 to 0.5 by 0.05 */
    int32_t rounds;               /* 1 to ATN_NEEDLE_MOST_ROUNDS; default 4 */
    bool marginal;                /* choose the winner as published: roll and shift from marginal sums, separately */
    bool track;                   /* the start is the pose of the previous frame: small intervals, fewer combinations */
    bool no_refine;               /* no refinement of the winner; no covariance */
    double least;                 /* fraction of points that must have a partner, in (0, 1]; default 0.3 */
    int64_t most_combinations;    /* limit per round; default 2^20 */
    /* For volumes: settings to try if the needle is not found from the start or may lie outside the intervals; the
     * volume is not segmented again. NULL: none. Its own `otherwise` is ignored. */
    const atn_needle_match_settings *otherwise;
};

enum { ATN_NEEDLE_MOST_ROUNDS = 16 };

/* The best combination of a round. */
typedef struct atn_needle_round {
    double roll_deg, shift;
    int64_t matches;
    int64_t combinations; /* tried */
} atn_needle_round;

/* Result of a frame. */
typedef struct atn_needle_result {
    size_t size; /* of this struct: ATN_INIT */
    bool found;
    char reason[200];                  /* a sentence: why not, or a warning; otherwise "" */
    double transform[16];              /* 4 x 4, row-major, scan = T model */
    double roll_deg, shift;            /* of the best combination of the last round, relative to the start */
    int64_t matches;                   /* of that combination */
    int64_t scan_points, model_points; /* used, after the voxel filter */
    int32_t n_rounds;
    atn_needle_round round[ATN_NEEDLE_MOST_ROUNDS];
    int64_t runner_up;     /* most matches in the first round more than two steps away from the best one */
    bool roll_observable;  /* the number of matches depends on the roll by more than noise */
    bool at_end;           /* the best of the first round is at an end of its interval: a better one may lie outside */
    bool otherwise;        /* the result comes from settings->otherwise */
    double covariance[36]; /* 6 x 6 of the rotation vector (radians), then the translation; left perturbation */
    bool has_covariance;
    double rmse;       /* of point-to-plane distances after the refinement */
    double free_share; /* volumes: fraction of visible model points where the scan shows free space; 0 is best */
    double tip[3];     /* position of the model's tip in the scan: the middle of its thin end */
    int64_t level;     /* volumes: brightness threshold, */
    int64_t surface;   /* surface points near the needle, before the voxel filter, */
    int64_t centres;   /* B-scans that gave a centre on its axis */
    double segment_seconds, axis_seconds; /* volumes only */
    double match_seconds;                 /* the rounds */
    double seconds;                       /* total */
} atn_needle_result;

/* `model`: a cloud in the model's frame, z along the needle; normals improve the refinement. It is copied. Owned
 * by the caller, freed before the device is closed; used by one thread at a time. NULL settings: defaults. */
ATN_API atn_status atn_needle_create(atn_device *device, const atn_cloud *model, const atn_needle_settings *settings,
                                     atn_needle **out);
ATN_API void atn_needle_free(atn_needle *needle); /* NULL is allowed */

/* Reads a model: a mesh (PLY with faces, STL and others) is sampled evenly with 100,000 points; a point cloud is taken
 * as it is, with estimated normals if it has none. */
ATN_API atn_status atn_needle_model(atn_ctx *ctx, const char *path, atn_cloud **out);

/* If the needle is not found, that is no failure: ATN_OK, found == false and a reason. Fails on invalid input (no
 * points, invalid settings) and without memory. NULL settings: defaults. */
ATN_API atn_status atn_needle_match(atn_needle *needle, const atn_cloud *scan,
                                    const atn_needle_match_settings *settings, atn_needle_result *out);

/* ---- from B-scans ---- */
/* How a volume is segmented. Fields left at zero take their defaults. */
typedef struct atn_needle_view {
    size_t size;           /* of this struct: ATN_INIT */
    double level;          /* brightness threshold as a fraction of white, in (0, 1); default: found automatically */
    double spacing[3];     /* between columns, rows, scans, in the model's unit; default: that of the volume */
    int32_t least_pixels;  /* smaller bright components are noise; default 60, less for thin needles */
    int32_t least_columns; /* width of an arc that gives a centre; default 50, less for thin needles */
} atn_needle_view;

/* The whole chain: bright pixels, the first surface along the beam, arcs of the needle's radius, the axis through their
 * centres, roll (over 360 degrees) and tip by coarse matching, then the match. x is along columns, y down
 * the rows, z across scans; scan 0, row 0, column 0 is the origin. A start in the settings replaces axis, roll and tip,
 * e.g. the pose of the previous frame; `otherwise` may then search for them. Rolls in the result are relative to the
 * model's y axis aligned with the scan's as far as possible, shifts to scan 0. */
ATN_API atn_status atn_needle_find(atn_needle *needle, const atn_volume *volume, const atn_needle_view *view,
                                   const atn_needle_match_settings *settings, atn_needle_result *out);

/* ---- a start from a segmentation ---- */
/* A line. This struct will not change. */
typedef struct atn_needle_line {
    double point[3];     /* a point on it: the mean of its inliers */
    double direction[3]; /* unit vector, z not negative */
    size_t inliers;
    double rms; /* of their distances */
} atn_needle_line;

/* The line through most centres (x y z x y z ...), by RANSAC with the inlier distance `reach` (0: 0.1), refined by PCA
 * over its inliers. Deterministic for a seed. ATN_ERR_INPUT if all centres coincide. */
ATN_API atn_status atn_needle_axis(atn_ctx *ctx, size_t count, const double *centres, double reach, uint64_t seed,
                                   atn_needle_line *out);

/* Width over z: a linear ramp, then constant. This struct will not change. */
typedef struct atn_needle_tip {
    double end;   /* where the ramp ends and the full width begins */
    double tip;   /* where the ramp reaches 0 */
    double width; /* of the constant part */
    bool found;   /* two segments fit better than one line */
} atn_needle_tip;

/* Least squares fit of the end of the ramp; z in any order, at least 4 values. The needle's tip is towards low z where
 * `from_low`, else towards high z. */
ATN_API atn_status atn_needle_tip_fit(atn_ctx *ctx, size_t count, const double *z, const double *width, bool from_low,
                                      atn_needle_tip *out);

/* A start for the shifting algorithm: z along the line, y as close to (0 1 0) as possible, the model's point
 * (0, 0, model_z) at the line's point of height `z`. */
ATN_API atn_status atn_needle_start(atn_ctx *ctx, const atn_needle_line *line, double model_z, double z,
                                    double out[16]);

#ifdef __cplusplus
}
#endif
#endif
