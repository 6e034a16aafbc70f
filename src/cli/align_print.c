/* The output of attune register for many scans: tables for people, one JSON object for programs. */
#include "cli/align.h"

#include <math.h>
#include <string.h>

const char *atn_cli_align_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static const double DEGREES = 57.29577951308232;
const char ATN_CLI_ALIGN_SCANS[] = "lrrrrrl", ATN_CLI_ALIGN_EDGES[] = "lllrrrrrrl";

/* ---- rows for people ---- */

/* v about the scan's centre is v + w x c: C's lower right block carried there. */
void atn_cli_align_sure(const atn_cli_align *a, size_t scan, double *degrees, double *place) {
    const atn_align_scan *s = a->result.scan[scan];
    const double *c = s->covariance, *t = s->transform;
    atn_cloud_info info = atn_cloud_info_of(a->clouds[scan]);
    double centre[3], variance = 0;
    for (int i = 0; i < 3; ++i) {
        centre[i] = t[4 * i + 3];
        for (int k = 0; k < 3; ++k) centre[i] += t[4 * i + k] * (info.low[k] + info.high[k]) / 2;
    }
    const double cross[9] = {0, centre[2], -centre[1], -centre[2], 0, centre[0], centre[1], -centre[0], 0};
    for (int i = 0; i < 3; ++i) {
        variance += c[7 * (i + 3)];
        for (int k = 0; k < 3; ++k) {
            variance += 2 * cross[3 * i + k] * c[6 * k + i + 3];
            for (int n = 0; n < 3; ++n) variance += cross[3 * i + k] * cross[3 * i + n] * c[6 * k + n];
        }
    }
    *degrees = DEGREES * sqrt(fmax(0, c[0] + c[7] + c[14]));
    *place = sqrt(fmax(0, variance));
}

void atn_cli_align_scans(const atn_cli_align *a, atn_text *rows) {
    atn_text_add(rows, "scan\tpoints\tedges\tσ rotation, °\tσ translation\terror, °\t\t\n");
    for (size_t k = 0; k < a->count; ++k) {
        const atn_align_scan *s = a->result.scan[k];
        double degrees, place;
        atn_cli_align_sure(a, k, &degrees, &place);
        atn_cli_add_cell(rows, atn_cli_align_name(a->paths[k]));
        atn_text_printf(rows, "%zu\t%zu\t", atn_cloud_info_of(a->clouds[k]).points, s->edges);
        if (s->placed && k != a->result.anchor)
            atn_text_printf(rows, "%.2g\t%.2g\t", degrees, place);
        else
            atn_text_add(rows, "\t\t");
        if (s->placed && a->apart && a->has_truth[k])
            atn_text_printf(rows, "%.4f\t", a->apart[k].rotation_deg);
        else
            atn_text_add(rows, "\t");
        char note[256];
        snprintf(note, sizeof note, "%s%s",
                 s->placed ? k == a->result.anchor ? "the frame" : "" : "left out: ", s->reason);
        atn_cli_add_cell(rows, note);
        atn_text_add(rows, "\n");
    }
}

void atn_cli_align_edges(const atn_cli_align *a, atn_text *rows) {
    atn_text_add(rows, "source\ttarget\tkind\toverlap\trmse\tresidual, °\tresidual\tchi2\tweight\tverdict\t\n");
    for (size_t k = 0; k < a->result.edges; ++k) {
        const atn_align_edge *e = a->result.edge[k];
        char verdict[256];
        atn_cli_add_cell(rows, atn_cli_align_name(a->paths[e->source]));
        atn_cli_add_cell(rows, atn_cli_align_name(a->paths[e->target]));
        atn_text_printf(rows, "%s\t%.1f %%\t%.4g\t", e->loop ? "loop" : "found", 100 * e->overlap, e->rmse);
        if (e->chi2 > 0 || e->used)
            atn_text_printf(rows, "%.4f\t%.2g\t%.1f\t%.2f\t", e->residual_deg, e->residual, e->chi2, e->weight);
        else
            atn_text_add(rows, "\t\t\t\t");
        snprintf(verdict, sizeof verdict, "%s%s%s%s", atn_verdict_name(e->verdict),
                 e->verdict == ATN_VERDICT_TRUSTED ? "" : ": ", e->verdict == ATN_VERDICT_TRUSTED ? "" : e->reason,
                 e->verdict == ATN_VERDICT_TRUSTED && !e->used ? ", but others contradict it" : "");
        atn_cli_add_cell(rows, verdict);
        atn_text_add(rows, "\n");
    }
}

static size_t used_edges(const atn_cli_align *a) {
    size_t used = 0;
    for (size_t k = 0; k < a->result.edges; ++k) used += a->result.edge[k]->used;
    return used;
}

static atn_status print_text(const atn_cli_align *a) {
    const atn_align_result *x = &a->result;
    atn_cli_call *call = a->r->call;
    atn_text page = {.ctx = call->ctx}, rows = {.ctx = call->ctx};
    atn_cli_align_scans(a, &rows);
    atn_cli_add_table(&page, atn_text_str(&rows), ATN_CLI_ALIGN_SCANS);
    atn_text_printf(&page, "\nplaced      %zu of %zu scans%s%s\n", x->placed, a->count,
                    x->placed ? ", in the frame of " : "", x->placed ? atn_cli_align_name(a->paths[x->anchor]) : "");
    atn_text_printf(&page, "edges       %zu used of %zu registered; %zu pairs searched\n", used_edges(a), x->edges,
                    x->searched);
    atn_text_printf(&page, "graph       %d iterations; residuals are %.2g times what covariances predict\n",
                    (int)x->iterations, x->spread);
    if (a->voxel > 0) atn_text_printf(&page, "voxel       %.6g\n", a->voxel);
    if (a->apart) {
        double worst = -1;
        for (size_t k = 0; k < a->count; ++k)
            if (a->has_truth[k]) worst = fmax(worst, a->apart[k].rotation_deg);
        if (worst >= 0) atn_text_printf(&page, "error       at most %.4f° from the truth\n", worst);
    }
    atn_text_printf(&page, "time        %.3g s\n", x->seconds);
    if (x->building_seconds > 0.1)
        atn_text_printf(&page, "kernels     compiled in %.2g s, first run only\n", x->building_seconds);
    atn_text_printf(&page, "device      %s\n", x->device);
    if (rows.failed) page.failed = true;
    atn_status status = atn_cli_print_text(call, "register", &page);
    atn_text_free(&rows);
    atn_text_free(&page);
    return status;
}

/* ---- for programs ---- */

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *apart_json(const atn_cli_apart *apart) {
    json_t *object = json_object();
    json_object_set_new(object, "rotation_deg", number(apart->rotation_deg));
    json_object_set_new(object, "translation", number(apart->translation));
    json_object_set_new(object, "rms", number(apart->rms));
    return object;
}

static json_t *scan_json(const atn_cli_align *a, size_t k) {
    const atn_ctx *ctx = a->r->call->ctx;
    const atn_align_scan *s = a->result.scan[k];
    atn_cloud_info info = atn_cloud_info_of(a->clouds[k]);
    json_t *object = json_object();
    json_object_set_new(object, "file", atn_cli_json_text(ctx, a->paths[k]));
    json_object_set_new(object, "points", json_integer((json_int_t)info.points));
    json_object_set_new(object, "dropped", json_integer((json_int_t)info.nan + (json_int_t)info.inf));
    json_object_set_new(object, "placed", json_boolean(s->placed));
    json_object_set_new(object, "transform", s->placed ? atn_cli_json_matrix(s->transform, 4, 4) : json_null());
    json_object_set_new(object, "covariance", s->placed ? atn_cli_json_matrix(s->covariance, 6, 6) : json_null());
    json_object_set_new(object, "edges", json_integer((json_int_t)s->edges));
    json_object_set_new(object, "reason", *s->reason ? atn_cli_json_text(ctx, s->reason) : json_null());
    if (a->apart && a->has_truth[k]) json_object_set_new(object, "truth", apart_json(&a->apart[k]));
    return object;
}

static json_t *edge_json(const atn_cli_align *a, size_t k) {
    const atn_ctx *ctx = a->r->call->ctx;
    const atn_align_edge *e = a->result.edge[k];
    json_t *object = json_object();
    json_object_set_new(object, "source", json_integer((json_int_t)e->source));
    json_object_set_new(object, "target", json_integer((json_int_t)e->target));
    json_object_set_new(object, "loop", json_boolean(e->loop));
    json_object_set_new(object, "used", json_boolean(e->used));
    json_object_set_new(object, "verdict", json_string(atn_verdict_name(e->verdict)));
    json_object_set_new(object, "likely", json_boolean(e->likely));
    json_object_set_new(object, "reason", atn_cli_json_text(ctx, e->reason));
    json_object_set_new(object, "transform", atn_cli_json_matrix(e->transform, 4, 4));
    json_object_set_new(object, "covariance",
                        e->has_covariance ? atn_cli_json_matrix(e->covariance, 6, 6) : json_null());
    json_object_set_new(object, "rmse", number(e->rmse));
    json_object_set_new(object, "overlap", number(e->overlap));
    json_object_set_new(object, "residual_deg", number(e->residual_deg));
    json_object_set_new(object, "residual", number(e->residual));
    json_object_set_new(object, "chi2", number(e->chi2));
    json_object_set_new(object, "weight", number(e->weight));
    return object;
}

static atn_status print_json(const atn_cli_align *a) {
    const atn_align_result *x = &a->result;
    const atn_ctx *ctx = a->r->call->ctx;
    json_t *root = json_object(), *scans = json_array(), *edges = json_array(), *left_out = json_array();
    for (size_t k = 0; k < a->count; ++k) {
        json_array_append_new(scans, scan_json(a, k));
        if (!x->scan[k]->placed) json_array_append_new(left_out, atn_cli_json_text(ctx, a->paths[k]));
    }
    for (size_t k = 0; k < x->edges; ++k) json_array_append_new(edges, edge_json(a, k));
    json_object_set_new(root, "scans", scans);
    json_object_set_new(root, "left_out", left_out);
    json_object_set_new(root, "edges", edges);
    json_object_set_new(root, "placed", json_integer((json_int_t)x->placed));
    json_object_set_new(root, "anchor", x->placed ? json_integer((json_int_t)x->anchor) : json_null());
    json_object_set_new(root, "searched", json_integer((json_int_t)x->searched));
    json_object_set_new(root, "iterations", json_integer(x->iterations));
    json_object_set_new(root, "spread", number(x->spread));
    json_object_set_new(root, "seconds", number(x->seconds));
    json_object_set_new(root, "building_seconds", number(x->building_seconds));
    json_object_set_new(root, "peak_bytes", json_integer((json_int_t)x->peak_bytes));
    json_object_set_new(root, "method", atn_cli_json_text(ctx, a->r->method));
    json_object_set_new(root, "device", atn_cli_json_text(ctx, x->device));
    if (a->voxel > 0) json_object_set_new(root, "voxel", number(a->voxel));
    return atn_cli_print_json(a->r->call, root);
}

atn_status atn_cli_align_print(const atn_cli_align *a) { return a->r->call->json ? print_json(a) : print_text(a); }
