/* Multiway registration: overlapping pairs of scans are found and registered (attune/register.h), then a pose graph
 * over them is optimised. Scans that match no other are left out. docs/register.md, "Many scans".
 */
#ifndef ATTUNE_ALIGN_H
#define ATTUNE_ALIGN_H

#include <attune/register.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Progress. */
typedef struct atn_align_step {
    const char *doing;  /* "searching", "registering", "closing loops" */
    size_t done, count; /* pairs in this stage */
    size_t joined;      /* scans in the largest connected group so far */
} atn_align_step;

/* Called from time to time; returning false cancels the call with ATN_ERR_CANCELLED. */
typedef bool atn_align_watch(void *user, const atn_align_step *step);

/* Fields left at zero take their defaults. */
typedef struct atn_align_settings {
    size_t size;                        /* of this struct: ATN_INIT */
    const atn_register_settings *pairs; /* how pairs are registered; NULL: gicp. Always rigid, with a
                                           global search; init, start and watch are ignored */
    int32_t neighbours;     /* least number of overlapping scans that each one is registered with, if there are so
                               many; default 4 */
    atn_align_watch *watch; /* or NULL */
    void *watch_user;
} atn_align_settings;

/* A registered pair: an edge of the pose graph. Owned by the result, may grow at its end. */
typedef struct atn_align_edge {
    size_t source, target; /* scans, from 0 */
    bool loop;             /* a loop closure predicted from poses; otherwise found by search */
    bool used;   /* part of the graph: trusted, or likely where no trusted pair connects the scans, and not contradicted
                    by others */
    bool likely; /* doubtful, but the surfaces agree better than those of wrong poses */
    atn_verdict verdict;   /* of this pair alone, */
    char reason[200];      /* and its reason */
    double transform[16];  /* target = T source, by this pair alone */
    double covariance[36]; /* as in atn_register_result; a guess from the rmse if has_covariance is false */
    bool has_covariance;
    double rmse, overlap;
    double residual_deg, residual; /* rotation and translation between this pose and that of the graph; translation at
                                      the target's centre */
    double chi2;                   /* squared Mahalanobis distance of that residual; about 5 is typical */
    double weight;                 /* final robust weight, 0 to 1 */
} atn_align_edge;

/* A scan: a node of the pose graph. Owned by the result, may grow at its end. */
typedef struct atn_align_scan {
    bool placed;
    double transform[16];  /* common frame = T scan; identity if not placed */
    double covariance[36]; /* 6 x 6: rotation vector, then translation; left perturbation; zeros for the anchor */
    size_t edges;          /* used edges */
    char reason[200];      /* why it is not placed, or why its pose is in doubt; otherwise "" */
} atn_align_scan;

/* Owns its arrays: atn_align_free. */
typedef struct atn_align_result {
    size_t size; /* of this struct: ATN_INIT */
    const atn_ctx *ctx;
    size_t scans, edges;
    const atn_align_scan *const *scan; /* scan[k]->placed and so on */
    const atn_align_edge *const *edge; /* all that were registered, used or not */
    size_t placed;                     /* number of placed scans */
    size_t anchor;                     /* first placed scan: its frame is the common frame */
    size_t searched;                   /* pairs searched globally */
    int32_t iterations;                /* of the graph optimisation */
    double spread; /* residuals of edges relative to their covariances, >= 1; covariances are scaled by it */
    double seconds;
    size_t peak_bytes; /* of the largest registration */
    char device[64];
    double building_seconds; /* in which kernels were built, which the first run on a device does; not in `seconds` */
} atn_align_result;

/* Fails on invalid input (fewer than two scans, one without points) and without memory. If no two scans match, that is
 * no failure: placed is 0. NULL settings: defaults. On failure *out is empty. */
ATN_API atn_status atn_align(atn_device *device, size_t count, const atn_cloud *const *scans,
                             const atn_align_settings *settings, atn_align_result *out);
ATN_API void atn_align_free(atn_align_result *result); /* zeroed ones are allowed */

#ifdef __cplusplus
}
#endif
#endif
