/* The whole pipeline, from B-scans to a pose. Segmentation leaves surfaces, arcs give the axis, and coarse counts over
 * a whole turn and along the axis give the roll and the tip that the shifting algorithm starts from. */
#include "apps/needle/needle.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FEWEST_CENTRES = 3, /* on an axis */
    COARSE_ROLLS = 36,  /* of a turn */
    MOST_SHIFTS = 1000, /* along the axis */
    DRAW_SEED = 1,
    LEAST_PIXELS = 60,  /* of a component, */
    LEAST_COLUMNS = 50, /* and of an arc, unless the view says others */
};
static const double NEAR = 1.25;                 /* radii from the axis: what may be the needle */
static const double REACH = 0.3;                 /* radii: centres on the axis */
static const double COARSE_STEP = 1.5;           /* thresholds: of the tip's z in coarse counts */
static const double MOST_FREE = 0.02;            /* share of the model in free space that a pose may have */
static const double TELLING = 0.04;              /* share of the model in view that must tell the roll */
static const double ABOUT[2] = {0.1, 0.5};       /* of the points: counts among which free space decides */
static const double FITS = 0.85;                 /* worth of a start that is surely right */
static const double OUTWARD = 1.5, INWARD = 0.6; /* radii from where the points end: a cut at a slant is dim there */
static const double OUTSIDE = 5;                 /* radii that a tip may be outside: as long as a cut of 22 degrees */

/* A volume while it is looked at. */
typedef struct look {
    atn_needle *n;
    const atn_volume *volume;
    atn_needle_view view;
    double spacing[3];
    int64_t frames;
    atn_needle_line line; /* towards high z */
    int64_t anchor[2];    /* scans that have the needle for certain: the first, the last */
    double end[2];        /* z of the first and the last scan that have it */
    bool has_line;
    bool other, no_tip; /* another needle is there too; the tip is not in the scans */
    needle_ends ends;
    uint8_t *seen; /* owned: scans that are not missing */
} look;

static atn_status miss(atn_needle_result *out, const char *why) {
    snprintf(out->reason, sizeof out->reason, "%s", why);
    return ATN_OK;
}

static atn_status take_view(look *l, const atn_needle_view *view) {
    const atn_ctx *ctx = l->n->ctx;
    atn_volume_info info = atn_volume_info_of(l->volume);
    if (view) l->view = *view;
    bool given = l->view.spacing[0] != 0 || l->view.spacing[1] != 0 || l->view.spacing[2] != 0;
    memcpy(l->spacing, given ? l->view.spacing : info.spacing, sizeof l->spacing);
    l->frames = info.frames;
    l->ends = (needle_ends){.frames = info.frames};
    memcpy(l->ends.spacing, l->spacing, sizeof l->spacing);
    l->ends.size[0] = (double)info.width * l->spacing[0];
    l->ends.size[1] = (double)info.height * l->spacing[1];
    l->ends.size[2] = (double)info.frames * l->spacing[2];
    if (!given && !(info.spacing[0] > 0))
        return atn_fail(
            ctx, ATN_ERR_INPUT,
            "needle: the spacing of the pixels is unknown; give it in volume.json next to the scans, or as a setting");
    for (int axis = 0; axis < 3; ++axis)
        if (!(l->spacing[axis] > 0 && isfinite(l->spacing[axis])))
            return atn_fail(ctx, ATN_ERR_INPUT, "needle: a spacing of %g; it must be positive", l->spacing[axis]);
    if (!(l->view.level >= 0 && l->view.level < 1))
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: a level of %g; it must be between 0 and 1, a fraction of white",
                        l->view.level);
    if (l->view.least_pixels < 0 || l->view.least_columns < 0)
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: the least numbers of pixels and columns are not negative");
    double most = 1.2 * l->n->shape.radius / l->spacing[0]; /* columns that show the needle well */
    if (l->view.least_pixels == 0) l->view.least_pixels = (int32_t)fmin(LEAST_PIXELS, fmax(most, 8));
    if (l->view.least_columns == 0) l->view.least_columns = (int32_t)fmin(LEAST_COLUMNS, fmax(most, 4));
    return ATN_OK;
}

/* Metres instead of millimetres: the needle is then thinner than a pixel, or thicker than the volume. */
static atn_status check_radius(const look *l) {
    atn_volume_info info = atn_volume_info_of(l->volume);
    double wide = 2 * l->n->shape.radius, across = l->spacing[0] * (double)info.width;
    if (wide < 0.1 * across && wide < 3 * l->spacing[0])
        return atn_fail(l->n->ctx, ATN_ERR_INPUT,
                        "needle: the model is %.3g wide, a pixel %.3g; the model is probably in another unit (metres "
                        "instead of millimetres?)",
                        wide, l->spacing[0]);
    if (wide > 5 * across)
        return atn_fail(l->n->ctx, ATN_ERR_INPUT,
                        "needle: the model is %.3g wide, the scans %.3g; one of them is probably in another unit "
                        "(metres instead of millimetres?)",
                        wide, across);
    return ATN_OK;
}

/* Surfaces of scans as their bright pixels come. */
static atn_status take_bright(void *user, const needle_batch *batch) {
    look *l = user;
    double since = atn_clock_seconds();
    atn_status status = needle_surface_find(&l->n->surface, batch, l->view.least_pixels);
    needle_part_end(l->n, NEEDLE_PART_SURFACE, &since);
    return status;
}

static atn_status segment(look *l, atn_needle_result *out) {
    atn_needle *n = l->n;
    atn_volume_info info = atn_volume_info_of(l->volume);
    double begin = atn_clock_seconds(), since = begin, white = info.bits == 8 ? 255 : 65535;
    atn_status status = needle_surface_begin(&n->surface, &info);
    if (status == ATN_OK) status = needle_bright_begin(&n->bright, l->volume);
    needle_part_end(n, NEEDLE_PART_BRIGHT, &since);
    if (status != ATN_OK) return status;
    int32_t level = l->view.level > 0 ? (int32_t)(l->view.level * white) : needle_bright_level(l->volume);
    needle_part_end(n, NEEDLE_PART_LEVEL, &since);
    status = needle_bright_find(&n->bright, level, take_bright, l);
    needle_part_end(n, NEEDLE_PART_BRIGHT, &since);
    n->part_s[NEEDLE_PART_BRIGHT] -= n->part_s[NEEDLE_PART_SURFACE];
    out->level = level;
    out->segment_seconds = atn_clock_seconds() - begin;
    return status;
}

/* ---- the axis ---- */

static atn_status find_axis(look *l, atn_needle_result *out) {
    atn_needle *n = l->n;
    double since = atn_clock_seconds();
    atn_status status = needle_arcs_find(&n->arcs, &n->surface, l->spacing, n->shape.radius, l->view.least_columns);
    needle_part_end(n, NEEDLE_PART_ARCS, &since);
    double *centre = status == ATN_OK ? atn_alloc(n->ctx, (n->arcs.count + 1) * 3 * sizeof *centre) : NULL;
    size_t count = 0;
    if (status == ATN_OK && !centre) status = ATN_ERR_MEMORY;
    for (size_t k = 0; k < n->arcs.count && status == ATN_OK; ++k)
        memcpy(centre + 3 * count++, n->arcs.arc[k].centre, 3 * sizeof *centre);
    out->centres = (int64_t)count;
    if (status == ATN_OK && count >= FEWEST_CENTRES) {
        status = atn_needle_axis(n->ctx, count, centre, REACH * n->shape.radius, DRAW_SEED, &l->line);
        out->centres = (int64_t)l->line.inliers;
        l->has_line = status == ATN_OK && l->line.inliers >= FEWEST_CENTRES && l->line.direction[2] > 0.2;
    }
    l->anchor[0] = l->frames;
    for (size_t k = 0; k < n->arcs.count && l->has_line; ++k) {
        const needle_arc *a = &n->arcs.arc[k];
        double reach = REACH * n->shape.radius;
        if (needle_line_distance2(&l->line, a->centre) > reach * reach) continue;
        if (a->frame < l->anchor[0]) l->anchor[0] = a->frame;
        if (a->frame > l->anchor[1]) l->anchor[1] = a->frame;
    }
    if (l->has_line) status = needle_doubt_other(n, &l->line, l->spacing[0], &l->other);
    l->ends.has_arcs = l->has_line;
    atn_free(n->ctx, centre);
    needle_part_end(n, NEEDLE_PART_AXIS, &since);
    return status;
}

/* Scans that are missing tell nothing of free space. */
static atn_status take_seen(look *l) {
    const void *seen;
    atn_status status = atn_array_map_read(l->n->surface.seen, &seen);
    l->seen = status == ATN_OK ? atn_alloc(l->n->ctx, (size_t)l->frames) : NULL;
    if (!l->seen) return status == ATN_OK ? ATN_ERR_MEMORY : status;
    for (int64_t f = 0; f < l->frames; ++f) l->seen[f] = ((const int32_t *)seen)[f] != 0;
    return ATN_OK;
}

static void tell_seen(look *l) {
    needle_free_take(l->n, l->spacing);
    l->ends.seen = l->seen;
    memcpy(l->ends.anchor, l->anchor, sizeof l->anchor);
    l->no_tip = l->ends.has_arcs && needle_doubt_leaves(l->n, &l->ends, 0) && needle_doubt_leaves(l->n, &l->ends, 1);
}

/* Points of the surface about the axis, between the needle's ends. */
static atn_status gather(look *l, atn_needle_result *out) {
    needle_told told;
    atn_status status = needle_points_take(l->n, &l->line, l->anchor, l->spacing, NEAR * l->n->shape.radius, &told);
    l->end[0] = (double)told.first * l->spacing[2];
    l->end[1] = (double)told.last * l->spacing[2];
    out->surface = told.surface;
    return status;
}

/* ---- roll and tip ---- */

typedef struct coarse {
    double roll_deg, shift;
    double worth;         /* share of the points that match, less that of the model's in free space */
    atn_needle_line line; /* as the start takes it: z of the model along it */
} coarse;

/* Counts over a whole turn, with the tip between two z. */
static atn_status count_coarse(look *l, const atn_needle_line *line, const double between[2], double about,
                               coarse *best) {
    atn_needle *n = l->n;
    atn_needle_match_settings settings = {.has_start = true};
    needle_frame frame;
    const int32_t *count;
    double wanted = ceil((between[1] - between[0]) / (COARSE_STEP * n->options.threshold)) + 1;
    int64_t shifts = (int64_t)fmin(wanted, MOST_SHIFTS), k = 0;
    double step = shifts > 1 ? (between[1] - between[0]) / (double)(shifts - 1) : 0;
    const atn_needle_interval turn = {0, 360, 360.0 / COARSE_ROLLS}, along = {between[0], between[1], step};
    atn_status status = atn_needle_start(n->ctx, line, n->shape.tip_z, 0, settings.start);
    if (status == ATN_OK) status = needle_take_settings(n, &settings, &frame);
    if (status == ATN_OK) status = needle_poses(n, &frame, &turn, COARSE_ROLLS, &along, shifts);
    if (status == ATN_OK) status = needle_engine_count(n, COARSE_ROLLS * shifts, NEEDLE_SOME, &count);
    if (status != ATN_OK) return status;
    status = needle_best(n, COARSE_ROLLS, shifts, count, NEEDLE_SOME, about, &k);
    if (status != ATN_OK) return status;
    const needle_view view = n->view[k];
    double worth = (double)count[k] / (double)n->counted[NEEDLE_SOME].count - view.against / fmax(view.facing, 1);
    if (worth > best->worth)
        *best = (coarse){360.0 / COARSE_ROLLS * (double)(k / shifts), between[0] + step * (double)(k % shifts), worth,
                         *line};
    return ATN_OK;
}

/* The tip is about where the needle's points end; where that does not fit, something else goes on from there, and it is
 * anywhere up to the first scan that has the needle for certain. */
static atn_status find_start(look *l, coarse *best) {
    double edge = 1.5 * l->spacing[2], high_end = (double)(l->frames - 1) * l->spacing[2];
    double radius = l->n->shape.radius;
    atn_status status = ATN_OK;
    *best = (coarse){.worth = -INFINITY};
    for (int wide = 0; wide < 2 && status == ATN_OK && best->worth < FITS; ++wide) {
        for (int side = 0; side < 2 && status == ATN_OK; ++side) {
            atn_needle_line line = l->line;
            double sign = (side == 0) == l->n->shape.tip_low ? 1 : -1, anchor = (double)l->anchor[side] * l->spacing[2];
            double between[2] = {l->end[side] - (side ? INWARD : OUTWARD) * radius,
                                 l->end[side] + (side ? OUTWARD : INWARD) * radius};
            if (needle_doubt_leaves(l->n, &l->ends, side) && !(l->no_tip && side == 0)) continue;
            bool border = side ? l->end[1] >= high_end - edge : l->end[0] <= edge;
            if (wide) between[!side] = anchor + (side ? -radius : radius);
            if (wide && border) between[side] += (side ? OUTSIDE : -OUTSIDE) * radius;
            for (int k = 0; k < 3; ++k) line.direction[k] = sign * l->line.direction[k];
            if (between[0] < between[1]) status = count_coarse(l, &line, between, ABOUT[wide], best);
        }
    }
    return status;
}

/* ---- the match ---- */

static void add_start(double roll_deg, double shift, atn_needle_result *out) {
    for (int k = 0; k < out->n_rounds; ++k) {
        out->round[k].roll_deg += roll_deg;
        out->round[k].shift += shift;
    }
    out->roll_deg = remainder(out->roll_deg + roll_deg, 360);
    out->shift += shift;
}

/* The roll and the shift that a start has itself, so that results count from the same wherever they started. */
static atn_status measure_start(const atn_needle *n, const double start[16], double *roll_deg, double *shift) {
    atn_needle_line line = {{start[3], start[7], start[11]}, {start[2], start[6], start[10]}, 0, 0};
    double upright[16], c = 0, s = 0;
    atn_status status = atn_needle_start(n->ctx, &line, n->shape.tip_z, 0, upright);
    for (int k = 0; k < 3 && status == ATN_OK; ++k) {
        c += start[4 * k] * upright[4 * k];
        s += start[4 * k] * upright[4 * k + 1];
    }
    *roll_deg = atan2(s, c) * 180 / 3.14159265358979323846;
    *shift = start[10] * n->shape.tip_z + start[11];
    return status;
}

/* A pose with metal where the beam passed through is not that of the needle, whatever matches. If little of its bevel
 * is visible, its roll and its end are determined by outlines only, to some degrees. */
static atn_status judge(const look *l, atn_needle_result *out) {
    geom_pose pose;
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) pose.a[3 * r + c] = out->transform[4 * r + c];
        pose.b[r] = out->transform[4 * r + 3];
    }
    needle_view view;
    atn_status status = needle_free_view(l->n, &pose, &view);
    if (status != ATN_OK) return status;
    out->free_share = view.against / fmax(view.facing, 1);
    if (l->no_tip || (out->found && needle_doubt_tip(l->n, &l->ends, out->transform))) {
        out->found = false;
        snprintf(out->reason, sizeof out->reason,
                 "the tip is outside the scans: the needle extends to their border; the pose is the best match");
    }
    if (!out->found) return ATN_OK;
    double coarse_by = fmax(1, 5 * l->spacing[2] / l->n->shape.radius); /* nothing is known between two scans */
    if (out->free_share > MOST_FREE * coarse_by) {
        out->found = false;
        snprintf(out->reason, sizeof out->reason,
                 "%.0f %% of the model would lie in free space; the best match is not the needle",
                 100 * out->free_share);
    } else if (out->roll_observable && view.telling < TELLING * view.facing) {
        out->roll_observable = false;
        snprintf(out->reason, sizeof out->reason,
                 "the bevel does not face the scanner: roll and tip are determined by outlines only");
    }
    return ATN_OK;
}

static void tell_other(const look *l, atn_needle_result *out) {
    size_t at = strlen(out->reason);
    if (l->other)
        snprintf(out->reason + at, sizeof out->reason - at, "%sanother needle is in the scans; this is one of them",
                 at ? "; " : "");
}

static atn_status match(look *l, const atn_needle_match_settings *settings, const coarse *start,
                        atn_needle_result *out) {
    static const atn_needle_interval SHIFT = {-0.25, 0.25, 0.05};
    atn_needle *n = l->n;
    atn_needle_match_settings filled = *settings;
    needle_frame frame;
    double roll_deg = 0, shift = 0;
    atn_status status = ATN_OK;
    if (start) {
        roll_deg = start->roll_deg;
        shift = start->shift;
        double c = cos(start->roll_deg * 3.14159265358979323846 / 180),
               s = sin(start->roll_deg * 3.14159265358979323846 / 180);
        double turned[16];
        status = atn_needle_start(n->ctx, &start->line, n->shape.tip_z, start->shift, filled.start);
        memcpy(turned, filled.start, sizeof turned);
        for (int r = 0; r < 3; ++r) {
            turned[4 * r] = c * filled.start[4 * r] + s * filled.start[4 * r + 1];
            turned[4 * r + 1] = -s * filled.start[4 * r] + c * filled.start[4 * r + 1];
        }
        memcpy(filled.start, turned, sizeof turned);
        filled.has_start = true;
        if (filled.shift.step == 0 && !filled.track) filled.shift = SHIFT;
    } else
        status = measure_start(n, filled.start, &roll_deg, &shift);
    if (status == ATN_OK) status = needle_take_settings(n, &filled, &frame);
    if (status == ATN_OK) status = needle_match_taken(n, &frame, out);
    if (status == ATN_OK) status = judge(l, out);
    if (status == ATN_OK) {
        tell_other(l, out);
        add_start(roll_deg, shift, out);
    }
    return status;
}

/* A start that is given says where the axis is. */
static void line_of_start(const atn_needle *n, const atn_needle_match_settings *s, look *l) {
    for (int k = 0; k < 3; ++k) {
        l->line.direction[k] = s->start[4 * k + 2];
        l->line.point[k] = s->start[4 * k + 2] * n->shape.tip_z + s->start[4 * k + 3];
    }
    l->has_line = fabs(l->line.direction[2]) > 0.2;
    l->anchor[0] = 0;
    l->anchor[1] = l->frames - 1;
}

static atn_status locate(look *l, const atn_needle_match_settings *settings, coarse *start, atn_needle_result *out) {
    double begin = atn_clock_seconds();
    atn_needle *n = l->n;
    atn_status status = atn_tell_progress(n->ctx, "looking for the axis", 0, 0);
    if (status != ATN_OK) return status;
    if (settings->has_start)
        line_of_start(n, settings, l);
    else if (l->frames < FEWEST_CENTRES)
        return miss(out, "an axis needs three scans at least");
    else
        status = find_axis(l, out);
    if (status != ATN_OK) return status;
    if (!l->has_line) return miss(out, "no needle is in the scans: no line of arcs of its radius is there");
    double since = atn_clock_seconds();
    status = take_seen(l);
    if (status == ATN_OK) status = gather(l, out);
    if (status == ATN_OK && n->scan_points == 0) return miss(out, "nothing bright is where the needle was");
    if (status == ATN_OK) tell_seen(l);
    needle_part_end(n, NEEDLE_PART_POINTS, &since);
    if (status == ATN_OK && !settings->has_start) status = find_start(l, start);
    needle_part_end(n, NEEDLE_PART_START, &since);
    out->axis_seconds = atn_clock_seconds() - begin;
    return status;
}

/* What was segmented, from the start that the settings have or from one that is found. */
static atn_status pose_from(look *l, const atn_needle_match_settings *settings, atn_needle_result *out) {
    coarse start = {0};
    atn_status status = locate(l, settings, &start, out);
    if (status == ATN_OK && !*out->reason) status = match(l, settings, settings->has_start ? NULL : &start, out);
    needle_free_forget(l->n);
    atn_free(l->n->ctx, l->seen);
    l->seen = NULL;
    l->has_line = l->other = l->no_tip = l->ends.has_arcs = false;
    memset(l->anchor, 0, sizeof l->anchor);
    return status;
}

/* The second answer, unless only the first one found it. */
static atn_status try_otherwise(look *l, const atn_needle_match_settings *settings, atn_needle_result *out) {
    atn_needle_result first = *out, next = {.level = out->level, .segment_seconds = out->segment_seconds};
    atn_status status = pose_from(l, settings, &next);
    next.otherwise = true;
    next.axis_seconds += first.axis_seconds;
    next.match_seconds += first.match_seconds;
    if (next.found || !first.found) *out = next;
    return status;
}

static atn_status find(atn_needle *n, const atn_volume *volume, const atn_needle_view *view,
                       const atn_needle_match_settings *settings, atn_needle_result *out) {
    look l = {.n = n, .volume = volume};
    double begin = atn_clock_seconds();
    memset(n->part_s, 0, sizeof n->part_s);
    atn_needle_match_settings filled = *settings;
    needle_frame frame;
    atn_status status = needle_take_settings(n, &filled, &frame); /* invalid ones are reported whatever is in the scans
                                                                   * */
    if (status == ATN_OK) status = take_view(&l, view);
    if (status == ATN_OK) status = check_radius(&l);
    if (status == ATN_OK) status = segment(&l, out);
    if (status == ATN_OK) status = pose_from(&l, settings, out);
    if (status == ATN_OK && settings->otherwise && settings->has_start && (!out->found || out->at_end))
        status = try_otherwise(&l, settings->otherwise, out);
    out->seconds = atn_clock_seconds() - begin;
    return status;
}

atn_status atn_needle_find(atn_needle *n, const atn_volume *volume, const atn_needle_view *given_view,
                           const atn_needle_match_settings *given, atn_needle_result *out) {
    atn_needle_match_settings settings, otherwise;
    atn_needle_view view;
    atn_needle_result all = {0};
    atn_status status = ATN_CHECK_OUT(n->ctx, atn_needle_result, out);
    if (status == ATN_OK) status = ATN_TAKE(n->ctx, atn_needle_view, given_view, &view);
    if (status == ATN_OK) status = ATN_TAKE(n->ctx, atn_needle_match_settings, given, &settings);
    if (status == ATN_OK && settings.otherwise) {
        status = ATN_TAKE(n->ctx, atn_needle_match_settings, settings.otherwise, &otherwise);
        settings.otherwise = &otherwise;
    }
    if (status != ATN_OK) return status;
    status = find(n, volume, &view, &settings, &all);
    ATN_GIVE(n->ctx, atn_needle_result, &all, out);
    return status;
}
