/* attune register --report: the verdict, both clouds before and after with residuals as colours, the numbers with their
 * uncertainty; convergence and profile folded away. */
#include "cli/register.h"

#include "base/memory.h"
#include "cloud/points.h"
#include "plot/chart.h"
#include "plot/page.h"
#include "plot/view.h"

#include <math.h>
#include <string.h>

static const double DEGREES = 57.29577951308232; /* in a radian */

static void add_row(atn_text *rows, const char *name, const char *format, ...) ATN_PRINTF(3, 4);
static void add_row(atn_text *rows, const char *name, const char *format, ...) {
    char value[512];
    ATN_FORMAT(value, format);
    atn_cli_add_cell(rows, name);
    atn_cli_add_cell(rows, value);
    atn_text_add(rows, "\n");
}

/* ---- the verdict ---- */

typedef struct deviation {
    double degrees, place; /* one standard deviation over all three axes */
} deviation;

static deviation deviation_of(const atn_register_result *x) {
    const double *c = x->covariance;
    return (deviation){sqrt(fmax(0, c[0] + c[7] + c[14])) * DEGREES, sqrt(fmax(0, c[21] + c[28] + c[35]))};
}

static void draw_verdict(atn_text *page, const atn_register_result *x) {
    static const struct {
        atn_page_mood mood;
        const char *word;
    } VERDICTS[] = {[ATN_VERDICT_REFUSED] = {ATN_PAGE_BAD, "Refused: do not use this transform"},
                    [ATN_VERDICT_DOUBTFUL] = {ATN_PAGE_DOUBT, "Doubtful: check before use"},
                    [ATN_VERDICT_TRUSTED] = {ATN_PAGE_GOOD, "Trusted"}};
    char sentence[512];
    int n = snprintf(sentence, sizeof sentence, "%s. ", x->reason);
    if (x->has_covariance) {
        deviation d = deviation_of(x);
        snprintf(sentence + n, sizeof sentence - (size_t)n,
                 "Uncertainty (1σ): %.2g°, %.2g. RMSE %.4g over %.1f %% overlap.", d.degrees, d.place, x->rmse,
                 100 * x->overlap);
    } else
        snprintf(sentence + n, sizeof sentence - (size_t)n, "Uncertainty unknown: %s. RMSE %.4g over %.1f %% overlap.",
                 x->covariance_reason, x->rmse, 100 * x->overlap);
    atn_page_verdict(page, VERDICTS[x->verdict].mood, VERDICTS[x->verdict].word, sentence);
}

/* ---- numbers ---- */

static void draw_transform(atn_text *page, const double *t) {
    atn_text text = {.ctx = page->ctx};
    for (int i = 0; i < 4; ++i)
        atn_text_printf(&text, "%17.12g %17.12g %17.12g %17.12g\n", t[4 * i], t[4 * i + 1], t[4 * i + 2], t[4 * i + 3]);
    atn_page_paragraph(page, "Transform (4 x 4, target = T · source):");
    atn_page_copyable(page, atn_text_str(&text), "Copy the matrix");
    if (text.failed) page->failed = true;
    atn_text_free(&text);
}

static void draw_uncertainty(atn_text *page, const atn_register_result *x) {
    atn_text rows = {.ctx = page->ctx};
    if (!x->has_covariance) return;
    atn_text_add(&rows, "uncertainty (1σ)\tx\ty\tz\t\nrotation, degrees\t");
    for (int k = 0; k < 3; ++k) atn_text_printf(&rows, "%.3g\t", sqrt(fmax(0, x->covariance[7 * k])) * DEGREES);
    atn_text_add(&rows, "\ntranslation\t");
    for (int k = 3; k < 6; ++k) atn_text_printf(&rows, "%.3g\t", sqrt(fmax(0, x->covariance[7 * k])));
    atn_text_add(&rows, "\n");
    atn_page_table(page, atn_text_str(&rows), "lrrr");
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
}

static void draw_numbers(atn_text *page, const atn_cli_register *r, const atn_cli_registered *done) {
    const atn_register_result *x = done->result;
    const double *t = x->transform;
    atn_text rows = {.ctx = page->ctx};
    atn_cli_turn turn = atn_cli_turn_of(t);
    atn_text_add(&rows, "quantity\tvalue\t\n");
    if (turn.known)
        add_row(&rows, "rotation", "%.6g° about (%.5f, %.5f, %.5f)", turn.degrees, turn.axis[0], turn.axis[1],
                turn.axis[2]);
    add_row(&rows, "translation", "(%.6g, %.6g, %.6g)", t[3], t[7], t[11]);
    if (x->scale != 1) add_row(&rows, "scale", "%.9g", x->scale);
    add_row(&rows, "rmse", "%.6g", x->rmse);
    add_row(&rows, "inlier distance", "%.6g", x->inlier_distance);
    add_row(&rows, "overlap", "%.1f %% of the source", 100 * x->overlap);
    if (done->truth)
        add_row(&rows, "error against --truth", "%.4g°, %.4g; points %.4g (rms)", done->truth->rotation_deg,
                done->truth->translation, done->truth->rms);
    add_row(&rows, "method", "%s, %s, from %s", r->method, r->transform, r->start);
    add_row(&rows, "iterations", "%d%s", (int)x->iterations, x->converged ? ", converged" : ", not converged");
    add_row(&rows, "time", "%.3g s", x->seconds);
    add_row(&rows, "device", "%s", x->device);
    atn_page_table(page, atn_text_str(&rows), "ll");
    if (rows.failed) page->failed = true; /* clearing forgets it */
    atn_text_free(&rows);
    draw_uncertainty(page, x);
    draw_transform(page, t);
}

/* ---- residuals ---- */

/* Distances of the source's points that are shown, moved, to the nearest point of the target; INFINITY where none is
 * within `reach`. */
static atn_status find_residuals(const atn_ctx *ctx, const atn_cli_registered *done, double reach, double *out,
                                 size_t *count) {
    size_t *index = atn_alloc(ctx, ATN_VIEW_MOST_POINTS * sizeof *index);
    cloud_points target = {0};
    cloud_grid *grid = NULL;
    atn_status status = index ? cloud_points_of(ctx, done->target, &target) : ATN_ERR_MEMORY;
    if (!status) status = cloud_grid_make(&target, 0, &grid);
    *count = status ? 0 : atn_view_sample(atn_cloud_info_of(done->source).points, index);
    for (size_t k = 0; k < *count; ++k) {
        const double *t = done->result->transform;
        double from[3], at[3], distance2 = INFINITY;
        uint32_t nearest;
        for (int d = 0; d < 3; ++d) from[d] = atn_cloud_positions(done->source, d)[index[k]];
        for (int d = 0; d < 3; ++d)
            at[d] = t[4 * d] * from[0] + t[4 * d + 1] * from[1] + t[4 * d + 2] * from[2] + t[4 * d + 3];
        out[k] = cloud_grid_nearest(grid, at, 1, reach, &nearest, &distance2) ? sqrt(distance2) : INFINITY;
    }
    cloud_grid_free(grid);
    cloud_points_free(&target);
    atn_free(ctx, index);
    return status;
}

static void draw_residuals(atn_text *page, const double *residual, size_t n, double inlier) {
    size_t with = 0;
    char line[256];
    for (size_t k = 0; k < n; ++k) with += residual[k] <= inlier;
    atn_page_heading(page, "Residuals");
    snprintf(line, sizeof line,
             "Distance from each source point, moved, to the nearest target point, over %zu source points. %.1f %% lie "
             "within the inlier distance %.4g (dashed) and count in the RMSE.",
             n, n ? 100 * (double)with / (double)n : 0, inlier);
    atn_page_paragraph(page, line);
    atn_histogram_draw(page, "How many points are how far off", "distance to the nearest target point", residual, n,
                       2 * inlier, inlier);
}

static void draw_clouds(atn_text *page, const atn_cli_registered *done, const double *residual) {
    const atn_cloud *clouds[] = {done->source, done->target};
    atn_view_cloud shown[2] = {{.name = "source", .color = 1}, {.name = "target", .color = 0}};
    const double *const moved[] = {done->result->transform, NULL};
    for (int k = 0; k < 2; ++k) {
        shown[k].n = atn_cloud_info_of(clouds[k]).points;
        for (int d = 0; d < 3; ++d) shown[k].axis[d] = atn_cloud_positions(clouds[k], d);
    }
    shown[0].value = residual;
    const atn_view_panel panels[] = {{.title = "Before"}, {.title = "After", .moved = moved}};
    const atn_view_scale scale = {
        .title = "residual", .beyond = "no target point nearer", .high = done->result->inlier_distance};
    atn_view_draw(page, shown, 2, panels, 2, scale.high > 0 && isfinite(scale.high) ? &scale : NULL);
}

typedef struct curve {
    const char *title, *y_title;
    double (*of)(const atn_register_step *step);
} curve;
static double rmse_of(const atn_register_step *s) { return s->rmse; }
static double sigma_of(const atn_register_step *s) { return s->sigma; }
static double motion_of(const atn_register_step *s) { return s->motion; }
static double pairs_of(const atn_register_step *s) { return (double)s->pairs; }

/* Over the iterations; nothing where all is zero. */
static void draw_curve(atn_text *page, const atn_cli_steps *steps, const char *title, const curve *curves, int32_t n) {
    atn_series series[4];
    double *x = atn_zalloc(page->ctx, (steps->n + 1) * sizeof *x), *y[4] = {0};
    bool any = false;
    if (!x) page->failed = true;
    for (int32_t c = 0; c < n && x; ++c) {
        y[c] = atn_zalloc(page->ctx, (steps->n + 1) * sizeof **y);
        if (!y[c]) page->failed = true;
        for (size_t k = 0; k < steps->n && y[c]; ++k) {
            x[k] = (double)(k + 1);
            y[c][k] = curves[c].of(&steps->list[k]);
            any = any || y[c][k] > 0;
        }
        series[c] = (atn_series){.name = curves[c].title,
                                 .style = ATN_SERIES_LINE,
                                 .color = c,
                                 .n = y[c] ? (int32_t)steps->n : 0,
                                 .x = x,
                                 .y = y[c]};
    }
    if (any && !page->failed)
        atn_chart_draw(page, &(atn_chart){.title = title,
                                          .x_title = "iteration",
                                          .y_title = curves[0].y_title,
                                          .log_y = true,
                                          .series = series,
                                          .n_series = n});
    for (int32_t c = 0; c < n; ++c) atn_free(page->ctx, y[c]);
    atn_free(page->ctx, x);
}

static void draw_way(atn_text *page, const atn_cli_steps *steps) {
    static const curve DISTANCES[] = {{"rmse of the pairs as weighed", "distance", rmse_of},
                                      {"distance scale", "distance", sigma_of},
                                      {"largest motion", "distance", motion_of}};
    static const curve PAIRS[] = {{"pairs", "pairs", pairs_of}};
    draw_curve(page, steps, "Distances", DISTANCES, 3);
    draw_curve(page, steps, "Pairs evaluated", PAIRS, 1);
}

static void draw_time(atn_text *page, const atn_register_result *x) {
    atn_bar bars[ATN_REGISTER_MOST_PROFILE];
    char notes[ATN_REGISTER_MOST_PROFILE][48];
    atn_text rows = {.ctx = page->ctx};
    for (int32_t k = 0; k < x->profile_count; ++k) {
        snprintf(notes[k], sizeof notes[k], "%.1f %%", x->seconds > 0 ? 100 * x->profile[k].seconds / x->seconds : 0);
        bars[k] = (atn_bar){x->profile[k].name, notes[k], x->profile[k].seconds, 0};
    }
    atn_bars_draw(page, "By kernel", "seconds", bars, x->profile_count, 0, false);
    atn_cli_register_profile(&rows, x);
    atn_page_table(page, atn_text_str(&rows), "lrrr");
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
}

/* Method, time and work: for those who tune it, not for those who use the result. */
static void draw_details(atn_text *page, const atn_cli_register *r, const atn_cli_registered *done) {
    const atn_register_result *x = done->result;
    atn_page_fold(page, "Convergence, work and time");
    atn_text rows = {.ctx = page->ctx};
    atn_text_add(&rows, "quantity\tvalue\t\n");
    add_row(&rows, "pairs", "%.4g, of which %.4g were evaluated", x->pairs, x->evaluated_pairs);
    add_row(&rows, "rate", "%.4g Gpairs/s", x->gpts);
    add_row(&rows, "error bound", "%.2g of a point's sums", x->error_bound);
    add_row(&rows, "peak memory", "%.4g MB", (double)x->peak_bytes * 1e-6);
    if (*x->variant) add_row(&rows, "variant", "%s", x->variant);
    atn_page_table(page, atn_text_str(&rows), "ll");
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
    if (r->steps.n) draw_way(page, &r->steps);
    if (x->profile_count > 0) draw_time(page, x);
    atn_page_unfold(page);
}

atn_status atn_cli_register_report(const atn_cli_register *r, const atn_cli_registered *done, const char *path) {
    const atn_ctx *ctx = r->call->ctx;
    const double inlier = done->result->inlier_distance;
    atn_text page = {.ctx = ctx}, subtitle = {.ctx = ctx};
    double *residual = atn_alloc(ctx, ATN_VIEW_MOST_POINTS * sizeof *residual);
    size_t n = 0;
    atn_status status = residual ? ATN_OK : ATN_ERR_MEMORY;
    if (!status) status = find_residuals(ctx, done, 2 * inlier, residual, &n);
    atn_text_printf(&subtitle, "%s (%zu points) onto %s (%zu points)", done->source_name,
                    atn_cloud_info_of(done->source).points, done->target_name, atn_cloud_info_of(done->target).points);
    atn_page_begin(&page, "Registration", atn_text_str(&subtitle));
    draw_verdict(&page, done->result);
    if (!status) draw_clouds(&page, done, residual);
    atn_page_heading(&page, "Result");
    draw_numbers(&page, r, done);
    if (!status && n) draw_residuals(&page, residual, n, inlier);
    draw_details(&page, r, done);
    if (subtitle.failed) page.failed = true;
    if (!status) status = atn_cli_page_write(r->call, &page, path);
    atn_free(ctx, residual);
    atn_text_free(&subtitle);
    atn_text_free(&page);
    return status;
}
