/* Two scans of one object from two sides, for registration: partial overlap, noise along the rays, outliers, and a
 * source in its own pose. The object has a radius of about 1. */
#ifndef ATN_SAMPLE_SCANS_H
#define ATN_SAMPLE_SCANS_H

#include "base/context.h"

#include <attune/cloud.h>

typedef struct atn_scans_settings {
    size_t size;     /* points of each scan, > 0 */
    uint64_t seed;   /* the same seed, the same bytes */
    double noise;    /* deviation along the ray, >= 0 */
    double overlap;  /* share of the source's points that the target shows too; what can be had of it, in (0, 1] */
    double turn_deg; /* between source and target, 0 to 180, about some axis; negative: any turn */
} atn_scans_settings;

/* Owns its clouds: atn_scans_free. */
typedef struct atn_scans {
    atn_cloud *source, *target;
    double transform[16]; /* the truth: 4 x 4, row-major, target = T source */
    double overlap;       /* that was reached */
    double outliers;      /* share of the points that are on no surface */
    double views_deg;     /* angle between the two directions of view */
} atn_scans;

/* Called now and then with the share that is done. */
typedef void atn_scans_progress(void *user, double done);

/* On failure *out is empty. */
atn_status atn_scans_make(atn_ctx *ctx, const atn_scans_settings *settings, atn_scans_progress *progress, void *user,
                          atn_scans *out);
void atn_scans_free(atn_scans *scans);

#endif
