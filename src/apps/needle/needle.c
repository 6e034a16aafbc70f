/* A needle tracker: created for a model, matched with scans. Checks its input; then rounds, refinement, result. */
#include "apps/needle/needle.h"

#include "base/clock.h"
#include "base/extreme.h"
#include "base/memory.h"
#include "base/sized.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MESH_POINTS = 100000, MESH_SEED = 1 };
static const double UNITS_APART = 50; /* extents that differ by more are in other units */

/* ---- the model ---- */

atn_status atn_needle_model(atn_ctx *ctx, const char *path, atn_cloud **out) {
    atn_cloud *points = NULL;
    atn_status status = atn_cloud_sample_mesh(ctx, path, MESH_POINTS, MESH_SEED, out);
    if (status != ATN_ERR_INPUT) return status;
    if (atn_cloud_read(ctx, path, NULL, &points) != ATN_OK) /* neither; the mesh's reason is the better one */
        return atn_cloud_sample_mesh(ctx, path, MESH_POINTS, MESH_SEED, out);
    if (atn_cloud_info_of(points).normals) {
        *out = points;
        return ATN_OK;
    }
    status = atn_cloud_with_normals(points, 0, NULL, out);
    atn_cloud_free(points);
    return status;
}

/* Unit normals, zeros where voxels averaged them away: at edges. */
static void put_normals(atn_needle *n, const atn_cloud *model) {
    for (size_t k = 0; k < n->model.count; ++k) {
        double sum = 0;
        for (int axis = 0; axis < 3; ++axis) {
            double value = (double)atn_cloud_normals(model, axis)[k];
            sum += value * value;
        }
        for (int axis = 0; axis < 3; ++axis)
            n->normal[3 * k + (size_t)axis] =
                sum > 0.81 ? (float)((double)atn_cloud_normals(model, axis)[k] / sqrt(sum)) : 0;
    }
}

/* Filtered, with normals, in Morton order as voxels are. */
static atn_status take_model(atn_needle *n, const atn_cloud *model) {
    atn_cloud *filtered = NULL, *with = NULL;
    const atn_cloud *use = model;
    atn_status status = ATN_OK;
    if (n->options.edge > 0) {
        status = atn_cloud_voxels(model, n->options.edge, &filtered);
        use = filtered;
    }
    if (status == ATN_OK && !atn_cloud_info_of(use).normals) {
        status = atn_cloud_with_normals(use, 0, NULL, &with);
        use = with;
    }
    if (status == ATN_OK) status = cloud_points_of(n->ctx, use, &n->model);
    if (status == ATN_OK && n->model.count > INT32_MAX / 2)
        status = atn_fail(n->ctx, ATN_ERR_INPUT, "needle: the model has %zu points; the voxel filter leaves fewer",
                          n->model.count);
    if (status == ATN_OK) {
        n->normal = atn_alloc(n->ctx, 3 * n->model.count * sizeof *n->normal);
        if (!n->normal) status = ATN_ERR_MEMORY;
    }
    if (status == ATN_OK) {
        atn_cloud_info info = atn_cloud_info_of(use);
        put_normals(n, use);
        for (int axis = 0; axis < 3; ++axis) {
            n->low[axis] = info.low[axis];
            n->high[axis] = info.high[axis];
            n->centre[axis] = 0.5 * (info.low[axis] + info.high[axis]);
        }
        n->shape = needle_shape_of(&n->model, n->low, n->high, n->options.edge);
        status = needle_free_open(n);
    }
    atn_cloud_free(with);
    atn_cloud_free(filtered);
    return status;
}

static atn_status check_options(const atn_ctx *ctx, const atn_cloud *model, atn_needle_settings *o) {
    if (atn_cloud_info_of(model).points == 0) return atn_fail(ctx, ATN_ERR_INPUT, "needle: the model has no points");
    if (o->threshold == 0) o->threshold = 0.02;
    if (!(o->threshold > 0 && isfinite(o->threshold)))
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: a threshold of %g; it must be positive", o->threshold);
    if (o->edge == 0) o->edge = o->threshold;
    if (!isfinite(o->edge))
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: the voxel filter's edge is a length, or negative for none");
    return ATN_OK;
}

atn_status atn_needle_create(atn_device *device, const atn_cloud *model, const atn_needle_settings *given,
                             atn_needle **out) {
    atn_ctx *ctx = atn_device_ctx(device);
    atn_needle_settings filled;
    *out = NULL;
    atn_status status = ATN_TAKE(ctx, atn_needle_settings, given, &filled);
    if (status == ATN_OK) status = check_options(ctx, model, &filled);
    if (status != ATN_OK) return status;
    atn_needle *n = atn_zalloc(ctx, sizeof *n);
    if (!n) return ATN_ERR_MEMORY;
    n->device = device;
    n->ctx = ctx;
    n->options = filled;
    n->bright = (needle_bright){.device = device, .ctx = ctx};
    n->surface = (needle_surface){.device = device, .ctx = ctx};
    n->arcs = (needle_arcs){.device = device, .ctx = ctx};
    status = take_model(n, model);
    if (status == ATN_OK) status = needle_engine_open(n);
    if (status == ATN_OK)
        *out = n;
    else
        atn_needle_free(n);
    return status;
}

void atn_needle_free(atn_needle *needle) {
    if (!needle) return;
    needle_engine_close(needle);
    needle_bright_free(&needle->bright);
    needle_surface_free(&needle->surface);
    needle_arcs_free(&needle->arcs);
    cloud_points_free(&needle->model);
    needle_points_free(&needle->points);
    needle_free_close(&needle->empty_space);
    needle_equations_free(&needle->equations);
    atn_free(needle->ctx, needle->normal);
    atn_free(needle->ctx, needle);
}

void needle_part_end(atn_needle *n, needle_part part, double *since) {
    double now = atn_clock_seconds();
    n->part_s[part] += now - *since;
    *since = now;
}

/* ---- a frame ---- */

static atn_status check_interval(const atn_ctx *ctx, const char *what, atn_needle_interval *i,
                                 atn_needle_interval otherwise) {
    if (i->low == 0 && i->high == 0 && i->step == 0) *i = otherwise;
    if (!isfinite(i->low) || !isfinite(i->high) || !isfinite(i->step))
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: the interval of the %s is not finite", what);
    if (!(i->step > 0))
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: the %s's step of %g; it must be positive", what, i->step);
    if (i->high < i->low)
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: the %s's interval from %g to %g is empty", what, i->low, i->high);
    if ((i->high - i->low) / i->step > 1e9)
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "needle: %g steps of the %s are more than fit into memory; a larger step has fewer",
                        (i->high - i->low) / i->step, what);
    return ATN_OK;
}

static atn_status check_settings(const atn_ctx *ctx, atn_needle_match_settings *s) {
    static const atn_needle_interval ROLL = {-5, 5, 1}, SHIFT = {0, 0.5, 0.05}, TRACK_ROLL = {-2, 2, 0.5},
                                     TRACK_SHIFT = {-0.1, 0.1, 0.025};
    atn_status status = check_interval(ctx, "roll", &s->roll_deg, s->track ? TRACK_ROLL : ROLL);
    if (status == ATN_OK) status = check_interval(ctx, "shift", &s->shift, s->track ? TRACK_SHIFT : SHIFT);
    if (status != ATN_OK) return status;
    if (s->rounds == 0) s->rounds = s->track ? 3 : 4;
    if (s->rounds < 0 || s->rounds > ATN_NEEDLE_MOST_ROUNDS)
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: %d rounds; 1 to %d are supported", (int)s->rounds,
                        ATN_NEEDLE_MOST_ROUNDS);
    if (s->least == 0) s->least = 0.3;
    if (!(s->least > 0 && s->least <= 1))
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "needle: the required fraction of matched points must be above 0 and at most 1, not %g",
                        s->least);
    if (s->most_combinations == 0) s->most_combinations = 1 << 20;
    if (s->most_combinations < 1 || s->most_combinations > 1 << 28)
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: a round has 1 to 2^28 combinations at most");
    return ATN_OK;
}

/* A rotation and a translation, to 1e-3: what people write down with few digits is let through. */
static atn_status take_start(const atn_ctx *ctx, const atn_needle_match_settings *s, needle_frame *f) {
    f->start = GEOM_IDENTITY;
    for (int r = 0; r < 3 && s->has_start; ++r) {
        for (int c = 0; c < 3; ++c) f->start.a[3 * r + c] = s->start[4 * r + c];
        f->start.b[r] = s->start[4 * r + 3];
    }
    const double *a = f->start.a;
    double worst = 0, determinant = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
                                    a[2] * (a[3] * a[7] - a[4] * a[6]);
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
            double dot = 0;
            for (int k = 0; k < 3; ++k) dot += a[3 * k + r] * a[3 * k + c];
            worst = fmax(worst, fabs(dot - (r == c)));
        }
    if (!(worst < 1e-3) || !(determinant > 0) || !isfinite(f->start.b[0] + f->start.b[1] + f->start.b[2]))
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "needle: the initial pose is not rigid; scaling and mirroring are not supported");
    return ATN_OK;
}

static atn_status take_axis(const atn_ctx *ctx, const atn_needle_match_settings *s, needle_frame *f) {
    double axis[3], length = 0;
    for (int k = 0; k < 3; ++k) length += s->axis[k] * s->axis[k];
    for (int k = 0; k < 3; ++k) axis[k] = length > 0 ? s->axis[k] / sqrt(length) : f->start.a[3 * k + 2];
    if (!isfinite(length) || !(fabs(axis[2]) > 1e-3))
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "needle: the axis (%g, %g, %g) has no z component, along which shifts are measured", axis[0],
                        axis[1], axis[2]);
    for (int k = 0; k < 3; ++k) f->along[k] = axis[k] / axis[2];
    return ATN_OK;
}

/* The scan, filtered and in Morton order, so that neighbours look into the same voxels. */
static atn_status filter_scan(const atn_needle *n, const cloud_points *all, cloud_points *out) {
    *out = (cloud_points){0};
    if (n->options.edge > 0) return cloud_points_merge(all, n->options.edge, out);
    uint32_t *order = atn_alloc(n->ctx, all->count * sizeof *order);
    atn_status status = order ? cloud_points_order(all, order) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = cloud_points_permute(all, order, out);
    atn_free(n->ctx, order);
    return status;
}

/* Metres instead of millimetres, and the like. */
static atn_status check_units(const atn_needle *n, const double low[3], const double high[3]) {
    double a = 0, b = 0;
    for (int axis = 0; axis < 3; ++axis) {
        a += (n->high[axis] - n->low[axis]) * (n->high[axis] - n->low[axis]);
        b += (high[axis] - low[axis]) * (high[axis] - low[axis]);
    }
    if (!(a > 0 && b > 0)) return ATN_OK;
    double times = sqrt(b / a);
    if (times < UNITS_APART && times > 1 / UNITS_APART) return ATN_OK;
    return atn_fail(n->ctx, ATN_ERR_INPUT,
                    "needle: the model extends over %.3g, the scan over %.3g; %s is probably in another unit (metres "
                    "instead of millimetres?)",
                    sqrt(a), sqrt(b), times > 1 ? "the model" : "one of them");
}

static atn_status take_points(atn_needle *n, const cloud_points *scan) {
    double low[3], high[3], far = 1;
    if (scan->count == 0) return atn_fail(n->ctx, ATN_ERR_INPUT, "needle: the scan has no points");
    for (int axis = 0; axis < 3; ++axis) {
        const double *at = scan->position[axis];
        low[axis] = high[axis] = at[0];
        for (size_t k = 1; k < scan->count; ++k) {
            low[axis] = atn_lesser(low[axis], at[k]);
            high[axis] = atn_larger(high[axis], at[k]);
        }
        n->scan_centre[axis] = 0.5 * (low[axis] + high[axis]);
        far = fmax(far, fmax(n->high[axis] - n->low[axis], high[axis] - low[axis]));
    }
    cloud_points filtered = {0};
    atn_status status = check_units(n, low, high);
    if (status == ATN_OK) status = filter_scan(n, scan, &filtered);
    if (status == ATN_OK && filtered.count > INT32_MAX / 2)
        status = atn_fail(n->ctx, ATN_ERR_INPUT, "needle: the scan has %zu points; the voxel filter leaves fewer",
                          filtered.count);
    /* beyond both clouds, whatever the pose */
    if (status == ATN_OK) status = needle_engine_scan(n, &filtered, 1e4 * (far + n->options.threshold));
    cloud_points_free(&filtered);
    return status;
}

atn_status needle_take_scan(atn_needle *n, const atn_cloud *scan) {
    cloud_points points = {0};
    atn_status status = cloud_points_of(n->ctx, scan, &points);
    if (status == ATN_OK) status = take_points(n, &points);
    cloud_points_free(&points);
    return status;
}

/* Is the winner at an end? An interval of one step has none. */
static bool at_end(const atn_needle_interval *i, double winner) {
    double edge = 0.5 * i->step;
    return i->high - i->low > edge && (winner < i->low + edge || winner > i->high - edge);
}

/* Of those that are counted. */
static double points_of(const atn_needle *n) {
    return (double)(n->options.count == ATN_NEEDLE_COUNT_MODEL ? n->model.count : (size_t)n->scan_points);
}

static void judge(const atn_needle *n, const atn_needle_match_settings *s, atn_needle_result *out) {
    bool shift_ends = at_end(&s->shift, out->round[0].shift);
    out->at_end = shift_ends || (out->roll_observable && at_end(&s->roll_deg, out->round[0].roll_deg));
    if (!out->found)
        snprintf(out->reason, sizeof out->reason,
                 "only %lld of %.0f %s points have a partner within %g; the needle is not there, or far from the "
                 "initial pose",
                 (long long)out->matches, points_of(n), n->options.count == ATN_NEEDLE_COUNT_MODEL ? "model" : "scan",
                 n->options.threshold);
    else if (shift_ends)
        snprintf(
            out->reason, sizeof out->reason,
            "the best shift of the first round is at the end of its interval; a wider interval may have a better one");
    else if (!out->roll_observable)
        snprintf(out->reason, sizeof out->reason, "the roll is not observable: other rolls match as well");
}

static void put_transform(const geom_pose *pose, double out[16]) {
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) out[4 * r + c] = pose->a[3 * r + c];
        out[4 * r + 3] = pose->b[r];
    }
    out[12] = out[13] = out[14] = 0;
    out[15] = 1;
}

atn_status needle_take_settings(const atn_needle *n, atn_needle_match_settings *filled, needle_frame *frame) {
    *frame = (needle_frame){.settings = filled, .around = filled->track ? 1 : 2, .divide = filled->track ? 3 : 5};
    atn_status status = check_settings(n->ctx, filled);
    if (status == ATN_OK) status = take_start(n->ctx, filled, frame);
    if (status == ATN_OK) status = take_axis(n->ctx, filled, frame);
    return status;
}

atn_status needle_match_taken(atn_needle *n, const needle_frame *frame, atn_needle_result *out) {
    double since = atn_clock_seconds();
    atn_status status = needle_rounds(n, frame, out);
    int64_t matches = 0;
    out->match_seconds = atn_clock_seconds() - since;
    out->scan_points = n->scan_points;
    out->model_points = (int64_t)n->model.count;
    out->found = status == ATN_OK && (double)out->matches >= frame->settings->least * points_of(n);
    const geom_pose winner = needle_pose(frame, out->roll_deg, out->shift);
    geom_pose pose = winner;
    needle_part_end(n, NEEDLE_PART_ROUNDS, &since);
    if (out->found && !frame->settings->no_refine) status = needle_refine(n, &pose, out);
    if (status == ATN_OK) status = needle_roll_observable(n, frame, &pose, out, &matches);
    if (status == ATN_OK) needle_refine_end(&winner, matches, &pose, out);
    if (status == ATN_OK) judge(n, frame->settings, out);
    needle_part_end(n, NEEDLE_PART_REFINEMENT, &since);
    put_transform(&pose, out->transform);
    geom_pose_apply(&pose, n->shape.tip, out->tip);
    return status;
}

atn_status atn_needle_match(atn_needle *n, const atn_cloud *scan, const atn_needle_match_settings *settings,
                            atn_needle_result *out) {
    atn_needle_match_settings filled;
    atn_needle_result all = {0};
    needle_frame frame;
    double begin = atn_clock_seconds();
    atn_status status = ATN_CHECK_OUT(n->ctx, atn_needle_result, out);
    if (status == ATN_OK) status = ATN_TAKE(n->ctx, atn_needle_match_settings, settings, &filled);
    if (status != ATN_OK) return status;
    status = needle_take_settings(n, &filled, &frame);
    if (status == ATN_OK) status = needle_take_scan(n, scan);
    if (status == ATN_OK) status = needle_match_taken(n, &frame, &all);
    all.seconds = atn_clock_seconds() - begin;
    ATN_GIVE(n->ctx, atn_needle_result, &all, out);
    return status;
}
