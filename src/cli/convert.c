/* attune convert: point clouds from files to a file: merged, cropped, cleaned, downsampled, with normals, moved. */
#include "cli/convert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/matrix.h"
#include "cli/register.h"
#include "cloud/cloud.h"

#include <math.h>
#include <string.h>

enum { MOST_NUMBERS = 6 };

/* What is asked for, read before any file. */
typedef struct plan {
    double box[6];
    double edge; /* 0: from the data */
    int32_t neighbours, normals;
    double deviations;
    double viewpoint[3];
    double transform[16];
} plan;

typedef struct work {
    atn_cli_call *call;
    plan plan;
    atn_cloud *cloud;     /* owned: what has become of them so far */
    size_t read, dropped; /* points */
    json_t *steps;        /* what was done, with the points left */
} work;

/* ---- options ---- */

/* Numbers apart by commas; how many, 0: something else. */
static size_t read_numbers(const char *text, double *out, size_t most) {
    size_t count = 0;
    for (;;) {
        char *end;
        if (count == most) return 0;
        out[count] = atn_number_read(text, &end);
        if (end == text || !isfinite(out[count])) return 0;
        ++count;
        if (!*end) return count;
        if (*end != ',') return 0;
        text = end + 1;
    }
}

static bool is_whole(double number, double least, double most) {
    return number == floor(number) && number >= least && number <= most;
}

static atn_status read_plan(atn_cli_call *call, plan *p) {
    const char *crop = atn_cli_value(call, "crop"), *outliers = atn_cli_value(call, "outliers");
    const char *normals = atn_cli_value(call, "normals"), *view = atn_cli_value(call, "viewpoint");
    const char *matrix = atn_cli_value(call, "transform");
    double n[MOST_NUMBERS];
    size_t count = 0;
    if (crop &&
        (read_numbers(crop, p->box, 6) != 6 || p->box[0] > p->box[3] || p->box[1] > p->box[4] || p->box[2] > p->box[5]))
        return atn_cli_misuse(call,
                              "--crop cannot be '%s'; it takes six numbers, the lower corner first: "
                              "x0,y0,z0,x1,y1,z1",
                              crop);
    if (outliers && strcmp(outliers, "auto") != 0) {
        count = read_numbers(outliers, n, 2);
        if (count == 0 || !is_whole(n[0], 1, 1000) || (count == 2 && !(n[1] > 0)))
            return atn_cli_misuse(call,
                                  "--outliers cannot be '%s'; it takes auto, or neighbours (1 to 1000) and "
                                  "deviations (above 0): 20,2",
                                  outliers);
        p->neighbours = (int32_t)n[0];
        p->deviations = count == 2 ? n[1] : 0;
    }
    if (normals && strcmp(normals, "auto") != 0) {
        if (read_numbers(normals, n, 1) != 1 || !is_whole(n[0], 3, 1000))
            return atn_cli_misuse(call, "--normals cannot be '%s'; it takes auto, or neighbours (3 to 1000)", normals);
        p->normals = (int32_t)n[0];
    }
    if (view && read_numbers(view, p->viewpoint, 3) != 3)
        return atn_cli_misuse(call, "--viewpoint cannot be '%s'; it takes x,y,z", view);
    atn_status status = atn_cli_voxel_read(call, &p->edge);
    return !status && matrix ? atn_cli_matrix_read(call->ctx, matrix, p->transform) : status;
}

/* ---- steps, in the order in which they are done ---- */

static atn_status crop(work *w, atn_cloud **out) {
    return atn_cloud_cropped(w->cloud, w->plan.box, w->plan.box + 3, out);
}

static atn_status leave_outliers(work *w, atn_cloud **out) {
    return atn_cloud_without_outliers(w->cloud, w->plan.neighbours, w->plan.deviations, out);
}

static atn_status thin(work *w, atn_cloud **out) { return atn_cli_voxel(w->cloud, &w->plan.edge, out); }

static atn_status add_normals(work *w, atn_cloud **out) {
    const double *view = atn_cli_has(w->call, "viewpoint") ? w->plan.viewpoint : NULL;
    return atn_cloud_with_normals(w->cloud, w->plan.normals, view, out);
}

static atn_status move(work *w, atn_cloud **out) { return atn_cloud_moved(w->cloud, w->plan.transform, out); }

static const struct {
    const char *option;
    atn_status (*run)(work *w, atn_cloud **out);
} STEPS[] = {
    {"crop", crop}, {"outliers", leave_outliers}, {"voxel", thin}, {"normals", add_normals}, {"transform", move}};

static atn_status run_steps(work *w) {
    atn_status status = ATN_OK;
    double done = 0, all = 1; /* writing is one */
    for (size_t k = 0; k < sizeof STEPS / sizeof *STEPS; ++k) all += atn_cli_has(w->call, STEPS[k].option);
    for (size_t k = 0; k < sizeof STEPS / sizeof *STEPS && !status; ++k) {
        if (!atn_cli_has(w->call, STEPS[k].option)) continue;
        atn_cloud *made = NULL;
        atn_cli_show_share(w->call, "converting", done++ / all);
        status = STEPS[k].run(w, &made);
        if (status) break;
        atn_cloud_free(w->cloud);
        w->cloud = made;
        json_t *step = json_object();
        json_object_set_new(step, "step", json_string(STEPS[k].option));
        json_object_set_new(step, "points", json_integer((json_int_t)made->count));
        if (STEPS[k].run == thin) json_object_set_new(step, "edge", json_real(w->plan.edge));
        json_array_append_new(w->steps, step);
    }
    return status;
}

/* ---- files ---- */

static atn_status read_all(work *w, size_t n, const char *const *paths) {
    const atn_ctx *ctx = w->call->ctx;
    atn_cloud_settings options = {.invalid =
                                      atn_cli_has(w->call, "drop-invalid") ? ATN_INVALID_DROP : ATN_INVALID_REFUSE};
    atn_cloud **clouds = atn_zalloc(ctx, n * sizeof *clouds);
    atn_status status = clouds ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < n && !status; ++k) {
        status = atn_cloud_read(w->call->ctx, paths[k], &options, &clouds[k]);
        if (status) break;
        atn_cloud_info info = atn_cloud_info_of(clouds[k]);
        w->read += info.points + info.nan + info.inf;
        w->dropped += info.nan + info.inf;
    }
    if (!status && n > 1) status = atn_cloud_merged((const atn_cloud *const *)clouds, n, &w->cloud);
    if (!status && n == 1) {
        w->cloud = clouds[0];
        clouds[0] = NULL;
    }
    for (size_t k = 0; k < n && clouds; ++k) atn_cloud_free(clouds[k]);
    atn_free(ctx, clouds);
    return status;
}

static atn_status print(work *w, const char *path, double seconds) {
    atn_cli_call *call = w->call;
    if (call->json) {
        json_t *root = json_object();
        json_object_set_new(root, "file", atn_cli_json_text(call->ctx, path));
        json_object_set_new(root, "read", json_integer((json_int_t)w->read));
        json_object_set_new(root, "dropped", json_integer((json_int_t)w->dropped));
        json_object_set_new(root, "steps", json_incref(w->steps));
        json_object_set_new(root, "points", json_integer((json_int_t)w->cloud->count));
        json_object_set_new(root, "seconds", json_real(seconds));
        return atn_cli_print_json(call, root);
    }
    atn_text page = {.ctx = call->ctx};
    char dropped[48] = "";
    if (w->dropped) snprintf(dropped, sizeof dropped, ", %zu of them invalid", w->dropped);
    atn_text_printf(&page, "%-10s %zu points%s\n", "read", w->read, dropped);
    size_t k;
    json_t *step;
    json_array_foreach(w->steps, k, step) {
        atn_text_printf(&page, "%-10s %lld points", json_string_value(json_object_get(step, "step")),
                        (long long)json_integer_value(json_object_get(step, "points")));
        const json_t *edge = json_object_get(step, "edge");
        if (edge) atn_text_printf(&page, ", edge %.6g", json_real_value(edge));
        atn_text_add(&page, "\n");
    }
    atn_text_printf(&page, "%-10s %s, %zu points, %.3g s\n", "written", path, w->cloud->count, seconds);
    atn_status status = atn_cli_print_text(call, "convert", &page);
    atn_text_free(&page);
    return status;
}

static atn_status run(atn_cli_call *call) {
    work w = {.call = call};
    const char *to = call->operands[call->n_operands - 1];
    double start = atn_clock_seconds();
    if (source_has_ending(to, "vti")) return atn_cli_convert_volume(call);
    atn_status status = atn_cli_register_check_output(call, NULL, 0, to);
    if (!status) status = read_plan(call, &w.plan);
    if (status) return status;
    w.steps = json_array();
    status = read_all(&w, call->n_operands - 1, call->operands);
    if (!status) status = run_steps(&w);
    if (!status && w.cloud->count == 0) status = atn_fail(call->ctx, ATN_ERR_INPUT, "no points are left for %s", to);
    if (!status) status = atn_check_cancel(call->ctx);
    if (!status) status = atn_cli_register_write(call, w.cloud, to);
    atn_cli_progress_end(call);
    if (!status) status = print(&w, to, atn_clock_seconds() - start);
    json_decref(w.steps);
    atn_cloud_free(w.cloud);
    return status;
}

const atn_cli_verb ATN_VERB_CONVERT = {
    .name = "convert",
    .summary = "convert, merge, filter and move point clouds; volumes to VTK",
    .synopsis = "IN... OUT",
    .paragraphs =
        (const char *const[]){
            "Reads one or several files, which are merged, and writes OUT in the format of its extension: "
            "@WRITTEN@ (vtp: VTK XML). Steps are always done in this order: crop, outliers, "
            "voxel, normals, transform.",
            "Colours, labels and other properties are kept, as are faces of meshes whose corners remain; data that "
            "OUT's format cannot hold is named on standard error. When merging, properties that all inputs have are "
            "kept.",
            "A volume (a folder of scans, a multi-page TIFF) becomes OUT.vti, VTK XML for ParaView. JSON of it: file, "
            "shape (scans, rows, columns), bits, seconds.",
            "JSON: file, read (points of all inputs), dropped (invalid ones), steps: [{step, points (left), edge (of "
            "voxel)}], points, seconds.",
            NULL},
    .options =
        (const atn_cli_option[]){
            ATN_OPTION("crop", "BOX", "keep points in x0,y0,z0,x1,y1,z1"),
            ATN_OPTION(
                "outliers", "K,D|auto",
                "drop points whose mean distance to K neighbours is D standard deviations above the mean; auto: 20,2"),
            ATN_OPTION("voxel", "SIZE|auto",
                       "voxel filter with this edge length; auto: twice the median point spacing"),
            ATN_OPTION("normals", "K|auto", "estimate normals from K neighbours; auto: 20"),
            ATN_OPTION("viewpoint", "X,Y,Z", "orient normals towards it; default: away from the centroid",
                       .with = "normals"),
            ATN_OPTION("transform", "FILE", "apply a transform: a 4 x 4 matrix, or JSON with a transform"),
            ATN_FLAG("drop-invalid", "drop points with NaN or infinity instead of refusing the file"),
            {0}},
    .examples = (const atn_cli_pair[]){{"attune convert scan.pcd scan.ply", "another format"},
                                       {"attune convert a.ply b.ply both.ply --voxel auto", "merged and thinned"},
                                       {"attune convert scan.ply clean.ply --outliers auto --normals auto",
                                        "cleaned, with normals"},
                                       {"attune convert scan.ply moved.ply --transform T.txt", "moved"},
                                       {0}},
    .min_operands = 2,
    .max_operands = 100000,
    .run = run,
};
