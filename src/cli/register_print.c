/* The output of attune register: a block for people, one JSON object for programs. */
#include "cli/register.h"

#include "apps/register/distribute.h"
#include "cloud/part.h"

#include <math.h>

/* ---- for people ---- */

static void print_bytes(double bytes, char *text, size_t size) {
    static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB"};
    int k = 0;
    for (; k < 4 && bytes >= 1000; ++k) bytes /= 1000;
    snprintf(text, size, "%.3g %s", bytes, UNITS[k]);
}

/* Of the whole cloud, where this is a sample of it. */
static atn_cloud_info info_of(const atn_cloud *cloud, const cloud_part *part) {
    atn_cloud_info info = atn_cloud_info_of(cloud);
    if (!part) return info;
    info.points = part->total;
    info.nan = part->nan;
    info.inf = part->inf;
    return info;
}

static void add_cloud(atn_text *page, const char *label, const char *name, atn_cloud_info info, size_t used) {
    atn_text_printf(page, "%-11s %s, %zu points", label, name, info.points);
    if (info.nan + info.inf) atn_text_printf(page, " (%zu invalid points dropped)", info.nan + info.inf);
    if (used) atn_text_printf(page, ", %zu voxels", used);
    atn_text_add(page, "\n");
}

static void add_distribution(atn_text *page, const reg_distribution *d) {
    atn_text_printf(page, "distributed over %d rank%s: samples of %zu and %zu points, ", (int)d->ranks->count,
                    d->ranks->count > 1 ? "s" : "", atn_cloud_info_of(d->sample[0]).points,
                    atn_cloud_info_of(d->sample[1]).points);
    if (!d->refined)
        atn_text_add(page, "not refined\n");
    else if (d->edge > 0)
        atn_text_printf(page, "refined over means of all points in cells of %.4g\n", d->edge);
    else
        atn_text_add(page, "refined over all points\n");
}

static void add_motion(atn_text *page, const atn_register_result *result) {
    const double *t = result->transform;
    atn_cli_turn turn = atn_cli_turn_of(t);
    for (int i = 0; i < 4; ++i)
        atn_text_printf(page, "%-11s %14.9g %14.9g %14.9g %14.9g\n", i ? "" : "transform", t[4 * i], t[4 * i + 1],
                        t[4 * i + 2], t[4 * i + 3]);
    if (turn.known)
        atn_text_printf(page, "rotation    %.6g° about (%.5f, %.5f, %.5f)\n", turn.degrees, turn.axis[0], turn.axis[1],
                        turn.axis[2]);
    atn_text_printf(page, "translation (%.6g, %.6g, %.6g), length %.6g\n", t[3], t[7], t[11],
                    sqrt(t[3] * t[3] + t[7] * t[7] + t[11] * t[11]));
    if (result->scale != 1) atn_text_printf(page, "scale       %.9g\n", result->scale);
    if (result->has_covariance) {
        const double *c = result->covariance;
        atn_text_printf(page, "uncertainty %.2g°, %.2g (1σ)\n", sqrt(fmax(0, c[0] + c[7] + c[14])) * 57.29577951308232,
                        sqrt(fmax(0, c[21] + c[28] + c[35])));
    } else
        atn_text_printf(page, "uncertainty unknown: %s\n", result->covariance_reason);
}

static void add_effort(atn_text *page, const atn_cli_registered *done) {
    const atn_register_result *result = done->result;
    char used[32], estimated[32];
    print_bytes((double)result->peak_bytes, used, sizeof used);
    print_bytes((double)done->estimated_bytes, estimated, sizeof estimated);
    atn_text_printf(page, "time        %.3g s, %.4g Gpts", result->seconds, result->gpts);
    if (result->evaluated_pairs < result->pairs)
        atn_text_printf(page, "; %.3g %% of %.3g pairs evaluated", 100 * result->evaluated_pairs / result->pairs,
                        result->pairs);
    atn_text_printf(page, "\npeak memory %s (estimated %s)\ndevice      %s%s%s\n", used, estimated, result->device,
                    *result->variant ? ", " : "", result->variant);
}

static atn_status print_text(const atn_cli_register *r, const atn_cli_registered *done) {
    const atn_register_result *result = done->result;
    atn_text page = {.ctx = r->call->ctx};
    add_cloud(&page, "source", done->source_name, info_of(done->source, done->part[0]), done->used[0]);
    add_cloud(&page, "target", done->target_name, info_of(done->target, done->part[1]), done->used[1]);
    if (done->distribution) add_distribution(&page, done->distribution);
    if (done->voxel > 0) atn_text_printf(&page, "voxel       %.6g\n", done->voxel);
    atn_text_printf(&page, "method      %s, %s, from %s\n", r->method, r->transform, r->start);
    add_motion(&page, result);
    atn_text_printf(&page, "rmse        %.6g, of points with a partner within %.4g\noverlap     %.1f %%\n",
                    result->rmse, result->inlier_distance, 100 * result->overlap);
    atn_text_printf(&page, "iterations  %d, %s\nverdict     %s: %s\n", (int)result->iterations,
                    result->converged ? "converged" : "NOT converged", atn_verdict_name(result->verdict),
                    result->reason);
    add_effort(&page, done);
    if (done->truth)
        atn_text_printf(&page, "error       rotation %.4g°, translation %.4g, points %.4g (rms) from the truth\n",
                        done->truth->rotation_deg, done->truth->translation, done->truth->rms);
    if (r->profile) {
        atn_text rows = {.ctx = r->call->ctx};
        atn_cli_register_profile(&rows, result);
        atn_text_add(&page, "\n");
        atn_cli_add_table(&page, atn_text_str(&rows), "lrrr");
        if (rows.failed) page.failed = true;
        atn_text_free(&rows);
    }
    atn_status status = atn_cli_print_text(r->call, "register", &page);
    atn_text_free(&page);
    return status;
}

void atn_cli_register_profile(atn_text *rows, const atn_register_result *result) {
    atn_text_add(rows, "part\tcalls\tseconds\tshare\t\n");
    double rest = result->seconds;
    for (int32_t k = 0; k < result->profile_count; ++k) {
        const atn_register_time *each = &result->profile[k];
        atn_cli_add_cell(rows, each->name);
        atn_text_printf(rows, "%lld\t%.4g\t%.1f %%\t\n", (long long)each->calls, each->seconds,
                        result->seconds > 0 ? 100 * each->seconds / result->seconds : 0);
        rest -= each->seconds;
    }
    if (rest > 0.001 * result->seconds)
        atn_text_printf(rows, "other\t\t%.4g\t%.1f %%\t\n", rest, 100 * rest / result->seconds);
    if (result->building_seconds > 0)
        atn_text_printf(rows, "compiling kernels, first run only\t\t%.4g\tnot counted\t\n", result->building_seconds);
}

/* ---- for programs ---- */

/* null where there is no number. */
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

/* Whole numbers beyond counting stay what they are. */
static json_t *whole(double value) {
    return isfinite(value) && fabs(value) < 0x1p53 ? json_integer((json_int_t)value) : number(value);
}

static json_t *profile_json(const atn_ctx *ctx, const atn_register_result *result) {
    json_t *rows = json_array();
    for (int32_t k = 0; k < result->profile_count && rows; ++k) {
        const atn_register_time *each = &result->profile[k];
        json_t *row = json_object();
        bool good = json_object_set_new(row, "name", atn_cli_json_text(ctx, each->name)) == 0 &&
                    json_object_set_new(row, "calls", json_integer(each->calls)) == 0 &&
                    json_object_set_new(row, "seconds", number(each->seconds)) == 0;
        if (json_array_append_new(rows, row) == 0 && good) continue;
        json_decref(rows);
        return NULL;
    }
    return rows;
}

static json_t *truth_json(const atn_cli_apart *truth) {
    json_t *object = json_object();
    return atn_cli_json_if(json_object_set_new(object, "rotation_deg", number(truth->rotation_deg)) == 0 &&
                               json_object_set_new(object, "translation", number(truth->translation)) == 0 &&
                               json_object_set_new(object, "rms", number(truth->rms)) == 0,
                           object);
}

static bool set_cloud(json_t *root, const char *name, const char *path, atn_cloud_info info, size_t used,
                      const atn_ctx *ctx) {
    json_t *object = json_object();
    bool good =
        json_object_set_new(object, "file", atn_cli_json_text(ctx, path)) == 0 &&
        json_object_set_new(object, "points", json_integer((json_int_t)info.points)) == 0 &&
        json_object_set_new(object, "dropped", json_integer((json_int_t)info.nan + (json_int_t)info.inf)) == 0 &&
        (!used || json_object_set_new(object, "used", json_integer((json_int_t)used)) == 0);
    return json_object_set_new(root, name, object) == 0 && good;
}

static json_t *distribution_json(const reg_distribution *d) {
    return json_pack("{s:i,s:b,s:f,s:[I,I],s:[I,I]}", "ranks", (int)d->ranks->count, "refined", (int)d->refined, "edge",
                     d->edge, "samples", (json_int_t)atn_cloud_info_of(d->sample[0]).points,
                     (json_int_t)atn_cloud_info_of(d->sample[1]).points, "used", (json_int_t)d->merged[0],
                     (json_int_t)d->merged[1]);
}

static json_t *alternatives_json(const atn_register_result *x) {
    json_t *list = json_array();
    for (int32_t k = 0; k < x->n_alternatives && list; ++k)
        if (json_array_append_new(list, atn_cli_json_matrix(x->alternatives[k], 4, 4)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static bool set_verdict(json_t *root, const atn_register_result *x, const atn_ctx *ctx) {
    return json_object_set_new(root, "verdict", json_string(atn_verdict_name(x->verdict))) == 0 &&
           json_object_set_new(root, "reason", atn_cli_json_text(ctx, x->reason)) == 0 &&
           json_object_set_new(root, "overlap_source", number(x->overlap_source)) == 0 &&
           json_object_set_new(root, "overlap_target", number(x->overlap_target)) == 0 &&
           json_object_set_new(root, "agreement", number(x->agreement)) == 0 &&
           json_object_set_new(root, "runner_up", number(x->runner_up)) == 0 &&
           json_object_set_new(root, "alternatives", alternatives_json(x)) == 0 &&
           json_object_set_new(root, "sliding", atn_cli_json_matrix(x->sliding[0], (size_t)x->n_sliding, 6)) == 0;
}

bool atn_cli_register_json(const atn_cli_register *r, const atn_cli_registered *done, json_t *root) {
    const atn_register_result *x = done->result;
    const atn_ctx *ctx = r->call->ctx;
    json_t *covariance = x->has_covariance ? atn_cli_json_matrix(x->covariance, 6, 6) : json_null();
    json_t *why = x->has_covariance ? json_null() : atn_cli_json_text(ctx, x->covariance_reason);
    return json_object_set_new(root, "covariance", covariance) == 0 &&
           json_object_set_new(root, "covariance_reason", why) == 0 &&
           json_object_set_new(root, "transform", atn_cli_json_matrix(x->transform, 4, 4)) == 0 &&
           json_object_set_new(root, "rmse", number(x->rmse)) == 0 &&
           json_object_set_new(root, "overlap", number(x->overlap)) == 0 &&
           json_object_set_new(root, "iterations", json_integer(x->iterations)) == 0 &&
           json_object_set_new(root, "pairs", whole(x->pairs)) == 0 &&
           json_object_set_new(root, "evaluated_pairs", whole(x->evaluated_pairs)) == 0 &&
           json_object_set_new(root, "seconds", number(x->seconds)) == 0 &&
           json_object_set_new(root, "building_seconds", number(x->building_seconds)) == 0 &&
           json_object_set_new(root, "gpts", number(x->gpts)) == 0 &&
           json_object_set_new(root, "peak_bytes", json_integer((json_int_t)x->peak_bytes)) == 0 &&
           json_object_set_new(root, "converged", json_boolean(x->converged)) == 0 && set_verdict(root, x, ctx) &&
           json_object_set_new(root, "device", atn_cli_json_text(ctx, x->device)) == 0 &&
           json_object_set_new(root, "variant", atn_cli_json_text(ctx, x->variant)) == 0 &&
           json_object_set_new(root, "scale", number(x->scale)) == 0 &&
           json_object_set_new(root, "inlier_distance", number(x->inlier_distance)) == 0 &&
           json_object_set_new(root, "error_bound", number(x->error_bound)) == 0 &&
           json_object_set_new(root, "sigma_end", number(x->sigma_end)) == 0 &&
           json_object_set_new(root, "estimated_bytes", json_integer((json_int_t)done->estimated_bytes)) == 0 &&
           json_object_set_new(root, "method", atn_cli_json_text(ctx, r->method)) == 0 &&
           set_cloud(root, "source", done->source_name, info_of(done->source, done->part[0]), done->used[0], ctx) &&
           set_cloud(root, "target", done->target_name, info_of(done->target, done->part[1]), done->used[1], ctx) &&
           (!done->distribution ||
            json_object_set_new(root, "distributed", distribution_json(done->distribution)) == 0) &&
           (!(done->voxel > 0) || json_object_set_new(root, "voxel", number(done->voxel)) == 0) &&
           (!r->profile || json_object_set_new(root, "profile", profile_json(ctx, x)) == 0) &&
           (!done->truth || json_object_set_new(root, "truth", truth_json(done->truth)) == 0);
}

atn_status atn_cli_register_print(const atn_cli_register *r, const atn_cli_registered *done) {
    if (!r->call->json) return print_text(r, done);
    json_t *root = json_object();
    if (!atn_cli_register_json(r, done, root)) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(r->call, root);
}
