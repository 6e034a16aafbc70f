/* The estimate against the tuned variant, a row for each kernel and shape. */
#include "bench/estimate.h"

#include "bench/parts.h"

#include <stdio.h>
#include <string.h>

typedef struct session {
    atn_device *device;
    atn_wisdom *wisdom;
    const atn_estimate_options *options;
    int32_t rows, measured;
    char last[640]; /* reason of the last row that failed */
} session;

static void name_variant(const bench_contestant *c, char *text, size_t bytes) {
    atn_text printed = {.ctx = c->work->problem.ctx};
    atn_variant_print(atn_built_variant(c->built), &printed);
    snprintf(text, bytes, "%s", *atn_text_str(&printed) ? atn_text_str(&printed) : "plain");
    atn_text_free(&printed);
}

static atn_status measure(const session *s, bench_work *work, atn_estimate_row *row) {
    bench_contestant estimated = {0}, tuned = {0};
    atn_status status = bench_contestant_enter(&estimated, work, true);
    if (status == ATN_OK) status = bench_contestant_enter(&tuned, work, false);
    if (status == ATN_OK) {
        bench_runner runners[] = {bench_contestant_runner(&estimated), bench_contestant_runner(&tuned)};
        int32_t rounds = 0;
        status = bench_measure(s->device, runners, 2, s->options->seconds, &rounds);
        if (status == ATN_OK) {
            row->estimated_s = runners[0].median;
            row->tuned_s = runners[1].median;
            row->slowdown = bench_compare(&runners[1], &runners[0], rounds);
            name_variant(&estimated, row->estimated, sizeof row->estimated);
            name_variant(&tuned, row->tuned, sizeof row->tuned);
        }
    }
    bench_contestant_leave(&estimated);
    bench_contestant_leave(&tuned);
    return status;
}

/* The tuner tries the estimate first: where it is not right, or nothing is, there is nothing to measure. */
static atn_status tune(const session *s, const atn_set *set, const char *text) {
    const atn_ctx *ctx = atn_device_ctx(s->device);
    atn_workload workload = bench_workload(set, text);
    atn_tune_result result = {0};
    atn_status status = atn_tune(s->device, s->wisdom, &workload, &s->options->tuning, &result);
    if (status == ATN_OK && result.stopped) status = atn_fail(ctx, ATN_ERR_CANCELLED, "stopped on request");
    if (status == ATN_OK && !result.variant)
        status = atn_fail(ctx, ATN_ERR_UNSUPPORTED, "no variant that was tried is right");
    if (status == ATN_OK && !(result.default_s > 0))
        status = atn_fail(ctx, ATN_ERR_UNSUPPORTED, "the estimate is not right");
    atn_tune_result_free(&result);
    return status;
}

static atn_status row_of(session *s, const atn_set *set, const char *text, bool *going) {
    const atn_ctx *ctx = atn_device_ctx(s->device);
    atn_estimate_row row = {0};
    atn_kernel_row label = {0};
    bench_label(set, &label);
    snprintf(row.name, sizeof row.name, "%s", label.name);
    snprintf(row.shape, sizeof row.shape, "%s", label.shape);
    if (s->options->progress) s->options->progress(s->options->user, row.name, row.shape);
    atn_status status = tune(s, set, text);
    if (status == ATN_OK) {
        bench_work work;
        status = bench_work_open(s->device, set, text, BENCH_COPY, &work);
        if (status == ATN_OK) status = measure(s, &work, &row);
        bench_work_close(&work);
    }
    if (status == ATN_ERR_CANCELLED || status == ATN_ERR_MEMORY) return status;
    s->rows += 1;
    s->measured += status == ATN_OK;
    if (status != ATN_OK) {
        snprintf(row.error, sizeof row.error, "%s", atn_ctx_message(ctx));
        snprintf(s->last, sizeof s->last, "%s %s: %.440s", row.name, row.shape, row.error);
    }
    *going = s->options->visit(s->options->user, &row);
    return atn_check_cancel(ctx);
}

static atn_status rows_of(session *s, const atn_embedded *kernels, const atn_set *sets, bool *going) {
    const atn_device_info *info = atn_device_get_info(s->device);
    atn_status status = ATN_OK;
    for (; kernels->name && status == ATN_OK && *going; ++kernels) {
        if (s->options->kernel && strcmp(s->options->kernel, kernels->name) != 0) continue;
        for (const atn_set *set = NULL;
             status == ATN_OK && *going && (set = atn_set_next(sets, kernels->name, info, set));)
            status = row_of(s, set, kernels->text, going);
    }
    return status;
}

size_t atn_bench_estimate_rows(const atn_device_info *info, const char *kernel) {
    return bench_count_sets(ATN_BENCH_KERNELS, ATN_BENCH_SETS, info, kernel) +
           bench_count_sets(ATN_SHIPPED, ATN_SETS, info, kernel);
}

atn_status atn_bench_estimate(atn_device *device, atn_wisdom *wisdom, const atn_estimate_options *options) {
    session s = {.device = device, .wisdom = wisdom, .options = options};
    const atn_ctx *ctx = atn_device_ctx(device);
    bool going = true;
    atn_status status = rows_of(&s, ATN_BENCH_KERNELS, ATN_BENCH_SETS, &going);
    if (status == ATN_OK) status = rows_of(&s, ATN_SHIPPED, ATN_SETS, &going);
    if (status == ATN_OK && s.rows == 0)
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "there is no kernel '%s' with shapes to tune at, neither shipped nor of the benchmark",
                        options->kernel ? options->kernel : "");
    if (status == ATN_OK && s.measured == 0)
        return atn_fail(ctx, ATN_ERR_DEVICE, "no row could be measured; %s", s.last);
    return status;
}
