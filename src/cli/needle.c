/* attune needle: the pose of a needle's model in a scan. */
#include "cli/needle.h"
#include "base/number.h"
#include "cli/kernel.h"
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
    if (!(number[2] > 0)) return atn_cli_misuse(call, "--%s %s: the step is above 0", name, text);
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
    if (!status && view->level >= 1)
        status = atn_cli_misuse(call, "--level is below 1: nothing is brighter than white");
    return status;
}

/* ---- the verb ---- */

/* SCAN as a volume: a folder, a TIFF, or raw pixels whose shape is given; else it is a cloud. */
static bool is_volume(atn_cli_call *call, const char *path) {
    struct stat about;
    return atn_cli_value(call, "shape") || source_has_ending(path, "tif") || source_has_ending(path, "tiff") ||
           (stat(path, &about) == 0 && S_ISDIR(about.st_mode));
}

static atn_status find(const needle_job *job, atn_needle_result *result) {
    atn_cli_call *call = job->call;
    atn_volume *volume = NULL;
    atn_status status = atn_volume_read(call->ctx, call->operands[1], &job->volume, &volume);
    atn_cli_progress(call, "matching ...");
    if (!status) status = atn_needle_find(job->needle, volume, &job->view, &job->settings, result);
    if (!status && atn_cli_value(call, "report"))
        status = atn_cli_needle_report(job, volume, NULL, result, atn_cli_value(call, "report"));
    atn_volume_free(volume);
    return status;
}

static atn_status match(const needle_job *job, atn_needle_result *result) {
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

atn_status atn_cli_needle_prepare(needle_job *job) {
    atn_cli_call *call = job->call;
    atn_cloud *model = NULL;
    atn_cli_progress(call, "reading ...");
    atn_status status = atn_needle_model(call->ctx, call->operands[0], &model);
    if (!status) status = atn_needle_create(job->device, model, &job->options, &job->needle);
    atn_cli_progress_end(call);
    atn_cloud_free(model);
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
        status = atn_cli_needle_text(call, &result);
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
        status = atn_cli_misuse(call, "--report does not go with --stream");
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
    .summary = "find a needle's pose in a scan",
    .synopsis = "MODEL SCAN",
    .paragraphs =
        (const char *const[]){
            "Finds where MODEL (a mesh, or a cloud, z along the needle) lies in SCAN: a folder of B-scans (PNG, BMP, "
            "TIFF), a TIFF with pages, raw pixels (--shape), or a cloud. Rolls about the needle and shifts along it "
            "are "
            "tried from a start, all of a round at once; scan points with a model point nearer than the threshold are "
            "counted; the best is looked at more closely in the next round and refined at the end.",
            "From B-scans the start is found: bright pixels, the surface that the beam meets first, the line through "
            "the centres of arcs, the roll over a whole turn, and the tip. x is along columns, y down the rows, z "
            "across scans. volume.json in the folder, or --spacing, says how far pixels are apart, in the model's "
            "unit.",
            "--init is where it starts: 4 x 4 numbers, or JSON with a transform; its z axis lies along the needle. It "
            "spares B-scans the search. A cloud without it is taken to lie along z where it is. Both clouds go through "
            "a voxel filter as wide as the threshold.",
            "Where the needle is not found, or its tip is not in the scans, the exit status is 1 and the reason stands "
            "on standard error. Another needle in the scans, or a roll that they do not tell, is a note.",
            "--stream looks for the needle in frame after frame, each a whole volume: the entries of SCAN, a folder "
            "that "
            "is being filled (sub-folders of B-scans, TIFFs with pages, raw files with --shape), or raw 8-bit volumes "
            "from standard input (SCAN is -; --shape and --spacing). One is read while the last one is matched; after "
            "a "
            "pose was found the next frame starts from it. It ends with an entry 'end', --frames, --idle or Ctrl-C; a "
            "line for each frame, a summary at the end. The exit status is 1 where a frame could not be read.",
            "JSON: found, reason, transform (4 x 4, row-major, scan = T model; null where nothing was matched), tip "
            "(where it is in the scan, or null), roll_deg, shift (from the start; from B-scans the roll from the "
            "model's y along the scan's, and the tip's z), matches, scan_points, model_points, rounds (roll_deg, "
            "shift, "
            "matches, combinations), runner_up (most matches far from the first round's winner), roll_observable, "
            "covariance (6 x 6: rotation vector in radians, then translation, left perturbation; or null), rmse, "
            "free_share (of the model in view, what would lie where the scans are empty), level (pixels above it are "
            "bright), surface_points, centres (scans that gave one on the axis), seconds (segment, axis, match, total; "
            "the first two are 0 for clouds). Of a stream: an "
            "object in each line (frame, name, found, reason, transform, tip, roll_deg, shift, matches, scan_points, "
            "roll_observable, tracked, latency_s, seconds with read; or frame, name, error; or frame, name, dropped), "
            "and in the last summary: frames (that were looked at), found, failed, dropped, fps, seconds, latency_s "
            "(p50, p95, p99, max), reason.",
            NULL},
    .options =
        (const atn_cli_option[]){
            {.name = "init", .value = "FILE", .meaning = "where to start: a transform, scan = T model"},
            {.name = "axis", .value = "X,Y,Z", .meaning = "direction of the shift; the start's z axis unless given"},
            {.name = "roll", .value = "LO,HI,STEP", .meaning = "degrees; -5,5,1 unless given"},
            {.name = "shift",
             .value = "LO,HI,STEP",
             .meaning = "along the scan's z; 0,0.5,0.05 unless given, from B-scans -0.25,0.25,0.05"},
            {.name = "threshold", .value = "D", .meaning = "partners are nearer than that; 0.02 unless given"},
            {.name = "rounds", .value = "N", .meaning = "4 unless given; steps become 5 times smaller each"},
            {.name = "marginal", .meaning = "the winner as published: best roll and best shift, each on its own"},
            {.name = "brute", .meaning = "all pairs instead of the lookup volume; the same counts"},
            {.name = "count", .value = "scan|model", .meaning = "whose points are counted; scan unless given"},
            {.name = "level", .value = "F", .meaning = "bright is above that share of white; found unless given"},
            {.name = "spacing",
             .value = "DX,DY,DZ",
             .meaning = "between columns, rows, scans; volume.json unless given"},
            {.name = "shape", .value = "SxRxC", .meaning = "SCAN is raw pixels of that many scans, rows, columns"},
            {.name = "track", .meaning = "the start is nearly right: small intervals, fewer combinations"},
            {.name = "report", .value = "FILE.html", .meaning = "a page with the needle in its volume, and slices"},
            {.name = "stream", .meaning = "frames as they come"},
            {.name = "latest", .meaning = "stream: a frame that waits while a newer one is there is dropped"},
            ATN_SERVE_OPTION,
            {.name = "frames", .value = "N", .meaning = "stream: ends after so many"},
            {.name = "idle", .value = "S", .meaning = "stream: ends when nothing came for so many seconds"},
            {.name = "patience",
             .value = "S",
             .meaning = "stream: what cannot be read is given up when it was the same for so long; 1 unless given"},
            {0}},
    .examples =
        (const atn_cli_pair[]){{"attune needle model.stl scans/ --json", "the pose in a folder of B-scans"},
                               {"attune needle model.stl scan.ply --init start.txt", "from a start that is known"},
                               {"attune needle model.stl scan.ply --init last.json --track --json", "the next frame"},
                               {"attune needle model.stl incoming/ --stream --json", "live"},
                               {0}},
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
};
