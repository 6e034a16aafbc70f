/* The HTML report of tuning. */
#include "tune/report.h"

#include "base/file.h"
#include "base/memory.h"
#include "lower/variant.h"
#include "plot/chart.h"
#include "plot/page.h"
#include "tune/importance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How the speed of a kernel is counted: pairs for those that weigh every pair, else what limits it. */
typedef struct measure {
    const char *title, *unit;
} measure;
enum { PAIRS, FLOPS, BYTES, RUNS };
static const measure MEASURES[] = {
    [PAIRS] = {"pairs per second", "Gpts"},
    [FLOPS] = {"arithmetic", "GFLOP/s"},
    [BYTES] = {"bytes read and written", "GB/s"},
    [RUNS] = {"runs per second", "runs/s"},
};

static int measure_of(const atn_report *r, const atn_report_row *row) {
    if (row->counts_pairs) return PAIRS;
    bool bandwidth = r->peaks->bandwidth > 0 && row->bytes > 0, arithmetic = r->peaks->fp32 > 0 && row->flops > 0;
    if (arithmetic && (!bandwidth || row->flops / r->peaks->fp32 > row->bytes / r->peaks->bandwidth)) return FLOPS;
    return bandwidth ? BYTES : RUNS;
}

static double rate(const atn_report_row *row, int by, double seconds) {
    double work[] = {[PAIRS] = row->pairs, [FLOPS] = row->flops, [BYTES] = row->bytes, [RUNS] = 1e9};
    return seconds > 0 ? work[by] / seconds * 1e-9 : NAN;
}

/* "43.6 TFLOP/s": a rate in units of 1e9, with the prefix that suits it. */
static void print_rate(double value, int by, char *text, size_t bytes) {
    const char *unit = MEASURES[by].unit;
    if (by != RUNS && by != PAIRS && value >= 1000)
        snprintf(text, bytes, "%.4g T%s", value * 1e-3, unit + 1);
    else
        snprintf(text, bytes, "%.4g %s", value, unit);
}

static void add_cell(atn_text *to, const char *format, double value) {
    if (value > 0 && isfinite(value))
        atn_text_printf(to, format, value);
    else
        atn_text_add(to, "-");
    atn_text_add(to, "\t");
}

static void add_table(atn_text *page, const atn_report *r) {
    atn_text rows = {.ctx = page->ctx};
    atn_text_add(&rows, "kernel\tshape\tdefault\tbest\tworst\tgain\trate\t\tof peak\ttried\tfailed\tvariant\t\n");
    for (int32_t k = 0; k < r->n_rows; ++k) {
        const atn_report_row *row = &r->rows[k];
        int m = measure_of(r, row);
        atn_text_printf(&rows, "%s\t%s\t", row->kernel, row->shape);
        add_cell(&rows, "%.2f µs", row->default_s * 1e6);
        add_cell(&rows, "%.2f µs", row->best_s * 1e6);
        add_cell(&rows, "%.2f µs", row->worst_s * 1e6);
        add_cell(&rows, "%.2f", row->best_s > 0 ? row->default_s / row->best_s : 0);
        add_cell(&rows, "%.4g", rate(row, m, row->best_s));
        atn_text_printf(&rows, "%s\t", MEASURES[m].unit);
        add_cell(&rows, "%.1f %%", row->fraction_of_peak * 100);
        atn_text_printf(&rows, "%lld\t%lld\t%s\t\n", (long long)row->tried, (long long)row->failed,
                        row->variant && *row->variant ? row->variant : "plain");
    }
    atn_page_table(page, atn_text_str(&rows), "llrrrrrlrrrl");
    page->failed = page->failed || rows.failed;
    atn_text_free(&rows);
}

/* All variants of one kernel as dots over the size, the best and the worst of each size joined. */
static atn_status draw_variants(atn_text *page, const atn_report *r, int32_t from, int32_t to) {
    const atn_ctx *ctx = page->ctx;
    int32_t dots = 0, n = to - from, at = 0, m = measure_of(r, &r->rows[from]);
    for (int32_t k = from; k < to; ++k) dots += r->rows[k].n;
    double *x = atn_zalloc(ctx, sizeof(double) * 2 * ((size_t)dots + 3 * (size_t)n + 1));
    const char **label = atn_zalloc(ctx, sizeof(char *) * ((size_t)dots + 1));
    if (!x || !label) {
        atn_free(ctx, x);
        atn_free(ctx, label);
        return ATN_ERR_MEMORY;
    }
    double *y = x + dots, *sizes = y + dots, *best = sizes + n, *worst = best + n, *first = worst + n;
    for (int32_t k = from; k < to; ++k) {
        const atn_report_row *row = &r->rows[k];
        for (int32_t v = 0; v < row->n; ++v, ++at) {
            x[at] = row->pairs;
            y[at] = rate(row, m, row->seconds[v]);
            label[at] = row->variants[v];
        }
        sizes[k - from] = row->pairs;
        best[k - from] = rate(row, m, row->best_s);
        worst[k - from] = rate(row, m, row->worst_s);
        first[k - from] = rate(row, m, row->default_s);
    }
    char title[160], unit[64];
    snprintf(title, sizeof title, "%s: every variant that was right", r->rows[from].kernel);
    snprintf(unit, sizeof unit, "%s", MEASURES[m].unit);
    atn_series series[] = {
        {"variants", ATN_SERIES_DOTS, -1, dots, x, y, label},
        {"best", ATN_SERIES_LINE, 2, n, sizes, best, NULL},
        {"worst", ATN_SERIES_LINE, 1, n, sizes, worst, NULL},
        {"estimate, untuned", ATN_SERIES_LINE, 0, n, sizes, first, NULL},
    };
    atn_chart_draw(page, &(atn_chart){title, "points times range", unit, true, false, series, 4});
    atn_free(ctx, x);
    atn_free(ctx, label);
    return ATN_OK;
}

/* Candidates of one kernel over the order they were tried in, and the best so far, for each of its shapes. */
static atn_status draw_candidates(atn_text *page, const atn_report *r, int32_t from, int32_t to) {
    const atn_ctx *ctx = page->ctx;
    enum { MOST_SHAPES = 6 };
    atn_series series[2 * MOST_SHAPES];
    int32_t n = to - from > MOST_SHAPES ? MOST_SHAPES : to - from, drawn = 0, all = 0;
    for (int32_t k = 0; k < n; ++k) all += r->rows[from + k].n_ratios;
    double *x = atn_zalloc(ctx, ((size_t)all * 2 + 1) * sizeof *x), *best = x ? x + all : NULL;
    if (!x) return ATN_ERR_MEMORY;
    for (int32_t k = 0, at = 0; k < n; ++k) {
        const atn_report_row *row = &r->rows[from + k];
        double least = INFINITY;
        for (int32_t c = 0; c < row->n_ratios; ++c) {
            if (row->ratio[c] > 0) least = fmin(least, row->ratio[c]);
            x[at + c] = c + 1;
            best[at + c] = isfinite(least) ? least : 0;
        }
        if (row->n_ratios == 0) continue;
        series[drawn++] = (atn_series){NULL,   ATN_SERIES_DOTS, to - from > 1 ? k : -1, row->n_ratios,
                                       x + at, row->ratio,      row->candidates};
        series[drawn++] = (atn_series){row->shape, ATN_SERIES_STEPS, k, row->n_ratios, x + at, best + at, NULL};
        at += row->n_ratios;
    }
    char title[160];
    snprintf(title, sizeof title, "%s: candidates, and the best so far", r->rows[from].kernel);
    if (drawn)
        atn_chart_draw(page, &(atn_chart){title, "candidate", "time over the estimate's", false, true, series, drawn});
    atn_free(ctx, x);
    return ATN_OK;
}

static atn_status draw_importance(atn_text *page, const atn_report_row *row) {
    atn_importance list[ATN_IMPORTANCE_MOST];
    atn_bar bars[ATN_IMPORTANCE_MOST];
    char notes[ATN_IMPORTANCE_MOST][48], title[160];
    int32_t n = atn_importance_of(page->ctx, row->candidates, row->ratio, row->n_ratios, list), shown = 0;
    for (int32_t k = 0; k < n && list[k].share >= 0.005 && shown < 12; ++k, ++shown) {
        snprintf(notes[k], sizeof notes[k], "%.0f %%, %d values", 100 * list[k].share, (int)list[k].values);
        bars[k] = (atn_bar){list[k].knob, notes[k], 100 * list[k].share, 0};
    }
    if (!shown) return ATN_OK;
    snprintf(title, sizeof title, "%.60s %.60s: which knobs matter", row->kernel, row->shape);
    atn_bars_draw(page, title, "% of the variance of log times that the knob explains by itself", bars, shown, 0,
                  false);
    return ATN_OK;
}

/* The knobs that any variant names, each once. */
static void draw_glossary(atn_text *page, const atn_report *r) {
    atn_text rows = {.ctx = page->ctx};
    atn_text_add(&rows, "knob\tmeaning\t\n");
    for (int32_t k = 0; k < atn_variant_knob_count(); ++k) {
        const char *name = atn_variant_knob_name(k);
        size_t length = strlen(name);
        bool named = false;
        for (int32_t row = 0; row < r->n_rows && !named; ++row)
            for (int32_t v = 0; v < r->rows[row].n && !named; ++v)
                for (const char *at = r->rows[row].variants[v]; (at = strstr(at, name)) && !named; at += length)
                    named = at[length] == '=' && (at == r->rows[row].variants[v] || at[-1] == ',');
        if (named) atn_text_printf(&rows, "%s\t%s\t\n", name, atn_variant_knob_meaning(name));
    }
    atn_page_fold(page, "What the knobs mean");
    atn_page_table(page, atn_text_str(&rows), "ll");
    atn_page_unfold(page);
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
}

static atn_status draw_search(atn_text *page, const atn_report *r) {
    atn_status status = ATN_OK;
    bool any = false;
    int32_t timed = 0;
    for (int32_t k = 0; k < r->n_rows; ++k) {
        any = any || r->rows[k].n_ratios;
        for (int32_t c = 0; c < r->rows[k].n_ratios; ++c) timed += r->rows[k].ratio[c] > 0;
    }
    if (!any) return ATN_OK;
    atn_page_heading(page, "The search");
    if (timed < 2) { /* a chart of one point says nothing */
        atn_page_paragraph(page, "All candidates were known from earlier runs; --again measures them again.");
        return ATN_OK;
    }
    atn_page_paragraph(page,
                       "Every candidate is timed in turn with the best so far, so that a machine that changes its "
                       "speed changes both. Ratios of one best to the next give that to the estimate: 1 is the "
                       "untuned kernel, below is faster. Point at a dot to see which variant it is.");
    for (int32_t from = 0, to; from < r->n_rows && status == ATN_OK; from = to) {
        to = from + 1;
        while (to < r->n_rows && strcmp(r->rows[to].kernel, r->rows[from].kernel) == 0) ++to;
        status = draw_candidates(page, r, from, to);
        for (int32_t k = from; k < to && status == ATN_OK; ++k) status = draw_importance(page, &r->rows[k]);
    }
    return status;
}

static atn_status draw_peaks(atn_text *page, const atn_report *r) {
    enum { NAME = 96, NOTE = 48 };
    atn_bar *bars = atn_zalloc(page->ctx, ((size_t)r->n_rows + 1) * (sizeof *bars + NAME + NOTE));
    if (!bars) return ATN_ERR_MEMORY;
    char *texts = (char *)(bars + r->n_rows);
    for (int32_t k = 0; k < r->n_rows; ++k, texts += NAME + NOTE) {
        const atn_report_row *row = &r->rows[k];
        int m = measure_of(r, row);
        snprintf(texts, NAME, "%s %s", row->kernel, row->shape);
        char speed[32];
        print_rate(rate(row, m, row->best_s), m, speed, sizeof speed);
        snprintf(texts + NAME, NOTE, "%.0f %% · %s", row->fraction_of_peak * 100, speed);
        bars[k] = (atn_bar){texts, texts + NAME, row->fraction_of_peak, m == FLOPS ? 1 : m == PAIRS ? 2 : 0};
    }
    atn_bars_draw(page, "Fraction of the peak, bandwidth or arithmetic, whichever is nearer",
                  "of what was measured on this device", bars, r->n_rows, 1, false);
    atn_free(page->ctx, bars);
    return ATN_OK;
}

static atn_status draw_pruning(atn_text *page, const atn_report *r) {
    enum { NAME = 96, NOTE = 48 };
    char line[512];
    atn_page_heading(page, "The space");
    snprintf(line, sizeof line, "%s: %s points, of which the constraints leave %s.", r->space, r->product.digits,
             r->allowed.digits);
    atn_page_paragraph(page, line);
    if (r->n_prunes == 0) return ATN_OK;
    int32_t n = r->n_prunes + 1;
    atn_bar *bars = atn_zalloc(page->ctx, (size_t)n * (sizeof *bars + NOTE));
    if (!bars) return ATN_ERR_MEMORY;
    char *notes = (char *)(bars + n);
    double left = r->product.number;
    bars[0] = (atn_bar){"all", r->product.digits, left, 5};
    for (int32_t k = 0; k < r->n_prunes; ++k, notes += NOTE) {
        left -= r->prunes[k].together.number;
        double share = r->product.number > 0 ? r->prunes[k].alone.number / r->product.number * 100 : 0;
        snprintf(notes, NOTE, share > 0 ? "alone -%.3g %%" : "alone 0 %%", share);
        bars[k + 1] = (atn_bar){r->prunes[k].constraint, notes, left, 0};
    }
    atn_bars_draw(page, "What is left after each constraint", "points", bars, n, 0, true);
    atn_free(page->ctx, bars);
    return ATN_OK;
}

atn_status atn_report_write(const atn_ctx *ctx, const char *path, const atn_report *r) {
    atn_text page = {.ctx = ctx};
    char line[512];
    snprintf(line, sizeof line, "%s, %s; %.4g GFLOP/s in FP32 and %.4g GB/s were measured on it", r->info->name,
             r->info->backend, r->peaks->fp32 * 1e-9, r->peaks->bandwidth * 1e-9);
    atn_page_begin(&page, "attune: what tuning found", line);
    atn_page_heading(&page, "Results");
    add_table(&page, r);
    atn_status status = draw_search(&page, r);
    atn_page_heading(&page, "How near to the limit");
    if (status == ATN_OK) status = draw_peaks(&page, r);
    atn_page_heading(&page, "All variants over sizes");
    atn_page_paragraph(&page, "As timed, at different moments: compare candidates above. Point at a dot to see which "
                              "variant it is.");
    for (int32_t from = 0, to; from < r->n_rows && status == ATN_OK; from = to) {
        to = from + 1;
        while (to < r->n_rows && strcmp(r->rows[to].kernel, r->rows[from].kernel) == 0) ++to;
        status = draw_variants(&page, r, from, to);
    }
    if (status == ATN_OK && r->space) status = draw_pruning(&page, r);
    draw_glossary(&page, r);
    atn_page_end(&page, r->origin);
    if (status == ATN_OK) status = atn_text_status(&page);
    if (status == ATN_OK) status = atn_file_write(ctx, path, atn_text_str(&page), page.length);
    atn_text_free(&page);
    return status;
}
