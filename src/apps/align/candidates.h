/* Which scans may overlap, and in which pose: every scan is downsampled and described once, so that examining a pair is
 * cheap. */
#ifndef ATN_APPS_ALIGN_CANDIDATES_H
#define ATN_APPS_ALIGN_CANDIDATES_H

#include "apps/register/search_parts.h"

/* A scan as the search sees it. */
typedef struct candidate_view {
    cloud_points points; /* owned */
    search_surface surface;
    search_raster raster;
    float *words; /* owned; which shapes it has how often, WORDS of them */
    bool blank;   /* points on a line or at one place: cannot be searched for */
} candidate_view;

typedef struct candidates {
    const atn_ctx *ctx;
    size_t count;
    candidate_view *view; /* owned */
} candidates;

/* Fails where a scan has no points. Ended with candidates_free. */
atn_status candidates_make(const atn_ctx *ctx, size_t count, const atn_cloud *const *scans, candidates *out);
void candidates_free(candidates *c); /* zeroed ones are fine */

/* How alike the shapes of two scans are, 0 to 1; the same both ways. */
double candidates_likeness(const candidates *c, size_t a, size_t b);

/* The best pose of `source` on `target` that shapes propose: target = T source. *score: the share of the source that
 * lies on the target there, *runner_up that of the best pose turned by over 15 degrees. 0: none. */
atn_status candidates_search(const candidates *c, size_t source, size_t target, double transform[16], double *score,
                             double *runner_up);

/* Share of the smaller part: of `source` that lies on `target` at a pose, and the other way round. */
double candidates_overlap(const candidates *c, size_t source, size_t target, const double transform[16]);

#endif
