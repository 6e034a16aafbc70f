/* Many scans into one frame: pairs that overlap are found, registered (attune/register.h), and joined into a graph
 * whose poses agree best with all of them. Scans that belong to nothing are left out. docs/register.md, "Many scans".
 */
#ifndef ATTUNE_ALIGN_H
#define ATTUNE_ALIGN_H

#include <attune/register.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How far it is. A plain value. */
typedef struct atn_align_step {
    const char *doing;  /* "searching", "registering", "closing loops" */
    size_t done, count; /* pairs of this step */
    size_t joined;      /* scans of the largest group so far */
} atn_align_step;

/* Called now and then; false stops the work, which then fails with ATN_ERR_CANCELLED. */
typedef bool atn_align_watch(void *user, const atn_align_step *step);

/* A field left zero takes its default. */
typedef struct atn_align_settings {
    size_t size;                        /* of this struct: ATN_INIT */
    const atn_register_settings *pairs; /* how pairs are registered; NULL: gicp. Starts are found, and rigid; init,
                                           start and watch are not looked at */
    int32_t neighbours;                 /* scans that each one is registered with at least, where so many overlap;
                                           default 4 */
    atn_align_watch *watch;             /* or NULL */
    void *watch_user;
} atn_align_settings;

/* A pair that was registered. A plain value. */
typedef struct atn_align_edge {
    size_t source, target; /* scans, from 0 */
    bool loop;             /* the poses predicted it; else it was searched for */
    bool used;             /* trusted, or likely where nothing trusted joins the scans; and no other contradicts it */
    bool likely;           /* doubtful, but its surfaces agree as those of wrong poses do not */
    atn_verdict verdict;   /* of the pair alone, */
    char reason[200];      /* and its reason */
    double transform[16];  /* target = T source, by this pair alone */
    double covariance[36]; /* as in atn_register_result; a guess from rmse where has_covariance is false */
    bool has_covariance;
    double rmse, overlap;
    double residual_deg, residual; /* between the pair's pose and that of the graph; in place at the target's centre */
    double chi2;                   /* the same in its deviations, squared and summed: about 5 is usual */
    double weight;                 /* that it had in the end, 0 to 1 */
} atn_align_edge;

/* A plain value. */
typedef struct atn_align_scan {
    bool placed;
    double transform[16]; /* common frame = T scan; identity where it is not placed */
    double
        covariance[36]; /* 6 x 6 of the rotation vector, then the translation; left perturbation; zeros of the anchor */
    size_t edges;       /* used ones */
    char reason[200];   /* why it is not placed, or that its place is in doubt; "" where it is not */
} atn_align_scan;

/* Owns its arrays: atn_align_free. */
typedef struct atn_align_result {
    size_t size; /* of this struct: ATN_INIT */
    const atn_ctx *ctx;
    size_t scans, edges;
    const atn_align_scan *const *scan; /* scan[k]->placed and so on */
    const atn_align_edge *const *edge; /* all that were registered, used or not */
    size_t placed;                     /* scans */
    size_t anchor;                     /* the first scan of those placed: the common frame is its own */
    size_t searched;                   /* pairs that were looked at for a start */
    int32_t iterations;                /* of the graph */
    double spread; /* deviations of edges over what their covariances say, at least 1; covariances have it */
    double seconds;
    size_t peak_bytes; /* of the largest registration */
    char device[64];
} atn_align_result;

/* Fails where the question has no answer: less than two scans, one without points, no memory. That no two of them fit
 * is an answer: placed is 0. NULL settings: defaults. On failure *out is empty. */
ATN_API atn_status atn_align(atn_device *device, size_t count, const atn_cloud *const *scans,
                             const atn_align_settings *settings, atn_align_result *out);
ATN_API void atn_align_free(atn_align_result *result); /* zeroed ones are fine */

#ifdef __cplusplus
}
#endif
#endif
