/* The needle: where a model lies in a scan of it, in six degrees of freedom. A start says the axis; the shifting
 * algorithm then tries rolls about it and shifts along it, all of a round in one launch, and counts points that have a
 * partner; the best is refined over all six. Made once for a model and a device, matched frame by frame. docs/needle.md
 * has the method. */
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
    ATN_NEEDLE_COUNT_SCAN, /* scan points that have a model point within the threshold; the default */
    ATN_NEEDLE_COUNT_MODEL /* model points that have a scan point */
} atn_needle_count;

/* low, low + step, ... up to high. All zero: the default. Otherwise step > 0 and low <= high. */
typedef struct atn_needle_interval {
    double low, high, step;
} atn_needle_interval;

/* What holds for all frames. A field left zero takes its default. Lengths are in the unit of the clouds. */
typedef struct atn_needle_settings {
    double threshold;       /* d: partners are nearer than that; default 0.02 */
    double edge;            /* of the voxel filter of model and scans; default: the threshold; negative: none */
    bool brute;             /* all pairs, instead of the lookup volume; the counts are the same */
    atn_needle_count count; /* whose points are counted */
} atn_needle_settings;

/* What may differ from frame to frame. A field left zero takes its default. */
typedef struct atn_needle_match_settings atn_needle_match_settings;
struct atn_needle_match_settings {
    bool has_start;
    double start[16];             /* 4 x 4, row-major, rigid, scan = T model; default: identity */
    double axis[3];               /* direction of the shift, in the scan; default: the model's z, turned by the start */
    atn_needle_interval roll_deg; /* about the model's z; default -5 to 5 by 1 */
    atn_needle_interval shift;    /* along the scan's z; default 0 to 0.5 by 0.05 */
    int32_t rounds;               /* 1 to ATN_NEEDLE_MOST_ROUNDS; default 4 */
    bool marginal;                /* the winner as published: sums over rolls and over shifts, each on its own */
    bool track;                   /* the start is the last frame's pose: small intervals and fewer combinations */
    bool no_refine;               /* the winner as it is; no covariance */
    double least;                 /* share of the points that must have a partner, in (0, 1]; default 0.3 */
    int64_t most_combinations;    /* of a round; default 2^20 */
    /* Of volumes: what to try where the needle is not found from the start, or may lie beyond the intervals, without
     * the scans being looked through again; NULL: nothing. Its own `otherwise` is not looked at. */
    const atn_needle_match_settings *otherwise;
};

enum { ATN_NEEDLE_MOST_ROUNDS = 16 };

/* The winner of a round. A plain value. */
typedef struct atn_needle_round {
    double roll_deg, shift;
    int64_t matches;
    int64_t combinations; /* that were tried */
} atn_needle_round;

/* A plain value. */
typedef struct atn_needle_result {
    bool found;
    char reason[200];                  /* a sentence: why not, or what to be careful about; "" for nothing */
    double transform[16];              /* 4 x 4, row-major, scan = T model */
    double roll_deg, shift;            /* of the last round's winner, from the start */
    int64_t matches;                   /* of it */
    int64_t scan_points, model_points; /* that were matched, after the voxel filter */
    int32_t n_rounds;
    atn_needle_round round[ATN_NEEDLE_MOST_ROUNDS];
    int64_t runner_up;     /* most matches in the first round more than two steps from its winner */
    bool roll_observable;  /* the count changes with the roll by more than noise */
    bool at_end;           /* the first round's best is at an end of its interval: a better one may lie beyond */
    bool otherwise;        /* it comes from settings->otherwise */
    double covariance[36]; /* 6 x 6 of the rotation vector (radians), then the translation; left perturbation */
    bool has_covariance;
    double rmse;       /* of distances along the model's normals, after the refinement */
    double free_share; /* of volumes: of the model's points in view, those where the beam went on; 0 is right */
    double tip[3];     /* where the model's tip is in the scan: the middle of its thin end */
    int64_t level;     /* of volumes: pixels above it were bright, */
    int64_t surface;   /* points of the surface near the needle, before the voxel filter, */
    int64_t centres;   /* and scans that gave a centre on its axis */
    double segment_seconds, axis_seconds; /* of volumes */
    double match_seconds;                 /* the rounds */
    double seconds;                       /* all of it */
} atn_needle_result;

/* `model`: a cloud in the model's own frame, z along the needle; with normals the refinement is better. Copies. Owned
 * by the caller, freed before the device is closed; used by one thread at a time. NULL settings: defaults. */
ATN_API atn_status atn_needle_create(atn_device *device, const atn_cloud *model, const atn_needle_settings *settings,
                                     atn_needle **out);
ATN_API void atn_needle_free(atn_needle *needle); /* NULL is fine */

/* A mesh (PLY, OBJ, STL), sampled evenly with 100,000 points; a file that has points only is taken as it is, with
 * normals found where it has none. */
ATN_API atn_status atn_needle_model(atn_ctx *ctx, const char *path, atn_cloud **out);

/* Returns ATN_OK with found == false and a reason where the needle is not there; fails where the question has no answer
 * (no points, wrong settings, no memory). NULL settings: defaults. */
ATN_API atn_status atn_needle_match(atn_needle *needle, const atn_cloud *scan,
                                    const atn_needle_match_settings *settings, atn_needle_result *out);

/* ---- from B-scans ---- */
/* How a volume is looked at. A field left zero takes its default. */
typedef struct atn_needle_view {
    double level;          /* bright is above that share of white, in (0, 1); default: found in the scans */
    double spacing[3];     /* between columns, rows, scans, in the model's unit; default: what the volume says */
    int32_t least_pixels;  /* a bright component of fewer is noise; default 60, or what most of the needle is wide */
    int32_t least_columns; /* of an arc that gives a centre; default 50, or most of the needle where that is less */
} atn_needle_view;

/* The whole chain: bright pixels, the surface that the beam meets first, arcs of the needle's radius, the axis through
 * their centres, the roll over a whole turn and the tip from coarse counts, then the match. x is along columns, y down
 * the rows, z across scans; scan 0, row 0, column 0 is the origin. A start in the settings stands for axis, roll and
 * tip, as from the last frame; `otherwise` may then search for them. Rolls of the result count from the model's y as
 * near to the scan's as can be, shifts from scan 0. */
ATN_API atn_status atn_needle_find(atn_needle *needle, const atn_volume *volume, const atn_needle_view *view,
                                   const atn_needle_match_settings *settings, atn_needle_result *out);

/* ---- a start from what segmentation finds ---- */
/* A line. A plain value. */
typedef struct atn_needle_line {
    double point[3];     /* on it: the middle of its inliers */
    double direction[3]; /* unit vector, z not negative */
    size_t inliers;
    double rms; /* of their distances */
} atn_needle_line;

/* The line through most centres (x y z after x y z), by RANSAC with `reach` (0: 0.1), refined by PCA over its inliers.
 * The same for the same seed. ATN_ERR_INPUT where no two centres are apart. */
ATN_API atn_status atn_needle_axis(atn_ctx *ctx, size_t count, const double *centres, double reach, uint64_t seed,
                                   atn_needle_line *out);

/* Widths over z: a ramp, then flat. A plain value. */
typedef struct atn_needle_tip {
    double end;   /* where the ramp ends and the full width begins */
    double tip;   /* where the ramp is nothing */
    double width; /* of the flat part */
    bool found;   /* the two segments explain more than one line does */
} atn_needle_tip;

/* Least squares over where the ramp ends; z in any order, at least 4 of them. The needle's tip is towards low z where
 * `from_low`, else towards high z. */
ATN_API atn_status atn_needle_tip_fit(atn_ctx *ctx, size_t count, const double *z, const double *width, bool from_low,
                                      atn_needle_tip *out);

/* The start of the shifting algorithm: z along the line, y as near to up (0 1 0) as can be, the model's point
 * (0, 0, model_z) at the line's point of height `z`. */
ATN_API atn_status atn_needle_start(atn_ctx *ctx, const atn_needle_line *line, double model_z, double z,
                                    double out[16]);

#ifdef __cplusplus
}
#endif
#endif
