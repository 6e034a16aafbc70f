/* Many scans of one object from all sides, each in its own pose, for multiway registration; and optionally one of
 * another object. */
#ifndef ATN_SAMPLE_VIEWS_H
#define ATN_SAMPLE_VIEWS_H

#include "sample/scans.h"

typedef struct atn_views_settings {
    size_t size;     /* points of each scan, > 0 */
    size_t views;    /* > 0 */
    bool distractor; /* one more, of another object */
    uint64_t seed;   /* the same seed, the same bytes */
    double noise;    /* deviation along the ray, >= 0 */
} atn_views_settings;

typedef struct atn_view_scan {
    atn_cloud *cloud;     /* owned */
    double transform[16]; /* the truth: thing = T scan */
    double direction[3];  /* from the thing to the scanner */
} atn_view_scan;

/* Owns its scans: atn_views_free. */
typedef struct atn_views {
    const atn_ctx *ctx;
    atn_view_scan *scan; /* settings.views, and the distractor */
    size_t count;
    double outliers; /* share of the points that are on no surface */
} atn_views;

/* On failure *out is empty. */
atn_status atn_views_make(atn_ctx *ctx, const atn_views_settings *settings, atn_scans_progress *progress, void *user,
                          atn_views *out);
void atn_views_free(atn_views *views);

#endif
