/* The nearest model point of each scan point, from pose to pose. Steps of the refinement are short: the few that were
 * nearest before are kept, and as long as the point has moved less than all others were farther away, the nearest of
 * them is the nearest of all. Only then is the tree asked again. */
#include "apps/needle/needle.h"

#include "base/memory.h"

#include <math.h>

static const double WIDER = 1.5; /* times the reach: how far those that are kept may be away */
static const double SURE = 1e-9; /* of a distance: more than its roundings */

atn_status needle_partners_begin(atn_needle *n) {
    if (n->scan.count > n->partners) {
        atn_free(n->ctx, n->partner);
        atn_free(n->ctx, n->pair);
        n->partners = n->scan.count + n->scan.count / 4; /* the next frame's fit, too */
        n->partner = atn_alloc(n->ctx, n->partners * sizeof *n->partner);
        n->pair = atn_alloc(n->ctx, n->partners * 8 * sizeof *n->pair);
        if (!n->partner || !n->pair) {
            n->partners = 0;
            return ATN_ERR_MEMORY;
        }
    }
    for (size_t k = 0; k < n->scan.count; ++k) n->partner[k].bound = 0; /* nothing is known of it */
    return ATN_OK;
}

/* The nearest of those that are kept, of equal ones the one that comes first; the square of its distance. */
static double nearest_kept(const needle_partner *p, const double q[3], uint32_t *at) {
    double best = INFINITY;
    for (int32_t k = 0; k < p->count; ++k) {
        double x = p->position[k][0] - q[0], y = p->position[k][1] - q[1], z = p->position[k][2] - q[2];
        double d2 = x * x + y * y + z * z;
        if (d2 < best || (d2 == best && p->index[k] < *at)) best = d2, *at = p->index[k];
    }
    return best;
}

static void ask(const atn_needle *n, const double q[3], double reach, needle_partner *p) {
    double d2[NEEDLE_KEPT];
    size_t found = cloud_grid_nearest(n->grid, q, NEEDLE_KEPT, WIDER * reach, p->index, d2);
    p->count = (int32_t)found;
    p->bound = found == NEEDLE_KEPT ? sqrt(d2[NEEDLE_KEPT - 1]) : WIDER * reach;
    for (int axis = 0; axis < 3; ++axis) {
        p->at[axis] = q[axis];
        for (size_t k = 0; k < found; ++k) p->position[k][axis] = n->model.position[axis][p->index[k]];
    }
}

bool needle_partner_find(const atn_needle *n, size_t point, const double q[3], double reach, uint32_t *at) {
    needle_partner *p = &n->partner[point];
    double moved2 = 0;
    if (p->bound > 0) {
        for (int axis = 0; axis < 3; ++axis) moved2 += (q[axis] - p->at[axis]) * (q[axis] - p->at[axis]);
        double others = (p->bound - sqrt(moved2)) * (1 - SURE), nearest2 = nearest_kept(p, q, at);
        if (others > 0 && fmin(nearest2, reach * reach) < others * others) return nearest2 <= reach * reach;
    }
    ask(n, q, reach, p);
    return nearest_kept(p, q, at) <= reach * reach;
}
