/* attune needle: the pose of a needle's model in a scan. */
#include "cli/needle.h"
#include "base/number.h"
#include "cli/kernel.h"
#include "cli/live.h"
#include "cli/matrix.h"
#include "cli/serve.h"
#include "cloud/source.h"

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
    if (!(number[2] > 0)) return atn_cli_misuse(call, "--%s %s: the step must be above 0", name, text);
    if (number[1] < number[0]) return atn_cli_misuse(call, "--%s %s: the interval is empty", name, text);
    *out = (atn_needle_interval){number[0], number[1], number[2]};
    return ATN_OK;
}

static atn_status read_settings(atn_cli_call *call, atn_needle_settings *o, atn_needle_match_settings *s) {
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

/* SCANSxROWSxCOLUMNS. */
static atn_status read_shape(atn_cli_call *call, int64_t shape[3]) {
    const char *text = atn_cli_value(call, "shape");
    long long number[3];
    int end = 0;
    if (!text) return ATN_OK;
    if (sscanf(text, "%lldx%lldx%lld%n", &number[0], &number[1], &number[2], &end) != 3 || text[end] || number[0] < 1 ||
        number[1] < 1 || number[2] < 1)
        return atn_cli_misuse(call, "--shape cannot be '%s'; it takes SCANSxROWSxCOLUMNS", text);
    for (int k = 0; k < 3; ++k) shape[k] = number[k];
    return ATN_OK;
}

static atn_status read_view(atn_cli_call *call, atn_volume_settings *options, atn_needle_view *view) {
    const char *spacing = atn_cli_value(call, "spacing");
    atn_status status = read_shape(call, options->shape);
    if (!status && spacing &&
        (!read_list(spacing, 3, view->spacing) ||
         !(view->spacing[0] > 0 && view->spacing[1] > 0 && view->spacing[2] > 0)))
        status = atn_cli_misuse(call, "--spacing cannot be '%s'; it takes DX,DY,DZ above 0", spacing);
    if (!status) status = atn_cli_read_number(call, "level", 0, 1, 0, &view->level);
    if (!status && view->level >= 1) status = atn_cli_misuse(call, "--level must be below 1, which is white");
    return status;
}

/* ---- the verb ---- */

/* SCAN as a volume: a folder, a TIFF, or raw pixels whose shape is given; else it is a cloud. */
static bool is_volume(atn_cli_call *call, const char *path) {
    struct stat about;
    return atn_cli_value(call, "shape") || source_has_ending(path, "tif") || source_has_ending(path, "tiff") ||
           (stat(path, &about) == 0 && S_ISDIR(about.st_mode));
}

/* The unit of volume.json holds where its spacing does. */
static void note_unit(needle_job *job, const atn_volume *volume) {
    const char *unit = job->view.spacing[0] > 0 ? "" : atn_volume_info_of(volume).unit;
    snprintf(job->unit, sizeof job->unit, "%s%s", *unit ? " " : "", unit);
}

static atn_status find(needle_job *job, atn_needle_result *result) {
    atn_cli_call *call = job->call;
    atn_volume *volume = NULL;
    atn_status status = atn_volume_read(call->ctx, call->operands[1], &job->volume, &volume);
    atn_cli_progress(call, "matching ...");
    if (!status) note_unit(job, volume);
    if (!status) status = atn_needle_find(job->needle, volume, &job->view, &job->settings, result);
    if (!status && atn_cli_value(call, "report"))
        status = atn_cli_needle_report(job, volume, NULL, result, atn_cli_value(call, "report"));
    atn_volume_free(volume);
    return status;
}

static atn_status match(needle_job *job, atn_needle_result *result) {
    atn_cli_call *call = job->call;
    atn_cloud *scan = NULL;
    atn_status status = atn_cloud_read(call->ctx, call->operands[1], NULL, &scan);
    atn_cli_progress(call, "matching ...");
    if (!status) status = atn_needle_match(job->needle, scan, &job->settings, result);
    if (!status && atn_cli_value(call, "report"))
        status = atn_cli_needle_report(job, NULL, scan, result, atn_cli_value(call, "report"));
    atn_cloud_free(scan);
    return status;
}

static atn_status look_once(needle_job *job) {
    atn_cli_call *call = job->call;
    atn_needle_result result = {0};
    atn_status status = atn_cli_needle_prepare(job);
    if (!status) status = (is_volume(call, call->operands[1]) ? find : match)(job, &result);
    atn_cli_progress_end(call);
    if (status) return status;
    if (call->json)
        status = atn_cli_print_json(call, atn_cli_needle_json(call, &result));
    else
        status = atn_cli_needle_text(job, &result);
    if (!status && !result.found) status = atn_fail(call->ctx, ATN_ERR_INPUT, "not found: %s", result.reason);
    return status;
}

static atn_status run(atn_cli_call *call) {
    needle_job job = {.call = call};
    atn_devices *devices = NULL;
    int32_t index;
    atn_status status = read_settings(call, &job.options, &job.settings);
    if (!status) status = read_view(call, &job.volume, &job.view);
    if (!status && atn_cli_has(call, "serve") && !atn_cli_has(call, "stream"))
        status = atn_cli_misuse(call, "--serve is for --stream; --report makes a page of one scan");
    if (!status && atn_cli_has(call, "stream") && atn_cli_has(call, "report"))
        status = atn_cli_misuse(call, "--report cannot be combined with --stream");
    if (!status) status = atn_cli_check_report(call);
    if (!status) status = atn_cli_pick_device(call, &devices, &index);
    if (!status) {
        status = atn_device_open(devices, index, &job.device);
        if (!status) status = atn_cli_has(call, "stream") ? atn_cli_needle_stream(&job) : look_once(&job);
        atn_needle_free(job.needle);
        atn_device_close(job.device);
        atn_devices_free(devices);
    }
    return status;
}

const atn_cli_verb ATN_VERB_NEEDLE = {
    .name = "needle",
    .summary = "find the pose of a needle in a scan",
    .synopsis = "MODEL SCAN",
    .paragraphs =
        (const char *const[]){
            "Finds the pose of MODEL (a mesh or a point cloud, z along the needle) in SCAN: a folder of B-scans (PNG, "
            "BMP, TIFF), a multi-page TIFF, raw pixels (--shape), or a point cloud. From an initial pose, rolls about "
            "the needle and shifts along it are tried, all of a round at once; scan points with a model point within "
            "the threshold are counted; the next round searches around the best one, which is refined at the end.",
            "For B-scans the initial pose is found automatically: bright pixels, the first surface along the beam, the "
            "line through the centres of arcs, the roll over 360 degrees, and the tip. x is along columns, y down the "
            "rows, z across scans. The pixel spacing, in the model's unit, comes from volume.json in the folder or "
            "from --spacing.",
            "--init is the initial pose: a 4 x 4 matrix, or JSON with a transform, z axis along the needle. With it "
            "B-scans are not searched. Without it a point cloud is assumed to be aligned with z. Model and scan are "
            "voxel-filtered at the size of the threshold.",
            "If the needle is not found, or its tip is outside the scans, the exit status is 1 and the reason is on "
            "standard error. A second needle, or a roll that is not observable, is a note.",
            "--stream tracks the needle through frames, each a whole volume: the entries of SCAN, a folder that is "
            "being filled (sub-folders of B-scans, multi-page TIFFs, raw files with --shape), or raw 8-bit volumes "
            "from standard input (SCAN is -; --shape and --spacing). Each frame is read while the previous one is "
            "matched, and starts from the last pose found. It ends with an entry 'end', --frames, --idle or Ctrl-C; a "
            "line for each frame, a summary at the end. The exit status is 1 if a frame could not be read.",
            "JSON: found, reason, transform (4 x 4, row-major, scan = T model; null if there is no match), tip "
            "(position in the scan, or null), roll_deg, shift (from the start; from B-scans the roll from the model's "
            "y along the scan's, and the tip's z), matches, scan_points, model_points, rounds (roll_deg, shift, "
            "matches, combinations), runner_up (most matches away from the best of the first round), roll_observable, "
            "covariance (6 x 6: rotation vector in radians, then translation, left perturbation; or null), rmse, "
            "free_share (fraction of the visible model in free space), level (brightness threshold), surface_points, "
            "centres (B-scans with a centre on the axis), seconds (segment, axis, match, total; the first two are 0 "
            "for clouds). Of a stream: an object in each line (frame, name, found, reason, transform, tip, roll_deg, "
            "shift, matches, scan_points, roll_observable, tracked, latency_s, seconds with read; or frame, name, "
            "error; or frame, name, dropped), and in the last summary: frames (processed), found, failed, dropped, "
            "fps, seconds, latency_s (p50, p95, p99, max), reason.",
            NULL},
    .options =
        (const atn_cli_option[]){
            ATN_OPTION("init", "FILE", "initial pose: a transform, scan = T model"),
            ATN_OPTION("axis", "X,Y,Z", "direction of the shift; default: z axis of the initial pose"),
            ATN_OPTION("roll", "LO,HI,STEP", "degrees; default: -5,5,1"),
            ATN_OPTION("shift", "LO,HI,STEP", "along the scan's z; default: 0,0.5,0.05, for B-scans -0.25,0.25,0.05"),
            ATN_OPTION("threshold", "D", "largest distance of partners; default: 0.02"),
            ATN_OPTION("rounds", "N", "steps become 5 times smaller in each; default: 4"),
            ATN_FLAG("marginal", "choose as published: best roll and best shift separately"),
            ATN_FLAG("brute", "evaluate all pairs instead of the lookup volume; same counts"),
            ATN_OPTION("count", "scan|model", "which points are counted; default: scan"),
            ATN_OPTION("level", "F", "brightness threshold as a fraction of white; default: automatic"),
            ATN_OPTION("spacing", "DX,DY,DZ", "between columns, rows, scans; default: from volume.json"),
            ATN_OPTION("shape", "SxRxC", "SCAN is raw pixels: scans, rows, columns"),
            ATN_FLAG("track", "the initial pose is close: small intervals, fewer combinations"),
            ATN_OPTION("report", "FILE.html", "a page with the needle in its volume, and slices"),
            ATN_FLAG("stream", "process frames as they arrive"),
            ATN_FLAG("latest", "stream: drop frames that wait while a newer one is available", .with = "stream"),
            ATN_SERVE_OPTION,
            ATN_OPTION("frames", "N", "stream: stop after N frames", .with = "stream"),
            ATN_OPTION("idle", "S", "stream: stop if nothing arrives for S seconds", .with = "stream"),
            ATN_OPTION("patience", "S",
                       "stream: give up on an unreadable entry after it has not changed for S seconds; default: 1",
                       .with = "stream"),
            {0}},
    .examples =
        (const atn_cli_pair[]){{"attune needle model.stl scans/ --json", "the pose in a folder of B-scans"},
                               {"attune needle model.stl scan.ply --init start.txt", "from a known initial pose"},
                               {"attune needle model.stl scan.ply --init last.json --track --json", "the next frame"},
                               {"attune needle model.stl incoming/ --stream --json", "live"},
                               {0}},
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
};
