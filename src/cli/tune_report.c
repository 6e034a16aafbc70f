/* attune tune --report: every row of the tuning with all variants that were right, as a page. */
#include "cli/tune_list.h"

#include "base/memory.h"
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
                            .n = r->n_all};
    if (!seconds || !variants) return ATN_ERR_MEMORY;
    for (int k = 0; k < ATN_OUTCOME_COUNT; ++k) row->failed += r->failed[k];
    for (int32_t k = 0; k < r->n_all; ++k) {
        seconds[k] = r->all[k].seconds;
        variants[k] = r->all[k].variant;
    }
    return ATN_OK;
}

atn_status atn_cli_report_tuned(atn_cli_call *call, atn_device *device, const char *path, const atn_cli_work *list,
                                const atn_tune_result *results) {
    const atn_ctx *ctx = call->ctx;
    atn_peaks peaks = {0};
    atn_report_row *rows = atn_zalloc(ctx, ((size_t)list->n + 1) * sizeof *rows);
    if (!rows) return ATN_ERR_MEMORY;
    atn_report report = {.info = atn_device_get_info(device), .peaks = &peaks, .rows = rows};
    atn_status status = atn_device_peaks(device, &peaks);
    for (int32_t k = 0; k < list->n && status == ATN_OK; ++k)
        if (results[k].variant) status = fill_row(ctx, &list->labels[k], &results[k], &rows[report.n_rows++]);
    if (status == ATN_OK) status = atn_report_write(ctx, path, &report);
    for (int32_t k = 0; k < report.n_rows; ++k) {
        atn_free(ctx, (void *)(uintptr_t)rows[k].seconds);
        atn_free(ctx, (void *)(uintptr_t)rows[k].variants);
    }
    atn_free(ctx, rows);
    return status;
}
