/* attune needle: the pose of a needle's model in a scan. */
#include "base/number.h"
#include "cli/cli.h"
#include "cli/kernel.h"
#include "cli/matrix.h"

#include <attune/needle.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Numbers with commas between them, all finite. */
static bool read_list(const char *text, int count, double *out) {
    for (int k = 0; k < count; ++k) {
        char *end;
        out[k] = atn_number_read(text, &end);
        if (end == text || !isfinite(out[k]) || *end != (k + 1 < count ? ',' : 0)) return false;
        text = end + 1;
    }
    return true;
}

static atn_status read_interval(atn_cli_call *call, const char *name, atn_needle_interval *out) {
    const char *text = atn_cli_value(call, name);
    double number[3];
    if (!text) return ATN_OK;
    if (!read_list(text, 3, number))
        return atn_cli_misuse(call, "--%s cannot be '%s'; it takes LO,HI,STEP", name, text);
    if (!(number[2] > 0)) return atn_cli_misuse(call, "--%s %s: the step is above 0", name, text);
    if (number[1] < number[0]) return atn_cli_misuse(call, "--%s %s: the interval is empty", name, text);
    *out = (atn_needle_interval){number[0], number[1], number[2]};
    return ATN_OK;
}

static atn_status read_settings(atn_cli_call *call, atn_needle_options *o, atn_needle_settings *s) {
    const char *axis = atn_cli_value(call, "axis"), *init = atn_cli_value(call, "init");
    const char *count = atn_cli_value(call, "count");
    double rounds = 0, threshold = 0;
    atn_status status = read_interval(call, "roll", &s->roll_deg);
    if (!status) status = read_interval(call, "shift", &s->shift);
    if (!status && axis && !read_list(axis, 3, s->axis))
        status = atn_cli_misuse(call, "--axis cannot be '%s'; it takes x,y,z", axis);
    if (!status) status = atn_cli_read_whole(call, "rounds", 1, 0, &rounds);
    if (!status && rounds > ATN_NEEDLE_MOST_ROUNDS)
        status = atn_cli_misuse(call, "--rounds cannot be above %d", ATN_NEEDLE_MOST_ROUNDS);
    if (!status) status = atn_cli_read_number(call, "threshold", 1e-300, 1e300, 0, &threshold);
    if (!status && init) {
        status = atn_cli_matrix_read(call->ctx, init, s->start);
        s->has_start = true;
    }
    s->rounds = (int32_t)rounds;
    s->marginal = atn_cli_has(call, "marginal");
    s->track = atn_cli_has(call, "track");
    o->threshold = threshold;
    o->brute = atn_cli_has(call, "brute");
    o->count = count && strcmp(count, "model") == 0 ? ATN_NEEDLE_COUNT_MODEL : ATN_NEEDLE_COUNT_SCAN;
    return status;
}

/* ---- what came out ---- */

static json_t *rounds_json(const atn_needle_result *r) {
    json_t *list = json_array();
    for (int32_t k = 0; k < r->n_rounds && list; ++k) {
        json_t *round = json_object();
        bool good = json_object_set_new(round, "roll_deg", json_real(r->round[k].roll_deg)) == 0 &&
                    json_object_set_new(round, "shift", json_real(r->round[k].shift)) == 0 &&
                    json_object_set_new(round, "matches", json_integer(r->round[k].matches)) == 0 &&
                    json_object_set_new(round, "combinations", json_integer(r->round[k].combinations)) == 0;
        if (json_array_append_new(list, round) == 0 && good) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *seconds_json(const atn_needle_result *r) {
    json_t *object = json_object();
    if (json_object_set_new(object, "segment", json_real(0)) == 0 &&
        json_object_set_new(object, "axis", json_real(0)) == 0 &&
        json_object_set_new(object, "match", json_real(r->match_seconds)) == 0 &&
        json_object_set_new(object, "total", json_real(r->seconds)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static atn_status print_json(atn_cli_call *call, const atn_needle_result *r) {
    json_t *root = json_object();
    bool good = json_object_set_new(root, "found", json_boolean(r->found)) == 0 &&
                json_object_set_new(root, "reason", atn_cli_json_text(call->ctx, r->reason)) == 0 &&
                json_object_set_new(root, "transform", atn_cli_json_matrix(r->transform, 4, 4)) == 0 &&
                json_object_set_new(root, "roll_deg", json_real(r->roll_deg)) == 0 &&
                json_object_set_new(root, "shift", json_real(r->shift)) == 0 &&
                json_object_set_new(root, "matches", json_integer(r->matches)) == 0 &&
                json_object_set_new(root, "scan_points", json_integer(r->scan_points)) == 0 &&
                json_object_set_new(root, "model_points", json_integer(r->model_points)) == 0 &&
                json_object_set_new(root, "rounds", rounds_json(r)) == 0 &&
                json_object_set_new(root, "runner_up", json_integer(r->runner_up)) == 0 &&
                json_object_set_new(root, "roll_observable", json_boolean(r->roll_observable)) == 0 &&
                json_object_set_new(root, "covariance",
                                    r->has_covariance ? atn_cli_json_matrix(r->covariance, 6, 6) : json_null()) == 0 &&
                json_object_set_new(root, "rmse", json_real(r->rmse)) == 0 &&
                json_object_set_new(root, "seconds", seconds_json(r)) == 0;
    if (!good) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(call, root);
}

static atn_status print_text(atn_cli_call *call, const atn_needle_result *r) {
    atn_text page = {.ctx = call->ctx};
    const double *t = r->transform;
    atn_text_printf(&page, "%s: %lld of %lld scan points, %lld model points; roll %.3f degrees, shift %.4f\n",
                    r->found ? "found" : "not found", (long long)r->matches, (long long)r->scan_points,
                    (long long)r->model_points, r->roll_deg, r->shift);
    for (int k = 0; k < 4; ++k)
        atn_text_printf(&page, "%12.8f %12.8f %12.8f %14.8f\n", t[4 * k], t[4 * k + 1], t[4 * k + 2], t[4 * k + 3]);
    for (int32_t k = 0; k < r->n_rounds; ++k)
        atn_text_printf(&page, "round %d: roll %.4f, shift %.5f, %lld matches of %lld combinations\n", (int)k + 1,
                        r->round[k].roll_deg, r->round[k].shift, (long long)r->round[k].matches,
                        (long long)r->round[k].combinations);
    atn_text_printf(&page, "runner-up %lld; the roll is %s by the scan; %.3g s of %.3g s matching\n",
                    (long long)r->runner_up, r->roll_observable ? "told" : "not told", r->match_seconds, r->seconds);
    if (r->found && *r->reason) atn_text_printf(&page, "note: %s\n", r->reason);
    atn_status status = atn_cli_print_text(call, "needle", &page);
    atn_text_free(&page);
    return status;
}

/* ---- the verb ---- */

static atn_status check_scan(atn_cli_call *call, const char *path) {
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return atn_fail(call->ctx, ATN_ERR_UNSUPPORTED,
                        "%s: a folder; this version matches clouds (ply, pcd, xyz, npy, stl, obj)", path);
    return ATN_OK;
}

static atn_status match(atn_cli_call *call, atn_device *device, const atn_needle_options *options,
                        const atn_needle_settings *settings, atn_needle_result *result) {
    atn_cloud *model = NULL, *scan = NULL;
    atn_needle *needle = NULL;
    atn_cli_progress(call, "reading ...");
    atn_status status = atn_needle_model(call->ctx, call->operands[0], &model);
    if (!status) status = atn_cloud_read(call->ctx, call->operands[1], NULL, &scan);
    atn_cli_progress(call, "matching ...");
    if (!status) status = atn_needle_create(device, model, options, &needle);
    if (!status) status = atn_needle_match(needle, scan, settings, result);
    atn_cli_progress_end(call);
    atn_needle_free(needle);
    atn_cloud_free(scan);
    atn_cloud_free(model);
    return status;
}

static atn_status run(atn_cli_call *call) {
    atn_needle_options options = {0};
    atn_needle_settings settings = {0};
    atn_needle_result result;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    int32_t index;
    atn_status status = read_settings(call, &options, &settings);
    if (!status) status = check_scan(call, call->operands[1]);
    if (!status) status = atn_cli_pick_device(call, &devices, &index);
    if (!status) {
        status = atn_device_open(devices, index, &device);
        if (!status) status = match(call, device, &options, &settings, &result);
        if (!status) status = call->json ? print_json(call, &result) : print_text(call, &result);
        if (!status && !result.found) status = atn_fail(call->ctx, ATN_ERR_INPUT, "not found: %s", result.reason);
        atn_device_close(device);
        atn_devices_free(devices);
    }
    return status;
}

const atn_cli_verb ATN_VERB_NEEDLE = {
    .name = "needle",
    .summary = "find a needle's pose in a scan",
    .synopsis = "MODEL SCAN",
    .paragraphs =
        (const char *const[]){
            "Finds where MODEL (a mesh, or a cloud, z along the needle) lies in SCAN (a cloud): rolls about the needle "
            "and shifts along it are tried from a start, all of a round at once; scan points with a model point nearer "
            "than the threshold are counted; the best is looked at more closely in the next round and refined at the "
            "end.",
            "--init is where it starts: 4 x 4 numbers, or JSON with a transform; its z axis lies along the needle. "
            "Without it the model is taken to lie along z where it is. Both clouds go through a voxel filter as wide "
            "as the threshold.",
            "Where the needle is not found the exit status is 1 and the reason stands on standard error.",
            "JSON: found, reason, transform (4 x 4, row-major, scan = T model), roll_deg, shift, matches, scan_points, "
            "model_points, rounds (roll_deg, shift, matches, combinations), runner_up (most matches far from the "
            "first round's winner), roll_observable, covariance (6 x 6: rotation vector in radians, then translation, "
            "left perturbation; or null), rmse, seconds (segment, axis, match, total; the first two are 0 for clouds).",
            NULL},
    .options =
        (const atn_cli_option[]){
            {.name = "init", .value = "FILE", .meaning = "where to start: a transform, scan = T model"},
            {.name = "axis", .value = "X,Y,Z", .meaning = "direction of the shift; the start's z axis unless given"},
            {.name = "roll", .value = "LO,HI,STEP", .meaning = "degrees; -5,5,1 unless given"},
            {.name = "shift", .value = "LO,HI,STEP", .meaning = "along the scan's z; 0,0.5,0.05 unless given"},
            {.name = "threshold", .value = "D", .meaning = "partners are nearer than that; 0.02 unless given"},
            {.name = "rounds", .value = "N", .meaning = "4 unless given; steps become 5 times smaller each"},
            {.name = "marginal", .meaning = "the winner as published: best roll and best shift, each on its own"},
            {.name = "brute", .meaning = "all pairs instead of the lookup volume; the same counts"},
            {.name = "count", .value = "scan|model", .meaning = "whose points are counted; scan unless given"},
            {.name = "track", .meaning = "the start is nearly right: small intervals, fewer combinations"},
            {0}},
    .examples =
        (const atn_cli_pair[]){{"attune needle model.stl scan.ply --init start.txt", "from a start that is known"},
                               {"attune needle model.stl scan.ply --init last.json --track --json", "the next frame"},
                               {0}},
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
};
