/* Detects points so far apart that no grid can hold them: checked before any work whose time depends on how points are
 * distributed. */
#include "cloud/points.h"

#include <math.h>

atn_status cloud_extent_check(const atn_ctx *ctx, const char *who, const double low[3], const double high[3],
                              double edge, double most) {
    if (!(edge > 0) || !isfinite(edge))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: cells with an edge of %g; it is finite and more than 0", who, edge);
    for (int d = 0; d < 3; ++d) {
        double half = high[d] / 2 - low[d] / 2; /* the whole may be more than a double holds */
        if (half <= most / 2 * edge) continue;
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "%s: points from %g to %g along %c are too far apart for cells of %.3g; is one far away from "
                        "the others, or the unit another one?",
                        who, low[d], high[d], "xyz"[d], edge);
    }
    return ATN_OK;
}
