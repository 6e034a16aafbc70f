/* Needles to look for: models, scans of them at a known pose, and how far a pose is from the truth. */
#ifndef ATN_TESTS_NEEDLEKIT_H
#define ATN_TESTS_NEEDLEKIT_H

#include "testkit.h"

#include "apps/needle/needle.h"
#include "sample/bevel.h"

atn_device *needle_device(atn_ctx *ctx); /* the host */
atn_cloud *needle_model(atn_ctx *ctx, const bevel *b, size_t points, uint64_t seed);
/* Seen from above (y), moved by the truth, with noise of that deviation. */
atn_cloud *needle_scan(atn_ctx *ctx, const bevel *b, size_t points, const geom_pose *truth, double noise,
                       uint64_t seed);
/* z along (tx, ty, 1), rolled, at t. */
geom_pose needle_lay(double tx, double ty, double roll_deg, const double t[3]);
void needle_put(const geom_pose *pose, double out[16]);
geom_pose needle_get(const double transform[16]);
/* The scan's points as kernels see them, from its centre: all x, then all y, all z. Freed by the caller. */
float *needle_points_taken(atn_ctx *ctx, const atn_needle *n);

#endif
