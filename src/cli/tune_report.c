/* attune tune --report: every row of the tuning with all correct variants, as a page. */
#include "cli/tune_list.h"

#include "base/memory.h"
#include "space/shipped.h"
#include "tune/facts.h"
#include "tune/report.h"

#include <string.h>

/* Points times ranges. */
static double pairs_of(const atn_tune_result *r) {
    double pairs = 1;
    for (int32_t k = 0; k < r->n_shape; ++k) pairs *= (double)r->shape[k];
    return pairs;
}

static atn_status fill_row(const atn_ctx *ctx, const atn_cli_label *label, const atn_tune_result *r,
                           atn_report_row *row) {
    size_t n = (size_t)r->n_all + 1;
    double *seconds = atn_zalloc(ctx, n * sizeof *seconds);
    const char **variants = atn_zalloc(ctx, n * sizeof *variants);
    double *ratio = atn_zalloc(ctx, ((size_t)r->n_steps + 1) * sizeof *ratio);
    const char **candidates = atn_zalloc(ctx, ((size_t)r->n_steps + 1) * sizeof *candidates);
    *row = (atn_report_row){.kernel = label->kernel,
                            .shape = label->shape,
                            .pairs = pairs_of(r),
                            .flops = r->flops,
                            .bytes = r->bytes,
                            .counts_pairs = strcmp(label->kernel, "estep") == 0,
                            .default_s = r->default_s,
                            .best_s = r->best_s,
                            .worst_s = r->worst_s,
                            .fraction_of_peak = r->fraction_of_peak,
                            .variant = r->variant,
                            .tried = r->tried,
                            .seconds = seconds,
                            .variants = variants,
                            .n = r->n_all,
                            .ratio = ratio,
                            .candidates = candidates,
                            .n_ratios = ratio && candidates ? r->n_steps : 0};
    if (!seconds || !variants || !ratio || !candidates) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < r->n_steps; ++k) {
        ratio[k] = r->steps[k].ratio;
        candidates[k] = r->steps[k].variant;
    }
    for (int k = 0; k < ATN_OUTCOME_COUNT; ++k) row->failed += r->failed[k];
    for (int32_t k = 0; k < r->n_all; ++k) {
        seconds[k] = r->all[k].seconds;
        variants[k] = r->all[k].variant;
    }
    return ATN_OK;
}

/* The space as a workload sees it; *space stays NULL where the backend has none. */
static atn_status open_space(const atn_ctx *ctx, const atn_device_info *info, const atn_workload *work,
                             const char *text, atn_space **space) {
    atn_given facts[ATN_MOST_FACTS];
    size_t n = 0;
    atn_case c;
    *space = NULL;
    if (!text) text = atn_space_shipped(info->backend);
    if (!text) return ATN_OK;
    atn_status status = atn_case_open(ctx, work, &c);
    if (status == ATN_OK) status = atn_facts(info, &c, facts, &n);
    if (status == ATN_OK) status = atn_space_parse(ctx, "space", text, strlen(text), facts, n, space);
    atn_case_close(&c);
    return status;
}

/* Of all workloads' spaces the largest is shown: there constraints matter most. */
static atn_status find_largest(const atn_ctx *ctx, const atn_device_info *info, const atn_cli_work *list,
                               const char *text, atn_report *report, int32_t *which, atn_space **largest) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < list->n && status == ATN_OK; ++k) {
        atn_space *space;
        atn_count product;
        if (k > 0 && strcmp(list->labels[k].kernel, list->labels[k - 1].kernel) == 0) continue;
        status = open_space(ctx, info, &list->work[k], text, &space);
        if (status != ATN_OK || !space) break;
        status = atn_space_product(ctx, space, &product);
        if (status == ATN_OK && (!*largest || product.number > report->product.number)) {
            atn_space_free(*largest);
            *largest = space;
            *which = k;
            report->product = product;
        } else {
            atn_space_free(space);
        }
    }
    return status;
}

static atn_status fill_space(const atn_ctx *ctx, const atn_space *space, atn_report *report, atn_prune **prunes) {
    report->n_prunes = atn_space_count_constraints(space);
    *prunes = atn_zalloc(ctx, ((size_t)report->n_prunes + 1) * sizeof **prunes);
    if (!*prunes) return ATN_ERR_MEMORY;
    report->prunes = *prunes;
    atn_status status = atn_space_count(ctx, space, &report->allowed);
    return status == ATN_OK ? atn_space_prune_report(ctx, space, *prunes) : status;
}

atn_status atn_cli_report_tuned(atn_cli_call *call, atn_device *device, const char *path, const char *space_text,
                                const atn_cli_work *list, const atn_tune_result *results) {
    const atn_ctx *ctx = call->ctx;
    atn_peaks peaks = {0};
    atn_report_row *rows = atn_zalloc(ctx, ((size_t)list->n + 1) * sizeof *rows);
    if (!rows) return ATN_ERR_MEMORY;
    atn_report report = {.info = atn_device_get_info(device), .peaks = &peaks, .rows = rows};
    atn_space *space = NULL;
    atn_prune *prunes = NULL;
    char name[160];
    int32_t which = 0;
    atn_status status = atn_device_peaks(device, &peaks);
    for (int32_t k = 0; k < list->n && status == ATN_OK; ++k)
        if (results[k].variant) status = fill_row(ctx, &list->labels[k], &results[k], &rows[report.n_rows++]);
    if (status == ATN_OK) status = find_largest(ctx, report.info, list, space_text, &report, &which, &space);
    if (status == ATN_OK && space) {
        snprintf(name, sizeof name, "%s, for %s %s", space_text ? "The space given" : "The shipped space",
                 list->labels[which].kernel, list->labels[which].shape);
        report.space = name;
        status = fill_space(ctx, space, &report, &prunes);
    }
    if (status == ATN_OK) {
        atn_cli_origin origin;
        atn_cli_origin_make(call, &origin);
        report.origin = &origin.page;
        status = atn_report_write(ctx, path, &report);
        atn_cli_origin_free(&origin);
    }
    atn_free(ctx, prunes);
    atn_space_free(space);
    for (int32_t k = 0; k < report.n_rows; ++k) {
        atn_free(ctx, (void *)(uintptr_t)rows[k].seconds);
        atn_free(ctx, (void *)(uintptr_t)rows[k].variants);
        atn_free(ctx, (void *)(uintptr_t)rows[k].ratio);
        atn_free(ctx, (void *)(uintptr_t)rows[k].candidates);
    }
    atn_free(ctx, rows);
    return status;
}
