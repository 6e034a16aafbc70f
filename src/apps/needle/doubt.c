/* Evidence against a pose that matches: there is another needle, or the tip is not in the scans. */
#include "apps/needle/needle.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { FEWEST = 3, FEWEST_OTHER = 6, SEED = 1 };
static const double REACH = 0.3;             /* radii: centres on an axis */
static const double APART = 1.25;            /* radii: centres that are not of this needle */
static const double WIDE = 1.4, WELL = 0.03; /* radii: of an arc, and rms of its points from the circle */
static const double LEAST = 0.5;             /* of this needle's centres: what another one must have */
static const double BEFORE = 0.3;            /* radii: behind its tip a needle is no arc yet */
static const double CUT_OFF = 0.5;           /* radii from the axis to a side of the scans */
static const double GOES_ON = 0.34;          /* share of the scans beyond the tip that have an arc on the axis */

double needle_line_distance2(const atn_needle_line *line, const double p[3]) {
    double along = 0, sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double d = p[axis] - line->point[axis];
        along += d * line->direction[axis];
        sum += d * d;
    }
    return sum - along * along;
}

/* A narrow piece of tissue next to a shadow looks like an arc of almost any radius: another needle must be well round.
 * */
static bool may_be_other(const needle_arc *a, const atn_needle_line *line, double radius, double spacing) {
    return (double)(a->last - a->first) * spacing > WIDE * radius && a->rms < WELL * radius &&
           needle_line_distance2(line, a->centre) > APART * APART * radius * radius;
}

atn_status needle_doubt_other(const atn_needle *n, const atn_needle_line *line, double spacing, bool *other) {
    const needle_arcs *a = &n->arcs;
    double radius = n->shape.radius, *centre = atn_alloc(n->ctx, (a->count + 1) * 3 * sizeof *centre);
    size_t count = 0;
    atn_status status = centre ? ATN_OK : ATN_ERR_MEMORY;
    *other = false;
    for (size_t k = 0; k < a->count && centre; ++k)
        if (may_be_other(&a->arc[k], line, radius, spacing))
            memcpy(centre + 3 * count++, a->arc[k].centre, 3 * sizeof *centre);
    if (status == ATN_OK && count >= FEWEST_OTHER && (double)count >= LEAST * (double)line->inliers) {
        atn_needle_line second;
        status = atn_needle_axis(n->ctx, count, centre, REACH * radius, SEED, &second);
        *other = status == ATN_OK && second.direction[2] > 0.2 && second.inliers >= FEWEST_OTHER &&
                 (double)second.inliers >= LEAST * (double)line->inliers;
        if (status == ATN_ERR_INPUT) status = ATN_OK; /* centres that are all in one place are no line */
    }
    atn_free(n->ctx, centre);
    return status;
}

/* ---- the tip ---- */

static int64_t first_seen(const needle_ends *e, int side) {
    int64_t f = side ? e->frames - 1 : 0, step = side ? -1 : 1;
    while (f >= 0 && f < e->frames && !e->seen[f]) f += step;
    return f;
}

bool needle_doubt_leaves(const atn_needle *n, const needle_ends *e, int side) {
    double border = fmax(1.5 * e->spacing[2], BEFORE * n->shape.radius);
    return fabs((double)(e->anchor[side] - first_seen(e, side))) * e->spacing[2] < border;
}

/* Scans beyond the tip that have an arc on the axis are not beyond it. */
static bool goes_on(const atn_needle *n, const needle_ends *e, const atn_needle_line *axis, int side, double z) {
    double beyond = fmax(e->spacing[2], 2 * n->options.threshold), reach = REACH * n->shape.radius;
    int64_t scans = 0, arcs = 0;
    for (int64_t f = 0; f < e->frames; ++f)
        scans += e->seen[f] && (side ? (double)f * e->spacing[2] - z : z - (double)f * e->spacing[2]) > beyond;
    for (size_t k = 0; k < n->arcs.count; ++k) {
        const needle_arc *a = &n->arcs.arc[k];
        arcs += (side ? a->centre[2] - z : z - a->centre[2]) > beyond &&
                needle_line_distance2(axis, a->centre) < reach * reach;
    }
    return arcs >= FEWEST && (double)arcs > GOES_ON * (double)scans;
}

bool needle_doubt_tip(const atn_needle *n, const needle_ends *e, const double t[16]) {
    atn_needle_line axis = {{0}, {t[2], t[6], t[10]}, 0, 0};
    for (int k = 0; k < 3; ++k) axis.point[k] = t[4 * k + 2] * n->shape.tip_z + t[4 * k + 3];
    double *p = axis.point, aside = CUT_OFF * n->shape.radius;
    int side = (t[10] > 0) != n->shape.tip_low; /* towards which the tip points */
    bool inside = p[0] > aside && p[0] < e->size[0] - aside && p[1] > 0 && p[1] < e->size[1] && p[2] >= 0 &&
                  p[2] <= e->size[2] - e->spacing[2];
    if (!inside) return true;
    return e->has_arcs && (needle_doubt_leaves(n, e, side) || goes_on(n, e, &axis, side, p[2]));
}
