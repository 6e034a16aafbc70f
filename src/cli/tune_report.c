/* attune tune --report: what was found as one page with pictures. */
#include "cli/tune_list.h"

#include "base/memory.h"
#include "space/shipped.h"
#include "tune/facts.h"
#include "tune/report.h"

#include <string.h>

/* Times and names of all right variants of all rows, one behind the other. */
typedef struct columns {
    double *seconds;
    const char **variants;
    atn_report_row *rows;
} columns;

static atn_status fill_rows(const atn_ctx *ctx, const atn_cli_work *list, const atn_tune_result *results,
                            columns *out) {
    size_t all = 0, at = 0;
    for (int32_t k = 0; k < list->n; ++k) all += (size_t)results[k].n_choices;
    out->seconds = atn_zalloc(ctx, (all + 1) * sizeof *out->seconds);
    out->variants = atn_zalloc(ctx, (all + 1) * sizeof *out->variants);
    out->rows = atn_zalloc(ctx, ((size_t)list->n + 1) * sizeof *out->rows);
    if (!out->seconds || !out->variants || !out->rows) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < list->n; ++k) {
        const atn_tune_result *r = &results[k];
        int64_t failed = 0;
        for (int32_t n = ATN_OUTCOME_RIGHT + 1; n < ATN_OUTCOME_COUNT; ++n) failed += r->failed[n];
        out->rows[k] = (atn_report_row){.kernel = list->labels[k].kernel,
                                        .shape = list->labels[k].shape,
                                        .pairs = r->pairs,
                                        .flops = r->flops,
                                        .bytes = r->bytes,
                                        .counts_pairs = r->counts_pairs,
                                        .default_s = r->default_s,
                                        .best_s = r->best_s,
                                        .worst_s = r->worst_s,
                                        .fraction_of_peak = r->fraction_of_peak,
                                        .variant = r->variant,
                                        .tried = r->tried + r->recalled,
                                        .failed = failed,
                                        .seconds = out->seconds + at,
                                        .variants = out->variants + at,
                                        .n = r->n_choices};
        for (int32_t n = 0; n < r->n_choices; ++n, ++at) {
            out->seconds[at] = r->choices[n].seconds;
            out->variants[at] = *r->choices[n].variant ? r->choices[n].variant : "plain";
        }
    }
    return ATN_OK;
}

/* The space as the first workload sees it, and what its constraints remove. */
static atn_status fill_space(const atn_ctx *ctx, const atn_device_info *info, const atn_workload *work,
                             const char *text, atn_report *report, atn_space **space, atn_prune **prunes) {
    atn_given facts[ATN_MOST_FACTS];
    size_t n_facts = 0;
    atn_case c;
    if (!text) text = atn_space_shipped(info->backend);
    if (!text) return ATN_OK;
    atn_status status = atn_case_open(ctx, work, &c);
    if (status == ATN_OK) status = atn_facts(info, &c, facts, &n_facts);
    if (status == ATN_OK) status = atn_space_parse(ctx, "space", text, strlen(text), facts, n_facts, space);
    if (status == ATN_OK) status = atn_space_product(ctx, *space, &report->product);
    if (status == ATN_OK) status = atn_space_count(ctx, *space, &report->allowed);
    if (status == ATN_OK) {
        report->n_prunes = atn_space_count_constraints(*space);
        *prunes = atn_zalloc(ctx, ((size_t)report->n_prunes + 1) * sizeof **prunes);
        status = *prunes ? atn_space_prune_report(ctx, *space, *prunes) : ATN_ERR_MEMORY;
    }
    report->prunes = *prunes;
    atn_case_close(&c);
    return status;
}

atn_status atn_cli_report_tuned(atn_cli_call *call, atn_device *device, const atn_cli_work *list,
                                const atn_tune_result *results, const char *space_text, const char *path) {
    const atn_ctx *ctx = call->ctx;
    const atn_device_info *info = atn_device_get_info(device);
    columns c = {0};
    atn_space *space = NULL;
    atn_prune *prunes = NULL;
    atn_peaks peaks = {0};
    char name[160];
    snprintf(name, sizeof name, "%s for %s %s", space_text ? "The space given" : "The shipped space",
             list->labels[0].kernel, list->labels[0].shape);
    atn_report report = {.info = info, .peaks = &peaks, .n_rows = list->n, .space = name};
    atn_status status = atn_device_peaks(device, &peaks);
    if (!status) status = fill_rows(ctx, list, results, &c);
    if (!status) status = fill_space(ctx, info, &list->work[0], space_text, &report, &space, &prunes);
    report.rows = c.rows;
    if (!status) status = atn_report_write(ctx, path, &report);
    atn_free(ctx, prunes);
    atn_space_free(space);
    atn_free(ctx, c.rows);
    atn_free(ctx, c.variants);
    atn_free(ctx, c.seconds);
    return status;
}
