/* attune register: moves a source cloud onto a target cloud. */
#include "cli/register.h"

#include "apps/register/share.h"
#include "base/clock.h"
#include "base/memory.h"
#include "cli/align.h"
#include "cli/kernel.h"

#include <math.h>

/* After each iteration: kept for the report, shown on a terminal, and stopped by Ctrl-C. */
static bool watch(void *user, const atn_register_step *step) {
    atn_cli_register *r = user;
    const atn_ctx *ctx = r->call->ctx;
    if (r->keeps_steps && !r->steps.failed) {
        r->steps.failed =
            atn_grow(ctx, (void **)&r->steps.list, &r->steps.capacity, r->steps.n, sizeof *r->steps.list) != ATN_OK;
        if (!r->steps.failed) r->steps.list[r->steps.n++] = *step;
    }
    if (r->serve)
        atn_serve_event(r->serve, json_pack("{s:i,s:f,s:f,s:f,s:I,s:I}", "iteration", (int)++r->iterations, "rmse",
                                            step->rmse, "sigma", step->sigma, "motion", step->motion, "source",
                                            (json_int_t)step->source, "target", (json_int_t)step->target));
    if (r->n_pairs)
        atn_cli_show_progress(r->call, &(atn_progress){"registering pairs", (int64_t)r->pair - 1, (int64_t)r->n_pairs});
    else /* between the reports before and after, ever more slowly: the number of iterations is unknown */
        atn_cli_show_share(r->call, "registering", 0.75 - 0.35 * exp(-0.05 * step->iteration));
    return !r->steps.failed && atn_check_cancel(ctx) == ATN_OK;
}

/* The devices of --device. */
typedef struct opened {
    atn_device *device[ATN_MOST_DEVICES];
    int32_t count;
} opened;

/* The clouds are read. */
static atn_status register_pair(atn_cli_register *r, const opened *on, const atn_cloud *const used[2],
                                atn_cli_registered *done, const double *truth) {
    atn_cli_call *call = r->call;
    atn_register_result result = {0};
    done->estimated_bytes = atn_register_bytes(on->device[0], &r->settings, atn_cloud_info_of(used[0]).points,
                                               atn_cloud_info_of(used[1]).points);
    atn_ranks *ranks = call->ranks->count > 1 && reg_can_share(&r->settings) ? call->ranks : NULL;
    atn_status status =
        reg_register_ranks(on->device, on->count, used[0], used[1], &r->settings, ranks, NULL, true, &result);
    atn_cli_progress_end(call);
    if (r->steps.failed) return atn_fail_memory(call->ctx, 0, "the steps of the report");
    return status || call->ranks->rank ? status : atn_cli_register_tell(r, done, &result, truth);
}

static atn_status open_device(atn_cli_call *call, atn_device **device) {
    atn_devices *devices = NULL;
    int32_t index = 0;
    atn_status status = atn_cli_pick_device(call, &devices, &index);
    if (!status) status = atn_device_open(devices, index, device);
    atn_devices_free(devices);
    return status;
}

static void close_devices(opened *on) {
    while (on->count) atn_device_close(on->device[--on->count]);
}

static atn_status run_batch(atn_cli_register *r, const char *list) {
    opened on = {.count = 0};
    atn_status status = atn_cli_open_devices(r->call, on.device, &on.count);
    if (!status) status = atn_cli_register_batch(r, on.device, on.count, list);
    close_devices(&on);
    return status;
}

/* Both clouds thinned, with the edge that suits the target unless one was given; then registered. */
static atn_status thin_and_register(atn_cli_register *r, const opened *on, atn_cli_registered *done,
                                    const double *truth) {
    atn_cloud *thin[2] = {NULL, NULL};
    done->voxel = r->voxel;
    atn_cli_show_progress(r->call, &(atn_progress){.doing = "thinning"});
    atn_status status = atn_cli_voxel_solid(done->target, &done->voxel, &thin[1]);
    if (!status) status = atn_cli_voxel_solid(done->source, &done->voxel, &thin[0]);
    for (int k = 0; k < 2 && !status; ++k) done->used[k] = atn_cloud_info_of(thin[k]).points;
    if (!status) status = register_pair(r, on, (const atn_cloud *const[]){thin[0], thin[1]}, done, truth);
    atn_cloud_free(thin[0]);
    atn_cloud_free(thin[1]);
    return status;
}

/* Each rank reads all of both clouds. */
static atn_status run_whole(atn_cli_register *r, const opened *on, const double *truth) {
    atn_cli_call *call = r->call;
    atn_cloud *source = NULL, *target = NULL;
    r->reading.no_properties = !atn_cli_has(call, "output");
    atn_status status = atn_cloud_read(call->ctx, call->operands[0], &r->reading, &source);
    r->reading.no_properties = true;
    if (!status) status = atn_cloud_read(call->ctx, call->operands[1], &r->reading, &target);
    atn_cli_registered done = {
        .source_name = call->operands[0], .target_name = call->operands[1], .source = source, .target = target};
    if (!status && atn_cli_has(call, "voxel"))
        status = thin_and_register(r, on, &done, truth);
    else if (!status)
        status = register_pair(r, on, (const atn_cloud *const[]){source, target}, &done, truth);
    atn_cloud_free(target);
    atn_cloud_free(source);
    return status;
}

/* Ranks may have other files. */
static atn_status decide_together(const atn_cli_register *r, atn_status status, bool *distributes) {
    double all = !status && atn_cli_may_distribute(r);
    if (reg_can_share(&r->settings)) status = atn_ranks_least(r->call->ranks, status, &all, 1);
    *distributes = all > 0;
    return status;
}

static atn_status run_one(atn_cli_register *r) {
    atn_cli_call *call = r->call;
    const char *truth_file = atn_cli_value(call, "truth");
    double truth[16];
    bool done = false, distributes = false;
    opened on = {.count = 0};
    if (call->n_operands < 2) return atn_cli_misuse(call, "needs SOURCE TARGET, or --batch FILE");
    atn_status status = atn_cli_register_check_files(call);
    if (!status && truth_file) status = atn_cli_matrix_read(call->ctx, truth_file, truth);
    atn_cli_show_progress(call, &(atn_progress){.doing = "reading"});
    if (!status) status = atn_cli_open_devices(call, on.device, &on.count);
    r->keeps_steps = atn_cli_has(call, "report");
    const double *known = truth_file ? truth : NULL;
    status = decide_together(r, status, &distributes);
    if (!status && distributes) status = atn_cli_register_distribute(r, on.device[0], known, &done);
    if (!status && !done) status = run_whole(r, &on, known);
    close_devices(&on);
    return status;
}

/* What has no meaning for many pairs. */
static atn_status check_batch(atn_cli_call *call) {
    static const char *const SINGLE[] = {"output", "matrix", "truth"};
    if (call->n_operands)
        return atn_cli_misuse(call, "--batch takes its files from the list, not '%s'", call->operands[0]);
    for (size_t k = 0; k < sizeof SINGLE / sizeof *SINGLE; ++k)
        if (atn_cli_has(call, SINGLE[k]))
            return atn_cli_misuse(
                call, "--%s is for one pair; rows of the list are source,target[,init[,aligned[,matrix]]]", SINGLE[k]);
    return ATN_OK;
}

static atn_status run(atn_cli_call *call) {
    atn_cli_register r = {.call = call};
    const char *list = atn_cli_value(call, "batch");
    atn_status status = list ? check_batch(call) : ATN_OK;
    if (!status) status = atn_cli_register_read(&r);
    if (!status) status = atn_cli_distribute_read(&r);
    if (!status) status = atn_cli_same_wisdom(call);
    r.settings.watch = watch;
    r.settings.watch_user = &r;
    bool many = !list && atn_cli_align_wanted(call);
    if (!status && !list && atn_cli_has(call, "resume")) status = atn_cli_misuse(call, "--resume is for --batch");
    if (!status && !list && call->ranks->rank && (many || !reg_can_share(&r.settings)))
        return ATN_OK; /* the first rank's */
    if (!status && (list || many) && atn_cli_has(call, "serve"))
        status = atn_cli_misuse(call, "--serve is for one pair");
    if (!status && !call->ranks->rank)
        status = atn_serve_open(call, "register", call->n_operands ? call->operands[0] : "", &r.serve);
    if (!status && !list && !many) status = run_one(&r);
    if (!status && list) status = run_batch(&r, list);
    if (!status && many) {
        atn_device *device = NULL;
        status = open_device(call, &device);
        if (!status) status = atn_cli_align_run(&r, device);
        atn_device_close(device);
    }
    atn_cli_progress_end(call);
    atn_serve_close(r.serve);
    atn_free(call->ctx, r.steps.list);
    return status;
}

const atn_cli_verb ATN_VERB_REGISTER = {
    .name = "register",
    .summary = "register point clouds: one to another, or many into a common frame",
    .synopsis = "SOURCE TARGET [MORE...]",
    .paragraphs =
        (const char *const[]){
            "Finds the transform that maps SOURCE onto TARGET, with its uncertainty. Any unit of length works: "
            "defaults are derived from the data. The current pose is tried first; if it does not fit, any rotation and "
            "partial overlap is searched for. --init identity skips the search, for clouds that are roughly aligned. "
            "--init FILE: a 4 x 4 matrix, or JSON with a transform, such as truth.json or earlier output of --json.",
            "Methods: em-icp uses soft correspondences with a decreasing distance scale; icp nearest neighbours, point "
            "to point; icp-plane point to plane; softassign normalises soft correspondences over both clouds; cpd "
            "estimates the distance scale; gicp weights nearest neighbours by the local surfaces of both clouds "
            "(rigid). For file formats see attune info.",
            "The verdict is trusted, doubtful or refused, with a reason. It compares the result with chance: how much "
            "of the overlap lies on the other cloud's surface, given spacing and noise of both; the best alternative "
            "pose; unconstrained (sliding) directions. Doubtful is a warning on standard error, refused is exit status "
            "1; requested files are written in any case.",
            "More than two files, or a folder: multiway registration into the frame of the first scan that matches. "
            "Overlapping pairs are found by their shape and registered (default: gicp); a pose graph is optimised with "
            "their covariances as weights; loops are closed with pairs that the poses predict to overlap. Only trusted "
            "pairs count, with robust weights. A scan that matches no other is left out and named on standard error. "
            "-o writes all of them merged, or one file each into an existing folder; --matrix writes a block for each; "
            "--truth has poses: [{file, transform}]. JSON: scans: [{file, points, dropped, placed, transform (common = "
            "T scan), covariance, edges, reason, truth}], left_out, edges: [{source, target (numbers of scans, from "
            "0), loop, used, verdict, reason, transform, covariance, rmse, overlap, residual_deg, residual, chi2, "
            "weight}], placed, anchor, searched, iterations, spread, seconds, building_seconds, peak_bytes, method, "
            "device.",
            "--batch: rows of a CSV file, source,target[,init[,aligned[,matrix]]], header row optional, paths relative "
            "to the list; init is a file, identity or auto. Each cloud is read once. Results are printed as they are "
            "ready. A pair that fails does not stop the others; the exit status is 1 if any fails. Several devices "
            "share the pairs (--device cuda,host, or all), and so do ranks: mpirun -n N attune register --batch FILE. "
            "Of a single pair, ranks and devices share the long steps; of a large one, ranks share the points: each "
            "reads "
            "a part of both files, a sample that all have is registered, and the last steps are taken over all points "
            "(--distribute; docs/cluster.md). With --resume FILE, "
            "finished pairs "
            "are recorded there, and an interrupted run continues when the command is repeated.",
            "JSON: transform (4 x 4, row-major, target = T source), rmse (of inlier pairs), overlap (fraction of "
            "source points that have one), iterations, pairs, evaluated_pairs, seconds, building_seconds, gpts, "
            "peak_bytes, converged, verdict, reason, overlap_source, overlap_target, agreement, runner_up, "
            "alternatives (4 x 4 each), sliding, covariance (6 x 6: rotation vector in radians, then translation, left "
            "perturbation; or null), covariance_reason (why it is missing), device, variant, scale, inlier_distance, "
            "error_bound, sigma_end, estimated_bytes, method, source and target (file, points, dropped; used and "
            "voxel, the edge, with --voxel); distributed (ranks, samples, used, edge, refined) where points were "
            "distributed over ranks; profile (name, calls, seconds) with --profile, truth (rotation_deg, "
            "translation, rms) with --truth. With --batch: results, each with these and error (null, or the reason).",
            NULL},
    .options = ATN_CLI_REGISTER_OPTIONS,
    .examples =
        (const atn_cli_pair[]){
            {"attune register scan1.ply scan2.ply -o aligned.ply", "unknown pose"},
            {"attune register scan1.ply scan2.ply --init identity --report r.html", "roughly aligned, with a report"},
            {"attune register a.pcd b.pcd --method icp-plane --init T.txt --matrix T2.txt", "refine a known pose"},
            {"attune register scans -o all.ply --report r.html", "all scans of a folder into one frame"},
            {"attune register --batch pairs.csv --json", "many pairs, for a script"},
            {0}},
    .min_operands = 0,
    .max_operands = 100000,
    .ranks = true,
    .run = run,
};
