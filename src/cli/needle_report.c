/* attune needle --report: the pose in words, the needle in its volume, slices through its tip, figures. */
#include "cli/needle.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/random.h"
#include "plot/page.h"
#include "plot/slices.h"
#include "plot/view.h"

#include <math.h>

static const double DEGREES = 57.29577951308232; /* in a radian */

enum { MOST_COLUMNS = 192, MOST_ROWS = 192, MOST_SCANS = 96, MOST_BRIGHT = 15000, MOST_MODEL = 6000 };

/* ---- the volume, made smaller ---- */

/* Each block's brightest pixel, as 8 bits: thin surfaces stay visible. */
static unsigned char *shrink(const atn_ctx *ctx, const atn_volume *volume, const atn_volume_info *info, int64_t n[3],
                             int64_t step[3]) {
    const int64_t size[3] = {info->width, info->height, info->frames}, most[3] = {MOST_COLUMNS, MOST_ROWS, MOST_SCANS};
    for (int d = 0; d < 3; ++d) {
        step[d] = (size[d] + most[d] - 1) / most[d];
        n[d] = (size[d] + step[d] - 1) / step[d];
    }
    unsigned char *out = atn_zalloc(ctx, (size_t)(n[0] * n[1] * n[2]));
    for (int64_t z = 0; out && z < size[2]; ++z) {
        const void *frame = atn_volume_frame(volume, z);
        for (int64_t y = 0; y < size[1]; ++y) {
            unsigned char *row = out + (z / step[2] * n[1] + y / step[1]) * n[0];
            for (int64_t x = 0; x < size[0]; ++x) {
                int64_t k = y * size[0] + x;
                unsigned char v =
                    info->bits == 8 ? ((const uint8_t *)frame)[k] : (unsigned char)(((const uint16_t *)frame)[k] >> 8);
                if (v > row[x / step[0]]) row[x / step[0]] = v;
            }
        }
    }
    return out;
}

/* Bright pixels of the small volume, at most MOST_BRIGHT, one out of each of equal parts. */
static size_t find_bright(const unsigned char *bytes, const int64_t n[3], const double spacing[3], unsigned level,
                          double *axis[3]) {
    size_t all = 0, count = 0;
    int64_t total = n[0] * n[1] * n[2];
    atn_random random;
    atn_random_seed(&random, 1);
    for (int64_t k = 0; k < total; ++k) all += bytes[k] > level;
    double share = all > MOST_BRIGHT ? (double)MOST_BRIGHT / (double)all : 1;
    for (int64_t k = 0; k < total && count < MOST_BRIGHT; ++k) {
        if (bytes[k] <= level || atn_random_unit(&random) >= share) continue;
        const int64_t at[3] = {k % n[0], k / n[0] % n[1], k / (n[0] * n[1])};
        for (int d = 0; d < 3; ++d) axis[d][count] = (double)at[d] * spacing[d];
        ++count;
    }
    return count;
}

/* ---- the page ---- */

static void draw_verdict(atn_text *page, const atn_needle_result *r, const char *unit) {
    char sentence[400];
    if (!r->found) {
        atn_page_verdict(page, ATN_PAGE_BAD, "Not found", r->reason);
        return;
    }
    int n = snprintf(sentence, sizeof sentence, "Tip at (%.4f, %.4f, %.4f)%s. ", r->tip[0], r->tip[1], r->tip[2], unit);
    if (r->has_covariance) {
        const double *c = r->covariance;
        n += snprintf(sentence + n, sizeof sentence - (size_t)n, "Uncertainty (1σ): %.2g°, %.2g%s. ",
                      sqrt(fmax(0, c[0] + c[7] + c[14])) * DEGREES, sqrt(fmax(0, c[21] + c[28] + c[35])), unit);
    }
    snprintf(sentence + n, sizeof sentence - (size_t)n, "%s%s",
             r->roll_observable ? "" : "The roll is not determined by the scan. ", r->reason);
    atn_page_verdict(page, r->roll_observable && !*r->reason ? ATN_PAGE_GOOD : ATN_PAGE_DOUBT, "Found", sentence);
}

static void draw_numbers(atn_text *page, const atn_needle_result *r, const char *unit) {
    atn_text rows = {.ctx = page->ctx}, text = {.ctx = page->ctx};
    const double *t = r->transform;
    atn_text_add(&rows, "quantity\tvalue\t\n");
    atn_text_printf(&rows, "roll\t%.4f°\t\nshift\t%.5f%s\t\n", r->roll_deg, r->shift, unit);
    atn_text_printf(&rows, "matches\t%lld of %lld scan points\t\nrunner-up\t%lld\t\n", (long long)r->matches,
                    (long long)r->scan_points, (long long)r->runner_up);
    atn_text_printf(&rows, "rmse\t%.5g%s\t\nfree share\t%.2f %%\t\n", r->rmse, unit, 100 * r->free_share);
    char time[ATN_NUMBER_TEXT + 8];
    atn_number_si(r->seconds, "s", time, sizeof time);
    atn_text_printf(&rows, "time\t%s\t\n", time);
    atn_page_table(page, atn_text_str(&rows), "ll");
    if (r->n_rounds) {
        for (int i = 0; i < 4; ++i)
            atn_text_printf(&text, "%15.9g %15.9g %15.9g %15.9g\n", t[4 * i], t[4 * i + 1], t[4 * i + 2], t[4 * i + 3]);
        atn_page_paragraph(page, "Transform (4 x 4, scan = T · model):");
        atn_page_copyable(page, atn_text_str(&text), "Copy the matrix");
    }
    if (rows.failed || text.failed) page->failed = true;
    atn_text_free(&rows);
    atn_text_free(&text);
}

/* Model points where the pose puts them, at most MOST_MODEL. */
static size_t move_model(const atn_cloud *model, const double *t, double *axis[3]) {
    size_t n = atn_cloud_info_of(model).points, step = n / MOST_MODEL + 1, count = 0;
    for (size_t k = 0; k < n; k += step, ++count)
        for (int d = 0; d < 3; ++d)
            axis[d][count] = t[4 * d] * atn_cloud_positions(model, 0)[k] +
                             t[4 * d + 1] * atn_cloud_positions(model, 1)[k] +
                             t[4 * d + 2] * atn_cloud_positions(model, 2)[k] + t[4 * d + 3];
    return count;
}

static void draw_view(atn_text *page, double *const bright[3], size_t n_bright, double *const model[3], size_t n_model,
                      const char *unit) {
    const atn_view_cloud clouds[] = {
        {.name = "scan", .color = 0, .n = n_bright, .axis = {bright[0], bright[1], bright[2]}},
        {.name = "model at its pose", .color = 1, .n = n_model, .axis = {model[0], model[1], model[2]}}};
    const atn_view_panel panel = {.title = "The needle in its scan", .unit = unit};
    atn_view_draw(page, clouds, 2, &panel, 1, NULL);
}

/* Room for points: three axes in one block. */
static bool make_axes(const atn_ctx *ctx, size_t n, double *axis[3]) {
    axis[0] = atn_alloc(ctx, 3 * n * sizeof **axis);
    axis[1] = axis[0] ? axis[0] + n : NULL;
    axis[2] = axis[0] ? axis[1] + n : NULL;
    return axis[0];
}

static atn_status draw_volume(atn_text *page, const needle_job *job, const atn_cloud *model, const atn_volume *volume,
                              const atn_needle_result *r) {
    const atn_ctx *ctx = job->call->ctx;
    atn_volume_info info = atn_volume_info_of(volume);
    double *bright[3], *moved[3], spacing[3];
    int64_t n[3], step[3];
    bool room = make_axes(ctx, MOST_BRIGHT, bright);
    room = make_axes(ctx, MOST_MODEL + 1, moved) && room; /* both, whatever the first was */
    unsigned char *bytes = room ? shrink(ctx, volume, &info, n, step) : NULL;
    const char *unit = *job->unit ? job->unit + 1 : "";
    if (bytes) {
        for (int d = 0; d < 3; ++d)
            spacing[d] = (job->view.spacing[d] > 0 ? job->view.spacing[d]
                          : info.spacing[d] > 0    ? info.spacing[d]
                                                   : 1) *
                         (double)step[d];
        unsigned level = info.bits == 8 ? (unsigned)r->level : (unsigned)(r->level >> 8);
        size_t n_bright = find_bright(bytes, n, spacing, level, bright);
        size_t n_model = r->n_rounds ? move_model(model, r->transform, moved) : 0;
        draw_view(page, bright, n_bright, moved, n_model, unit);
        atn_page_heading(page, "Slices");
        atn_page_paragraph(page, "Orange: the model at its pose. Green: its tip. Move the sliders.");
        atn_slices_draw(page, &(atn_slices){.n = {n[0], n[1], n[2]},
                                            .spacing = {spacing[0], spacing[1], spacing[2]},
                                            .unit = unit,
                                            .bytes = bytes,
                                            .n_points = n_model,
                                            .points = (const double *const[]){moved[0], moved[1], moved[2]},
                                            .tip = r->n_rounds ? r->tip : NULL});
    }
    atn_free(ctx, bytes);
    atn_free(ctx, moved[0]);
    atn_free(ctx, bright[0]);
    return bytes ? ATN_OK : ATN_ERR_MEMORY;
}

static atn_status draw_cloud(atn_text *page, const needle_job *job, const atn_cloud *model, const atn_cloud *scan,
                             const atn_needle_result *r) {
    const atn_ctx *ctx = job->call->ctx;
    double *moved[3];
    if (!make_axes(ctx, MOST_MODEL + 1, moved)) return ATN_ERR_MEMORY;
    size_t n_model = r->n_rounds ? move_model(model, r->transform, moved) : 0;
    double *const axis[3] = {(double *)(uintptr_t)atn_cloud_positions(scan, 0),
                             (double *)(uintptr_t)atn_cloud_positions(scan, 1),
                             (double *)(uintptr_t)atn_cloud_positions(scan, 2)};
    draw_view(page, axis, atn_cloud_info_of(scan).points, moved, n_model, NULL);
    atn_free(ctx, moved[0]);
    return ATN_OK;
}

atn_status atn_cli_needle_report(const needle_job *job, const atn_volume *volume, const atn_cloud *scan,
                                 const atn_needle_result *r, const char *path) {
    atn_cli_call *call = job->call;
    atn_text page = {.ctx = call->ctx}, subtitle = {.ctx = call->ctx};
    atn_cloud *model = NULL;
    atn_text_printf(&subtitle, "%s in %s", call->operands[0], call->operands[1]);
    atn_page_begin(&page, "Needle", atn_text_str(&subtitle));
    draw_verdict(&page, r, job->unit);
    atn_status status = atn_needle_model(call->ctx, call->operands[0], &model);
    if (!status) status = volume ? draw_volume(&page, job, model, volume, r) : draw_cloud(&page, job, model, scan, r);
    atn_page_heading(&page, "Result");
    draw_numbers(&page, r, job->unit);
    if (subtitle.failed) page.failed = true;
    if (!status) status = atn_cli_page_write(call, &page, path);
    atn_cloud_free(model);
    atn_text_free(&subtitle);
    atn_text_free(&page);
    return status;
}
