/* attune register --report: the numbers, how it got there, where the time went, and both clouds before and after. */
#include "cli/register.h"

#include "base/file.h"
#include "base/memory.h"
#include "plot/chart.h"
#include "plot/page.h"
#include "plot/view.h"

#include <math.h>
#include <string.h>

static void add_row(atn_text *rows, const char *name, const char *format, ...) ATN_PRINTF(3, 4);
static void add_row(atn_text *rows, const char *name, const char *format, ...) {
    char value[512];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    atn_cli_add_cell(rows, name);
    atn_cli_add_cell(rows, value);
    atn_text_add(rows, "\n");
}

static void draw_numbers(atn_text *page, const atn_cli_register *r, const atn_cli_registered *done) {
    const atn_register_result *x = done->result;
    const double *t = x->transform;
    atn_text rows = {.ctx = page->ctx};
    atn_cli_turn turn = atn_cli_turn_of(t);
    atn_text_add(&rows, "what\tvalue\t\n");
    add_row(&rows, "verdict", "%s: %s", atn_verdict_name(x->verdict), x->reason);
    if (turn.known)
        add_row(&rows, "turn", "%.6g degrees about (%.5f, %.5f, %.5f)", turn.degrees, turn.axis[0], turn.axis[1],
                turn.axis[2]);
    add_row(&rows, "shift", "(%.6g, %.6g, %.6g)", t[3], t[7], t[11]);
    if (x->scale != 1) add_row(&rows, "scale", "%.9g", x->scale);
    add_row(&rows, "rmse", "%.6g, of points with a partner within %.4g", x->rmse, x->inlier_distance);
    add_row(&rows, "overlap", "%.1f %% of the source", 100 * x->overlap);
    if (done->truth)
        add_row(&rows, "against the truth", "%.4g degrees, %.4g in place; points are off by %.4g (rms)",
                done->truth->rotation_deg, done->truth->translation, done->truth->rms);
    add_row(&rows, "iterations", "%d", (int)x->iterations);
    add_row(&rows, "time", "%.3g s, %.4g Gpts", x->seconds, x->gpts);
    add_row(&rows, "pairs", "%.4g, of which %.4g were looked at", x->pairs, x->evaluated_pairs);
    add_row(&rows, "error bound", "%.2g of a point's sums", x->error_bound);
    add_row(&rows, "memory", "%.4g MB", (double)x->peak_bytes * 1e-6);
    add_row(&rows, "method", "%s, %s, from %s", r->method, r->transform, r->start);
    add_row(&rows, "device", "%s%s%s", x->device, *x->variant ? ", " : "", x->variant);
    atn_page_table(page, atn_text_str(&rows), "ll");
    if (rows.failed) page->failed = true; /* clearing forgets it */
    atn_text_clear(&rows);
    atn_text_add(&rows, "transform\t\t\t\t\n");
    for (int i = 0; i < 4; ++i)
        atn_text_printf(&rows, "%.9g\t%.9g\t%.9g\t%.9g\t\n", t[4 * i], t[4 * i + 1], t[4 * i + 2], t[4 * i + 3]);
    atn_page_table(page, atn_text_str(&rows), "rrrr");
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
}

static void draw_clouds(atn_text *page, const atn_cli_registered *done) {
    const atn_cloud *clouds[] = {done->source, done->target};
    atn_view_cloud shown[2] = {{.name = "source", .color = 1}, {.name = "target", .color = 0}};
    const double *const moved[] = {done->result->transform, NULL};
    for (int k = 0; k < 2; ++k) {
        shown[k].n = atn_cloud_info_of(clouds[k]).points;
        for (int d = 0; d < 3; ++d) shown[k].axis[d] = atn_cloud_positions(clouds[k], d);
    }
    const atn_view_panel panels[] = {{.title = "before"}, {.title = "after", .moved = moved}};
    atn_view_draw(page, shown, 2, panels, 2);
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

atn_status atn_cli_register_report(const atn_cli_register *r, const atn_cli_registered *done, const char *path) {
    const atn_ctx *ctx = r->call->ctx;
    atn_text page = {.ctx = ctx}, subtitle = {.ctx = ctx};
    atn_text_printf(&subtitle, "%s (%zu points) onto %s (%zu points)", done->source_name,
                    atn_cloud_info_of(done->source).points, done->target_name, atn_cloud_info_of(done->target).points);
    atn_page_begin(&page, "attune register", atn_text_str(&subtitle));
    draw_clouds(&page, done);
    atn_page_heading(&page, "The result");
    draw_numbers(&page, r, done);
    if (r->steps.n) {
        atn_page_heading(&page, "How it got there");
        draw_way(&page, &r->steps);
    }
    if (done->result->profile_count > 0) {
        atn_page_heading(&page, "Where the time goes");
        draw_time(&page, done->result);
    }
    atn_page_end(&page);
    if (subtitle.failed) page.failed = true;
    atn_status status = atn_text_status(&page);
    if (!status) status = atn_file_write(ctx, path, atn_text_str(&page), page.length);
    atn_text_free(&subtitle);
    atn_text_free(&page);
    return status;
}
